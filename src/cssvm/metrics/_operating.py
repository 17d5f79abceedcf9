"""Where given costs operate on a ROC curve and on a cost curve: the numbers behind both pictures.

With P_1 C_1 the cost of missing every row of the target and P_{-1} C_{-1} that of all false alarms, both for
each row, all points (FPR, TPR) of the line

    P_1 C_1 (1 - TPR) + P_{-1} C_{-1} FPR = risk,    slope P_{-1} C_{-1} / (P_1 C_1)

have the same risk. The best point of the curve lies on its convex hull, which the line only touches there. On the
cost curve these costs are the point PC(+) = P_1 C_1 / (P_1 C_1 + P_{-1} C_{-1}). Where costs differ from row to row,
each row counts in the rates with its cost; only then is the risk linear in them, and hull, line and curve keep their
meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._core.types import Mask, Vector
from ._curves import CostCurve, cost_curve_of_rows, hull_of_rows, roc_of_rows
from ._held_out import HeldOut
from ._risk import minimum_risk, risk_of_decisions
from ._scored import ScoredSamples

BEST, CHOSEN, OWN = "Risk*", "TH-Risk", "NOTH-Risk"

BOTH_ERRORS = "a picture of both kinds of errors"


class OperatingPoint(NamedTuple):
    """Decisions beside the ROC curve: their rates and their risk.

    Attributes
    ----------
    threshold : float
        Rows that score at least this are called targets; nan for decisions that are no threshold of the scores, such
        as those by the costs of each row, whose point may lie off the curve.
    fpr, tpr : float
        False and true positive rate, weighted like the curve.
    risk : float
        Cost of the decisions, per row or normalised like the display.
    """

    threshold: float
    fpr: float
    tpr: float
    risk: float


class CostRoc(NamedTuple):
    """A ROC curve with what costs add to it.

    fpr, tpr : (n_points,), the curve; hull_fpr, hull_tpr : (n_vertices,), its upper convex hull;
    slope : that of the lines of equal risk; points : by the names Risk*, TH-Risk and NOTH-Risk;
    normalized : whether risks are divided by that of being wrong on every row;
    cost_weighted : whether costs differ between rows of a class, so that rates weigh each row by its cost.
    """

    fpr: Vector
    tpr: Vector
    hull_fpr: Vector
    hull_tpr: Vector
    slope: float
    points: dict[str, OperatingPoint]
    normalized: bool
    cost_weighted: bool


class CostCurveAtCosts(NamedTuple):
    """A cost curve, the PC(+) of given costs on it, and the curves of folds if it is their mean."""

    probability_cost: Vector
    cost: Vector
    operating_point: float
    fold_curves: Sequence[CostCurve] = ()


def cost_roc(
    rows: ScoredSamples,
    *,
    threshold: float | None = None,
    own_threshold: float | None = 0.0,
    acted_on: Mask | None = None,
    normalize: bool = False,
) -> CostRoc:
    """The ROC curve, its hull and the operating points: the best one, a chosen one, the classifier's own decision.

    acted_on : (n,) bool, the classifier's own decisions, if they are known; otherwise they are believed to be those of
    `own_threshold`. A threshold of None leaves its point out.
    """
    rows.samples.check_both_classes_weighted(BOTH_ERRORS)
    thresholds = {BEST: minimum_risk(rows).threshold, CHOSEN: threshold, OWN: own_threshold}
    by_cost = rows.weighed_by_stakes()
    fpr, tpr = roc_of_rows(by_cost)
    hull = hull_of_rows(by_cost)
    points = {name: operating_point(rows, cut, normalize) for name, cut in thresholds.items() if cut is not None}
    if acted_on is not None and not (OWN in points and np.array_equal(acted_on, rows.scores >= own_threshold)):
        points[OWN] = point_of_decisions(rows, acted_on, normalize)
    return CostRoc(
        fpr=fpr,
        tpr=tpr,
        hull_fpr=hull.fpr,
        hull_tpr=hull.tpr,
        slope=rows.samples.alarm_cost / rows.samples.miss_cost,
        points=points,
        normalized=normalize,
        cost_weighted=rows.samples.costs_differ,
    )


def operating_point(rows: ScoredSamples, threshold: float, normalize: bool) -> OperatingPoint:
    """The point of calling every row a target that scores at least `threshold`."""
    return point_of_decisions(rows, rows.scores >= threshold, normalize)._replace(threshold=float(threshold))


def point_of_decisions(rows: ScoredSamples, accepted: Mask, normalize: bool) -> OperatingPoint:
    """Rates, weighted by cost, and risk of calling these rows targets, (n,) bool."""
    sample = rows.samples
    return OperatingPoint(
        threshold=np.nan,
        fpr=float(sample.weighted_costs[accepted & ~sample.positive].sum() / sample.alarm_cost),
        tpr=float(sample.weighted_costs[accepted & sample.positive].sum() / sample.miss_cost),
        risk=float(risk_of_decisions(sample, accepted, normalize=normalize)),
    )


def cost_curve_at_costs(rows: ScoredSamples) -> CostCurveAtCosts:
    """The cost curve, rates weighing each row by its cost, and where the costs of the rows operate."""
    rows.samples.check_both_classes_weighted(BOTH_ERRORS)
    return CostCurveAtCosts(*cost_curve_of_rows(rows.weighed_by_stakes()), _target_share(rows))


def mean_cost_curve(held_out: HeldOut) -> CostCurveAtCosts:
    """The mean of the folds' cost curves, with these; the operating point is that of all rows."""
    for fold in held_out.folds:
        fold.samples.check_both_classes_weighted(BOTH_ERRORS)
    curves = [cost_curve_of_rows(fold.weighed_by_stakes()) for fold in held_out.folds]
    # Every curve is straight between its own vertices, so their mean is between all of them.
    vertices = np.unique(np.concatenate([curve.probability_cost for curve in curves]))
    mean = np.mean([curve.at(vertices) for curve in curves], axis=0)
    return CostCurveAtCosts(vertices, mean, _target_share(held_out.pooled), curves)


def _target_share(rows: ScoredSamples) -> float:
    """PC(+), the target's share of the cost of being wrong on every row."""
    sample = rows.samples
    return sample.miss_cost / (sample.miss_cost + sample.alarm_cost)
