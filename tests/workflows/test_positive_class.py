"""The positive class of metrics, scorers, estimators and displays."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from cssvm import (
    BiasedPenaltySVC,
    BoundaryMovementSVC,
    CostSensitiveSVC,
    CostSensitiveSVCCV,
    CostThresholdClassifier,
    DesignedLossClassifier,
    evaluate,
)
from cssvm.displays import CostRocDisplay, GainsDisplay
from cssvm.losses import LogisticLoss
from cssvm.metrics import (
    cost_risk,
    cost_risk_scorer,
    expected_cost_at,
    income,
    min_cost_risk,
    min_cost_risk_scorer,
    positive_class_scores,
    savings_score,
)
from tests.workflows.german import prepared

SMALL = {"Cs": [1.0], "gammas": [0.05]}


def by_hand(y, decided, bad, fn_cost=5.0, fp_cost=1.0):
    return (fn_cost * ((y == bad) & (decided != bad)).sum() + fp_cost * ((y != bad) & (decided == bad)).sum()) / len(y)


def test_of_labels_1_and_2_2_is_positive_in_metrics_scorers_and_estimators(real):
    X, y = prepared(real)
    model = CostSensitiveSVC(fn_cost=5.0).fit(X, y)
    decided = model.predict(X)
    expected = by_hand(y, decided, bad=2)
    assert cost_risk(y, decided, fn_cost=5.0) == pytest.approx(expected)
    assert cost_risk_scorer(fn_cost=5.0)(model, X, y) == pytest.approx(-expected)
    assert by_hand(y, decided, bad=1) > 2 * expected
    search = CostSensitiveSVCCV(**SMALL, fn_cost=5.0).fit(X, y)
    assert search.score(X, y) == pytest.approx(-by_hand(y, search.predict(X), bad=2))


def test_a_scorer_without_pos_label_uses_that_of_the_estimator(real):
    X, y = prepared(real)
    model = CostSensitiveSVC(fn_cost=5.0, pos_label=1).fit(X, y)
    assert cost_risk_scorer(fn_cost=5.0)(model, X, y) == pytest.approx(-by_hand(y, model.predict(X), bad=1))
    scores = -model.decision_function(X)
    best = min(by_hand(y, np.where(scores >= t, 1, 2), bad=1) for t in [*scores, np.inf])
    assert min_cost_risk_scorer(fn_cost=5.0)(model, X, y) == pytest.approx(-best)


X = np.random.default_rng(0).normal(size=(60, 3))
STRINGS = np.where(X[:, 0] + 0.5 * np.random.default_rng(1).normal(size=60) > 0, "bad", "good")
AMOUNTS = np.random.default_rng(2).integers(1, 9, 60).astype(float)
MODEL = LogisticRegression().fit(X, STRINGS)
CALLS = {
    "CostSensitiveSVC": lambda **pos: CostSensitiveSVC(fn_cost=5.0, **pos).fit(X, STRINGS),
    "BiasedPenaltySVC": lambda **pos: BiasedPenaltySVC(fn_cost=5.0, **pos).fit(X, STRINGS),
    "BoundaryMovementSVC": lambda **pos: BoundaryMovementSVC(fp_cost=5.0, **pos).fit(X, STRINGS),
    "sample costs": lambda **pos: CostSensitiveSVC(**pos).fit(X, STRINGS, fn_cost=AMOUNTS),
    "search": lambda **pos: CostSensitiveSVCCV(**SMALL, fn_cost=5.0, **pos).fit(X, STRINGS),
    "bayes": lambda **pos: CostThresholdClassifier(LogisticRegression(), fn_cost=5.0, **pos).fit(X, STRINGS),
    "bayes, costs of new samples": lambda **pos: (
        CostThresholdClassifier(LogisticRegression(), **pos).fit(X, STRINGS).predict(X, fn_cost=AMOUNTS)
    ),
    "bayes of a search": lambda **pos: (
        CostSensitiveSVCCV(**SMALL, decision="bayes", **pos).fit(X, STRINGS).predict(X, fn_cost=AMOUNTS)
    ),
    "tuned": lambda **pos: CostThresholdClassifier(LogisticRegression(), fn_cost=5.0, method="tuned", **pos).fit(
        X, STRINGS
    ),
    "designed": lambda **pos: DesignedLossClassifier(LogisticLoss(C1=5.0), **pos).fit(X, STRINGS),
    "cost_risk": lambda **pos: cost_risk(STRINGS, STRINGS, fn_cost=5.0, **pos),
    "savings_score": lambda **pos: savings_score(STRINGS, STRINGS, fp_cost=AMOUNTS, **pos),
    "income": lambda **pos: income(STRINGS, STRINGS, tp_cost=-5.0, fp_cost=1.0, **pos),
    "min_cost_risk": lambda **pos: min_cost_risk(STRINGS, -np.abs(X[:, 0]), fn_cost=5.0, **pos),
    "scorer": lambda **pos: cost_risk_scorer(fn_cost=5.0, **pos)(MODEL, X, STRINGS),
    "scorer of scores": lambda **pos: min_cost_risk_scorer(fn_cost=5.0, **pos)(MODEL, X, STRINGS),
    "display": lambda **pos: CostRocDisplay.from_estimator(MODEL, X, STRINGS, fn_cost=5.0, **pos),
    "gains": lambda **pos: GainsDisplay.from_estimator(MODEL, X, STRINGS, fn_cost=5.0, **pos),
    "evaluate": lambda **pos: evaluate(MODEL, X, STRINGS, fn_cost=5.0, cv=2, n_resamples=10, **pos),
}


@pytest.mark.filterwarnings("ignore:The scores rank")
@pytest.mark.parametrize("name", CALLS)
def test_string_labels_with_unequal_costs_need_pos_label(name):
    with pytest.raises(ValueError, match=r"pos_label='bad' if .*or pos_label='good'") as error:
        CALLS[name]()
    assert "'bad' and 'good'" in str(error.value)
    CALLS[name](pos_label="bad")


def test_string_labels_with_equal_costs_need_no_pos_label():
    assert CostSensitiveSVC(fn_cost=3.0, fp_cost=3.0).fit(X, STRINGS).classes_.tolist() == ["bad", "good"]
    assert cost_risk(STRINGS, np.full(60, "good")) == pytest.approx(np.mean(STRINGS == "bad"))


@pytest.mark.parametrize(("label", "other", "expected"), [(1, 0, 5.0), (0, 0, 0.0), (-1, -1, 0.0), (True, False, 5.0)])
def test_label_1_is_positive_if_it_is_the_only_one(label, other, expected):
    assert cost_risk([label] * 3, [other] * 3, fn_cost=5.0) == expected


@pytest.mark.parametrize("label", [2, "bad", 0.5])
def test_other_single_labels_need_pos_label(label):
    with pytest.raises(ValueError, match="pos_label is required if y_true holds one class only"):
        cost_risk([label] * 3, [label] * 3)
    assert cost_risk([label] * 3, [label] * 3, pos_label=label) == 0.0


def test_scores_that_rank_the_positive_class_last_raise_a_warning(real):
    X, y = prepared(real)
    strings = np.where(y == 2, "bad", "good")
    model = CostSensitiveSVC(fn_cost=5.0, pos_label="bad").fit(X, strings)
    with pytest.warns(UserWarning, match=r"rank 'bad', the positive class, below .*positive_class_scores\(model, X\)"):
        wrong = min_cost_risk(strings, model.decision_function(X), fn_cost=5.0, pos_label="bad")
    right = min_cost_risk(strings, positive_class_scores(model, X), fn_cost=5.0)
    assert right == min_cost_risk(strings, -model.decision_function(X), fn_cost=5.0, pos_label="bad")
    assert right.risk < wrong.risk
    with pytest.raises(ValueError, match="pos_label must be the class that the scores are for, 'bad'"):
        min_cost_risk(strings, positive_class_scores(model, X), pos_label="good")


@pytest.mark.filterwarnings("error")
def test_scores_that_rank_by_chance_are_not_warned_about():
    rng = np.random.default_rng(0)
    silent = 0
    for _ in range(200):
        try:
            min_cost_risk(rng.integers(0, 2, 50), rng.normal(size=50))
            silent += 1
        except UserWarning:
            pass
    assert silent >= 185


def test_cross_validation_of_labels_1_and_2(real):
    X, y = prepared(real)
    found = cross_val_score(CostSensitiveSVC(fn_cost=5.0), X, y, scoring=cost_risk_scorer(fn_cost=5.0), cv=3)
    zeros = cross_val_score(CostSensitiveSVC(fn_cost=5.0), X, y - 1, scoring=cost_risk_scorer(fn_cost=5.0), cv=3)
    np.testing.assert_array_equal(found, zeros)


def test_a_label_in_the_predictions_only_determines_the_positive_class():
    y, decided = [1, 1, 1, 1], [1, 2, 2, 1]  # two false positives among four negative samples
    assert cost_risk(y, decided, fn_cost=5.0) == 0.5
    assert income(y, decided, fn_cost=5.0, fp_cost=1.0) == -2.0


def test_label_1_alone_needs_pos_label_unless_the_other_is_0():
    for call in (
        lambda **pos: cost_risk([1, 1], [1, 1], fn_cost=5.0, **pos),
        lambda **pos: expected_cost_at([1, 1], [0.2, 0.7], 0.5, fn_cost=5.0, **pos),
        lambda **pos: income([1, 1], [1, 1], tp_cost=-5.0, **pos),
    ):
        with pytest.raises(ValueError, match="Pass pos_label=1 if fn_cost is its cost, or the label"):
            call()
        call(pos_label=1)
    assert expected_cost_at([1, 1], [0.2, 0.7], 0.5, fn_cost=5.0, pos_label=1) == 2.5


@pytest.mark.parametrize("decided", [[True, True, True], pd.Series([True] * 3), np.array([True] * 3, dtype=object)])
def test_booleans_are_not_predictions_of_labels_1_and_2(decided):
    with pytest.raises(ValueError, match="y_pred must hold the labels of y_true, such as 2; got True"):
        cost_risk([1, 2, 2], decided, fn_cost=5.0)
    assert cost_risk([1, 0, 0], decided, fn_cost=5.0) == pytest.approx(2 / 3)


def test_bytes_are_strings():
    y, decided = np.array([b"bad", b"good", b"good"]), np.array([b"good", b"good", b"bad"])
    with pytest.raises(ValueError, match=r"pos_label is required if labels are strings .*pos_label=b'bad'"):
        cost_risk(y, decided, fn_cost=5.0)
    assert cost_risk(y, decided, fn_cost=5.0, pos_label=b"bad") == pytest.approx((5.0 + 1.0) / 3)


@pytest.mark.parametrize("given", [{"fn_costs": [5.0]}, {"fn_costs": 2}, {"kappas": [0.5]}, {"kappas": "tied"}])
def test_string_labels_with_slopes_or_margins_need_pos_label(given):
    with pytest.raises(ValueError, match=r"with (fn|fp)_costs|with kappas"):
        CostSensitiveSVCCV(**SMALL, **given).fit(X, STRINGS)
    CostSensitiveSVCCV(**SMALL, **given, pos_label="bad", cv=2).fit(X, STRINGS)


@pytest.mark.parametrize("given", [{"kappa": 0.5}, {"kappa": "tied", "fn_cost": 2.0, "fp_cost": 2.0}])
def test_string_labels_with_unequal_margins_need_pos_label(given):
    with pytest.raises(ValueError, match="pos_label is required if labels are strings"):
        CostSensitiveSVC(**given).fit(X, STRINGS)
    CostSensitiveSVC(**given, pos_label="bad").fit(X, STRINGS)
    CostSensitiveSVC(kappa="tied").fit(X, STRINGS)  # equal costs of 1 have equal margins
