"""`decision="bayes"`: probabilities against a known P(y | x), decisions against the least possible cost."""

import warnings

import numpy as np
import pytest

from cssvm import CostSensitiveLinearSVC, CostSensitiveLinearSVCCV, CostSensitiveSVCCV
from cssvm._core.folds import make_splits
from cssvm.metrics import cost_risk

POINTS = np.array([[-2.0, 0.0], [-1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
QUICK = {"Cs": 4, "cv": 3, "decision": "bayes"}


def posterior(X, shift=0.0):
    return 1 / (1 + np.exp(-1.5 * X[:, 0] - shift))


def draw(n, seed=0, shift=0.0):
    """X, labels of P(y = 1 | x), and amounts that depend on the second feature alone."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (rng.random(n) < posterior(X, shift)).astype(int), np.exp(X[:, 1])


@pytest.mark.parametrize("fn_cost", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(
    "search", [CostSensitiveLinearSVCCV(**QUICK), CostSensitiveSVCCV(**QUICK, gammas=[0.02])], ids=["linear", "rbf"]
)
def test_probabilities_are_those_of_the_classes_at_any_costs(search, fn_cost):
    X, y, _ = draw(800)
    p = search.set_params(fn_cost=fn_cost).fit(X, y).predict_proba(POINTS)[:, 1]
    np.testing.assert_allclose(p, posterior(POINTS), atol=0.1)


def test_probabilities_of_a_rare_class_vary():
    X, y, _ = draw(3000, shift=-4.5)
    p = CostSensitiveLinearSVCCV(**QUICK, fn_cost=5.0).fit(X, y).predict_proba(POINTS)[:, 1]
    np.testing.assert_allclose(np.log(p / (1 - p)), -4.5 + 1.5 * POINTS[:, 0], atol=1.0)
    assert y.mean() < 0.04


def test_a_probability_does_not_depend_on_the_amount():
    X, y, amount = draw(3000)
    search = CostSensitiveLinearSVCCV(**QUICK).fit(X, y, fn_cost=amount)
    p = search.predict_proba([[0.0, -2.0], [0.0, 2.0]])[:, 1]
    np.testing.assert_allclose(p, 0.5, atol=0.06)


def test_the_model_is_the_same_for_all_costs_with_one_point():
    X, y, amount = draw(200)
    found = [
        CostSensitiveLinearSVCCV(**QUICK | {"Cs": [1.0]}).fit(X, y, fn_cost=cost).predict_proba(POINTS)
        for cost in (1.0, 7.0, amount, 100 * amount)
    ]
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])


@pytest.mark.parametrize("scoring", ["risk", "min_risk", "income"])
@pytest.mark.parametrize("pos_label", [0, 1])
def test_the_score_of_a_point_is_that_of_its_own_decisions(scoring, pos_label):
    X, y, amount = draw(150)
    search = CostSensitiveLinearSVCCV(**QUICK, scoring=scoring, pos_label=pos_label, fp_cost=0.7)
    search.fit(X, y, fn_cost=amount)
    side = 1 if pos_label == 1 else -1
    p = search._decision.probabilities(side * search.held_out_scores_)  # each sample by a model that has not seen it
    decided = np.where(p * amount > (1 - p) * 0.7, pos_label, 1 - pos_label)
    values = []
    for _, valid in make_splits(3, X, y, positive=y == pos_label):
        costs = {"fn_cost": amount[valid], "fp_cost": 0.7, "pos_label": pos_label}
        if scoring == "income":
            hit = y[valid] == pos_label
            values.append(np.where(hit, amount[valid], -0.7)[decided[valid] == pos_label].sum())
        else:
            values.append(-cost_risk(y[valid], decided[valid], **costs))
    assert search.best_score_ == pytest.approx(np.mean(values))


def test_the_cost_approaches_the_least_possible():
    X_new, _, amount = draw(20_000, seed=1, shift=-1.0)
    p = posterior(X_new, -1.0)

    def cost(decided):
        return np.where(decided, 1 - p, p * amount).mean()

    least = cost(p * amount > 1 - p)
    regrets = []
    for n in (150, 3000):
        X, y, own = draw(n, seed=2, shift=-1.0)
        search = CostSensitiveLinearSVCCV(**QUICK).fit(X, y, fn_cost=own)
        regrets.append(cost(search.predict(X_new, fn_cost=amount, fp_cost=1.0) == 1) / least - 1)
    assert regrets[1] < 0.02
    assert regrets[1] < regrets[0] < 0.2


@pytest.mark.parametrize("unknown", [np.nan, 0.0])
def test_amounts_of_one_class_only_do_not_tell_it_apart(unknown):
    X, y, amount = draw(200)
    known = CostSensitiveLinearSVCCV(**QUICK).fit(X, y, fn_cost=np.where(y == 1, 2.0, unknown))
    of_class = CostSensitiveLinearSVCCV(**QUICK, fn_cost=2.0).fit(X, y)
    assert known.best_score_ == of_class.best_score_
    assert CostSensitiveLinearSVCCV(**QUICK).fit(X, y, fn_cost=np.where(y == 1, amount, unknown)).best_score_ < -0.1


def test_given_fn_costs_replace_the_balanced_ones():
    X, y, amount = draw(200, shift=-1.0)
    weights = 100 / np.bincount(y)
    search = CostSensitiveLinearSVCCV(**QUICK | {"Cs": [0.5 / weights[0]]}, fn_costs=[weights[0]])
    search.fit(X, y, fn_cost=amount)
    np.testing.assert_allclose(search.coef_, CostSensitiveLinearSVC(0.5).fit(X, y).coef_, rtol=1e-3)
    balanced = CostSensitiveLinearSVCCV(**QUICK | {"Cs": [0.5]}).fit(X, y, fn_cost=amount)
    expected = CostSensitiveLinearSVC(0.5, fn_cost=weights[1], fp_cost=weights[0]).fit(X, y)
    np.testing.assert_allclose(balanced.coef_, expected.coef_, rtol=1e-3)


def test_probabilities_that_do_not_vary_are_warned_of():
    y = np.arange(60) % 3 == 0
    with pytest.warns(UserWarning, match="hardly vary") as found:
        search = CostSensitiveLinearSVCCV(**QUICK | {"Cs": [1.0]}).fit(np.zeros((60, 1)), y)
    assert len(found) == 1
    np.testing.assert_allclose(search.predict_proba([[0.0]])[0, 1], 1 / 3, atol=0.02)
    X, y, _ = draw(200)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        CostSensitiveLinearSVCCV(**QUICK | {"Cs": [1.0]}).fit(X, y)


def test_a_class_of_few_samples_is_warned_of():
    X, y, _ = draw(60)
    few = np.flatnonzero(y == 0)[:30].tolist() + np.flatnonzero(y == 1)[:9].tolist()
    with pytest.warns(UserWarning, match="The rarer class has 9 samples, fewer than 10"):
        CostSensitiveLinearSVCCV(Cs=[0.1, 1.0], cv=2).fit(X[few], y[few])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        CostSensitiveLinearSVCCV(Cs=[1.0], cv=2).fit(X[few], y[few])  # nothing is chosen


def test_costs_that_predict_lacks_are_named_in_both_languages():
    X, y, amount = draw(60)
    search = CostSensitiveLinearSVCCV(**QUICK | {"Cs": [1.0]}).fit(X, y, fn_cost=amount)
    with pytest.raises(ValueError, match=r"pass fn_cost=\.\.\., .*in the shell --fn-cost COLUMN"):
        search.predict(X)
