"""Curves over all cuts of a ranking: the ROC curve, its convex hull, the cost curve, and the cuts that cost least.

A cut predicts the samples with the k highest distinct scores positive. The vertices of the upper convex hull of the ROC
curve are the only cuts that minimise an expected cost for some costs and priors. With the probability cost

    PC = P_1 C_1 / (P_1 C_1 + P_{-1} C_{-1})        in [0, 1]

a point (FPR, FNR) has the normalised expected cost FNR PC + FPR (1 - PC), a straight line over PC; the cost curve
(Drummond and Holte) is the lower envelope of these lines. If costs differ between samples of a class, the same holds
for rates in which each sample counts with its cost, `by_cost`.

The partial areas are

    TP-t:  mean false positive rate over true positive rates in [t, 1]    (few false negatives are wanted)
    TN-t:  mean false negative rate over true negative rates in [t, 1]    (few false positives are wanted)

With x the error rate that is kept small and y the other one, both are the mean of y over x in [0, 1 - t]. Swapping the
classes and the sign of the scores turns one into the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.isotonic import isotonic_regression

from .._core.types import Mask, RowNumbers, Vector
from .._core.validation import is_number
from ._scored import RankedMetric, ScoredSamples

# Sums of weights round: a rate that exceeds a limit by no more than this, relatively, meets it.
RATE_ROUNDING = 1e-12


class RocConvexHull(NamedTuple):
    """Vertices of the upper convex hull of a ROC curve, as `roc_convex_hull` returns them."""

    fpr: Vector
    tpr: Vector
    thresholds: Vector


class CostCurve(NamedTuple):
    """Smallest normalised expected cost over the probability cost, as `cost_curve` returns it."""

    probability_cost: Vector
    cost: Vector

    def at(self, probability_cost: Any) -> Any:
        """The curve at other values of the probability cost."""
        return np.interp(probability_cost, self.probability_cost, self.cost)


class NeymanPearson(NamedTuple):
    """Threshold with the fewest false negatives under a limit on false positives, as `neyman_pearson` returns it."""

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
        Named tuple ``(fpr, tpr, thresholds)`` of arrays of shape (n_vertices,), from (0, 0) to (1, 1). As in
        scikit-learn's ``roc_curve``, thresholds fall from ``inf``, and samples that score at least a threshold are
        predicted positive.

    Examples
    --------
    >>> from cssvm.metrics import roc_convex_hull
    >>> hull = roc_convex_hull([1, 0, 1, 0], [0.9, 0.7, 0.4, 0.2])
    >>> hull.fpr, hull.tpr, hull.thresholds
    (array([0. , 0. , 0.5, 1. ]), array([0. , 0.5, 1. , 1. ]), array([inf, 0.9, 0.4, 0.2]))
    """
    return hull_of_samples(ScoredSamples.from_labels(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight))


