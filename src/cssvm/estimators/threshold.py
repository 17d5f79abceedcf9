"""The threshold that minimises the empirical cost of the decisions "target if score > threshold".

    risk(t) = sum over y_i = +1, score_i <= t of cost_i  +  sum over y_i = -1, score_i > t of cost_i

is constant between neighbouring scores, so looking at one cut in each gap, and one beyond either end, finds
the exact minimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import Vector

# Scores this close, relative to the largest, are one: free support vectors all sit at +-1 up to rounding.
SCORE_TIE = 1e-6

# Risks this close, relative to the whole cost, are equal: a weight and repeated rows round differently.
RISK_TIE = 1e-12

# Distance of the outermost cuts from the extreme scores: one margin.
BEYOND = 1.0


def minimum_risk_threshold(scores: Vector, y: NDArray[Any], cost: Vector) -> float:
    """The cut with the smallest risk; among equals the nearest to zero, then the lower one (fewer misses).

    scores, cost : (n_samples,) float64; y : (n_samples,) in {-1, +1}. Rows with zero cost do not count.
    """
    counted = cost > 0
    order = np.argsort(scores[counted], kind="stable")
    scores, y, cost = scores[counted][order], y[counted][order], cost[counted][order]

    tie = SCORE_TIE * np.abs(scores).max()
    ends = np.flatnonzero(np.diff(scores) > tie)
    inner = (scores[ends] + scores[ends + 1]) / 2
    cuts = np.concatenate([[scores[0] - BEYOND], inner, [scores[-1] + BEYOND]])

    missed = np.concatenate([[0.0], np.cumsum(np.where(y > 0, cost, 0.0))])
    alarms = np.concatenate([[0.0], np.cumsum(np.where(y > 0, 0.0, cost))])
    below = np.concatenate([[0], ends + 1, [len(scores)]])
    risk = missed[below] + alarms[-1] - alarms[below]

    best = cuts[risk <= risk.min() + RISK_TIE * cost.sum()]
    distance = np.abs(best)
    return float(best[distance <= distance.min() + tie][0])
