"""The work of a search: every kernel on every fold, all costs and all C from one kernel matrix.

    for each fold, for each kernel:          a task, on one thread
        kernel matrix of the training rows   one pass over shared distances or products
        for each pair of slopes:             a path
            for C ascending:                 solve, begun from the last solution
        scores of the validation rows        one product with the solutions of all machines
        the value of every point             kappa is an affine map of these scores

Where the shared numbers and a kernel matrix for each thread exceed the memory allowed, tasks run one after another on
the streaming solver, which holds no kernel matrix; it warm-starts along C in the same way.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import Vector
from ..costs import margins_and_boxes
from ..dual import DualProblem, Workspace, solve, solve_path
from ..estimators.machine import PRECOMPUTED, kernel_sum, select
from ..kernels import Kernel, SharedValues, float32_suffices, kernel_rows, memory_budget
from ..runtime import threads
from .folds import Fold
from .grid import Grid
from .scoring import Rows, ScorerScoring, Scoring

# Validation rows scored at a time.
BAND = 256

# Share of the memory allowed that matrices of all rows may take; Newton rounds and their factors need the rest.
FOR_MATRICES = 0.75


@dataclass
class Problem:
    """What is searched: rows, folds, grid and scoring; `features` gives the X of a fold (the same or transformed)."""

    rows: Rows
    folds: Sequence[Fold]
    grid: Grid
    scoring: Scoring | ScorerScoring
    features: Callable[[int], Any]
    one_X: bool
    tol: float
    cache_size: Any
    targets: NDArray[Any] = field(init=False)
    units: list[DualProblem] = field(init=False)

    def __post_init__(self) -> None:
        self.targets = self.rows.targets
        self.units = [self._unit(number) for number in range(len(self.grid.paths))]

    def _unit(self, number: int) -> DualProblem:
        """The dual problem of all rows at C = 1 on one path, target class positive."""
        rows, path = self.rows, self.grid.paths[number]
        margins, boxes = margins_and_boxes(
            self.targets,
            fn_cost=_scaled(rows.fn_cost, path.fn_cost),
            fp_cost=_scaled(rows.fp_cost, path.fp_cost),
            kappa=path.kappa or 1.0,
            sample_weight=rows.weights,
        )
        return DualProblem.from_margins(self.targets, margins, boxes)

    def problem_of(self, path: int, train: NDArray[np.intp]) -> tuple[NDArray[np.intp], DualProblem]:
        """The training rows that cost something, and their problem at C = 1."""
        linear, lower, upper = self.units[path]
        rows = train[upper[train] > lower[train]]
        return rows, DualProblem(linear[rows], lower[rows], upper[rows])

    @property
    def largest_boxes(self) -> Vector:
        """The largest box of any machine on each row, (n,)."""
        unit = np.max([problem.upper - problem.lower for problem in self.units], axis=0)
        return float(self.grid.Cs[-1]) * unit


@dataclass(frozen=True)
class Outcome:
    """Values (n_points,) of one kernel's points on one fold, NaN for points of other kernels or dropped ones."""

    kernel: int
    fold: int
    values: Vector
    n_failed: int


def _scaled(cost: Any, slope: float) -> Any:
    """A class's slope; with a cost for every row, that many times each of them."""
    return slope if np.ndim(cost) == 0 else slope * np.asarray(cost)


def outcomes(problem: Problem, tasks: Sequence[tuple[int, int]], n_jobs: int, alive: Any) -> Iterator[Outcome]:
    """Carry out tasks (kernel, fold), in about this order, and yield what they give as it comes.

    alive(point) tells whether a point is still wanted. An iteration that is ended early waits for the tasks under way,
    which stop at their next machine.
    """
    with threads.own_threads() as n_threads:
        n_workers = max(1, min(n_jobs, n_threads, len(tasks)))
        worker, n_workers = make_worker(problem, n_workers)
        stop = threading.Event()
        yield from threads.completed(
            lambda kernel, fold: _carry_out(problem, worker, kernel, fold, alive, stop), tasks, n_workers, stop.set
        )


