"""The dual problem in signed variables, and what a solver returns.

With beta_i = y_i a_i the labels leave the problem::

    maximise over beta    p'beta - 1/2 beta'K beta
    subject to            sum(beta) = 0,   lower <= beta <= upper

    p_i = y_i m_i;   [lower_i, upper_i] = [0, c_i] if y_i = +1, [-c_i, 0] if y_i = -1

The gradient is G = p - K beta. beta is optimal if and only if some b has G_i <= b wherever beta_i may grow and G_i >= b
wherever it may shrink; b is then the bias of f = K beta + b, and the slack of example i is max(0, y_i (G_i - b)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..._core.types import Mask, RowNumbers, Vector
from ..._core.types import Status as Status

BALANCING = 50  # passes that share out an imbalance over the room left; each takes all of it but for rounding
SHOWS = 1e6  # times the excess: a variable larger than that may take it and stay inside its bounds
BALANCED = 1e-13  # a sum of beta this small, relative to that of |beta|, is zero


class DualProblem(NamedTuple):
    """Linear term and bounds, (n,) float64 each."""

    linear: Vector
    lower: Vector
    upper: Vector

    def scaled(self, C: float) -> DualProblem:
        """The problem with all upper bounds C times as large."""
        return DualProblem(self.linear, C * self.lower, C * self.upper)


class KernelRows(Protocol):
    """What the streaming solver asks of a kernel of n rows: see `cssvm._kernels.gram`.

    `diagonal` is (n,) float64, `dtype` the type of kernel values, `budget` the bytes that working sets may take.
    `computes_columns` says that fewer columns cost less in proportion; of stored rows all are read faster than some.
    `rank` is one that K does not exceed, as far as is known without looking at it; `errors` (n,) float64 are what
    cancelling distances leave in kernel values of rows close to each other.
    """

    n: int
    rank: int
    errors: Vector
    dtype: np.dtype
    diagonal: Vector
    budget: int
    computes_columns: bool

    def update_block(self, out: np.ndarray, left: RowNumbers, right: RowNumbers) -> None:
        """Write K[left][:, right] into the corner of `out`, which may be larger."""

    def update_gradient(
        self, gradient: Vector, indices: RowNumbers, change: Vector, columns: RowNumbers | None = None
    ) -> None:
        """Take change @ K[indices][:, columns] from `gradient`; None means all columns."""

    def reference_values(self, left: RowNumbers, right: RowNumbers) -> np.ndarray:
        """K[left][:, right] in float64, by other code than the two above."""

    def to_float64(self) -> KernelRows:
        """The same kernel in float64."""


class WorkingSet(NamedTuple):
    """What became of one working set."""

    violation: float  # before this set was solved
    n_active: int
    size: int
    n_entered: int  # members new to it
    n_moved: int
    n_steps: int  # pair steps
    seconds: float  # since the solve began


@dataclass(frozen=True)
class Solution:
    """Signed variables with their certificate.

    `violation` is max G over variables that may grow minus min G over variables that may shrink; `gap` is
    (primal - dual) / max(|primal|, |dual|) at `bias`, the bias that minimises the primal for these variables.
    `deviation` is how far the gradient is from one computed by other code, going by a sample of the rows, and `hidden`
    what such errors may hide of the gap; it is part of it.
    `rounding` is an error of the gradient that no arithmetic in float64 can rule out.
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
        """Whether the violation is within the tolerance asked for."""
        return self.status == Status.CONVERGED


def update_balanced(beta: Vector, lower: Vector, upper: Vector) -> bool:
    """Make variables, or changes of them, sum to zero by taking from each in proportion to its room.

    False if there is not enough. What is at a bound stays there.
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
    """Take what is left of the sum, exactly, from the smallest variable inside its bounds that does not show it.

    Rows of a linear kernel that are far from zero multiply it by the squares of their features.
    """
    excess = math.fsum(beta)
    sizes = np.where(inside & (np.abs(beta) > SHOWS * abs(excess)), np.abs(beta), np.inf)
    smallest = int(np.argmin(sizes))
    if sizes[smallest] < np.inf:
        beta[smallest] -= excess


def feasible(start: ArrayLike, problem: DualProblem) -> Vector:
    """`start` put into the bounds, then the side with the larger sum scaled down until the sum is zero."""
    beta = np.clip(np.asarray(start, dtype=np.float64), problem.lower, problem.upper)
    up, down = beta[beta > 0].sum(), -beta[beta < 0].sum()
    if abs(up - down) <= BALANCED * (up + down):
        return beta  # scaling would take variables off their bounds for the sake of rounding errors
    if up > down:
        beta[beta > 0] *= down / up
    elif down > up:
        beta[beta < 0] *= up / down
    return beta
