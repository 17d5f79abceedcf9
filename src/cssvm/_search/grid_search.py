"""A whole search: the cross-validation of its grid, and of what the grid is extended by.

The workers train models on threads. Their scores become values of points on the same threads: a point with another
kappa than 1 is a fit whose scores are scaled and shifted. A scoring that depends on the scores of all folds together
waits for the last of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from .._runtime.interrupts import are_interrupts_raised
from .._runtime.progress import Silent, progress, say
from .checkpoint import Checkpoint
from .fingerprint import fingerprint
from .fold_data import FoldFeatures
from .plan import Edge, FitKey, Grid, GridAxes, GridExtension, Point
from .scoring import Scoring
from .workers import FitPlan, FoldScores, MakeWorker, Task, Worker

TIE = 1e-10  # of the largest mean; sums of costs in another unit differ by some 1e-16


class TaskValues(NamedTuple):
    """Values (n_points,) of one kernel's points on one fold, NaN for all others, and the scores of its fits.

    A scoring that needs all folds leaves all values NaN.
    """

    task: Task
    values: Vector
    scores: dict[FitKey, Vector]
    n_failed: int


class BestPoint(NamedTuple):
    """The best point so far by its number, its mean value, and its scores for the positive class on each fold."""

    number: int
    mean: float
    scores: list[Vector]


class GridCrossValidation:
    """Scores the points of a grid on all folds.

    Attributes
    ----------
    values : (n_points, n_folds), NaN where a point was not scored
    n_failed : how many fits did not converge
    interrupted : whether Ctrl-C ended it early
    """

    def __init__(
        self,
        plan: FitPlan,
        scoring: Scoring,
        make_worker: MakeWorker,
        *,
        n_jobs: int = 1,
        verbose: int = 0,
        checkpoint: Any = None,
        fingerprint: Callable[[], str] = str,
    ):
        """`fingerprint`, which identifies all that the values depend on, is only called with a checkpoint."""
        self.plan, self.scoring, self.make_worker = plan, scoring, make_worker
        self.n_jobs, self.verbose = n_jobs, verbose
        grid, n_folds = plan.grid, len(plan.folds)
        key = "" if checkpoint is None else fingerprint()
        self._checkpoint = Checkpoint(checkpoint, key, (len(grid.points), n_folds), len(grid.kernels))
        self.values = self._checkpoint.values
        self.n_failed, self.interrupted = 0, False
        self._numbers: list[list[int]] = [[] for _ in grid.kernels]  # of the points of each kernel
        for number, point in enumerate(grid.points):
            self._numbers[point.kernel].append(number)
        self._waiting: dict[int, dict[int, TaskValues]] = {}  # for the other folds of a kernel
        self._best: BestPoint | None = None
        self._worker: tuple[Worker, int] | None = None

    def run(self) -> None:
        """Score all points; after Ctrl-C keep what is done if a point is complete, else raise it again."""
        grid, n_folds = self.plan.grid, len(self.plan.folds)
        n_kernels = len(grid.kernels)
        outwards = sorted(range(n_kernels), key=lambda kernel: abs(2 * kernel + 1 - n_kernels))  # as Ctrl-C may come
        tasks = [Task(kernel, fold) for kernel in outwards for fold in range(n_folds)]
        with progress(self.verbose, grid.n_fits * n_folds) as shown:
            try:
                self._score_tasks([task for task in tasks if not self._checkpoint.is_done[task]], shown)
            except KeyboardInterrupt:
                if are_interrupts_raised() or not (~np.isnan(self.values)).all(axis=1).any():
                    raise
                self.interrupted = True

    def _score_tasks(self, tasks: list[Task], shown: Silent) -> None:
        keys = self.plan.grid.fits
        shown.skip(len(keys) * (self._checkpoint.is_done.size - len(tasks)))
        for found in self._results(tasks, keys, self._evaluate):
            if not self.scoring.pooled:
                self._checkpoint.record(found.task.kernel, found.task.fold, found.values)
            self.n_failed += found.n_failed
            self._collect(found)
            shown.advance(len(keys))
        self._waiting.clear()

    def _results(
        self, tasks: list[Task], keys: Sequence[FitKey], use: Callable[[Task, FoldScores], Any]
    ) -> Iterator[Any]:
        """Carry out tasks and yield ``use(task, scores)`` of each as it comes, in about this order.

        An iteration that is ended early waits for the tasks under way, which stop at their next fit.
        """
        if not tasks:
            return
        with threads.single_threaded_blas() as n_threads:
            if self._worker is None:  # made once, for the best point as well
                n_tasks = len(self.plan.grid.kernels) * len(self.plan.folds)
                self._worker = self.make_worker(self.plan, max(1, min(self.n_jobs, n_threads, n_tasks)))
            (worker, n_at_once), stop = self._worker, threading.Event()

            def carry_out(kernel: int, fold: int) -> Any:
                task = Task(kernel, fold)
                scores = worker.fold_scores(task, keys, stop)
                return None if scores is None else use(task, scores)

            ordered = _fold_by_fold(tasks) if worker.by_fold else tasks
            for result in threads.imap_unordered(carry_out, ordered, n_at_once, stop.set):
                if result is not None:
                    yield result

    def _evaluate(self, task: Task, found: FoldScores) -> TaskValues:
        """The values of the kernel's points on a fold."""
        points, valid = self.plan.grid.points, self.plan.folds[task.fold].valid
        values = np.full(len(points), np.nan)
        if not self.scoring.pooled:
            numbers, rows, scores = self._numbers[task.kernel], *self._stacked(task.kernel, found.scores)
            if self.scoring.ranking:  # an increasing map of the scores leaves their ranking as it is
                values[numbers] = self.scoring.evaluate(scores, valid)[rows]
            else:
                affine = np.array([points[number].affine for number in numbers])
                values[numbers] = self.scoring.evaluate(affine[:, :1] * scores[rows] + affine[:, 1:], valid)
        return TaskValues(task, values, found.scores, found.n_failed)

    def _stacked(self, kernel: int, scores: dict[FitKey, Vector]) -> tuple[list[int], NDArray[np.float64]]:
        """The row of each point of a kernel in the scores (n_fits, n_valid) of all fits, and these."""
        row_of = {key: row for row, key in enumerate(scores)}
        rows = [row_of[self.plan.grid.points[number].fit] for number in self._numbers[kernel]]
        return rows, np.array(list(scores.values()))

    def _collect(self, found: TaskValues) -> None:
        """Keep the scores of a kernel until they are those of all folds, then those of its best point, if any."""
        kernel, folds = found.task.kernel, self.plan.folds
        parts = self._waiting.setdefault(kernel, {})
        parts[found.task.fold] = found
        if len(parts) < len(folds):
            return
        of_folds = [parts[fold] for fold in range(len(folds))]
        del self._waiting[kernel]
        if self.scoring.pooled:
            for part, values in zip(of_folds, self._pooled_values(kernel, of_folds).T, strict=True):
                self._checkpoint.record(kernel, part.task.fold, values)
        self._keep_best(kernel, of_folds)

    def _pooled_values(self, kernel: int, of_folds: list[TaskValues]) -> NDArray[np.float64]:
        """Values (n_points, n_folds) that need the scores of all folds; an increasing map of them changes nothing."""
        values = np.full(self.values.shape, np.nan)
        stacked = [self._stacked(kernel, part.scores) for part in of_folds]
        of_fits = self.scoring.evaluate_folds(
            [scores for _, scores in stacked], [fold.valid for fold in self.plan.folds]
        )
        values[self._numbers[kernel]] = of_fits[stacked[0][0]]
        return values

    def _keep_best(self, kernel: int, of_folds: list[TaskValues]) -> None:
        """Keep the scores of the best point of a kernel if it is the best so far, the first of equals."""
        mean = self.values[self._numbers[kernel]].mean(axis=1)
        if np.isnan(mean).all():
            return
        place = int(np.argmin(rank_means(mean)))
        number, best = self._numbers[kernel][place], self._best
        lead = np.inf if best is None else mean[place] - best.mean
        tie = 0.0 if best is None else mean_tolerance(np.array([mean[place], best.mean]))
        if lead > tie or (best is not None and lead >= -tie and number < best.number):
            scores = self._scores_of(number, [part.scores for part in of_folds])
            self._best = BestPoint(number, float(mean[place]), scores)

    def _scores_of(self, number: int, of_folds: Iterable[dict[FitKey, Vector]]) -> list[Vector]:
        """The scores of a point on each fold, from those of its fit."""
        point = self.plan.grid.points[number]
        return [point.affine.scale * scores[point.fit] + point.affine.offset for scores in of_folds]

    def held_out_scores(self, number: int) -> list[Vector]:
        """Scores of a point for the positive class, on the validation samples of each fold.

        Those of the best point are known, unless its values are from a checkpoint; then it is trained once more.
        """
        if self._best is not None and self._best.number == number:
            return self._best.scores
        point = self.plan.grid.points[number]
        tasks = [Task(point.kernel, fold) for fold in range(len(self.plan.folds))]
        found = dict(self._results(tasks, [point.fit], lambda task, scores: (task.fold, scores.scores)))
        return self._scores_of(number, (found[fold] for fold in range(len(tasks))))


