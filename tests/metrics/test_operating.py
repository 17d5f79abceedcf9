"""Operating points, cost curves at given costs and costs over thresholds, by loops over samples and thresholds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cssvm.metrics import expected_cost_at, min_cost_risk
from cssvm.metrics._bootstrap import generator, resample_counts
from cssvm.metrics._held_out import HeldOut
from cssvm.metrics._operating import BEST, CHOSEN, OWN, cost_curve_at_costs, cost_roc, mean_cost_curve
from cssvm.metrics._scored import ScoredSamples
from cssvm.metrics._threshold_costs import fold_threshold_costs, resampled_costs, threshold_costs

from .samples import Case, cases, fraction, risk_by_definition, thresholds

pytestmark = pytest.mark.filterwarnings("ignore:The scores rank 1, the positive class, below")


def read(case):
    return ScoredSamples.from_labels(case.y, case.score, **case.costs)


def rates_by_cost(case, accepted):
    """False and true positive rate, each sample counted with weight times cost."""
    stake = case.weight * np.where(case.y == 1, case.fn_cost, case.fp_cost)
    positive = case.y == 1
    return tuple(fraction(stake[rows & accepted]) / fraction(stake[rows]) for rows in (~positive, positive))


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
def test_decisions_have_the_threshold_that_makes_them_or_none(case, data):
    counted = case.weight > 0
    acted = np.array(data.draw(st.lists(st.booleans(), min_size=len(case.y), max_size=len(case.y))))
    rows = read(case)
    point = cost_roc(rows, own_threshold=0.0, acted_on=acted[counted]).points[OWN]
    assert_point(point, case, acted, False)
    if np.array_equal(acted[counted], (case.score >= 0)[counted]):
        assert point.threshold == 0.0
    else:
        assert np.isnan(point.threshold)
    unknown = cost_roc(rows, own_threshold=None, acted_on=acted[counted]).points[OWN]
    assert np.isnan(unknown.threshold)
    assert_point(unknown, case, acted, False)


@given(case=cases())
def test_the_curve_and_its_hull_have_rates_by_cost_and_the_slope_of_equal_risk(case):
    found = cost_roc(read(case))
    points = {tuple(map(float, rates_by_cost(case, case.score >= t))) for t in thresholds(case)}
    for fpr, tpr in [*zip(found.fpr, found.tpr, strict=True), *zip(found.hull_fpr, found.hull_tpr, strict=True)]:
        assert any((fpr, tpr) == pytest.approx(point, abs=1e-12) for point in points)
    stake = case.weight * np.where(case.y == 1, case.fn_cost, case.fp_cost)
    assert found.slope == pytest.approx(stake[case.y == 0].sum() / stake[case.y == 1].sum())
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
    stake = case.weight * np.where(case.y == 1, case.fn_cost, case.fp_cost)
    assert found.operating_point == pytest.approx(stake[case.y == 1].sum() / stake.sum())
    least = min_cost_risk(case.y, case.score, **case.costs, normalize=True).risk
    assert np.interp(found.operating_point, found.probability_cost, found.cost) == pytest.approx(least, abs=1e-12)


def held_out(first, second):
    both = [np.concatenate(pair) for pair in zip(vars(first).values(), vars(second).values(), strict=True)]
    return HeldOut([read(first), read(second)], read(Case(*both))), Case(*both)


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
        lambda: mean_cost_curve(HeldOut([BOTH, ONE_CLASS], BOTH)),
        lambda: threshold_costs(ONE_CLASS),
        lambda: fold_threshold_costs(HeldOut([BOTH, ONE_CLASS], BOTH)),
    ],
)
def test_a_picture_of_both_errors_needs_both_classes(numbers):
    with pytest.raises(ValueError, match="picture of both kinds of errors"):
        numbers()


@given(case=cases(), normalize=st.booleans(), chosen=st.sampled_from([None, -0.5, 0.75]))
def test_costs_over_thresholds_are_the_risk_at_each(case, normalize, chosen):
    found = threshold_costs(read(case), threshold=chosen, normalize=normalize, n_resamples=0)
    best = min_cost_risk(case.y, case.score, **case.costs).threshold
    assert found.threshold == (best if chosen is None else chosen)
    options = {**case.costs, "normalize": normalize}
    np.testing.assert_allclose(found.cost, expected_cost_at(case.y, case.score, found.thresholds, **options))
    assert found.threshold_cost == pytest.approx(
        float(risk_by_definition(case, case.score >= found.threshold, normalize))
    )
    assert found.normalized == normalize
    assert found.band is found.threshold_interval is found.cost_interval is None


@given(case=cases())
def test_the_even_grid_reaches_beyond_the_scores_and_holds_the_chosen_threshold(case):
    found = threshold_costs(read(case), n_resamples=0)
    counted = case.score[case.weight > 0]
    beyond = 0.02 * np.ptp(counted) or 1.0
    expected = np.linspace(counted.min() - beyond, counted.max() + beyond, 201)
    if np.isfinite(found.threshold):
        expected = np.unique([*expected, found.threshold])
    np.testing.assert_allclose(found.thresholds, expected)


def test_given_thresholds_are_sorted():
    found = threshold_costs(BOTH, thresholds=[0.25, 0.05, 0.15], n_resamples=0)
    np.testing.assert_array_equal(found.thresholds, [0.05, 0.15, 0.25])
    np.testing.assert_allclose(found.cost, [2 / 3, 1 / 3, 0.0])


@pytest.mark.parametrize("thresholds", [[0.1], [[0.1, 0.2]], [0.1, np.nan], [0.1, np.inf]])
def test_thresholds_must_be_two_finite_numbers_or_more(thresholds):
    with pytest.raises(ValueError, match="thresholds must be at least two finite numbers"):
        threshold_costs(BOTH, thresholds=thresholds, n_resamples=0)
    assert len(threshold_costs(BOTH, thresholds=[0.1, 0.2], n_resamples=0).cost) == 2


@pytest.mark.parametrize(
    ("request_", "name"), [({"n_resamples": -1}, "n_resamples"), ({"confidence": 1.5}, "confidence")]
)
def test_requests_for_a_band_are_checked(request_, name):
    with pytest.raises(ValueError, match=f"{name} must"):
        threshold_costs(BOTH, **request_)


@pytest.mark.parametrize("normalize", [False, True])
def test_resampled_costs_are_those_of_repeated_samples(normalize):
    """Every sample is a group of its own here: groups are sorted by class, place among the thresholds, and cost."""
    case = Case(
        y=np.array([0, 0, 0, 1, 1, 1]),
        score=np.array([0.1, 0.4, 0.4, 0.2, 0.4, 0.9]),
        weight=np.array([1, 2, 3, 1, 2, 1]),
        fn_cost=np.array([0, 0, 0, 5, 1, 7]),
        fp_cost=np.array([2, 1, 3, 0, 0, 0]),
    )
    cuts = [0.5, 0.05, 0.4, 2.0, 0.15]
    found = resampled_costs(read(case), cuts, n_resamples=25, normalize=normalize, random_state=3)
    classes = [np.arange(3), np.arange(3, 6)]
    counts = np.concatenate([*resample_counts(classes, 25, generator(3), stratified=False)])
    for drawn, costs in zip(counts, found, strict=True):
        resample = Case(case.y, case.score, case.weight * drawn, case.fn_cost, case.fp_cost)
        expected = [float(risk_by_definition(resample, case.score >= cut, normalize)) for cut in cuts]
        np.testing.assert_allclose(costs, expected, atol=1e-12)


@pytest.mark.parametrize("chosen", [None, 0.3])
def test_bands_and_intervals_are_quantiles_of_resampled_costs(chosen):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    rows = ScoredSamples.from_labels(y, rng.normal(size=40) + y, fn_cost=3.0)
    options = {"n_resamples": 60, "random_state": 4}
    found = threshold_costs(rows, threshold=chosen, confidence=0.8, thresholds=[0, 0.5, 1, 1.5], **options)
    samples = resampled_costs(rows, [0, 0.5, 1, 1.5, found.threshold], normalize=False, **options)
    np.testing.assert_allclose(found.band, np.quantile(samples[:, :4], [0.1, 0.9], axis=0))
    np.testing.assert_allclose(found.cost_interval, np.quantile(samples[:, 4], [0.1, 0.9]))
    assert found.confidence == 0.8
    if chosen is None:  # of equally cheap thresholds of the grid the highest
        best = [
            max(t for t, cost in zip([0, 0.5, 1, 1.5], line, strict=False) if cost == min(line[:4])) for line in samples
        ]
        np.testing.assert_allclose(found.threshold_interval, np.quantile(best, [0.1, 0.9]))
    else:
        assert found.threshold_interval is None
    normalised = threshold_costs(rows, thresholds=[0, 1], normalize=True, **options)
    whole = resampled_costs(rows, [0, 1], normalize=True, **options)
    np.testing.assert_allclose(normalised.band, np.quantile(whole, [0.025, 0.975], axis=0))


@given(first=cases(), second=cases(), normalize=st.booleans())
def test_costs_of_folds_are_those_of_each_and_of_all_their_samples(first, second, normalize):
    folds, pooled = held_out(first, second)
    found = fold_threshold_costs(folds, thresholds=[-1, 0, 1], normalize=normalize)
    for case, costs in ((first, found.fold_costs[0]), (second, found.fold_costs[1]), (pooled, found.cost)):
        expected = [float(risk_by_definition(case, case.score >= t, normalize)) for t in (-1, 0, 1)]
        np.testing.assert_allclose(costs, expected, atol=1e-12)
    assert fold_threshold_costs(folds, threshold=0.25).threshold == 0.25
