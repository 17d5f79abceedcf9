"""The cost over a grid of thresholds, and its bootstrap.

    cost(t) = sum over y_i = +1, score_i < t of w_i cost_i  +  sum over y_i = -1, score_i >= t of w_i cost_i,

divided by sum_i w_i. A resample draws as many rows of each class as there are, with replacement. Rows of a
class that fall between the same two thresholds and share cost and weight are exchangeable, so a resample is
one multinomial draw of how often each such group occurs: the work does not grow with the number of rows
unless costs do differ from row to row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from ..metrics import expected_cost_at, min_cost_risk
from .scores import CostedScores

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

# Points of the grid of thresholds, and how far it reaches beyond the scores, as a share of their range.
N_THRESHOLDS, BEYOND = 201, 0.02

# Counts held at a time: 32 MB of them.
CHUNK = 2**22


def chosen_and_costs(
    rows: CostedScores, threshold: float | None, thresholds: ArrayLike | None, normalize: bool
) -> dict[str, Any]:
    """The numbers of a display that need no resampling; None stands for the cheapest threshold and an even grid."""
    chosen = float(min_cost_risk(rows.y, rows.scores, **rows.costs).threshold if threshold is None else threshold)
    grid = _even_grid(rows.scores, chosen) if thresholds is None else _given_grid(thresholds)
    return {
        "thresholds": grid,
        "cost": cost_at(rows, grid, normalize),
        "threshold": chosen,
        "threshold_cost": float(cost_at(rows, chosen, normalize)),
    }


def cost_at(rows: CostedScores, thresholds: ArrayLike, normalize: bool) -> Vector:
    """Cost at each threshold, in the shape of `thresholds`."""
    return expected_cost_at(rows.y, rows.scores, thresholds, **rows.costs, normalize=normalize)


def _even_grid(scores: Vector, chosen: float) -> Vector:
    """Ascending thresholds that reach beyond all scores, the chosen one among them, so that its mark is on the line."""
    low, high = scores.min(), scores.max()
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


def resampled_costs(
    rows: CostedScores, thresholds: ArrayLike, *, n_resamples: int, normalize: bool, random_state: Any
) -> Matrix:
    """Cost at each threshold in each resample, (n_resamples, n_thresholds); thresholds in any order.

    Normalised costs are divided by the cost of being wrong on every row of the resample.
    """
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be positive, or 0 for no band; got n_resamples={n_resamples}.")
    rng = check_random_state(random_state)
    ascending, place = np.unique(thresholds, return_inverse=True)
    cost = np.zeros((n_resamples, len(ascending)))
    total = np.zeros(n_resamples)
    for label in (1, -1):
        own = rows.y == label
        below, whole, weight = _resampled_class(
            rng, ascending, rows.scores[own], rows.cost[own], rows.weights[own], n_resamples
        )
        # Rows below a threshold are missed targets, those from it on false alarms.
        cost += below if label > 0 else whole[:, None] - below
        total += whole if normalize else weight
    return (cost / total[:, None])[:, place]


def _resampled_class(
    rng: np.random.RandomState,
    thresholds: Vector,
    scores: Vector,
    cost: Vector,
    weights: Vector,
    n_resamples: int,
) -> tuple[Matrix, Vector, Vector]:
    """For resamples of one class: cost of the rows below each threshold, cost and weight of all rows."""
    places = np.searchsorted(thresholds, scores, side="right")
    groups, counts = np.unique(np.column_stack([places, cost, weights]), axis=0, return_counts=True)
    place, weight = groups[:, 0], groups[:, 2]
    group_cost = groups[:, 1] * weight
    # Groups are in order of place: those below threshold j are the first ends[j].
    ends = np.searchsorted(place, np.arange(len(thresholds)), side="right")

    below = np.empty((n_resamples, len(thresholds)))
    whole, total_weight = np.empty(n_resamples), np.empty(n_resamples)
    step = max(1, CHUNK // len(counts))
    for start in range(0, n_resamples, step):
        part = slice(start, min(start + step, n_resamples))
        drawn = rng.multinomial(len(scores), counts / len(scores), size=part.stop - start)
        cumulated = np.cumsum(np.pad(drawn * group_cost, ((0, 0), (1, 0))), axis=1)
        below[part] = cumulated[:, ends]
        whole[part] = cumulated[:, -1]
        total_weight[part] = drawn @ weight
    return below, whole, total_weight


def percentile_intervals(grid: Vector, samples: Matrix, confidence: float, *, chosen_here: bool) -> dict[str, Any]:
    """Percentile intervals; the last column of `samples` belongs to the chosen threshold, the others to `grid`."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1; got confidence={confidence!r}. Pass for example 0.95.")
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(samples, ends, axis=0)
    intervals: dict[str, Any] = {
        "confidence": confidence,
        "band": (low[:-1], high[:-1]),
        "cost_interval": (float(low[-1]), float(high[-1])),
    }
    if chosen_here:
        # Of equally cheap thresholds the highest, the rule of min_cost_risk.
        costs = samples[:, -2::-1]
        best = grid[::-1][costs.argmin(axis=1)]
        left, right = np.quantile(best, ends)
        intervals["threshold_interval"] = (float(left), float(right))
    return intervals
