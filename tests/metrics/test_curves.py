import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_curve

from cssvm.metrics import cost_curve, min_cost_risk, neyman_pearson, roc_convex_hull
from cssvm.metrics._curves import hull_of_curve, hull_of_samples, roc_curve_of_samples
from cssvm.metrics._scored import ScoredSamples

from .samples import cases, rates_by_definition, thresholds


def upper_hull(points):
    """Vertices by the gift-wrapping rule in fractions: always the steepest next point, the farthest of those."""
    hull = [points[0]]
    while hull[-1] != points[-1]:
        x, y = hull[-1]
        later = [p for p in points if p[0] >= x and p[1] >= y and p != hull[-1]]
        # Steepness as (rise / (rise + run)), defined for vertical pieces as well.
        hull.append(max(later, key=lambda p: ((p[1] - y) / (p[1] - y + p[0] - x), p[0] + p[1])))
    return hull


@given(case=cases(max_rows=14))
def test_the_hull_has_the_vertices_of_gift_wrapping(case):
    rates = [rates_by_definition(case, level) for level in thresholds(case)]
    expected = upper_hull([(fpr, 1 - fnr) for fpr, fnr in rates])
    hull = roc_convex_hull(case.y, case.score, sample_weight=case.weight)
    np.testing.assert_array_equal(hull.fpr, [float(x) for x, _ in expected])
    np.testing.assert_array_equal(hull.tpr, [float(y) for _, y in expected])
    for fpr, tpr, level in zip(*hull, strict=True):
        found_fpr, found_fnr = rates_by_definition(case, level)
        assert (float(found_fpr), float(1 - found_fnr)) == (fpr, tpr)


def test_the_hull_lies_above_scikit_learns_curve_and_its_slopes_fall():
    rng = np.random.default_rng(1)
    y, score, weight = rng.integers(0, 2, 3000), rng.normal(size=3000).round(2), rng.random(3000)
    fpr, tpr, _ = roc_curve(y, score, sample_weight=weight)
    hull = roc_convex_hull(y, score, sample_weight=weight)
    assert (np.interp(fpr, hull.fpr, hull.tpr) >= tpr - 1e-12).all()
    angles = np.arctan2(np.diff(hull.tpr), np.diff(hull.fpr))
    assert (np.diff(angles) < 0).all()
    assert (hull.fpr[0], hull.tpr[0], hull.fpr[-1], hull.tpr[-1]) == (0, 0, 1, 1)
    assert hull.thresholds[0] == np.inf
    assert hull.thresholds[-1] == score.min()


@given(case=cases(max_rows=14))
def test_the_curve_has_the_points_of_scikit_learns(case):
    counted = case.weight > 0
    fpr, tpr, _ = roc_curve(case.y[counted], case.score[counted], sample_weight=case.weight[counted])
    found = roc_curve_of_samples(ScoredSamples.from_labels(case.y, case.score, sample_weight=case.weight))
    np.testing.assert_array_equal(found, [fpr, tpr])


@given(case=cases(max_rows=14))
def test_rates_by_cost_are_those_of_samples_weighted_by_their_cost(case):
    weighted_costs = case.weight * np.where(case.y == 1, case.fn_cost, case.fp_cost)
    scored = ScoredSamples.from_labels(case.y, case.score, **case.costs)
    weighted = ScoredSamples.from_labels(case.y, case.score, sample_weight=weighted_costs)
    assert len(weighted) == np.count_nonzero(weighted_costs)
    np.testing.assert_array_equal(roc_curve_of_samples(scored, by_cost=True), roc_curve_of_samples(weighted))
    found, expected = hull_of_samples(scored, by_cost=True), hull_of_samples(weighted)
    np.testing.assert_array_equal(found[:2], expected[:2])


