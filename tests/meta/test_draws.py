"""Resamples have the probabilities stated in their module."""

import itertools

import numpy as np
import pytest

from cssvm._meta.ensembles import REJECTION, WITH, WITHOUT, draw_samples, draw_size

WEIGHTED_COSTS = np.array([4.0, 1.0, 0.0, 2.0, 1.0])
POSITIVE = np.array([True, False, False, True, False])
N_DRAWS = 4000


def shares(sampling, expected, size=None):
    """How often samples are drawn, within five standard errors of what is expected of draws with both classes."""
    draws = draw_samples(sampling, WEIGHTED_COSTS, POSITIVE, range(N_DRAWS), size=size, owner="a test")
    found = np.mean([np.bincount(rows, minlength=len(WEIGHTED_COSTS)) for rows in draws], axis=0)
    np.testing.assert_allclose(found, expected, atol=5 * np.sqrt((size or 1) / 4 / N_DRAWS))
    return draws


def both(rows):
    return 0 < POSITIVE[list(rows)].sum() < len(rows)


def test_rejection_keeps_a_sample_with_the_chance_of_its_weighted_cost_over_the_largest():
    chances = WEIGHTED_COSTS / 4.0
    subsets = [np.flatnonzero(kept) for kept in itertools.product([0, 1], repeat=5)]
    weights = [np.prod(np.where(np.isin(np.arange(5), rows), chances, 1 - chances)) for rows in subsets]
    likely = np.array([weight if both(rows) else 0.0 for weight, rows in zip(weights, subsets, strict=True)])
    expected = sum(
        weight * np.isin(np.arange(5), rows) for weight, rows in zip(likely / likely.sum(), subsets, strict=True)
    )
    draws = shares(REJECTION, expected)
    assert all(0 in rows and 2 not in rows for rows in draws)  # the most costly always, one without a cost never


def test_draws_with_replacement_follow_the_weighted_costs_each_time():
    chances = WEIGHTED_COSTS / WEIGHTED_COSTS.sum()
    sequences = list(itertools.product(range(5), repeat=3))
    likely = np.array([np.prod(chances[list(rows)]) if both(rows) else 0.0 for rows in sequences])
    expected = sum(
        weight * np.bincount(rows, minlength=5) for weight, rows in zip(likely / likely.sum(), sequences, strict=True)
    )
    draws = shares(WITH, expected, size=3)
    assert any(len(np.unique(rows)) < 3 for rows in draws)


def test_draws_without_replacement_follow_the_weighted_costs_of_the_samples_left():
    chances = WEIGHTED_COSTS / WEIGHTED_COSTS.sum()
    pairs = list(itertools.permutations(np.flatnonzero(WEIGHTED_COSTS), 2))
    likely = np.array([chances[i] * chances[j] / (1 - chances[i]) if both((i, j)) else 0.0 for i, j in pairs])
    expected = sum(
        weight * np.bincount(rows, minlength=5) for weight, rows in zip(likely / likely.sum(), pairs, strict=True)
    )
    draws = shares(WITHOUT, expected, size=2)
    assert all(len(np.unique(rows)) == 2 for rows in draws)


def test_a_draw_depends_on_its_own_seed_only():
    together = draw_samples(WITH, WEIGHTED_COSTS, POSITIVE, [3, 1, 2], size=4, owner="a test")
    for seed, rows in zip([3, 1, 2], together, strict=True):
        (alone,) = draw_samples(WITH, WEIGHTED_COSTS, POSITIVE, [seed], size=4, owner="a test")
        np.testing.assert_array_equal(rows, alone)


@pytest.mark.parametrize(("max_samples", "size"), [(7, 7), (0.5, 5), (1.0, 10), (0.01, 1), (np.int64(3), 3), (20, 20)])
def test_sizes_are_numbers_or_shares_of_the_samples(max_samples, size):
    assert draw_size(max_samples, 10, owner="a test") == size


@pytest.mark.parametrize("max_samples", [0, -1, 0.0, 1.5, np.nan, "all", True, None])
def test_other_sizes_are_rejected(max_samples):
    with pytest.raises(ValueError, match=r"max_samples of a test must be a number of samples, .* got max_samples="):
        draw_size(max_samples, 10, owner="a test")
