"""The dual problem in signed variables, and what a solver returns.

With beta_i = y_i a_i the labels leave the problem::

    maximise over beta    p'beta - 1/2 beta'K beta
    subject to            sum(beta) = 0,   lower <= beta <= upper

    p_i = y_i m_i;   [lower_i, upper_i] = [0, c_i] if y_i = +1, [-c_i, 0] if y_i = -1

The gradient is G = p - K beta. beta is optimal if and only if some b has G_i <= b wherever beta_i can increase and
G_i >= b wherever it can decrease; b is then the bias of f = K beta + b, and the slack of sample i is
max(0, y_i (G_i - b)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..._core.types import Mask, Vector
from ..._core.types import Status as Status

BALANCING = 50  # passes that distribute an imbalance over the room left; each removes all of it but rounding
SHOWS = 1e6  # times the excess: a larger variable can take it and stay inside its bounds
BALANCED = 1e-13  # a sum of beta this small, relative to that of |beta|, is zero


class DualProblem(NamedTuple):
    """Linear term and bounds, (n,) float64 each."""

    linear: Vector
    lower: Vector
    upper: Vector

    def scaled(self, C: float) -> DualProblem:
        """The problem with all upper bounds C times as large."""
        return DualProblem(self.linear, C * self.lower, C * self.upper)


class WorkingSet(NamedTuple):
    """What happened to one working set."""

    violation: float  # before this set was solved
    n_active: int
    size: int
    n_entered: int  # members new to it
    n_moved: int
    n_steps: int  # SMO steps
    seconds: float  # since the solve began


@dataclass(frozen=True)
class Solution:
    """Signed variables with their certificate.

    `violation` is max G over variables that may increase minus min G over variables that may decrease; `gap` is
    (primal - dual) / max(|primal|, |dual|) at `bias`, the bias that minimises the primal for these variables.
    `deviation` estimates the error of the gradient by independent code at some samples; `hidden` is what errors of that
    size may hide of the gap, and part of it; `rounding` bounds the rounding error of a gradient in float64.
    """

    beta: Vector
    bias: float
    gradient: Vector
    status: Status
    n_iter: int
    violation: float
    primal_objective: float
    dual_objective: float
    gap: float
    deviation: float = 0.0
    hidden: float = 0.0
    rounding: float = 0.0
    profile: dict[str, float] = field(default_factory=dict)  # seconds in each phase
    trace: list[WorkingSet] = field(default_factory=list)  # of the decomposition

    @property
    def converged(self) -> bool:
        """Whether the violation is within the tolerance."""
        return self.status == Status.CONVERGED


def update_balanced(beta: Vector, lower: Vector, upper: Vector) -> bool:
    """Make variables, or changes of them, sum to zero by moving each in proportion to its room.

    Returns False if there is not enough room. Variables at a bound stay there.
    """
    inside = (beta > lower) & (beta < upper)
    for _ in range(BALANCING):
        excess = beta.sum()
        if abs(excess) <= BALANCED * np.abs(beta).sum():
            _update_last_digits(beta, inside)
            return True
        room = np.where(inside, (lower if excess > 0.0 else upper) - beta, 0.0)
        total = abs(room.sum())
        if total <= 0.0:
            return False
        beta += min(1.0, abs(excess) / total) * room
    return abs(beta.sum()) <= 10.0 * BALANCED * np.abs(beta).sum()


def _update_last_digits(beta: Vector, inside: Mask) -> None:
    """Subtract what is left of the sum, exactly, from the smallest variable that hardly changes by it.

    Otherwise samples of a linear kernel that are far from zero multiply it by the squares of their features.
    """
    excess = math.fsum(beta)
    sizes = np.where(inside & (np.abs(beta) > SHOWS * abs(excess)), np.abs(beta), np.inf)
    smallest = int(np.argmin(sizes))
    if sizes[smallest] < np.inf:
        beta[smallest] -= excess


def feasible(start: ArrayLike, problem: DualProblem) -> Vector:
    """`start` clipped to the bounds, then the sign with the larger sum scaled down until the sum is zero."""
    beta = np.clip(np.asarray(start, dtype=np.float64), problem.lower, problem.upper)
    up, down = beta[beta > 0].sum(), -beta[beta < 0].sum()
    if abs(up - down) <= BALANCED * (up + down):
        return beta  # scaling would take variables off their bounds for the sake of rounding errors
    if up > down:
        beta[beta > 0] *= down / up
    elif down > up:
        beta[beta < 0] *= up / down
    return beta
