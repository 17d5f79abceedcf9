"""Operating points of models trained for different cost ratios, on the ROC plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._canvas import BLUE, GREY, VERMILION, axis_or_new


class CostPathDisplay:
    """One point for each cost ratio, the upper convex hull of all, and the choice for given costs.

    Points off the hull are never the best choice, whatever the costs: some mixture of two others is better.

    Use `from_path` to make one.

    Parameters
    ----------
    ratios : array-like of shape (n_ratios,)
        fn_cost / fp_cost that each model was trained for.
    fpr, tpr : array-like of shape (n_ratios,)
        Its error rates.
    on_hull : array-like of shape (n_ratios,), bool
        Whether its point is a vertex of the hull.
    chosen : int, default=None
        The model to mark.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axis.
    figure_ : matplotlib Figure
        Its figure.
    points_ : matplotlib PathCollection
        The points, coloured by the binary logarithm of the ratio.
    hull_line_ : matplotlib Line2D
        The hull, from (0, 0) to (1, 1).
    chosen_ : matplotlib Line2D or None
        The mark of the choice.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from cssvm import CostSensitiveSVC
    >>> from cssvm.displays import CostPathDisplay
    >>> from cssvm._search import cost_path
    >>> X, y = make_classification(300, weights=[0.8], flip_y=0.1, random_state=0)
    >>> path = cost_path(CostSensitiveSVC(), X, y, ratios=9)
    >>> display = CostPathDisplay.from_path(path, fn_cost=5, fp_cost=1)
    >>> display.chosen == path.best(fn_cost=5, fp_cost=1)
    True
    """

    ax_: Any
    figure_: Any
    points_: Any
    hull_line_: Any
    chosen_: Any

    def __init__(
        self, ratios: ArrayLike, fpr: ArrayLike, tpr: ArrayLike, on_hull: ArrayLike, *, chosen: int | None = None
    ) -> None:
        self.ratios = np.asarray(ratios, dtype=np.float64)
        self.fpr, self.tpr = np.asarray(fpr, dtype=np.float64), np.asarray(tpr, dtype=np.float64)
        self.on_hull = np.asarray(on_hull, dtype=bool)
        self.chosen = chosen

    @classmethod
    def from_path(
        cls,
        path: Any,
        *,
        fn_cost: float | None = None,
        fp_cost: float = 1.0,
        prior: float | None = None,
        ax: Any = None,
    ) -> CostPathDisplay:
        """Draw a cost path, with the best model for the given costs.

        Parameters
        ----------
        path : CostPath
            What `cssvm._search.cost_path` returns.
        fn_cost, fp_cost : float
            Costs to choose a model for; without `fn_cost` none is marked.
        prior : float, default=None
            Share of the target class where the model will be used; None: that of the training rows.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        CostPathDisplay
            The display, drawn.
        """
        chosen = None if fn_cost is None else path.best(fn_cost=fn_cost, fp_cost=fp_cost, prior=prior)
        return cls(path.ratios, path.fpr, path.tpr, path.on_hull, chosen=chosen).plot(ax=ax)

    def plot(self, ax: Any = None) -> CostPathDisplay:
        """Draw the points, the hull and the choice.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        CostPathDisplay
            The display itself.
        """
        ax = axis_or_new(ax)
        vertices = np.flatnonzero(self.on_hull)
        vertices = vertices[np.lexsort((self.tpr[vertices], self.fpr[vertices]))]
        hull_x = np.concatenate([[0.0], self.fpr[vertices], [1.0]])
        hull_y = np.concatenate([[0.0], self.tpr[vertices], [1.0]])
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
        (self.hull_line_,) = ax.plot(hull_x, hull_y, color=BLUE, linewidth=1.2, label="convex hull")
        self.points_ = ax.scatter(
            self.fpr, self.tpr, c=np.log2(self.ratios), cmap="cividis", edgecolors="white", linewidths=0.5, zorder=3
        )
        self.chosen_ = None
        if self.chosen is not None:
            label = f"best for these costs (trained for {self.ratios[self.chosen]:.3g} : 1)"
            (self.chosen_,) = ax.plot(
                self.fpr[self.chosen], self.tpr[self.chosen], "o", markersize=13, markerfacecolor="none",
                markeredgecolor=VERMILION, markeredgewidth=2, label=label, zorder=4,
            )  # fmt: skip
        ax.figure.colorbar(self.points_, ax=ax, label="log2 of fn_cost / fp_cost trained for")
        ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.set_aspect("equal")
        ax.legend(loc="lower right", fontsize=9, frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
