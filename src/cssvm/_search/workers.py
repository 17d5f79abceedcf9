"""The fits of a search: all costs and all C of a kernel from one kernel matrix.

    for each fold, for each kernel:          a task, on one thread
        kernel matrix of the training samples, from shared distances or products
        for each pair of costs:              a path
            for C ascending:                 solve, started from the last solution
        scores of the validation samples     one product with all solutions

Where the memory available does not suffice for this, tasks run one after another on the solver that computes kernel
values as it needs them. Linear models need no kernel matrix: their training samples are prepared once for each fold.
"""

from __future__ import annotations

import itertools
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._core.folds import Fold
from .._core.margins_and_bounds import margins_and_upper_bounds, signed_terms
from .._core.samples import Samples
from .._core.types import RowNumbers, Status, Vector
from .._kernels import Kernel, SharedValues, error_allowed, float32_suffices
from .._kernels.gram import memory_budget
from .._solvers.dual import DualProblem, Workspace, solve, solve_path
from .._solvers.linear import LinearFunction, LinearSolver, linear_scores
from .fold_data import FoldFeatures
from .grid import FitKey, Grid

MATRIX_SHARE = 0.75  # of the memory available, for the matrices; Newton steps and their factors need the rest
BAND = 256  # validation samples at a time


class Task(NamedTuple):
    """One kernel of the grid on one fold, by their numbers."""

    kernel: int
    fold: int


class FoldScores(NamedTuple):
    """Scores of the validation samples by each fit, positive for the positive class, and how many did not converge."""

    scores: NDArray[np.float64]  # (n_fits, n_valid)
    n_failed: int


@dataclass
class FitPlan:
    """What is trained: every fit of a grid on the training samples of every fold."""

    features: FoldFeatures
    samples: Samples
    folds: Sequence[Fold]
    grid: Grid
    tol: float
    problems: list[DualProblem] = field(init=False)  # of each path, on all samples, at C = 1

    def __post_init__(self) -> None:
        self.problems = []
        for path in self.grid.paths:
            samples = self.samples.with_cost_factors(path.fn_cost, path.fp_cost)
            margins, upper_bounds = margins_and_upper_bounds(
                samples.positive, samples.weighted_costs, kappa=path.kappa or 1.0, fp_cost=samples.fp_cost
            )
            self.problems.append(DualProblem(*signed_terms(samples.signs, margins, upper_bounds)))

    def problem_on(self, path: int, train: RowNumbers) -> tuple[RowNumbers, DualProblem]:
        """Which of the training samples cost something, by their places in `train`, and their problem at C = 1."""
        linear, lower, upper = self.problems[path]
        kept = np.flatnonzero(upper[train] > lower[train])
        rows = train[kept]
        return kept, DualProblem(linear[rows], lower[rows], upper[rows])

    @property
    def largest_upper_bounds(self) -> Vector:
        """The largest upper bound of any fit on each sample, (n_samples,)."""
        return float(self.grid.Cs[-1]) * np.max([problem.upper - problem.lower for problem in self.problems], axis=0)


class Worker(ABC):
    """A way to carry out tasks, of which `n_at_once` may run at a time."""

    by_fold = False  # whether doing all kernels of a fold in a row saves time

    def __init__(self, plan: FitPlan, n_at_once: int = 1):
        self.plan, self.n_at_once = plan, n_at_once

    @abstractmethod
    def fold_scores(self, task: Task, fits: Sequence[FitKey], stop: threading.Event) -> FoldScores | None:
        """The scores of these fits, sorted; None if `stop` was set meanwhile."""


def make_kernel_worker(plan: FitPlan, n_threads: int) -> Worker:
    """The worker for kernel models that fits into memory, with up to that many tasks at a time."""
    features, kernel = plan.features, plan.grid.kernels[0]
    same = features.same_for_all_folds
    n = len(plan.samples) if same else max(len(fold.train) + len(fold.valid) for fold in plan.folds)
    dtype = np.dtype(np.float32 if float32_suffices(kernel, plan.largest_upper_bounds, plan.tol) else np.float64)
    n_train = max(len(fold.train) for fold in plan.folds)
    n_folds = 1 if same else len(plan.folds)  # that have shared values of their own

    def bytes_needed(count: int, n_shared: int) -> int:
        return n_shared * n**2 * dtype.itemsize + count * Workspace.bytes_needed(n_train, dtype)

    budget = MATRIX_SHARE * memory_budget("auto", 2 * bytes_needed(n_threads, n_folds))
    for count in range(n_threads, 0, -1):
        for n_shared in (n_folds, 1):
            if bytes_needed(count, n_shared) <= budget:
                return MatrixWorker(plan, KernelMatrixPool(count, n_train, dtype), n_shared)
    return StreamingWorker(plan)


