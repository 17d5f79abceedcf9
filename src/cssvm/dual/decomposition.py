"""The solver: pair steps on working sets, with the gradient of all other variables brought up to date in bulk.

The main loop is four verbs: select a working set of the variables that violate optimality most, fetch the kernel values
among them, solve the problem restricted to them by pair steps, update the gradient of all variables. Pair steps
inside a working set cost a microsecond each and kernel rows a hundred, so working sets are large and solved well: few
variables change more than once or twice, and their rows need not be kept. A problem no larger than one working set is
solved at one go.

Variables that rest at a bound and are far from leaving it are `asleep`: they get no updates until the others are
optimal. What they miss is kept as the change of beta since, so waking them costs one sum over the variables that
moved meanwhile, and the result is that of a solver that never let them sleep.

Small problems are then made exact by an active-set Newton finish (`polish.py`), so that sample weights mean repetition.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..runtime import threads
from ..runtime.sums import subtract_rows
from . import certificate
from .block import empty_block, update_border
from .polish import STEP_WORK, polish
from .problem import DualProblem, Round, Rows, Solution, Status, feasible, violation
from .smo import update_by_pairs

WHOLE = 4096  # problems up to this size are one working set
FIRST_SIZE = 2048  # of the working set: it doubles when free variables outnumber it
LAST_SIZE = 8192
KEPT = 0.75  # share of a working set that stays for the next one
LOCAL_ACCURACY = 0.3  # a working set is solved to this share of the violation it was chosen for
SETTLED = 0.1  # share of members that are new below which it is solved to `LOCAL_TOL` of the tolerance at once
LOCAL_TOL = 0.5
STEPS_WORK = 1 << 27  # pair steps times size between two looks at Ctrl-C, about 0.1 s
REFRESH = 20  # pair steps per member after which a float32 gradient is taken anew
LOCAL_STEPS = 200  # pair steps per member after which the whole problem is looked at again
NO_GAIN = 1e-15  # of what was gained so far: nothing but rounding
MAX_IDLE = 5  # working sets in a row without a gain before the solver calls itself stalled
MIN_POLISH = 1.5e9  # operations the finish may take in any case, about 0.1 s; else twice what pair steps took
PATIENCE = 10  # pair steps per variable before the finish has a try: on ill-conditioned kernels it is far quicker
DEEP = 1.0  # distance from leaving its bound, in violations, past which a variable may sleep
WORTH_SLEEPING = 0.7  # share of the variables awake that must remain for others to be put to sleep


class Decomposition:
    """State of one solve."""

    def __init__(self, rows: Rows, problem: DualProblem, start: np.ndarray | None):
        self.rows, self.problem = rows, problem
        self.n = len(problem.linear)
        self.last_size = max(2, min(self.n, LAST_SIZE, int((rows.budget / rows.dtype.itemsize / 2) ** 0.5)))
        self.size = self.n if self.n <= min(WHOLE, self.last_size) else min(FIRST_SIZE, self.last_size)
        self.begun = time.perf_counter()
        self.n_iter = 0
        self.trace: list[Round] = []
        self.profile = {"kernel": 0.0, "select": 0.0, "local": 0.0, "update": 0.0, "polish": 0.0}
        self.working = np.empty(0, np.intp)  # variable at each place of the working set
        self.kernel = empty_block(self.size, self.size, rows.dtype)  # its kernel values
        self.fresh = empty_block(0, 0, rows.dtype)  # room for those of new members
        self.awake: np.ndarray | None = None  # sorted; None: all
        self.asleep: list[tuple[np.ndarray, np.ndarray]] = []  # columns with the change of beta they have missed
        self.beta = np.zeros(self.n) if start is None else feasible(start, problem)
        self.gradient = problem.linear.astype(np.float64, copy=True)
        moved = np.flatnonzero(self.beta)
        if len(moved):
            rows.subtract(self.gradient, moved, self.beta[moved])

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Add the time spent inside to `profile[phase]`."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.profile[phase] += time.perf_counter() - begun

    def run(self, tol: float, max_iter: float) -> Status:
        """Bring the violation to at most `tol` and, where that is cheap, to the optimum."""
        if self.rows.dtype != np.float64 or self.size < self.n:
            return self.approach(tol, max_iter)
        patience = PATIENCE * self.n
        while True:
            status = self.approach(tol, min(max_iter, self.n_iter + patience))
            if status == Status.ITERATION_LIMIT and self.n_iter >= max_iter:
                return status
            if self.finish():
                return Status.CONVERGED
            if status != Status.ITERATION_LIMIT:
                return status
            patience *= 2

    def approach(self, tol: float, limit: float) -> Status:
        """Take working sets until the violation is at most `tol` or `limit` pair steps have been made."""
        gained, idle = 0.0, 0
        while True:
            bottom, top = self.bounds_of_bias()
            if top - bottom <= tol and self.asleep:
                self.wake()
                continue
            if top - bottom <= tol or self.n_iter >= limit or idle == MAX_IDLE:
                self.wake()
                if violation(self.beta, self.gradient, self.problem) <= tol:
                    return Status.CONVERGED
                return Status.ITERATION_LIMIT if self.n_iter >= limit else Status.STALLED
            with self.timed("select"):
                self.let_sleep(bottom, top)
                places = self.select(bottom, top)
            with self.timed("kernel"):
                self.fetch(places)
            with self.timed("local"):
                settled = self.size == self.n or len(places) <= SETTLED * self.size
                accuracy = LOCAL_TOL * tol if settled else max(LOCAL_ACCURACY * (top - bottom), LOCAL_TOL * tol)
                change, after, gain = self.solve_locally(accuracy, limit)
            with self.timed("update"):
                n_moved = self.update(change, after)
            self.record(top - bottom, len(places), n_moved)
            gained += gain
            idle = idle + 1 if gain <= NO_GAIN * gained else 0

    def bounds_of_bias(self) -> tuple[float, float]:
        """Least gradient of the variables that may shrink and largest of those that may grow, among those awake."""
        part = slice(None) if self.awake is None else self.awake
        beta, gradient = self.beta[part], self.gradient[part]
        shrinks, grows = beta > self.problem.lower[part], beta < self.problem.upper[part]
        return float(gradient[shrinks].min(initial=np.inf)), float(gradient[grows].max(initial=-np.inf))

    def let_sleep(self, bottom: float, top: float) -> None:
        """Put variables to sleep that rest at a bound, well away from leaving it."""
        if self.size == self.n:
            return
        awake = np.arange(self.n) if self.awake is None else self.awake
        needed = self.distance_inside(awake, bottom, top) <= (1.0 + DEEP) * (top - bottom)
        mask = np.zeros(self.n, bool)
        mask[awake[needed]] = True
        mask[self.working] = True
        kept = mask[awake]
        if kept.sum() <= WORTH_SLEEPING * len(awake):
            self.asleep.append((awake[~kept], np.zeros(self.n)))
            self.awake = awake[kept]

    def wake(self) -> None:
        """Give the sleeping variables the updates they have missed."""
        with self.timed("update"):
            for columns, missed in self.asleep:
                moved = np.flatnonzero(missed)
                gradient = self.gradient[columns]
                self.rows.subtract(gradient, moved, missed[moved], columns)
                self.gradient[columns] = gradient
        self.awake, self.asleep = None, []

    def distance_inside(self, variables: np.ndarray, bottom: float, top: float) -> np.ndarray:
        """How far a variable is from being picked for a step, 0 or less for one that violates optimality now.

        A variable that may grow violates if its gradient exceeds `bottom`, one that may shrink if it is below `top`.
        """
        beta, gradient = self.beta[variables], self.gradient[variables]
        growing = np.where(beta < self.problem.upper[variables], bottom - gradient, np.inf)
        shrinking = np.where(beta > self.problem.lower[variables], gradient - top, np.inf)
        return np.minimum(growing, shrinking)

    def select(self, bottom: float, top: float) -> np.ndarray:
        """Put the worst violators into the working set, in place of members at rest; returns the places they take."""
        if not len(self.working):
            self.working = self._first_members()
            return np.arange(self.size)
        if self.size == self.n:
            return np.empty(0, np.intp)
        added = self.grow()
        outside = np.ones(self.n, bool)
        outside[self.working] = False
        candidates = np.flatnonzero(outside) if self.awake is None else self.awake[outside[self.awake]]
        distance = self.distance_inside(candidates, bottom, top)
        count = max(added, min(int((1.0 - KEPT) * self.size), int(np.count_nonzero(distance < 0))))
        entering = candidates[_smallest(distance, count)]
        leaving = _smallest(-self.distance_inside(self.working, bottom, top), len(entering) - added)
        places = np.concatenate([np.sort(leaving), np.arange(len(self.working), len(self.working) + added)])
        self.working = np.concatenate([self.working, np.empty(added, np.intp)])
        self.working[places] = entering
        return places

    def grow(self) -> int:
        """Make room in the working set when free variables crowd it; returns the number of places added."""
        free = np.count_nonzero((self.beta > self.problem.lower) & (self.beta < self.problem.upper))
        n_awake = self.n if self.awake is None else len(self.awake)
        size = min(2 * self.size, self.last_size, n_awake)
        if free <= self.size or size <= self.size:
            return 0
        grown = empty_block(size, size, self.rows.dtype)
        grown[: self.size, : self.size] = self.kernel[:, : self.size]
        added, self.kernel, self.size = size - self.size, grown, size
        return added

    def _first_members(self) -> np.ndarray:
        """All variables, or an even sample of both signs."""
        if self.size == self.n:
            return np.arange(self.n)
        positive = self.problem.upper > 0
        count = max(self.size // 2, self.size - int(np.count_nonzero(~positive)))
        first = _even_part(np.flatnonzero(positive), count)
        return np.sort(np.concatenate([first, _even_part(np.flatnonzero(~positive), self.size - len(first))]))

    def fetch(self, places: np.ndarray) -> None:
        """Bring the kernel values of the working set up to date where its members changed."""
        if len(places) == self.size:
            self.rows.update_block(self.kernel, self.working, self.working)
        elif len(places):
            if len(self.fresh) < len(places) or self.fresh.shape[1] != self.kernel.shape[1]:
                self.fresh = empty_block(max(len(places), int((1.0 - KEPT) * self.size)), self.size, self.rows.dtype)
            values = self.fresh[: len(places)]
            self.rows.update_block(values, self.working[places], self.working)
            update_border(self.kernel, places, values)

    def solve_locally(self, tol: float, limit: float) -> tuple[np.ndarray, np.ndarray, float]:
        """Pair steps inside the working set; returns the change of its variables, their gradient, and the gain."""
        working, dtype = self.working, self.rows.dtype
        old, before = self.beta[working], self.gradient[working]
        lower, upper = self.problem.lower[working], self.problem.upper[working]
        diagonal = self.rows.diagonal[working].astype(dtype)
        beta, after = old.copy(), before.copy()
        limit = min(limit, self.n_iter + LOCAL_STEPS * len(working))
        while True:
            gradient = after.astype(dtype)
            steps = self._pair_steps(gradient, diagonal, beta, lower, upper, tol, limit)
            if dtype == np.float64:
                after = gradient
            else:  # a float32 gradient gathers rounding errors: take it anew from the change of beta
                after = before.copy()
                moved = np.flatnonzero(beta != old)
                subtract_rows(after, self.kernel, moved, (beta - old)[moved])
            if steps < REFRESH * len(working):
                break
        self.beta[working] = beta
        return beta - old, after, float(0.5 * (beta - old) @ (before + after))

    def _pair_steps(self, gradient, diagonal, beta, lower, upper, tol, limit):  # type: ignore[no-untyped-def]
        """Up to `REFRESH` pair steps per member, looking out for Ctrl-C; returns their number."""
        q, begun = len(beta), self.n_iter
        limit = min(limit, begun + REFRESH * q)
        while self.n_iter < limit:
            allowed = int(min(max(1, STEPS_WORK // q), limit - self.n_iter))
            steps, _ = update_by_pairs(self.kernel, diagonal, gradient, beta, lower, upper, tol, allowed)
            self.n_iter += steps
            if steps < allowed:
                break
        return self.n_iter - begun

    def update(self, change: np.ndarray, after: np.ndarray) -> int:
        """Bring the gradient of the variables awake up to date; returns the number of variables that moved."""
        moved = np.flatnonzero(change)
        variables, change = self.working[moved], change[moved]
        if self.size == self.n:
            self.gradient[self.working] = after
            return len(moved)
        if self.awake is None:
            self.rows.subtract(self.gradient, variables, change)
            return len(moved)
        gradient = self.gradient[self.awake]
        self.rows.subtract(gradient, variables, change, self.awake)
        self.gradient[self.awake] = gradient
        for _, missed in self.asleep:
            missed[variables] += change
        return len(moved)

    def record(self, violation: float, n_entered: int, n_moved: int) -> None:
        """Enter a working set into the trace."""
        n_awake = self.n if self.awake is None else len(self.awake)
        n_steps = self.n_iter - sum(past.n_steps for past in self.trace)
        seconds = time.perf_counter() - self.begun
        self.trace.append(Round(violation, n_awake, self.size, n_entered, n_moved, n_steps, seconds))

    def finish(self) -> bool:
        """Try to make the solution exact; True on success."""
        if not len(self.working):  # the start was optimal already
            self.fetch(self.select(*self.bounds_of_bias()))
        work = max(MIN_POLISH, 2 * STEP_WORK * self.n * self.n_iter)
        with self.timed("polish"):
            return polish(self.kernel[:, : self.n], self.problem, self.beta, self.gradient, work)


def _even_part(items: np.ndarray, count: int) -> np.ndarray:
    """Up to `count` items, evenly spaced."""
    return items[np.linspace(0, len(items) - 1, min(len(items), count)).astype(np.intp)]


def _smallest(keys: np.ndarray, count: int) -> np.ndarray:
    """Places of the `count` smallest keys."""
    return np.argpartition(keys, count - 1)[:count] if 0 < count < len(keys) else np.arange(min(count, len(keys)))


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
    with threads.own_threads():
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
        trace=state.trace,
    )
