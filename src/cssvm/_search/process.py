"""A whole search: the runs over its grid, over what the grid grows to, and over the stage before, if there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import __version__
from .._core.folds import Fold
from .._core.samples import Samples
from .._runtime.interrupts import are_interrupts_raised
from .._runtime.progress import say
from .._runtime.threads import effective_n_threads
from .axes import Axes
from .engine import Machines, MakeWorker
from .features import Features
from .fingerprint import fingerprint
from .grid import Grid
from .growth import Growth
from .outcome import Outcome
from .run import Run
from .scoring import Scoring


@dataclass(frozen=True)
class Search:
    """Rows, folds and scoring of a search; `settings` is the estimator, of which parameters are read.

    sample, training : with the costs that points are scored by, and with those they are trained with; make_worker : how
    machines are trained, as in `Machines`.
    """

    settings: Any
    features: Features
    sample: Samples
    training: Samples
    folds: Sequence[Fold]
    scoring: Scoring
    make_worker: MakeWorker | None = None

    def outcome(self, axes: Axes) -> Outcome:
        """All points of the grid, and of what it grows to."""
        found, growth = Outcome(), Growth(self.settings.kernel, axes)
        run = self._run(axes.grid())
        found.add(run, run.results())
        while not found.interrupted and found.n_complete:
            edge = growth.edge(found)
            if edge is None:
                break
            if not self.settings.grow or growth.is_exhausted(edge):
                found.edge = edge
                break
            added = growth.beyond(edge, found.points[found.best])
            if self.settings.verbose:
                say(f"the best {edge.name} is at the edge of the grid: trying {added.description}")
            run = self._run(added.grid)
            try:
                found.add(run, run.results())
            except KeyboardInterrupt:
                if are_interrupts_raised():
                    raise
                found.interrupted = True  # the grid that was asked for is complete
        return found

    def with_first_kernel(self, axes: Axes) -> tuple[Axes, dict[str, Any]]:
        """The axes with the kernel at which the standard SVM scores best, over all Cs; and its best parameters."""
        equal = replace(self.sample, cost=np.ones(len(self.sample)), fn_cost=1.0, fp_cost=1.0)
        found = Outcome()
        run = self._run(axes.of_standard_svm().grid(), equal)
        found.add(run, run.results())
        if found.interrupted:  # no point of the second stage is scored, so that there is nothing to keep
            raise KeyboardInterrupt
        best = found.points[found.best]
        return axes.with_kernel(axes.kernels[best.kernel]), best.params

    def _run(self, grid: Grid, sample: Samples | None = None) -> Run:
        """A run over this grid, with costs to train with other than the usual ones if there is a `sample`."""
        settings = self.settings
        machines = Machines(
            self.features,
            self.training if sample is None else sample,
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
            n_jobs=effective_n_threads(settings.n_jobs),
            verbose=settings.verbose,
            checkpoint=settings.checkpoint,
            fingerprint=lambda: self._fingerprint(machines),
        )

    def _fingerprint(self, machines: Machines) -> str:
        """What the values of the points depend on."""
        return fingerprint(
            search=self._identity,
            points=[point.params for point in machines.grid.points],
            costs=machines.sample.cost,
        )

    @cached_property
    def _identity(self) -> str:
        """What the values of all runs depend on, as it is before the first of them."""
        settings, sample = self.settings, self.sample
        parameters = {name: getattr(settings, name) for name in ("kernel", "scoring", "transformer")}
        return fingerprint(
            **parameters | {"transformer": None if settings.transformer is None else clone(settings.transformer)},
            X=self.features.X,
            y=sample.labels,
            costs=(sample.target.label, sample.weights, sample.fn_cost, sample.fp_cost),
            folds=[tuple(fold) for fold in self.folds],
            settings=(type(settings).__name__, settings.decision, settings.grid, settings.tol, settings.racing),
            version=__version__,
        )
