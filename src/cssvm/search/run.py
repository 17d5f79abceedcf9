"""One run of a search: every point of the grid scored on every fold, with a race, a checkpoint and progress.

The engine trains machines; here their scores become values of points. A point with another kappa than 1 is a machine
whose scores are scaled and shifted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._types import Vector
from .checkpoint import Checkpoint
from .engine import FoldScores, Machines, Task, all_tasks, results
from .grid import MachineKey
from .progress import progress
from .racing import Race
from .scoring import Scoring


class TaskValues(NamedTuple):
    """Values (n_points,) of one kernel's points on one fold, NaN for points of other kernels or dropped ones."""

    task: Task
    values: Vector
    n_failed: int


class RunResult(NamedTuple):
    """Values (n_points, n_folds), NaN where a point was not scored; machines that failed; whether Ctrl-C ended it."""

    values: NDArray[np.float64]
    n_failed: int
    interrupted: bool

    @property
    def n_complete(self) -> int:
        """Points that were scored on all folds."""
        return int((~np.isnan(self.values)).all(axis=1).sum())


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
    _race: Race = field(init=False)
    _chosen: dict[Task, list[int]] = field(init=False, default_factory=dict)  # points scored by the tasks under way

    def results(self) -> RunResult:
        """Score all points; after Ctrl-C return what is done if a point is complete, else raise it again."""
        grid, n_folds = self.machines.grid, len(self.machines.folds)
        known = "" if self.checkpoint is None else self.fingerprint()
        saved = Checkpoint(self.checkpoint, known, (len(grid.points), n_folds), len(grid.kernels))
        self._race = Race(saved.values, enabled=self.racing)
        self._race.update()
        by_fold = self.racing or not self.machines.features.same_for_all_folds
        tasks = [task for task in all_tasks(grid, n_folds, by_fold=by_fold) if not saved.done[task]]
        each = len(grid.paths) * len(grid.Cs)
        n_failed, interrupted = 0, False
        with progress(self.verbose, each * len(grid.kernels) * n_folds, each * int(saved.done.sum())) as shown:
            try:
                for found in results(self.machines, tasks, n_jobs=self.n_jobs, wanted=self._wanted, use=self._values):
                    saved.record(*found.task, found.values)
                    self._race.update()
                    n_failed += found.n_failed
                    shown.advance(each)
            except KeyboardInterrupt:
                if not (~np.isnan(saved.values)).all(axis=1).any():
                    raise
                interrupted = True
        return RunResult(saved.values, n_failed, interrupted)

    def _wanted(self, task: Task) -> set[MachineKey]:
        """The machines of the points of a task that are still in the race."""
        points = self.machines.grid.points
        numbers = [n for n, point in enumerate(points) if point.kernel == task.kernel and self._race.alive(n)]
        self._chosen[task] = numbers
        return {points[n].machine for n in numbers}

    def _values(self, task: Task, found: FoldScores) -> TaskValues:
        """The value of every point whose machine was trained, on the thread of the task."""
        grid, valid = self.machines.grid, self.machines.folds[task.fold].valid
        values = np.full(len(grid.points), np.nan)
        numbers = self._chosen.pop(task)
        if numbers:
            points = [grid.points[n] for n in numbers]
            place = {machine: k for k, machine in enumerate(found.scores)}
            places = [place[point.machine] for point in points]
            of_machine = np.array(list(found.scores.values()))
            if self.scoring.ranking:  # an increasing map of the scores leaves their ranking as it is
                values[numbers] = self.scoring.evaluate(of_machine, valid)[places]
            else:
                affine = np.array([point.affine for point in points])
                of_point = affine[:, :1] * of_machine[places] + affine[:, 1:]
                values[numbers] = self.scoring.evaluate(of_point, valid)
        return TaskValues(task, values, found.n_failed)
