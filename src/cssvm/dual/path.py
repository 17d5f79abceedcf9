"""Solutions for growing boxes, each begun where the last one ended, with the whole kernel matrix in memory.

For C_1 < C_2 < ... maximise   p'beta - 1/2 beta'K beta,   sum(beta) = 0,   C lower <= beta <= C upper.

From C to r C the solution is multiplied by t in [1, r], which keeps it feasible and costs no kernel value, as K beta is
multiplied as well: t = r where most variables that count rest at their bounds, and the best t otherwise. Pair steps
(`pairs.py`) then find out which variables are free; where many rest at their bounds they are made among the others
only, on a copy of their part of K. Once they have cost as much as a Newton round would, Newton rounds (`newton.py`)
take over, and pair steps again should those not get ahead.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

import numpy as np

from .._types import RowNumbers, Vector
from ..runtime import threads
from ..runtime.gather import update_gathered
from ..runtime.sums import update_row_sum
from . import tuning
from .certificate import certified
from .newton import finish_ns, ridge_for, update_by_round, update_to_optimum
from .optimality import bias_interval, is_free, may_sleep, most_awake, violation
from .pairs import update_by_pairs
from .problem import DualProblem, Solution, Status
from .workspace import Workspace


def solve_path(
    kernel: np.ndarray,
    diagonal: Vector,
    unit: DualProblem,
    Cs: Iterable[float],
    *,
    tol: float = 1e-3,
    workspace: Workspace | None = None,
) -> Iterator[Solution]:
    """Solve for boxes of C times those of `unit`, and yield the `Solution` for each C.

    Parameters
    ----------
    kernel : (n, n) array of float32 or float64
        The kernel matrix. It is read while the iteration lasts.
    diagonal : (n,) array of float64
        Its diagonal.
    unit : DualProblem
        The problem at C = 1.
    Cs : iterable of float
        Ascending.
    tol : float
        Largest violation of optimality allowed, in units of the decision function.
    workspace : Workspace, optional
        For at least n rows of the kernel's type, to be used again by the next path.
    """
    path = Path(kernel, diagonal, unit, workspace)
    for C in Cs:
        yield path.advance(C, tol)


class Path:
    """The state: `beta` and its `gradient` p - K beta, (n,) float64, for the boxes C * unit."""

    def __init__(self, kernel: np.ndarray, diagonal: Vector, unit: DualProblem, workspace: Workspace | None = None):
        self.kernel, self.unit = kernel, unit
        self.diagonal = diagonal.astype(kernel.dtype)
        self.n = len(unit.linear)
        self.C = 0.0
        self.problem = unit.scaled(0.0)  # the one at the present C
        self.beta = np.zeros(self.n)
        self.gradient = unit.linear.astype(np.float64, copy=True)
        self._ridge = ridge_for(kernel, diagonal)
        self._workspace = Workspace(self.n, kernel.dtype) if workspace is None else workspace
        self._largest_box = float((unit.upper - unit.lower).max())
        self._variance = 0.0  # of the error that pair steps have left in the gradient

    def advance(self, C: float, tol: float) -> Solution:
        """Solve for boxes of `C`, at least the last one's, to a violation of at most `tol`."""
        begun = time.perf_counter()
        per_row = tuning.NEXT_STEPS_PER_ROW if self.C else tuning.START_STEPS_PER_ROW
        with threads.own_threads():
            self._enlarge(C)
            status, n_iter = self._solve(tol, first_steps=1 + int(per_row * self.n))
        profile = {"path": time.perf_counter() - begun}
        return certified(
            self.beta.copy(), self.gradient.copy(), self.problem, status=status, n_iter=n_iter, profile=profile
        )

    def _enlarge(self, C: float) -> None:
        """Go over to boxes of `C`, beta and K beta multiplied by the same t."""
        if self.C:
            ratio = C / self.C
            _, lower, upper = self.problem
            bounded = (self.beta <= lower) & (lower < 0) | (self.beta >= upper) & (upper > 0)
            n_free = np.count_nonzero(self.beta) - np.count_nonzero(bounded)
            response = self.unit.linear - self.gradient
            t = ratio
            if np.count_nonzero(bounded) < n_free:
                t = min(ratio, max(1.0, self._best_length(response)))
            self.beta *= t
            self._variance *= t**2
            self.gradient = self.unit.linear - t * response
            if t == ratio:  # t * (C * box) and (t * C) * box may round differently
                self.beta[bounded] = (C * np.where(self.unit.upper > 0, self.unit.upper, self.unit.lower))[bounded]
        self.C, self.problem = C, self.unit.scaled(C)

    def _best_length(self, response: Vector) -> float:
        """The t that maximises the objective along t beta."""
        curvature = float(self.beta @ response)
        return float(self.beta @ self.unit.linear) / curvature if curvature > 0 else 1.0

    def _solve(self, tol: float, first_steps: int) -> tuple[Status, int]:
        """Bring the violation of the true gradient to at most `tol`; returns the status and pair steps taken."""
        total, limit = 0, tuning.MAX_STEPS_PER_ROW * self.n
        while total < limit:
            steps, left = self._take_turns(tol, limit - total, first_steps)
            total += steps
            if left <= tol and self._variance**0.5 <= tuning.DRIFT_SHARE * tol:
                return Status.CONVERGED, total
            self._refresh()
            limit -= 1  # ends the loop even if no steps are taken
        return Status.ITERATION_LIMIT, total

    def _take_turns(self, tol: float, limit: int, first_steps: int) -> tuple[int, float]:
        """Pair steps and Newton rounds by turns down to a violation of `tol`; returns pair steps and violation."""
        taken, n_failed, count = 0, 0, first_steps
        while True:
            steps, left = self._take_pair_steps(tol, min(count, limit - taken))
            taken += steps
            if left <= tol or taken >= limit:
                return taken, left
            due = 2.0**n_failed * self._round_ns() / tuning.PAIR_STEP.ns(self.n)
            if taken < due:
                count = 1 + min(int(due - taken), tuning.PATH_TURN_STEPS_PER_ROW * self.n)
                continue
            left = self._take_rounds(tol)
            if left > tol and n_failed >= tuning.FAILED_TURNS:
                left = self._finish(taken)
            if left <= tol:
                return taken, left
            n_failed += 1
            count = first_steps

    def _take_pair_steps(self, tol: float, count: int) -> tuple[int, float]:
        """Up to `count` pair steps; returns their number and the violation left."""
        _, lower, upper = self.problem
        if self.n >= tuning.COPY_ROWS and count >= tuning.START_STEPS_PER_ROW * self.n:
            bottom, top = bias_interval(self.beta, self.gradient, lower, upper)
            if top - bottom <= tol:
                return 0, max(0.0, top - bottom)
            awake = np.flatnonzero(~may_sleep(self.beta, self.gradient, lower, upper, bottom, top))
            if len(awake) <= most_awake(self.n):
                accuracy = max(tol, tuning.LOCAL_ACCURACY_SHARE * (top - bottom))
                return self._take_steps_among(awake, accuracy, count)
        gradient = self.gradient.astype(self.kernel.dtype)
        steps, left = update_by_pairs(self.kernel, self.diagonal, gradient, self.beta, lower, upper, tol, count)
        self.gradient[:] = gradient
        # A pair step moves no variable by more than the largest box; its effect is rounded.
        self._variance += steps * (float(np.finfo(self.kernel.dtype).eps) * self.C * self._largest_box) ** 2
        return steps, left

    def _take_steps_among(self, awake: RowNumbers, accuracy: float, count: int) -> tuple[int, float]:
        """Pair steps among some variables, from a copy of their part of the kernel matrix; as `_take_pair_steps`.

        The gradient of all variables is then brought up to date in float64.
        """
        part = self._workspace.part(len(awake))
        update_gathered(part, self.kernel, awake, awake)
        old = self.beta[awake]
        beta, gradient = old.copy(), self.gradient[awake].astype(self.kernel.dtype)
        lower, upper = self.problem.lower[awake], self.problem.upper[awake]
        steps, _ = update_by_pairs(part, self.diagonal[awake], gradient, beta, lower, upper, accuracy, count)
        self.beta[awake] = beta
        moved = np.flatnonzero(beta != old)
        update_row_sum(self.gradient, self.kernel, awake[moved], (beta - old)[moved], 0)
        return steps, self._violation()

    def _round_ns(self) -> float:
        """Nanoseconds of a Newton round."""
        n_free = int(np.count_nonzero(is_free(self.beta, self.problem)))
        return tuning.NEWTON.ns(n_free, self.n, tuning.FIXING_TRIALS)

    def _take_rounds(self, tol: float) -> float:
        """Newton rounds as long as they get ahead; returns the violation left."""
        for _ in range(tuning.MAX_ROUNDS):
            length = update_by_round(self.kernel, self.beta, self.gradient, self.problem, tol, self._ridge)
            left = self._violation()
            if left <= tol or length < tuning.SHORT_SHARE:
                break
        return left

    def _finish(self, n_steps: int) -> float:
        """The active-set finish; returns the violation left.

        It is for kernels of low rank, on which Newton rounds fail but few variables are free, and needs float64.
        """
        if self.kernel.dtype == np.float64:
            budget_ns = finish_ns(self.n, n_steps)
            update_to_optimum(self.kernel, self.beta, self.gradient, self.problem, self._ridge, budget_ns)
        return self._violation()

    def _violation(self) -> float:
        return violation(self.beta, self.gradient, self.problem)

    def _refresh(self) -> None:
        """Compute the gradient from beta."""
        self.gradient[:] = self.unit.linear
        used = np.flatnonzero(self.beta)
        update_row_sum(self.gradient, self.kernel, used, self.beta[used], 0)
        self._variance = 0.0
