"""The ROC curve with what costs add to it: the hull, the line of equal risk and the operating points.

With P_1 C_1 the cost of false negatives on all samples of the positive class and P_{-1} C_{-1} that of false positives
on all others, both per sample, all points (FPR, TPR) of the line

    P_1 C_1 (1 - TPR) + P_{-1} C_{-1} FPR = risk,    slope P_{-1} C_{-1} / (P_1 C_1)

have the same risk, if each sample counts in the rates with its cost. The line through the best point of the curve only
touches the convex hull.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._core.types import Mask, Vector
from ..metrics._curves import hull_of_samples, roc_curve_of_samples
from ..metrics._risk import minimum_risk, risk_of_predictions
from ..metrics._scored import ScoredSamples
from ..metrics._threshold_costs import BOTH_ERRORS
from ._canvas import BLACK, GREY, LEGEND_POINTS, axis_or_new, draw_point, label_once, unused_color
from ._scored import ScoredDisplayMixin

BEST, CHOSEN, OWN = "Risk*", "TH-Risk", "NOTH-Risk"
LABELS = {
    BEST: "best threshold of the scores (Risk*)",
    CHOSEN: "threshold from training (TH-Risk)",
    OWN: "predictions of the model (NOTH-Risk)",
}
MARKERS = {BEST: "*", CHOSEN: "o", OWN: "s"}
MARKER_SIZES = {BEST: 15.0, CHOSEN: 8.0, OWN: 8.0}

# Room around the unit square, so that points on its edge are seen whole.
EDGE = 0.02


class OperatingPoint(NamedTuple):
    """Predictions in the ROC plane: their rates and their risk, weighted and normalised like the display.

    `threshold` is nan for predictions that are not a threshold of the scores.
    """

    threshold: float
    fpr: float
    tpr: float
    risk: float


@dataclass(kw_only=True, eq=False, repr=False)
class CostRocDisplay(ScoredDisplayMixin):
    """ROC curve, convex hull, iso-cost line through the best point, and operating points.

    The points are::

        Risk*        the best threshold for these very scores: a lower bound for any threshold
        TH-Risk      a threshold chosen before, for example on training samples
        NOTH-Risk    the predictions of the classifier itself

    and their risks are in the legend. The point of a classifier that decides by the costs of each sample may lie off
    the curve. If costs differ between samples of a class, the rates weigh each sample by its cost. Use
    `from_estimator` or `from_predictions` to create one.

    Parameters
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        Vertices of the ROC curve.
    hull_fpr, hull_tpr : ndarray of shape (n_vertices,)
        Vertices of its upper convex hull, from (0, 0) to (1, 1).
    slope : float
        Slope of the iso-cost lines, P_{-1} C_{-1} / (P_1 C_1).
    points : dict of str to OperatingPoint
        The points, with the names above; "Risk*" must be among them.
    normalized : bool, default=False
        Whether risks are divided by that of being wrong on every sample; otherwise they are costs per sample.
    cost_weighted : bool, default=False
        Whether the rates weigh each sample by its cost.
    name : str, default=None
        Name of the model in the legend.

    Other Parameters
    ----------------
    threshold : float, default=None
        Option of the class methods: a threshold chosen before. If None, TH-Risk is not drawn.
    own_threshold : float, default=0.0
        Option of `from_predictions`: the classifier's own threshold. If None, NOTH-Risk is not drawn.
    normalize : bool, default=False
        Option of the class methods: divide risks by that of being wrong on every sample.

    Attributes
    ----------
    line_, hull_line_, iso_cost_line_ : matplotlib Line2D
        The curves.
    point_lines_ : dict of str to matplotlib Line2D
        The markers of the points.
    ax_, figure_ : matplotlib Axes, Figure
        Where they were drawn.

    Examples
    --------
    Costs 5 and 1; the classifier's own threshold 0 has one false negative among three positive samples:

    >>> from cssvm.displays import CostRocDisplay
    >>> y, scores = [0, 0, 1, 0, 1, 1], [-3.0, -2.0, -1.0, 0.5, 1.0, 2.0]
    >>> display = CostRocDisplay.from_predictions(y, scores, fn_cost=5.0, fp_cost=1.0)
    >>> print(round(display.points["Risk*"].risk, 3), round(display.points["NOTH-Risk"].risk, 3))
    0.167 1.0
    """

    _shows_predictions: ClassVar[bool] = True

    fpr: Vector
    tpr: Vector
    hull_fpr: Vector
    hull_tpr: Vector
    slope: float
    points: dict[str, OperatingPoint]
    normalized: bool = False
    cost_weighted: bool = False
    name: str | None = None

    @classmethod
    def _from_samples(
        cls,
        scored: ScoredSamples,
        *,
        threshold: float | None = None,
        own_threshold: float | None = 0.0,
        normalize: bool = False,
        name: str | None = None,
    ) -> CostRocDisplay:
        samples = scored.samples
        samples.check_both_classes_weighted(BOTH_ERRORS)
        fpr, tpr = roc_curve_of_samples(scored, by_cost=True)
        hull = hull_of_samples(scored, by_cost=True)
        thresholds = {BEST: minimum_risk(scored).threshold, CHOSEN: threshold, OWN: own_threshold}
        points = {
            key: _operating_point(scored, scored.scores >= cut, normalize, threshold=float(cut))
            for key, cut in thresholds.items()
            if cut is not None
        }
        own = scored.predictions
        if own is not None and not (OWN in points and np.array_equal(own, scored.scores >= own_threshold)):
            points[OWN] = _operating_point(scored, own, normalize)
        return cls(
            fpr=fpr,
            tpr=tpr,
            hull_fpr=hull.fpr,
            hull_tpr=hull.tpr,
            slope=samples.total_fp_cost / samples.total_fn_cost,
            points=points,
            normalized=normalize,
            cost_weighted=samples.costs_differ,
            name=name,
        )

    def plot(self, ax: Any = None, *, color: str | None = None, plot_hull: bool = True) -> CostRocDisplay:
        """Draw the curve, the line and the points; return the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created. Several models may share axes.
        color : str, default=None
            Colour of the curve and its points. If None, the next one of the palette.
        plot_hull : bool, default=True
            Whether to draw the convex hull.
        """
        ax = axis_or_new(ax)
        color = unused_color(ax) if color is None else color
        (self.line_,) = ax.plot(self.fpr, self.tpr, color=color, label=self.name or "ROC curve")
        if plot_hull:
            hull = label_once(ax, "convex hull")
            (self.hull_line_,) = ax.plot(self.hull_fpr, self.hull_tpr, color=GREY, ls="--", linewidth=1.0, label=hull)
        x, y = self.iso_cost_line()
        (self.iso_cost_line_,) = ax.plot(x, y, color=BLACK, linewidth=1.0, label=label_once(ax, "equal risk"))
        # The widest marker first, so that coinciding points are all seen.
        self.point_lines_ = {}
        for name, point in self.points.items():
            style: dict[str, Any] = {"marker": MARKERS[name], "markersize": MARKER_SIZES[name]}
            if name != BEST:
                style |= {"markerfacecolor": "white", "markeredgecolor": color}
            label = f"{LABELS[name]}: {point.risk:.3g}"
            self.point_lines_[name] = draw_point(ax, point.fpr, point.tpr, color, label, **style)
        weighting = ", samples weighted by cost" if self.cost_weighted else ""
        ax.set(
            xlabel=f"false positive rate{weighting}",
            ylabel=f"true positive rate{weighting}",
            xlim=(-EDGE, 1 + EDGE),
            ylim=(-EDGE, 1 + EDGE),
            aspect="equal",
        )
        # Hull and line of equal risk run above the diagonal, so this corner is free.
        title = "share of the largest cost" if self.normalized else "cost per sample"
        ax.legend(loc="lower right", title=title, fontsize=LEGEND_POINTS, title_fontsize=LEGEND_POINTS, frameon=False)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    def iso_cost_line(self) -> tuple[Vector, Vector]:
        """Return false and true positive rates (2,) of the ends of the line of equal risk through Risk*."""
        best = self.points[BEST]
        fpr = np.array([best.fpr - best.tpr / self.slope, best.fpr + (1 - best.tpr) / self.slope])
        inside = np.clip(fpr, 0.0, 1.0)
        # Where an end was not cut, it lies on TPR 0 or 1 exactly: multiplying the slope back would round.
        tpr = np.where(inside == fpr, [0.0, 1.0], best.tpr + self.slope * (inside - best.fpr))
        return inside, tpr


def _operating_point(
    scored: ScoredSamples, predicted: Mask, normalize: bool, *, threshold: float = np.nan
) -> OperatingPoint:
    """Rates, weighted by cost, and risk of predictions (n_samples,) bool."""
    samples = scored.samples
    return OperatingPoint(
        threshold=threshold,
        fpr=float(samples.weighted_costs[predicted & ~samples.positive].sum() / samples.total_fp_cost),
        tpr=float(samples.weighted_costs[predicted & samples.positive].sum() / samples.total_fn_cost),
        risk=float(risk_of_predictions(samples, predicted, normalize=normalize)),
    )
