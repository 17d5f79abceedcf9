"""Scores for acting: whatever the probabilities and costs, the model's own decisions are one cut of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin

from cssvm.metrics.action import action_scores
from cssvm.target import Target

TARGET = Target(np.array([0, 1]), 1)
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
def test_decisions_by_costs_of_rows_are_one_cut_of_the_scores_whichever_way_ties_go(rows, ties):
    p, fn_cost, fp_cost = np.array(rows).T
    leaving, acting = p * fn_cost, (1 - p) * fp_cost
    decisions = (leaving >= acting) if ties else (leaving > acting)
    found = action_scores(Given().fit(None, None), p, decisions, TARGET, fn_cost=fn_cost, fp_cost=fp_cost)
    assert np.isfinite(found.values).all()
    if not (np.isclose(leaving, acting, rtol=1e-6) & (leaving != acting)).any():
        np.testing.assert_array_equal(found.values >= found.own_threshold, decisions)