def _carry_out(problem: Problem, worker: Any, kernel: int, fold: int, alive: Any, stop: threading.Event) -> Outcome:
    grid, valid = problem.grid, problem.folds[fold].valid
    values = np.full(len(grid.points), np.nan)
    numbers = [n for n, point in enumerate(grid.points) if point.kernel == kernel and alive(n)]
    wanted = {(grid.points[n].path, grid.points[n].step) for n in numbers}
    scores, n_failed = worker.scores(kernel, fold, wanted, stop) if numbers else ({}, 0)
    if scores:
        points = [grid.points[n] for n in numbers]
        place = {machine: k for k, machine in enumerate(scores)}
        places = [place[point.path, point.step] for point in points]
        of_machine = np.array(list(scores.values()))
        if problem.scoring.ranking:  # an increasing map of the scores leaves their ranking as it is
            values[numbers] = problem.scoring.evaluate(of_machine, valid)[places]
        else:
            affine = np.array([point.affine for point in points])
            of_point = affine[:, :1] * of_machine[places] + affine[:, 1:]
            values[numbers] = problem.scoring.evaluate(of_point, valid)
    return Outcome(kernel, fold, values, n_failed)


def make_worker(problem: Problem, n_workers: int) -> tuple[Any, int]:
    """The way of working that fits into memory, and how many tasks may run side by side."""
    n = len(problem.targets)
    dtype = np.float32 if float32_suffices(problem.grid.kernels[0], problem.largest_boxes, problem.tol) else np.float64
    size = np.dtype(dtype).itemsize
    largest = max(len(fold.train) for fold in problem.folds)
    needed = [size * n**2 + count * Workspace.bytes_needed(largest, dtype) for count in range(n_workers + 1)]
    budget = FOR_MATRICES * memory_budget(problem.cache_size, 2 * needed[-1])
    for count in range(n_workers, 0, -1):
        if needed[count] <= budget:
            return MatrixWorker(problem, dtype, largest, count), count
    return StreamingWorker(problem), 1


class MatrixWorker:
    """Tasks with the kernel matrix of their training rows in memory."""

    def __init__(self, problem: Problem, dtype: Any, largest: int, n_workers: int):
        self.problem, self.dtype = problem, dtype
        self._shared: dict[int, SharedValues] = {}
        self._lock = threading.Lock()
        self._workspaces: queue.SimpleQueue[Workspace] = queue.SimpleQueue()
        for _ in range(n_workers):
            self._workspaces.put(Workspace(largest, dtype))
        if problem.one_X:
            self.shared(0)  # here, on all threads

    def shared(self, fold: int) -> SharedValues:
        """Distances or products of the rows of a fold; of all folds, unless each has an X of its own."""
        key = 0 if self.problem.one_X else fold
        with self._lock:
            if key not in self._shared:
                self._shared.clear()
                X = self.problem.features(fold)
                self._shared[key] = SharedValues.compute(self.problem.grid.kernels[0], X, self.dtype)
            return self._shared[key]

    def scores(self, kernel: int, fold: int, wanted: Any, stop: threading.Event) -> tuple[dict[Any, Vector], int]:
        """Scores (n_valid,) of the wanted machines (path, step), and how many did not converge."""
        workspace = self._workspaces.get()
        try:
            return self._scores(workspace, self.problem.grid.kernels[kernel], fold, wanted, stop)
        finally:
            self._workspaces.put(workspace)

    def _scores(self, workspace: Workspace, kernel: Kernel, fold: int, wanted: Any, stop: threading.Event) -> Any:
        problem, shared = self.problem, self.shared(fold)
        train, valid = problem.folds[fold]
        diagonal = shared.diagonal(kernel)
        filled: Any = None
        machines, coefs, biases, n_failed = [], [], [], 0
        for path in sorted({path for path, _ in wanted}):
            rows, unit = problem.problem_of(path, train)
            if filled is None or not np.array_equal(filled, rows):
                matrix = workspace.matrix(len(rows))
                shared.update_block(matrix, kernel, rows, rows)
                filled = rows
            steps = sorted(step for other, step in wanted if other == path)
            solutions = solve_path(
                matrix, diagonal[rows], unit, problem.grid.Cs[steps], tol=problem.tol, workspace=workspace
            )
            for step in steps:
                if stop.is_set():
                    return {}, 0
                solution = next(solutions)
                n_failed += not solution.converged
                machines.append((path, step))
                coefs.append(_spread(solution.beta, rows, train))
                biases.append(solution.bias)
        values = self._products(shared, kernel, train, valid, np.array(coefs).T) + np.array(biases)
        return dict(zip(machines, values.T, strict=True)), n_failed

    def _products(self, shared: SharedValues, kernel: Kernel, train: Any, valid: Any, coefs: Any) -> NDArray[Any]:
        """K[valid][:, train] @ coefs, (n_valid, n_machines) float64."""
        out = np.empty((len(valid), coefs.shape[1]))
        block = np.empty((BAND, len(train)), self.dtype)
        for i in range(0, len(valid), BAND):
            part = valid[i : i + BAND]
            shared.update_block(block, kernel, part, train)
            out[i : i + BAND] = block[: len(part)].astype(np.float64) @ coefs
        return out


