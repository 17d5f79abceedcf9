"""CostMatrix, `evaluate`, intervals that cover, and displays."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cssvm import CostSensitiveSVC, CostSensitiveSVCCV, CostThresholdClassifier, decision_costs, evaluate
from cssvm.displays import CostRocDisplay, GainsDisplay
from cssvm.metrics import cost_risk, income, positive_class_scores

X, Y = make_classification(400, 6, n_informative=4, weights=[0.8], flip_y=0.1, random_state=3)
FOLDS = StratifiedKFold(4, shuffle=True, random_state=1)


@pytest.mark.parametrize("seed", range(5))
def test_two_differences_decide_as_four_costs_do(seed):
    rng = np.random.default_rng(seed)
    tp, fp, tn, fn = rng.normal(size=(4, 200))
    upside_down = (fn < tp) & (fp < tn)
    tp, fp, tn, fn = (each[~upside_down] for each in (tp, fp, tn, fn))
    costs = decision_costs(tp_cost=tp, fp_cost=fp, tn_cost=tn, fn_cost=fn)
    for p in (0.01, 0.3, 0.9):
        acting, leaving = p * tp + (1 - p) * fp, p * fn + (1 - p) * tn
        np.testing.assert_array_equal(p * costs.fn_cost >= (1 - p) * costs.fp_cost, acting <= leaving)
    np.testing.assert_array_equal(costs.fixed, np.where(fn < tp, -1, np.where(fp < tn, 1, 0)))
    assert costs.n_fixed == np.count_nonzero((fn < tp) | (fp < tn))


def test_samples_whose_costs_favour_one_class_always_get_that_class():
    """All differences in {-1, 0, 1} that are not upside down, against what either action costs for either class."""
    missed, alarmed = np.array([(m, a) for m in (-1.0, 0.0, 1.0) for a in (-1.0, 0.0, 1.0) if m >= 0 or a >= 0]).T
    costs = decision_costs(fn_cost=missed, fp_cost=alarmed)
    leaving_never_worse, acting_never_worse = (missed <= 0) & (alarmed >= 0), (missed >= 0) & (alarmed <= 0)
    expected = np.where(leaving_never_worse, -1, np.where(acting_never_worse, 1, 0))  # with no difference: leave it
    np.testing.assert_array_equal(costs.fixed, expected)
    bank = decision_costs(tp_cost=1.0, fn_cost=np.array([1.0, 1.0, 5.0]), fp_cost=1.0)
    assert (bank.n_fixed, bank.fixed.tolist()) == (2, [-1, -1, 0])


def test_income_is_minus_what_the_outcomes_cost():
    rng = np.random.default_rng(0)
    y, acted = rng.integers(0, 2, (2, 50))
    outcomes = dict(zip(("tp_cost", "fp_cost", "tn_cost", "fn_cost"), rng.normal(size=(4, 50)), strict=True))
    total = sum(
        outcomes[("tn_cost", "fp_cost", "fn_cost", "tp_cost")[2 * label + act]][i]
        for i, (label, act) in enumerate(zip(y, acted, strict=True))
    )
    assert income(y, acted, **outcomes) == pytest.approx(-total)


def test_rows_whose_better_action_is_fixed_are_trained_on_as_what_they_are():
    donation = np.where(Y == 1, np.random.default_rng(0).choice([0.3, 5.0, 20.0], len(Y)), 0.0)
    costs = decision_costs(tp_cost=0.68 - donation, fp_cost=0.68)
    assert costs.n_fixed == np.count_nonzero(donation < 0.68)  # who gives nothing is a row of unknown worth
    labels, own = costs.training(Y)
    worth = (Y == 1) & (donation > 0.68)
    np.testing.assert_array_equal(labels == 1, worth)
    np.testing.assert_allclose(own["fn_cost"][worth], donation[worth] - 0.68)
    np.testing.assert_allclose(own["fp_cost"][~worth], 0.68 - donation[~worth])
    model = CostSensitiveSVC().fit(X, labels, **own)
    mailed = model.predict(X)
    assert income(Y, mailed, **costs.outcomes) == pytest.approx((donation - 0.68)[mailed == 1].sum())


def test_series_of_outcome_costs_keep_their_index():
    index = np.random.default_rng(0).permutation(len(Y)) + 7
    amount = pd.Series(np.random.default_rng(1).lognormal(1, 1, len(Y)), index=index)
    costs = decision_costs(tp_cost=0.5, fp_cost=0.5, fn_cost=amount)
    model = CostThresholdClassifier(LogisticRegression()).fit(X, Y)
    frame = pd.DataFrame(X, index=index).rename(columns=str)
    decided = CostThresholdClassifier(LogisticRegression()).fit(frame, Y).predict(frame.iloc[::-1], **costs)
    expected = model.predict(X, fn_cost=np.maximum(amount.to_numpy() - 0.5, 0.0), fp_cost=0.5)
    np.testing.assert_array_equal(decided[::-1], expected)


def test_costs_whose_errors_are_cheaper_are_rejected():
    with pytest.raises(ValueError, match="Check the signs: what earns money is a negative cost"):
        decision_costs(tp_cost=[1.0, 20.0], fp_cost=-1.0)


@pytest.mark.parametrize("amounts", [False, True])
def test_evaluate_counts_what_its_models_decide(amounts):
    fn_cost = np.random.default_rng(0).lognormal(1.0, 1.0, len(Y)) if amounts else 5.0
    model = make_pipeline(StandardScaler(), CostSensitiveSVC())
    other = make_pipeline(StandardScaler(), LogisticRegression())
    found = evaluate(model, X, Y, fn_cost=fn_cost, fp_cost=1.0, cv=FOLDS, compare={"logistic": other})
    decided = {name: np.zeros(len(Y), int) for name in ("model", "logistic", "cost-blind SVC")}
    for train, test in FOLDS.split(X, Y):
        own = {"costsensitivesvc__fn_cost": fn_cost[train]} if amounts else {"costsensitivesvc__fn_cost": 5.0}
        decided["model"][test] = model.fit(X[train], Y[train], **own).predict(X[test])
        decided["logistic"][test] = other.fit(X[train], Y[train]).predict(X[test])
        blind = make_pipeline(StandardScaler(), SVC()).fit(X[train], Y[train])
        decided["cost-blind SVC"][test] = blind.predict(X[test])
    decided |= {"act on nobody": np.zeros(len(Y), int), "act on everybody": np.ones(len(Y), int)}
    for name, own in decided.items():
        policy, risk = found[name], cost_risk(Y, own, fn_cost=fn_cost, fp_cost=1.0)
        assert policy.cost.value == pytest.approx(risk)
        assert policy.total == pytest.approx(risk * len(Y))
        assert policy.false_negatives == np.sum((Y == 1) & (own == 0))
        assert policy.false_positives == np.sum((Y == 0) & (own == 1))
        assert policy.actions == own.sum()
        np.testing.assert_array_equal(found.decisions[name], own == 1)
        if name != "model":
            assert policy.difference.value == pytest.approx(risk - found.model.cost.value)
            assert policy.difference.low <= policy.difference.value <= policy.difference.high
    assert str(found).count("\n") >= 6
    assert "act on nobody" in str(found)
    assert max(map(len, str(found).splitlines())) <= 120
    assert found.to_frame().loc["logistic", "actions"] == decided["logistic"].sum()


def test_evaluate_counts_all_four_outcomes():
    donation = np.where(Y == 1, np.random.default_rng(0).choice([5.0, 20.0], len(Y)), 0.0)
    letter = decision_costs(tp_cost=0.68 - np.where(Y == 1, donation, 10.0), fp_cost=0.68)
    model = CostThresholdClassifier(LogisticRegression(), cv=3)
    found = evaluate(model, X, Y, **letter.outcomes, cv=FOLDS, n_resamples=50)
    for name in ("model", "act on everybody", "act on nobody"):
        mailed = found.decisions[name].astype(int)
        assert found[name].total == pytest.approx(-income(Y, mailed, **letter.outcomes))
    assert found["act on nobody"].total == 0.0
    assert found["act on everybody"].total == pytest.approx(0.68 * len(Y) - donation.sum())
    decided = np.zeros(len(Y), int)
    for train, test in FOLDS.split(X, Y):
        each = CostThresholdClassifier(LogisticRegression(), cv=3).fit(X[train], Y[train])
        decided[test] = each.predict(X[test], fn_cost=letter.fn_cost[test], fp_cost=0.68)
    np.testing.assert_array_equal(found.decisions["model"], decided == 1)


def test_evaluate_keeps_groups_together_inside_and_outside():
    groups = np.repeat(np.arange(40), 10)
    seen = []

    class Noted(CostSensitiveSVC):
        def fit(self, X, y, *, fn_cost=None, fp_cost=None, sample_weight=None, groups=None):
            seen.append(set(groups))
            return super().fit(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)

    evaluate(Noted(), X, Y, fn_cost=5.0, groups=groups, cv=4, n_resamples=10)
    assert [len(each) for each in seen] == [30] * 4  # whole groups are held out


def test_costs_reach_the_best_estimator_of_a_grid_search():
    amounts = np.random.default_rng(0).lognormal(1.0, 1.0, len(Y))
    decider = CostThresholdClassifier(LogisticRegression(), cv=3)
    plain = evaluate(decider, X, Y, fn_cost=amounts, fp_cost=1.0, cv=FOLDS, n_resamples=20)
    searched = GridSearchCV(decider, {"estimator__C": [1.0]}, cv=2)
    found = evaluate(searched, X, Y, fn_cost=amounts, fp_cost=1.0, cv=FOLDS, n_resamples=20)
    np.testing.assert_array_equal(found.decisions["model"], plain.decisions["model"])


def test_evaluate_nests_a_search_and_shows_its_optimism():
    search = CostSensitiveSVCCV(Cs=4, gammas=4, transformer=StandardScaler(), cv=3)
    found = evaluate(search, X, Y, fn_cost=5.0, cv=FOLDS, currency="EUR")
    fitted = [search.fit(X[train], Y[train], fn_cost=5.0) and search.best_score_ for train, _ in FOLDS.split(X, Y)]
    assert found.own_estimate == pytest.approx(-np.mean(fitted))
    assert "The search expected" in str(found)
    assert "EUR" in str(found)


def test_intervals_of_evaluate_cover():
    """Decisions of a fixed rule on samples of a known population, a constant one among them."""
    rng = np.random.default_rng(0)
    from cssvm._core.samples import Samples
    from cssvm.metrics._income import ActionCosts
    from cssvm.metrics._policies import compare_policies

    covered, differs = [], []
    for _ in range(300):
        y = rng.random(200) < 0.2
        score = rng.normal(size=200) + 1.5 * y
        sample = Samples.from_labels(y.astype(int), fn_cost=5.0, fp_cost=1.0)
        acted = {"model": (score > 0.5).astype(float), "nobody": np.zeros(200)}
        money = ActionCosts(np.where(y, 0.0, 1.0), np.where(y, 5.0, 0.0))
        model, nobody = compare_policies(acted, sample, money, 300, 0.95, 0)
        from scipy.stats import norm

        truth = 0.2 * 5 * norm.cdf(0.5 - 1.5) + 0.8 * norm.sf(0.5)
        covered.append(
            [policy.cost.low <= true <= policy.cost.high for policy, true in ((model, truth), (nobody, 1.0))]
        )
        differs.append(nobody.difference.low <= 1.0 - truth <= nobody.difference.high)
    for share in (*np.mean(covered, axis=0), np.mean(differs)):
        assert 0.90 <= share <= 0.98


def test_gains_are_what_acting_on_the_highest_scores_saves():
    pytest.importorskip("matplotlib").use("Agg")
    amounts = np.random.default_rng(0).lognormal(1.0, 1.0, len(Y))
    model = CostSensitiveSVC().fit(X, Y, fn_cost=amounts)
    display = GainsDisplay.from_estimator(model, X, Y, fn_cost=amounts, currency="EUR", total=True)
    scores = positive_class_scores(model, X).values
    nobody = cost_risk(Y, np.zeros(len(Y), int), fn_cost=amounts)
    for t in (np.median(scores), 0.0):
        acted = scores >= t
        place = np.argmin(np.abs(display.share - acted.mean()))
        assert display.gain[place] == pytest.approx(nobody - cost_risk(Y, acted.astype(int), fn_cost=amounts))
    assert display.own_gain == pytest.approx(nobody - cost_risk(Y, model.predict(X), fn_cost=amounts))
    assert display.perfect_gain == pytest.approx(nobody)
    assert "EUR" in display.ax_.get_ylabel()
    np.testing.assert_allclose(display.line_.get_ydata()[-1], len(Y) * display.gain[-1])


def test_pictures_speak_plainly():
    pytest.importorskip("matplotlib").use("Agg")
    model = LogisticRegression().fit(X, Y)
    display = CostRocDisplay.from_estimator(model, X, Y, fn_cost=5.0, threshold=0.3)
    _, texts = display.ax_.get_legend_handles_labels()
    assert any(text.startswith("threshold from training (TH-Risk)") for text in texts)


def test_missing_outcomes_cost_nothing_where_right_decisions_cost_or_earn():
    amounts = np.random.default_rng(1).lognormal(1.0, 1.0, len(Y))
    model = CostThresholdClassifier(LogisticRegression(), cv=3)
    found = evaluate(model, X, Y, tp_cost=0.68 - amounts, fp_cost=0.68, cv=FOLDS, n_resamples=20)
    assert found["act on nobody"].cost.value == 0.0
    everybody = np.where(Y == 1, 0.68 - amounts, 0.68).mean()
    assert found["act on everybody"].cost.value == pytest.approx(everybody)
    acted = found.decisions["model"]
    assert found.model.cost.value == pytest.approx(np.where(Y == 1, 0.68 - amounts, 0.68)[acted].sum() / len(Y))


def test_a_search_that_expects_something_else_does_not_say_so():
    plain = CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], cv=2)
    quick = {"fn_cost": 5.0, "fp_cost": 1.0, "cv": FOLDS, "n_resamples": 5, "blind": False}
    assert np.isfinite(evaluate(plain, X, Y, **quick).own_estimate)
    assert np.isnan(evaluate(plain, X, Y, **quick, tp_cost=0.5).own_estimate)
    bayes = CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], cv=2, decision="bayes")
    found = evaluate(bayes, X, Y, **quick)
    assert np.isnan(found.own_estimate)
    assert "The search expected" not in str(found)


class Sign(ClassifierMixin, BaseEstimator):
    """Acts where the first feature is positive; nothing is trained."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)


