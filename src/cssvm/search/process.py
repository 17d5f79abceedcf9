"""A whole search: the runs over its grid, over what the grid grows to, and over the stage before, if there is one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..folds import Fold
from ..runtime.threads import n_asked_for
from ..sample import Sample
from .axes import Axes
from .checkpoint import fingerprint
from .engine import Machines, MakeWorker
from .features import Features
from .grid import Grid
from .growth import Growth
from .outcome import Outcome
from .run import Run
from .scoring import Scoring


@dataclass(frozen=True)
class Search:
    """Rows, folds and scoring of a search; `settings` is the estimator, of which parameters are read.

    make_worker : how machines are trained, as in `Machines`.
    """

    settings: Any
    features: Features
    sample: Sample
    folds: Sequence[Fold]
    scoring: Scoring
    make_worker: MakeWorker | None = None

    def outcome(self, axes: Axes) -> Outcome:
        """All points of the grid, and of what it grows to."""
        found, growth = Outcome(), Growth(self.settings.kernel, axes)
        run = self._run(axes.grid())
        found.add(run, run.results())
        for number in itertools.count(1):
            edge = None if found.interrupted or not found.n_complete else growth.edge(found)
            if edge is None:
                break
            if not self.settings.grow or growth.is_exhausted(edge):
                found.edge = edge
                break
            run = self._run(growth.beyond(edge, found.points[found.best]), suffix=f".grown{number}")
            try:
                found.add(run, run.results())
            except KeyboardInterrupt:  # the grid that was asked for is complete
                found.interrupted = True
        return found

    def with_first_kernel(self, axes: Axes) -> tuple[Axes, dict[str, Any]]:
        """The axes with the kernel at which the standard SVM scores best, over all Cs; and its best parameters."""
        equal = replace(self.sample, cost=np.ones(len(self.sample)), fn_cost=1.0, fp_cost=1.0)
        found = Outcome()
        run = self._run(axes.of_standard_svm().grid(), equal, suffix=".stage1")
        found.add(run, run.results())
        best = found.points[found.best]
        return axes.with_kernel(axes.kernels[best.kernel]), best.params

    def _run(self, grid: Grid, sample: Sample | None = None, *, suffix: str = "") -> Run:
        """A run over this grid, with costs to train with other than the usual ones if there is a `sample`.

        `suffix` tells its checkpoint from those of the other runs.
        """
        settings = self.settings
        machines = Machines(
            self.features,
            self.sample if sample is None else sample,
            self.folds,
            grid,
            settings.tol,
            settings.cache_size,
            self.make_worker,
        )
        return Run(
            machines,
            self.scoring,
            racing=settings.racing,
            n_jobs=n_asked_for(settings.n_jobs),
            verbose=settings.verbose,
            checkpoint=None if settings.checkpoint is None else f"{settings.checkpoint}{suffix}",
            fingerprint=lambda: self._fingerprint(machines),
        )

    def _fingerprint(self, machines: Machines) -> str:
        """What the values of the points depend on."""
        settings, sample, points = self.settings, self.sample, [point.params for point in machines.grid.points]
        return fingerprint(
            [
                *(machines.features.X, settings.transformer, sample.signs, sample.weights, sample.cost),
                *(np.ndim(sample.fn_cost), np.ndim(sample.fp_cost), points, str(settings.scoring), settings.kernel),
                *(machines.sample.cost, settings.decision, settings.grid, settings.tol, settings.racing),
                *itertools.chain(*machines.folds),
            ]
        )
