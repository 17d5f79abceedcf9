"""Grids are extended if the best point is at their edge."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from cssvm import CostSensitiveSVCCV
from cssvm._kernels import make_kernel
from cssvm._search import grid as grid_module
from cssvm._search.grid import REACH, GeometricAxis, GridAxes, GridExtension, is_clearly_better


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 10, 40])
@pytest.mark.parametrize("direction", [-1, 1])
def test_an_axis_is_extended_up_to_its_limit(count, direction):
    given = np.geomspace(2.0**-5, 2.0**10, count)
    axis = GeometricAxis(given)
    added = []
    while axis.additions[direction]:
        assert len(axis.additions[direction]) <= grid_module.MAX_EXTENSIONS
        values = axis.extend(direction)
        assert len(values) <= grid_module.N_ADDED
        added.extend(values if direction > 0 else values[::-1])
    ratios = np.array(added) / given[-1] if direction > 0 else given[0] / np.array(added)
    assert (np.diff(ratios) > 0).all()
    assert 1.0 < ratios[0] <= given[1] / given[0] * (1 + 1e-12)
    assert ratios[-1] <= REACH * (1 + 1e-9)
    np.testing.assert_array_equal(axis.values, np.sort(np.concatenate([given, added])))


@pytest.mark.parametrize(
    ("values", "others", "better"),
    [
        ([1.0], [0.9], True),  # nothing is known of how folds vary
        ([1.0], [1.0], False),
        ([1.0, 1.0], [0.9, 0.5], True),
        ([1.0, 1.0], [0.9, 1.1], False),
        ([1.0, 1.0, 1.0, 1.0, 1.0], [0.9, 0.9, 0.9, 0.9, 1.1], True),
        ([2.0, 4.0, 6.0, 8.0, 9.0], [1.9, 3.9, 5.9, 7.9, 8.9], True),  # folds vary, their differences do not
        ([1.0, 1.0, 1.0, 1.0, 1.0], [0.5, 1.3, 1.3, 1.3, 0.5], False),
        ([0.1 + 0.2, 0.3], [0.3, 0.3], False),  # rounding
    ],
)
def test_better_means_by_more_than_a_standard_error_of_the_differences(values, others, better):
    assert is_clearly_better(np.array(values), np.array(others)) is better


def spread(estimator, X, y):
    """A scorer whose value rises with the spread of the scores, and so with C."""
    return float(np.ptp(estimator.decision_function(X)) + X[:, 0].mean())


@pytest.fixture(scope="module")
def data():
    return make_classification(60, 4, flip_y=0.1, random_state=0)


CS = np.array([1.0, 8.0, 64.0])


def edge_of(values, best):
    """Where the best of three points lies, which differ in C and have these values on the folds."""
    axes = GridAxes([make_kernel("rbf", gamma=1.0)], CS, [(1.0, 1.0)], [1.0], False, {"C": CS})
    return GridExtension("rbf", axes).find_edge(axes.grid().points, np.array(values), best)


@pytest.mark.parametrize(
    ("values", "edge"),
    [
        ([1.1, 1.1, 1.1, 1.1, 1.2], ("C", 1)),
        ([0.9, 0.9, 0.9, 0.9, 2.0], None),  # much better on one fold, and worse on the others
    ],
)
def test_a_point_at_the_edge_that_is_better_by_chance_is_left_at_that(values, edge):
    assert edge_of([[0.5] * 5, [1.0] * 5, values], best=2) == edge


def test_a_point_at_the_edge_without_a_rival_that_was_scored_on_all_folds_is_clearly_better():
    assert edge_of([[1.0] * 5, [np.nan] * 5, [np.nan] * 5], best=0) == ("C", -1)


@pytest.mark.parametrize("count", [2, 4])
def test_an_extension_is_announced_and_ends_at_its_reach_with_a_warning(data, capsys, count):
    search = CostSensitiveSVCCV(Cs=count, gammas=[0.1], cv=3, scoring=spread, verbose=1)
    with pytest.warns(UserWarning, match=r"best point lies at the edge of the grid, C=.*Pass Cs that go further"):
        search.fit(*data)
    assert "search: the best C is at the edge of the grid: trying 2 larger values\n" in capsys.readouterr().err
    tried = search.cv_results_["param_C"]
    assert tried.max() / tried[:count].max() == pytest.approx(REACH)