def test_intervals_cover_where_rows_come_in_groups():
    """40 customers of 10 rows each, whose rows are wrong or right nearly together."""
    rng = np.random.default_rng(3)

    def customers(count):
        mean = rng.normal(size=count)
        y = np.repeat((rng.normal(size=count) + mean > 0).astype(int), 10)
        return (np.repeat(mean, 10) + 0.5 * rng.normal(size=10 * count))[:, np.newaxis], y

    population, labels = customers(20_000)
    truth = np.mean(np.where(labels == 1, 5.0, 1.0) * (labels != (population[:, 0] > 0)))
    given = {"fn_cost": 5.0, "fp_cost": 1.0, "cv": 3, "n_resamples": 200, "blind": False}
    covered = []
    for _ in range(60):
        rows, y = customers(40)
        cost = evaluate(Sign(), rows, y, groups=np.repeat(np.arange(40), 10), **given).model.cost
        covered.append(cost.low <= truth <= cost.high)
    assert np.mean(covered) >= 0.85  # 0.94 less three standard deviations; rows drawn one by one cover 0.56


def test_invalid_models_to_compare_are_rejected():
    quick = {"fn_cost": 5.0, "cv": FOLDS, "n_resamples": 5, "blind": False}
    with pytest.raises(ValueError, match=r"compare must not use the names .*got 'model'"):
        evaluate(Sign(), X, Y, compare={"model": Sign()}, **quick)
    with pytest.raises(KeyError, match=r"policy must be one of \['model', 'act on nobody', "):
        evaluate(Sign(), X, Y, **quick)["svc"]
    with pytest.raises(ValueError, match="fn_cost must be finite and non-negative on every sample of the positive"):
        evaluate(Sign(), X, Y, **(quick | {"fn_cost": -5.0}))
    with pytest.raises(ValueError, match="3 groups, fewer than 5 folds"):
        evaluate(Sign(), X, Y, **(quick | {"cv": 5}), groups=np.arange(len(Y)) % 3)


