"""The axes of a search: what is tried of each parameter, automatic values from the rows and their costs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._core.samples import Samples
from .._core.types import Vector, is_number
from .._kernels import Kernel
from .grid import (
    FN_COST_REACH,
    LAYOUTS,
    PAPER,
    Grid,
    automatic_Cs,
    axis,
    cost_values,
    kappa_values,
    kernel_values,
    make_grid,
)


@dataclass(frozen=True)
class Axes:
    """Values of each axis; slopes are pairs (fn_cost, fp_cost), factors of a cost for every row if there is one.

    standard_Cs : those of machines whose costs are all 1; automatic : the values of those axes of C and gamma that were
    not given, by the name of the parameter.
    """

    kernels: list[Kernel]
    Cs: Vector
    standard_Cs: Vector
    slopes: list[tuple[float, float]]
    kappas: list[Any]
    example_costs: bool
    paper: bool
    automatic: dict[str, Vector]

    @classmethod
    def of(cls, search: Any, X: Any, sample: Samples) -> Self:
        """Those of a `CostSensitiveSVCCV`, for X as the final model sees it."""
        if search.grid not in LAYOUTS:
            raise ValueError(f"grid must be one of {list(LAYOUTS)}; got grid={search.grid!r}.")
        fn_base, fp_base = (1.0 if np.ndim(cost) else float(cost) for cost in (sample.fn_cost, sample.fp_cost))
        positive = sample.weights[sample.positive].sum()
        total = float(sample.weights.sum())
        imbalance = (total - positive) / max(positive, np.finfo(float).tiny)
        limits = fp_base, FN_COST_REACH * max(fn_base, fp_base * max(1.0, imbalance))
        mean_cost = sample.weighted_costs.sum() / total
        kernels = kernel_values(search.kernel, search.gammas, search.degree, search.coef0, X, sample.weights)
        Cs = axis("Cs", search.Cs, lambda count: automatic_Cs(count, mean_cost, total))
        gammas = np.array([kernel.gamma for kernel in kernels])
        has_gamma = "gamma" in kernels[0].parameters and is_number(search.gammas)
        automatic = ({"gamma": gammas} if has_gamma else {}) | ({"C": Cs} if is_number(search.Cs) else {})
        fn_slopes = cost_values("fn_costs", search.fn_costs, fn_base, limits)
        fp_slopes = cost_values("fp_costs", search.fp_costs, fp_base, limits)
        return cls(
            kernels=kernels,
            Cs=Cs,
            standard_Cs=axis("Cs", search.Cs, lambda count: automatic_Cs(count, 1.0, total)),
            slopes=list(itertools.product(fn_slopes.tolist(), fp_slopes.tolist())),
            kappas=kappa_values(search.kappas),
            example_costs=sample.has_row_costs,
            paper=search.grid == PAPER,
            automatic={} if search.grid == PAPER else automatic,
        )

    def grid(self) -> Grid:
        """The product of the axes."""
        return make_grid(
            kernels=self.kernels,
            Cs=self.Cs,
            slopes=self.slopes,
            kappas=self.kappas,
            example_costs=self.example_costs,
            paper=self.paper,
        )

    def of_standard_svm(self) -> Axes:
        """The same kernels for the standard SVM: equal slopes and margins, all 1, and Cs for these."""
        return replace(self, Cs=self.standard_Cs, slopes=[(1.0, 1.0)], kappas=[1.0], example_costs=False, paper=False)

    def with_kernel(self, kernel: Kernel) -> Axes:
        """The same for one kernel."""
        kept = {name: values for name, values in self.automatic.items() if name != "gamma"}
        return replace(self, kernels=[kernel], automatic=kept)
