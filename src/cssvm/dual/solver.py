"""One problem, from its kernel to a solution with a true certificate, by one means after the other.

Kernels of low rank begin with the interior-point method, where it takes less time than the first pair steps would. The
decomposition works in the precision that the kernel's rows come in, and a sample of its gradient is computed again by
other code. Where float32 shows in it, the gradient is corrected and the solution with it: the change is small, so that
float32 will do for it. Where that is not enough, the decomposition goes on in float64 from where it was.

What has not converged after as much work as problems of its size may take is tried once more from the interior-point
solution, if the kernel is of a rank that this method can afford.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..runtime import threads
from . import tuning
from .certificate import certified, relative_gap
from .decomposition import Decomposition
from .interior import interior_solution, low_rank_factor
from .problem import DualProblem, KernelRows, Solution, Status


def solve(
    rows: KernelRows, problem: DualProblem, *, tol: float = 1e-3, max_iter: int = -1, start: ArrayLike | None = None
) -> Solution:
    """Maximise the dual to a violation of at most `tol`.

    Parameters
    ----------
    rows : KernelRows
        The kernel: blocks of its values and sums of its rows.
    problem : DualProblem
    tol : float
        Largest violation of optimality allowed, in units of the decision function.
    max_iter : int
        Limit on pair steps; -1 for none.
    start : (n,) array, optional
        Where to begin; put into the bounds and balanced if need be.
    """
    with threads.own_threads():
        if start is not None or max_iter >= 0:
            return _solution(Decomposition(rows, problem, start), tol, np.inf if max_iter < 0 else max_iter)
        first_steps_ns = tuning.TURN_STEPS_PER_ROW * rows.n * tuning.PAIR_STEP.ns(min(rows.n, tuning.FIRST_ROWS))
        rank = tuning.INTERIOR.most_rank(rows.n, first_steps_ns)
        if rows.rank <= rank:
            solution = _from_interior(rows, problem, tol, rank)
            if solution is not None:
                return solution
        solution = _solution(_bounded(Decomposition(rows, problem, None)), tol, np.inf)
        if solution.converged:
            return solution
        other = _from_interior(rows, problem, tol, tuning.INTERIOR.most_rank(rows.n, tuning.WORK.ns(rows.n)))
        return solution if other is None or _is_better(solution, other) else other


def _bounded(state: Decomposition) -> Decomposition:
    """The same with a limit on its work."""
    state.most_work_ns = tuning.WORK.ns(state.n)
    return state


def _from_interior(rows: KernelRows, problem: DualProblem, tol: float, rank: int) -> Solution | None:
    """The interior-point solution, completed; None if K is not of at most this rank.

    Little is left to do, for which there is time in float64.
    """
    n_bytes = 2 * np.dtype(np.float64).itemsize * rows.n * rank
    factor = low_rank_factor(rows, rank) if n_bytes <= rows.budget else None
    interior = None if factor is None else interior_solution(factor, problem)
    if interior is None:
        return None
    state = _bounded(Decomposition(rows.precise(), problem, interior.beta))
    state.n_iter = interior.n_steps
    return _solution(state, tol, np.inf)


def _is_better(one: Solution, other: Solution) -> bool:
    return (one.converged, one.dual_objective) > (other.converged, other.dual_objective)


def _solution(state: Decomposition, tol: float, limit: float) -> Solution:
    """What the decomposition makes of it, up to `limit` pair steps, in float64 if need be."""
    solution = _certified(state, state.run(tol, limit), tol)
    if state.rows.dtype == np.float64 or solution.status == Status.ITERATION_LIMIT:
        return solution
    if solution.converged and _shows(solution, tol):
        state.correct(solution.deviation)
        state.approach(max(tuning.DRIFT_SHARE * tol, solution.violation), limit)
        solution = _certified(state, state.status(tol, limit), tol)
    if solution.status == Status.STALLED:
        state = state.precise()
        solution = _certified(state, state.run(tol, limit), tol)
    return solution


def _shows(solution: Solution, tol: float) -> bool:
    """Whether the error of the gradient may have hidden a violation above `tol`, or a tenth of it of the gap."""
    hidden = solution.gap - relative_gap(solution.primal_objective, solution.dual_objective)
    return solution.violation + 2.0 * solution.deviation > tol or hidden > tuning.DRIFT_SHARE * tol


def _certified(state: Decomposition, status: Status, tol: float) -> Solution:
    """What the solve has come to; it has not converged if other code finds another gradient."""
    with state.timed("check"):
        solution = certified(
            state.beta,
            state.gradient,
            state.problem,
            status=status,
            n_iter=state.n_iter,
            profile=state.profile,
            trace=state.trace,
            rows=state.rows,
        )
    wrong = solution.converged and solution.deviation > tol
    return replace(solution, rounding=state.noise(), status=Status.STALLED if wrong else status)
