"""The grid of a search: the values of each parameter, the points of the grid, and which of them share a fit.

A point is (kernel, fn_cost, fp_cost, kappa, C). With s = (1 + kappa) / 2, a cost-sensitive SVM with costs fn_cost and
fp_cost and margins 1 and kappa, trained with C s, is

    f = s f' + (1 - kappa) / 2,        f' the SVM with the same costs and both margins 1, trained with C

because sum a+ = sum a- makes the dual's linear term s times that of f' (docs/theory.md). So all kappas share one fit.
Margins of single samples (kappa="tied" with a cost for each sample) have no such relation and are fitted by themselves.

Where the best point is the last one on an automatic axis, and better than the best one elsewhere by more than a
standard error of their difference over the folds, the grid is extended by a few values, at the best costs only and for
C at neighbouring gammas only. After `MAX_EXTENSIONS` in one direction, or at `REACH` times the end of the axis, a
warning is issued instead.
"""

from __future__ import annotations

import itertools
import reprlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._core.margins_and_bounds import TIED, is_tied, tied_kappa
from .._core.samples import Samples
from .._core.types import Vector
from .._core.validation import is_number
from .._kernels import Kernel, kernel_class, make_kernel
from .._kernels.base import feature_moments

GAMMA_RANGE = (1 / 32, 8.0)  # in units of `gamma_unit`: from almost linear to one hill for each sample
C_RANGE = (2.0**-5, 2.0**10)  # in units of 1 / the mean cost: from all samples at their bounds to almost hard margins
LARGE, C_RANGE_LARGE = 20_000, (2.0**-5, 2.0**7)  # from so many samples on, which need less weight each, take longer
FN_COST_REACH = 2.0  # automatic fn_costs go from fp_cost to this times the larger of fn_cost and fp_cost * class ratio
SMALLEST_KAPPA = 1 / 8  # automatic kappas go from 1 down to this

N_ADDED = 2  # values in one extension of an axis
MAX_EXTENSIONS = 3  # in one direction
REACH = 64.0  # times the end of the axis, past which no more are added
LARGEST_STEP = REACH ** (1 / N_ADDED)  # so that a coarse axis is extended to its reach at once
ROUNDING = 1e-9  # relative, of the values of an axis and of scores
N_STANDARD_ERRORS = 1.0  # by which a point at the edge must be better than others


class Affine(NamedTuple):
    """f = scale f' + offset."""

    scale: float
    offset: float


class FitKey(NamedTuple):
    """One fit of a kernel: its path, and its index along C."""

    path: int
    C_index: int


class Point(NamedTuple):
    """A point of the grid: its parameters, the index of its kernel, its fit, and how its scores follow from it."""

    params: dict[str, Any]
    kernel: int
    fit: FitKey
    affine: Affine


class Path(NamedTuple):
    """Fits that differ in C alone: costs of the two classes, and margins (None: 1)."""

    fn_cost: float
    fp_cost: float
    kappa: str | None


@dataclass(frozen=True)
class Grid:
    """All points, and the fits behind them: every kernel with every path at every C."""

    kernels: list[Kernel]
    paths: list[Path]
    Cs: Vector
    points: list[Point]

    @property
    def fits(self) -> list[FitKey]:
        """The fits of each kernel."""
        return [FitKey(path, C_index) for path in range(len(self.paths)) for C_index in range(len(self.Cs))]

    @property
    def n_fits(self) -> int:
        return len(self.kernels) * len(self.paths) * len(self.Cs)


