"""The cost at each threshold, its uncertainty, and the threshold that was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._core.types import Vector
from ..metrics._risk import risk_at
from ..metrics._scored import ScoredSamples
from ..metrics._threshold_costs import threshold_costs
from ._canvas import BLACK, axis_or_new, draw_point, legend_above_curves, unused_color
from ._scored import FoldsDisplayMixin, ScoredFolds

FOLD = "one fold"


@dataclass(kw_only=True, eq=False, repr=False)
class ThresholdDisplay(FoldsDisplayMixin):
    """Expected cost over the threshold, with a bootstrap band and the chosen threshold.

    Lower is better. Samples that score at least the threshold are predicted positive. The band holds, at each
    threshold, the cost in a share `confidence` of resamples; the interval of the threshold holds the best threshold of
    that share. Use `from_estimator`, `from_predictions` or `from_cv_results`, which draws the cost on each fold and the
    mean cost of all validation samples in place of a band.

    Parameters
    ----------
    thresholds, cost : ndarray of shape (n_thresholds,)
        Ascending grid, and the cost at each threshold.
    threshold, threshold_cost : float
        The chosen threshold, infinite if all samples are predicted negative (+inf) or positive (-inf), and its cost.
    band : (low, high) of ndarrays of shape (n_thresholds,), default=None
        Limits of the cost.
    threshold_interval, cost_interval : (low, high) of floats, default=None
        Limits of the best threshold and of the cost at the chosen one.
    fold_costs : ndarray of shape (n_folds, n_thresholds), default=None
        Cost on each fold, drawn thin; `cost` is that of the samples of all folds.
    confidence : float, default=None
        Share of resamples inside band and intervals.
    normalized : bool, default=False
        Whether costs are divided by that of being wrong on every sample; otherwise they are per sample.
    name : str, default=None
        Name of the model in the legend.

    Other Parameters
    ----------------
    threshold : float, default=None
        Option of the class methods: the threshold to mark. If None, the one of least cost for these samples.
    thresholds : array-like, default=None
        Option of the class methods: the grid. If None, 201 thresholds from below the lowest score to above the highest,
        and the marked one.
    normalize : bool, default=False
        Option of the class methods: divide costs by that of being wrong on every sample.
    n_resamples, confidence, random_state : default=1000, 0.95, None
        Options of `from_estimator` and `from_predictions`, as in `bootstrap_interval`. 0 resamples draw no band.

    Attributes
    ----------
    line_, band_, fold_lines_ : matplotlib Line2D, PolyCollection or None, list of Line2D
        The cost, its band and the costs on folds.
    point_, interval_line_ : matplotlib Line2D
        The chosen threshold and its interval; the latter is None if there is none.
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

    _name_of_folds: ClassVar[str] = "mean"

    thresholds: Vector
    cost: Vector
    threshold: float
    threshold_cost: float
    band: tuple[Vector, Vector] | None = None
    threshold_interval: tuple[float, float] | None = None
    cost_interval: tuple[float, float] | None = None
    fold_costs: Vector | None = None
    confidence: float | None = None
    normalized: bool = False
    name: str | None = None

    @classmethod
    def _from_samples(
        cls,
        scored: ScoredSamples,
        *,
        threshold: float | None = None,
        thresholds: ArrayLike | None = None,
        normalize: bool = False,
        n_resamples: int = 1000,
        confidence: float = 0.95,
        random_state: Any = None,
        name: str | None = None,
    ) -> ThresholdDisplay:
        resampling = {"n_resamples": n_resamples, "confidence": confidence, "random_state": random_state}
        costs = threshold_costs(scored, threshold=threshold, thresholds=thresholds, normalize=normalize, **resampling)
        return cls(**costs._asdict(), name=name)

    @classmethod
    def _from_folds(
        cls,
        scored: ScoredFolds,
        *,
        threshold: float | None = None,
        thresholds: ArrayLike | None = None,
        normalize: bool = False,
        name: str | None = None,
    ) -> ThresholdDisplay:
        scored.check_both_classes()
        costs = threshold_costs(
            scored.pooled, threshold=threshold, thresholds=thresholds, normalize=normalize, n_resamples=0
        )
        by_fold = np.array([risk_at(fold, costs.thresholds, normalize=normalize) for fold in scored.folds])
        return cls(**costs._asdict(), fold_costs=by_fold, name=name)

    def plot(self, ax: Any = None, *, color: str | None = None) -> ThresholdDisplay:
        """Draw the cost, its band or its folds, and the chosen threshold; return the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        color : str, default=None
            Colour of the curve. If None, the next one of the palette.
        """
        ax = axis_or_new(ax)
        color = unused_color(ax) if color is None else color
        self.band_ = self.interval_line_ = None
        if self.band is not None:
            label = f"{self.confidence:.0%} of resamples"
            self.band_ = ax.fill_between(self.thresholds, *self.band, color=color, alpha=0.2, linewidth=0, label=label)
        self.fold_lines_ = [
            ax.plot(self.thresholds, cost, color=color, linewidth=0.7, alpha=0.5, label=FOLD if i == 0 else None)[0]
            for i, cost in enumerate(() if self.fold_costs is None else self.fold_costs)
        ]
        (self.line_,) = ax.plot(self.thresholds, self.cost, color=color, label=self.name or "cost")

        # An infinite threshold is drawn at the end of the grid, where the predictions are the same.
        position = np.clip(self.threshold, self.thresholds[0], self.thresholds[-1])
        if self.threshold_interval is not None:
            (self.interval_line_,) = ax.plot(
                self.threshold_interval, [self.threshold_cost] * 2, color=BLACK, marker="|", markersize=8, linewidth=1.5
            )
        self.point_ = draw_point(ax, position, self.threshold_cost, color, self._describe_choice())
        ax.set(
            xlabel="threshold (positive if the score is at least this)",
            ylabel="cost, normalised" if self.normalized else "cost per sample",
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
            text = f"all predicted {'negative' if self.threshold > 0 else 'positive'}"
        return f"{text}, cost {self.threshold_cost:.3g}{_limits(self.cost_interval)}"


def _limits(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else " [{:.3g}, {:.3g}]".format(*interval)
