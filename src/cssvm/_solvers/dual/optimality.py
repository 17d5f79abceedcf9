"""Optimality of a feasible beta: the bias interval, the violation, the level, and which variables may sleep.

A variable may grow if beta_i < upper_i and may shrink if beta_i > lower_i; it is free if it may do both.
With G = p - K beta,

    bottom      = min G_i over the variables that may shrink
    top         = max G_i over the variables that may grow
    violation   = max(0, top - bottom)        beta is optimal if and only if it is 0; any b between is then a bias
    level       = mean G_i over the free variables; (bottom + top) / 2 if there are none
    distance_i  = the smaller of bottom - G_i if i may grow and G_i - top if i may shrink

Variable i can be part of a pair step that ascends if and only if distance_i < 0. One that is far from it may sleep,
which means that it gets no updates for a while.

All arrays are (n,) float64. An infinite bound of the interval means that no variable may move that way, so
the compiler is not allowed to assume that numbers are finite.
"""

from __future__ import annotations

import numpy as np

from ..._core.types import Mask, Vector
from ..._runtime.compiler import njit
from . import tuning
from .problem import DualProblem


@njit(fastmath=False)
def bias_interval(beta, gradient, lower, upper):  # type: ignore[no-untyped-def]
    """(bottom, top): least gradient of the variables that may shrink, largest of those that may grow."""
    bottom, top = np.inf, -np.inf
    for t in range(beta.shape[0]):
        if beta[t] < upper[t] and gradient[t] > top:
            top = gradient[t]
        if beta[t] > lower[t] and gradient[t] < bottom:
            bottom = gradient[t]
    return bottom, top


def level(beta: Vector, gradient: Vector, lower: Vector, upper: Vector) -> float:
    """Mean gradient of the free variables; without any, the middle of the bias interval, 0 if that is infinite."""
    free = gradient[(beta > lower) & (beta < upper)]
    if len(free):
        return float(free.mean())
    bottom, top = bias_interval(beta, gradient, lower, upper)
    return 0.5 * (bottom + top) if bottom < np.inf and top > -np.inf else 0.0


@njit(fastmath=False)
def distances(beta, gradient, lower, upper, bottom, top):  # type: ignore[no-untyped-def]
    """How far each variable is from being picked for a step, (n,); infinite for one that cannot move."""
    out = np.empty(beta.shape[0])
    for t in range(beta.shape[0]):
        growing = bottom - gradient[t] if beta[t] < upper[t] else np.inf
        shrinking = gradient[t] - top if beta[t] > lower[t] else np.inf
        out[t] = min(growing, shrinking)
    return out


def is_free(beta: Vector, problem: DualProblem) -> Mask:
    """Whether each variable is strictly inside its bounds, (n,)."""
    return (beta > problem.lower) & (beta < problem.upper)


def violation(beta: Vector, gradient: Vector, problem: DualProblem) -> float:
    """Largest violation of optimality, 0 at best: no pair of variables can be moved."""
    bottom, top = bias_interval(beta, gradient, problem.lower, problem.upper)
    return max(0.0, top - bottom)


def may_shrink(beta: Vector, gradient: Vector, lower: Vector, upper: Vector, bottom: float, top: float) -> Mask:
    """Whether each variable is so far from being picked that it can do without updates for a while, (n,)."""
    return distances(beta, gradient, lower, upper, bottom, top) > tuning.SLEEP_DEPTH_VIOLATIONS * (top - bottom)


def max_active(n: int) -> int:
    """How many of n variables may stay awake for the sleep of the others to be worth its bookkeeping."""
    return int(tuning.AWAKE_SHARE * n)
