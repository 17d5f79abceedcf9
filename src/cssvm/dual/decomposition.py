"""The solver: working sets on kernel rows in blocks.

Solves the problem of `problem.py` given kernel rows. The main loop is four verbs: select a working set of the
variables that violate optimality most, fetch their kernel rows, solve the problem restricted to them by pair steps,
update the gradient of all variables with the rows of those that changed. A problem no larger than one working set is
solved at one go.

When pair steps have reached the tolerance, an active-set Newton finish (`polish.py`) makes problems with few free
variables exact, so that sample weights mean repetition and results do not carry the tolerance's arbitrariness.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .. import _threads
from . import certificate
from .gradient import update_block, update_gradient
from .polish import polish
from .problem import DualProblem, Rows, Solution, Status, feasible, violation
from .smo import update_by_pairs

WHOLE = 4096  # problems up to this size are one working set
WORKING_SET = 1024
KEPT = 0.5  # share of a working set that stays for the next one
LOCAL_ACCURACY = 0.1  # a working set is solved to this share of the violation it was chosen for
STEPS_WORK = 1 << 27  # pair steps times size between two looks at Ctrl-C, about 0.1 s
MAX_IDLE = 5  # working sets in a row without a gain before the solver calls itself stalled
POLISHED = 1500  # free variables the finish factorises at once: all that a problem in float64 usually has
PATIENCE = 10  # pair steps per variable before the finish has a try: on ill-conditioned kernels it is far quicker


class Decomposition:
    """State of one solve."""

    def __init__(self, rows: Rows, problem: DualProblem, start: np.ndarray | None):
        self.rows, self.problem = rows, problem
        self.n = len(problem.linear)
        self.size = self.n if self.n <= min(WHOLE, rows.capacity) else min(WORKING_SET, rows.capacity)
        self.n_iter = 0
        self.profile = {"kernel": 0.0, "select": 0.0, "local": 0.0, "update": 0.0, "polish": 0.0}
        self.working = np.empty(0, np.intp)
        self.beta = np.zeros(self.n) if start is None else feasible(start, problem)
        self.gradient = problem.linear.astype(np.float64, copy=True)
        moved = np.flatnonzero(self.beta)
        if len(moved):
            self.gradient -= rows.product(moved, self.beta[moved])

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Add the time spent inside to `profile[phase]`."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.profile[phase] += time.perf_counter() - begun

    def run(self, tol: float, max_iter: float) -> Status:
        """Take working sets until the violation is at most `tol` and, where that is cheap, on to the optimum."""
        if self.rows.dtype != np.float64 or self.size < self.n:
            return self.approach(tol, max_iter)
        patience = PATIENCE * self.n
        while True:
            status = self.approach(tol, min(max_iter, self.n_iter + patience))
            stopped = status != Status.ITERATION_LIMIT or self.n_iter >= max_iter
            if self.finish():
                return Status.CONVERGED
            if stopped:
                return status
            patience *= 2

    def approach(self, tol: float, limit: float) -> Status:
        """Take working sets until the violation is at most `tol` or `limit` pair steps have been made."""
        objective, idle = float("-inf"), 0
        while True:
            left = violation(self.beta, self.gradient, self.problem)
            if left <= tol:
                return Status.CONVERGED
            if self.n_iter >= limit:
                return Status.ITERATION_LIMIT
            reached = float(0.5 * self.beta @ (self.problem.linear + self.gradient))
            idle = idle + 1 if reached <= objective + 1e-15 * abs(objective) else 0
            objective = max(objective, reached)
            if idle == MAX_IDLE:
                return Status.STALLED
            self.select()
            local_tol = 0.9 * tol if self.size == self.n else max(LOCAL_ACCURACY * left, 0.5 * tol)
            self.update(*self.solve_locally(local_tol, limit - self.n_iter))

    def select(self) -> None:
        """Choose the working set: a part of the last one, then the worst violators of both sides."""
        with self.timed("select"):
            if self.size == self.n:
                self.working = np.arange(self.n)
                return
            beta, (_, lower, upper) = self.beta, self.problem
            grows, shrinks = beta < upper, beta > lower
            chosen = np.zeros(self.n, bool)
            if len(self.working):
                keep = self.working[(grows & shrinks)[self.working]][: int(KEPT * self.size)]
                chosen[keep] = True
            half = (self.size - int(chosen.sum())) // 2
            ascending = np.where(grows & ~chosen, -self.gradient, np.inf)
            chosen[_smallest(ascending, half)] = True
            descending = np.where(shrinks & ~chosen, self.gradient, np.inf)
            chosen[_smallest(descending, self.size - int(chosen.sum()))] = True
            self.working = np.flatnonzero(chosen)

    def solve_locally(self, tol: float, max_steps: float) -> tuple[np.ndarray, np.ndarray]:
        """Pair steps inside the working set; returns places of its rows and the change of its variables."""
        working, rows = self.working, self.rows
        with self.timed("kernel"):
            slots = rows.fetch(working)
            kernel = self._block(slots)
        with self.timed("local"):
            beta = self.beta[working]
            lower, upper = self.problem.lower[working], self.problem.upper[working]
            gradient = self.gradient[working].astype(rows.dtype)
            diagonal = rows.diagonal[working].astype(rows.dtype)
            steps_at_once = max(1, STEPS_WORK // len(working))
            while max_steps > 0:
                allowed = int(min(steps_at_once, max_steps))
                steps, _ = update_by_pairs(kernel, diagonal, gradient, beta, lower, upper, tol, allowed)
                self.n_iter += steps
                max_steps -= steps
                if steps < allowed:
                    break
            change = beta - self.beta[working]
            self.beta[working] = beta
        return slots, change

    def _block(self, slots: np.ndarray) -> np.ndarray:
        """The working set's kernel values among themselves, (q, q)."""
        store, working = self.rows.store, self.working
        if len(working) == store.shape[1] == len(store) and np.array_equal(slots, working):
            return store
        block = np.empty((len(working), len(working)), store.dtype)
        update_block(block, store, slots, working)
        return block

    def update(self, slots: np.ndarray, change: np.ndarray) -> None:
        """Bring the gradient of all variables up to date."""
        with self.timed("update"):
            changed = change != 0
            update_gradient(self.gradient, self.rows.store, slots[changed], change[changed])

    def finish(self) -> bool:
        """Try to make the solution exact; True on success."""
        with self.timed("polish"):
            return polish(self.rows, self.problem, self.beta, self.gradient, POLISHED)


