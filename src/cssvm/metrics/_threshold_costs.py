"""The cost over a grid of thresholds, its bootstrap intervals, and the threshold that is chosen.

    cost(t) = sum over y_i = +1, score_i < t of w_i cost_i  +  sum over y_i = -1, score_i >= t of w_i cost_i,

divided by sum_i w_i. Resamples are drawn as by `bootstrap_interval`. Samples of a class that fall between the same two
thresholds and share cost and weight are drawn as a group.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._core.types import Vector
from ._bootstrap import check_request, generator, percentile_interval, resample_counts
from ._risk import minimum_risk, risk_at
from ._scored import ScoredSamples

# Points of the grid of thresholds, and how far it reaches beyond the scores, as a share of their range.
N_THRESHOLDS, BEYOND = 201, 0.02

BOTH_ERRORS = "a display of both kinds of errors"


class ThresholdCosts(NamedTuple):
    """Cost over the threshold.

    thresholds, cost : (n_thresholds,), the ascending grid and the cost at each; threshold, threshold_cost : the chosen
    one; band : limits of the cost; threshold_interval, cost_interval : limits of the best threshold, and of the cost at
    the chosen one.
    """

    thresholds: Vector
    cost: Vector
    threshold: float
    threshold_cost: float
    normalized: bool
    band: tuple[Vector, Vector] | None = None
    threshold_interval: tuple[float, float] | None = None
    cost_interval: tuple[float, float] | None = None
    confidence: float | None = None


def threshold_costs(
    scored: ScoredSamples,
    *,
    threshold: float | None = None,
    thresholds: ArrayLike | None = None,
    normalize: bool = False,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: Any = None,
) -> ThresholdCosts:
    """Cost at each threshold and its bootstrap band; if None, the threshold of least cost and an even grid."""
    scored.samples.check_both_classes_weighted(BOTH_ERRORS)
    chosen = float(minimum_risk(scored).threshold if threshold is None else threshold)
    grid = _even_grid(scored, chosen) if thresholds is None else _given_grid(thresholds)
    cost = risk_at(scored, np.append(grid, chosen), normalize=normalize)
    costs = ThresholdCosts(grid, cost[:-1], chosen, float(cost[-1]), normalize)
    if n_resamples == 0:
        return costs
    if n_resamples < 0:
        raise ValueError(f"n_resamples must be positive, or 0 for no band; got n_resamples={n_resamples}.")
    check_request(n_resamples, confidence)
    options = {"n_resamples": n_resamples, "normalize": normalize, "random_state": random_state}
    resampled = resampled_costs(scored, [*costs.thresholds, costs.threshold], **options)
    low, high = percentile_interval(resampled, confidence)
    interval = None
    if threshold is None:
        # Of equally cheap thresholds the highest, the rule of min_cost_risk.
        best = costs.thresholds[::-1][resampled[:, -2::-1].argmin(axis=1)]
        left, right = percentile_interval(best, confidence)
        interval = float(left), float(right)
    return costs._replace(
        confidence=confidence,
        band=(low[:-1], high[:-1]),
        cost_interval=(float(low[-1]), float(high[-1])),
        threshold_interval=interval,
    )


def resampled_costs(
    scored: ScoredSamples, thresholds: ArrayLike, *, n_resamples: int, normalize: bool, random_state: Any
) -> Vector:
    """Cost at each threshold in each resample, (n_resamples, n_thresholds); thresholds in any order.

    Normalised costs are divided by the cost of being wrong on every sample of the resample.
    """
    ascending, place = np.unique(thresholds, return_inverse=True)
    samples, cell = scored.samples, np.searchsorted(ascending, scored.scores, side="right")
    alike = np.column_stack([samples.positive, cell, samples.cost, samples.weights])
    groups, sizes = np.unique(alike, axis=0, return_counts=True)
    weight, weighted_cost = groups[:, 3], groups[:, 2] * groups[:, 3]
    negative, positive = classes = [np.flatnonzero(groups[:, 0] == label) for label in (0, 1)]

    resampled = []
    for counts in resample_counts(classes, n_resamples, generator(random_state), stratified=False, sizes=sizes):
        costs = counts * weighted_cost
        false_negatives = _sums_below(costs[:, positive], groups[positive, 1], len(ascending))
        true_negatives = _sums_below(costs[:, negative], groups[negative, 1], len(ascending))
        total = costs.sum(axis=1) if normalize else counts @ weight
        false_positives = costs[:, negative].sum(axis=1)[:, None] - true_negatives
        resampled.append((false_negatives + false_positives) / total[:, None])
    return np.concatenate(resampled)[:, place]


def _sums_below(costs: Vector, cells: Vector, n_thresholds: int) -> Vector:
    """Sums of costs (n, n_groups) below each threshold, (n, n_thresholds); groups ascend by cell, the j-th below j."""
    cumulated = np.zeros((costs.shape[0], costs.shape[1] + 1))
    np.cumsum(costs, axis=1, out=cumulated[:, 1:])
    return cumulated[:, np.searchsorted(cells, np.arange(n_thresholds), side="right")]


def _even_grid(scored: ScoredSamples, chosen: float) -> Vector:
    """Ascending thresholds that reach beyond all scores, the chosen one among them."""
    low, high = float(scored.ranking.lowest[-1]), float(scored.ranking.highest[0])
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