def test_constant_scores_have_the_diagonal_as_hull_and_the_trivial_cost_curve():
    hull = roc_convex_hull([0, 1, 1], [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(hull, [[0, 1], [0, 1], [np.inf, 2]])
    curve = cost_curve([0, 1, 1], [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(curve, [[0, 0.5, 1], [0, 0.5, 0]])


def test_a_weight_lost_in_rounding_leaves_a_hull():
    hull = roc_convex_hull([0, 1, 0, 1], [1, 2, 3, 4], sample_weight=[1, 1, 1e-30, 1])
    np.testing.assert_allclose(hull.tpr, [0, 1, 1])
    np.testing.assert_allclose(hull.fpr, [0, 0, 1], atol=1e-29)


def test_a_perfect_ranking_costs_nothing_at_any_costs():
    np.testing.assert_array_equal(cost_curve([0, 1], [0.0, 1.0]), [[0, 1], [0, 0]])


@given(case=cases(), fn_cost=st.integers(1, 9), fp_cost=st.integers(1, 9))
def test_the_cost_curve_is_the_normalised_minimum_risk(case, fn_cost, fp_cost):
    positive, negative = (fraction * cost for fraction, cost in zip(shares(case), (fn_cost, fp_cost), strict=True))
    curve = cost_curve(
        case.y, case.score, probability_cost=[positive / (positive + negative)], sample_weight=case.weight
    )
    best = min_cost_risk(
        case.y, case.score, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=case.weight, normalize=True
    )
    # Both lie in [0, 1] and are made of a handful of rounded operations.
    assert curve.cost[0] == pytest.approx(best.risk, abs=1e-14)


def shares(case):
    return case.weight[case.y == 1].sum(), case.weight[case.y == 0].sum()


@given(case=cases())
def test_the_cost_curve_is_the_lower_envelope_of_the_lines_of_all_thresholds(case):
    grid = np.linspace(0, 1, 41)
    lines = [
        float(fnr) * grid + float(fpr) * (1 - grid)
        for fpr, fnr in (rates_by_definition(case, level) for level in thresholds(case))
    ]
    curve = cost_curve(case.y, case.score, probability_cost=grid, sample_weight=case.weight)
    np.testing.assert_allclose(curve.cost, np.min(lines, axis=0), atol=1e-14)
    vertices = cost_curve(case.y, case.score, sample_weight=case.weight)
    assert (np.diff(vertices.probability_cost) > 0).all()
    np.testing.assert_allclose(np.interp(grid, *vertices), curve.cost, atol=1e-14)


@pytest.mark.parametrize("grid", [[-0.1, 0.5], [1.2], [np.nan]])
def test_the_probability_cost_lies_between_zero_and_one(grid):
    with pytest.raises(ValueError, match="probability_cost must lie between 0 and 1; got"):
        cost_curve([0, 1], [0.1, 0.2], probability_cost=grid)


@given(case=cases(), limit=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_neyman_pearson_equals_brute_force(case, limit):
    rates = [rates_by_definition(case, level) for level in thresholds(case)]
    fnr, fpr = min((fnr, fpr) for fpr, fnr in rates if fpr <= limit)
    best = neyman_pearson(case.y, case.score, max_fpr=limit, sample_weight=case.weight)
    assert (best.fpr, best.fnr) == (float(fpr), float(fnr))
    assert rates_by_definition(case, best.threshold) == (fpr, fnr)


def test_neyman_pearson_can_predict_all_negative_and_all_positive():
    assert neyman_pearson([0, 1], [2.0, 1.0], max_fpr=0) == (np.inf, 0.0, 1.0)
    assert neyman_pearson([0, 1], [2.0, 1.0], max_fpr=1) == (-np.inf, 1.0, 0.0)


@pytest.mark.parametrize("limit", [-0.1, 1.1, np.nan, None])
def test_the_limit_is_a_rate(limit):
    with pytest.raises(ValueError, match="max_fpr must be a rate between 0 and 1; got max_fpr="):
        neyman_pearson([0, 1], [0.1, 0.2], max_fpr=limit)


@pytest.mark.parametrize(
    "metric", [roc_convex_hull, cost_curve, lambda *arguments: neyman_pearson(*arguments, max_fpr=0.1)]
)
def test_curves_need_both_classes(metric):
    with pytest.raises(ValueError, match="y_true must hold samples of both classes"):
        metric([0, 0], [0.1, 0.2])


def test_a_rate_that_meets_its_limit_up_to_rounding_is_allowed():
    # 0.3 + 0.3 + 0.3 of 0.9 is 1/1 of the weight, and 0.3 + 0.3 of 0.9 two thirds, whatever the sums round to.
    y, score, weight = [0, 0, 0, 1], [4.0, 3.0, 1.0, 2.0], [0.3, 0.3, 0.3, 1.0]
    for limit in (2 / 3, 0.6 / 0.9, 0.6 / (0.3 + 0.3 + 0.3)):
        assert neyman_pearson(y, score, max_fpr=limit, sample_weight=weight).fnr == 0.0


def test_a_curve_keeps_its_ends():
    assert hull_of_curve(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0])).tolist() == [0, 2]
    assert hull_of_curve(np.array([0.0, 0.0, 2.0]), np.array([0.0, 2.0, 2.0])).tolist() == [0, 1, 2]
