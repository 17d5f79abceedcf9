"""Costs over thresholds, by loops over samples and thresholds, and their resamples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from cssvm.metrics import bootstrap_interval, cost_risk, expected_cost_at, min_cost_risk
from cssvm.metrics._bootstrap import generator, resample_counts
from cssvm.metrics._scored import ScoredSamples
from cssvm.metrics._threshold_costs import resampled_costs, threshold_costs

from .samples import Case, cases, risk_by_definition

pytestmark = pytest.mark.filterwarnings("ignore:The scores rank 1, the positive class, below")

BOTH = ScoredSamples.from_labels([0, 0, 1], [0.1, 0.2, 0.3])


def read(case):
    return ScoredSamples.from_labels(case.y, case.score, **case.costs)


@pytest.mark.parametrize("normalize", [False, True])
def test_a_resample_of_one_sample_per_class_is_the_sample(normalize):
    rows = ScoredSamples.from_labels([0, 1], [1.0, 0.0], fn_cost=5.0, fp_cost=2.0, sample_weight=[3.0, 1.0])
    cuts = [0.5, -np.inf, np.inf, 0.0, 1.0]
    samples = resampled_costs(rows, cuts, n_resamples=4, normalize=normalize, random_state=0)
    # Weighted: a false positive costs 6, a false negative 5; of four samples, or of 11 with weights.
    expected = np.array([11, 6, 5, 6, 11]) / (11 if normalize else 4)
    assert_allclose(samples, np.tile(expected, (4, 1)))


@pytest.mark.parametrize("per_row", [False, True])
def test_resampled_costs_have_the_mean_and_spread_of_resampled_samples(data, model, amounts, per_row):
    """The cost of a resample is a mean of independent draws from all rows: its mean and variance are known."""
    X, y = data
    scores, n_resamples = model.decision_function(X), 2000
    fn_cost = amounts if per_row else np.full(len(y), 5.0)
    rows = ScoredSamples.from_labels(y, scores, fn_cost=fn_cost, fp_cost=2.0)
    cuts = np.array([-0.5, 0.0, 0.8])
    samples = resampled_costs(rows, cuts, n_resamples=n_resamples, normalize=False, random_state=0)
    for cut, sample in zip(cuts, samples.T, strict=True):
        loss = np.where(y == 1, fn_cost * (scores < cut), 2.0 * (scores >= cut))
        variance = loss.var() / len(y)
        # Five standard errors of a mean; those of a near-normal variance are sqrt(2 / n) of it.
        assert abs(sample.mean() - loss.mean()) < 5 * np.sqrt(variance / n_resamples)
        assert abs(sample.var() / variance - 1) < 5 * np.sqrt(2 / n_resamples)


def test_resamples_are_the_same_whatever_is_held_in_memory_at_a_time(data, model, amounts, monkeypatch):
    rows = ScoredSamples.from_labels(data[1], model.decision_function(data[0]), fn_cost=amounts)
    arguments = {"n_resamples": 30, "normalize": False, "random_state": 0}
    whole = resampled_costs(rows, [0.0, 1.0], **arguments)
    monkeypatch.setattr("cssvm.metrics._bootstrap.BATCH_COUNTS", 100)
    assert_array_equal(resampled_costs(rows, [0.0, 1.0], **arguments), whole)


@pytest.mark.parametrize("per_row", [False, True])
def test_the_interval_of_the_cost_is_that_of_bootstrap_interval(per_row):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [150, 50])
    scores = rng.normal(size=200) + y
    costs = {"fn_cost": rng.exponential(5.0, 200) if per_row else 5.0, "fp_cost": 1.0}
    found = threshold_costs(
        ScoredSamples.from_labels(y, scores, **costs), threshold=2.0, n_resamples=4000, confidence=0.9, random_state=0
    )
    other = bootstrap_interval(
        cost_risk, y, (scores >= 2.0).astype(int), **costs, n_resamples=4000, confidence=0.9, random_state=1
    )
    # Drawing within classes would make this interval half as long; two seeds differ by some hundredths.
    assert_allclose(np.ptp(found.cost_interval), other.high - other.low, rtol=0.06)
    assert_allclose(found.cost_interval, (other.low, other.high), rtol=0.04)


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
