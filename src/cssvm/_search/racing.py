"""Racing: what has fallen behind is not followed to larger C, where training takes longest, nor to further kernels.

A path is one kernel with one pair of slopes; its curve is the mean score of each of its steps along C, that of the best
kappa. Kernels are tried a few at a time, from the middle of the grid outwards. All folds of such a group advance in C
together, and after each stage every path is judged from complete data, so that neither threads nor time have a say.
A path ends when

- its curve has risen above its first step: before that all rows may be decided alike, which says nothing of larger C,
- it has an outlook: its latest value where the curve has come down from an earlier one; where the last two gains
  g_1 > g_2 > 0 shrink, what it comes to if they go on shrinking by g_2 / g_1,
- and the outlook is behind the best point so far by more than the folds vary: with D_k the differences on the folds,
  mean(D) < -`Z` std(D) / sqrt(folds).

Kernels that differ in gamma alone form a line. Further kernels on one side of it are not tried when the last two there
are both behind in this sense, each by its best point, the last one further than the one before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.types import Vector
from .grid import Grid

MIN_FOLDS = 3  # with fewer, nothing is known of how they vary
Z = 1.0  # standard errors; see benchmarks/racing.py for what the winner loses by it
KERNELS_AT_ONCE = 2  # whose kernel matrices of all folds are kept from stage to stage


class PathKey(NamedTuple):
    """One path: its kernel and its pair of slopes, by their numbers in the grid."""

    kernel: int
    path: int


class _Side:
    """The kernels of a line from its middle towards one end; the first `n_tried` of `order`, the whole line, are done.

    The other side has seen to those before the middle.
    """

    def __init__(self, order: Sequence[int], n_tried: int):
        self.order, self.n_tried = order, n_tried

    def next(self) -> int:
        """The next kernel outwards."""
        self.n_tried += 1
        return self.order[self.n_tried - 1]


def _sides(line: Sequence[int]) -> list[_Side]:
    """Both sides of a line, the first one with its middle."""
    n_second = len(line) // 2
    both = [_Side(line[::-1], n_second), _Side(line, len(line) - n_second)]
    return both if n_second else both[:1]


def stages(n_steps: int) -> Iterator[range]:
    """The steps along C between two looks at the race: the first half, which takes little time, then one by one."""
    first = min(n_steps, max(2, n_steps // 2))
    yield range(first)
    for step in range(first, n_steps):
        yield range(step, step + 1)


class Race:
    """Which paths go on; `values` (n_points, n_folds) is filled in by others, NaN where a point has no value."""

    def __init__(self, grid: Grid, values: NDArray[np.float64]):
        self.values, self.n_steps, self.lines = values, len(grid.Cs), grid.lines
        self._best: Vector | None = None  # values of the best point so far, (n_folds,)
        self._best_of: dict[int, Vector] = {}  # the same of each kernel
        self._curves: dict[PathKey, list[Vector]] = {}
        self._points: dict[PathKey, list[list[int]]] = {}  # of each path and step
        for number, point in enumerate(grid.points):
            steps = self._points.setdefault(PathKey(point.kernel, point.machine.path), [[] for _ in grid.Cs])
            steps[point.machine.step].append(number)

    def groups(self) -> Iterator[list[int]]:
        """The kernels that are tried together; `going_on` must have seen a group before the next one is asked for."""
        waiting = deque(side for line in self.lines for side in _sides(line))
        while waiting:
            sides = [waiting.popleft() for _ in range(min(KERNELS_AT_ONCE, len(waiting)))]
            yield [side.next() for side in sides]
            waiting.extend(side for side in sides if self._goes_on(side))

    def _goes_on(self, side: _Side) -> bool:
        """Whether there are further kernels on this side, and they are to be tried."""
        if side.n_tried == len(side.order):
            return False
        before, latest = (self._best_of.get(kernel) for kernel in side.order[side.n_tried - 2 : side.n_tried])
        if before is None or latest is None:
            return True
        falls = latest.mean() < before.mean()
        return not (falls and self._is_behind(before) and self._is_behind(latest))

    def going_on(self, paths: Sequence[PathKey], n_done: int) -> list[PathKey]:
        """Those of `paths`, all of whose first `n_done` steps have values, that are to be followed further."""
        curves = {key: self._curve(key, n_done) for key in paths}
        for key, curve in curves.items():
            self._remember_best(key.kernel, curve)
        return [key for key, curve in curves.items() if not self._ends(curve)]

    def _curve(self, key: PathKey, n_done: int) -> NDArray[np.float64]:
        """The values of the first steps of a path, (n_done, n_folds)."""
        known = self._curves.setdefault(key, [])
        known.extend(self._step(key, step) for step in range(len(known), n_done))
        return np.array(known)

    def _step(self, key: PathKey, step: int) -> Vector:
        """The values (n_folds,) of the best point of a step; NaN if none has values on all folds."""
        values = self.values[self._points[key][step]]
        means = values.mean(axis=1)
        return values[np.nanargmax(means)] if not np.isnan(means).all() else np.full(values.shape[1], np.nan)

    def _remember_best(self, kernel: int, curve: NDArray[np.float64]) -> None:
        for values in curve[~np.isnan(curve).any(axis=1)]:
            if self._best is None or values.mean() > self._best.mean():
                self._best = values
            if kernel not in self._best_of or values.mean() > self._best_of[kernel].mean():
                self._best_of[kernel] = values

    def _ends(self, curve: NDArray[np.float64]) -> bool:
        """Whether a path with this curve (n_done, n_folds) has no outlook of catching up."""
        if not np.isfinite(curve).all():
            return False
        rise = expected_rise(curve.mean(axis=1), self.n_steps - len(curve))
        return rise is not None and self._is_behind(curve[-1] + rise)

    def _is_behind(self, values: Vector) -> bool:
        """Whether values (n_folds,) are behind those of the best point by more than the folds vary."""
        n_folds = len(values)
        if self._best is None or n_folds < MIN_FOLDS or not np.isfinite([values, self._best]).all():
            return False
        difference = values - self._best
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
