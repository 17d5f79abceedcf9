"""One problem, from its kernel to a solution with a true certificate, by one means after the other.

The decomposition works in the precision that the kernel's rows come in. A sample of its gradient is then computed again
by other code. Where float32 shows in it, the gradient is corrected and the solution with it: the change is small, so
that float32 will do for it. Where that is not enough either, the decomposition goes on in float64 from where it was.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..runtime import threads
from . import tuning
from .certificate import certified, relative_gap
from .decomposition import Decomposition
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
    limit = np.inf if max_iter < 0 else max_iter
    with threads.own_threads():
        state = Decomposition(rows, problem, start)
        solution = _certified(state, state.run(tol, limit), tol)
        if rows.dtype == np.float64 or solution.status == Status.ITERATION_LIMIT:
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
