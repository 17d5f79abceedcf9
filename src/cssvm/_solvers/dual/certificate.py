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


The certificate: bias, violation, primal and dual objective of a feasible beta with gradient G = p - K beta.

    dual(beta)      = p'beta - 1/2 beta'K beta              = 1/2 beta'(p + G)
    primal(beta, b) = 1/2 beta'K beta + loss(b)             = 1/2 beta'(p - G) + loss(b)
    loss(b)         = sum_i upper_i (G_i - b)_+ - lower_i (b - G_i)_+

The loss is the weighted hinge loss: c_i max(0, m_i - f_i) for y_i = +1 and c_i max(0, m_i + f_i) for y_i = -1.
"""

from __future__ import annotations

import numpy as np

from ..._core.types import Mask, RowNumbers, Vector
from ..._runtime.compiler import njit
from ..objectives import optimal_intercept
from . import tuning
from .problem import DualProblem, KernelRows, Solution, Status, WorkingSet


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
    return distances(beta, gradient, lower, upper, bottom, top) > tuning.SHRINKING_DEPTH * (top - bottom)


def max_active(n: int) -> int:
    """How many of n variables may stay awake for the sleep of the others to be worth its bookkeeping."""
    return int(tuning.ACTIVE_SHARE * n)


SAMPLE = 16  # rows of either kind whose gradient is computed again
NEAR = 1e-6  # of the margins, from the bias: where an error that matters can turn a row to its wrong side
WRONG = 0.1  # of the margins: a deviation of the gradient that leaves no row certain
OTHERS = 2.0  # times the largest deviation of a sample: what other rows may have
SHORTEST = 1e-8  # |k(x, .)| relative to the longest: a kernel with zeros on its diagonal has others in those rows
REFERENCE_COLUMNS = 1 << 15  # kernel values of each of them at a time


def certified(
    beta: Vector,
    gradient: Vector,
    problem: DualProblem,
    *,
    status: Status,
    n_iter: int,
    profile: dict[str, float],
    trace: list[WorkingSet] | None = None,
    rows: KernelRows | None = None,
) -> Solution:
    """The `Solution` of a solver that ended with this beta and gradient, (n,) float64 each, which are not copied.

    With `rows` a sample of the gradient is computed again from the definition of the kernel. What errors of that size
    hide of the gap is added to it: the gap is then an estimate, and a bound only for values in float64. The objectives
    are those of the gradient given, without that addition.
    """
    bias = best_bias(gradient, problem)
    primal, dual = objectives(beta, gradient, bias, problem)
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
    rows: KernelRows, beta: Vector, gradient: Vector, bias: float, problem: DualProblem
) -> tuple[float, float]:
    """Largest deviation of the gradient, going by samples of the rows, and what such errors add to primal minus dual.

    An error e at a free variable adds (upper - beta) e or (beta - lower) (-e), at most upper bound |e|, and all of it where
    errors agree in sign, as those of repeated rows do. At a bound it adds as much only where it is larger than the
    distance to the bias. So half of the rows are drawn among those where errors count, in proportion to their upper bounds and
    to |k(x, .)|, with which errors grow. Distances that cancel may leave an error in a few kernel values only, which a
    sample does not see.
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
    alone = float((rows.errors * np.abs(beta)).max())  # what cancelling distances do to a row whose like are few
    deviation = max(alone, OTHERS * float(found.max()))
    shares = found / lengths[some]
    error = float(np.sqrt(np.mean((shares[:SAMPLE] if total > 0.0 else shares) ** 2)))
    if deviation > WRONG * margin:  # any row that far may be on its wrong side
        total = max(total, float((upper_bounds * lengths)[distance <= deviation].sum()))
    if rows.dtype == np.float64:  # small enough for a bound
        error += float(rows.errors.max() * np.abs(beta).sum())
    return deviation, total * error


def _deviations(rows: KernelRows, some: RowNumbers, beta: Vector, gradient: Vector, problem: DualProblem) -> Vector:
    """How far the gradient of some rows is from what the definition of the kernel gives."""
    used = np.flatnonzero(beta)
    found = problem.linear[some].astype(np.longdouble)  # the sums of BLAS may agree to the last, wrong digit
    for i in range(0, len(used), REFERENCE_COLUMNS):
        part = used[i : i + REFERENCE_COLUMNS]
        found -= rows.reference_values(some, part) @ beta[part].astype(np.longdouble)
    return np.abs(found - gradient[some]).astype(np.float64)


def best_bias(gradient: Vector, problem: DualProblem) -> float:
    """The bias that minimises the primal: a piecewise linear function of b with a kink at every G_i."""
    return optimal_intercept(gradient, problem.lower, problem.upper)


def objectives(beta: Vector, gradient: Vector, bias: float, problem: DualProblem) -> tuple[float, float]:
    """Primal and dual objective."""
    p, lower, upper = problem
    above = gradient - bias
    positive = np.maximum(above, 0.0)
    loss = upper * positive - lower * (positive - above)
    return float(0.5 * beta @ (p - gradient) + loss.sum()), float(0.5 * beta @ (p + gradient))


def relative_gap(primal: float, dual: float) -> float:
    """(primal - dual) / max(|primal|, |dual|), at least 0: rounding errors can turn the difference around."""
    return max(0.0, primal - dual) / max(abs(primal), abs(dual), np.finfo(float).tiny)
