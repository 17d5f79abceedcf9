"""Decomposition: SMO and Newton steps on working sets, with the gradient of all other variables updated in bulk.

The main loop is four verbs: select a working set of the variables that violate optimality most, fetch the kernel values
among them, solve the problem restricted to them (`smo_newton.py`), update the gradient of all variables. A step costs a
hundredth of a kernel row, so working sets are large and solved well.

Variables at a bound and far from leaving it are shrunk: they get no updates until the active ones are optimal. The
change of beta that they miss is kept, so unshrinking costs one sum over the variables that moved meanwhile.

Small problems are then made exact by an active-set Newton finish (`newton.py`), so that sample weights mean repetition.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..._core.types import RowNumbers, Status, Vector
from ..._kernels import GramRows
from ..._runtime import threads
from ..._runtime.compiler import njit
from ..certificate import (
    DualProblem,
    WorkingSet,
    bias_interval,
    distances,
    feasible,
    is_free,
    update_balanced,
    violation,
)
from . import tuning
from .bordered_kkt import BorderedKKT
from .newton import ridge_for, update_to_optimum
from .smo_newton import SMONewton, can_be_shrunk, max_active

PHASES = ("kernel", "select", "local", "interior", "path", "update", "finish", "check")
LAST_DIGITS = 1e-15  # of |beta|: a sum as small as that is zero
NO_GAIN = 1e-15  # of what was gained so far: nothing but rounding


class Decomposition:
    """State of one solve: variables, working set with its kernel values, shrunk variables, and work done."""

    def __init__(
        self, rows: GramRows, problem: DualProblem, start: ArrayLike | None = None, most_work_ns: float = np.inf
    ):
        self.rows, self.problem = rows, problem
        self.n = len(problem.linear)
        affordable = int((rows.budget / rows.dtype.itemsize / 2) ** 0.5)
        self.last_size = max(2, min(self.n, tuning.MAX_WORKING_SET, affordable))
        whole = self.n <= min(tuning.WHOLE_PROBLEM, self.last_size)
        self.size = self.n if whole else min(tuning.FIRST_WORKING_SET, self.last_size)
        self.begun = time.perf_counter()
        self.n_iter = self.n_recorded = 0  # SMO steps, and those of them in the trace
        self.work_ns = 0.0  # by the costs in `tuning.py`, which are the same on every machine
        self.most_work_ns = most_work_ns
        self.trace: list[WorkingSet] = []
        self.profile = dict.fromkeys(PHASES, 0.0)
        self.working: RowNumbers = np.empty(0, np.intp)  # variable at each place of the working set
        self.kernel = empty_block(self.size, self.size, rows.dtype)  # its kernel values
        self.fresh = empty_block(0, 0, rows.dtype)  # memory for those of new members
        self.kkt: BorderedKKT | None = None  # what Newton steps have factorised last
        self.active: RowNumbers | None = None  # sorted; all if None
        self.shrunk: list[tuple[RowNumbers, Vector]] = []  # columns with the change of beta that they have missed
        self.beta = np.zeros(self.n) if start is None else feasible(start, problem)
        self.gradient = problem.linear.astype(np.float64, copy=True)
        moved = np.flatnonzero(self.beta)
        if len(moved):
            rows.update_gradient(self.gradient, moved, self.beta[moved])

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Add the time spent inside to `profile[phase]`."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.profile[phase] += time.perf_counter() - begun

    def run(self, tol: float, max_iter: float) -> Status:
        """Reduce the violation to `tol` and, if that is cheap, solve exactly."""
        if self.rows.dtype != np.float64 or self.size < self.n:
            return self.approach(tol, max_iter)
        patience, reached = tuning.MAX_STEPS_PER_SET * self.n, -np.inf
        if self.beta.any() and self.finish(tol):  # the start was close
            return Status.CONVERGED
        if self.approach_in_float32(tol, min(max_iter, patience)) and self.n_iter < max_iter and self.finish(tol):
            return Status.CONVERGED
        while True:
            status = self.approach(tol, min(max_iter, self.n_iter + patience))
            if self.n_iter >= max_iter and status == Status.ITERATION_LIMIT:
                break
            if self.finish(tol):
                return Status.CONVERGED
            objective, rounding = self.objective()
            if objective - reached <= rounding or self.work_left_ns() < 0.0:
                break
            reached, patience = objective, 2 * patience
        self.refresh()
        return self.status(tol, max_iter)

    def status(self, tol: float, limit: float) -> Status:
        """The status if the solve ended now."""
        if violation(self.beta, self.gradient, self.problem) <= tol:
            return Status.CONVERGED
        return Status.ITERATION_LIMIT if self.n_iter >= limit else Status.STALLED

    def objective(self) -> tuple[float, float]:
        """The dual objective, and a bound of its rounding errors."""
        value = float(0.5 * self.beta @ (self.problem.linear + self.gradient))
        return value, self.rounding() * float(np.abs(self.beta).sum())

    def rounding(self) -> float:
        """Bound of the rounding error of p_i - sum_j K_ij beta_j in float64: |K_ij|^2 <= K_ii K_jj."""
        lengths = np.sqrt(np.abs(self.rows.diagonal))
        sums = np.abs(self.problem.linear).max() + lengths.max() * (lengths @ np.abs(self.beta))
        return float(np.finfo(np.float64).eps * sums)

    def balance(self) -> None:
        """Make the sum of beta zero up to rounding."""
        if abs(self.beta.sum()) > LAST_DIGITS * float(np.abs(self.beta).sum()):
            update_balanced(self.beta, self.problem.lower, self.problem.upper)

    def refresh(self) -> None:
        """Compute the gradient of a whole problem from beta alone."""
        self.balance()
        self.gradient = self.problem.linear - self.kernel[:, : self.n] @ self.beta

    def correct(self, deviation: float) -> None:
        """Recompute the gradient in float64 where an error of several times `deviation` matters."""
        near = distances(*self.at(None), *self.bias_interval()) < tuning.NEAR_DEVIATIONS * deviation
        used, columns = np.flatnonzero(self.beta), np.flatnonzero(near)
        with self.timed("update"):
            gradient = self.problem.linear[columns].copy()
            self.rows.to_float64().update_gradient(gradient, used, self.beta[used], columns)
            self.gradient[columns] = gradient

    def to_float64(self, beta: Vector, n_steps: int = 0) -> Decomposition:
        """A solve that continues in float64 from this beta, found in n_steps, with the same limit on its own work."""
        other = Decomposition(self.rows.to_float64(), self.problem, beta, self.most_work_ns)
        other.begun, other.trace, other.profile = self.begun, self.trace, self.profile
        other.n_iter, other.n_recorded = self.n_iter + n_steps, self.n_recorded + n_steps
        return other

    def approach_in_float32(self, tol: float, limit: float) -> bool:
        """Take SMO and Newton steps on a float32 copy of all kernel values; False if these are too large for that."""
        with self.timed("kernel"), np.errstate(over="ignore", invalid="ignore"):
            self.fetch(self.select(*self.bias_interval()))
            rough = self.kernel[:, : self.n].astype(np.float32)
            holds_all = np.isfinite(rough.sum())
        if not holds_all:
            return False
        with self.timed("local"):
            self.run_smo_newton(
                rough, self.problem, self.beta, self.gradient.copy(), self.rows.diagonal, tol, int(limit)
            )
            self.refresh()
        return True

    def approach(self, tol: float, limit: float) -> Status:
        """Solve working sets until the violation is at most `tol` or `limit` SMO steps have been taken."""
        gained, idle = 0.0, 0
        while True:
            bottom, top = self.bias_interval()
            if top - bottom <= tol and self.shrunk:
                self.unshrink()
                continue
            if top - bottom <= tol or self.n_iter >= limit or idle == tuning.MAX_IDLE_SETS or self.work_left_ns() < 0.0:
                self.unshrink()
                return self.status(tol, limit)
            with self.timed("select"):
                self.shrink(bottom, top)
                places = self.select(bottom, top)
            with self.timed("kernel"):
                self.fetch(places)
            with self.timed("local"):
                accuracy = tuning.TOLERANCE_SHARE * tol
                if self.size < self.n and len(places) > tuning.SETTLED_SHARE * self.size:
                    accuracy = max(accuracy, tuning.LOCAL_ACCURACY_SHARE * (top - bottom))
                change, after, gain = self.solve_locally(accuracy, limit)
            with self.timed("update"):
                n_moved = self.update(change, after)
            n_active, seconds = self.n if self.active is None else len(self.active), time.perf_counter() - self.begun
            n_steps, self.n_recorded = self.n_iter - self.n_recorded, self.n_iter
            self.trace.append(WorkingSet(top - bottom, n_active, self.size, len(places), n_moved, n_steps, seconds))
            gained += gain
            rounding = self.rounding() * float(np.abs(change).sum())
            idle = idle + 1 if gain <= max(NO_GAIN * gained, rounding) else 0

    def count_values(self, n_rows: int, n_columns: int) -> None:
        """Add the computation of kernel values to the work."""
        self.work_ns += tuning.KERNEL_VALUE_NS * n_rows * n_columns

    def work_left_ns(self) -> float:
        return self.most_work_ns - self.work_ns

    def at(self, variables: RowNumbers | None) -> tuple[Vector, Vector, Vector, Vector]:
        """beta, gradient, lower and upper of some variables; of all if None."""
        lower, upper = self.problem.lower, self.problem.upper
        if variables is None:
            return self.beta, self.gradient, lower, upper
        return self.beta[variables], self.gradient[variables], lower[variables], upper[variables]

    def bias_interval(self) -> tuple[float, float]:
        """That of the active variables."""
        return bias_interval(*self.at(self.active))

    def shrink(self, bottom: float, top: float) -> None:
        """Shrink variables that are far from leaving their bound, except members of the working set."""
        if self.size == self.n or not len(self.working):
            return
        active = np.arange(self.n) if self.active is None else self.active
        member = np.zeros(self.n, bool)
        member[self.working] = True
        kept = member[active] | ~can_be_shrunk(*self.at(self.active), bottom, top)
        if np.count_nonzero(kept) <= max_active(len(active)):
            self.shrunk.append((active[~kept], np.zeros(self.n)))
            self.active = active[kept]

    def unshrink(self) -> None:
        """Make all variables active, with the updates that they have missed."""
        with self.timed("update"):
            for columns, missed in self.shrunk:
                moved = np.flatnonzero(missed)
                gradient = self.gradient[columns]
                self.count_values(len(moved), len(columns))
                self.rows.update_gradient(gradient, moved, missed[moved], columns)
                self.gradient[columns] = gradient
        self.active, self.shrunk = None, []

    def select(self, bottom: float, top: float) -> RowNumbers:
        """Replace members of the working set by the worst violators; returns their places."""
        if not len(self.working):
            self.working = self._first_members(bottom, top)
            return np.arange(self.size)
        if self.size == self.n:
            return np.empty(0, np.intp)
        added = self.grow()
        outside = np.ones(self.n, bool)
        outside[self.working] = False
        candidates = np.flatnonzero(outside) if self.active is None else self.active[outside[self.active]]
        distance = distances(*self.at(candidates), bottom, top)
        count = max(added, min(self.most_new(), int(np.count_nonzero(distance < 0))))
        entering = candidates[_smallest(distance, count)]
        leaving = _smallest(-distances(*self.at(self.working), bottom, top), len(entering) - added)
        places = np.concatenate([np.sort(leaving), np.arange(len(self.working), len(self.working) + added)])
        self.working = np.concatenate([self.working, np.empty(added, np.intp)])
        self.working[places] = entering
        return places

    def most_new(self) -> int:
        """How many members of a working set may be new."""
        return int((1.0 - tuning.KEPT_SHARE) * self.size)

    def grow(self) -> int:
        """Enlarge the working set if free variables outnumber it; returns the number of places added."""
        n_free = np.count_nonzero(is_free(self.beta, self.problem))
        n_active = self.n if self.active is None else len(self.active)
        size = min(2 * self.size, self.last_size, n_active)
        if n_free <= self.size or size <= self.size:
            return 0
        grown = empty_block(size, size, self.rows.dtype)
        grown[: self.size, : self.size] = self.kernel[:, : self.size]
        added, self.kernel, self.size, self.kkt = size - self.size, grown, size, None
        return added

    def _first_members(self, bottom: float, top: float) -> RowNumbers:
        """All variables, those with the smallest distances, or if beta = 0 evenly spaced ones of both classes."""
        if self.size == self.n:
            return np.arange(self.n)
        if self.beta.any():
            return np.sort(_smallest(distances(*self.at(None), bottom, top), self.size))
        positive = self.problem.upper > 0
        count = max(self.size // 2, self.size - int(np.count_nonzero(~positive)))
        first = _even_part(np.flatnonzero(positive), count)
        return np.sort(np.concatenate([first, _even_part(np.flatnonzero(~positive), self.size - len(first))]))

    def fetch(self, places: RowNumbers) -> None:
        """Update the kernel values of the working set where its members changed."""
        self.count_values(len(places), self.size)
        if len(places) == self.size:
            self.rows.update_block(self.kernel, self.working, self.working)
        elif len(places):
            if len(self.fresh) < len(places) or self.fresh.shape[1] != self.kernel.shape[1]:
                self.fresh = empty_block(max(len(places), self.most_new()), self.size, self.rows.dtype)
            values = self.fresh[: len(places)]
            self.rows.update_block(values, self.working[places], self.working)
            update_border(self.kernel, places, values)
            if self.kkt is not None:
                self.kkt.replace(places)

    def solve_locally(self, tol: float, limit: float) -> tuple[Vector, Vector, float]:
        """Solve the problem of the working set; returns the change of its variables, their gradient, and the gain."""
        old, before, lower, upper = self.at(self.working)
        beta, after = old.copy(), before.copy()
        allowed = int(min(tuning.MAX_STEPS_PER_SET * len(old), limit - self.n_iter))
        part, diagonal = DualProblem(before, lower, upper), self.rows.diagonal[self.working]
        smo_newton = self.run_smo_newton(self.kernel, part, beta, after, diagonal, tol, allowed, self.kkt)
        self.kkt = smo_newton.kkt
        self.work_ns += tuning.STEP_OVERHEAD_NS
        if self.rows.dtype != np.float64:  # a float32 gradient gathers rounding errors
            smo_newton.refresh()
        self.beta[self.working] = beta
        return beta - old, after, float(0.5 * (beta - old) @ (before + after))

    def run_smo_newton(
        self,
        kernel: np.ndarray,
        part: DualProblem,
        beta: Vector,
        gradient: Vector,
        diagonal: Vector,
        tol: float,
        limit: int,
        kkt: BorderedKKT | None = None,
    ) -> SMONewton:
        """Take SMO and Newton steps on a part of the problem, whose beta and gradient are updated."""
        options: Any = {"newton_share": tuning.FIT_NEWTON_SHARE, "most_work_ns": self.work_left_ns()}
        smo_newton = SMONewton(kernel, diagonal, part, beta, gradient, kkt=kkt, **options)
        steps, _ = smo_newton.take(tol, limit, 1 + int(tuning.FIT_FIRST_STEPS * len(beta)))
        self.n_iter += steps
        self.work_ns += smo_newton.work_ns
        return smo_newton

    def update(self, change: Vector, after: Vector) -> int:
        """Update the gradient of the active variables; returns the number of variables that moved."""
        moved = np.flatnonzero(change)
        variables, change = self.working[moved], change[moved]
        if self.size == self.n:
            self.gradient[self.working] = after
            return len(moved)
        columns = self.columns_to_update()
        self.count_values(len(moved), self.n if columns is None else len(columns))
        if columns is None:
            self.rows.update_gradient(self.gradient, variables, change)
        else:
            gradient = self.gradient[columns]
            self.rows.update_gradient(gradient, variables, change, columns)
            self.gradient[self.working] = after
            self.gradient[columns] = gradient
        for _, missed in self.shrunk:
            missed[variables] += change
        return len(moved)

    def columns_to_update(self) -> RowNumbers | None:
        """The active variables, None for all; without members, whose gradient is known, if that pays for a copy."""
        n_active = self.n if self.active is None else len(self.active)
        if not self.rows.computes_columns or self.size < tuning.KNOWN_SHARE * n_active:
            return self.active
        other = np.ones(self.n, bool)
        other[self.working] = False
        return np.flatnonzero(other) if self.active is None else self.active[other[self.active]]

    def finish(self, tol: float) -> bool:
        """Try to make the solution exact; returns whether it is optimal by a gradient recomputed from beta."""
        if not len(self.working):  # it has a start, or was optimal from the start
            self.fetch(self.select(*self.bias_interval()))
        ridge = ridge_for(self.kernel, self.rows.diagonal)
        steps_ns = self.n_iter * tuning.SMO_STEP.ns(self.n)
        share_ns = min(tuning.FINISH_SHARE * steps_ns, self.work_left_ns())
        budget_ns = max(1e9 * tuning.UNNOTICED_SECONDS, share_ns)
        with self.timed("finish"):
            self.refresh()
            beta, gradient, (before, _) = self.beta.copy(), self.gradient.copy(), self.objective()
            ended, work_ns = update_to_optimum(
                self.kernel, self.beta, self.gradient, self.problem, ridge, budget_ns, tol
            )
            self.work_ns += work_ns
            self.refresh()
            after, rounding = self.objective()
            if not after >= before - rounding:  # K_FF is too close to singular
                self.beta, self.gradient, ended = beta, gradient, False
            return ended and violation(self.beta, self.gradient, self.problem) <= tol


def _even_part(items: RowNumbers, count: int) -> RowNumbers:
    """Up to `count` items, evenly spaced."""
    return items[np.linspace(0, len(items) - 1, min(len(items), count)).astype(np.intp)]


def _smallest(keys: Vector, count: int) -> RowNumbers:
    """Places of the `count` smallest keys."""
    return np.argpartition(keys, count - 1)[:count] if 0 < count < len(keys) else np.arange(min(count, len(keys)))


PADDING = 16  # numbers after each row: rows a power of two apart would compete for the same cache lines
ROWS = 128  # of the block per task: as many cache lines, each written to several times while it is close


def empty_block(n_rows: int, n_columns: int, dtype: DTypeLike) -> np.ndarray:
    """Memory for (n_rows, n_columns) values in padded rows."""
    return np.empty((n_rows, n_columns + PADDING), dtype)


def update_border(block: np.ndarray, places: RowNumbers, values: np.ndarray) -> None:
    """Set the rows and the columns `places` of a symmetric block to `values`, one row for each place."""
    parts = range(0, len(block), ROWS)
    threads.run(_update_columns, [(block, places, values, i, min(i + ROWS, len(block))) for i in parts])
    block[places] = values


@njit
def _update_columns(block, places, values, first, last):  # type: ignore[no-untyped-def]
    for k in range(len(places)):
        source, column = values[k, first:last], block[first:last, places[k]]
        for i in range(len(source)):
            column[i] = source[i]