class TaskMatrices:
    """Memory for the kernel values of one task: among its training samples, and of its validation samples with them."""

    def __init__(self, n_train: int, dtype: Any):
        self.workspace = Workspace(n_train, dtype)
        self._band = np.empty((0, 0), dtype)
        self.train: RowNumbers | None = None  # whose matrix is in the workspace

    def training(self, shared: SharedValues, kernel: Kernel, rows: RowNumbers) -> np.ndarray:
        """The kernel matrix of these training samples, computed unless it is here."""
        matrix = self.workspace.matrix(len(rows))
        if self.train is None or not np.array_equal(self.train, rows):
            self.train = None
            shared.update_block(matrix, kernel, rows, rows)
            self.train = rows
        return matrix

    def products(self, shared: SharedValues, kernel: Kernel, fold: Fold, coefs: np.ndarray) -> np.ndarray:
        """K[valid][:, train] @ coefs, (n_valid, n_fits) float64."""
        out = np.empty((len(fold.valid), coefs.shape[1]))
        if self._band.shape[1] != len(fold.train):
            self._band = np.empty((BAND, len(fold.train)), self._band.dtype)
        for i in range(0, len(fold.valid), BAND):
            part = fold.valid[i : i + BAND]
            shared.update_block(self._band, kernel, part, fold.train)
            out[i : i + BAND] = self._band[: len(part)].astype(np.float64) @ coefs
        return out


class KernelMatrixPool:
    """Memory for the kernel matrices of `count` tasks at a time, of up to `n_train` training samples each."""

    def __init__(self, count: int, n_train: int, dtype: Any):
        self.count, self.dtype = count, dtype
        self._free: queue.SimpleQueue[TaskMatrices] = queue.SimpleQueue()
        for _ in range(count):
            self._free.put(TaskMatrices(n_train, dtype))

    @contextmanager
    def acquire(self) -> Iterator[TaskMatrices]:
        """Memory that no other task has at the time; it is used again, as new memory is slow to touch."""
        matrices = self._free.get()
        matrices.train = None  # of another task
        try:
            yield matrices
        finally:
            self._free.put(matrices)


class MatrixWorker(Worker):
    """Tasks with the kernel matrix of their training samples in memory."""

    def __init__(self, plan: FitPlan, pool: KernelMatrixPool, n_shared: int):
        super().__init__(plan, pool.count)
        self.pool, self.n_shared = pool, n_shared
        self.by_fold = not plan.features.same_for_all_folds and n_shared < len(plan.folds)
        self._shared: dict[int, tuple[SharedValues, Fold]] = {}
        self._lock = threading.Lock()
        if plan.features.same_for_all_folds:
            self.shared(0)  # here, on all threads

    def shared(self, fold: int) -> tuple[SharedValues, Fold]:
        """Distances or products of the samples of a fold, or of all folds, and the places among them of its parts."""
        features, folds = self.plan.features, self.plan.folds
        key = 0 if features.same_for_all_folds else fold
        with self._lock:
            if key not in self._shared:
                if len(self._shared) == self.n_shared:
                    self._shared.clear()
                X, places = features.of_fold(folds[fold])
                allowed = error_allowed(self.plan.largest_upper_bounds, self.plan.tol)
                steepest = max(self.plan.grid.kernels, key=lambda kernel: kernel.gamma)
                self._shared[key] = steepest.shared(X, self.pool.dtype, allowed), places
            shared, places = self._shared[key]
        return shared, folds[fold] if features.same_for_all_folds else places

    def fold_scores(self, task: Task, fits: Sequence[FitKey], stop: threading.Event) -> FoldScores | None:
        plan, (shared, places) = self.plan, self.shared(task.fold)
        kernel, train = plan.grid.kernels[task.kernel], plan.folds[task.fold].train
        diagonal = shared.diagonal(kernel)
        coefs, intercepts, n_failed = [], [], 0
        with self.pool.acquire() as matrices:
            for path, wanted in _by_path(fits):
                kept, problem = plan.problem_on(path, train)
                rows = places.train[kept]
                matrix = matrices.training(shared, kernel, rows)
                Cs = plan.grid.Cs[: wanted[-1] + 1].tolist()
                solutions = solve_path(matrix, diagonal[rows], problem, Cs, tol=plan.tol, workspace=matrices.workspace)
                for C_index in range(len(Cs)):
                    if stop.is_set():
                        return None
                    solution = next(solutions)
                    if C_index in wanted:
                        n_failed += not solution.converged
                        beta = np.zeros(len(train))
                        beta[kept] = solution.beta
                        coefs.append(beta)
                        intercepts.append(solution.bias)
            scores = matrices.products(shared, kernel, places, np.array(coefs).T) + np.array(intercepts)
        return FoldScores(np.ascontiguousarray(scores.T), n_failed)


