"""A trained kernel machine: the bridge from margins and boxes to the solver and back to scores.

    f(x) = sum_j coef_j K(x, v_j) + bias,    coef_j = y_j a_j,    v_j the support vectors (a_j > 0)

Here y_j = +1 means classes_[1]; which of the classes is the target shows in margins and boxes only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import Vector
from ..dual import DualProblem, Solution, solve
from ..kernels import Kernel, expand, kernel_rows
from .inputs import check_gram

PRECOMPUTED = "precomputed"


@dataclass(frozen=True)
class Machine:
    """Support vectors (row numbers of the training X, and the rows), coefficients, and the certificate."""

    kernel: Kernel
    support: NDArray[np.int32]
    vectors: Any
    coef: Vector
    solution: Solution

    def scores(self, X: Any) -> Vector:
        """Score f of each row of X, (n_samples,) float64."""
        return kernel_sum(self.kernel, X, self.support, self.vectors, self.coef) + self.solution.bias


def train(
    X: Any,
    y: NDArray[Any],
    margins: Vector,
    boxes: Vector,
    *,
    kernel: Kernel,
    tol: float,
    max_iter: int,
    cache_size: Any,
) -> Machine:
    """Solve the dual for y in {-1, +1}, margins and boxes, (n_samples,) each.

    Rows with an empty box are left out. The support vectors are grouped by class, y = -1 first, each group in
    the order of the rows of X.
    """
    rows = np.flatnonzero(boxes > 0)
    check_both_classes(
        y,
        rows,
        "the rows with a positive sample_weight and cost",
        "Give rows of the other class a positive sample_weight and a positive fn_cost or fp_cost.",
    )
    precomputed = kernel.name == PRECOMPUTED
    if precomputed:
        check_gram(X)
    if len(rows) < len(y):
        X = select(X, rows, rows, precomputed=precomputed)
        y, margins, boxes = y[rows], margins[rows], boxes[rows]

    problem = DualProblem.from_margins(y, margins, boxes)
    provider = kernel_rows(kernel, X, boxes=boxes, tol=tol, cache_size=cache_size)
    solution = solve(provider, problem, tol=tol, max_iter=max_iter)

    used = np.flatnonzero(solution.beta)
    used = used[np.argsort(y[used], kind="stable")]
    return Machine(
        kernel=kernel,
        support=rows[used].astype(np.int32),
        vectors=np.empty((0, 0), dtype=X.dtype) if precomputed else X[used],
        coef=solution.beta[used],
        solution=solution,
    )


def kernel_sum(kernel: Kernel, X: Any, support: NDArray[np.int32], vectors: Any, coef: Vector) -> Vector:
    """sum_j coef_j K(x_i, v_j) for each row of X; a precomputed X holds K(x_i, .) for all training rows."""
    if kernel.name == PRECOMPUTED:
        return expand(kernel, X[:, support], None, coef)
    return expand(kernel, X, vectors, coef)


def select(X: Any, rows: NDArray[Any], columns: NDArray[Any], *, precomputed: bool) -> Any:
    """The given rows of X; of a precomputed kernel matrix only the given columns as well."""
    return X[np.ix_(rows, columns)] if precomputed else X[rows]


def check_both_classes(y: NDArray[Any], rows: NDArray[Any], part: str, fix: str) -> None:
    """Refuse a selection of rows in which one class has nothing to weigh against the other."""
    if len(np.unique(y[rows])) < 2:
        raise ValueError(f"both classes must be present among {part}; got {len(rows)} rows of one class. {fix}")
