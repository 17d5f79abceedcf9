"""SMO and Newton steps in turn, on a problem whose kernel matrix is in memory, and paths of growing upper bounds.

Once SMO steps have cost a certain share of a Newton step, Newton steps take over, and SMO steps again if those make too
little progress. A path solves for C_1 < C_2 < ... in turn

    maximise over beta    p'beta - 1/2 beta'K beta,   sum(beta) = 0,   C lower <= beta <= C upper.

From C to r C the solution is multiplied by t in [1, r], which keeps it feasible and needs no kernel values, as K beta
is multiplied as well: t = r if most nonzero variables are at their bounds, and the best t otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import DTypeLike

from ..._core.types import Mask, RowNumbers, Status, Vector
from ..._runtime import threads
from ..._runtime.sums import update_gathered, update_minus_rows
from ..certificate import DualProblem, Solution, bias_interval, certified, distances, is_free, violation
from . import tuning
from .bordered_kkt import BorderedKKT
from .newton import NewtonSteps, ridge_for, update_to_optimum
from .smo import update_by_smo


class SMONewton:
    """Steps on `beta` and its `gradient` p - K beta, (n,) float64, within the bounds of `problem`.

    kernel : (n, n or more) float32 or float64; diagonal : (n,) float64; workspace : for copies of parts of the kernel;
    newton_share : work of SMO steps before a Newton step, in costs of that step; kkt : the last factorisation
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
        newton_share: float,
        kkt: BorderedKKT | None = None,
        most_work_ns: float = np.inf,
    ):
        self.kernel, self.problem = kernel, problem
        self.diagonal = diagonal.astype(kernel.dtype)
        self.n = len(beta)
        self.beta, self.gradient = beta, gradient
        self._origin = beta.copy(), gradient.copy()  # where the gradient is known exactly
        self._ridge = ridge_for(kernel, diagonal)
        self._workspace, self._newton_share, self.kkt = workspace, newton_share, kkt
        self._largest_bound = float((problem.upper - problem.lower).max())
        self._variance = 0.0  # of the error that SMO steps have left in the gradient
        self.work_ns = 0.0  # spent so far, by the costs in `tuning.py`
        self.most_work_ns = most_work_ns

    def solve(self, tol: float, limit: int, first_steps: int) -> tuple[bool, int]:
        """Reduce the violation of the true gradient to `tol`; returns whether that was reached, and SMO steps taken."""
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
        """Take SMO and Newton steps in turn until the violation is `tol`; returns SMO steps and violation."""
        taken, n_failed, count = 0, 0, first_steps
        if self._newton_steps().is_factorised(tol):
            left = self._take_newton_steps(tol)
            if left <= tol:
                return 0, left
        self.kkt = None  # on other variables its rounding errors would grow
        while True:
            steps, left = self._take_smo_steps(tol, min(count, limit - taken))
            taken += steps
            self.work_ns += steps * tuning.SMO_STEP.ns(self.n)
            if left <= tol or taken >= limit or self._is_spent():
                return taken, left
            due = self._newton_share * 2.0**n_failed * self._newton_ns() / tuning.SMO_STEP.ns(self.n)
            if steps and taken < due:
                count = 1 + min(int(due - taken), tuning.STEPS_PER_LOOK * self.n)
                continue
            left = self._take_newton_steps(tol)
            if left > tol and n_failed >= tuning.FAILED_NEWTON_RUNS:
                left = self._finish(tol, taken)
            if left <= tol or not steps:  # without SMO steps, another turn would end here as well
                return taken, left
            n_failed += 1
            count = first_steps

    def _take_smo_steps(self, tol: float, count: int) -> tuple[int, float]:
        """Take up to `count` SMO steps; returns their number and the violation left."""
        _, lower, upper = self.problem
        pays = self.n >= tuning.COPIED_PROBLEM and count >= tuning.PATH_FIRST_STEPS * self.n
        if self._workspace is not None and pays:
            bottom, top = bias_interval(self.beta, self.gradient, lower, upper)
            if top - bottom <= tol:
                return 0, max(0.0, top - bottom)
            active = np.flatnonzero(~can_be_shrunk(self.beta, self.gradient, lower, upper, bottom, top))
            if len(active) <= max_active(self.n):
                accuracy = max(tuning.TOLERANCE_SHARE * tol, tuning.LOCAL_ACCURACY_SHARE * (top - bottom))
                return self._take_active_smo_steps(active, self._workspace.part(len(active)), accuracy, count)
        gradient = self.gradient.astype(self.kernel.dtype)
        steps, left = update_by_smo(self.kernel, self.diagonal, gradient, self.beta, lower, upper, tol, count)
        self.gradient[:] = gradient
        # An SMO step moves no variable by more than the largest upper bound; its effect is rounded.
        self._variance += steps * (float(np.finfo(self.kernel.dtype).eps) * self._largest_bound) ** 2
        return steps, left

    def _take_active_smo_steps(
        self, active: RowNumbers, part: np.ndarray, accuracy: float, count: int
    ) -> tuple[int, float]:
        """Take SMO steps among the active variables, on a copy of their `part` of the kernel matrix."""
        update_gathered(part, self.kernel, active, active)
        old = self.beta[active]
        beta, gradient = old.copy(), self.gradient[active].astype(self.kernel.dtype)
        lower, upper = self.problem.lower[active], self.problem.upper[active]
        steps, _ = update_by_smo(part, self.diagonal[active], gradient, beta, lower, upper, accuracy, count)
        self.beta[active] = beta
        moved = np.flatnonzero(beta != old)
        update_minus_rows(self.gradient, self.kernel, active[moved], (beta - old)[moved])
        return steps, self._violation()

    def _newton_ns(self) -> float:
        n_free = int(np.count_nonzero(is_free(self.beta, self.problem)))
        return tuning.NEWTON.ns(n_free, self.n)

    def _newton_steps(self) -> NewtonSteps:
        dtype = self.kernel.dtype
        return NewtonSteps(self.kernel, self.beta, self.gradient, self.problem, self._ridge, dtype, self.kkt)

    def _take_newton_steps(self, tol: float) -> float:
        """Take Newton steps as long as they make progress; returns the violation left."""
        newton = self._newton_steps()
        for _ in range(tuning.MAX_NEWTON_STEPS):
            self.work_ns += tuning.STEP_OVERHEAD_NS + self._newton_ns()
            length = newton.take(tol)
            left = self._violation()
            if left <= tol or length < tuning.SHORT_SHARE or self._is_spent():
                break
        self.kkt = newton.kkt
        return left

    def _finish(self, tol: float, n_steps: int) -> float:
        """Try the active-set finish, for kernels of low rank on which Newton steps fail; returns the violation left."""
        if self.kernel.dtype == np.float64:
            share_ns = tuning.FINISH_SHARE * n_steps * tuning.SMO_STEP.ns(self.n)
            budget_ns = min(share_ns, self.most_work_ns - self.work_ns)
            state = self.beta, self.gradient, self.problem
            _, work_ns = update_to_optimum(self.kernel, *state, self._ridge, budget_ns, tol)
            self.work_ns += work_ns
        return self._violation()

    def _is_spent(self) -> bool:
        return self.work_ns > self.most_work_ns

    def _violation(self) -> float:
        return violation(self.beta, self.gradient, self.problem)

    def refresh(self) -> None:
        """Compute the gradient from the change of beta since it was known exactly."""
        beta, gradient = self._origin
        moved = np.flatnonzero(self.beta != beta)
        self.gradient[:] = gradient
        update_minus_rows(self.gradient, self.kernel, moved, (self.beta - beta)[moved])
        self._variance = 0.0


