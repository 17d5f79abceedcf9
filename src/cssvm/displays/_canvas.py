"""Drawing shared by all displays: matplotlib, the colours, new axes and the place of the legend."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, distinguishable with any of the common colour vision deficiencies.
BLACK, GREY = "#000000", "#7F7F7F"
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"

# In the order in which the models on one axis use them. Yellow, the eighth, is too light for a line on white.
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)

# Legend text in points, and the height of one of its rows and of its two margins in units of the text.
LEGEND_POINTS, LEGEND_ROW, LEGEND_MARGINS = 9.0, 1.6, 2.0

# The largest share of the height of an axis for the legend.
LARGEST_LEGEND = 0.6

POINTS_PER_INCH = 72


def pyplot() -> Any:
    """``matplotlib.pyplot``, imported on first use because matplotlib is optional."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Drawing a display needs matplotlib, which is not installed. Run `pip install cssvm[plot]`."
        ) from error
    return plt


def axis_or_new(ax: Axes | None) -> Axes:
    """The given axes, or those of a new figure."""
    plt = pyplot()
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    return ax


def unused_color(ax: Axes) -> str:
    """The colour of the palette that the fewest lines on the axis have."""
    used = [str(line.get_color()).upper() for line in ax.get_lines()]
    return min(PALETTE, key=lambda color: used.count(color))


def draw_point(ax: Axes, x: float, y: float, color: str, label: str | None = None, **style: Any) -> Any:
    """A marker without a line, above all curves."""
    common: dict[str, Any] = {"marker": "o", "markersize": 8, "markerfacecolor": color, "markeredgecolor": BLACK}
    return ax.plot([x], [y], linestyle="none", zorder=3, label=label, **common | style)[0]


def label_once(ax: Axes, label: str) -> str:
    """The label, or if the legend has it already, the label that keeps an artist out of the legend."""
    _, labels = ax.get_legend_handles_labels()
    return "_nolegend_" if label in labels else label


def legend_above_curves(ax: Axes, *, ncols: int = 1) -> None:
    """Raise the upper limit of y by the height of the legend and put the legend there, clear of all data."""
    handles, _ = ax.get_legend_handles_labels()
    rows = math.ceil(len(handles) / ncols)
    height = ax.get_window_extent().height / ax.figure.dpi * POINTS_PER_INCH
    share = min(LARGEST_LEGEND, LEGEND_POINTS * (LEGEND_ROW * rows + LEGEND_MARGINS) / height)
    bottom, top = ax.get_ylim()[0], ax.dataLim.y1
    ax.set_ylim(bottom, bottom + (top - bottom) / (1 - share))
    ax.legend(loc="upper center", ncols=ncols, fontsize=LEGEND_POINTS, frameon=False)
