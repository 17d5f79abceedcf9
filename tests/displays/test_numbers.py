"""Numbers of displays against loops: operating points, cost curves, gains and folds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cssvm.displays import CostCurveDisplay, CostRocDisplay, GainsDisplay, ThresholdDisplay
from cssvm.displays._cost_roc import BEST, CHOSEN, OWN
from cssvm.displays._scored import ScoredFolds
from cssvm.metrics import min_cost_risk
from cssvm.metrics._scored import ScoredSamples
from tests.metrics.samples import Case, cases, fraction, risk_by_definition, thresholds

cost_roc, cost_curve_at_costs = CostRocDisplay._from_samples, CostCurveDisplay._from_samples
mean_cost_curve, fold_threshold_costs = CostCurveDisplay._from_folds, ThresholdDisplay._from_folds
gains = GainsDisplay._from_samples

pytestmark = pytest.mark.filterwarnings("ignore:The scores rank 1, the positive class, below")


def read(case):
    return ScoredSamples.from_labels(case.y, case.score, **case.costs)


def rates_by_cost(case, accepted):
    """False and true positive rate, each sample counted with weight times cost."""
    weighted_cost = case.weight * np.where(case.y == 1, case.fn_cost, case.fp_cost)
    positive = case.y == 1
    return tuple(
        fraction(weighted_cost[rows & accepted]) / fraction(weighted_cost[rows]) for rows in (~positive, positive)
    )


def assert_point(point, case, accepted, normalize):
    fpr, tpr = rates_by_cost(case, accepted)
    expected = (fpr, tpr, risk_by_definition(case, accepted, normalize))
    assert (point.fpr, point.tpr, point.risk) == pytest.approx(tuple(map(float, expected)), abs=1e-12)


@given(case=cases(), chosen=st.integers(-4, 4), own=st.integers(-4, 4), normalize=st.booleans())
def test_operating_points_are_those_of_their_thresholds(case, chosen, own, normalize):
    found = cost_roc(read(case), threshold=chosen / 2, own_threshold=own / 2, normalize=normalize)
    best = min_cost_risk(case.y, case.score, **case.costs).threshold
    assert list(found.points) == [BEST, CHOSEN, OWN]
    for name, threshold in ((BEST, best), (CHOSEN, chosen / 2), (OWN, own / 2)):
        assert found.points[name].threshold == threshold
        assert_point(found.points[name], case, case.score >= threshold, normalize)
    assert found.normalized == normalize
    assert list(cost_roc(read(case), own_threshold=None).points) == [BEST]


@given(case=cases(), data=st.data())
def test_predictions_have_the_threshold_that_makes_them_or_none(case, data):
    counted = case.weight > 0
    acted = np.array(data.draw(st.lists(st.booleans(), min_size=len(case.y), max_size=len(case.y))))
    rows = read(case)
    point = cost_roc(replace(rows, predictions=acted[counted]), own_threshold=0.0).points[OWN]
    assert_point(point, case, acted, False)
    if np.array_equal(acted[counted], (case.score >= 0)[counted]):
        assert point.threshold == 0.0
    else:
        assert np.isnan(point.threshold)
    unknown = cost_roc(replace(rows, predictions=acted[counted]), own_threshold=None).points[OWN]
    assert np.isnan(unknown.threshold)
    assert_point(unknown, case, acted, False)


@given(case=cases())
def test_the_curve_and_its_hull_have_rates_by_cost_and_the_slope_of_equal_risk(case):
    found = cost_roc(read(case))
    points = {tuple(map(float, rates_by_cost(case, case.score >= t))) for t in thresholds(case)}
    for fpr, tpr in [*zip(found.fpr, found.tpr, strict=True), *zip(found.hull_fpr, found.hull_tpr, strict=True)]:
        assert any((fpr, tpr) == pytest.approx(point, abs=1e-12) for point in points)
    weighted_cost = case.weight * np.where(case.y == 1, case.fn_cost, case.fp_cost)
    assert found.slope == pytest.approx(weighted_cost[case.y == 0].sum() / weighted_cost[case.y == 1].sum())
    costs = [case.fn_cost[(case.y == 1) & (case.weight > 0)], case.fp_cost[(case.y == 0) & (case.weight > 0)]]
    assert found.cost_weighted == any(len(set(each.tolist())) > 1 for each in costs)


def curve_by_definition(case, grid):
    """Least normalised cost over all thresholds, rates by cost, at each probability cost of the grid."""
    rates = [rates_by_cost(case, case.score >= t) for t in thresholds(case)]
    return [min(float((1 - tpr) * pc + fpr * (1 - pc)) for fpr, tpr in rates) for pc in grid]


@given(case=cases())
def test_the_cost_curve_at_costs_is_the_normalised_minimum_risk(case):
    found = cost_curve_at_costs(read(case))
    grid = np.linspace(0, 1, 9)
    curve = np.interp(grid, found.probability_cost, found.cost)
    np.testing.assert_allclose(curve, curve_by_definition(case, grid), atol=1e-12)
    weighted_cost = case.weight * np.where(case.y == 1, case.fn_cost, case.fp_cost)
    assert found.operating_point == pytest.approx(weighted_cost[case.y == 1].sum() / weighted_cost.sum())
    least = min_cost_risk(case.y, case.score, **case.costs, normalize=True).risk
    assert np.interp(found.operating_point, found.probability_cost, found.cost) == pytest.approx(least, abs=1e-12)


def held_out(first, second):
    both = [np.concatenate(pair) for pair in zip(vars(first).values(), vars(second).values(), strict=True)]
    return ScoredFolds([read(first), read(second)], read(Case(*both))), Case(*both)


@given(first=cases(), second=cases())
def test_the_mean_cost_curve_is_the_mean_of_those_of_the_folds(first, second):
    folds, pooled = held_out(first, second)
    found = mean_cost_curve(folds)
    grid = np.linspace(0, 1, 9)
    expected = np.mean([curve_by_definition(case, grid) for case in (first, second)], axis=0)
    np.testing.assert_allclose(np.interp(grid, found.probability_cost, found.cost), expected, atol=1e-12)
    assert len(found.fold_curves) == 2
    assert found.operating_point == cost_curve_at_costs(read(pooled)).operating_point


ONE_CLASS = ScoredSamples.from_labels([0, 0, 1], [0.1, 0.2, 0.3], sample_weight=[1, 1, 0])
BOTH = ScoredSamples.from_labels([0, 0, 1], [0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    "numbers",
    [
        lambda: cost_roc(ONE_CLASS),
        lambda: cost_curve_at_costs(ONE_CLASS),
        lambda: mean_cost_curve(ScoredFolds([BOTH, ONE_CLASS], BOTH)),
        lambda: ThresholdDisplay._from_samples(ONE_CLASS),
        lambda: fold_threshold_costs(ScoredFolds([BOTH, ONE_CLASS], BOTH)),
    ],
)
def test_a_display_of_both_errors_needs_both_classes(numbers):
    with pytest.raises(ValueError, match="display of both kinds of errors"):
        numbers()


@given(first=cases(), second=cases(), normalize=st.booleans())
def test_costs_of_folds_are_those_of_each_and_of_all_their_samples(first, second, normalize):
    folds, pooled = held_out(first, second)
    found = fold_threshold_costs(folds, thresholds=[-1, 0, 1], normalize=normalize)
    for case, costs in ((first, found.fold_costs[0]), (second, found.fold_costs[1]), (pooled, found.cost)):
        expected = [float(risk_by_definition(case, case.score >= t, normalize)) for t in (-1, 0, 1)]
        np.testing.assert_allclose(costs, expected, atol=1e-12)
    assert fold_threshold_costs(folds, threshold=0.25).threshold == 0.25


def gains_by_definition(case, accepted):
    """Share of the samples acted on, and what that saves per sample."""
    total, acted = fraction(case.weight), np.asarray(accepted) & (case.weight > 0)
    saved = fraction((case.weight * case.fn_cost)[acted & (case.y == 1)])
    spent = fraction((case.weight * case.fp_cost)[acted & (case.y == 0)])
    return fraction(case.weight[acted]) / total, (saved - spent) / total


@given(case=cases(), threshold=st.integers(-4, 4))
def test_gains_are_the_cost_saved_at_every_threshold(case, threshold):
    rows = ScoredSamples.from_labels(case.y, case.score, **case.costs)
    found = gains(rows, own_threshold=threshold / 2)
    expected = [gains_by_definition(case, case.score >= each) for each in thresholds(case)]
    np.testing.assert_allclose(np.column_stack([found.share, found.gain]), np.array(expected, dtype=float))
    own = gains_by_definition(case, case.score >= threshold / 2)
    perfect = gains_by_definition(case, case.y == 1)
    assert (found.own_share, found.own_gain) == pytest.approx(tuple(map(float, own)))
    assert (found.perfect_share, found.perfect_gain) == pytest.approx(tuple(map(float, perfect)))
    assert found.weight == case.weight.sum()


@given(case=cases(), data=st.data())
def test_gains_of_predictions_are_the_cost_they_save(case, data):
    acted = np.array(data.draw(st.lists(st.booleans(), min_size=len(case.y), max_size=len(case.y))))
    rows = ScoredSamples.from_labels(case.y, case.score, **case.costs)
    found = gains(replace(rows, predictions=acted[case.weight > 0]))
    assert (found.own_share, found.own_gain) == pytest.approx(tuple(map(float, gains_by_definition(case, acted))))
    unknown = gains(rows)
    assert np.isnan([unknown.own_share, unknown.own_gain]).all()


def test_gains_need_both_classes():
    with pytest.raises(ValueError, match="gains"):
        gains(ScoredSamples.from_labels([0, 0, 1], [0.1, 0.2, 0.3], sample_weight=[1, 1, 0]))
