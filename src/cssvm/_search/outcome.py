"""What one or more runs of a search have found: their points, the values on the folds, and the best of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.types import Vector
from .grid import Point
from .growth import Edge
from .results import ranks
from .run import Run, RunResult


class _Part(NamedTuple):
    first: int  # number of its first point
    run: Run


class Outcome:
    """Points in the order of the runs, with values (n_points, n_folds), NaN where a point was not scored."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.values: NDArray[np.float64] = np.empty((0, 0))
        self.n_machines = self.n_failed = 0
        self.interrupted = False
        self.edge: Edge | None = None  # where the best point lies after the grid has grown as often as it may
        self._parts: list[_Part] = []

    def add(self, run: Run, found: RunResult) -> None:
        """Append a run."""
        self._parts.append(_Part(len(self.points), run))
        self.points += run.machines.grid.points
        self.values = found.values if not self.values.size else np.concatenate([self.values, found.values])
        self.n_machines += run.machines.grid.n_machines
        self.n_failed += found.n_failed
        self.interrupted |= found.interrupted

    @property
    def n_complete(self) -> int:
        """Points that were scored on all folds."""
        return int((~np.isnan(self.values)).all(axis=1).sum())

    @property
    def mean(self) -> Vector:
        """Mean value of each point, -inf for one that lacks a fold."""
        mean = self.values.mean(axis=1)
        return np.where(np.isnan(mean), -np.inf, mean)

    @property
    def best(self) -> int:
        """The number of the best point, the first of equals."""
        return int(np.argmin(ranks(self.mean)))

    def held_out_scores(self, number: int) -> list[Vector]:
        """Scores for the target of a point, on the validation rows of each fold."""
        first, run = next(part for part in reversed(self._parts) if part.first <= number)
        return run.held_out_scores(number - first)