def test_a_missing_label_is_one_error_without_warnings(recwarn):
    y = Y.astype(float)
    y[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        evaluate(Sign(), X, y, fn_cost=5.0)
    assert not [each for each in recwarn if issubclass(each.category, RuntimeWarning)]


@pytest.mark.parametrize("around", [lambda each: each, lambda each: GridSearchCV(each, {"fp_cost": [1.0]}, cv=2)])
def test_the_cost_blind_svc_has_the_preprocessing_of_the_model(around):
    frame = pd.DataFrame(X).assign(job=np.where(X[:, 0] > 0, "x", "y")).rename(columns=str)
    words = make_column_transformer((OneHotEncoder(), ["job"]), remainder=StandardScaler())
    model = around(CostThresholdClassifier(make_pipeline(words, LogisticRegression()), cv=2))
    given = {"fn_cost": 5.0, "fp_cost": 1.0, "cv": FOLDS, "n_resamples": 5}
    found = evaluate(model, frame, Y, **given)
    alone = evaluate(make_pipeline(words, SVC()), frame, Y, **given, blind=False)
    np.testing.assert_array_equal(found.decisions["cost-blind SVC"], alone.decisions["model"])


def test_the_cost_blind_svc_is_left_out_with_a_note_if_it_cannot_be_trained():
    gaps = X.copy()
    gaps[::7, 0] = np.nan
    given = {"fn_cost": 5.0, "fp_cost": 1.0, "cv": FOLDS, "n_resamples": 5}
    found = evaluate(DecisionTreeClassifier(max_depth=2), gaps, Y, **given)
    assert [policy.name for policy in found.policies] == ["model", "act on nobody", "act on everybody"]
    assert "No cost-blind SVC, which cannot be trained on these samples: " in str(found)
    assert evaluate(DecisionTreeClassifier(max_depth=2), gaps, Y, **given, blind=False).notes == ()


def test_a_row_that_its_costs_decide_is_decided_so():
    y = np.tile([0, 1], 20)
    model = CostThresholdClassifier(LogisticRegression(), cv=2).fit(np.arange(40.0)[:, np.newaxis] + 5 * y[:, None], y)
    costs = decision_costs(tp_cost=[-5.0, 0.0, 1.0, 4.0], fp_cost=[1.0, -1.0, 0.0, 0.0])
    np.testing.assert_array_equal(costs.fixed, [0, 1, -1, -1])
    for rows in (np.full((4, 1), 0.0), np.full((4, 1), 44.0)):
        np.testing.assert_array_equal(model.predict(rows, **costs)[1:], [1, 0, 0])
    np.testing.assert_allclose(costs.fn_cost, [5.0, 0.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(costs.fp_cost, [1.0, 0.0, 0.0, 0.0], atol=1e-12)


def test_the_point_of_the_model_is_what_it_decides_by_the_costs_of_the_rows():
    pytest.importorskip("matplotlib").use("Agg")
    amounts, weights = np.random.default_rng(0).lognormal(3.0, 1.0, len(Y)), np.arange(len(Y)) % 3
    model = CostThresholdClassifier(LogisticRegression(), cv=3).fit(X[:200], Y[:200])
    y, amount, weight = Y[200:], amounts[200:], weights[200:]
    p = model.predict_proba(X[200:])[:, 1]
    acted = p * amount >= (1 - p) * 15.0
    given = {"fn_cost": amount, "fp_cost": 15.0, "sample_weight": weight}
    for method in ("auto", "predict_proba"):
        shown = GainsDisplay.from_estimator(model, X[200:], y, **given, response_method=method)
        assert shown.own_share == pytest.approx(weight[acted].sum() / weight.sum())
        saved = np.where(y == 1, amount, -15.0)
        assert shown.own_gain == pytest.approx((weight * saved)[acted].sum() / weight.sum())
