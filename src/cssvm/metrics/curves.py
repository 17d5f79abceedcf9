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
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from .._types import Vector, is_number
from .ranking import Ranking
from .sample import Sample


class RocConvexHull(NamedTuple):
    """Vertices of the upper convex hull of a ROC curve, from (0, 0) to (1, 1)."""

    fpr: Vector
    tpr: Vector
    thresholds: Vector


class CostCurve(NamedTuple):
    """Smallest normalised expected cost over the probability cost of the target."""

    probability_cost: Vector
    cost: Vector


class NeymanPearson(NamedTuple):
    """Threshold with the fewest misses under a limit on false alarms, and its two error rates."""

    threshold: float
    fpr: float
    fnr: float


def roc_convex_hull(y_true: Any, y_score: Any, *, pos_label: Any = 1, sample_weight: Any = None) -> RocConvexHull:
    """Vertices of the upper convex hull of the ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores, higher for the target class.
    pos_label : label, default=1
        The target class.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Weight of each row; None means 1.

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
    sample, ranking = _ranked(y_true, y_score, pos_label, sample_weight)
    alarms, hits = ranking.alarms_and_hits(sample.target[ranking.order], sample.weight[ranking.order])
    vertices = _hull_vertices(alarms, hits)
    thresholds = np.append(np.inf, ranking.scores)
    return RocConvexHull(alarms[vertices] / alarms[-1], hits[vertices] / hits[-1], thresholds[vertices])


def cost_curve(
    y_true: Any, y_score: Any, *, probability_cost: Any = None, pos_label: Any = 1, sample_weight: Any = None
) -> CostCurve:
    """Smallest normalised expected cost for every ratio of costs and priors: the cost curve.

    ``cost(PC) = min over thresholds of FNR PC + FPR (1 - PC)`` with the probability cost
    ``PC = P_1 C_1 / (P_1 C_1 + P_{-1} C_{-1})``. Deciding alike for all costs min(PC, 1 - PC).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores, higher for the target class.
    probability_cost : float or array-like, default=None
        Values of PC in [0, 1] at which to evaluate the curve. None: at its vertices, between which it is straight.
    pos_label : label, default=1
        The target class.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Weight of each row; None means 1.

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
    hull = roc_convex_hull(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    # The lines of neighbouring vertices meet where FNR PC + FPR (1 - PC) is equal.
    rise, run = np.diff(hull.tpr), np.diff(hull.fpr)
    crossings = run / (run + rise)
    costs = (1.0 - hull.tpr[:-1]) * crossings + hull.fpr[:-1] * (1.0 - crossings)
    # A vertical first or a horizontal last piece meets at an end of the axis, which is a vertex anyway.
    inner = (crossings > 0) & (crossings < 1)
    vertices = np.concatenate([[0.0], crossings[inner], [1.0]])
    envelope = np.concatenate([[0.0], costs[inner], [0.0]])
    if probability_cost is None:
        return CostCurve(vertices, envelope)
    grid = np.asarray(probability_cost, dtype=np.float64)
    if not ((grid >= 0) & (grid <= 1)).all():
        raise ValueError(
            f"probability_cost must lie between 0 and 1; got values from {grid.min()} to {grid.max()}. "
            "Pass for example numpy.linspace(0, 1, 101)."
        )
    return CostCurve(grid, np.interp(grid, vertices, envelope))


def neyman_pearson(
    y_true: Any, y_score: Any, *, max_fpr: float, pos_label: Any = 1, sample_weight: Any = None
) -> NeymanPearson:
    """Threshold with the smallest miss rate among those with a false positive rate of at most `max_fpr`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores, higher for the target class.
    max_fpr : float
        Largest false positive rate allowed, in [0, 1].
    pos_label : label, default=1
        The target class.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Weight of each row; None means 1.

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
    sample, ranking = _ranked(y_true, y_score, pos_label, sample_weight)
    fpr, fnr = ranking.rates(sample.target[ranking.order], sample.weight[ranking.order])
    # Both rates are monotone in the cut: the last allowed one misses least, the first that misses no more wins.
    least = fnr[fpr <= max_fpr][-1]
    cut = int(np.argmax(fnr <= least))
    return NeymanPearson(ranking.threshold(cut), float(fpr[cut]), float(fnr[cut]))


def _ranked(y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any) -> tuple[Sample, Ranking]:
    """The checked rows and their ranking."""
    sample = Sample.read(y_true, pos_label=pos_label, sample_weight=sample_weight)
    sample.check_both_classes("a ROC curve")
    return sample, Ranking.of(sample.scores(y_score))


def _hull_vertices(alarms: Vector, hits: Vector) -> NDArray[np.intp]:
    """Points of the ROC curve at which its upper convex hull turns, and its two ends.

    The hull's slopes fall from piece to piece. Pooling neighbouring pieces until they do is isotonic regression:
    of the share of hits, rise / (rise + run), that each piece adds, weighted with its length rise + run. In weights
    instead of rates, so that whole numbers stay whole and pieces in line are pooled.
    """
    rise, run = np.diff(hits), np.diff(alarms)
    length = rise + run
    # A weight that is lost in the rounding of the sum makes a piece of no length.
    pieces = np.flatnonzero(length > 0)
    shares = isotonic_regression(rise[pieces] / length[pieces], sample_weight=length[pieces], increasing=False)
    turns = pieces[np.flatnonzero(np.diff(shares))] + 1
    return np.concatenate([[0], turns, [len(hits) - 1]])
