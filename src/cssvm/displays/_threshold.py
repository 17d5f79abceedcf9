"""What each threshold would cost, how sure that is, and the threshold that was chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.types import Vector
from ..metrics._threshold_costs import Interval, fold_threshold_costs, threshold_costs
from ._canvas import BLACK, axis_or_new, legend_above_curves, unused_color
from ._scored import ScoredDisplayMixin

FOLD = "one fold"


class ThresholdDisplay(ScoredDisplayMixin):
    """Expected cost over the threshold, with a bootstrap band and the chosen threshold.

    Rows that score at least the threshold are called targets. The band holds, at each threshold by itself,
    the cost in a share `confidence` of resamples. The interval of the threshold holds the best threshold of
    that share of the resamples: a wide one says that the rows do not settle where to cut.

    Use `from_estimator`, `from_predictions` or `from_cv_results` to make one.

    Parameters
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        Ascending grid.
    cost : ndarray of shape (n_thresholds,)
        Cost at each of them.
    threshold : float
        The chosen threshold; infinite if no row (+inf) or every row (-inf) is called a target.
    threshold_cost : float
        Its cost.
    band : (low, high) of ndarrays of shape (n_thresholds,), default=None
        Limits of the cost.
    threshold_interval, cost_interval : (low, high) of floats, default=None
        Limits of the best threshold and of the cost at the chosen one.
    fold_costs : ndarray of shape (n_folds, n_thresholds), default=None
        Cost on each fold, drawn thin; `cost` is that of the rows of all folds.
    confidence : float, default=None
        Share of resamples inside band and intervals.
    normalized : bool, default=False
        Whether costs are divided by that of being wrong on every row; otherwise they are per row.
    name : str, default=None
        Name of the model in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The cost.
    band_ : matplotlib PolyCollection or None
        The band.
    fold_lines_ : list of matplotlib Line2D
        The costs on folds.
    point_, interval_line_ : matplotlib Line2D
        The chosen threshold and its interval; the latter None where there is none.
    ax_, figure_ : matplotlib Axes, Figure
        Where they were drawn.

    Examples
    --------
    >>> from cssvm.displays import ThresholdDisplay
    >>> y, scores = [0, 0, 1, 0, 1, 1], [-3.0, -2.0, -1.0, 0.5, 1.0, 2.0]
    >>> display = ThresholdDisplay.from_predictions(y, scores, fn_cost=5.0, fp_cost=1.0, random_state=0)
    >>> print(display.threshold, round(display.threshold_cost, 3))
    -1.5 0.167
    """

    _numbers = staticmethod(threshold_costs)
    _fold_numbers = staticmethod(fold_threshold_costs)

    line_: Any
    band_: Any
    fold_lines_: list[Any]
    point_: Any
    interval_line_: Any
    ax_: Any
    figure_: Any

    def __init__(
        self,
        *,
        thresholds: Vector,
        cost: Vector,
        threshold: float,
        threshold_cost: float,
        band: tuple[Vector, Vector] | None = None,
        threshold_interval: Interval | None = None,
        cost_interval: Interval | None = None,
        fold_costs: Vector | None = None,
        confidence: float | None = None,
        normalized: bool = False,
        name: str | None = None,
    ) -> None:
        self.thresholds = thresholds
        self.cost = cost
        self.threshold = threshold
        self.threshold_cost = threshold_cost
        self.band = band
        self.threshold_interval = threshold_interval
        self.cost_interval = cost_interval
        self.fold_costs = fold_costs
        self.confidence = confidence
        self.normalized = normalized
        self.name = name

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
        threshold: float | None = None,
        thresholds: ArrayLike | None = None,
        normalize: bool = False,
        n_resamples: int = 1000,
        confidence: float = 0.95,
        random_state: Any = None,
        response_method: str = "auto",
        name: str | None = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> ThresholdDisplay:
        """Score X with a fitted classifier and draw.

        Parameters
        ----------
        estimator : estimator
            A fitted binary classifier with `decision_function` or `predict_proba`.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,)
            Their labels.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
            Cost of a missed row of the target and of a false alarm; entries of the other class are ignored.
        pos_label : label, default=None
            The target. None: the estimator's own `pos_label` if it has one, otherwise ``classes_[1]``. Scores
            are turned so that higher means target.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        threshold : float, default=None
            The threshold to mark; None chooses the one that costs least on these rows.
        thresholds : array-like, default=None
            Grid to draw; None takes 201 from below the lowest score to above the highest, and the marked one.
        normalize : bool, default=False
            Divide costs by that of being wrong on every row.
        n_resamples : int, default=1000
            Resamples, each class by itself; 0 draws no band.
        confidence : float, default=0.95
            Share of resamples inside band and intervals.
        random_state : int, RandomState instance or None, default=None
            Seed of the resamples.
        response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
            Where scores come from; "auto" prefers `decision_function`.
        name : str, default=None
            Name in the legend; None takes the class of the estimator.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **plot_params : dict
            Passed to `plot`.

        Returns
        -------
        ThresholdDisplay
            The display, drawn.
        """
        of_rows = {"fn_cost": fn_cost, "fp_cost": fp_cost, "pos_label": pos_label, "sample_weight": sample_weight}
        options = {"threshold": threshold, "thresholds": thresholds, "normalize": normalize}
        options |= {"n_resamples": n_resamples, "confidence": confidence, "random_state": random_state}
        return cls._from_estimator(
            estimator,
            X,
            y,
            of_rows=of_rows,
            response_method=response_method,
            options=options,
            name=name,
            drawing={"ax": ax, **plot_params},
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
        thresholds: ArrayLike | None = None,
        normalize: bool = False,
        n_resamples: int = 1000,
        confidence: float = 0.95,
        random_state: Any = None,
        name: str | None = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> ThresholdDisplay:
        """Draw given scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels.
        y_score : array-like of shape (n_samples,)
            Scores, higher for the target.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
            Cost of a missed row of the target and of a false alarm; entries of the other class are ignored.
        pos_label : label, default=None
            The target; None means the larger of the two labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        threshold : float, default=None
            The threshold to mark; None chooses the one that costs least on these rows.
        thresholds : array-like, default=None
            Grid to draw; None takes 201 from below the lowest score to above the highest, and the marked one.
        normalize : bool, default=False
            Divide costs by that of being wrong on every row.
        n_resamples : int, default=1000
            Resamples, each class by itself; 0 draws no band.
        confidence : float, default=0.95
            Share of resamples inside band and intervals.
        random_state : int, RandomState instance or None, default=None
            Seed of the resamples.
        name : str, default=None
            Name in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **plot_params : dict
            Passed to `plot`.

        Returns
        -------
        ThresholdDisplay
            The display, drawn.
        """
        of_rows = {"fn_cost": fn_cost, "fp_cost": fp_cost, "pos_label": pos_label, "sample_weight": sample_weight}
        options = {"threshold": threshold, "thresholds": thresholds, "normalize": normalize}
        options |= {"n_resamples": n_resamples, "confidence": confidence, "random_state": random_state}
        return cls._from_predictions(
            y_true,
            y_score,
            of_rows=of_rows,
            options=options,
            name=name,
            drawing={"ax": ax, **plot_params},
        )

    @classmethod
    def from_cv_results(
        cls,
        cv_results: dict[str, Any],
        X: Any,
        y: Any,
        *,
        fn_cost: float | ArrayLike = 1.0,
        fp_cost: float | ArrayLike = 1.0,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        threshold: float | None = None,
        thresholds: ArrayLike | None = None,
        normalize: bool = False,
        response_method: str = "auto",
        name: str | None = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> ThresholdDisplay:
        """Draw a thin line for the held-out rows of each fold, and the cost on all of them.

        Parameters
        ----------
        cv_results : dict
            What ``cross_validate(..., return_estimator=True, return_indices=True)`` returned.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows that were cross-validated.
        y : array-like of shape (n_samples,)
            Their labels.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
            Cost of a missed row of the target and of a false alarm; entries of the other class are ignored.
        pos_label : label, default=None
            The target. None: the estimator's own `pos_label` if it has one, otherwise ``classes_[1]``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        threshold : float, default=None
            The threshold to mark; None chooses the one that costs least on all held-out rows.
        thresholds : array-like, default=None
            Grid to draw; None takes 201 from below the lowest score to above the highest, and the marked one.
        normalize : bool, default=False
            Divide costs by that of being wrong on every row.
        response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
            Where scores come from; "auto" prefers `decision_function`.
        name : str, default=None
            Name in the legend; None takes the class of the estimators.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **plot_params : dict
            Passed to `plot`.

        Returns
        -------
        ThresholdDisplay
            The display, drawn. `cost` is the mean over all held-out rows, so each fold weighs as many rows as
            it has.
        """
        of_rows = {"fn_cost": fn_cost, "fp_cost": fp_cost, "pos_label": pos_label, "sample_weight": sample_weight}
        options = {"threshold": threshold, "thresholds": thresholds, "normalize": normalize}
        return cls._from_cv_results(
            cv_results,
            X,
            y,
            of_rows=of_rows,
            response_method=response_method,
            options=options,
            name=name,
            drawing={"ax": ax, **plot_params},
        )

    def plot(self, ax: Any = None, *, color: str | None = None) -> ThresholdDisplay:
        """Draw the cost, its band or its folds, and the chosen threshold.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        color : str, default=None
            Colour of the curve; None takes the next one of the palette.

        Returns
        -------
        ThresholdDisplay
            The display itself.
        """
        ax = axis_or_new(ax)
        color = unused_color(ax) if color is None else color
        self.band_ = self.interval_line_ = None
        if self.band is not None:
            self.band_ = ax.fill_between(
                self.thresholds,
                *self.band,
                color=color,
                alpha=0.2,
                linewidth=0,
                label=f"{self.confidence:.0%} of resamples",
            )
        self.fold_lines_ = [
            ax.plot(self.thresholds, cost, color=color, linewidth=0.7, alpha=0.5, label=FOLD if i == 0 else None)[0]
            for i, cost in enumerate(() if self.fold_costs is None else self.fold_costs)
        ]
        (self.line_,) = ax.plot(self.thresholds, self.cost, color=color, label=self.name or "cost")

        # An infinite threshold is drawn at the end of the grid, where the decisions are the same.
        position = np.clip(self.threshold, self.thresholds[0], self.thresholds[-1])
        if self.threshold_interval is not None:
            (self.interval_line_,) = ax.plot(
                self.threshold_interval, [self.threshold_cost] * 2, color=BLACK, marker="|", markersize=8, linewidth=1.5
            )
        (self.point_,) = ax.plot(
            [position],
            [self.threshold_cost],
            marker="o",
            markersize=8,
            markerfacecolor=color,
            markeredgecolor=BLACK,
            linestyle="none",
            zorder=3,
            label=self._describe_choice(),
        )
        ax.set(
            xlabel="threshold (target if the score is at least this)",
            ylabel="cost, normalised" if self.normalized else "cost per row",
            xlim=(self.thresholds[0], self.thresholds[-1]),
        )
        ax.set_ylim(bottom=0)
        legend_above_curves(ax)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    def _describe_choice(self) -> str:
        """The chosen threshold and its cost, with their intervals."""
        if np.isfinite(self.threshold):
            text = f"threshold {self.threshold:.3g}{_limits(self.threshold_interval)}"
        else:
            text = f"{'no' if self.threshold > 0 else 'every'} row a target"
        return f"{text}, cost {self.threshold_cost:.3g}{_limits(self.cost_interval)}"


def _limits(interval: Interval | None) -> str:
    return "" if interval is None else " [{:.3g}, {:.3g}]".format(*interval)
