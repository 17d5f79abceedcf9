"""The minimum of a piecewise linear function, which is where the bias of a hinge loss lies.

sum_i upper_i max(0, k_i - b) - lower_i max(0, b - k_i),    lower <= 0 <= upper
"""

from __future__ import annotations

import numpy as np

from .._core.types import Vector

FLAT = 1e-12  # a slope below this share of all upper bounds is zero: sums of costs carry rounding errors


def optimal_intercept(kinks: Vector, lower: Vector, upper: Vector) -> float:
    """The b at which the function is least, (n,) float64 each.

    Its slope is sum(-lower_i, k_i < b) - sum(upper_i, k_i > b). Where it is zero between two kinks the middle is taken.
    """
    order = np.argsort(kinks)  # in which order equal kinks come makes no difference
    kinks, total, below = kinks[order], np.cumsum(upper[order]), np.cumsum(-lower[order])
    right = below - (total[-1] - total)  # slope just right of each kink, ascending
    flat = FLAT * (total[-1] + below[-1])
    last = len(kinks) - 1
    first = min(last, int(np.searchsorted(right, -flat)))  # before it the function falls
    if right[first] > flat:
        return float(kinks[first])
    last = min(last, int(np.searchsorted(right, flat, side="right")))  # from it on the function rises
    return float(0.5 * (kinks[first] + kinks[last]))
