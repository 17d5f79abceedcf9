"""The grid: what is searched, and which of its points share a trained machine.

A point is (kernel parameters, fn_cost, fp_cost, kappa, C). With s = (1 + kappa) / 2, a cost-sensitive SVM with slopes
fn_cost and fp_cost and margins 1 and kappa, trained with C s, is

    f = s f' + (1 - kappa) / 2,        f' the SVM with the same slopes and both margins 1, trained with C

because sum a+ = sum a- makes the dual's linear term s times that of f' (docs/theory.md). So the grid is laid out in the
C of f': all kappas of a point share one machine, and the C of the point itself is C s. Margins of single examples
(kappa="tied" with a cost for every row) have no such relation and get machines of their own.

The paper's grid is the plain product of C, slopes and kappa, without the points that leave its constraint 1 / kappa <=
fn_cost; there a point of C is read from the machine of C / s.
"""

from __future__ import annotations

import itertools
import reprlib
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._core.costs import TIED, is_tied, tied_kappa
from .._core.moments import feature_moments
from .._core.types import Vector, is_number
from .._kernels import Kernel, kernel_class, make_kernel
from .._svm.inputs import CHECKS

# Automatic gammas, in units of the kernel's `gamma_unit`: from almost linear to one hill for each row.
GAMMA_RANGE = (1 / 32, 8.0)
# Automatic Cs, in units of 1 / the mean cost of a row: from all rows at their bounds to almost hard margins.
C_RANGE = (2.0**-5, 2.0**10)
# The same for many rows, which need less weight each and take longer.
LARGE, C_RANGE_LARGE = 20_000, (2.0**-5, 2.0**7)
# Automatic slopes go from fp_cost to this many times the larger of fn_cost and fp_cost times the class ratio.
FN_COST_REACH = 2.0
# Automatic kappas go from 1 down to this.
SMALLEST_KAPPA = 1 / 8
# How points lie: in the C of their machines, or in the C of the paper.
SHARED, PAPER = LAYOUTS = ("shared", "paper")
CONSTRAINT_SLACK = 1e-12  # of fn_cost, for the rounding of 1 / kappa


class Affine(NamedTuple):
    """f = scale f' + offset."""

    scale: float
    offset: float


class MachineKey(NamedTuple):
    """A machine of one kernel: its path, and its step along C."""

    path: int
    step: int


class Point(NamedTuple):
    """One line of the results: its parameters, the kernel and the machine it is read from, and how."""

    params: dict[str, Any]
    kernel: int
    machine: MachineKey
    affine: Affine


class Path(NamedTuple):
    """Machines that differ in C alone: slopes of the two classes, and margins (None: 1)."""

    fn_cost: float
    fp_cost: float
    kappa: str | None


@dataclass(frozen=True)
class Grid:
    """All points, and the machines behind them: every kernel with every path at every C."""

    kernels: list[Kernel]
    paths: list[Path]
    Cs: Vector
    points: list[Point]

    @property
    def n_machines(self) -> int:
        """How many machines are trained in each fold."""
        return len(self.kernels) * len(self.paths) * len(self.Cs)

    @property
    def lines(self) -> list[list[int]]:
        """The numbers of kernels that differ in gamma alone, gamma ascending; a kernel without gamma is by itself."""
        lines: dict[tuple[float, ...], list[int]] = {}
        for number, kernel in enumerate(self.kernels):
            others = tuple(getattr(kernel, name) for name in kernel.parameters if name != "gamma")
            lines.setdefault(others, []).append(number)
        return [sorted(line, key=lambda number: self.kernels[number].gamma) for line in lines.values()]


def make_grid(
    *,
    kernels: list[Kernel],
    Cs: Vector,
    slopes: list[tuple[float, float]],
    kappas: list[Any],
    example_costs: bool,
    paper: bool = False,
) -> Grid:
    """The product of the axes; slopes are pairs (fn_cost, fp_cost), factors of a cost for every row if there is one."""
    paths: dict[Path, int] = {}
    points, machine_Cs = [], []
    # The order of scikit-learn's ParameterGrid: names sorted, the last one varying fastest.
    for C, (fn_cost, fp_cost), (number, kernel), kappa in itertools.product(
        Cs.tolist(), slopes, enumerate(kernels), kappas
    ):
        own_margins = is_tied(kappa) and example_costs
        margin = tied_kappa(fp_cost) if is_tied(kappa) else kappa
        affine = Affine(1.0, 0.0) if own_margins else Affine((1.0 + margin) / 2.0, (1.0 - margin) / 2.0)
        if paper and not own_margins and margin * fn_cost < 1.0 - CONSTRAINT_SLACK:
            continue
        path = paths.setdefault(Path(fn_cost, fp_cost, TIED if own_margins else None), len(paths))
        own_C = C if paper else C * affine.scale
        params = {"C": own_C, "fn_cost": fn_cost, "fp_cost": fp_cost, "kappa": kappa}
        params |= {name: getattr(kernel, name) for name in kernel.parameters}
        points.append((params, number, path, affine))
        machine_Cs.append(own_C / affine.scale if paper else C)
    if not points:
        raise ValueError(
            "kappas and fn_costs must leave a point with 1 / kappa <= fn_cost, the paper's constraint; got kappas "
            f"{kappas} and slopes {slopes}. Raise kappas or fn_costs."
        )
    steps = {C: step for step, C in enumerate(sorted(set(machine_Cs)))}
    placed = [
        Point(params, number, MachineKey(path, steps[C]), affine)
        for (params, number, path, affine), C in zip(points, machine_Cs, strict=True)
    ]
    return Grid(kernels, list(paths), np.array(list(steps)), placed)


