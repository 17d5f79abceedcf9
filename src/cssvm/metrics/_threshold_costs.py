"""The cost over a grid of thresholds, how sure it is, and the threshold that was chosen: numbers behind a picture.

    cost(t) = sum over y_i = +1, score_i < t of w_i cost_i  +  sum over y_i = -1, score_i >= t of w_i cost_i,

divided by sum_i w_i. Resamples are drawn as by `bootstrap_interval`: as many rows as there are, with replacement, from
all of them. Rows of a class that fall between the same two thresholds and share cost and weight cannot be told apart,
so that they are drawn as a group: the work does not grow with the number of rows unless costs differ from row to row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._core.types import Vector
from ._bootstrap import check_request, generator, percentile_interval, resample_counts
from ._held_out import HeldOut
from ._operating import BOTH_ERRORS
from ._risk import minimum_risk, risk_at
from ._scored import ScoredSamples

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
    rows: ScoredSamples,
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
        fold.samples.check_both_classes_weighted(BOTH_ERRORS)
    costs = _without_band(held_out.pooled, threshold, thresholds, normalize)
    by_fold = [risk_at(fold, costs.thresholds, normalize=normalize) for fold in held_out.folds]
    return costs._replace(fold_costs=np.array(by_fold))


def resampled_costs(
    rows: ScoredSamples, thresholds: ArrayLike, *, n_resamples: int, normalize: bool, random_state: Any
) -> Vector:
    """Cost at each threshold in each resample, (n_resamples, n_thresholds); thresholds in any order.

    Normalised costs are divided by the cost of being wrong on every row of the resample.
    """
    ascending, place = np.unique(thresholds, return_inverse=True)
    sample, cell = rows.samples, np.searchsorted(ascending, rows.scores, side="right")
    alike = np.column_stack([sample.positive, cell, sample.cost, sample.weights])
    groups, sizes = np.unique(alike, axis=0, return_counts=True)
    weight, weighted_cost = groups[:, 3], groups[:, 2] * groups[:, 3]
    negative, positive = classes = [np.flatnonzero(groups[:, 0] == label) for label in (0, 1)]

    samples = []
    for counts in resample_counts(classes, n_resamples, generator(random_state), stratified=False, sizes=sizes):
        costs = counts * weighted_cost
        missed = _sums_below(costs[:, positive], groups[positive, 1], len(ascending))
        spared = _sums_below(costs[:, negative], groups[negative, 1], len(ascending))
        total = costs.sum(axis=1) if normalize else counts @ weight
        samples.append((missed + costs[:, negative].sum(axis=1)[:, None] - spared) / total[:, None])
    return np.concatenate(samples)[:, place]


def _sums_below(costs: Vector, cells: Vector, n_thresholds: int) -> Vector:
    """Sums of costs (n, n_groups) below each threshold, (n, n_thresholds); groups ascend by cell, the j-th below j."""
    cumulated = np.zeros((costs.shape[0], costs.shape[1] + 1))
    np.cumsum(costs, axis=1, out=cumulated[:, 1:])
    return cumulated[:, np.searchsorted(cells, np.arange(n_thresholds), side="right")]


def _without_band(
    rows: ScoredSamples, threshold: float | None, thresholds: ArrayLike | None, normalize: bool
) -> ThresholdCosts:
    """The chosen threshold and the cost at each, without resampling."""
    rows.samples.check_both_classes_weighted(BOTH_ERRORS)
    chosen = float(minimum_risk(rows).threshold if threshold is None else threshold)
    grid = _even_grid(rows, chosen) if thresholds is None else _given_grid(thresholds)
    cost = risk_at(rows, np.append(grid, chosen), normalize=normalize)
    return ThresholdCosts(grid, cost[:-1], chosen, float(cost[-1]), normalize)


def _even_grid(rows: ScoredSamples, chosen: float) -> Vector:
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
