"""Candidate thresholds: no other threshold costs less, for any costs and share of the positive class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cssvm.metrics import min_cost_risk
from cssvm.metrics._curves import Cuts, best_cuts
from cssvm.metrics._scored import ScoredSamples


def rows_of(seed, n_rows=60, decimals=1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    y[:2] = 0, 1
    of_rows = {"fn_cost": rng.lognormal(size=n_rows), "fp_cost": 2.0, "sample_weight": rng.integers(1, 4, n_rows)}
    return y, (rng.normal(size=n_rows) + y).round(decimals), of_rows


@given(seed=st.integers(0, 999), a=st.floats(0.01, 100), b=st.floats(0.01, 100), prior=st.floats(0.01, 0.99))
def test_the_least_cost_of_all_cuts_is_that_of_a_vertex(seed, a, b, prior):
    y, score, of_rows = rows_of(seed)
    found = best_cuts(ScoredSamples.from_labels(y, score, **of_rows))
    last = found.all_positive
    share = last.true_positives[0] / found.weight
    a_share, b_share = a * prior / share, b * (1 - prior) / (1 - share)
    cost = (a_share * (last.saved - found.vertices.saved) + b_share * found.vertices.spent) / found.weight
    priced = of_rows | {"fn_cost": a * of_rows["fn_cost"], "fp_cost": b * of_rows["fp_cost"]}
    best = min_cost_risk(y, score, **priced, prior=prior)
    assert cost.min() == pytest.approx(best.risk, rel=1e-12, abs=1e-12)
    equal = cost <= cost.min() * (1 + 1e-12)
    assert best.threshold in found.thresholds[equal]


def test_a_vertex_predicts_what_its_threshold_predicts():
    y, score, of_rows = rows_of(0)
    rows = ScoredSamples.from_labels(y, score, **of_rows)
    found = best_cuts(rows)
    for k, threshold in enumerate(found.thresholds):
        np.testing.assert_allclose(found.vertices.take(np.array([k])), Cuts.from_predictions(rows, score >= threshold))


@pytest.mark.parametrize("n_points", [5, 20, 1000])
def test_the_curve_has_both_ends_and_no_more_points_than_asked(n_points):
    y, score, of_rows = rows_of(0, n_rows=300, decimals=6)
    found = best_cuts(ScoredSamples.from_labels(y, score, **of_rows), n_points=n_points)
    assert len(found.curve.true_positives) <= n_points
    assert found.curve.true_positives[0] == found.curve.false_positives[0] == 0
    assert (found.curve.true_positives[-1], found.curve.spent[-1]) == (
        found.all_positive.true_positives[0],
        found.all_positive.spent[0],
    )
    assert all((np.diff(each) >= 0).all() for each in found.curve)


def test_a_class_without_costs_is_rejected():
    with pytest.raises(ValueError, match="a class whose samples all cost 0"):
        best_cuts(
            ScoredSamples.from_labels([0, 1, 1], [0.0, 1.0, 2.0], fn_cost=[0, 0, 5.0], sample_weight=[1.0, 1.0, 0.0])
        )


def test_one_class_has_no_best_threshold():
    with pytest.raises(ValueError, match="the best cut"):
        best_cuts(ScoredSamples.from_labels([0, 0, 1], [0.0, 1.0, 2.0], sample_weight=[1.0, 1.0, 0.0]))


def test_a_negative_class_without_costs_is_rejected_and_small_costs_are_not():
    with pytest.raises(ValueError, match="a class whose samples all cost 0"):
        best_cuts(
            ScoredSamples.from_labels([0, 0, 1], [0.0, 1.0, 2.0], fp_cost=[5.0, 0, 0], sample_weight=[0.0, 1.0, 1.0])
        )
    cents = best_cuts(ScoredSamples.from_labels([0, 1, 1], [0.0, 1.0, 2.0], fn_cost=0.01, fp_cost=0.01))
    np.testing.assert_allclose(cents.all_positive.saved, [0.02])


@pytest.mark.parametrize("n_points", [5, 20, 100])
@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
def test_points_of_the_curve_are_evenly_spread_by_both_costs(n_points, cost):
    y, score, of_rows = rows_of(1, n_rows=400, decimals=8)
    weighted_costs = of_rows | {"fn_cost": cost, "fp_cost": 2.0}
    rows = ScoredSamples.from_labels(y, score, **weighted_costs)
    whole, some = best_cuts(rows, n_points=401), best_cuts(rows, n_points=n_points)
    assert len(whole.curve.true_positives) == 401

    def steps(curve):
        return np.diff(curve.spent / curve.spent[-1] + curve.saved / curve.saved[-1])

    # Places are the first cuts at or beyond even distances: a step is at most that distance and one sample longer.
    assert n_points / 2 <= len(some.curve.true_positives) <= n_points
    assert steps(some.curve).max() <= 2.0 / (n_points - 2) + steps(whole.curve).max() + 1e-12


def test_the_curve_ends_with_all_positive_also_where_the_last_samples_cost_nothing():
    y, score, of_rows = rows_of(2, n_rows=50, decimals=8)
    of_rows["fn_cost"][np.argsort(score)[:3]] = 0.0
    y[np.argsort(score)[:3]] = 1
    found = best_cuts(ScoredSamples.from_labels(y, score, **of_rows), n_points=10)
    assert len(found.curve.true_positives) <= 10
    assert found.curve.true_positives[-1] == found.all_positive.true_positives[0]