def axis(name: str, value: Any, automatic: Any) -> Vector:
    """The values of one axis: given ones, or `automatic(count)` for a number of them."""
    if isinstance(value, (bool, str)) or value is None:
        raise _bad_axis(name, value)
    if is_number(value):
        if not np.isfinite(value) or value != int(value) or value < 1:
            raise _bad_axis(name, value)
        return np.asarray(automatic(int(value)), dtype=np.float64)
    return positive_values(name, value)


def positive_values(name: str, value: Any) -> Vector:
    """A non-empty sequence of positive finite numbers as (n,) float64, in the order given."""
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _bad_axis(name, value) from error
    if values.ndim != 1:
        raise _bad_axis(name, value)
    if not len(values):
        raise ValueError(f"{name} must hold at least one value; got none. Pass for example {name}=[0.1, 1.0, 10.0].")
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        raise ValueError(
            f"{name} must hold positive finite numbers; got {values[wrong][0]} at position {np.argmax(wrong)}. "
            "Leave it out, or correct it."
        )
    return values


def _bad_axis(name: str, value: Any) -> ValueError:
    return ValueError(
        f"{name} must be a positive integer, the number of automatic values, or a sequence of positive numbers; got "
        f"{name}={reprlib.repr(value)}. Pass for example {name}=10 or {name}=[0.1, 1.0, 10.0]."
    )


def kappa_values(kappas: Any) -> list[Any]:
    """The values of kappa: None is 1; numbers, "tied", or a number of automatic values."""
    if kappas is None:
        return [1.0]
    if is_number(kappas):
        return axis("kappas", kappas, lambda count: np.geomspace(1.0, SMALLEST_KAPPA, count)).tolist()
    if isinstance(kappas, str):
        kappas = [kappas]
    values = list(kappas)
    numbers = [value for value in values if not is_tied(value)]
    if numbers or not values:
        positive_values("kappas", numbers)
    return [value if isinstance(value, str) else float(value) for value in values]


def cost_values(name: str, values: Any, default: float, limits: tuple[float, float]) -> Vector:
    """The training slopes of one class: None means the cost itself; automatic values lie between the limits."""
    if values is None:
        return np.array([default])
    return axis(name, values, lambda count: np.geomspace(*limits, count) if count > 1 else [default])


def kernel_values(kernel: Any, gammas: Any, degree: Any, coef0: Any, X: Any, weights: Vector) -> list[Kernel]:
    """One kernel for each gamma, degree and coef0; axes that the kernel does not have are not read."""
    kind = kernel_class(kernel)

    def automatic_gammas(count: int) -> Vector:
        return _around(GAMMA_RANGE, count) * kind.gamma_unit(float(feature_moments(X, weights)[1].sum()), X.shape[1])

    axes = {
        "gamma": lambda: axis("gammas", gammas, automatic_gammas).tolist(),
        "degree": lambda: _each("degree", degree),
        "coef0": lambda: _each("coef0", coef0),
    }
    values = [axes[name]() for name in kind.parameters]
    return [
        make_kernel(kernel, **dict(zip(kind.parameters, combination, strict=True)))
        for combination in itertools.product(*values)
    ]


def _each(name: str, value: Any) -> list[Any]:
    """A parameter of the kernel, or a list of its values."""
    values = [value] if is_number(value) else list(value)
    right, expected, example = CHECKS[name]
    if not values or not all(right(each) for each in values):
        raise ValueError(f"{name} must be {expected}, or a list of them; got {name}={value!r}. Pass {example}.")
    return values


def automatic_Cs(count: int, mean_cost: float, n_rows: float) -> Vector:
    """Cs for a mean cost of a row, fewer large ones for many rows."""
    return _around(C_RANGE if n_rows <= LARGE else C_RANGE_LARGE, count) / mean_cost


def _around(limits: tuple[float, float], count: int) -> Vector:
    """`count` values in geometric progression between the limits; a single one lies in their middle."""
    return np.geomspace(*limits, count) if count > 1 else np.array([np.sqrt(limits[0] * limits[1])])
