"""Pair steps and Newton rounds by turns, on a problem whose kernel values are in memory.

Pair steps (`pairs.py`) find out which variables are free; where many rest at their bounds they are made among the
others only, on a copy of their part of K. Once they have cost a certain share of a Newton round, Newton rounds
(`newton.py`) take over, and pair steps again should those not get ahead.
"""

from __future__ import annotations

import numpy as np

from ..._core.types import RowNumbers, Vector
from ..._runtime.gather import update_gathered
from ..._runtime.sums import update_minus_rows
from . import tuning
from .free_system import FreeSystem
from .newton import Rounds, ridge_for, update_to_optimum
from .optimality import bias_interval, is_free, max_active, may_shrink, violation
from .pairs import update_by_pairs
from .problem import DualProblem
from .workspace import Workspace


class Turns:
    """The state: `beta` and its `gradient` p - K beta, (n,) float64, within the bounds of `problem`.

    kernel : (n, n or more) float32 or float64; diagonal : (n,) float64. `workspace` holds copies of parts of the
    kernel matrix; without one there are none. `round_share` is how long pair steps go on before a Newton round, in
    costs of a round. `system` is what Newton rounds have factorised last.
    """

    def __init__(
        self,
        kernel: np.ndarray,
        diagonal: Vector,
        problem: DualProblem,
        beta: Vector,
        gradient: Vector,
        workspace: Workspace | None = None,
        *,
        round_share: float,
        system: FreeSystem | None = None,
        most_work_ns: float = np.inf,
    ):
        self.kernel, self.problem = kernel, problem
        self.diagonal = diagonal.astype(kernel.dtype)
        self.n = len(beta)
        self.beta, self.gradient = beta, gradient
        self._origin = beta.copy(), gradient.copy()  # where the gradient is known exactly
        self._ridge = ridge_for(kernel, diagonal)
        self._workspace, self._round_share, self.system = workspace, round_share, system
        self._largest_box = float((problem.upper - problem.lower).max())
        self._variance = 0.0  # of the error that pair steps have left in the gradient
        self.work_ns = 0.0  # spent so far, by the costs in `tuning.py`
        self.most_work_ns = most_work_ns

    def solve(self, tol: float, limit: int, first_steps: int) -> tuple[bool, int]:
        """Bring the violation of the true gradient to at most `tol`; whether that was reached, and pair steps taken."""
        total, idle = 0, False
        while total < limit and not self._is_spent():
            steps, left = self.take(tol, limit - total, first_steps)
            total += steps
            if left <= tol and self._variance**0.5 <= tuning.DRIFT_SHARE * tol:
                return True, total
            if idle and not steps:
                break
            self.refresh()
            idle = not steps
        return False, total

    def take(self, tol: float, limit: int, first_steps: int) -> tuple[int, float]:
        """Pair steps and Newton rounds by turns down to a violation of `tol`; returns pair steps and violation."""
        taken, n_failed, count = 0, 0, first_steps
        if self._rounds().are_prepared(tol):
            left = self._take_rounds(tol)
            if left <= tol:
                return 0, left
        self.system = None  # on other variables its rounding errors would grow
        while True:
            steps, left = self._take_pair_steps(tol, min(count, limit - taken))
            taken += steps
            self.work_ns += steps * tuning.PAIR_STEP.ns(self.n)
            if left <= tol or taken >= limit or self._is_spent():
                return taken, left
            due = self._round_share * 2.0**n_failed * self._round_ns() / tuning.PAIR_STEP.ns(self.n)
            if steps and taken < due:
                count = 1 + min(int(due - taken), tuning.LOOK_STEPS_PER_ROW * self.n)
                continue
            left = self._take_rounds(tol)
            if left > tol and n_failed >= tuning.FAILED_TURNS:
                left = self._finish(tol, taken)
            if left <= tol or not steps:  # without a step to take, another turn would end here as well
                return taken, left
            n_failed += 1
            count = first_steps

    def _take_pair_steps(self, tol: float, count: int) -> tuple[int, float]:
        """Up to `count` pair steps; returns their number and the violation left."""
        _, lower, upper = self.problem
        if self._workspace is not None and self.n >= tuning.COPY_ROWS and count >= tuning.START_STEPS_PER_ROW * self.n:
            bottom, top = bias_interval(self.beta, self.gradient, lower, upper)
            if top - bottom <= tol:
                return 0, max(0.0, top - bottom)
            awake = np.flatnonzero(~may_shrink(self.beta, self.gradient, lower, upper, bottom, top))
            if len(awake) <= max_active(self.n):
                accuracy = max(tuning.TOLERANCE_SHARE * tol, tuning.LOCAL_ACCURACY_SHARE * (top - bottom))
                return self._take_steps_among(awake, self._workspace.part(len(awake)), accuracy, count)
        gradient = self.gradient.astype(self.kernel.dtype)
        steps, left = update_by_pairs(self.kernel, self.diagonal, gradient, self.beta, lower, upper, tol, count)
        self.gradient[:] = gradient
        # A pair step moves no variable by more than the largest upper bound; its effect is rounded.
        self._variance += steps * (float(np.finfo(self.kernel.dtype).eps) * self._largest_box) ** 2
        return steps, left

    def _take_steps_among(self, awake: RowNumbers, part: np.ndarray, accuracy: float, count: int) -> tuple[int, float]:
        """Pair steps among some variables, on a copy of their `part` of the kernel matrix; as `_take_pair_steps`.

        The gradient of all variables is then brought up to date in float64.
        """
        update_gathered(part, self.kernel, awake, awake)
        old = self.beta[awake]
        beta, gradient = old.copy(), self.gradient[awake].astype(self.kernel.dtype)
        lower, upper = self.problem.lower[awake], self.problem.upper[awake]
        steps, _ = update_by_pairs(part, self.diagonal[awake], gradient, beta, lower, upper, accuracy, count)
        self.beta[awake] = beta
        moved = np.flatnonzero(beta != old)
        update_minus_rows(self.gradient, self.kernel, awake[moved], (beta - old)[moved])
        return steps, self._violation()

    def _round_ns(self) -> float:
        """Nanoseconds of a Newton round."""
        n_free = int(np.count_nonzero(is_free(self.beta, self.problem)))
        return tuning.NEWTON.ns(n_free, self.n)

    def _rounds(self) -> Rounds:
        dtype = self.kernel.dtype
        return Rounds(self.kernel, self.beta, self.gradient, self.problem, self._ridge, dtype, self.system)

    def _take_rounds(self, tol: float) -> float:
        """Newton rounds as long as they get ahead; returns the violation left."""
        rounds = self._rounds()
        for _ in range(tuning.MAX_ROUNDS):
            self.work_ns += tuning.STEP_OVERHEAD_NS + self._round_ns()
            length = rounds.take(tol)
            left = self._violation()
            if left <= tol or length < tuning.SHORT_SHARE or self._is_spent():
                break
        self.system = rounds.system
        return left

    def _finish(self, tol: float, n_steps: int) -> float:
        """The active-set finish; returns the violation left.

        It is for kernels of low rank, on which Newton rounds fail but few variables are free, and needs float64.
        """
        if self.kernel.dtype == np.float64:
            share_ns = tuning.FINISH_SHARE * n_steps * tuning.PAIR_STEP.ns(self.n)
            budget_ns = min(share_ns, self.most_work_ns - self.work_ns)
            self.work_ns += update_to_optimum(
                self.kernel, self.beta, self.gradient, self.problem, self._ridge, budget_ns, tol
            ).work_ns
        return self._violation()

    def _is_spent(self) -> bool:
        return self.work_ns > self.most_work_ns

    def _violation(self) -> float:
        return violation(self.beta, self.gradient, self.problem)

    def refresh(self) -> None:
        """Compute the gradient from what beta has changed since it was known exactly."""
        beta, gradient = self._origin
        moved = np.flatnonzero(self.beta != beta)
        self.gradient[:] = gradient
        update_minus_rows(self.gradient, self.kernel, moved, (self.beta - beta)[moved])
        self._variance = 0.0
