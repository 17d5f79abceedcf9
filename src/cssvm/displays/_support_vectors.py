"""How many support vectors each class keeps as the negative margin kappa shrinks."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core.types import Vector
from ._canvas import BLUE, GREEN, GREY, VERMILION, legend_above_curves, pyplot

# Inches of the two panels beside each other in a figure of our own.
FIGURE_SIZE = (9.0, 3.8)


class MarginPath(Protocol):
    """Numbers of support vectors over the negative margin, as `cssvm._search.margin_path` returns them."""

    @property
    def kappas(self) -> Vector:
        """(n_kappas,) margins of the negative class."""

    @property
    def n_negative(self) -> NDArray[np.integer]:
        """(n_kappas,) support vectors of the other class."""

    @property
    def n_positive(self) -> NDArray[np.integer]:
        """(n_kappas,) support vectors of the target."""


class SupportVectorPathDisplay:
    """Numbers of support vectors of both classes, and their ratio, over kappa.

    kappa is the margin of the negative class, 1 that of the target. It starts at the left, usually with
    kappa = 1 (the biased-penalty SVM), and decreases to the right on a binary logarithmic axis. A ratio of 1
    means as many negative as positive support vectors.

    Use `from_path` to make one.

    Parameters
    ----------
    kappas : array-like of shape (n_kappas,)
        Margins of the negative class, positive.
    n_negative, n_positive : array-like of shape (n_kappas,)
        Support vectors of the other class and of the target at each kappa.

    Attributes
    ----------
    ratio : ndarray of shape (n_kappas,)
        n_negative / n_positive; infinite where there is no positive one.
    axes_ : ndarray of shape (2,) of matplotlib Axes
        Counts on the left, ratio on the right.
    figure_ : matplotlib Figure
        The figure of the axes.
    negative_line_, positive_line_, ratio_line_ : matplotlib Line2D
        The curves.

    Notes
    -----
    At fixed slopes kappa alone acts like a factor 2 / (1 + kappa) on C, so the counts move little: kappa -> 0 is
    a doubled C. With ``kappa="tied"`` the growing negative slope thins out the negative support vectors, until
    none of them is at its bound any more.

    Examples
    --------
    >>> from cssvm.displays import SupportVectorPathDisplay
    >>> display = SupportVectorPathDisplay([1, 1 / 4, 1 / 16], n_negative=[90, 60, 30], n_positive=[30, 30, 30])
    >>> display.ratio
    array([3., 2., 1.])
    """

    axes_: NDArray[Any]
    figure_: Any
    negative_line_: Any
    positive_line_: Any
    ratio_line_: Any

    def __init__(self, kappas: ArrayLike, n_negative: ArrayLike, n_positive: ArrayLike) -> None:
        self.kappas = np.asarray(kappas, dtype=np.float64)
        self.n_negative = np.asarray(n_negative)
        self.n_positive = np.asarray(n_positive)

    @property
    def ratio(self) -> Vector:
        """Negative support vectors for each positive one, (n_kappas,) float64."""
        with np.errstate(divide="ignore"):
            return self.n_negative / self.n_positive

    @classmethod
    def from_path(cls, path: MarginPath, *, ax: Any = None) -> SupportVectorPathDisplay:
        """Draw a margin path.

        Parameters
        ----------
        path : MarginPath
            What `cssvm._search.margin_path` returns: `kappas`, `n_negative` and `n_positive`.
        ax : array of two matplotlib Axes, default=None
            Where to draw counts and ratio; None makes a figure.

        Returns
        -------
        SupportVectorPathDisplay
            The display, drawn.
        """
        return cls(path.kappas, path.n_negative, path.n_positive).plot(ax=ax)

    def plot(self, ax: Any = None) -> SupportVectorPathDisplay:
        """Draw counts and ratio.

        Parameters
        ----------
        ax : array of two matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        SupportVectorPathDisplay
            The display itself.
        """
        plt = pyplot()
        if ax is None:
            _, ax = plt.subplots(1, 2, figsize=FIGURE_SIZE, layout="constrained")
        axes = np.asarray(ax, dtype=object).ravel()
        if axes.size != 2:
            raise ValueError(f"ax must hold two axes, for counts and ratio; got {axes.size}.")
        counts, ratio = axes
        order = np.argsort(-self.kappas)
        kappas = self.kappas[order]

        style = {"marker": "o", "markersize": 4}
        (self.negative_line_,) = counts.plot(
            kappas, self.n_negative[order], color=VERMILION, linestyle="--", label="negative", **style
        )
        (self.positive_line_,) = counts.plot(kappas, self.n_positive[order], color=BLUE, label="positive", **style)
        counts.set(ylabel="support vectors")

        (self.ratio_line_,) = ratio.plot(kappas, self.ratio[order], color=GREEN, **style)
        ratio.axhline(1.0, color=GREY, linewidth=0.8)
        ratio.set(ylabel="negative for each positive support vector")
        for axis in axes:
            axis.set_xscale("log", base=2)
            axis.xaxis.set_inverted(True)
            axis.set_ylim(bottom=0)
            axis.set_xlabel("margin κ of the negative class")
        legend_above_curves(counts, ncols=2)
        self.axes_ = axes
        self.figure_ = counts.figure
        return self
