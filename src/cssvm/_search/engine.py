"""The scores of every machine on every fold: all costs and all C of a kernel from one kernel matrix.

    for each fold, for each kernel:          a task, on one thread
        kernel matrix of the training rows   one pass over shared distances or products
        for each pair of slopes:             a path
            for C ascending:                 solve, begun from the last solution
        scores of the validation rows        one product with the solutions of all machines

A task may be asked for its machines a few steps of C at a time: it then goes on from its last solutions, exactly as if
it had not stopped. What the scores are used for is not known here: `Engine.results` hands them to a function of the
caller, on the thread of the task, and yields what it returns.

Where the shared numbers and a kernel matrix for each thread exceed the memory allowed, tasks run one after another on
the streaming solver, which holds no kernel matrix; it warm-starts along C in the same way. Machines that are no kernel
machines say how they are trained, by a `Worker` of their own.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from .._core.costs import margins_and_upper_bounds, signed_terms
from .._core.folds import Fold
from .._core.samples import Samples
from .._core.types import RowNumbers, Vector
from .._kernels import SharedValues, error_allowed, float32_suffices
from .._runtime import threads
from .._runtime.memory import memory_budget
from .._solvers.dual import DualPath, DualProblem, PathState, Workspace, solve
from .features import Features
from .grid import Grid, MachineKey
from .matrices import MatrixStore

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
    sample: Samples
    folds: Sequence[Fold]
    grid: Grid
    tol: float
    cache_size: Any
    make_worker: MakeWorker | None = None  # how they are trained; None for kernel machines
    units: list[DualProblem] = field(init=False)  # of each path, all rows, at C = 1, target class positive

    def __post_init__(self) -> None:
        self.units = [self._unit(number) for number in range(len(self.grid.paths))]

    def _unit(self, number: int) -> DualProblem:
        path = self.grid.paths[number]
        sample = self.sample.priced(path.fn_cost, path.fp_cost)
        margins, upper_bounds = margins_and_upper_bounds(
            sample.positive, sample.weighted_costs, kappa=path.kappa or 1.0, fp_cost=sample.fp_cost
        )
        return DualProblem(*signed_terms(sample.signs, margins, upper_bounds))

    def problem_of(self, path: int, train: RowNumbers) -> tuple[RowNumbers, DualProblem]:
        """Where among the training samples those that cost something are, and their problem at C = 1."""
        linear, lower, upper = self.units[path]
        kept = np.flatnonzero(upper[train] > lower[train])
        rows = train[kept]
        return kept, DualProblem(linear[rows], lower[rows], upper[rows])

    def steps_after(self, C: float, last: int) -> range:
        """The steps from the first one past `C` to the `last`."""
        return range(int(np.searchsorted(self.grid.Cs, C, side="right")), last + 1)

    @property
    def largest_boxes(self) -> Vector:
        """The largest upper bound of any machine on each row, (n,)."""
        unit = np.max([problem.upper - problem.lower for problem in self.units], axis=0)
        return float(self.grid.Cs[-1]) * unit


class Worker(Protocol):
    """A way to train the machines of a task; several tasks may call it at a time."""

    by_fold: bool  # whether to do all kernels of a fold in a row saves time

    def scores(self, task: Task, wanted: Collection[MachineKey], stop: threading.Event) -> FoldScores | None:
        """Scores of the wanted machines; None if `stop` was set meanwhile."""

    def forget(self) -> None:
        """Forget the solutions that tasks might have gone on from."""


# For machines, threads and a number of tasks to go on with: a worker, and how many tasks may run side by side.
MakeWorker = Callable[[Machines, int, int], tuple[Worker, int]]


class Engine:
    """Carries out tasks on up to `n_jobs` threads.

    `n_kept` tasks are gone on with later, so their kernel matrices are kept if memory allows it.
    """

    def __init__(self, machines: Machines, n_jobs: int, *, n_kept: int = 0):
        self.machines, self.n_jobs, self.n_kept = machines, n_jobs, n_kept
        self._worker: Worker | None = None
        self._n_workers = 1

    def results(
        self,
        tasks: Sequence[Task],
        *,
        wanted: Callable[[Task], Collection[MachineKey]],
        use: Callable[[Task, FoldScores], Result],
    ) -> Iterator[Result]:
        """Carry out tasks and yield ``use(task, scores)`` of each as it comes.

        They are carried out in about this order, unless to go fold by fold saves much time.
        `wanted` is asked when a task begins which machines to train. An iteration that is ended early waits for the
        tasks under way, which stop at their next machine.
        """
        if not tasks:
            return
        with threads.single_threaded_blas() as n_threads:
            worker = self._made(n_threads)
            stop = threading.Event()

            def carry_out(kernel: int, fold: int) -> Result | None:
                task = Task(kernel, fold)
                keys = wanted(task)
                found = worker.scores(task, keys, stop) if keys else FoldScores({}, 0)
                return None if found is None else use(task, found)

            ordered = fold_by_fold(tasks) if worker.by_fold else tasks
            for result in threads.imap_unordered(carry_out, ordered, self._n_workers, stop.set):
                if result is not None:
                    yield result

    def _made(self, n_threads: int) -> Worker:
        """The worker, made for the first tasks and kept for all."""
        if self._worker is None:
            n_tasks = len(self.machines.grid.kernels) * len(self.machines.folds)
            n_workers = max(1, min(self.n_jobs, n_threads, n_tasks))
            make = self.machines.make_worker or make_worker
            self._worker, self._n_workers = make(self.machines, n_workers, self.n_kept)
        return self._worker

    def forget(self) -> None:
        """No task begun so far will be gone on with."""
        if self._worker is not None:
            self._worker.forget()


def make_worker(machines: Machines, n_workers: int, n_kept: int) -> tuple[Worker, int]:
    """The way of working that fits into memory, and how many tasks may run side by side."""
    same = machines.features.same_for_all_folds
    n = len(machines.sample) if same else max(len(fold.train) + len(fold.valid) for fold in machines.folds)
    kernel = machines.grid.kernels[0]
    dtype = np.dtype(np.float32 if float32_suffices(kernel, machines.largest_boxes, machines.tol) else np.float64)
    largest = max(len(fold.train) for fold in machines.folds)
    n_folds = 1 if same else len(machines.folds)  # that have shared values of their own

    def needed(count: int, n_shared: int) -> int:
        return n_shared * n**2 * dtype.itemsize + count * Workspace.bytes_needed(largest, dtype)

    kept = max(0, n_kept - n_workers) * largest**2 + n_kept * largest * (n - largest)
    kept_bytes = kept * dtype.itemsize if n_kept else 0
    budget = FOR_MATRICES * memory_budget(machines.cache_size, 2 * (needed(n_workers, n_folds) + kept_bytes))
    if n_kept and needed(n_workers, n_folds) + kept_bytes <= budget:
        store = MatrixStore(max(n_kept, n_workers), largest, dtype, keeps=True)
        return MatrixWorker(machines, dtype, largest, n_workers, store, n_folds), n_workers
    for count in range(n_workers, 0, -1):
        for n_shared in (n_folds, 1):
            if needed(count, n_shared) <= budget:
                store = MatrixStore(count, largest, dtype, keeps=False)
                return MatrixWorker(machines, dtype, largest, count, store, n_shared), count
    return StreamingWorker(machines), 1


class MatrixWorker:
    """Tasks with the kernel matrix of their training rows in memory."""

    def __init__(
        self, machines: Machines, dtype: Any, largest: int, n_workers: int, matrices: MatrixStore, n_shared: int
    ):
        self.machines, self.dtype, self.matrices, self.n_shared = machines, dtype, matrices, n_shared
        self.by_fold = not machines.features.same_for_all_folds and n_shared < len(machines.folds)
        self._shared: dict[int, tuple[SharedValues, Fold]] = {}
        self._states: dict[tuple[Task, int], PathState] = {}  # by task and path
        self._lock = threading.Lock()
        self._workspaces: queue.SimpleQueue[Workspace] = queue.SimpleQueue()
        for _ in range(n_workers):
            self._workspaces.put(Workspace(largest, dtype))
        if machines.features.same_for_all_folds:
            self.shared(0)  # here, on all threads

    def shared(self, fold: int) -> tuple[SharedValues, Fold]:
        """Distances or products of the samples of a fold, and the places among them of its two parts.

        There is one set of them for all folds, unless each has an X of its own.
        """
        features = self.machines.features
        key = 0 if features.same_for_all_folds else fold
        with self._lock:
            if key not in self._shared:
                if len(self._shared) == self.n_shared:
                    self._shared.clear()
                X, places = features.of_fold(self.machines.folds[fold])
                allowed = error_allowed(self.machines.largest_boxes, self.machines.tol)
                steepest = max(self.machines.grid.kernels, key=lambda kernel: kernel.gamma)
                self._shared[key] = steepest.shared(X, self.dtype, allowed), places
            shared, places = self._shared[key]
        return shared, self.machines.folds[fold] if features.same_for_all_folds else places

    def forget(self) -> None:
        """As `Worker` says."""
        self._states.clear()

    def scores(self, task: Task, wanted: Collection[MachineKey], stop: threading.Event) -> FoldScores | None:
        """As `Worker` says, in a workspace that no other task has at the time."""
        workspace = self._workspaces.get()
        try:
            return self._scores(workspace, task, wanted, stop)
        finally:
            self._workspaces.put(workspace)

    def _scores(
        self, workspace: Workspace, task: Task, wanted: Collection[MachineKey], stop: threading.Event
    ) -> FoldScores | None:
        machines, (shared, places) = self.machines, self.shared(task.fold)
        kernel, fold = machines.grid.kernels[task.kernel], machines.folds[task.fold]
        diagonal = shared.diagonal(kernel)
        keys, coefs, biases, n_failed = [], [], [], 0
        with self.matrices.of(task) as matrices:
            for number, steps in by_path(wanted):
                kept, unit = machines.problem_of(number, fold.train)
                rows = places.train[kept]
                start = self._states.pop((task, number), None)
                path = DualPath(matrices.training(shared, kernel, rows), diagonal[rows], unit, workspace, start)
                for step in machines.steps_after(path.C, steps[-1]):
                    if stop.is_set():
                        return None
                    solution = path.advance(float(machines.grid.Cs[step]), machines.tol)
                    if step in steps:
                        n_failed += not solution.converged
                        keys.append(MachineKey(number, step))
                        coefs.append(_spread(solution.beta, kept, len(fold.train)))
                        biases.append(solution.bias)
                if steps[-1] + 1 < len(machines.grid.Cs):
                    self._states[task, number] = path.state
            values = matrices.products(shared, kernel, places, np.array(coefs).T) + np.array(biases)
        return FoldScores(dict(zip(keys, values.T, strict=True)), n_failed)


class StreamingWorker:
    """Tasks without a kernel matrix, one at a time, each on all threads."""

    by_fold = False

    def __init__(self, machines: Machines):
        self.machines = machines
        self._last: dict[tuple[Task, int], tuple[float, Vector | None]] = {}  # C and solution, by task and path

    def forget(self) -> None:
        """As `Worker` says."""
        self._last.clear()

    def scores(self, task: Task, wanted: Collection[MachineKey], stop: threading.Event) -> FoldScores | None:
        """As `Worker` says."""
        machines = self.machines
        kernel, fold = machines.grid.kernels[task.kernel], machines.folds[task.fold]
        X, places = machines.features.of_fold(fold)
        scores, n_failed = {}, 0
        for path, steps in by_path(wanted):
            kept, unit = machines.problem_of(path, fold.train)
            rows = places.train[kept]
            X_train, X_valid = kernel.select(X, rows, rows), kernel.select(X, places.valid, rows)
            largest = float(machines.grid.Cs[-1]) * (unit.upper - unit.lower)
            provider = kernel.gram(X_train, upper_bounds=largest, tol=machines.tol, cache_size=machines.cache_size)
            last, beta = self._last.pop((task, path), (0.0, None))
            for step in machines.steps_after(last, steps[-1]):
                if stop.is_set():
                    return None
                C = float(machines.grid.Cs[step])
                begin = None if beta is None else beta * (C / last)
                solution = solve(provider, unit.scaled(C), tol=machines.tol, start=begin)
                last, beta = C, solution.beta
                if step in steps:
                    n_failed += not solution.converged
                    used = np.flatnonzero(beta)
                    support = used, kernel.vectors(X_train, used), beta[used]
                    bias = solution.bias - provider.intercept_offset(*support)
                    scores[MachineKey(path, step)] = kernel.expand(X_valid, *support) + bias
            if steps[-1] + 1 < len(machines.grid.Cs):
                self._last[task, path] = last, beta
        return FoldScores(scores, n_failed)


def by_path(wanted: Collection[MachineKey]) -> list[tuple[int, list[int]]]:
    """Each path with its wanted steps, ascending."""
    paths = sorted({key.path for key in wanted})
    return [(path, sorted(key.step for key in wanted if key.path == path)) for path in paths]


def _spread(beta: Vector, kept: RowNumbers, n_train: int) -> Vector:
    """The beta of the training samples at the places `kept`, 0 for the others."""
    if len(kept) == n_train:
        return beta
    spread = np.zeros(n_train)
    spread[kept] = beta
    return spread


def fold_by_fold(tasks: Sequence[Task]) -> list[Task]:
    """The same tasks, all kernels of a fold in a row, but for the first kernel: its points are complete early."""
    return sorted(tasks, key=lambda task: (task.kernel != tasks[0].kernel, task.fold))
