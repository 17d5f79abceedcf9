"""One problem, from its kernel to a solution with a certificate, by several methods in turn.

Kernels of low rank K = F F' begin with the interior-point method of a linear SVM in the features F, if that takes less
time than the first SMO steps. The gradient of the decomposition is checked at some samples by reference code. If it has
errors of float32, gradient and solution are corrected; if that is not enough, the decomposition continues in float64. A
problem that has not converged after the work allowed for its size is tried once more, from the interior-point solution
or from the end of a path of growing upper bounds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._core.types import Status, Vector
from ..._kernels import GramRows
from ..._runtime import threads
from ..certificate import DualProblem, Solution, certified, update_balanced
from ..linear.blocks import LocalBlocks
from ..linear.interior import Certificate, solve_interior
from . import tuning
from .decomposition import Decomposition, empty_block
from .smo_newton import DualPath

FACTOR_COPIES = 3  # of the factor of K, which the interior-point method has in memory
MAX_STEPS = 100  # of the interior-point method; usual are 20 to 40
EXACT = 1e-11  # relative gap at which an interior solution tells which variables are free
RESIDUAL = 1e-13  # of the largest k(x, x), below which what a factor leaves of K is rounding errors
MAX_NEGATIVE = 10.0  # times that, below zero: a K that is not positive semidefinite
SPARE_PIVOTS = 2  # more than the rank of K, for the rounding errors left


@threads.single_threaded_blas()
def solve(
    rows: GramRows, problem: DualProblem, *, tol: float = 1e-3, max_iter: int = -1, start: ArrayLike | None = None
) -> Solution:
    """Maximise the dual to a violation of at most `tol`, in units of the decision function.

    max_iter : limit on SMO steps, -1 for none but that on the work; start : (n,), made feasible if necessary
    """
    limit, work_ns = (max_iter, np.inf) if max_iter >= 0 else (np.inf, tuning.WORK.ns(rows.n))
    state = Decomposition(rows, problem, start, work_ns)
    # Of the SMO steps before the gradient of all samples is first updated.
    first_steps_ns = tuning.MAX_STEPS_PER_SET * state.n * tuning.SMO_STEP.ns(state.size)
    may_begin = start is None and limit >= MAX_STEPS
    interior = _interior(state, first_steps_ns) if may_begin and rows.rank < rows.n else None
    if interior is None and _fits(state):
        state.most_work_ns *= tuning.FIRST_SHARE
    solution = _solution(state if interior is None else interior, tol, limit)
    if solution.status != Status.STALLED:
        return solution
    state.most_work_ns = work_ns
    again = _interior(state, tuning.WORK.ns(rows.n)) if interior is None else None
    if again is None and solution.rounding <= tol:
        again = _path_of_growing_bounds(state, tol)
    if again is None:
        return solution
    other = _solution(again, tol, limit)
    return max(solution, other, key=lambda each: (each.converged, each.dual_objective))


def _interior(state: Decomposition, ns: float) -> Decomposition | None:
    """A solve that continues in float64 from the interior-point solution; None if the rank of K takes too much time."""
    rows = state.rows
    rank = tuning.INTERIOR.most_rank(rows.n, ns)
    if rows.rank < rows.n:
        if rows.rank > rank:
            return None
        rank = min(rank, rows.rank + SPARE_PIVOTS)
    if FACTOR_COPIES * np.dtype(np.float64).itemsize * rows.n * rank > rows.budget:
        return None
    with state.timed("interior"):
        factor = low_rank_factor(rows.to_float64(), rank)
        interior = None if factor is None else low_rank_solution(factor, state.problem)
    if interior is None:
        return None
    return state.to_float64(*interior)


def low_rank_factor(rows: GramRows, most: int) -> np.ndarray | None:
    """F (n, r) with K = F F', r <= `most`, by Cholesky's method with pivots in float64; None if there is none."""
    left = rows.diagonal.copy()
    least = RESIDUAL * float(np.abs(left).max(initial=0.0))
    factor = np.empty((rows.n, most), order="F")
    row, everything = np.empty((1, rows.n)), np.arange(rows.n)
    for rank in range(most + 1):
        pivot = int(np.argmax(left))
        if left.min() < -MAX_NEGATIVE * least:
            return None
        if left[pivot] <= least:
            return factor[:, :rank] if rank else None
        if rank < most:
            rows.update_block(row, np.array([pivot]), everything)
            row[0] -= factor[:, :rank] @ factor[pivot, :rank]
            factor[:, rank] = row[0] / np.sqrt(left[pivot])
            left -= factor[:, rank] ** 2
            left[pivot] = 0.0
    return None


def low_rank_solution(factor: np.ndarray, problem: DualProblem) -> tuple[Vector, int] | None:
    """A feasible beta (n,) near the optimum for K = factor factor', and iterations; None if that is not a linear SVM.

    Variables whose slack has vanished are put on their bound.
    """
    movable = problem.upper > problem.lower
    linear, lower, upper = (each[movable] for each in problem)
    signs, widths = np.where(upper > 0.0, 1.0, -1.0), upper - lower
    if not (upper.any() and lower.any() and (signs * linear > 0.0).all()):
        return None
    blocks = LocalBlocks.from_samples(np.ascontiguousarray(factor[movable]), linear, widths)
    best, states = np.inf, np.empty((4, len(linear)))

    def keep(_: int, found: Certificate) -> None:
        nonlocal best, states
        if found.gap < best:
            best, states = found.gap, blocks.states()

    n_steps = solve_interior(blocks, tol=EXACT, max_iter=MAX_STEPS, report=keep).n_iter
    alpha, room, beyond, short = states
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scale = np.abs(linear).max()
        at_zero, at_bound = alpha / widths < beyond / scale, room / widths < short / scale
        alpha = np.where(at_zero & ~at_bound, 0.0, np.where(at_bound & ~at_zero, widths, alpha))
    beta = np.zeros(len(factor))
    beta[movable] = np.clip(signs * alpha, lower, upper)
    update_balanced(beta, problem.lower, problem.upper)
    return (beta, n_steps) if np.isfinite(beta).all() else None


def _fits(state: Decomposition) -> bool:
    """Whether all kernel values fit in memory, in float64."""
    return state.n <= tuning.MAX_WORKING_SET and np.dtype(np.float64).itemsize * state.n**2 <= state.rows.budget


def _path_of_growing_bounds(state: Decomposition, tol: float) -> Decomposition | None:
    """A solve that continues from the end of a path of growing bounds; None if K is too large or they are small."""
    rows, problem = state.rows.to_float64(), state.problem
    largest = float((problem.upper - problem.lower).max() * np.abs(rows.diagonal).mean())
    n_stages = int(np.ceil(np.log(max(largest, 1.0)) / np.log(tuning.STAGE)))
    if n_stages < 2 or not _fits(state):
        return None
    with state.timed("path"):
        everything = np.arange(state.n)
        kernel = empty_block(state.n, state.n, np.float64)
        rows.update_block(kernel, everything, everything)
        path, n_steps = DualPath(kernel, rows.diagonal, problem), 0
        for stage in range(n_stages, -1, -1):
            left_ns = tuning.WORK.ns(state.n) - path.work_ns
            n_steps += path.advance(tuning.STAGE**-stage, tol, left_ns).n_iter
    return state.to_float64(path.beta, n_steps)


def _solution(state: Decomposition, tol: float, limit: float) -> Solution:
    """The solution of the decomposition in up to `limit` SMO steps, corrected or continued in float64 if necessary."""
    is_float64 = state.rows.dtype == np.float64
    state.run(tol if is_float64 else tuning.ROUGH_SHARE * tol, limit)
    status = state.status(tol, limit)
    solution = _certified(state, status, tol)
    if status == Status.ITERATION_LIMIT:
        return solution
    # Errors of the gradient may hide a violation above `tol`, or most of the gap.
    seen = max(tuning.HIDDEN_SHARE * tol, solution.gap - solution.hidden)
    hides = not solution.converged or solution.hidden > seen
    if status == Status.CONVERGED and solution.deviation <= tol and hides:
        if is_float64:
            state.run(tuning.CORRECTED_SHARE * tol, limit)
        else:
            state.correct(solution.deviation)
            certain = tol - tuning.CERTAIN_DEVIATIONS * solution.deviation
            state.approach(max(tuning.CORRECTED_SHARE * tol, min(solution.violation, certain)), limit)
        solution = _certified(state, state.status(tol, limit), tol)
    if solution.status == Status.STALLED and not is_float64:
        state = state.to_float64(state.beta)
        solution = _certified(state, state.run(tol, limit), tol)
    return solution


def _certified(state: Decomposition, status: Status, tol: float) -> Solution:
    """The current solution; its status is STALLED if the estimated error of the gradient may hide a violation."""
    ended: Any = {"status": status, "n_iter": state.n_iter, "profile": state.profile, "trace": state.trace}
    with state.timed("check"):
        state.balance()  # SMO steps leave less of it than the rounding errors of the gradient
        solution = certified(state.beta, state.gradient, state.problem, rows=state.rows, **ended)
    wrong = solution.converged and solution.violation + 2.0 * solution.deviation > tol
    return replace(solution, rounding=state.rounding(), status=Status.STALLED if wrong else status)