class StreamingWorker(Worker):
    """Tasks without a kernel matrix, one at a time, each on all threads."""

    def fold_scores(self, task: Task, fits: Sequence[FitKey], stop: threading.Event) -> FoldScores | None:
        plan = self.plan
        kernel, fold = plan.grid.kernels[task.kernel], plan.folds[task.fold]
        X, places = plan.features.of_fold(fold)
        scores, n_failed = [], 0
        for path, wanted in _by_path(fits):
            kept, problem = plan.problem_on(path, fold.train)
            rows = places.train[kept]
            X_train, X_valid = kernel.select(X, rows, rows), kernel.select(X, places.valid, rows)
            largest = float(plan.grid.Cs[-1]) * (problem.upper - problem.lower)
            gram = kernel.gram(X_train, upper_bounds=largest, tol=plan.tol)
            beta: Vector | None = None
            last = 1.0
            for C_index, C in enumerate(plan.grid.Cs[: wanted[-1] + 1].tolist()):
                if stop.is_set():
                    return None
                start = None if beta is None else beta * (C / last)
                solution = solve(gram, problem.scaled(C), tol=plan.tol, start=start)
                beta, last = solution.beta, C
                if C_index in wanted:
                    n_failed += not solution.converged
                    used = np.flatnonzero(beta)
                    support = used, kernel.vectors(X_train, used), beta[used]
                    intercept = solution.bias - gram.intercept_offset(*support)
                    scores.append(kernel.expand(X_valid, *support) + intercept)
        return FoldScores(np.array(scores), n_failed)


def make_linear_worker(plan: FitPlan, n_threads: int) -> Worker:
    """The worker for linear models, with as many folds at a time as fit into memory."""
    X = plan.features.whole[0]
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes
    of_task = max(1, size)  # training and validation samples are copies
    budget = memory_budget("auto", n_threads * of_task)
    return LinearWorker(plan, max(1, min(n_threads, budget // of_task)))


class LinearWorker(Worker):
    """Tasks that train linear models; past the first C the solver starts with the samples near their margin."""

    def fold_scores(self, task: Task, fits: Sequence[FitKey], stop: threading.Event) -> FoldScores | None:
        plan, fold = self.plan, self.plan.folds[task.fold]
        X, places = plan.features.of_fold(fold)
        kept, _ = plan.problem_on(0, fold.train)  # those that cost something, whatever the path
        solver, X_valid = LinearSolver(X[places.train[kept]]), X[places.valid]
        scores, n_failed = [], 0
        for path, wanted in _by_path(fits):
            _, problem = plan.problem_on(path, fold.train)
            start: LinearFunction | None = None
            for C_index in wanted:
                if stop.is_set():
                    return None
                upper_bounds = float(plan.grid.Cs[C_index]) * (problem.upper - problem.lower)
                solution = solver.solve(problem.linear, upper_bounds, tol=plan.tol, start=start)
                start = solution.point
                n_failed += solution.status != Status.CONVERGED
                scores.append(linear_scores(X_valid, *solution.point))
        return FoldScores(np.array(scores), n_failed)


def _by_path(fits: Sequence[FitKey]) -> list[tuple[int, list[int]]]:
    """Each path with the indices of its Cs, ascending."""
    return [
        (path, [fit.C_index for fit in of_path]) for path, of_path in itertools.groupby(fits, key=lambda fit: fit.path)
    ]
