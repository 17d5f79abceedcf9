"""The dual problem in signed variables, its optimality, and the certificate of a feasible solution.

With beta_i = y_i a_i the labels leave the problem::

    maximise over beta    p'beta - 1/2 beta'K beta
    subject to            sum(beta) = 0,   lower <= beta <= upper

    p_i = y_i m_i;   [lower_i, upper_i] = [0, c_i] if y_i = +1, [-c_i, 0] if y_i = -1

With the gradient G = p - K beta, of variables that can increase (beta_i < upper_i) or decrease (beta_i > lower_i)::

    bottom      = min G_i over the variables that can decrease
    top         = max G_i over the variables that can increase
    violation   = max(0, top - bottom)        beta is optimal if and only if it is 0; any b between is then a bias
    level       = mean G_i over the free variables, which can do both; (bottom + top) / 2 if there are none
    distance_i  = the smaller of bottom - G_i if i can increase and G_i - top if i can decrease

Variable i can be part of an SMO step that ascends if and only if distance_i < 0; one far from that can be shrunk::

    dual(beta)      = p'beta - 1/2 beta'K beta              = 1/2 beta'(p + G)
    primal(beta, b) = 1/2 beta'K beta + loss(b)             = 1/2 beta'(p - G) + loss(b)
    loss(b)         = sum_i upper_i (G_i - b)_+ - lower_i (b - G_i)_+

The loss is the weighted hinge loss: c_i max(0, m_i - f_i) for y_i = +1 and c_i max(0, m_i + f_i) for y_i = -1.

All arrays are (n,) float64. An infinite bound of the interval (bottom, top) means that no variable can move that way,
so the compiler is not allowed to assume that numbers are finite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._core.types import Mask, RowNumbers, Status, Vector
from .._kernels import GramRows
from .._runtime.compiler import njit

BALANCING = 50  # passes that distribute an imbalance over the room left; each removes all of it but rounding
SHOWS = 1e6  # times the excess: a larger variable can take it and stay inside its bounds
BALANCED = 1e-13  # a sum of beta this small, relative to that of |beta|, is zero
FLAT = 1e-12  # a slope below this share of all upper bounds is zero: sums of costs carry rounding errors
SAMPLE = 16  # samples of either kind whose gradient is computed again
NEAR = 1e-6  # of the margins, from the bias: where an error that matters can move a sample to its wrong side
WRONG = 0.1  # of the margins: a deviation of the gradient that leaves no sample certain
OTHERS = 2.0  # times the largest deviation found: what other samples may have
SHORTEST = 1e-8  # |k(x, .)| relative to the longest: a kernel with zeros on its diagonal has other values in those rows
REFERENCE_COLUMNS = 1 << 15  # kernel values of each of them at a time


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
    """Signed variables with their certificate; `bias` minimises the primal for them."""

    beta: Vector
    bias: float
    gradient: Vector
    status: Status
    n_iter: int
    violation: float
    primal_objective: float
    dual_objective: float
    gap: float
    deviation: float = 0.0  # estimated error of the gradient, by independent code at some samples
    hidden: float = 0.0  # what errors of that size may hide of the gap, and part of it
    rounding: float = 0.0  # bound of the rounding error of a gradient in float64
    profile: dict[str, float] = field(default_factory=dict)  # seconds in each phase
    trace: list[WorkingSet] = field(default_factory=list)  # of the decomposition

    @property
    def converged(self) -> bool:
        """Whether the violation is within the tolerance."""
        return self.status == Status.CONVERGED


def update_balanced(beta: Vector, lower: Vector, upper: Vector) -> bool:
    """Make variables between their bounds sum to zero, each moved in proportion to its room; False without enough."""
    inside = (beta > lower) & (beta < upper)
    for _ in range(BALANCING):
        excess = beta.sum()
        if abs(excess) <= BALANCED * np.abs(beta).sum():
            # What is left, exactly, goes to the smallest variable that hardly changes by it. Otherwise samples of a
            # linear kernel that are far from zero multiply it by the squares of their features.
            excess = math.fsum(beta)
            sizes = np.where(inside & (np.abs(beta) > SHOWS * abs(excess)), np.abs(beta), np.inf)
            smallest = int(np.argmin(sizes))
            if sizes[smallest] < np.inf:
                beta[smallest] -= excess
            return True
        room = np.where(inside, (lower if excess > 0.0 else upper) - beta, 0.0)
        total = abs(room.sum())
        if total <= 0.0:
            return False
        beta += min(1.0, abs(excess) / total) * room
    return abs(beta.sum()) <= 10.0 * BALANCED * np.abs(beta).sum()


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


def optimal_intercept(kinks: Vector, lower: Vector, upper: Vector) -> float:
    """The b of least loss sum_i upper_i max(0, k_i - b) - lower_i max(0, b - k_i), lower <= 0 <= upper, (n,) float64.

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


