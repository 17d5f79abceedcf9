"""Costs that `predict` takes, and their way through pipelines and searches."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from cssvm._core.decision import (
    costs_for_predict,
    is_request_denied,
    known_costs,
    per_sample_costs,
    predict_with_costs,
)

X = np.array([[1.0], [2.0], [3.0]])
COSTS = {"fn_cost": np.array([5.0, 1.0, 9.0]), "fp_cost": np.array([1.0, 4.0, 2.0])}


class ByBothCosts(ClassifierMixin, BaseEstimator):
    """Returns what it was given: feature, fn_cost and fp_cost as the digits of a number."""

    def fit(self, X, y=None):
        return self

    def predict(self, X, fn_cost=0.0, fp_cost=0.0):
        return 100 * X[:, 0] + 10 * np.asarray(fn_cost) + fp_cost


class ByMissCosts(ByBothCosts):
    def predict(self, X, fn_cost=0.0):
        return super().predict(X, fn_cost)


class NotByCosts(ByBothCosts):
    decides_by_costs = False


class ByAlarmCostsOnly(ByBothCosts):
    decides_by_costs = ("fp_cost",)


class Transforming(ByBothCosts):
    """Also a transformer, as LinearDiscriminantAnalysis is."""

    def transform(self, X):
        raise AssertionError("what decides is given the samples as they are")


class Drawing:
    """A step that draws samples in training and has no `transform`."""


def pipeline(decider, *steps):
    return Pipeline([*((f"step{i}", step) for i, step in enumerate(steps)), ("decider", decider)])


def search_for(model, **own):
    """A search that has found a model."""
    return SimpleNamespace(best_estimator_=model, predict=model.predict, **own)


@pytest.mark.parametrize(
    ("estimator", "taken"),
    [
        (LogisticRegression(), []),
        (FunctionTransformer(), []),
        (ByBothCosts(), ["fn_cost", "fp_cost"]),
        (ByMissCosts(), ["fn_cost"]),
        (NotByCosts(), []),
        (ByAlarmCostsOnly(), ["fp_cost"]),
        (pipeline(ByMissCosts(), "passthrough"), ["fn_cost"]),
        (search_for(ByMissCosts()), ["fn_cost"]),
        (search_for(pipeline(ByBothCosts())), ["fn_cost", "fp_cost"]),
        (pipeline(search_for(pipeline(ByMissCosts()))), ["fn_cost"]),
        # A search that uses costs in `predict` itself counts, not its best estimator.
        (search_for(ByBothCosts(), decides_by_costs=False), []),
    ],
)
def test_costs_are_those_that_predict_of_what_decides_takes(estimator, taken):
    assert costs_for_predict(estimator) == taken


def test_costs_can_be_rejected_where_metadata_is_routed():
    with config_context(enable_metadata_routing=True):
        without_misses = ByBothCosts().set_predict_request(fn_cost=False, fp_cost=True)
        elsewhere = ByBothCosts().set_predict_request(fp_cost="alarm_cost")
        assert costs_for_predict(without_misses) == ["fp_cost"]
        assert costs_for_predict(elsewhere) == ["fn_cost"]
        assert costs_for_predict(ByBothCosts()) == ["fn_cost", "fp_cost"]
        assert not is_request_denied(object(), "predict", "fn_cost")
    assert costs_for_predict(without_misses) == ["fn_cost", "fp_cost"]


def test_decisions_are_those_of_predict_with_the_costs_it_takes():
    np.testing.assert_array_equal(predict_with_costs(ByBothCosts(), X, COSTS), [151, 214, 392])
    np.testing.assert_array_equal(predict_with_costs(ByMissCosts(), X, COSTS), [150, 210, 390])
    np.testing.assert_array_equal(
        predict_with_costs(ByBothCosts(), X, {"fp_cost": 3.0, "tp_cost": 7.0}), [103, 203, 303]
    )
    np.testing.assert_array_equal(predict_with_costs(NotByCosts(), X, COSTS), [100, 200, 300])


def test_every_step_before_the_decider_transforms_the_samples():
    double, add_one = FunctionTransformer(lambda X: 2 * X), FunctionTransformer(lambda X: X + 1)
    model = pipeline(pipeline(ByBothCosts(), add_one), double, "passthrough", Drawing())
    np.testing.assert_array_equal(predict_with_costs(model, X, COSTS), [351, 514, 792])
    np.testing.assert_array_equal(predict_with_costs(search_for(model), X, COSTS), [351, 514, 792])
    np.testing.assert_array_equal(
        predict_with_costs(pipeline(Transforming(), double, add_one), X, COSTS), [351, 514, 792]
    )


def test_costs_that_no_decider_takes_leave_predict_as_it_is():
    class Own(Pipeline):
        def predict(self, X):
            return "its own way"

    assert predict_with_costs(Own([("decider", NotByCosts())]), X, COSTS) == "its own way"
    assert predict_with_costs(Own([("decider", ByMissCosts())]), X, {"fp_cost": 3.0}) == "its own way"


class ByEstimatedAmounts(ByMissCosts):
    decides_by_costs = ("fp_cost",)
    fn_cost, fp_cost = 7.0, 3.0

    def predict(self, X, fn_cost=0.0, fp_cost=0.0):
        return X[:, 0]

    def predict_amount(self, X):
        return 1000 * X[:, 0]


class ByOwnAlarmCost(ByMissCosts):
    fn_cost, fp_cost = 7.0, 3.0

    def predict_amount(self, X):
        raise AssertionError("the cost of a false negative is given")


class ByOwnCosts(NotByCosts):
    fn_cost, fp_cost = 7.0, 3.0


def test_costs_default_to_estimates_or_constructor_arguments():
    double = FunctionTransformer(lambda X: 2 * X)
    assert known_costs(ByBothCosts(), X, COSTS) == COSTS
    assert known_costs(pipeline(ByOwnAlarmCost(), double), X, COSTS) == {"fn_cost": COSTS["fn_cost"], "fp_cost": 3.0}
    assert known_costs(ByOwnCosts(), X, COSTS) == {"fn_cost": 7.0, "fp_cost": 3.0}
    estimated = known_costs(pipeline(ByEstimatedAmounts(), double), X, COSTS)
    np.testing.assert_array_equal(estimated["fn_cost"], [2000, 4000, 6000])
    assert estimated["fp_cost"] is COSTS["fp_cost"]


def test_known_costs_of_a_classifier_without_a_cost_of_its_own_are_those_of_the_samples():
    assert known_costs(ByMissCosts(), X, COSTS) == COSTS
    assert known_costs(ByMissCosts(), X, {"fn_cost": 5.0}) == {"fn_cost": 5.0}


def test_samples_are_transformed_for_known_costs_only_where_amounts_are_estimated():
    calls = []
    counting = FunctionTransformer(lambda X: calls.append(1) or X)
    known_costs(pipeline(ByOwnAlarmCost(), counting), X, COSTS)
    assert not calls
    known_costs(pipeline(ByEstimatedAmounts(), counting), X, COSTS)
    assert len(calls) == 1


def test_costs_are_of_samples_if_one_of_them_is():
    of_classes = {"fn_cost": 5.0, "fp_cost": 1.0}
    assert per_sample_costs(of_classes) == {}
    assert per_sample_costs({}) == {}
    mixed = {"fn_cost": [5.0, 1.0], "fp_cost": 1.0}
    assert per_sample_costs(mixed) == mixed
