"""The ROC curve as a set of choices: its convex hull, the costs it offers, and the best point under a limit.

The vertices of the upper convex hull are the only points that minimise an expected cost for some costs and priors.
With the probability cost of the target

    PC = P_1 C_1 / (P_1 C_1 + P_{-1} C_{-1})        in [0, 1]

a point (FPR, FNR) has the normalised expected cost FNR PC + FPR (1 - PC), a straight line over PC; the cost curve
(Drummond and Holte) is the lower envelope of these lines.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._core.types import Vector, is_number
from ._hull import hull_of_curve
from ._scored import ScoredSamples

# Sums of weights round: a rate that exceeds a limit by no more than this, relatively, meets it.
RATE_ROUNDING = 1e-12


class RocConvexHull(NamedTuple):
    """Vertices of the upper convex hull of a ROC curve, from (0, 0) to (1, 1)."""

    fpr: Vector
    tpr: Vector
    thresholds: Vector


class CostCurve(NamedTuple):
    """Smallest normalised expected cost over the probability cost of the target."""

    probability_cost: Vector
    cost: Vector

    def at(self, probability_cost: Any) -> Any:
        """The curve at other values of the probability cost; it is straight between its vertices."""
        return np.interp(probability_cost, self.probability_cost, self.cost)


class NeymanPearson(NamedTuple):
    """Threshold with the fewest misses under a limit on false alarms, and its two error rates."""

    threshold: float
    fpr: float
    fnr: float


def roc_convex_hull(y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None) -> RocConvexHull:
    """Vertices of the upper convex hull of the ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores, higher for the positive class, or what `positive_class_scores` returns.
    pos_label : label, default=None
        The positive class. If None, the larger of the two labels.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Sample weights. If None, all weights are 1.

    Returns
    -------
    RocConvexHull
        Named tuple ``(fpr, tpr, thresholds)`` of arrays of shape (n_vertices,). As in scikit-learn's ``roc_curve``,
        a vertex is reached by "target if score >= threshold" and the first threshold is ``inf``.

    Examples
    --------
    >>> from cssvm.metrics import roc_convex_hull
    >>> hull = roc_convex_hull([1, 0, 1, 0], [0.9, 0.7, 0.4, 0.2])
    >>> hull.fpr, hull.tpr, hull.thresholds
    (array([0. , 0. , 0.5, 1. ]), array([0. , 0.5, 1. , 1. ]), array([inf, 0.9, 0.4, 0.2]))
    """
    return hull_of_rows(ScoredSamples.from_labels(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight))


def cost_curve(
    y_true: Any, y_score: Any, *, probability_cost: Any = None, pos_label: Any = None, sample_weight: Any = None
) -> CostCurve:
    """Smallest normalised expected cost for every ratio of costs and priors: the cost curve.

    ``cost(PC) = min over thresholds of FNR PC + FPR (1 - PC)`` with the probability cost
    ``PC = P_1 C_1 / (P_1 C_1 + P_{-1} C_{-1})``. The same decision for every row costs min(PC, 1 - PC).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores, higher for the positive class, or what `positive_class_scores` returns.
    probability_cost : float or array-like, default=None
        Values of PC in [0, 1] at which to evaluate the curve. None: at its vertices, between which it is straight.
    pos_label : label, default=None
        The positive class. If None, the larger of the two labels.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Sample weights. If None, all weights are 1.

    Returns
    -------
    CostCurve
        Named tuple ``(probability_cost, cost)`` of arrays.

    Examples
    --------
    >>> from cssvm.metrics import cost_curve
    >>> curve = cost_curve([1, 0, 1, 0], [0.9, 0.7, 0.4, 0.2])
    >>> curve.probability_cost, curve.cost
    (array([0. , 0.5, 1. ]), array([0.  , 0.25, 0.  ]))
    """
    rows = ScoredSamples.from_labels(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    curve = cost_curve_of_rows(rows)
    if probability_cost is None:
        return curve
    grid = np.asarray(probability_cost, dtype=np.float64)
    if not ((grid >= 0) & (grid <= 1)).all():
        raise ValueError(
            f"probability_cost must lie between 0 and 1; got values from {grid.min()} to {grid.max()}. "
            "Pass for example numpy.linspace(0, 1, 101)."
        )
    return CostCurve(grid, curve.at(grid))


def neyman_pearson(
    y_true: Any, y_score: Any, *, max_fpr: float, pos_label: Any = None, sample_weight: Any = None
) -> NeymanPearson:
    """Threshold with the smallest miss rate among those with a false positive rate of at most `max_fpr`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores, higher for the positive class, or what `positive_class_scores` returns.
    max_fpr : float
        Largest false positive rate allowed, in [0, 1].
    pos_label : label, default=None
        The positive class. If None, the larger of the two labels.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Sample weights. If None, all weights are 1.

    Returns
    -------
    NeymanPearson
        Named tuple ``(threshold, fpr, fnr)`` of the decisions "target if score >= threshold". The threshold is
        half-way between two neighbouring scores, ``inf`` to accept nobody or ``-inf`` to accept everybody; among
        those with as few misses it is the highest, which has the fewest false alarms.

    Examples
    --------
    >>> from cssvm.metrics import neyman_pearson
    >>> neyman_pearson([0, 0, 1, 0, 1], [1, 2, 4, 6, 8], max_fpr=0.2)
    NeymanPearson(threshold=7.0, fpr=0.0, fnr=0.5)
    """
    if not is_number(max_fpr) or not 0 <= max_fpr <= 1:
        raise ValueError(
            f"max_fpr must be a rate between 0 and 1; got max_fpr={max_fpr!r}. Pass for example max_fpr=0.05."
        )
    rows = ScoredSamples.from_labels(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    return fewest_misses(rows, max_fpr)


def hull_of_rows(rows: ScoredSamples) -> RocConvexHull:
    """`roc_convex_hull` of checked rows."""
    alarms, hits = _alarms_and_hits(rows)
    vertices = hull_of_curve(alarms, hits)
    thresholds = np.append(np.inf, rows.ranking.lowest)
    return RocConvexHull(alarms[vertices] / alarms[-1], hits[vertices] / hits[-1], thresholds[vertices])


def cost_curve_of_rows(rows: ScoredSamples) -> CostCurve:
    """The vertices of `cost_curve`, of checked rows."""
    hull = hull_of_rows(rows)
    # The lines of neighbouring vertices meet where FNR PC + FPR (1 - PC) is equal.
    rise, run = np.diff(hull.tpr), np.diff(hull.fpr)
    crossings = run / (run + rise)
    costs = (1.0 - hull.tpr[:-1]) * crossings + hull.fpr[:-1] * (1.0 - crossings)
    # A vertical first or a horizontal last piece meets at an end of the axis, which is a vertex anyway.
    inner = (crossings > 0) & (crossings < 1)
    return CostCurve(
        np.concatenate([[0.0], crossings[inner], [1.0]]),
        np.concatenate([[0.0], costs[inner], [0.0]]),
    )


def roc_of_rows(rows: ScoredSamples) -> tuple[Vector, Vector]:
    """False and true positive rates of the ROC curve, (n_points,) each, without points in the middle of a straight run.

    The same points as scikit-learn's `roc_curve`, without sorting again.
    """
    alarms, hits = _alarms_and_hits(rows)
    corner = np.ones(len(hits), dtype=bool)
    if len(hits) > 3:
        corner[2:-1] = (np.diff(alarms[1:], 2) != 0) | (np.diff(hits[1:], 2) != 0)
    return alarms[corner] / alarms[-1], hits[corner] / hits[-1]


def fewest_misses(rows: ScoredSamples, max_fpr: float) -> NeymanPearson:
    """`neyman_pearson` of checked rows."""
    rows.samples.check_both_classes_weighted("a ROC curve")
    fpr, fnr = rows.ranking.rates(rows.ranked(rows.samples.positive), rows.ranked(rows.samples.weights))
    # Both rates are monotone in the cut: the last allowed one misses least, the first that misses no more wins.
    least = fnr[fpr <= max_fpr * (1 + RATE_ROUNDING)][-1]
    cut = int(np.argmax(fnr <= least))
    return NeymanPearson(rows.ranking.threshold(cut), float(fpr[cut]), float(fnr[cut]))


def _alarms_and_hits(rows: ScoredSamples) -> tuple[Vector, Vector]:
    """Weight of the accepted rows of the other class and of the target at each cut, two (n_cuts,)."""
    rows.samples.check_both_classes_weighted("a ROC curve")
    return rows.ranking.alarms_and_hits(rows.ranked(rows.samples.positive), rows.ranked(rows.samples.weights))
