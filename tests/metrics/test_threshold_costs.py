import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cssvm.metrics.scored import ScoredSample
from cssvm.metrics.threshold_costs import resampled_costs


@pytest.mark.parametrize("normalize", [False, True])
def test_a_resample_of_one_row_per_class_is_the_sample(normalize):
    rows = ScoredSample.read([0, 1], [1.0, 0.0], fn_cost=5.0, fp_cost=2.0, sample_weight=[3.0, 1.0])
    cuts = [0.5, -np.inf, np.inf, 0.0, 1.0]
    samples = resampled_costs(rows, cuts, n_resamples=4, normalize=normalize, random_state=0)
    # Weighted: a false alarm costs 6, a miss 5; of four rows, or of 11 at stake.
    expected = np.array([11, 6, 5, 6, 11]) / (11 if normalize else 4)
    assert_allclose(samples, np.tile(expected, (4, 1)))


@pytest.mark.parametrize("per_row", [False, True])
def test_resampled_costs_have_the_mean_and_spread_of_resampled_rows(data, model, amounts, per_row):
    """The cost of a resample is a sum of independent draws: its mean and variance are known."""
    X, y = data
    scores, n_resamples = model.decision_function(X), 2000
    fn_cost = amounts if per_row else np.full(len(y), 5.0)
    rows = ScoredSample.read(y, scores, fn_cost=fn_cost, fp_cost=2.0)
    cuts = np.array([-0.5, 0.0, 0.8])
    samples = resampled_costs(rows, cuts, n_resamples=n_resamples, normalize=False, random_state=0)
    for cut, sample in zip(cuts, samples.T, strict=True):
        loss = np.where(y == 1, fn_cost * (scores < cut), 2.0 * (scores >= cut))
        variance = sum(loss[y == label].var() * (y == label).sum() for label in (0, 1)) / len(y) ** 2
        # Five standard errors of a mean; those of a near-normal variance are sqrt(2 / n) of it.
        assert abs(sample.mean() - loss.mean()) < 5 * np.sqrt(variance / n_resamples)
        assert abs(sample.var() / variance - 1) < 5 * np.sqrt(2 / n_resamples)


def test_resamples_are_the_same_whatever_is_held_in_memory_at_a_time(data, model, amounts, monkeypatch):
    rows = ScoredSample.read(data[1], model.decision_function(data[0]), fn_cost=amounts)
    arguments = {"n_resamples": 30, "normalize": False, "random_state": 0}
    whole = resampled_costs(rows, [0.0, 1.0], **arguments)
    monkeypatch.setattr("cssvm.metrics.bootstrap.BATCH_COUNTS", 100)
    assert_array_equal(resampled_costs(rows, [0.0, 1.0], **arguments), whole)
