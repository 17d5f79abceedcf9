"""Curves over all cuts of a ranking: the ROC curve, its convex hull, the cost curve, and the cuts that cost least.

A cut predicts the samples with the k highest distinct scores positive. The vertices of the upper convex hull of the ROC
curve are the only cuts that minimise an expected cost for some costs and priors. With the probability cost

    PC = P_1 C_1 / (P_1 C_1 + P_{-1} C_{-1})        in [0, 1]

a point (FPR, FNR) has the normalised expected cost FNR PC + FPR (1 - PC), a straight line over PC; the cost curve
(Drummond and Holte) is the lower envelope of these lines.

If costs differ between samples of a class, the same holds for rates in which each sample counts with its cost,
`by_cost`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.isotonic import isotonic_regression

from .._core.types import Mask, RowNumbers, Vector
from .._core.validation import is_number
from ._scored import ScoredSamples

# Sums of weights round: a rate that exceeds a limit by no more than this, relatively, meets it.
RATE_ROUNDING = 1e-12


class RocConvexHull(NamedTuple):
    """Vertices of the upper convex hull of a ROC curve, from (0, 0) to (1, 1).

    Attributes
    ----------
    fpr, tpr, thresholds : ndarray of shape (n_vertices,)
        False and true positive rates, and the thresholds that reach them, falling.
    """

    fpr: Vector
    tpr: Vector
    thresholds: Vector


class CostCurve(NamedTuple):
    """Smallest normalised expected cost over the probability cost of the positive class.

    Attributes
    ----------
    probability_cost, cost : ndarray of shape (n_points,)
        Points of the curve, which is straight between its vertices.
    """

    probability_cost: Vector
    cost: Vector

    def at(self, probability_cost: Any) -> Any:
        """The curve at other values of the probability cost."""
        return np.interp(probability_cost, self.probability_cost, self.cost)


class NeymanPearson(NamedTuple):
    """Threshold with the fewest false negatives under a limit on false positives.

    Attributes
    ----------
    threshold : float
        Samples that score at least this are predicted positive.
    fpr, fnr : float
        False positive and false negative rate.
    """

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
        a vertex is reached by "positive if score >= threshold" and the first threshold is ``inf``.

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
        Named tuple ``(probability_cost, cost)`` of arrays.

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
        Named tuple ``(threshold, fpr, fnr)`` of the predictions "positive if score >= threshold". The threshold is
        half-way between two neighbouring scores, ``inf`` to predict all samples negative or ``-inf`` to predict all
        positive; of several it is the highest, which has the fewest false positives.

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
    """False and true positive rates of the ROC curve, (n_points,) each, without points in the middle of a straight run.

    The same points as scikit-learn's `roc_curve`, without sorting again.
    """
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
    """Points of a curve at which its upper convex hull turns, and its two ends: (n_vertices,) indices.

    x, y : (n_points,), both rising. The hull's slopes fall from piece to piece. Pooling neighbouring pieces until they
    do is isotonic regression: of the share of the rise, rise / (rise + run), that each piece adds, weighted with its
    length rise + run. In weights instead of rates whole numbers stay whole, so that pieces in line are pooled exactly.
    """
    rise, run = np.diff(y), np.diff(x)
    length = rise + run
    # A weight that is lost in the rounding of the sum makes a piece of no length.
    pieces = np.flatnonzero(length > 0)
    shares = isotonic_regression(rise[pieces] / length[pieces], sample_weight=length[pieces], increasing=False)
    turns = pieces[np.flatnonzero(np.diff(shares))] + 1
    return np.concatenate([[0], turns, [len(y) - 1]])


class Cuts(NamedTuple):
    """What cuts, or predictions, predict positive: weights and weighted costs by class, (n_cuts,) each.

    true_positives, false_positives : weights; saved : cost of the false negatives that the true positives avoid;
    spent : cost of the false positives.
    """

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

    Another prior p of the positive class only changes a and b, by p / (its share) and (1 - p) / (share of the others).
    The minimum over all cuts is a vertex of the upper convex hull of the points (spent, saved), for every a and b: a
    few hundred vertices stand for a million samples.

    thresholds : (n_vertices,), falling: those of `min_cost_risk`, infinite at the ends; vertices : their cuts; curve :
    at most `n_points` of all cuts; all_positive : the last cut; weight : of all samples.
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
