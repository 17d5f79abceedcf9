"""A whole search: the cross-validation of its grid, and of what the grid is extended by.

The scores of the workers' models become values of points on the same threads. A scoring that depends on the scores of
all folds together waits for the last of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .. import __version__
from .._core.folds import Fold
from .._core.samples import Samples
from .._core.types import Vector
from .._runtime import threads
from .._runtime.progress import are_interrupts_raised, progress, say
from .checkpoint import Checkpoint, fingerprint
from .fold_data import FoldFeatures
from .grid import Edge, FitKey, Grid, GridAxes, GridExtension, Point
from .scoring import Scoring
from .workers import FitPlan, FoldScores, Task, Worker

TIE = 1e-10  # of the largest mean; sums of costs in another unit differ by some 1e-16


class TaskValues(NamedTuple):
    """Values (n_points,) of one kernel's points on one fold, NaN where not known, and the scores of its fits."""

    task: Task
    values: Vector
    found: FoldScores


class BestPoint(NamedTuple):
    """The best point so far."""

    number: int
    mean: float
    scores: list[Vector]  # for the positive class, on each fold


class GridCrossValidation:
    """Scores the points of a grid on all folds: `values` (n_points, n_folds), NaN where a point was not scored."""

    def __init__(self, plan: FitPlan, scoring: Scoring, worker: Callable[[int], Worker], checkpoint: Checkpoint):
        """`worker` is called with a number of threads when there is something to train."""
        self.plan, self.scoring, self._make_worker, self._checkpoint = plan, scoring, worker, checkpoint
        self.values = checkpoint.values
        self.n_failed, self.interrupted = 0, False  # fits that did not converge; whether Ctrl-C ended it early
        self._numbers: list[list[int]] = [[] for _ in plan.grid.kernels]  # of the points of each kernel
        for number, point in enumerate(plan.grid.points):
            self._numbers[point.kernel].append(number)
        self._waiting: dict[int, dict[int, TaskValues]] = {}  # for the other folds of a kernel
        self._best: BestPoint | None = None
        self._worker: Worker | None = None

    def run(self, verbose: int = 0) -> None:
        """Score all points; after Ctrl-C keep what is done if a point is complete, else raise it again."""
        grid, n_folds = self.plan.grid, len(self.plan.folds)
        fits, n_kernels = grid.fits, len(grid.kernels)
        outwards = sorted(range(n_kernels), key=lambda kernel: abs(2 * kernel + 1 - n_kernels))  # as Ctrl-C may come
        tasks = [Task(kernel, fold) for kernel in outwards for fold in range(n_folds)]
        left = [task for task in tasks if not self._checkpoint.is_done[task]]
        with progress(verbose, grid.n_fits * n_folds) as shown:
            shown.skip(len(fits) * (len(tasks) - len(left)))
            try:
                for found in self._carry_out(left, fits, self._evaluate):
                    self._collect(found)
                    shown.advance(len(fits))
            except KeyboardInterrupt:
                if are_interrupts_raised() or not (~np.isnan(self.values)).all(axis=1).any():
                    raise
                self.interrupted = True
        self._waiting.clear()

    def _carry_out(
        self, tasks: list[Task], fits: list[FitKey], use: Callable[[Task, FoldScores], Any]
    ) -> Iterator[Any]:
        """Yield ``use(task, scores)`` of each task as it comes, in about this order.

        An iteration that is ended early waits for the tasks under way, which stop at their next fit.
        """
        if not tasks:
            return
        with threads.single_threaded_blas() as n_threads:
            worker = self._worker = self._worker or self._make_worker(n_threads)  # one, for the best point as well
            stop = threading.Event()

            def carry_out(kernel: int, fold: int) -> Any:
                task = Task(kernel, fold)
                scores = worker.fold_scores(task, fits, stop)
                return None if scores is None else use(task, scores)

            if worker.by_fold:  # but for the first kernel, so that its points are complete early
                tasks = sorted(tasks, key=lambda task: (task.kernel != tasks[0].kernel, task.fold))
            for result in threads.imap_unordered(carry_out, tasks, worker.n_at_once, stop.set):
                if result is not None:
                    yield result

    def _evaluate(self, task: Task, found: FoldScores) -> TaskValues:
        """The values of the kernel's points on a fold."""
        points, valid, numbers = self.plan.grid.points, self.plan.folds[task.fold].valid, self._numbers[task.kernel]
        values = np.full(len(points), np.nan)
        if self.scoring.ranking and not self.scoring.pooled:  # an increasing map of the scores leaves their ranking
            values[numbers] = self.scoring.evaluate(found.scores, valid)[self._rows(numbers)]
        elif not self.scoring.pooled:
            affine = np.array([points[number].affine for number in numbers])
            scores = affine[:, :1] * found.scores[self._rows(numbers)] + affine[:, 1:]
            values[numbers] = self.scoring.evaluate(scores, valid)
        return TaskValues(task, values, found)

    def _rows(self, numbers: list[int]) -> list[int]:
        """Where the fits of these points stand among those of a kernel."""
        n_Cs = len(self.plan.grid.Cs)
        return [fit.path * n_Cs + fit.C_index for fit in (self.plan.grid.points[number].fit for number in numbers)]

    def _collect(self, done: TaskValues) -> None:
        """Record the values of a task; keep its scores until the kernel has those of all folds."""
        kernel, fold = done.task
        self.n_failed += done.found.n_failed
        if not self.scoring.pooled:
            self._checkpoint.record(kernel, fold, done.values)
        of_folds = self._waiting.setdefault(kernel, {})
        of_folds[fold] = done
        if len(of_folds) < len(self.plan.folds):
            return
        scores = [of_folds[number].found.scores for number in range(len(of_folds))]
        del self._waiting[kernel]
        if self.scoring.pooled:  # an increasing map of the scores changes nothing
            values, numbers = np.full(self.values.shape, np.nan), self._numbers[kernel]
            of_fits = self.scoring.evaluate_folds(scores, [fold.valid for fold in self.plan.folds])
            values[numbers] = of_fits[self._rows(numbers)]
            for number in range(len(scores)):
                self._checkpoint.record(kernel, number, values[:, number])
        self._keep_best(kernel, scores)

    def _keep_best(self, kernel: int, scores: list[NDArray[np.float64]]) -> None:
        """Keep the scores of the best point of a kernel if it is the best so far, the first of equals."""
        mean = self.values[self._numbers[kernel]].mean(axis=1)
        if np.isnan(mean).all():
            return
        place = int(np.argmin(rank_means(mean)))
        number, best = self._numbers[kernel][place], self._best
        lead = np.inf if best is None else mean[place] - best.mean
        tie = 0.0 if best is None else mean_tolerance(np.array([mean[place], best.mean]))
        if lead > tie or (best is not None and lead >= -tie and number < best.number):
            (row,) = self._rows([number])
            of_point = self._transform(number, [of_fold[row] for of_fold in scores])
            self._best = BestPoint(number, float(mean[place]), of_point)

    def _transform(self, number: int, scores: list[Vector]) -> list[Vector]:
        """The scores of a point on each fold, from those of its fit."""
        scale, offset = self.plan.grid.points[number].affine
        return [scale * of_fold + offset for of_fold in scores]

    def held_out_scores(self, number: int) -> list[Vector]:
        """Scores of a point for the positive class on each fold; unless they are known, it is trained once more."""
        if self._best is not None and self._best.number == number:
            return self._best.scores
        point = self.plan.grid.points[number]
        tasks = [Task(point.kernel, fold) for fold in range(len(self.plan.folds))]
        scores = dict(self._carry_out(tasks, [point.fit], lambda task, found: (task.fold, found.scores[0])))
        return self._transform(number, [scores[fold] for fold in range(len(tasks))])