@dataclass(frozen=True)
class GridAxes:
    """The values of each parameter."""

    kernels: list[Kernel]
    Cs: Vector
    costs: list[tuple[float, float]]  # (fn_cost, fp_cost) to train with, factors where samples have their own
    kappas: list[Any]
    has_sample_costs: bool
    automatic: dict[str, Vector]  # the values of C and gamma that the user has not given

    @classmethod
    def from_search(cls, search: Any, X: Any, samples: Samples) -> Self:
        """The axes of a search, for X as the final model sees it and the costs that are trained with."""
        fn_base, fp_base = (1.0 if np.ndim(cost) else float(cost) for cost in (samples.fn_cost, samples.fp_cost))
        total = float(samples.weights.sum())
        positive = samples.weights[samples.positive].sum()
        imbalance = (total - positive) / max(positive, np.finfo(float).tiny)
        largest = FN_COST_REACH * max(fn_base, fp_base * max(1.0, imbalance))
        mean_cost = samples.weighted_costs.sum() / total
        fn_costs = [fn_base]
        if search.fn_costs is not None:
            fn_costs = read_axis(
                "fn_costs",
                search.fn_costs,
                lambda count: np.geomspace(fp_base, largest, count) if count > 1 else [fn_base],
            ).tolist()
        kernels = _kernels(search.kernel, search.gammas, X, samples.weights)
        C_range = C_RANGE if total <= LARGE else C_RANGE_LARGE
        Cs = read_axis("Cs", search.Cs, lambda count: _geometric(C_range, count) / mean_cost)
        automatic = {"C": Cs} if is_number(search.Cs) else {}
        if "gamma" in kernels[0].parameters and is_number(search.gammas):
            automatic = {"gamma": np.array([kernel.gamma for kernel in kernels])} | automatic
        return cls(
            kernels=kernels,
            Cs=Cs,
            costs=[(fn_cost, fp_base) for fn_cost in fn_costs],
            kappas=_kappas(search.kappas),
            has_sample_costs=samples.has_sample_costs,
            automatic=automatic,
        )

    def grid(self) -> Grid:
        """The product of the axes, in the order of scikit-learn's `ParameterGrid`."""
        paths: dict[Path, int] = {}
        points = []
        C_indices = {C: index for index, C in enumerate(sorted(set(self.Cs.tolist())))}
        for C, (fn_cost, fp_cost), (number, kernel), kappa in itertools.product(
            self.Cs.tolist(), self.costs, enumerate(self.kernels), self.kappas
        ):
            own_margins = is_tied(kappa) and self.has_sample_costs
            margin = tied_kappa(fp_cost) if is_tied(kappa) else kappa
            affine = Affine(1.0, 0.0) if own_margins else Affine((1.0 + margin) / 2.0, (1.0 - margin) / 2.0)
            path = paths.setdefault(Path(fn_cost, fp_cost, TIED if own_margins else None), len(paths))
            params = {"C": C * affine.scale, "fn_cost": fn_cost, "fp_cost": fp_cost, "kappa": kappa}
            if "gamma" in kernel.parameters:
                params["gamma"] = kernel.gamma
            points.append(Point(params, number, FitKey(path, C_indices[C]), affine))
        return Grid(self.kernels, list(paths), np.array(list(C_indices)), points)


def read_axis(name: str, value: Any, automatic: Callable[[int], Any]) -> Vector:
    """The values of one axis: those given, or `automatic(count)` for a number of them."""
    if not is_number(value):
        return _positive_values(name, value)
    if not np.isfinite(value) or value != int(value) or value < 1:
        raise _invalid_axis(name, value)
    return np.asarray(automatic(int(value)), dtype=np.float64)


def _positive_values(name: str, value: Any) -> Vector:
    """A non-empty sequence of positive finite numbers as (n,) float64, in the order given."""
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _invalid_axis(name, value) from error
    if values.ndim != 1:
        raise _invalid_axis(name, value)
    if not len(values):
        raise ValueError(f"{name} must hold at least one value; got none. Pass for example {name}=[0.1, 1.0, 10.0].")
    invalid = ~(np.isfinite(values) & (values > 0))
    if invalid.any():
        got = f"{values[invalid][0]} at position {np.argmax(invalid)}"
        raise ValueError(f"{name} must hold positive finite numbers; got {got}. Leave it out, or correct it.")
    return values


def _invalid_axis(name: str, value: Any) -> ValueError:
    return ValueError(
        f"{name} must be a positive integer, the number of automatic values, or a sequence of positive numbers; got "
        f"{name}={reprlib.repr(value)}. Pass for example {name}=10 or {name}=[0.1, 1.0, 10.0]."
    )


def _kernels(kernel: Any, gammas: Any, X: Any, weights: Vector) -> list[Kernel]:
    """One kernel for each gamma, or a single one if it has no gamma."""
    kind = kernel_class(kernel)
    if "gamma" not in kind.parameters:
        return [make_kernel(kernel)]

    def automatic_gammas(count: int) -> Vector:
        return _geometric(GAMMA_RANGE, count) * kind.gamma_unit(float(feature_moments(X, weights)[1].sum()), X.shape[1])

    return [make_kernel(kernel, gamma=gamma) for gamma in read_axis("gammas", gammas, automatic_gammas).tolist()]


def _kappas(kappas: Any) -> list[Any]:
    """The values of kappa: None is 1; numbers, "tied", or a number of automatic values."""
    if kappas is None:
        return [1.0]
    if is_number(kappas):
        return read_axis("kappas", kappas, lambda count: np.geomspace(1.0, SMALLEST_KAPPA, count)).tolist()
    values = [kappas] if isinstance(kappas, str) else list(kappas)
    numbers = [value for value in values if not is_tied(value)]
    if numbers or not values:
        _positive_values("kappas", numbers)
    return [value if isinstance(value, str) else float(value) for value in values]


