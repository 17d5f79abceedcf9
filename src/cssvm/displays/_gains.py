"""Gains: money saved against the share of cases acted on, the question of whoever has to pay for the actions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.positive_class import PositiveClassScores
from .._core.types import Vector
from ..metrics._gains import gains
from ._canvas import BLACK, GREY, axis_or_new, label_once, legend_above_curves, unused_color
from ._scored import ScoredDisplayMixin


class GainsDisplay(ScoredDisplayMixin):
    """Money saved against acting on nobody, over the share of cases acted on, the highest scores first.

    The plain policies are in it: nobody at the left end, everybody at the right one, and cases drawn by lot on the line
    between them. Several models may share an axis: pass the `ax_` of the first display to the others. Use
    `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    share, gain : ndarray of shape (n_cuts,)
        The curve; gains are money per case.
    own_share, own_gain : float, default=nan
        Where the decisions of the model itself lie.
    perfect_share, perfect_gain : float, default=nan
        Acting on the targets alone.
    weight : float, default=1.0
        Number of cases, for totals.
    name : str, default=None
        Name of the model in the legend.

    Attributes
    ----------
    best_share, best_gain : float
        Where the curve is highest.
    line_ : matplotlib Line2D
        The curve.
    own_point_, best_point_ : matplotlib Line2D
        The model's own decisions, where known, and the best cut of these rows.
    ax_, figure_ : matplotlib Axes, Figure
        Where they were drawn.

    Examples
    --------
    >>> from cssvm.displays import GainsDisplay
    >>> y, scores = [0, 0, 1, 0, 1, 1], [-3.0, -2.0, -1.0, 0.5, 1.0, 2.0]
    >>> display = GainsDisplay.from_predictions(y, scores, fn_cost=60.0, fp_cost=6.0)
    >>> print(round(display.best_share, 2), round(display.best_gain, 1))
    0.67 29.0
    """

    _numbers = staticmethod(gains)

    line_: Any
    own_point_: Any
    best_point_: Any
    ax_: Any
    figure_: Any

    def __init__(
        self,
        *,
        share: Vector,
        gain: Vector,
        own_share: float = np.nan,
        own_gain: float = np.nan,
        perfect_share: float = np.nan,
        perfect_gain: float = np.nan,
        weight: float = 1.0,
        name: str | None = None,
    ) -> None:
        self.share = share
        self.gain = gain
        self.own_share = own_share
        self.own_gain = own_gain
        self.perfect_share = perfect_share
        self.perfect_gain = perfect_gain
        self.weight = weight
        self.name = name

    @property
    def best_share(self) -> float:
        """Share of cases acted on where the curve is highest."""
        return float(self.share[np.argmax(self.gain)])

    @property
    def best_gain(self) -> float:
        """The highest gain of the curve."""
        return float(self.gain.max())

    @classmethod
    def _known_from_estimator(
        cls, estimator: Any, X: Any, y: Any, scores: PositiveClassScores, of_rows: dict[str, Any]
    ) -> dict[str, Any]:
        """What the estimator itself decides, by the costs of the rows if it takes them."""
        return {"acted_on": cls._own_decisions(estimator, X, y, scores, of_rows)}

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        fn_cost: float | ArrayLike = 1.0,
        fp_cost: float | ArrayLike = 1.0,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        response_method: str = "auto",
        name: str | None = None,
        ax: Any = None,
        total: bool = False,
        currency: str = "",
    ) -> GainsDisplay:
        """Score X with a fitted classifier and draw what acting on its highest scores saves.

        Parameters
        ----------
        estimator : classifier
            Fitted, with `decision_function` or `predict_proba`.
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows that it has not seen in training.
        y : array-like of shape (n_samples,)
            Their labels.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
            What a missed case and a false alarm cost, for the classes or for each row.
        pos_label : label, default=None
            The target. None: the estimator's own `pos_label` if it has one, otherwise ``classes_[1]``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
            Where scores come from.
        name : str, default=None
            Name in the legend; None: the class of the estimator.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        total : bool, default=False
            Whether to show totals of all cases instead of money per case.
        currency : str, default=""
            Named at the axis.

        Returns
        -------
        GainsDisplay
        """
        of_rows = {"fn_cost": fn_cost, "fp_cost": fp_cost, "pos_label": pos_label, "sample_weight": sample_weight}
        return cls._from_estimator(
            estimator,
            X,
            y,
            of_rows=of_rows,
            response_method=response_method,
            options={},
            name=name,
            drawing={"ax": ax, "total": total, "currency": currency},
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        fn_cost: float | ArrayLike = 1.0,
        fp_cost: float | ArrayLike = 1.0,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        threshold: float | None = None,
        name: str | None = None,
        ax: Any = None,
        total: bool = False,
        currency: str = "",
    ) -> GainsDisplay:
        """Draw what acting on the highest scores saves.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels.
        y_score : array-like of shape (n_samples,)
            Scores, higher for the target class, or what `positive_class_scores` returns.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
            What a missed case and a false alarm cost, for the classes or for each row.
        pos_label : label, default=None
            The target; None means the larger of the two labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        threshold : float, default=None
            Where the decisions are made, if they are to be shown.
        name : str, default=None
            Name in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        total : bool, default=False
            Whether to show totals of all cases instead of money per case.
        currency : str, default=""
            Named at the axis.

        Returns
        -------
        GainsDisplay
        """
        of_rows = {"fn_cost": fn_cost, "fp_cost": fp_cost, "pos_label": pos_label, "sample_weight": sample_weight}
        drawing = {"ax": ax, "total": total, "currency": currency}
        options = {"threshold": threshold}
        return cls._from_predictions(y_true, y_score, of_rows=of_rows, options=options, name=name, drawing=drawing)

    def plot(self, *, ax: Any = None, total: bool = False, currency: str = "") -> GainsDisplay:
        """Draw the curve, the plain policies and the decisions.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        total : bool, default=False
            Whether to show totals of all cases instead of money per case.
        currency : str, default=""
            Named at the axis.

        Returns
        -------
        GainsDisplay
        """
        self.ax_ = ax = axis_or_new(ax)
        self.figure_ = ax.figure
        unit = self.weight if total else 1.0
        color, everybody = unused_color(ax), float(self.gain[-1])
        by_lot = label_once(ax, "cases drawn by lot, up to everybody")
        ax.plot([0, 100], [0.0, unit * everybody], color=GREY, linestyle="--", linewidth=1, label=by_lot)
        if np.isfinite(self.perfect_gain):
            perfect = label_once(ax, "the targets alone, if they were known")
            ax.plot(100 * self.perfect_share, unit * self.perfect_gain, "*", color=BLACK, label=perfect)
        (self.line_,) = ax.plot(
            100 * self.share, unit * self.gain, color=color, label=self.name or "highest scores first"
        )
        best = label_once(ax, "best share on these rows")
        (self.best_point_,) = ax.plot(
            100 * self.best_share, unit * self.best_gain, "D", color=color, fillstyle="none", label=best
        )
        self.own_point_ = None
        if np.isfinite(self.own_gain):
            own = label_once(ax, "decisions of the model")
            (self.own_point_,) = ax.plot(100 * self.own_share, unit * self.own_gain, "o", color=color, label=own)
        of = "all cases together" if total else "per case"
        ax.set_xlabel("Cases acted on, %")
        ax.set_ylabel(f"Saved against acting on nobody, {of}" + (f", {currency}" if currency else ""))
        ax.axhline(0.0, color=GREY, linewidth=0.5)
        legend_above_curves(ax, ncols=1)
        return self
