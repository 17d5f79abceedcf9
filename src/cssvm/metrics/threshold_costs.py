"""The cost over a grid of thresholds, how sure it is, and the threshold that was chosen: numbers behind a picture.

    cost(t) = sum over y_i = +1, score_i < t of w_i cost_i  +  sum over y_i = -1, score_i >= t of w_i cost_i,

divided by sum_i w_i. A resample draws as many rows of each class as there are, with replacement. Rows of a class that
fall between the same two thresholds and share cost and weight cannot be told apart, so that they are drawn as a group:
the work does not grow with the number of rows unless costs do differ from row to row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._types import Mask, Vector
from .bootstrap import check_request, generator, percentile_interval, resample_counts
from .held_out import HeldOut
from .operating import BOTH_ERRORS
from .risk import minimum_risk, risk_at
from .scored import ScoredSample

# Points of the grid of thresholds, and how far it reaches beyond the scores, as a share of their range.
N_THRESHOLDS, BEYOND = 201, 0.02

Interval = tuple[float, float]


class ThresholdCosts(NamedTuple):
    """Cost over the threshold.

    thresholds, cost : (n_thresholds,), the grid, ascending, and the cost at each;
    threshold, threshold_cost : the chosen one and its cost;
    normalized : whether costs are divided by that of being wrong on every row;
    band : two (n_thresholds,), limits of the cost in a share `confidence` of the resamples;
    threshold_interval, cost_interval : limits of the best threshold, and of the cost at the chosen one;
    fold_costs : (n_folds, n_thresholds), where `cost` is that of the rows of all folds.
    """

    thresholds: Vector
    cost: Vector
    threshold: float
    threshold_cost: float
    normalized: bool
    band: tuple[Vector, Vector] | None = None
    threshold_interval: Interval | None = None
    cost_interval: Interval | None = None
    confidence: float | None = None
    fold_costs: Vector | None = None


def threshold_costs(
    rows: ScoredSample,
    *,
    threshold: float | None = None,
    thresholds: ArrayLike | None = None,
    normalize: bool = False,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: Any = None,
) -> ThresholdCosts:
    """Cost at each threshold and its bootstrap band; None stands for the cheapest threshold and an even grid."""
    costs = _without_band(rows, threshold, thresholds, normalize)
    if n_resamples == 0:
        return costs
    if n_resamples < 0:
        raise ValueError(f"n_resamples must be positive, or 0 for no band; got n_resamples={n_resamples}.")
    check_request(n_resamples, confidence)
    samples = resampled_costs(
        rows,
        [*costs.thresholds, costs.threshold],
        n_resamples=n_resamples,
        normalize=normalize,
        random_state=random_state,
    )
    return _with_band(costs, samples, confidence, chosen_here=threshold is None)


def fold_threshold_costs(
    held_out: HeldOut,
    *,
    threshold: float | None = None,
    thresholds: ArrayLike | None = None,
    normalize: bool = False,
) -> ThresholdCosts:
    """Cost at each threshold on all held-out rows, and on those of each fold."""
    for fold in held_out.folds:
        fold.sample.check_classes_matter(BOTH_ERRORS)
    costs = _without_band(held_out.pooled, threshold, thresholds, normalize)
    by_fold = [risk_at(fold, costs.thresholds, normalize=normalize) for fold in held_out.folds]
    return costs._replace(fold_costs=np.array(by_fold))


def resampled_costs(
    rows: ScoredSample, thresholds: ArrayLike, *, n_resamples: int, normalize: bool, random_state: Any
) -> Vector:
    """Cost at each threshold in each resample, (n_resamples, n_thresholds); thresholds in any order.

    Normalised costs are divided by the cost of being wrong on every row of the resample.
    """
    rng = generator(random_state)
    ascending, place = np.unique(thresholds, return_inverse=True)
    cost = np.zeros((n_resamples, len(ascending)))
    total = np.zeros(n_resamples)
    for target in (True, False):
        below, whole, weight = _resampled_class(rows, rows.sample.positive == target, ascending, n_resamples, rng)
        # Rows below a threshold are missed targets, those from it on false alarms.
        cost += below if target else whole[:, None] - below
        total += whole if normalize else weight
    return (cost / total[:, None])[:, place]


def _resampled_class(
    rows: ScoredSample, own: Mask, thresholds: Vector, n_resamples: int, rng: np.random.Generator
) -> tuple[Vector, Vector, Vector]:
    """For resamples of one class: cost of the rows below each threshold, cost and weight of all rows."""
    places = np.searchsorted(thresholds, rows.scores[own], side="right")
    columns = np.column_stack([places, rows.sample.cost[own], rows.sample.weights[own]])
    groups, sizes = np.unique(columns, axis=0, return_counts=True)
    place, weight = groups[:, 0], groups[:, 2]
    group_cost = groups[:, 1] * weight
    # Groups are in order of place: those below threshold j are the first ends[j].
    ends = np.searchsorted(place, np.arange(len(thresholds)), side="right")

    below, whole, total_weight = [], [], []
    for counts in resample_counts([np.arange(len(sizes))], n_resamples, rng, stratified=True, sizes=sizes):
        cumulated = np.zeros((len(counts), len(sizes) + 1))
        np.cumsum(counts * group_cost, axis=1, out=cumulated[:, 1:])
        below.append(cumulated[:, ends])
        whole.append(cumulated[:, -1])
        total_weight.append(counts @ weight)
    return np.concatenate(below), np.concatenate(whole), np.concatenate(total_weight)


def _without_band(
    rows: ScoredSample, threshold: float | None, thresholds: ArrayLike | None, normalize: bool
) -> ThresholdCosts:
    """The chosen threshold and the cost at each, without resampling."""
    rows.sample.check_classes_matter(BOTH_ERRORS)
    chosen = float(minimum_risk(rows).threshold if threshold is None else threshold)
    grid = _even_grid(rows, chosen) if thresholds is None else _given_grid(thresholds)
    cost = risk_at(rows, np.append(grid, chosen), normalize=normalize)
    return ThresholdCosts(grid, cost[:-1], chosen, float(cost[-1]), normalize)


def _even_grid(rows: ScoredSample, chosen: float) -> Vector:
    """Ascending thresholds that reach beyond all scores, the chosen one among them, so that its mark is on the line."""
    low, high = float(rows.ranking.lowest[-1]), float(rows.ranking.highest[0])
    beyond = BEYOND * (high - low) or 1.0
    grid = np.linspace(low - beyond, high + beyond, N_THRESHOLDS)
    return np.union1d(grid, chosen) if np.isfinite(chosen) else grid


def _given_grid(thresholds: ArrayLike) -> Vector:
    """The user's thresholds, ascending."""
    grid = np.sort(np.asarray(thresholds, dtype=np.float64))
    if grid.ndim != 1 or grid.size < 2 or not np.isfinite(grid).all():
        raise ValueError(
            f"thresholds must be at least two finite numbers in one dimension; got thresholds={thresholds!r}. "
            "Pass for example numpy.linspace(-1, 1, 101)."
        )
    return grid


def _with_band(costs: ThresholdCosts, samples: Vector, confidence: float, *, chosen_here: bool) -> ThresholdCosts:
    """Percentile intervals; the last column of `samples` belongs to the chosen threshold, the others to the grid."""
    low, high = percentile_interval(samples, confidence)
    interval = None
    if chosen_here:
        # Of equally cheap thresholds the highest, the rule of min_cost_risk.
        best = costs.thresholds[::-1][samples[:, -2::-1].argmin(axis=1)]
        left, right = percentile_interval(best, confidence)
        interval = float(left), float(right)
    return costs._replace(
        confidence=confidence,
        band=(low[:-1], high[:-1]),
        cost_interval=(float(low[-1]), float(high[-1])),
        threshold_interval=interval,
    )
