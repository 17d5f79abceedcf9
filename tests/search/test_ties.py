"""Equally good points: rounding does not choose among them."""

import warnings

import numpy as np
import pytest

from cssvm import CostSensitiveSVCCV
from cssvm._search.grid_search import rank_means


def test_means_that_differ_by_rounding_rank_alike():
    mean = np.array([-0.28229885057471266, -0.2822988505747126, -0.3, np.nan, -0.2823])
    for factor in (1.0, 0.1, 1 / 3, 100.0, 1e-12):
        np.testing.assert_array_equal(rank_means(factor * mean), [1, 1, 4, 5, 3])
    np.testing.assert_array_equal(rank_means(np.array([np.nan, np.nan])), [1, 1])
    np.testing.assert_array_equal(rank_means(np.zeros(3)), [1, 1, 1])


def chosen(seed, decision, factor):
    """C in the first unit, and gamma."""
    rng = np.random.default_rng(seed)
    n = rng.integers(60, 160)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + 0.6 * rng.normal(size=n) > 0.3
    costs = {"fn_cost": 3.0 * factor, "fp_cost": factor}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the edge of the grid
        search = CostSensitiveSVCCV(Cs=6, gammas=5, decision=decision, **costs).fit(X, y)
    return search.best_params_["C"] * factor, search.best_params_["gamma"]


def check_units(seed, decision, factors):
    expected = chosen(seed, decision, 1.0)
    for factor in factors:
        assert chosen(seed, decision, factor) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("seed", "decision", "factor"), [(0, "threshold", 1 / 3), (3, "zero", 0.1), (13, "threshold", 100.0)]
)
def test_the_unit_of_the_costs_does_not_choose_between_points_that_tie(seed, decision, factor):
    check_units(seed, decision, [factor])


@pytest.mark.system
@pytest.mark.parametrize("decision", ["zero", "threshold"])
@pytest.mark.parametrize("seed", range(20))
def test_the_unit_of_the_costs_does_not_change_the_model(seed, decision):
    check_units(seed, decision, [0.1, 1 / 3, 100.0])
