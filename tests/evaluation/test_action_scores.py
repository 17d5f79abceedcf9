"""Scores for acting: the decisions of a model are one cut of them, whatever it decides by."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import BaseEstimator, ClassifierMixin

from cssvm._core.positive_class import DEFAULT_THRESHOLDS, PositiveClass, find_response_method
from cssvm._evaluation.action_scores import (
    COST_RATIO,
    DECISION,
    DECISION_VALUE,
    PROBABILITY,
    ActionScores,
    action_scores,
    align_with_predictions,
    scores_by_costs,
)

CLASSES = np.array(["bad", "good"])
X = np.array([[0.1], [0.4], [0.5], [0.7], [0.9]])


class Model(ClassifierMixin, BaseEstimator):
    """A fitted classifier of two classes."""

    def __init__(self):
        self.classes_ = CLASSES

    def fit(self, X, y):
        return self

    def predict(self, X):
        raise AssertionError("decisions are given")


class WithDecisionValues(Model):
    def decision_function(self, X):
        return X[:, 0] - 0.5


class WithProbabilities(Model):
    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


class WithBoth(WithDecisionValues, WithProbabilities):
    pass


class ByCosts(WithBoth):
    """Decides by the costs of new samples."""

    def predict(self, X, fn_cost=1.0, fp_cost=1.0):
        raise AssertionError("decisions are given")


class ByCostsWithoutProbabilities(WithDecisionValues):
    def predict(self, X, fn_cost=1.0, fp_cost=1.0):
        raise AssertionError("decisions are given")


def scored(model, decisions, *, index=1, fn_cost=1.0, fp_cost=1.0):
    decisions = np.asarray(decisions)
    return action_scores(model, X, decisions, PositiveClass(CLASSES, index), fn_cost=fn_cost, fp_cost=fp_cost)


probabilities = arrays(float, 5, elements=st.floats(0.01, 0.99))
amounts = arrays(float, 5, elements=st.floats(0.1, 1e3))


@given(p=probabilities, fn_cost=amounts, fp_cost=amounts)
def test_scores_by_costs_are_the_log_of_what_leaving_costs_over_what_acting_costs(p, fn_cost, fp_cost):
    found = scores_by_costs(p, fn_cost=fn_cost, fp_cost=fp_cost)
    np.testing.assert_allclose(found.values, np.log(p * fn_cost / ((1 - p) * fp_cost)), rtol=1e-9, atol=1e-9)
    assert (found.own_threshold, found.kind) == (0.0, COST_RATIO)


@given(p=probabilities, amount=amounts, fn_cost=st.floats(0.1, 1e3))
def test_one_cost_may_be_a_number(p, amount, fn_cost):
    both = scores_by_costs(p, fn_cost=np.full(5, fn_cost), fp_cost=amount)
    np.testing.assert_array_equal(scores_by_costs(p, fn_cost=fn_cost, fp_cost=amount).values, both.values)
    turned = scores_by_costs(p, fn_cost=amount, fp_cost=np.full(5, fn_cost))
    np.testing.assert_array_equal(scores_by_costs(p, fn_cost=amount, fp_cost=fn_cost).values, turned.values)


@given(p=probabilities, fn_cost=st.floats(0.1, 10), fp_cost=st.floats(0.1, 10))
def test_costs_of_classes_are_a_threshold_on_the_probability(p, fn_cost, fp_cost):
    found = scores_by_costs(p, fn_cost=fn_cost, fp_cost=fp_cost)
    np.testing.assert_array_equal(found.values, p)
    assert found.own_threshold * fn_cost == pytest.approx((1 - found.own_threshold) * fp_cost)
    assert found.kind == PROBABILITY


def test_certain_samples_and_costs_of_nothing_have_finite_scores_on_the_right_side():
    p = np.array([0.0, 1.0, 0.5, 0.5, 0.0, 1.0, 0.5])
    fn_cost = np.array([1e6, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    fp_cost = np.array([1.0, 1e6, 1.0, 0.0, 1.0, 0.0, 0.0])
    values = scores_by_costs(p, fn_cost=fn_cost, fp_cost=fp_cost).values
    assert np.isfinite(values).all()
    # The last sample costs nothing either way: a tie.
    np.testing.assert_array_equal(np.sign(values), [-1, 1, -1, 1, -1, 1, 0])


@pytest.mark.parametrize(("p", "fn_cost", "fp_cost"), [(0.0, 3.0, 0.0), (1.0, 0.0, 3.0), (0.5, 0.0, 0.0)])
def test_where_neither_decision_is_expected_to_cost_anything_both_are_as_good(p, fn_cost, fp_cost):
    found = scores_by_costs(np.array([p]), fn_cost=np.array([fn_cost]), fp_cost=fp_cost)
    assert found.values.tolist() == [0.0]


def test_scores_are_those_that_the_model_decides_by():
    acted = [False, False, True, True, True]
    values = scored(WithDecisionValues(), acted)
    np.testing.assert_array_equal(values.values, X[:, 0] - 0.5)
    assert (values.own_threshold, values.kind) == (0.0, DECISION_VALUE)
    p = scored(WithProbabilities(), acted)
    np.testing.assert_array_equal(p.values, X[:, 0])
    assert (p.own_threshold, p.kind) == (0.5, PROBABILITY)
    assert scored(WithBoth(), acted).kind == DECISION_VALUE
    assert scored(ByCostsWithoutProbabilities(), acted).kind == DECISION_VALUE


def test_scores_are_for_the_class_that_decisions_act_on():
    acted = [True, True, False, False, False]
    np.testing.assert_array_equal(np.sign(scored(WithDecisionValues(), acted, index=0).values), [1, 1, -1, -1, -1])
    np.testing.assert_allclose(scored(WithProbabilities(), acted, index=0).values[[0, 1, 3, 4]], [0.9, 0.6, 0.3, 0.1])


@pytest.mark.parametrize("index", [0, 1])
def test_a_model_that_decides_by_costs_is_scored_by_them(index):
    p = X[:, 0] if index else 1 - X[:, 0]
    amount = np.array([9.0, 0.1, 5.0, 0.1, 1.0])
    acted = p * amount > (1 - p) * 2.0
    found = scored(ByCosts(), acted, index=index, fn_cost=amount, fp_cost=2.0)
    np.testing.assert_allclose(found.values, np.log(p * amount / ((1 - p) * 2.0)))
    np.testing.assert_array_equal(found.values >= found.own_threshold, acted)
    assert found.kind == COST_RATIO


def test_a_model_without_scores_is_scored_by_its_decisions():
    found = scored(Model(), [0, 1, 0, 1, 1])
    np.testing.assert_array_equal(found.values, [0.0, 1.0, 0.0, 1.0, 1.0])
    assert (found.own_threshold, found.kind) == (0.5, DECISION)
    assert found.values.dtype == np.float64


@pytest.mark.parametrize("third", [True, False])
@pytest.mark.parametrize("model", [WithDecisionValues(), WithProbabilities()])
def test_a_score_at_the_threshold_is_put_on_the_side_of_its_decision(model, third):
    acted = np.array([False, False, third, True, True])
    found = scored(model, acted)
    np.testing.assert_array_equal(found.values >= found.own_threshold, acted)
    assert found.own_threshold == DEFAULT_THRESHOLDS[find_response_method(model)]
    np.testing.assert_allclose(found.values - found.own_threshold, X[:, 0] - 0.5, atol=1e-12)


@pytest.mark.parametrize(("own", "slack"), [(0.0, 1e-9), (0.5, 1e-9), (-1e6, 1e-3)])
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("distance", [0.9, 1.1])
def test_scores_are_at_the_threshold_up_to_rounding_of_it_or_of_one(own, slack, side, distance):
    values = np.array([own - 1.0, own + side * distance * slack, own + 1.0])
    acted = np.array([False, side < 0, True])  # against what the second score says
    found = align_with_predictions(ActionScores(values, own, DECISION_VALUE), acted)
    np.testing.assert_array_equal(found.values >= found.own_threshold, acted)
    if distance < 1:
        assert found.own_threshold == own
        assert found.values[1] == (own if side < 0 else np.nextafter(own, -np.inf))
    else:  # another threshold decided so
        np.testing.assert_array_equal(found.values, values)
        assert found.own_threshold == (values[1] if side < 0 else values[2])


def test_another_threshold_than_the_usual_one_is_the_least_score_acted_on():
    found = scored(WithProbabilities(), [False, False, False, True, True])
    np.testing.assert_array_equal(found.values >= found.own_threshold, [False, False, False, True, True])
    higher = scored(WithProbabilities(), [False, False, False, False, True])
    assert higher.own_threshold == 0.9
    nobody = scored(WithProbabilities(), [False] * 5)
    assert nobody.own_threshold == np.inf
    as_numbers = scored(WithProbabilities(), [0, 0, 0, 0, 1])
    assert as_numbers.own_threshold == 0.9
    everybody = scored(WithProbabilities(), [True] * 5)
    assert everybody.own_threshold == 0.1


def test_decisions_that_no_threshold_makes_have_none():
    found = scored(WithProbabilities(), [True, False, True, False, True])
    assert np.isnan(found.own_threshold)
    np.testing.assert_array_equal(found.values, X[:, 0])
    two_alike = action_scores(
        WithProbabilities(),
        X[[0, 1, 1]],
        np.array([False, False, True]),
        PositiveClass(CLASSES, 1),
        fn_cost=1.0,
        fp_cost=1.0,
    )
    assert np.isnan(two_alike.own_threshold)


probability = st.sampled_from([0.0, 1e-300, 0.25, 1 / 3, 0.5, 0.75, 1 - 2**-53, 1.0])
cost = st.sampled_from([0.0, 1e-300, 0.5, 1.0, 3.0, 1e300])


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities of class 1 are its features, and which decides by the costs of each row."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X, X])

    def predict(self, X, *, fn_cost=1.0, fp_cost=1.0):
        return (X * fn_cost > (1 - X) * fp_cost).astype(int)


@given(rows=st.lists(st.tuples(probability, cost, cost), min_size=1, max_size=8), ties=st.booleans())
def test_decisions_by_costs_of_samples_are_one_cut_of_the_scores_whichever_way_ties_go(rows, ties):
    p, fn_cost, fp_cost = np.array(rows).T
    leaving, acting = p * fn_cost, (1 - p) * fp_cost
    decisions = (leaving >= acting) if ties else (leaving > acting)
    found = action_scores(
        Given().fit(None, None), p, decisions, PositiveClass(np.array([0, 1]), 1), fn_cost=fn_cost, fp_cost=fp_cost
    )
    assert np.isfinite(found.values).all()
    if not (np.isclose(leaving, acting, rtol=1e-6) & (leaving != acting)).any():
        np.testing.assert_array_equal(found.values >= found.own_threshold, decisions)
