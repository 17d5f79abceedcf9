"""Scorers pass the positive class and the sample costs to the model and to the metric."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin

from cssvm.metrics import (
    cost_risk,
    cost_risk_scorer,
    income,
    income_scorer,
    min_cost_risk,
    min_cost_risk_scorer,
    savings_score,
    savings_scorer,
    tn_auc_loss,
    tn_auc_scorer,
    tp_auc_loss,
    tp_auc_scorer,
)

X = np.array([[0.1], [0.4], [0.7], [0.2], [0.9], [0.6]])
Y = np.array([0, 1, 0, 0, 1, 1])
FN_COST, FP_COST = np.array([1.0, 9.0, 2.0, 3.0, 4.0, 0.5]), np.array([2.0, 1.0, 5.0, 1.0, 1.0, 1.0])
WEIGHT = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 2.0])


@pytest.fixture(autouse=True)
def routing():
    """Scorers take costs of samples where metadata is routed."""
    with config_context(enable_metadata_routing=True):
        yield


class Plain(ClassifierMixin, BaseEstimator):
    """Positive where the feature is above 1/2; `classes` are in the order of the labels 0 and 1."""

    def __init__(self, pos_label=None, classes=(0, 1)):
        self.pos_label = pos_label
        self.classes = classes
        self.classes_ = np.array(classes)

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return X[:, 0] - 0.5

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0.5).astype(int)]


class ByCosts(Plain):
    """Decides by the costs that it is given."""

    def predict(self, X, fn_cost=1.0, fp_cost=1.0):
        return self.classes_[(X[:, 0] * fn_cost > (1 - X[:, 0]) * fp_cost).astype(int)]


DECIDED = (X[:, 0] > 0.5).astype(int)
BY_COSTS = (X[:, 0] * FN_COST > (1 - X[:, 0]) * FP_COST).astype(int)


@pytest.mark.parametrize(
    ("scorer", "metric", "sign"), [(cost_risk_scorer, cost_risk, -1), (savings_scorer, savings_score, 1)]
)
def test_costs_of_samples_decide_and_are_counted(scorer, metric, sign):
    costs = {"fn_cost": FN_COST, "fp_cost": FP_COST}
    assert not np.array_equal(DECIDED, BY_COSTS)
    assert scorer()(ByCosts(), X, Y, **costs) == sign * metric(Y, BY_COSTS, **costs)
    assert scorer(**costs)(ByCosts(), X, Y) == sign * metric(Y, BY_COSTS, **costs)
    assert scorer()(Plain(), X, Y, **costs) == sign * metric(Y, DECIDED, **costs)
    weighted = scorer(fp_cost=2.0)(ByCosts(), X, Y, fn_cost=FN_COST, sample_weight=WEIGHT)
    acted = (X[:, 0] * FN_COST > (1 - X[:, 0]) * 2.0).astype(int)
    assert weighted == sign * metric(Y, acted, fn_cost=FN_COST, fp_cost=2.0, sample_weight=WEIGHT)
    # By costs of classes alone a model decides as it was made.
    numbers = {"fn_cost": 3.0, "fp_cost": 1.0}
    assert scorer(**numbers)(ByCosts(), X, Y) == sign * metric(Y, DECIDED, **numbers)


def test_series_of_costs_are_matched_to_the_labels_before_they_decide():
    y = pd.Series(Y, index=list("abcdef"))
    fn_cost = pd.Series(FN_COST, index=list("abcdef"))[::-1]
    fp_cost = pd.Series(FP_COST, index=list("abcdef")).sample(frac=1, random_state=0)
    found = cost_risk_scorer()(ByCosts(), X, y, fn_cost=fn_cost, fp_cost=fp_cost)
    assert found == -cost_risk(Y, BY_COSTS, fn_cost=FN_COST, fp_cost=FP_COST)


def test_income_is_decided_by_differences_and_counts_all_four():
    outcomes = {"tp_cost": -FN_COST, "fp_cost": FP_COST, "tn_cost": 0.25, "fn_cost": 0.5}
    acted = (X[:, 0] * (0.5 + FN_COST) > (1 - X[:, 0]) * (FP_COST - 0.25)).astype(int)
    assert income_scorer()(ByCosts(), X, Y, **outcomes) == pytest.approx(income(Y, acted, **outcomes))
    benefits = income_scorer(tp_benefit=FN_COST, fp_cost=FP_COST, tn_cost=0.25, fn_cost=0.5)
    assert benefits(ByCosts(), X, Y) == pytest.approx(income(Y, acted, **outcomes))
    numbers = {"tp_cost": -3.0, "fp_cost": 1.0}
    assert income_scorer(**numbers)(ByCosts(), X, Y) == income(Y, DECIDED, **numbers)


LABELS = np.where(Y == 1, "good", "bad")


@pytest.mark.parametrize("by", ["scorer", "model"])
@pytest.mark.parametrize("pos_label", ["bad", "good"])
def test_the_class_is_that_of_the_scorer_or_of_the_model(by, pos_label):
    model = Plain(pos_label=pos_label if by == "model" else None, classes=("bad", "good"))
    named = {"pos_label": pos_label} if by == "scorer" else {}
    decided = model.predict(X)
    options = {"fn_cost": 5.0, "fp_cost": 2.0}
    scores = X[:, 0] - 0.5 if pos_label == "good" else 0.5 - X[:, 0]
    expected = cost_risk(LABELS, decided, pos_label=pos_label, **options)
    assert cost_risk_scorer(**named, **options)(model, X, LABELS) == -expected
    best = min_cost_risk(LABELS, scores, pos_label=pos_label, **options).risk
    assert min_cost_risk_scorer(**named, **options)(model, X, LABELS) == -best
    prior = {"prior": 0.3, "normalize": True, "sample_weight": WEIGHT}
    other = min_cost_risk(LABELS, scores, pos_label=pos_label, **prior).risk
    assert min_cost_risk_scorer(**named, **prior)(model, X, LABELS) == -other != -best
    for scorer, loss in ((tp_auc_scorer, tp_auc_loss), (tn_auc_scorer, tn_auc_loss)):
        assert scorer(t=0.5, **named)(model, X, LABELS) == -loss(LABELS, scores, t=0.5, pos_label=pos_label)


def test_a_fold_of_one_class_is_scored_for_the_class_of_the_model():
    model = Plain(classes=("bad", "good"))
    rows = LABELS == "bad"
    found = cost_risk_scorer(fn_cost=5.0, fp_cost=2.0, pos_label="good")(model, X[rows], LABELS[rows])
    assert found == pytest.approx(-2.0 * DECIDED[rows].mean())
    numbers = cost_risk_scorer(fn_cost=5.0, fp_cost=2.0)  # the larger label of the model is positive
    assert numbers(Plain(), X[Y == 0], Y[Y == 0]) == found


def test_arguments_that_the_metric_does_not_have_are_rejected_at_once():
    with pytest.raises(TypeError, match="unexpected"):
        cost_risk_scorer(fn_costs=5.0)
    with pytest.raises(TypeError, match="unexpected"):
        tp_auc_scorer(fn_cost=5.0)
