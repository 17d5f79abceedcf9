"""Cost curves: the cost of a model for all costs and class frequencies, both reduced to one number.

With the share of the positive class in the cost of being wrong on every sample,

    PC(+) = P_1 C_1 / (P_1 C_1 + P_{-1} C_{-1}),

a threshold with rates (FPR, FNR) costs the normalised FNR PC(+) + FPR (1 - PC(+)): a straight line. The cost curve is
the lower envelope of these lines; a model helps where it runs below those of the constant predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._core.types import Vector
from ..metrics import CostCurve
from ..metrics._curves import cost_curve_of_samples
from ..metrics._scored import ScoredSamples
from ..metrics._threshold_costs import BOTH_ERRORS
from ._canvas import GREY, axis_or_new, draw_point, label_once, legend_above_curves, unused_color
from ._scored import FoldsDisplayMixin, ScoredFolds

Curve = tuple[Vector, Vector]

# The two constant predictions cost the same here, and no curve runs above it.
HALF = 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class CostCurveDisplay(FoldsDisplayMixin):
    """Normalised expected cost over the probability-cost PC(+), with the operating point of given costs.

    Lower is better. If costs differ between samples of a class, rates weigh each sample by its cost. Use
    `from_estimator`, `from_predictions` or `from_cv_results`, which draws the mean of the curves of the folds.

    Parameters
    ----------
    probability_cost, cost : ndarray of shape (n_vertices,)
        Vertices of the curve; it is straight between them.
    operating_point : float
        PC(+) of the given costs and the class frequencies of the samples.
    fold_curves : sequence of (probability_cost, cost), default=()
        Curves of folds, drawn thin; the main curve is their mean.
    name : str, default=None
        Name of the model in the legend.

    Attributes
    ----------
    operating_cost : float
        The curve at the operating point: the smallest normalised risk of any threshold.
    line_, point_ : matplotlib Line2D
        The curve and the operating point.
    fold_lines_, trivial_lines_ : list of matplotlib Line2D
        The curves of the folds, and the two constant predictions, each where it is the cheaper one.
    ax_, figure_ : matplotlib Axes, Figure
        Where they were drawn.

    Examples
    --------
    >>> from cssvm.displays import CostCurveDisplay
    >>> y, scores = [0, 0, 1, 0, 1, 1], [-3.0, -2.0, -1.0, 0.5, 1.0, 2.0]
    >>> display = CostCurveDisplay.from_predictions(y, scores, fn_cost=5.0, fp_cost=1.0)
    >>> print(round(display.operating_point, 3), round(display.operating_cost, 3))
    0.833 0.056
    """

    _name_of_folds: ClassVar[str] = "mean of folds"

    probability_cost: Vector
    cost: Vector
    operating_point: float
    fold_curves: Sequence[Curve] = ()
    name: str | None = None

    @property
    def operating_cost(self) -> float:
        """The curve at the operating point."""
        return float(CostCurve(self.probability_cost, self.cost).at(self.operating_point))

    @classmethod
    def _from_samples(cls, scored: ScoredSamples, *, name: str | None = None) -> CostCurveDisplay:
        scored.samples.check_both_classes_weighted(BOTH_ERRORS)
        curve = cost_curve_of_samples(scored, by_cost=True)
        return cls(**curve._asdict(), operating_point=_cost_share(scored), name=name)

    @classmethod
    def _from_folds(cls, scored: ScoredFolds, *, name: str | None = None) -> CostCurveDisplay:
        scored.check_both_classes()
        curves = [cost_curve_of_samples(fold, by_cost=True) for fold in scored.folds]
        # Every curve is straight between its own vertices, so their mean is between all of them.
        vertices = np.unique(np.concatenate([curve.probability_cost for curve in curves]))
        return cls(
            probability_cost=vertices,
            cost=np.mean([curve.at(vertices) for curve in curves], axis=0),
            operating_point=_cost_share(scored.pooled),
            fold_curves=curves,
            name=name,
        )

    def plot(self, ax: Any = None, *, color: str | None = None) -> CostCurveDisplay:
        """Draw the curve, the constant predictions and the operating point; return the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created. Several models may share axes.
        color : str, default=None
            Colour of the curve. If None, the next one of the palette.
        """
        ax = axis_or_new(ax)
        color = unused_color(ax) if color is None else color
        negative, positive = "predict all negative", "predict all positive"
        self.trivial_lines_ = [
            *ax.plot([0, HALF], [0, HALF], color=GREY, linestyle="--", label=label_once(ax, negative)),
            *ax.plot([HALF, 1], [HALF, 0], color=GREY, linestyle=":", label=label_once(ax, positive)),
        ]
        self.fold_lines_ = [ax.plot(*curve, color=color, linewidth=0.7, alpha=0.5)[0] for curve in self.fold_curves]
        label = f"{self.name or 'model'}: {self.operating_cost:.3g} at these costs"
        (self.line_,) = ax.plot(self.probability_cost, self.cost, color=color, label=label)
        self.point_ = draw_point(ax, self.operating_point, self.operating_cost, color)
        ax.set(
            xlabel="probability-cost PC(+): share of the positive class in the cost",
            ylabel="normalised expected cost",
            xlim=(0, 1),
        )
        ax.set_ylim(bottom=0)
        legend_above_curves(ax)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self


def _cost_share(scored: ScoredSamples) -> float:
    """PC(+), the share of the positive class in the cost of being wrong on every sample."""
    fn_total, fp_total = scored.samples.total_fn_cost, scored.samples.total_fp_cost
    return fn_total / (fn_total + fp_total)
