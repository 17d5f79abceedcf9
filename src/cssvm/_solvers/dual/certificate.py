"""Optimality and the certificate of a feasible beta with gradient G = p - K beta.

A variable can increase if beta_i < upper_i and can decrease if beta_i > lower_i; it is free if it can do both.

    bottom      = min G_i over the variables that can decrease
    top         = max G_i over the variables that can increase
    violation   = max(0, top - bottom)        beta is optimal if and only if it is 0; any b between is then a bias
    level       = mean G_i over the free variables; (bottom + top) / 2 if there are none
    distance_i  = the smaller of bottom - G_i if i can increase and G_i - top if i can decrease

Variable i can be part of an SMO step that ascends if and only if distance_i < 0; one that is far from it can be shrunk,
that is, gets no updates for a while.

    dual(beta)      = p'beta - 1/2 beta'K beta              = 1/2 beta'(p + G)
    primal(beta, b) = 1/2 beta'K beta + loss(b)             = 1/2 beta'(p - G) + loss(b)
    loss(b)         = sum_i upper_i (G_i - b)_+ - lower_i (b - G_i)_+

The loss is the weighted hinge loss: c_i max(0, m_i - f_i) for y_i = +1 and c_i max(0, m_i + f_i) for y_i = -1.

All arrays are (n,) float64. An infinite bound of the interval (bottom, top) means that no variable can move that way,
so the compiler is not allowed to assume that numbers are finite.
"""

from __future__ import annotations

import numpy as np

from ..._core.types import Mask, RowNumbers, Vector
from ..._kernels import GramRows
from ..._runtime.compiler import njit
from ..objectives import least_hinge_loss, relative_gap
from . import tuning
from .problem import DualProblem, Solution, Status, WorkingSet

SAMPLE = 16  # samples of either kind whose gradient is computed again
NEAR = 1e-6  # of the margins, from the bias: where an error that matters can move a sample to its wrong side
WRONG = 0.1  # of the margins: a deviation of the gradient that leaves no sample certain
OTHERS = 2.0  # times the largest deviation found: what other samples may have
SHORTEST = 1e-8  # |k(x, .)| relative to the longest: a kernel with zeros on its diagonal has other values in those rows
REFERENCE_COLUMNS = 1 << 15  # kernel values of each of them at a time


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


def can_be_shrunk(beta: Vector, gradient: Vector, lower: Vector, upper: Vector, bottom: float, top: float) -> Mask:
    """Whether each variable is so far from being selected that it can be shrunk, (n,)."""
    return distances(beta, gradient, lower, upper, bottom, top) > tuning.SHRINKING_DEPTH * (top - bottom)


def max_active(n: int) -> int:
    """How many of n variables can stay active for shrinking the others to be worth its bookkeeping."""
    return int(tuning.ACTIVE_SHARE * n)


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
    is added to the gap, but not to the objectives: the gap is then an estimate, and a bound only for values in float64.
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

    An error e at a free variable adds (upper - beta) e or (beta - lower) (-e), at most the upper bound times
    |e|, and all of it where errors agree in sign, as those of repeated samples do. At a bound it adds as much only
    if it is larger than the distance to the bias. So half of the samples are drawn among those where errors count, in
    proportion to their upper bounds and to |k(x, .)|, with which errors grow. Distances that cancel may leave errors in
    a few kernel values only, which none of them shows.
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
