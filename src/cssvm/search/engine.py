"""The scores of every machine on every fold: all costs and all C of a kernel from one kernel matrix.

    for each fold, for each kernel:          a task, on one thread
        kernel matrix of the training rows   one pass over shared distances or products
        for each pair of slopes:             a path
            for C ascending:                 solve, begun from the last solution
        scores of the validation rows        one product with the solutions of all machines

What the scores are used for is not known here: `results` hands them to a function of the caller, on the thread of the
task, and yields what it returns.

Where the shared numbers and a kernel matrix for each thread exceed the memory allowed, tasks run one after another on
the streaming solver, which holds no kernel matrix; it warm-starts along C in the same way.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._types import RowNumbers, Vector
from ..costs import margins_and_boxes, signed_terms
from ..dual import DualProblem, Workspace, solve, solve_path
from ..kernels import Kernel, SharedValues, float32_suffices
from ..runtime import threads
from ..runtime.memory import memory_budget
from ..sample import Sample
from .features import Features
from .folds import Fold
from .grid import Grid, MachineKey

# Validation rows scored at a time.
BAND = 256

# Share of the memory allowed that matrices of all rows may take; Newton rounds and their factors need the rest.
FOR_MATRICES = 0.75

Result = TypeVar("Result")


class Task(NamedTuple):
    """One kernel of the grid on one fold, by their numbers."""

    kernel: int
    fold: int


class FoldScores(NamedTuple):
    """What a task gives.

    scores : for each machine the scores (n_valid,) float64 of the validation rows, positive for the target;
    n_failed : how many machines did not converge.
    """

    scores: dict[MachineKey, Vector]
    n_failed: int


@dataclass
class Machines:
    """What is trained: the machines of a grid on the training rows of every fold."""

    features: Features
    sample: Sample
    folds: Sequence[Fold]
    grid: Grid
    tol: float
    cache_size: Any
    units: list[DualProblem] = field(init=False)  # of each path, all rows, at C = 1, target class positive

    def __post_init__(self) -> None:
        self.units = [self._unit(number) for number in range(len(self.grid.paths))]

    def _unit(self, number: int) -> DualProblem:
        path = self.grid.paths[number]
        sample = self.sample.priced(path.fn_cost, path.fp_cost)
        margins, boxes = margins_and_boxes(
            sample.positive, sample.stakes, kappa=path.kappa or 1.0, fp_cost=sample.fp_cost
        )
        return DualProblem(*signed_terms(sample.signs, margins, boxes))

    def problem_of(self, path: int, train: RowNumbers) -> tuple[RowNumbers, DualProblem]:
        """The training rows that cost something, and their problem at C = 1."""
        linear, lower, upper = self.units[path]
        rows = train[upper[train] > lower[train]]
        return rows, DualProblem(linear[rows], lower[rows], upper[rows])

    @property
    def largest_boxes(self) -> Vector:
        """The largest box of any machine on each row, (n,)."""
        unit = np.max([problem.upper - problem.lower for problem in self.units], axis=0)
        return float(self.grid.Cs[-1]) * unit


class Worker(Protocol):
    """A way to train the machines of a task; several tasks may call it at a time."""

    def scores(
        self, kernel: Kernel, fold: int, wanted: Collection[MachineKey], stop: threading.Event
    ) -> FoldScores | None:
        """Scores of the wanted machines; None if `stop` was set meanwhile."""


def results(
    machines: Machines,
    tasks: Sequence[Task],
    *,
    n_jobs: int,
    wanted: Callable[[Task], Collection[MachineKey]],
    use: Callable[[Task, FoldScores], Result],
) -> Iterator[Result]:
    """Carry out tasks, in about this order, and yield ``use(task, scores)`` of each as it comes.

    `wanted` is asked when a task begins which machines to train. An iteration that is ended early waits for the tasks
    under way, which stop at their next machine.
    """
    if not tasks:
        return
    with threads.own_threads() as n_threads:
        worker, n_workers = make_worker(machines, max(1, min(n_jobs, n_threads, len(tasks))))
        stop = threading.Event()

        def carry_out(kernel: int, fold: int) -> Result | None:
            task = Task(kernel, fold)
            keys = wanted(task)
            found = worker.scores(machines.grid.kernels[kernel], fold, keys, stop) if keys else FoldScores({}, 0)
            return None if found is None else use(task, found)

        for result in threads.completed(carry_out, tasks, n_workers, stop.set):
            if result is not None:
                yield result


def make_worker(machines: Machines, n_workers: int) -> tuple[Worker, int]:
    """The way of working that fits into memory, and how many tasks may run side by side."""
    n = len(machines.sample)
    kernel = machines.grid.kernels[0]
    dtype = np.float32 if float32_suffices(kernel, machines.largest_boxes, machines.tol) else np.float64
    largest = max(len(fold.train) for fold in machines.folds)
    shared = n**2 * np.dtype(dtype).itemsize
    needed = [shared + count * Workspace.bytes_needed(largest, dtype) for count in range(n_workers + 1)]
    budget = FOR_MATRICES * memory_budget(machines.cache_size, 2 * needed[-1])
    for count in range(n_workers, 0, -1):
        if needed[count] <= budget:
            return MatrixWorker(machines, dtype, largest, count), count
    return StreamingWorker(machines), 1


class MatrixWorker:
    """Tasks with the kernel matrix of their training rows in memory."""

    def __init__(self, machines: Machines, dtype: Any, largest: int, n_workers: int):
        self.machines, self.dtype = machines, dtype
        self._shared: dict[int, SharedValues] = {}
        self._lock = threading.Lock()
        self._workspaces: queue.SimpleQueue[Workspace] = queue.SimpleQueue()
        for _ in range(n_workers):
            self._workspaces.put(Workspace(largest, dtype))
        if machines.features.same_for_all_folds:
            self.shared(0)  # here, on all threads

    def shared(self, fold: int) -> SharedValues:
        """Distances or products of the rows of a fold; of all folds, unless each has an X of its own."""
        features = self.machines.features
        key = 0 if features.same_for_all_folds else fold
        with self._lock:
            if key not in self._shared:
                self._shared.clear()
                X = features.of_fold(self.machines.folds[fold])
                self._shared[key] = self.machines.grid.kernels[0].shared(X, self.dtype)
            return self._shared[key]

    def scores(
        self, kernel: Kernel, fold: int, wanted: Collection[MachineKey], stop: threading.Event
    ) -> FoldScores | None:
        """As `Worker` says, in a workspace that no other task has at the time."""
        workspace = self._workspaces.get()
        try:
            return self._scores(workspace, kernel, fold, wanted, stop)
        finally:
            self._workspaces.put(workspace)

    def _scores(
        self, workspace: Workspace, kernel: Kernel, fold: int, wanted: Collection[MachineKey], stop: threading.Event
    ) -> FoldScores | None:
        machines, shared = self.machines, self.shared(fold)
        train, valid = machines.folds[fold]
        diagonal = shared.diagonal(kernel)
        filled: RowNumbers | None = None
        keys, coefs, biases, n_failed = [], [], [], 0
        for path, steps in _by_path(wanted):
            rows, unit = machines.problem_of(path, train)
            if filled is None or not np.array_equal(filled, rows):
                matrix = workspace.matrix(len(rows))
                shared.update_block(matrix, kernel, rows, rows)
                filled = rows
            Cs = machines.grid.Cs[steps].tolist()
            solutions = solve_path(matrix, diagonal[rows], unit, Cs, tol=machines.tol, workspace=workspace)
            for step in steps:
                if stop.is_set():
                    return None
                solution = next(solutions)
                n_failed += not solution.converged
                keys.append(MachineKey(path, step))
                coefs.append(_spread(solution.beta, rows, train))
                biases.append(solution.bias)
        values = self._products(shared, kernel, train, valid, np.array(coefs).T) + np.array(biases)
        return FoldScores(dict(zip(keys, values.T, strict=True)), n_failed)

    def _products(
        self, shared: SharedValues, kernel: Kernel, train: RowNumbers, valid: RowNumbers, coefs: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """K[valid][:, train] @ coefs, (n_valid, n_machines) float64."""
        out = np.empty((len(valid), coefs.shape[1]))
        block = np.empty((BAND, len(train)), self.dtype)
        for i in range(0, len(valid), BAND):
            part = valid[i : i + BAND]
            shared.update_block(block, kernel, part, train)
            out[i : i + BAND] = block[: len(part)].astype(np.float64) @ coefs
        return out


class StreamingWorker:
    """Tasks without a kernel matrix, one at a time, each on all threads."""

    def __init__(self, machines: Machines):
        self.machines = machines

    def scores(
        self, kernel: Kernel, fold: int, wanted: Collection[MachineKey], stop: threading.Event
    ) -> FoldScores | None:
        """As `Worker` says."""
        machines = self.machines
        train, valid = machines.folds[fold]
        X = machines.features.of_fold(machines.folds[fold])
        scores, n_failed = {}, 0
        for path, steps in _by_path(wanted):
            rows, unit = machines.problem_of(path, train)
            X_train, X_valid = kernel.select(X, rows, rows), kernel.select(X, valid, rows)
            largest = float(machines.grid.Cs[-1]) * (unit.upper - unit.lower)
            provider = kernel.rows(X_train, boxes=largest, tol=machines.tol, cache_size=machines.cache_size)
            start: Vector | None = None
            last = 1.0
            for step in steps:
                if stop.is_set():
                    return None
                C = float(machines.grid.Cs[step])
                begin = None if start is None else start * (C / last)
                solution = solve(provider, unit.scaled(C), tol=machines.tol, start=begin)
                start, last = solution.beta, C
                n_failed += not solution.converged
                used = np.flatnonzero(solution.beta)
                expansion = kernel.expand(X_valid, used, kernel.vectors(X_train, used), solution.beta[used])
                scores[MachineKey(path, step)] = expansion + solution.bias
        return FoldScores(scores, n_failed)


def _by_path(wanted: Collection[MachineKey]) -> list[tuple[int, list[int]]]:
    """Each path with its wanted steps, ascending."""
    paths = sorted({key.path for key in wanted})
    return [(path, sorted(key.step for key in wanted if key.path == path)) for path in paths]


def _spread(beta: Vector, rows: RowNumbers, train: RowNumbers) -> Vector:
    """The beta of `rows` at their places among the training rows."""
    if len(rows) == len(train):
        return beta
    spread = np.zeros(len(train))
    spread[np.searchsorted(train, rows)] = beta
    return spread


def all_tasks(grid: Grid, n_folds: int, *, by_fold: bool) -> list[Task]:
    """All tasks: kernel by kernel, so that whole points are done early, or fold by fold."""
    kernels, folds = range(len(grid.kernels)), range(n_folds)
    if by_fold:
        return [Task(kernel, fold) for fold in folds for kernel in kernels]
    return [Task(kernel, fold) for kernel in kernels for fold in folds]