def can_be_shrunk(beta: Vector, gradient: Vector, lower: Vector, upper: Vector, bottom: float, top: float) -> Mask:
    """Whether each variable is so far from being selected that it can be shrunk, (n,)."""
    return distances(beta, gradient, lower, upper, bottom, top) > tuning.SHRINKING_DEPTH * (top - bottom)


def max_active(n: int) -> int:
    """How many of n variables can stay active for shrinking the others to be worth its bookkeeping."""
    return int(tuning.ACTIVE_SHARE * n)


class Workspace:
    """Memory for one kernel matrix of up to `n_rows` samples and a copy of its active part, allocated at first use."""

    def __init__(self, n_rows: int, dtype: DTypeLike):
        self.n_rows, self.dtype = n_rows, np.dtype(dtype)
        self._matrix = np.empty(0, self.dtype)
        self._part = np.empty(0, self.dtype)

    @staticmethod
    def bytes_needed(n_rows: int, dtype: DTypeLike) -> int:
        """Bytes of a workspace that is used completely."""
        return (n_rows**2 + _largest_part(n_rows) ** 2) * np.dtype(dtype).itemsize

    def matrix(self, n: int) -> np.ndarray:
        """Memory for a kernel matrix, (n, n), not initialised."""
        if not len(self._matrix):
            self._matrix = np.empty(self.n_rows**2, self.dtype)
        return _square(self._matrix, n)

    def part(self, n: int) -> np.ndarray:
        """Memory for a copy of a part of the kernel matrix, (n, n), not initialised."""
        if not len(self._part):
            self._part = np.empty(_largest_part(self.n_rows) ** 2, self.dtype)
        return _square(self._part, n)


