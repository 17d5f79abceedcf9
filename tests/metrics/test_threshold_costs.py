import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cssvm.metrics import bootstrap_interval, cost_risk
from cssvm.metrics._scored import ScoredSamples
from cssvm.metrics._threshold_costs import resampled_costs, threshold_costs


@pytest.mark.parametrize("normalize", [False, True])
def test_a_resample_of_one_row_per_class_is_the_sample(normalize):
    rows = ScoredSamples.from_labels([0, 1], [1.0, 0.0], fn_cost=5.0, fp_cost=2.0, sample_weight=[3.0, 1.0])
    cuts = [0.5, -np.inf, np.inf, 0.0, 1.0]
    samples = resampled_costs(rows, cuts, n_resamples=4, normalize=normalize, random_state=0)
    # Weighted: a false alarm costs 6, a miss 5; of four rows, or of 11 at stake.
    expected = np.array([11, 6, 5, 6, 11]) / (11 if normalize else 4)
    assert_allclose(samples, np.tile(expected, (4, 1)))


@pytest.mark.parametrize("per_row", [False, True])
def test_resampled_costs_have_the_mean_and_spread_of_resampled_rows(data, model, amounts, per_row):
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
