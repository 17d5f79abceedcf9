"""The picture of a cost path: its points, its hull, its choice."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from cssvm import CostSensitiveSVC
from cssvm._search import cost_path
from cssvm.displays import CostPathDisplay


@pytest.fixture(scope="module")
def path():
    X, y = make_classification(300, 5, n_informative=3, flip_y=0.15, weights=[0.7], random_state=0)
    return cost_path(CostSensitiveSVC(), X, y, ratios=9)


def test_points_and_hull_are_those_of_the_path(path):
    display = CostPathDisplay.from_path(path)
    np.testing.assert_array_equal(display.points_.get_offsets(), np.column_stack([path.fpr, path.tpr]))
    np.testing.assert_array_equal(display.points_.get_array(), np.log2(path.ratios))
    x, y = display.hull_line_.get_data()
    assert (x[0], y[0], x[-1], y[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert len(x) == path.on_hull.sum() + 2
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) >= 0).all()
    assert display.chosen_ is None


def test_the_choice_is_the_best_for_the_costs(path):
    display = CostPathDisplay.from_path(path, fn_cost=6.0, fp_cost=1.0)
    best = path.best(fn_cost=6.0, fp_cost=1.0)
    assert display.chosen_.get_xdata() == [path.fpr[best]]
    assert display.chosen_.get_ydata() == [path.tpr[best]]


def test_it_draws_on_a_given_axis_again_and_again(path):
    from matplotlib.figure import Figure

    display = CostPathDisplay.from_path(path, fn_cost=2.0)
    ax = Figure().add_subplot()
    before = display.fpr.copy()
    assert display.plot(ax=ax).ax_ is ax
    np.testing.assert_array_equal(display.fpr, before)