def _geometric(limits: tuple[float, float], count: int) -> Vector:
    """`count` values in geometric progression between the limits; a single one lies in their middle."""
    return np.geomspace(*limits, count) if count > 1 else np.array([np.sqrt(limits[0] * limits[1])])


class GeometricAxis:
    """The values of an automatic axis, ascending; `additions` are what it may be extended by in each direction."""

    def __init__(self, values: Vector):
        self.values = np.unique(values)
        step = min(float(self.values[1] / self.values[0]), LARGEST_STEP)
        factors = step ** np.arange(1, N_ADDED * MAX_EXTENSIONS + 1)
        factors = factors[factors <= REACH * (1.0 + ROUNDING)]
        parts = [factors[first : first + N_ADDED] for first in range(0, len(factors), N_ADDED)]
        self.additions = {-1: [self.values[0] / each for each in parts], 1: [self.values[-1] * each for each in parts]}

    def direction(self, value: float) -> int:
        """-1 or +1 for the value at that end, 0 for one inside."""
        index = self._index(value)
        return -1 if index == 0 else int(index == len(self.values) - 1)

    def neighbours(self, value: float) -> Vector:
        """The value and those next to it."""
        index = self._index(value)
        return self.values[max(0, index - 1) : index + 2]

    def extend(self, direction: int) -> Vector:
        """The next values beyond that end, ascending, which from now on are part of the axis."""
        added = np.sort(self.additions[direction].pop(0))
        self.values = np.unique(np.concatenate([self.values, added]))
        return added

    def _index(self, value: float) -> int:
        return int(np.argmin(np.abs(np.log(self.values / value))))


class Edge(NamedTuple):
    """An axis, by the name of its parameter, and the direction in which it ends: -1 or +1."""

    name: str
    direction: int


# The value of a point on an automatic axis.
AXIS_VALUE: dict[str, Callable[[Point], float]] = {
    "C": lambda point: point.params["C"] / point.affine.scale,  # that of the fit, which kappas share
    "gamma": lambda point: point.params["gamma"],
}


class GridExtension:
    """Grids beyond the edges of the automatic axes."""

    def __init__(self, kernel: Any, axes: GridAxes):
        self.kernel, self.whole = kernel, axes
        self.axes = {
            name: GeometricAxis(values) for name, values in axes.automatic.items() if len(np.unique(values)) > 1
        }

    def find_edge(self, points: list[Point], values: NDArray[np.float64], best: int) -> Edge | None:
        """The end of an axis at which the best point lies, clearly better than others; None if there is none."""
        mean = values.mean(axis=1)
        for name, axis in self.axes.items():
            of_points = np.array([AXIS_VALUE[name](point) for point in points])
            direction = axis.direction(of_points[best])
            is_rival = ~np.isclose(of_points, of_points[best], rtol=1e-6, atol=0.0) & ~np.isnan(mean)
            if not direction:
                continue
            if not is_rival.any():
                return Edge(name, direction)
            rival = int(np.argmax(np.where(is_rival, mean, -np.inf)))
            if is_clearly_better(values[best], values[rival]):
                return Edge(name, direction)
        return None

    def is_exhausted(self, edge: Edge) -> bool:
        """Whether the axis has been extended as far as it may in that direction."""
        return not self.axes[edge.name].additions[edge.direction]

    def extend_grid(self, edge: Edge, best: Point) -> tuple[Grid, int]:
        """The points beyond that edge, at the costs of the best point, and how many values they add to the axis."""
        added = self.axes[edge.name].extend(edge.direction)
        costs = [(best.params["fn_cost"], best.params["fp_cost"])]
        if edge.name == "gamma":
            Cs = self.axes["C"].values if "C" in self.axes else self.whole.Cs
            kernels = [make_kernel(self.kernel, gamma=gamma) for gamma in added.tolist()]
        elif "gamma" in self.axes:
            near = self.axes["gamma"].neighbours(best.params["gamma"]).tolist()
            Cs, kernels = added, [make_kernel(self.kernel, gamma=gamma) for gamma in near]
        else:
            own = {"gamma": best.params["gamma"]} if "gamma" in best.params else {}
            Cs, kernels = added, [make_kernel(self.kernel, **own)]
        return replace(self.whole, kernels=kernels, Cs=Cs, costs=costs).grid(), len(added)


def is_clearly_better(values: Vector, others: Vector) -> bool:
    """Whether values (n_folds,) are greater by more than a standard error of the differences on the folds.

    On two folds that means greater on both; of a single one no error is known, and any difference counts.
    """
    difference, n_folds = values - others, len(values)
    error = difference.std(ddof=1) / np.sqrt(n_folds) if n_folds > 1 else 0.0
    return bool(difference.mean() > N_STANDARD_ERRORS * error + ROUNDING * np.abs(values).mean())
