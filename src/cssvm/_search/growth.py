"""A grid that goes on where its best point lies at an edge.

Automatic values of C and gamma cover what is usual. Where the best point is the last one on such an axis, and better
than the best one elsewhere by more than a standard error of their difference over the folds, a few more values are
tried beyond it, at the best slopes only and for C at neighbouring gammas only, so that this costs a share of the
search. After `ROUNDS` of them in one direction, or at `REACH` times the end of the axis, it is left at that, with a
warning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.types import Vector
from .._kernels import make_kernel
from .axes import Axes
from .grid import Grid, Point

if TYPE_CHECKING:
    from .outcome import Outcome

VALUES = 2  # added at a time
ROUNDS = 3  # at most in one direction
REACH = 64.0  # times the end of the axis, past which no more are added
LARGEST_STEP = REACH ** (1 / VALUES)  # so that a coarse axis grows to its reach in one round
ROUNDING = 1e-9  # of the values of an axis
Z = 1.0  # standard errors by which a point at the edge must be better than others


class Edge(NamedTuple):
    """An axis, by the name of its parameter, and the direction in which it ends: -1 or +1."""

    name: str
    direction: int


class Added(NamedTuple):
    """Points beyond an edge, and which values they are of."""

    grid: Grid
    description: str


class Axis:
    """The values of an automatic axis, ascending, in geometric progression."""

    def __init__(self, values: Vector):
        self.values = np.unique(values)
        step = min(float(self.values[1] / self.values[0]), LARGEST_STEP)
        factors = step ** np.arange(1, VALUES * ROUNDS + 1)
        factors = factors[factors <= REACH * (1.0 + ROUNDING)]
        rounds = [factors[first : first + VALUES] for first in range(0, len(factors), VALUES)]
        self.left = {-1: [self.values[0] / each for each in rounds], 1: [self.values[-1] * each for each in rounds]}

    def direction(self, value: float) -> int:
        """-1 or +1 for the value at that end, 0 for one inside."""
        place = int(np.argmin(np.abs(np.log(self.values / value))))
        return -1 if place == 0 else int(place == len(self.values) - 1)

    def near(self, value: float) -> Vector:
        """The value and its neighbours."""
        place = int(np.argmin(np.abs(np.log(self.values / value))))
        return self.values[max(0, place - 1) : place + 2]

    def grow(self, direction: int) -> Vector:
        """The next values beyond that end, ascending, which from now on are part of the axis."""
        added = np.sort(self.left[direction].pop(0))
        self.values = np.unique(np.concatenate([self.values, added]))
        return added


OF_POINT: dict[str, Callable[[Point], float]] = {
    "C": lambda point: point.params["C"] / point.affine.scale,  # that of the machine, which kappas share
    "gamma": lambda point: point.params["gamma"],
}


class Growth:
    """The automatic axes of a grid, by the name of their parameter."""

    def __init__(self, kernel: Any, whole: Axes):
        self.kernel, self.whole = kernel, whole
        self.axes = {name: Axis(values) for name, values in whole.automatic.items() if len(np.unique(values)) > 1}

    def edge(self, found: Outcome) -> Edge | None:
        """Where the best point lies at the end of an axis and is clearly better than others; None if nowhere."""
        points, mean, best = found.points, found.mean, found.best
        for name, axis in self.axes.items():
            of_points = np.array([OF_POINT[name](point) for point in points])
            direction = axis.direction(of_points[best])
            inside = ~np.isclose(of_points, of_points[best], rtol=1e-6, atol=0.0)
            others = np.where(inside, mean, -np.inf)
            rival = int(np.argmax(others))
            if direction and (np.isneginf(others[rival]) or is_clearly_better(*found.values[[best, rival]])):
                return Edge(name, direction)
        return None

    def is_exhausted(self, edge: Edge) -> bool:
        """Whether the axis has grown enough in that direction."""
        return not self.axes[edge.name].left[edge.direction]

    def beyond(self, edge: Edge, best: Point) -> Added:
        """The points beyond that edge, at the slopes of the best one."""
        own = dict(best.params)
        slopes = (own.pop("fn_cost"), own.pop("fp_cost"))
        del own["C"], own["kappa"]
        added, Cs = (
            self.axes[edge.name].grow(edge.direction),
            self.axes["C"].values if "C" in self.axes else self.whole.Cs,
        )
        if edge.name == "gamma":
            kernels = [make_kernel(self.kernel, **own | {"gamma": gamma}) for gamma in added.tolist()]
        else:
            near = self.axes["gamma"].near(own["gamma"]).tolist() if "gamma" in self.axes else []
            kernels = [make_kernel(self.kernel, **own | {"gamma": gamma}) for gamma in near]
            kernels, Cs = kernels or [make_kernel(self.kernel, **own)], added
        description = f"{len(added)} {'smaller' if edge.direction < 0 else 'larger'} value{'s' * (len(added) > 1)}"
        return Added(replace(self.whole, kernels=kernels, Cs=Cs, slopes=[slopes]).grid(), description)


def is_clearly_better(values: Vector, others: Vector) -> bool:
    """Whether values (n_folds,) are greater by more than a standard error of the differences on the folds.

    On two folds that means greater on both; of a single one no error is known, and any difference counts.
    """
    difference, n_folds = values - others, len(values)
    error = difference.std(ddof=1) / np.sqrt(n_folds) if n_folds > 1 else 0.0
    return bool(difference.mean() > Z * error + ROUNDING * np.abs(values).mean())