def _spread(beta: Vector, rows: NDArray[Any], train: NDArray[Any]) -> Vector:
    """The beta of `rows` at their places among the training rows."""
    if len(rows) == len(train):
        return beta
    spread = np.zeros(len(train))
    spread[np.searchsorted(train, rows)] = beta
    return spread


class StreamingWorker:
    """Tasks without a kernel matrix, one at a time, each on all threads."""

    def __init__(self, problem: Problem):
        self.problem = problem

    def scores(self, kernel: int, fold: int, wanted: Any, stop: threading.Event) -> tuple[dict[Any, Vector], int]:
        """Scores (n_valid,) of the wanted machines (path, step), and how many did not converge."""
        problem, chosen = self.problem, self.problem.grid.kernels[kernel]
        train, valid = problem.folds[fold]
        X, precomputed = problem.features(fold), chosen.name == PRECOMPUTED
        scores, n_failed = {}, 0
        for path in sorted({path for path, _ in wanted}):
            rows, unit = problem.problem_of(path, train)
            X_train = select(X, rows, rows, precomputed=precomputed)
            X_valid = select(X, valid, rows, precomputed=precomputed)
            largest = float(problem.grid.Cs[-1]) * (unit.upper - unit.lower)
            provider = kernel_rows(chosen, X_train, boxes=largest, tol=problem.tol, cache_size=problem.cache_size)
            start: Vector | None = None
            last = 1.0
            for step in sorted(step for other, step in wanted if other == path):
                if stop.is_set():
                    return {}, 0
                C = float(problem.grid.Cs[step])
                begin = None if start is None else start * (C / last)
                solution = solve(provider, unit.scaled(C), tol=problem.tol, start=begin)
                start, last = solution.beta, C
                n_failed += not solution.converged
                used = np.flatnonzero(solution.beta).astype(np.int32)
                vectors = None if precomputed else X_train[used]
                scores[path, step] = kernel_sum(chosen, X_valid, used, vectors, solution.beta[used]) + solution.bias
        return scores, n_failed


def all_tasks(grid: Grid, n_folds: int, *, by_fold: bool) -> list[tuple[int, int]]:
    """(kernel, fold) of all tasks: kernel by kernel, so that whole points are done early, or fold by fold."""
    kernels, folds = range(len(grid.kernels)), range(n_folds)
    if by_fold:
        return [(kernel, fold) for fold in folds for kernel in kernels]
    return [(kernel, fold) for kernel in kernels for fold in folds]
