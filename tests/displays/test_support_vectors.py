from types import SimpleNamespace

import numpy as np
import pytest

from cssvm.displays import SupportVectorPathDisplay


def test_kappa_decreases_to_the_right_on_a_binary_axis():
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, 2)
    display = SupportVectorPathDisplay([1 / 4, 1.0, 1 / 2], [20, 90, 40], [10, 10, 10]).plot(ax=axes)
    display.plot(ax=axes)
    assert display.axes_.tolist() == axes.tolist()
    assert display.negative_line_.get_xdata().tolist() == [1.0, 1 / 2, 1 / 4]
    assert display.negative_line_.get_ydata().tolist() == [90, 40, 20]
    assert display.positive_line_.get_ydata().tolist() == [10, 10, 10]
    assert display.ratio_line_.get_ydata().tolist() == [9.0, 4.0, 2.0]
    for drawn in axes:
        left, right = drawn.get_xlim()
        assert left > right
        assert drawn.get_xscale() == "log"


def test_a_path_is_drawn_with_its_numbers():
    path = SimpleNamespace(kappas=np.array([1.0, 0.5]), n_negative=np.array([90, 40]), n_positive=np.array([10, 8]))
    display = SupportVectorPathDisplay.from_path(path)
    assert display.negative_line_.get_xdata().tolist() == [1.0, 0.5]
    assert display.negative_line_.get_ydata().tolist() == [90, 40]
    assert display.positive_line_.get_ydata().tolist() == [10, 8]
    assert display.ratio_line_.get_ydata().tolist() == [9.0, 5.0]


def test_drawing_does_not_alter_the_numbers():
    display = SupportVectorPathDisplay([1 / 4, 1.0], [20, 90], [10, 0])
    display.plot()
    assert display.kappas.tolist() == [1 / 4, 1.0]
    assert display.n_negative.tolist() == [20, 90]
    assert display.ratio.tolist() == [2.0, np.inf]


def test_one_axis_is_refused(axis):
    with pytest.raises(ValueError, match="two axes"):
        SupportVectorPathDisplay([1.0], [2], [1]).plot(ax=axis)
