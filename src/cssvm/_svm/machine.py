"""A trained kernel machine: the bridge from margins and upper bounds to the solver and back to scores.

    f(x) = sum_j coef_j K(x, v_j) + bias,    coef_j = y_j a_j,    v_j the support vectors (a_j > 0)

Here y_j = +1 means classes_[1]; which of the classes is the target shows in margins and upper bounds only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.costs import signed_terms
from .._core.samples import check_both_classes
from .._core.types import Vector
from .._kernels import Kernel
from .._solvers.dual import DualProblem, Solution, solve


@dataclass(frozen=True)
class Machine:
    """Support vectors (row numbers of the training X, and the rows), coefficients, and the certificate."""

    kernel: Kernel
    support: NDArray[np.int32]
    vectors: Any
    coef: Vector
    bias: float
    solution: Solution

    def scores(self, X: Any) -> Vector:
        """Score f of each row of X, (n_samples,) float64."""
        return self.kernel.expand(X, self.support, self.vectors, self.coef) + self.bias


def train(
    X: Any,
    y: NDArray[Any],
    margins: Vector,
    upper_bounds: Vector,
    *,
    kernel: Kernel,
    tol: float,
    max_iter: int,
    cache_size: Any,
) -> Machine:
    """Solve the dual for y in {-1, +1}, margins and upper bounds, (n_samples,) each.

    Rows with an empty upper bound are left out. The support vectors are grouped by class, y = -1 first, each group in
    the order of the rows of X.
    """
    rows = np.flatnonzero(upper_bounds > 0)
    check_both_classes(
        y[rows] > 0,
        "the rows with a positive sample_weight and cost",
        "Give rows of the other class a positive sample_weight and a positive fn_cost or fp_cost.",
    )
    kernel.check_training_matrix(X)
    if len(rows) < len(y):
        X = kernel.select(X, rows, rows)
        y, margins, upper_bounds = y[rows], margins[rows], upper_bounds[rows]

    problem = DualProblem(*signed_terms(y, margins, upper_bounds))
    provider = kernel.rows(X, upper_bounds=upper_bounds, tol=tol, cache_size=cache_size)
    solution = solve(provider, problem, tol=tol, max_iter=max_iter)

    used = np.flatnonzero(solution.beta)
    used = used[np.argsort(y[used], kind="stable")]
    vectors, coef = kernel.vectors(X, used), solution.beta[used]
    return Machine(
        kernel=kernel,
        support=rows[used].astype(np.int32),
        vectors=vectors,
        coef=coef,
        bias=solution.bias - provider.intercept_offset(used, vectors, coef),
        solution=solution,
    )