def cost_curve(
    y_true: Any, y_score: Any, *, probability_cost: Any = None, pos_label: Any = None, sample_weight: Any = None
) -> CostCurve:
    """Cost curve: smallest normalised expected cost for every ratio of costs and priors. Lower is better.

    ``cost(PC) = min over thresholds of FNR PC + FPR (1 - PC)`` with the probability cost
    ``PC = P_1 C_1 / (P_1 C_1 + P_{-1} C_{-1})``. The same prediction for every sample costs min(PC, 1 - PC).

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As in `roc_convex_hull`.
    probability_cost : float or array-like, default=None
        Values of PC in [0, 1] at which to evaluate the curve. If None, its vertices, between which it is straight.

    Returns
    -------
    CostCurve
        Named tuple ``(probability_cost, cost)`` of arrays of shape (n_points,).

    Examples
    --------
    >>> from cssvm.metrics import cost_curve
    >>> curve = cost_curve([1, 0, 1, 0], [0.9, 0.7, 0.4, 0.2])
    >>> curve.probability_cost, curve.cost
    (array([0. , 0.5, 1. ]), array([0.  , 0.25, 0.  ]))
    """
    scored = ScoredSamples.from_labels(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    curve = cost_curve_of_samples(scored)
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
    """Threshold of the smallest false negative rate with a false positive rate of at most `max_fpr`.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As in `roc_convex_hull`.
    max_fpr : float
        Largest false positive rate allowed, in [0, 1].

    Returns
    -------
    NeymanPearson
        Named tuple ``(threshold, fpr, fnr)``: the threshold, as in `min_cost_risk`, and the rates of the predictions
        "positive if score >= threshold".

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
    scored = ScoredSamples.from_labels(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    samples, ranking = scored.samples, scored.ranking
    samples.check_both_classes_weighted("a ROC curve")
    fpr, fnr = ranking.rates(scored.ranked(samples.positive), scored.ranked(samples.weights))
    # Both rates are monotone in the cut: the last one allowed has the smallest, the first with the same is returned.
    smallest = fnr[fpr <= max_fpr * (1 + RATE_ROUNDING)][-1]
    cut = int(np.argmax(fnr <= smallest))
    return NeymanPearson(ranking.threshold(cut), float(fpr[cut]), float(fnr[cut]))


def tp_auc_loss(
    y_true: Any, y_score: Any, *, t: float = 0.9, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Mean false positive rate over true positive rates between t and 1 (TP-t-AUC). Lower is better.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As in `roc_convex_hull`.
    t : float, default=0.9
        Smallest true positive rate considered, in [0, 1).

    Returns
    -------
    float
        The loss, in [0, 1]: 0 is perfect, and for ``t=0`` it is 1 - AUC.

    Examples
    --------
    Finding the last positive sample takes one of the two negative ones as a false positive:

    >>> from cssvm.metrics import tp_auc_loss
    >>> tp_auc_loss([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], t=0.5)
    0.5
    """
    scored = ScoredSamples.from_labels(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    return ranked_tp_auc_loss(scored, t=t).value


def tn_auc_loss(
    y_true: Any, y_score: Any, *, t: float = 0.9, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Mean false negative rate over true negative rates between t and 1 (TN-t-AUC). Lower is better.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As in `roc_convex_hull`.
    t : float, default=0.9
        Smallest true negative rate considered, in [0, 1): false positive rates up to 1 - t.

    Returns
    -------
    float
        As of `tp_auc_loss`.

    Examples
    --------
    Half of the positive samples are false negatives up to the false positive rate 1/2, and none beyond it:

    >>> from cssvm.metrics import tn_auc_loss
    >>> tn_auc_loss([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], t=0.5)
    0.5
    """
    scored = ScoredSamples.from_labels(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    return ranked_tn_auc_loss(scored, t=t).value


def hull_of_samples(scored: ScoredSamples, *, by_cost: bool = False) -> RocConvexHull:
    """`roc_convex_hull` of scored samples."""
    false_positives, true_positives = _positives(scored, by_cost)
    vertices = hull_of_curve(false_positives, true_positives)
    return RocConvexHull(
        fpr=false_positives[vertices] / false_positives[-1],
        tpr=true_positives[vertices] / true_positives[-1],
        thresholds=np.append(np.inf, scored.ranking.lowest)[vertices],
    )


def cost_curve_of_samples(scored: ScoredSamples, *, by_cost: bool = False) -> CostCurve:
    """The vertices of the cost curve of scored samples."""
    hull = hull_of_samples(scored, by_cost=by_cost)
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


def roc_curve_of_samples(scored: ScoredSamples, *, by_cost: bool = False) -> tuple[Vector, Vector]:
    """False and true positive rates of the points of scikit-learn's `roc_curve`, (n_points,) each."""
    false_positives, true_positives = _positives(scored, by_cost)
    if by_cost:
        # Samples that cost nothing do not move the curve.
        moved = np.append(True, (np.diff(false_positives) > 0) | (np.diff(true_positives) > 0))
        false_positives, true_positives = false_positives[moved], true_positives[moved]
    corner = np.ones(len(true_positives), dtype=bool)
    if len(true_positives) > 3:
        corner[2:-1] = (np.diff(false_positives[1:], 2) != 0) | (np.diff(true_positives[1:], 2) != 0)
    return false_positives[corner] / false_positives[-1], true_positives[corner] / true_positives[-1]


def _positives(scored: ScoredSamples, by_cost: bool) -> tuple[Vector, Vector]:
    """Weight, or weighted cost, of the false and of the true positives of each cut, two (n_cuts,)."""
    samples = scored.samples
    weights = samples.weighted_costs if by_cost else samples.weights
    replace(samples, weights=weights).check_both_classes_weighted("a ROC curve")
    return scored.ranking.false_and_true_positives(scored.ranked(samples.positive), scored.ranked(weights))


def hull_of_curve(x: Vector, y: Vector) -> RowNumbers:
    """Indices (n_vertices,) of the points at which the upper convex hull of a curve turns, and of its two ends.

    x, y : (n_points,), both rising. The slopes of the hull fall from piece to piece. Pooling neighbouring pieces until
    they do is isotonic regression of the shares rise / (rise + run), weighted with the lengths rise + run.
    """
    rise, run = np.diff(y), np.diff(x)
    length = rise + run
    # A weight that is lost in the rounding of the sum makes a piece of no length.
    pieces = np.flatnonzero(length > 0)
    shares = isotonic_regression(rise[pieces] / length[pieces], sample_weight=length[pieces], increasing=False)
    turns = pieces[np.flatnonzero(np.diff(shares))] + 1
    return np.concatenate([[0], turns, [len(y) - 1]])


def ranked_tp_auc_loss(scored: ScoredSamples, *, t: float = 0.9) -> RankedMetric:
    """`tp_auc_loss` of scored samples, as a function of the weights."""
    return _ranked_loss(scored, t, lambda fpr, fnr: (fnr[..., ::-1], fpr[..., ::-1]))


def ranked_tn_auc_loss(scored: ScoredSamples, *, t: float = 0.9) -> RankedMetric:
    """`tn_auc_loss` of scored samples, as a function of the weights."""
    return _ranked_loss(scored, t, lambda fpr, fnr: (fpr, fnr))


def mean_height(x: Vector, y: Vector, width: float) -> Vector:
    """Mean of y over x in [0, width] along the polygon (x, y), (..., n_points), x rising from 0 to at least width.

    A piece from (x0, y0) to (x1, y1) that `width` cuts counts with its part f of the way, where y is
    y0 + f (y1 - y0); vertical pieces have no area.
    """
    steps = np.diff(x, axis=-1)
    inside = np.diff(np.minimum(x, width), axis=-1)
    part = np.divide(inside, steps, out=np.zeros_like(steps), where=steps > 0)
    heights = y[..., :-1] + part * np.diff(y, axis=-1) / 2
    return np.einsum("...i,...i->...", inside, heights) / width


def _ranked_loss(
    scored: ScoredSamples, t: Any, curve: Callable[[Vector, Vector], tuple[Vector, Vector]]
) -> RankedMetric:
    """Mean height of a curve (x, y), made from false positive and false negative rates, over x in [0, 1 - t]."""
    if not is_number(t) or not 0 <= t < 1:
        raise ValueError(f"t must be a rate in [0, 1); got t={t!r}. Pass for example t=0.9, or t=0 for 1 - AUC.")
    scored.samples.check_both_classes_weighted("a ROC curve")
    positive = scored.ranked(scored.positive)
    return RankedMetric(
        scored, lambda weights: mean_height(*curve(*scored.ranking.rates(positive, weights)), 1.0 - float(t))
    )


class Cuts(NamedTuple):
    """Weights of the true and false positives of cuts, and the costs they save and spend, (n_cuts,) each."""

    true_positives: Vector
    false_positives: Vector
    saved: Vector
    spent: Vector

    @classmethod
    def from_predictions(cls, scored: ScoredSamples, predicted: Mask) -> Cuts:
        """The one cut (1,) of predictions (n_samples,) bool."""
        samples = scored.samples
        sums = [
            float(each[predicted & (samples.positive == positive)].sum())
            for each in (samples.weights, samples.weighted_costs)
            for positive in (True, False)
        ]
        return cls(*(np.array([each]) for each in sums))

    def take(self, cuts: RowNumbers) -> Cuts:
        """Some of the cuts."""
        return Cuts(*(each[cuts] for each in self))


class BestCuts(NamedTuple):
    """Cuts that cost least for some costs, from all negative to all positive, and some of all cuts for a curve.

    If costs of false negatives are multiplied by a and those of false positives by b, a cut costs per sample

        (a (saved by all - saved) + b spent) / weight.

    Another prior of the positive class only changes a and b. For every a and b the minimum over all cuts is a vertex of
    the upper convex hull of the points (spent, saved): a few hundred vertices stand for a million samples.

    thresholds : (n_vertices,), those of `min_cost_risk`, falling, infinite at the ends; weight : of all samples.
    """

    thresholds: Vector
    vertices: Cuts
    curve: Cuts
    all_positive: Cuts
    weight: float


def best_cuts(scored: ScoredSamples, *, n_points: int = 1000) -> BestCuts:
    """The cuts of scored samples that cost least for some costs, and at most `n_points` of all of them."""
    samples, ranking = scored.samples, scored.ranking
    samples.check_both_classes_weighted("the best cut")
    positive = scored.ranked(samples.positive)
    false_positives, true_positives = ranking.false_and_true_positives(positive, scored.ranked(samples.weights))
    spent, saved = ranking.false_and_true_positives(positive, scored.ranked(samples.weighted_costs))
    if not (spent[-1] > 0 and saved[-1] > 0):
        raise ValueError(
            "errors on both classes must cost something on samples of positive weight; got a class whose samples all "
            "cost 0. Evaluate on more samples, or correct fn_cost and fp_cost."
        )
    cuts = Cuts(true_positives, false_positives, saved, spent)
    vertices = hull_of_curve(spent, saved)
    return BestCuts(
        thresholds=ranking.thresholds(vertices),
        vertices=cuts.take(vertices),
        curve=cuts.take(_spread_evenly(spent / spent[-1] + saved / saved[-1], n_points)),
        all_positive=cuts.take(np.array([len(spent) - 1])),
        weight=float(samples.weights.sum()),
    )


def _spread_evenly(length: Vector, n_points: int) -> RowNumbers:
    """At most `n_points` indices of a curve, spread evenly over its rising length (n,), both ends among them."""
    if len(length) <= n_points:
        return np.arange(len(length))
    places = np.searchsorted(length, np.linspace(0.0, length[-1], n_points - 1))
    return np.unique(np.append(places, len(length) - 1))
