"""Objectives that the solvers share: the best intercept of a weighted hinge loss, and the relative duality gap.

    loss(b) = sum_i upper_i max(0, k_i - b) - lower_i max(0, b - k_i),    lower <= 0 <= upper

is piecewise linear in b, with a kink at every k_i.
"""

from __future__ import annotations

import numpy as np

from .._core.types import Vector

FLAT = 1e-12  # a slope below this share of all upper bounds is zero: sums of costs carry rounding errors


def optimal_intercept(kinks: Vector, lower: Vector, upper: Vector) -> float:
    """The b at which the loss is least; the arguments are (n,) float64.

    Its slope is sum(-lower_i, k_i < b) - sum(upper_i, k_i > b). Where it is zero between two kinks the middle is taken.
    """
    order = np.argsort(kinks)  # the order of equal kinks makes no difference
    kinks, total, below = kinks[order], np.cumsum(upper[order]), np.cumsum(-lower[order])
    right = below - (total[-1] - total)  # slope just right of each kink, ascending
    flat = FLAT * (total[-1] + below[-1])
    last = len(kinks) - 1
    first = min(last, int(np.searchsorted(right, -flat)))  # before it the function falls
    if right[first] > flat:
        return float(kinks[first])
    last = min(last, int(np.searchsorted(right, flat, side="right")))  # from it on the function rises
    return float(0.5 * (kinks[first] + kinks[last]))


def least_hinge_loss(kinks: Vector, lower: Vector, upper: Vector) -> tuple[float, float]:
    """The optimal intercept, and the loss there."""
    intercept = optimal_intercept(kinks, lower, upper)
    above = kinks - intercept
    positive = np.maximum(above, 0.0)
    return intercept, float((upper * positive - lower * (positive - above)).sum())


def relative_gap(primal: float, dual: float) -> float:
    """(primal - dual) / max(|primal|, |dual|), at least 0: rounding errors can change the sign of the difference."""
    return max(0.0, primal - dual) / max(abs(primal), abs(dual), np.finfo(float).tiny)
