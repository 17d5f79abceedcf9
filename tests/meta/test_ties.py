"""At a decision value of 0 every classifier predicts ``classes_[0]``, whichever class is positive."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.tree import DecisionTreeClassifier

from cssvm import (
    BiasedPenaltySVC,
    BoundaryMovementSVC,
    CostProportionateClassifier,
    CostSensitiveLinearSVC,
    CostSensitiveLinearSVCCV,
    CostSensitiveSVC,
    CostSensitiveSVCCV,
    CostThresholdClassifier,
    DirectCostClassifier,
    MetaCostClassifier,
    positive_class_scores,
)
from cssvm._evaluation.action_scores import action_scores

# A stump: p = 1/2 for x = 0, where both classes are equally frequent, and 0 or 1 elsewhere.
X = np.array([[-1.0], [0.0], [0.0], [1.0]] * 10)
Y = np.array([0, 0, 1, 1] * 10)
STUMP = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0)
EVEN = DummyClassifier(strategy="prior")
POINT = {"Cs": [1.0], "cv": 2}

MODELS = {
    "bayes": CostThresholdClassifier(STUMP, calibration=None),
    "tuned": CostThresholdClassifier(STUMP, method="tuned", cv=2),
    "direct": DirectCostClassifier(STUMP, DummyRegressor(), calibration=None, cv=2),
    "metacost": MetaCostClassifier(EVEN, n_estimators=2, random_state=0),
    "costing": CostProportionateClassifier(EVEN, n_estimators=2, random_state=0),
    "svc": CostSensitiveSVC(kernel="linear"),
    "biased": BiasedPenaltySVC(kernel="linear"),
    "moved": BoundaryMovementSVC(kernel="linear"),
    "linear": CostSensitiveLinearSVC(),
    **{f"search, {rule}": CostSensitiveSVCCV(**POINT, kernel="linear", decision=rule) for rule in ("zero", "bayes")},
    **{f"linear search, {rule}": CostSensitiveLinearSVCCV(**POINT, decision=rule) for rule in ("threshold", "bayes")},
}


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:MetaCostClassifier decides")
def test_predict_is_the_sign_of_the_decision_function_ties_included(name, pos_label):
    model = MODELS[name].set_params(pos_label=pos_label).fit(X, Y)
    f = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(f > 0).astype(int)])
    if name in ("bayes", "direct"):
        assert (f[X[:, 0] != Y] == 0).any()


@pytest.mark.parametrize("pos_label", [0, 1])
def test_metacost_relabels_a_tie_as_the_first_class(pos_label):
    model = MetaCostClassifier(EVEN, n_estimators=2, out_of_bag=False, max_samples=40, pos_label=pos_label)
    model._bagged_probability = lambda X, *args: np.where(X[:, 0] == 0, 0.5, pos_label == Y)
    model.fit(X, Y)
    np.testing.assert_array_equal(model.relabelled_, X[:, 0] > 0)


@pytest.mark.parametrize("pos_label", [0, 1])
def test_own_decisions_are_the_cut_of_the_scores_for_acting(pos_label):
    model = CostThresholdClassifier(STUMP, calibration=None, pos_label=pos_label).fit(X, Y)
    target = positive_class_scores(model, X).positive_class
    acted = model.predict(X) == pos_label
    scores = action_scores(model, X, acted, target, fn_cost=1.0, fp_cost=1.0)
    np.testing.assert_array_equal(acted, target.predicted_positive(scores.values - scores.own_threshold))