class SearchResult:
    """Points in the order of their grids, with values (n_points, n_folds), NaN where a point was not scored."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.values: NDArray[np.float64] = np.empty((0, 0))
        self.n_fits = self.n_failed = 0
        self.interrupted = False
        self.edge: Edge | None = None  # where the best point lies after the grid was extended as often as it may
        self._parts: list[tuple[int, GridCrossValidation]] = []  # with the number of its first point

    def add(self, done: GridCrossValidation) -> None:
        """Append the points of a grid."""
        self._parts.append((len(self.points), done))
        self.points += done.plan.grid.points
        self.values = done.values if not self.values.size else np.concatenate([self.values, done.values])
        self.n_fits += done.plan.grid.n_fits
        self.n_failed += done.n_failed
        self.interrupted |= done.interrupted

    @property
    def n_complete(self) -> int:
        """How many points were scored on all folds."""
        return int((~np.isnan(self.values)).all(axis=1).sum())

    @property
    def best(self) -> int:
        """The number of the best point, the first of equals."""
        return int(np.argmin(rank_means(self.values.mean(axis=1))))

    def held_out_scores(self, number: int) -> list[Vector]:
        """Scores of a point for the positive class, on the validation samples of each fold."""
        first, grid = next(part for part in reversed(self._parts) if part[0] <= number)
        return grid.held_out_scores(number - first)


@dataclass(frozen=True)
class GridSearch:
    """Samples, folds and scoring of a search."""

    settings: Any  # the estimator, of which parameters are read
    features: FoldFeatures
    samples: Samples  # with the costs that points are scored by
    training: Samples  # with those they are trained with
    folds: Sequence[Fold]
    scoring: Scoring
    make_worker: Callable[[FitPlan, int], Worker]

    def run(self, axes: GridAxes) -> SearchResult:
        """Score all points of the grid, and of what it is extended by."""
        found, extension = SearchResult(), GridExtension(self.settings.kernel, axes)
        found.add(self._cross_validate(axes.grid()))
        while not found.interrupted and found.n_complete:
            edge = extension.find_edge(found.points, found.values, found.best)
            if edge is None or extension.is_exhausted(edge):
                found.edge = edge
                break
            grid, n_values = extension.extend_grid(edge, found.points[found.best])
            if self.settings.verbose:
                which = f"{n_values} {'smaller' if edge.direction < 0 else 'larger'} value{'s' * (n_values > 1)}"
                say(f"the best {edge.name} is at the edge of the grid: trying {which}")
            try:
                found.add(self._cross_validate(grid))
            except KeyboardInterrupt:
                if are_interrupts_raised():
                    raise
                found.interrupted = True  # the grid that was asked for is complete
        return found

    def _cross_validate(self, grid: Grid) -> GridCrossValidation:
        settings = self.settings
        plan = FitPlan(self.features, self.training, self.folds, grid, settings.tol)
        key, shape = "", (len(grid.points), len(self.folds))
        if settings.checkpoint is not None:
            params = [point.params for point in grid.points]
            key = fingerprint(search=self._identity, points=params, costs=self.training.cost)
        checkpoint = Checkpoint(settings.checkpoint, key, shape, n_kernels=len(grid.kernels))
        n_threads = min(threads.effective_n_threads(settings.n_jobs), len(grid.kernels) * len(self.folds))
        work = GridCrossValidation(
            plan, self.scoring, lambda available: self.make_worker(plan, min(n_threads, available)), checkpoint
        )
        work.run(settings.verbose)
        return work

    @cached_property
    def _identity(self) -> str:
        """What the values of all grids depend on, as it is before the first of them."""
        settings, samples = self.settings, self.samples
        return fingerprint(
            kernel=settings.kernel,
            scoring=settings.scoring,
            transformer=None if settings.transformer is None else clone(settings.transformer),
            X=self.features.X,
            y=samples.labels,
            costs=(samples.positive_class.label, samples.weights, samples.fn_cost, samples.fp_cost),
            folds=[tuple(fold) for fold in self.folds],
            settings=(type(settings).__name__, settings.decision, settings.tol),
            version=__version__,
        )


def make_results(points: Sequence[Point], values: NDArray[np.float64]) -> dict[str, Any]:
    """`cv_results_` of values (n_points, n_folds); a point that lacks a fold has no mean and ranks last."""
    mean = values.mean(axis=1)
    params = [point.params for point in points]
    results: dict[str, Any] = {}
    for name in params[0]:
        column = [each[name] for each in params]  # numbers, or objects where "tied" is among them
        results[f"param_{name}"] = np.array(column, dtype=object if any(isinstance(v, str) for v in column) else None)
    results["params"] = params
    for fold in range(values.shape[1]):
        results[f"split{fold}_test_score"] = values[:, fold]
    results["mean_test_score"], results["std_test_score"] = mean, values.std(axis=1)
    results["rank_test_score"] = rank_means(mean)
    return results


def rank_means(mean: Vector) -> NDArray[np.int32]:
    """The rank of each mean (n,), 1 for the greatest; NaN ranks last, and means that differ by rounding rank alike."""
    known = np.where(np.isnan(mean), -np.inf, mean)
    order = np.argsort(-known, kind="stable")
    with np.errstate(invalid="ignore"):  # between two that are not known
        drop = -np.diff(known[order])
    begins = np.append(True, drop > mean_tolerance(known))
    rank = np.empty(len(mean), dtype=np.int32)
    rank[order] = np.maximum.accumulate(np.where(begins, np.arange(1, len(mean) + 1), 1))
    return rank


def mean_tolerance(mean: Vector) -> float:
    """By how much equal means may differ."""
    return TIE * float(np.abs(mean[np.isfinite(mean)]).max(initial=0.0))
