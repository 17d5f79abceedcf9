"""Machines of a search that are linear functions, trained in the space of the features.

    for each fold:                           a task
        the training rows                    taken and prepared once
        for each pair of slopes:             a path
            for C ascending:                 solve, begun from the last solution
        scores of the validation rows

The rows near their margin at one C are almost those at the next, so that past the first C hardly more than a look at
all rows and a problem of few rows is left (`cssvm._solvers.linear.active_set`). A problem of some thousand rows is solved afresh.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import Any

import scipy.sparse as sp

from .._core.types import Status
from .._runtime.memory import memory_budget
from .._solvers.linear import LinearFunction, LinearSolver, linear_scores
from .engine import FoldScores, Machines, Task, Worker, by_path
from .grid import MachineKey


def make_linear_worker(machines: Machines, n_workers: int, n_kept: int) -> tuple[Worker, int]:
    """The worker, and how many folds may be in memory at a time; one by itself has all threads."""
    of_task = max(1, _bytes(machines.features.whole[0]))  # its training and validation rows are copies
    budget = memory_budget(machines.cache_size, n_workers * of_task)
    return LinearWorker(machines), max(1, min(n_workers, budget // of_task))


def _bytes(X: Any) -> int:
    """What rows of features take in memory."""
    if sp.issparse(X):
        return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return X.nbytes


class LinearWorker:
    """Tasks that train linear machines: `Worker`."""

    by_fold = False

    def __init__(self, machines: Machines):
        self.machines = machines

    def forget(self) -> None:
        """Nothing: no task is gone on with."""

    def scores(self, task: Task, wanted: Collection[MachineKey], stop: threading.Event) -> FoldScores | None:
        """As `Worker` says."""
        machines, fold = self.machines, self.machines.folds[task.fold]
        X, places = machines.features.of_fold(fold)
        kept, _ = machines.problem_of(0, fold.train)  # those that cost something, with any slopes
        trained, X_valid = LinearSolver(X[places.train[kept]]), X[places.valid]
        scores, n_failed = {}, 0
        for path, steps in by_path(wanted):
            _, unit = machines.problem_of(path, fold.train)
            start: LinearFunction | None = None
            for step in steps:
                if stop.is_set():
                    return None
                upper_bounds = float(machines.grid.Cs[step]) * (unit.upper - unit.lower)
                found = trained.solve(unit.linear, upper_bounds, tol=machines.tol, start=start)
                start = found.point
                n_failed += found.status != Status.CONVERGED
                scores[MachineKey(path, step)] = linear_scores(X_valid, *found.point)
        return FoldScores(scores, n_failed)
