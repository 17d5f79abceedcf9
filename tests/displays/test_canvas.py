import builtins

import numpy as np
import pytest

from cssvm.displays import CostCurveDisplay
from cssvm.displays._canvas import PALETTE, axis_or_new, label_once, legend_above_curves, unused_color


def test_models_on_one_axis_take_the_colours_of_the_palette_in_turn(axis):
    taken = []
    for _ in range(len(PALETTE) + 1):
        taken.append(unused_color(axis))
        axis.plot([0, 1], [0, 1], color=taken[-1])
    assert taken == [*PALETTE, PALETTE[0]]


def test_a_given_axis_is_used_and_none_creates_a_figure(axis):
    assert axis_or_new(axis) is axis
    assert axis_or_new(None).figure is not axis.figure


def test_a_label_enters_the_legend_once(axis):
    assert label_once(axis, "hull") == "hull"
    axis.plot([0, 1], [0, 1], label="hull")
    assert label_once(axis, "hull") == "_nolegend_"


@pytest.mark.parametrize("size", [(6.4, 4.8), (4.0, 3.0), (12.0, 9.0)])
@pytest.mark.parametrize("n_entries", [1, 2, 5])
def test_the_legend_lies_above_all_data(size, n_entries):
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=size)
    for i in range(n_entries):
        axis.plot([0.0, 1.0], [0.0, 10.0 + i], label=f"curve {i}")
    axis.set_ylim(bottom=0)
    legend_above_curves(axis)
    figure.draw_without_rendering()
    highest = axis.transData.transform((0.0, 9.0 + n_entries))[1]
    assert axis.get_legend().get_window_extent().y0 >= highest
    assert axis.get_ylim()[0] == 0


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    real_import = builtins.__import__

    def without_matplotlib(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    display = CostCurveDisplay(probability_cost=np.array([0.0, 1.0]), cost=np.array([0.0, 0.0]), operating_point=0.5)
    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(ImportError, match=r"pip install cssvm\[plot\]"):
        display.plot()


def test_importing_the_displays_does_not_import_matplotlib():
    import subprocess
    import sys

    code = "import cssvm.displays, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
