"""Gains: the cost saved against the share of samples predicted positive, those with the highest scores first.

Compared with predicting all samples negative, predicting those above a threshold positive saves the cost of the false
negatives avoided and adds the cost of the false positives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._core.types import Vector
from ..metrics._scored import ScoredSamples
from ._canvas import BLACK, GREY, axis_or_new, label_once, legend_above_curves, unused_color
from ._scored import ScoredDisplayMixin


@dataclass(kw_only=True, eq=False, repr=False)
class GainsDisplay(ScoredDisplayMixin):
    """Cost saved against predicting all samples negative, over the share of samples predicted positive.

    Higher is better. The baselines are at the ends, all samples predicted negative or positive, and on the line between
    them, samples chosen at random. Use `from_estimator` or `from_predictions` to create one.

    Parameters
    ----------
    share, gain : ndarray of shape (n_cuts,)
        The curve; gains are costs saved per sample.
    own_share, own_gain, perfect_share, perfect_gain : float, default=nan
        The predictions of the model itself, and perfect ones.
    weight : float, default=1.0
        Weight of all samples, for totals.
    name : str, default=None
        Name of the model in the legend.

    Other Parameters
    ----------------
    own_threshold : float, default=None
        Option of `from_predictions`: the threshold of the model's own predictions. If None, they are not drawn.

    Attributes
    ----------
    best_share, best_gain : float
        Where the curve is highest.
    line_, own_point_, best_point_ : matplotlib Line2D
        The curve, the predictions of the model, None if not known, and the best cut of these samples.
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

    _shows_predictions: ClassVar[bool] = True

    share: Vector
    gain: Vector
    own_share: float = np.nan
    own_gain: float = np.nan
    perfect_share: float = np.nan
    perfect_gain: float = np.nan
    weight: float = 1.0
    name: str | None = None

    @classmethod
    def _from_samples(
        cls, scored: ScoredSamples, *, own_threshold: float | None = None, name: str | None = None
    ) -> GainsDisplay:
        samples, ranking, weights = scored.samples, scored.ranking, scored.samples.weights
        samples.check_both_classes_weighted("gains")
        total = float(weights.sum())
        saved = np.where(samples.positive, samples.weighted_costs, -samples.weighted_costs)
        share, gain = (ranking.sums_above(scored.ranked(each)) / total for each in (weights, saved))
        own_share = own_gain = np.nan
        if scored.predictions is not None:
            own_share, own_gain = (float(each @ scored.predictions) / total for each in (weights, saved))
        elif own_threshold is not None:
            cut = int(ranking.cut(np.array([own_threshold]))[0])
            own_share, own_gain = float(share[cut]), float(gain[cut])
        return cls(
            share=share,
            gain=gain,
            own_share=own_share,
            own_gain=own_gain,
            perfect_share=float(weights[samples.positive].sum()) / total,
            perfect_gain=samples.total_fn_cost / total,
            weight=total,
            name=name,
        )

    @property
    def best_share(self) -> float:
        """Share of samples predicted positive where the curve is highest."""
        return float(self.share[np.argmax(self.gain)])

    @property
    def best_gain(self) -> float:
        """The highest gain of the curve."""
        return float(self.gain.max())

    def plot(self, ax: Any = None, *, total: bool = False, currency: str = "") -> GainsDisplay:
        """Draw the curve, the baselines and the predictions of the model; return the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        total : bool, default=False
            Whether to show totals of all samples instead of costs per sample.
        currency : str, default=""
            Named at the axis.
        """
        self.ax_ = ax = axis_or_new(ax)
        self.figure_ = ax.figure
        unit = self.weight if total else 1.0
        color, all_positive = unused_color(ax), float(self.gain[-1])
        random = label_once(ax, "samples chosen at random")
        ax.plot([0, 100], [0.0, unit * all_positive], color=GREY, linestyle="--", linewidth=1, label=random)
        if np.isfinite(self.perfect_gain):
            perfect = label_once(ax, "perfect predictions")
            ax.plot(100 * self.perfect_share, unit * self.perfect_gain, "*", color=BLACK, label=perfect)
        label = self.name or "highest scores first"
        (self.line_,) = ax.plot(100 * self.share, unit * self.gain, color=color, label=label)
        best = label_once(ax, "best share for these samples")
        (self.best_point_,) = ax.plot(
            100 * self.best_share, unit * self.best_gain, "D", color=color, fillstyle="none", label=best
        )
        self.own_point_ = None
        if np.isfinite(self.own_gain):
            own = label_once(ax, "predictions of the model")
            (self.own_point_,) = ax.plot(100 * self.own_share, unit * self.own_gain, "o", color=color, label=own)
        ax.set_xlabel("samples predicted positive, %")
        unit_text = f", {currency}" if currency else ""
        ax.set_ylabel(f"cost saved, {'total' if total else 'per sample'}{unit_text}")
        ax.axhline(0.0, color=GREY, linewidth=0.5)
        legend_above_curves(ax)
        return self
