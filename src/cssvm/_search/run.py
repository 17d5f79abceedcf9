"""One run of a search: every point of the grid scored on every fold, with a race, a checkpoint and progress.

Without a race every task trains all its machines at once. With one, a few kernels at a time advance in C stage by
stage, and the race says after each stage which of their paths go on. Stages that a checkpoint holds are gone through
again without any training, so that the race decides as it did before.

The engine trains machines; here their scores become values of points. A point with another kappa than 1 is a machine
whose scores are scaled and shifted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.types import Vector
from .._runtime.interrupts import are_interrupts_raised
from .._runtime.progress import Silent, progress
from .checkpoint import Checkpoint
from .engine import Engine, FoldScores, Machines, Task
from .grid import MachineKey
from .racing import KERNELS_AT_ONCE, PathKey, Race, stages
from .results import ranks, rounding
from .scoring import Scoring


class TaskValues(NamedTuple):
    """Values (n_points,) of one kernel's points on one fold, NaN for all points but those just trained.

    A scoring that needs all folds leaves all of them NaN. `scores` are those of the machines.
    """

    task: Task
    values: Vector
    scores: dict[MachineKey, Vector]
    n_failed: int


class Best(NamedTuple):
    """The best point so far by its number, its mean value, and its scores for the target on the rows of each fold."""

    number: int
    mean: float
    scores: list[Vector]


class RunResult(NamedTuple):
    """Values (n_points, n_folds), NaN where a point was not scored; machines that failed; whether Ctrl-C ended it."""

    values: NDArray[np.float64]
    n_failed: int
    interrupted: bool


@dataclass
class Run:
    """What is searched and how: machines, scoring, and where the values are kept.

    `fingerprint`, which identifies all that the values depend on, is only called with a checkpoint.
    """

    machines: Machines
    scoring: Scoring
    racing: bool = False
    n_jobs: int = 1
    verbose: int = 0
    checkpoint: Any = None
    fingerprint: Callable[[], str] = str
    _saved: Checkpoint = field(init=False)
    _engine: Engine = field(init=False)
    _points: list[list[int]] = field(init=False)  # of each kernel, by their numbers
    _n_failed: int = field(init=False, default=0)
    _waiting: dict[int, dict[int, TaskValues]] = field(init=False, default_factory=dict)  # of each kernel, by folds
    _best: Best | None = field(init=False, default=None)

    def results(self) -> RunResult:
        """Score all points; after Ctrl-C return what is done if a point is complete, else raise it again."""
        grid, n_folds = self.machines.grid, len(self.machines.folds)
        known = "" if self.checkpoint is None else self.fingerprint()
        self._saved = Checkpoint(self.checkpoint, known, (len(grid.points), n_folds), len(grid.kernels))
        self._engine = Engine(self.machines, self.n_jobs, n_kept=KERNELS_AT_ONCE * n_folds if self.racing else 0)
        self._points = [[] for _ in grid.kernels]
        for number, point in enumerate(grid.points):
            self._points[point.kernel].append(number)
        values, interrupted = self._saved.values, False
        with progress(self.verbose, grid.n_machines * n_folds) as shown:
            try:
                if self.racing:
                    self._race(shown)
                else:
                    self._train_all(shown)
            except KeyboardInterrupt:
                if are_interrupts_raised() or not (~np.isnan(values)).all(axis=1).any():
                    raise
                interrupted = True
        return RunResult(values, self._n_failed, interrupted)

    def _train_all(self, shown: Silent) -> None:
        grid = self.machines.grid
        n_kernels = len(grid.kernels)
        outwards = sorted(range(n_kernels), key=lambda kernel: abs(2 * kernel + 1 - n_kernels))  # as Ctrl-C may come
        everything = [PathKey(kernel, path) for kernel in outwards for path in range(len(grid.paths))]
        self._train(everything, range(len(grid.Cs)), shown)

    def _race(self, shown: Silent) -> None:
        """A few kernels at a time along C; paths that fall behind end, and so do sides of the grid."""
        grid, n_folds = self.machines.grid, len(self.machines.folds)
        race, n_untried = Race(grid, self._saved.values), len(grid.kernels)
        for kernels in race.groups():
            n_untried -= len(kernels)
            paths = [PathKey(kernel, path) for kernel in kernels for path in range(len(grid.paths))]
            for steps in stages(len(grid.Cs)):
                self._train(paths, steps, shown)
                n_left = len(grid.Cs) - steps.stop
                before, paths = len(paths), race.going_on(paths, steps.stop)
                shown.leave_out((before - len(paths)) * n_left * n_folds)
            self._engine.forget()
        shown.leave_out(n_untried * len(grid.paths) * len(grid.Cs) * n_folds)

    def _train(self, paths: Sequence[PathKey], steps: range, shown: Silent) -> None:
        """Train these steps of the paths on all folds, but for what the checkpoint holds."""
        wanted: dict[int, list[MachineKey]] = {}  # of each kernel
        for kernel, path in paths:
            wanted.setdefault(kernel, []).extend(MachineKey(path, step) for step in steps)
        tasks = [Task(kernel, fold) for kernel in wanted for fold in range(len(self.machines.folds))]
        left = [task for task in tasks if self._saved.n_done[task] < steps.stop]
        shown.skip(sum(len(wanted[task.kernel]) for task in set(tasks).difference(left)))
        for found in self._engine.results(left, wanted=lambda task: wanted[task.kernel], use=self._values):
            if not self.scoring.pooled:
                self._saved.record(*found.task, found.values, steps.stop)
            self._n_failed += found.n_failed
            self._collect(found, steps.stop)
            shown.advance(len(wanted[found.task.kernel]))
        self._waiting.clear()

    def _collect(self, found: TaskValues, n_done: int) -> None:
        """Keep the scores of a kernel until they are those of all folds, then those of its best point, if any."""
        kernel, folds = found.task.kernel, self.machines.folds
        parts = self._waiting.setdefault(kernel, {})
        parts[found.task.fold] = found
        if len(parts) < len(folds):
            return
        of_folds = [self._waiting[kernel][fold] for fold in range(len(folds))]
        del self._waiting[kernel]
        if self.scoring.pooled:
            for part, values in zip(of_folds, self._pooled_values(of_folds).T, strict=True):
                self._saved.record(*part.task, values, n_done)
        self._keep_best(of_folds)

    def _keep_best(self, of_folds: list[TaskValues]) -> None:
        """Keep the scores of the best point of a kernel if it is the best so far, the first of equals."""
        points = self.machines.grid.points
        numbers = self._trained(of_folds[0])
        mean = self._saved.values[numbers].mean(axis=1)
        if np.isnan(mean).all():
            return
        place = int(np.argmin(ranks(mean)))
        number, best = numbers[place], self._best
        ahead = np.inf if best is None else mean[place] - best.mean
        tie = 0.0 if best is None else rounding(np.array([mean[place], best.mean]))
        if ahead > tie or (best is not None and ahead >= -tie and number < best.number):
            scale, offset = points[number].affine
            scores = [scale * part.scores[points[number].machine] + offset for part in of_folds]
            self._best = Best(number, float(mean[place]), scores)

    def _trained(self, found: TaskValues) -> list[int]:
        """The numbers of the points whose machines a task has trained."""
        points = self.machines.grid.points
        return [number for number in self._points[found.task.kernel] if points[number].machine in found.scores]

    def _pooled_values(self, of_folds: list[TaskValues]) -> NDArray[np.float64]:
        """Values (n_points, n_folds) that need the scores of all folds; an increasing map of them changes nothing."""
        grid = self.machines.grid
        values = np.full((len(grid.points), len(of_folds)), np.nan)
        numbers, keys = self._trained(of_folds[0]), list(of_folds[0].scores)
        scores = [np.array([part.scores[key] for key in keys]) for part in of_folds]
        of_machines = self.scoring.evaluate_folds(scores, [fold.valid for fold in self.machines.folds])  # type: ignore[attr-defined]
        place = {key: k for k, key in enumerate(keys)}
        values[numbers] = of_machines[[place[grid.points[number].machine] for number in numbers]]
        return values

    def held_out_scores(self, number: int) -> list[Vector]:
        """Scores for the target of a point, on the validation rows of each fold.

        Those of the best point are known; but for values from a checkpoint, whose machines are trained once more.
        """
        if self._best is not None and self._best.number == number:
            return self._best.scores
        point = self.machines.grid.points[number]
        tasks = [Task(point.kernel, fold) for fold in range(len(self.machines.folds))]
        found = dict(
            self._engine.results(
                tasks,
                wanted=lambda task: [point.machine],
                use=lambda task, found: (task.fold, found.scores[point.machine]),
            )
        )
        scale, offset = point.affine
        return [scale * found[fold] + offset for fold in range(len(tasks))]

    def _values(self, task: Task, found: FoldScores) -> TaskValues:
        """The value of every point whose machine was trained, on the thread of the task."""
        grid, valid = self.machines.grid, self.machines.folds[task.fold].valid
        values = np.full(len(grid.points), np.nan)
        if self.scoring.pooled:
            return TaskValues(task, values, found.scores, found.n_failed)
        place = {machine: k for k, machine in enumerate(found.scores)}
        numbers = [number for number in self._points[task.kernel] if grid.points[number].machine in place]
        points = [grid.points[n] for n in numbers]
        places = [place[point.machine] for point in points]
        of_machine = np.array(list(found.scores.values()))
        if self.scoring.ranking:  # an increasing map of the scores leaves their ranking as it is
            values[numbers] = self.scoring.evaluate(of_machine, valid)[places]
        else:
            affine = np.array([point.affine for point in points])
            of_point = affine[:, :1] * of_machine[places] + affine[:, 1:]
            values[numbers] = self.scoring.evaluate(of_point, valid)
        return TaskValues(task, values, found.scores, found.n_failed)
