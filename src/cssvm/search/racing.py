"""Racing along C: a path that has fallen behind is not followed to larger C, where training takes longest.

A path is one kernel with one pair of slopes; its curve is the mean score of each of its steps along C, that of the best
kappa. Kernels are tried a few at a time, from the middle of the grid outwards. All folds of such a group advance in C
together, and after each stage every path is judged from complete data, so that neither threads nor time have a say.
A path ends when

- its curve has risen above its first step: before that all rows may be decided alike, which says nothing of larger C,
- it has an outlook: its latest value where the curve has come down from an earlier one; where the last two gains
  g_1 > g_2 > 0 shrink, what it comes to if they go on shrinking by g_2 / g_1,
- and the outlook is behind the best point so far by more than the folds vary: with D_k the differences on the folds,
  mean(D) < -`Z` std(D) / sqrt(folds).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._types import Vector
from .grid import Grid

MIN_FOLDS = 3  # with fewer, nothing is known of how they vary
Z = 1.0  # standard errors; see benchmarks/racing.py for what the winner loses by it
KERNELS_AT_ONCE = 2  # whose kernel matrices of all folds are kept from stage to stage


class PathKey(NamedTuple):
    """One path: its kernel and its pair of slopes, by their numbers in the grid."""

    kernel: int
    path: int


def groups(n_kernels: int) -> list[list[int]]:
    """The kernels that are tried together, from the middle of the grid outwards."""
    middle = (n_kernels - 1) / 2
    order = sorted(range(n_kernels), key=lambda kernel: abs(kernel - middle))
    return [order[i : i + KERNELS_AT_ONCE] for i in range(0, n_kernels, KERNELS_AT_ONCE)]


def stages(n_steps: int) -> Iterator[range]:
    """The steps along C between two looks at the race: the first half, which takes little time, then one by one."""
    first = min(n_steps, max(2, n_steps // 2))
    yield range(first)
    for step in range(first, n_steps):
        yield range(step, step + 1)


class Race:
    """Which paths go on; `values` (n_points, n_folds) is filled in by others, NaN where a point has no value."""

    def __init__(self, grid: Grid, values: NDArray[np.float64]):
        self.values, self.n_steps = values, len(grid.Cs)
        self._best: Vector | None = None  # values of the best point so far, (n_folds,)
        self._points: dict[PathKey, list[list[int]]] = {}  # of each path and step
        for number, point in enumerate(grid.points):
            steps = self._points.setdefault(PathKey(point.kernel, point.machine.path), [[] for _ in grid.Cs])
            steps[point.machine.step].append(number)

    def going_on(self, paths: Sequence[PathKey], n_done: int) -> list[PathKey]:
        """Those of `paths`, all of whose first `n_done` steps have values, that are to be followed further."""
        curves = {key: np.array([self._step(key, step) for step in range(n_done)]) for key in paths}
        for curve in curves.values():
            self._remember_best(curve)
        return [key for key, curve in curves.items() if not self._is_behind(curve)]

    def _step(self, key: PathKey, step: int) -> Vector:
        """The values (n_folds,) of the best point of a step; NaN if none has values on all folds."""
        values = self.values[self._points[key][step]]
        means = values.mean(axis=1)
        return values[np.nanargmax(means)] if not np.isnan(means).all() else np.full(values.shape[1], np.nan)

    def _remember_best(self, curve: NDArray[np.float64]) -> None:
        for values in curve[~np.isnan(curve).any(axis=1)]:
            if self._best is None or values.mean() > self._best.mean():
                self._best = values

    def _is_behind(self, curve: NDArray[np.float64]) -> bool:
        """Whether a path with this curve (n_done, n_folds) has no outlook of catching up."""
        n_folds = curve.shape[1]
        if self._best is None or n_folds < MIN_FOLDS or not np.isfinite([*curve, self._best]).all():
            return False
        rise = expected_rise(curve.mean(axis=1), self.n_steps - len(curve))
        if rise is None:
            return False
        difference = curve[-1] + rise - self._best
        return bool(difference.mean() < -Z * difference.std(ddof=1) / np.sqrt(n_folds))


def expected_rise(means: Vector, n_left: int) -> float | None:
    """By how much a curve may still rise in `n_left` steps; None if it cannot be told."""
    if len(means) < 2 or means.max() <= means[0]:
        return None
    if means[-1] < means.max():
        return 0.0
    last, before = means[-1] - means[-2], means[-2] - means[-3] if len(means) > 2 else 0.0
    if not 0.0 < last < before:
        return None
    return float(last * np.sum((last / before) ** np.arange(1, n_left + 1)))