def _smallest(keys: np.ndarray, count: int) -> np.ndarray:
    """Indices of up to `count` smallest finite keys."""
    count = min(count, int(np.count_nonzero(np.isfinite(keys))))
    if count <= 0:
        return np.empty(0, np.intp)
    return np.argpartition(keys, count - 1)[:count]


def solve(
    rows: Rows, problem: DualProblem, *, tol: float = 1e-3, max_iter: int = -1, start: np.ndarray | None = None
) -> Solution:
    """Maximise the dual to a violation of at most `tol`.

    Parameters
    ----------
    rows : kernel rows, see `Rows`
    problem : DualProblem
    tol : float
        Largest violation of optimality allowed, in units of the decision function.
    max_iter : int
        Limit on pair steps; -1 for none.
    start : (n,) array, optional
        Where to begin; put into the bounds and balanced if need be.
    """
    with _threads.own_threads():
        state = Decomposition(rows, problem, start)
        status = state.run(tol, np.inf if max_iter < 0 else max_iter)
        bias = certificate.best_bias(state.gradient, problem)
        primal, dual = certificate.objectives(state.beta, state.gradient, bias, problem)
    return Solution(
        beta=state.beta,
        bias=bias,
        gradient=state.gradient,
        status=status,
        n_iter=state.n_iter,
        violation=violation(state.beta, state.gradient, problem),
        primal_objective=primal,
        dual_objective=dual,
        gap=certificate.relative_gap(primal, dual),
        profile=state.profile,
    )