@njit(fastmath=False)
def bias_interval(beta, gradient, lower, upper):  # type: ignore[no-untyped-def]
    """(bottom, top): least gradient of the variables that can decrease, largest of those that can increase."""
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
    """The distance_i of the variables, (n,); infinite for one that cannot move."""
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
    """Largest violation of optimality; at 0 no pair of variables can be moved."""
    bottom, top = bias_interval(beta, gradient, problem.lower, problem.upper)
    return max(0.0, top - bottom)


def certified(
    beta: Vector,
    gradient: Vector,
    problem: DualProblem,
    *,
    status: Status,
    n_iter: int,
    profile: dict[str, float],
    trace: list[WorkingSet] | None = None,
    rows: GramRows | None = None,
) -> Solution:
    """The `Solution` of a solver that ended with this beta and gradient, (n,) float64 each, which are not copied.

    With `rows` the gradient at some samples is computed again by reference code, and what errors of that size may hide
    is added to the gap, but not to the objectives: the gap is then an estimate, a bound only for values in float64.
    """
    bias, loss = least_hinge_loss(gradient, problem.lower, problem.upper)
    primal = float(0.5 * beta @ (problem.linear - gradient) + loss)
    dual = float(0.5 * beta @ (problem.linear + gradient))
    deviation, missed = (0.0, 0.0) if rows is None else _estimated_errors(rows, beta, gradient, bias, problem)
    return Solution(
        beta=beta,
        bias=bias,
        gradient=gradient,
        status=status,
        n_iter=n_iter,
        violation=violation(beta, gradient, problem),
        primal_objective=primal,
        dual_objective=dual,
        gap=relative_gap(primal + missed, dual),
        hidden=relative_gap(primal + missed, dual) - relative_gap(primal, dual),
        deviation=deviation,
        profile=profile,
        trace=[] if trace is None else trace,
    )


def _estimated_errors(
    rows: GramRows, beta: Vector, gradient: Vector, bias: float, problem: DualProblem
) -> tuple[float, float]:
    """Estimates of the largest error of the gradient, and of what such errors add to primal minus dual.

    An error e at a free variable adds at most its upper bound times |e|, at a bound only if it is larger than the
    distance to the bias. So half of the samples are drawn among those where errors count, in proportion to their upper
    bounds and to |k(x, .)|, with which errors grow. Distances that cancel may leave errors that none of them shows.
    """
    n, upper_bounds = len(beta), problem.upper - problem.lower
    margin, distance = float(np.abs(problem.linear).max()), np.abs(gradient - bias)
    counts = is_free(beta, problem) | (distance <= NEAR * margin)
    lengths = np.sqrt(np.abs(rows.diagonal))
    lengths = np.maximum(lengths, SHORTEST * float(lengths.max()) or 1.0)
    weights = np.cumsum(np.where(counts, upper_bounds, 0.0) * lengths)
    total = float(weights[-1])
    random = np.random.default_rng(n)
    some = random.integers(0, n, SAMPLE)
    if total > 0.0:
        drawn = np.searchsorted(weights, total * random.random(SAMPLE), side="right")
        some = np.concatenate([np.minimum(drawn, n - 1), some])  # a product may be rounded up to the total
    found = _deviations(rows, some, beta, gradient, problem)
    alone = float((rows.errors * np.abs(beta)).max())  # what cancelling distances do to a sample with few similar ones
    deviation = max(alone, OTHERS * float(found.max()))
    shares = found / lengths[some]
    error = float(np.sqrt(np.mean((shares[:SAMPLE] if total > 0.0 else shares) ** 2)))
    if deviation > WRONG * margin:  # any sample that far may be on its wrong side
        total = max(total, float((upper_bounds * lengths)[distance <= deviation].sum()))
    if rows.dtype == np.float64:  # small enough for a bound
        error += float(rows.errors.max() * np.abs(beta).sum())
    return deviation, total * error


def _deviations(rows: GramRows, some: RowNumbers, beta: Vector, gradient: Vector, problem: DualProblem) -> Vector:
    """How far the gradient of some samples is from its reference values."""
    used = np.flatnonzero(beta)
    found = problem.linear[some].astype(np.longdouble)  # the sums of BLAS may agree to the last, wrong digit
    for i in range(0, len(used), REFERENCE_COLUMNS):
        part = used[i : i + REFERENCE_COLUMNS]
        found -= rows.reference_values(some, part) @ beta[part].astype(np.longdouble)
    return np.abs(found - gradient[some]).astype(np.float64)