def _square(room: np.ndarray, n: int) -> np.ndarray:
    if n**2 > len(room):
        raise ValueError(f"the workspace has room for {len(room)} kernel values; {n} rows need {n**2}")
    return room[: n**2].reshape(n, n)


def _largest_part(n: int) -> int:
    """Size of the largest part of an (n, n) kernel matrix that is copied."""
    return max_active(n) if n >= tuning.COPIED_PROBLEM else 0


def solve_path(
    kernel: np.ndarray,
    diagonal: Vector,
    unit: DualProblem,
    Cs: Iterable[float],
    *,
    tol: float = 1e-3,
    workspace: Workspace | None = None,
) -> Iterator[Solution]:
    """Yield the `Solution` for upper bounds of C times those of `unit`, for each of the ascending `Cs`, to `tol`.

    kernel : (n, n) float32 or float64; diagonal : (n,) float64; workspace : which paths may use in turn
    """
    path = DualPath(kernel, diagonal, unit, workspace)
    for C in Cs:
        yield path.advance(C, tol)


class DualPath(SMONewton):
    """A path of solutions for the upper bounds C * unit; C only grows."""

    def __init__(self, kernel: np.ndarray, diagonal: Vector, unit: DualProblem, workspace: Workspace | None = None):
        n = len(unit.linear)
        workspace = Workspace(n, kernel.dtype) if workspace is None else workspace
        beta, gradient = np.zeros(n), unit.linear.astype(np.float64, copy=True)
        share = tuning.PATH_NEWTON_SHARE
        super().__init__(kernel, diagonal, unit.scaled(0.0), beta, gradient, workspace, newton_share=share)
        self.unit, self.C = unit, 0.0
        self._unit_bound = float((unit.upper - unit.lower).max())

    def advance(self, C: float, tol: float, most_work_ns: float | None = None) -> Solution:
        """Solve for upper bounds of `C`, at least the last one's, to a violation of `tol` or for `most_work_ns`."""
        begun = time.perf_counter()
        per_row = tuning.PATH_NEXT_STEPS if self.C else tuning.PATH_FIRST_STEPS
        with threads.single_threaded_blas():
            self._enlarge(C)
            self.most_work_ns = self.work_ns + (tuning.WORK.ns(self.n) if most_work_ns is None else most_work_ns)
            converged, n_iter = self.solve(tol, tuning.PATH_MAX_STEPS * self.n, 1 + int(per_row * self.n))
        return certified(
            self.beta.copy(),
            self.gradient.copy(),
            self.problem,
            status=Status.CONVERGED if converged else Status.ITERATION_LIMIT,
            n_iter=n_iter,
            profile={"path": time.perf_counter() - begun},
        )

    def _enlarge(self, C: float) -> None:
        """Switch to upper bounds of `C`, multiplying beta and K beta by the same t."""
        if self.C:
            ratio = C / self.C
            _, lower, upper = self.problem
            bounded = (self.beta <= lower) & (lower < 0) | (self.beta >= upper) & (upper > 0)
            n_free = np.count_nonzero(self.beta) - np.count_nonzero(bounded)
            response = self.unit.linear - self.gradient
            t = ratio
            if np.count_nonzero(bounded) < n_free:
                curvature = float(self.beta @ response)
                best = float(self.beta @ self.unit.linear) / curvature if curvature > 0 else 1.0
                t = min(ratio, max(1.0, best))
            self.beta *= t
            self._variance *= t**2
            self.gradient = self.unit.linear - t * response
            if t == ratio:  # t * (C * upper bound) and (t * C) * upper bound may round differently
                self.beta[bounded] = (C * np.where(self.unit.upper > 0, self.unit.upper, self.unit.lower))[bounded]
        self.C, self.problem, self._largest_bound = C, self.unit.scaled(C), C * self._unit_bound
        self.kkt = None  # so that a path continues as one that was begun here