def _fold_by_fold(tasks: list[Task]) -> list[Task]:
    """The same tasks, all kernels of a fold in a row, but for the first kernel: its points are complete early."""
    return sorted(tasks, key=lambda task: (task.kernel != tasks[0].kernel, task.fold))


class _Part(NamedTuple):
    first: int  # number of its first point
    grid: GridCrossValidation


class SearchResult:
    """Points in the order of their grids, with values (n_points, n_folds), NaN where a point was not scored."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.values: NDArray[np.float64] = np.empty((0, 0))
        self.n_fits = self.n_failed = 0
        self.interrupted = False
        self.edge: Edge | None = None  # where the best point lies after the grid was extended as often as it may
        self._parts: list[_Part] = []

    def add(self, done: GridCrossValidation) -> None:
        """Append the points of a grid."""
        self._parts.append(_Part(len(self.points), done))
        self.points += done.plan.grid.points
        self.values = done.values if not self.values.size else np.concatenate([self.values, done.values])
        self.n_fits += done.plan.grid.n_fits
        self.n_failed += done.n_failed
        self.interrupted |= done.interrupted

    @property
    def n_complete(self) -> int:
        """The number of points that were scored on all folds."""
        return int((~np.isnan(self.values)).all(axis=1).sum())

    @property
    def best(self) -> int:
        """The number of the best point, the first of equals."""
        return int(np.argmin(rank_means(self.values.mean(axis=1))))

    def held_out_scores(self, number: int) -> list[Vector]:
        """Scores of a point for the positive class, on the validation samples of each fold."""
        first, grid = next(part for part in reversed(self._parts) if part.first <= number)
        return grid.held_out_scores(number - first)


@dataclass(frozen=True)
class GridSearch:
    """Samples, folds and scoring of a search; `settings` is the estimator, of which parameters are read.

    samples, training : with the costs that points are scored by, and with those they are trained with
    """

    settings: Any
    features: FoldFeatures
    samples: Samples
    training: Samples
    folds: Sequence[Fold]
    scoring: Scoring
    make_worker: MakeWorker

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
        work = GridCrossValidation(
            plan,
            self.scoring,
            self.make_worker,
            n_jobs=threads.effective_n_threads(settings.n_jobs),
            verbose=settings.verbose,
            checkpoint=settings.checkpoint,
            fingerprint=lambda: self._fingerprint(plan),
        )
        work.run()
        return work

    def _fingerprint(self, plan: FitPlan) -> str:
        """What the values of the points depend on."""
        return fingerprint(
            search=self._identity,
            points=[point.params for point in plan.grid.points],
            costs=plan.samples.cost,
        )

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
            costs=(samples.target.label, samples.weights, samples.fn_cost, samples.fp_cost),
            folds=[tuple(fold) for fold in self.folds],
            settings=(type(settings).__name__, settings.decision, settings.tol),
            version=__version__,
        )


def make_results(points: Sequence[Point], values: NDArray[np.float64]) -> dict[str, Any]:
    """`cv_results_` of values (n_points, n_folds); a point that lacks a fold has no mean and ranks last."""
    mean = values.mean(axis=1)
    params = [point.params for point in points]
    results: dict[str, Any] = {f"param_{name}": _column([each[name] for each in params]) for name in params[0]}
    results["params"] = params
    for fold in range(values.shape[1]):
        results[f"split{fold}_test_score"] = values[:, fold]
    results["mean_test_score"], results["std_test_score"] = mean, values.std(axis=1)
    results["rank_test_score"] = rank_means(mean)
    return results


def rank_means(mean: Vector) -> NDArray[np.int32]:
    """The rank of each mean (n,), 1 for the greatest; NaN ranks last.

    Means that differ by rounding rank alike, so that the unit of the costs does not decide between them.
    """
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


def _column(values: list[Any]) -> NDArray[Any]:
    """A column of parameters: numbers, or objects where "tied" is among them."""
    return np.array(values, dtype=object if any(isinstance(value, str) for value in values) else None)
