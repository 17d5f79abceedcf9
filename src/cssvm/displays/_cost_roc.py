"""The ROC curve with what costs add to it: the hull, the line of equal risk and the operating points.

What they mean: `cssvm.metrics._operating`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.positive_class import PositiveClassScores
from .._core.types import Vector
from ..metrics._operating import BEST, CHOSEN, OWN, OperatingPoint, cost_roc
from ._canvas import BLACK, GREY, LEGEND_POINTS, axis_or_new, label_once, unused_color
from ._scored import ScoredDisplayMixin

WORDS = {
    BEST: "best threshold of the score (Risk*)",
    CHOSEN: "threshold from training (TH-Risk)",
    OWN: "the model's own decisions (NOTH-Risk)",
}
MARKERS = {BEST: "*", CHOSEN: "o", OWN: "s"}
MARKER_SIZES = {BEST: 15.0, CHOSEN: 8.0, OWN: 8.0}

# Room around the unit square, so that points on its edge are seen whole.
EDGE = 0.02


class CostRocDisplay(ScoredDisplayMixin):
    """ROC curve, convex hull, iso-cost line through the best point, and operating points.

    The points are::

        Risk*        the best threshold for these very scores: a lower bound for any threshold
        TH-Risk      a threshold chosen before, for example on training rows
        NOTH-Risk    the classifier's own decisions, without a threshold of ours

    and their risks are in the legend. A classifier that decides by the costs of each row has no one threshold of these
    scores: its own point may lie off the curve, also above it. Where costs differ from row to row, the rates weigh each
    row by its cost and the axes say so. Use `from_estimator` or `from_predictions` to make one.

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
        Whether risks are divided by that of being wrong on every row; otherwise they are costs per row.
    cost_weighted : bool, default=False
        Whether the rates weigh each row by its cost.
    name : str, default=None
        Name of the model in the legend.

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
    Costs 5 and 1; the classifier's own threshold 0 misses one target of three:

    >>> from cssvm.displays import CostRocDisplay
    >>> y, scores = [0, 0, 1, 0, 1, 1], [-3.0, -2.0, -1.0, 0.5, 1.0, 2.0]
    >>> display = CostRocDisplay.from_predictions(y, scores, fn_cost=5.0, fp_cost=1.0)
    >>> print(round(display.points["Risk*"].risk, 3), round(display.points["NOTH-Risk"].risk, 3))
    0.167 1.0
    """

    _numbers = staticmethod(cost_roc)

    line_: Any
    hull_line_: Any
    iso_cost_line_: Any
    point_lines_: dict[str, Any]
    ax_: Any
    figure_: Any

    def __init__(
        self,
        *,
        fpr: Vector,
        tpr: Vector,
        hull_fpr: Vector,
        hull_tpr: Vector,
        slope: float,
        points: dict[str, OperatingPoint],
        normalized: bool = False,
        cost_weighted: bool = False,
        name: str | None = None,
    ) -> None:
        self.fpr = fpr
        self.tpr = tpr
        self.hull_fpr = hull_fpr
        self.hull_tpr = hull_tpr
        self.slope = slope
        self.points = points
        self.normalized = normalized
        self.cost_weighted = cost_weighted
        self.name = name

    @classmethod
    def _known_from_estimator(
        cls, estimator: Any, X: Any, y: Any, scores: PositiveClassScores, of_rows: dict[str, Any]
    ) -> dict[str, Any]:
        """What the estimator itself decides; its threshold is named where that is a cut of these scores."""
        acted_on = cls._own_decisions(estimator, X, y, scores, of_rows)
        return {"own_threshold": scores.own_threshold, "acted_on": acted_on}

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
        normalize: bool = False,
        response_method: str = "auto",
        name: str | None = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> CostRocDisplay:
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
            Threshold chosen before, on scores for the target; None leaves TH-Risk out.
        normalize : bool, default=False
            Divide risks by that of being wrong on every row.
        response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
            Where scores come from; "auto" prefers `decision_function`. The own decisions are those of `predict`, with
            `fn_cost` and `fp_cost` where they are given for each row and it takes them.
        name : str, default=None
            Name in the legend; None takes the class of the estimator.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **plot_params : dict
            Passed to `plot`.

        Returns
        -------
        CostRocDisplay
            The display, drawn.
        """
        of_rows = {"fn_cost": fn_cost, "fp_cost": fp_cost, "pos_label": pos_label, "sample_weight": sample_weight}
        options = {"threshold": threshold, "normalize": normalize}
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
        own_threshold: float | None = 0.0,
        normalize: bool = False,
        name: str | None = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> CostRocDisplay:
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
            Threshold chosen before; None leaves TH-Risk out.
        own_threshold : float, default=0.0
            Threshold of the classifier's own decision; None leaves NOTH-Risk out.
        normalize : bool, default=False
            Divide risks by that of being wrong on every row.
        name : str, default=None
            Name in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **plot_params : dict
            Passed to `plot`.

        Returns
        -------
        CostRocDisplay
            The display, drawn.
        """
        of_rows = {"fn_cost": fn_cost, "fp_cost": fp_cost, "pos_label": pos_label, "sample_weight": sample_weight}
        options = {"threshold": threshold, "own_threshold": own_threshold, "normalize": normalize}
        return cls._from_predictions(
            y_true,
            y_score,
            of_rows=of_rows,
            options=options,
            name=name,
            drawing={"ax": ax, **plot_params},
        )

    def plot(self, ax: Any = None, *, color: str | None = None, plot_hull: bool = True) -> CostRocDisplay:
        """Draw the curve, the line and the points.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure. Several models may share an axis.
        color : str, default=None
            Colour of the curve and its points; None takes the next one of the palette.
        plot_hull : bool, default=True
            Whether to draw the convex hull.

        Returns
        -------
        CostRocDisplay
            The display itself.
        """
        ax = axis_or_new(ax)
        color = unused_color(ax) if color is None else color
        (self.line_,) = ax.plot(self.fpr, self.tpr, color=color, label=self.name or "ROC curve")
        if plot_hull:
            (self.hull_line_,) = ax.plot(
                self.hull_fpr,
                self.hull_tpr,
                color=GREY,
                linestyle="--",
                linewidth=1.0,
                label=label_once(ax, "convex hull"),
            )
        x, y = self.iso_cost_line()
        (self.iso_cost_line_,) = ax.plot(x, y, color=BLACK, linewidth=1.0, label=label_once(ax, "equal risk"))
        # The widest marker first, so that coinciding points are all seen.
        self.point_lines_ = {}
        for name, point in self.points.items():
            (self.point_lines_[name],) = ax.plot(
                [point.fpr],
                [point.tpr],
                marker=MARKERS[name],
                markersize=MARKER_SIZES[name],
                markerfacecolor=color if name == BEST else "white",
                markeredgecolor=BLACK if name == BEST else color,
                linestyle="none",
                zorder=3,
                label=f"{WORDS[name]}: {point.risk:.3g}",
            )
        self._label(ax)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    def iso_cost_line(self) -> tuple[Vector, Vector]:
        """Ends of the line of equal risk through Risk*, where it leaves the unit square.

        Returns
        -------
        fpr, tpr : ndarray of shape (2,)
            The two ends.
        """
        best = self.points[BEST]
        fpr = np.array([best.fpr - best.tpr / self.slope, best.fpr + (1 - best.tpr) / self.slope])
        inside = np.clip(fpr, 0.0, 1.0)
        # Where an end was not cut, it lies on TPR 0 or 1 exactly: multiplying the slope back would round.
        tpr = np.where(inside == fpr, [0.0, 1.0], best.tpr + self.slope * (inside - best.fpr))
        return inside, tpr

    def _label(self, ax: Any) -> None:
        weighting = ", rows weighted by cost" if self.cost_weighted else ""
        ax.set(
            xlabel=f"false positive rate{weighting}",
            ylabel=f"true positive rate{weighting}",
            xlim=(-EDGE, 1 + EDGE),
            ylim=(-EDGE, 1 + EDGE),
            aspect="equal",
        )
        # Hull and line of equal risk run above the diagonal, so this corner is free.
        title = "share of the largest cost" if self.normalized else "cost per case"
        ax.legend(loc="lower right", title=title, fontsize=LEGEND_POINTS, title_fontsize=LEGEND_POINTS, frameon=False)
