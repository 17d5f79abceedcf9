"""Grids that grow where the best point is at their edge."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification

from cssvm import CostSensitiveSVCCV
from cssvm._search import growth
from cssvm._search.growth import REACH, Axis, is_clearly_better


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 10, 40])
@pytest.mark.parametrize("direction", [-1, 1])
def test_an_axis_grows_to_its_reach_and_no_further(count, direction):
    given = np.geomspace(2.0**-5, 2.0**10, count)
    axis = Axis(given)
    added = []
    while axis.left[direction]:
        assert len(axis.left[direction]) <= growth.ROUNDS
        values = axis.grow(direction)
        assert len(values) <= growth.VALUES
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


@pytest.mark.parametrize(
    ("values", "edge"),
    [
        ([1.1, 1.1, 1.1, 1.1, 1.2], ("C", 1)),
        ([0.9, 0.9, 0.9, 0.9, 2.0], None),  # much better on one fold, and worse on the others
    ],
)
def test_a_point_at_the_edge_that_is_better_by_chance_is_left_at_that(values, edge):
    table = np.array([[0.5] * 5, [1.0] * 5, values])
    points = [SimpleNamespace(params={"C": C}, affine=SimpleNamespace(scale=1.0)) for C in (1.0, 8.0, 64.0)]
    found = SimpleNamespace(points=points, values=table, mean=table.mean(axis=1), best=2)
    axes = SimpleNamespace(automatic={"C": np.array([1.0, 8.0, 64.0])})
    assert growth.Growth("rbf", axes).edge(found) == edge


def test_a_point_at_the_edge_without_a_rival_that_was_scored_on_all_folds_is_clearly_better():
    table = np.array([[1.0] * 5, [np.nan] * 5, [np.nan] * 5])
    points = [SimpleNamespace(params={"C": C}, affine=SimpleNamespace(scale=1.0)) for C in (1.0, 8.0, 64.0)]
    found = SimpleNamespace(points=points, values=table, mean=np.array([1.0, -np.inf, -np.inf]), best=0)
    axes = SimpleNamespace(automatic={"C": np.array([1.0, 8.0, 64.0])})
    assert growth.Growth("rbf", axes).edge(found) == ("C", -1)


@pytest.mark.filterwarnings("ignore:The best point lies at the edge")
@pytest.mark.parametrize("count", [2, 4])
def test_growth_is_announced_and_ends_at_its_reach(data, capsys, count):
    settings = {"Cs": count, "gammas": [0.1], "cv": 3, "refit": False, "scoring": spread}
    plain = CostSensitiveSVCCV(**settings, grow=False).fit(*data)
    grown = CostSensitiveSVCCV(**settings, verbose=1).fit(*data)
    said = capsys.readouterr().err
    assert "search: the best C is at the edge of the grid: trying 2 larger values\n" in said
    largest = grown.cv_results_["param_C"].max() / plain.cv_results_["param_C"].max()
    assert largest == pytest.approx(REACH)
