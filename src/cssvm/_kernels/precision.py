"""Which precision kernel values need.

A decision value is the sum of n products beta_i K_i. Independent rounding errors of relative size u in K add up to
about u |beta K|_2. The values of tiles bring errors of their own to a kernel of distances, relative to the sizes of the
rows, which the kernel multiplies by its lipschitz. At row j, for weights w that are beta or its bounds:

    error_j = u sqrt(sum_i (w_i K_ij (1 + lipschitz gamma (size_i + size_j)))^2)

A fit may use float32 where the error stays within what its tolerance allows, a prediction where it does not show in
the scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.types import RowNumbers, Vector
from .pairwise import NORM_BLOCK, centred_sizes
from .tiles import KERNEL_ERROR, prepare_points, update_values

if TYPE_CHECKING:
    from .base import ComputedKernel, Kernel

EXACT_ROWS = 1500  # up to here float64 throughout costs milliseconds and makes small fits exact
EXACT_ROWS_OF_PRODUCTS = 4096  # the same for kernels of products, on which pair steps alone can crawl
FLOAT32_ROUNDING = 2.0**-24 / 3**0.5  # root mean square of a relative rounding error
ROUNDING_ALLOWED = 4.0  # times tol; upper bounds overstate |beta| several times over
SAMPLE = (64, 512)  # rows whose kernel values show how large a typical one is
COLUMNS, PREDICTION_COLUMNS = 32, 16  # rows at which errors are estimated; a prediction may be of a single row
# Errors allowed in a prediction, relative to the size of scores and to that of sum_i |coef_i K_ij|. Scores are about 1,
# so the first is a tenth of what the usual tolerance of a fit leaves open.
SCORE_ERROR, SUM_ERROR = 1e-4, 1e-6
SCORE_TOL = 1e-5  # to which distances that cancel leave scores, whatever the size of the coefficients


class Rounding(NamedTuple):
    """What float32 would do to sum_i w_i K_ij, at some of the rows j, (n_columns,) float64 each."""

    errors: Vector  # the formula that opens this module
    sums: Vector
    absolute: Vector  # sum_i |w_i K_ij|


def precisions(kernel: ComputedKernel, X: Any, upper_bounds: np.ndarray, tol: float) -> tuple[Any, Any]:
    """Precision of the values of tiles and of kernel values, from the error that float32 would bring to a fit.

    For kernel values alone a typical one, the root mean square of a sample, stands for all.
    """
    n = len(upper_bounds)
    distance = kernel.term.is_distance
    if n <= (EXACT_ROWS if distance else EXACT_ROWS_OF_PRODUCTS):
        return np.float64, np.float64
    some, others = X[:: -(-n // SAMPLE[0])], X[:: -(-n // SAMPLE[1])]
    left, right = prepare_points(kernel, some, others, np.float64)
    values = np.empty((len(left), len(right)))
    update_values(left, right, values)
    allowed = ROUNDING_ALLOWED * tol
    if not FLOAT32_ROUNDING * np.sqrt(np.mean(values**2)) * np.linalg.norm(upper_bounds) <= allowed:
        return np.float64, np.float64
    if distance and not rounding(kernel, X, upper_bounds, COLUMNS).errors.max() <= allowed:
        return np.float64, np.float32
    return np.float32, np.float32


def error_allowed(upper_bounds: np.ndarray, tol: float) -> float:
    """Error of a kernel value that sums with these upper bounds, or coefficients, to `tol` can stand; at most the usual."""
    return min(KERNEL_ERROR, ROUNDING_ALLOWED * tol / max(float(np.linalg.norm(upper_bounds)), np.finfo(float).tiny))


def prediction_precision(kernel: ComputedKernel, vectors: Any, coef: Vector) -> Any:
    """Precision in which sums over support vectors are computed, whichever rows are to be predicted.

    The errors at the support vectors stand for those at all rows: far from all of them a kernel of distances is near
    0. Products grow with the new row, so kernels of products stay in float64.
    """
    if len(coef) <= EXACT_ROWS or not kernel.term.is_distance:
        return np.float64
    errors, sums, absolute = rounding(kernel, vectors, coef, PREDICTION_COLUMNS)
    allowed = min(SCORE_ERROR * np.sqrt(np.mean(sums**2)), SUM_ERROR * np.mean(absolute))
    return np.float32 if errors.max() <= allowed else np.float64


def rounding(kernel: ComputedKernel, X: Any, weights: Vector, n_columns: int) -> Rounding:
    """The effect of float32 on sums of (n, d) rows X with these weights, for a kernel of distances."""
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = kernel.lipschitz * kernel.gamma * centred_sizes(kernel.term, X)
    columns = _sample_by_size(sizes, n_columns)
    squares, sums, absolute = np.zeros((3, len(columns)))
    for i in range(0, len(sizes), NORM_BLOCK):
        part = slice(i, i + NORM_BLOCK)
        values = kernel.matrix(X[columns], X[part]) * weights[part]
        sums += values.sum(axis=1)
        absolute += np.abs(values).sum(axis=1)
        values *= 1.0 + sizes[columns, np.newaxis] + sizes[part]
        squares += np.einsum("ji,ji->j", values, values)
    return Rounding(FLOAT32_ROUNDING * np.sqrt(squares), sums, absolute)


def _sample_by_size(sizes: Vector, count: int) -> RowNumbers:
    """Rows evenly spaced, and the largest together with ever fewer of the smaller ones: outliers come in any number."""
    n = len(sizes)
    even = np.linspace(0, n - 1, count // 2).astype(np.intp)
    ranks = np.geomspace(1, n, count // 2).astype(np.intp)
    return np.unique(np.concatenate([even, np.argsort(sizes, kind="stable")[n - ranks]]))


def float32_suffices(kernel: Kernel, upper_bounds: np.ndarray, tol: float) -> bool:
    """Whether float32 kernel values keep decision values within `tol`, going by their largest possible size.

    Kernels that do not tolerate rounding of what they are a function of are said to need float64.
    """
    return (
        kernel.tolerates_rounding and FLOAT32_ROUNDING * float(np.linalg.norm(upper_bounds)) <= ROUNDING_ALLOWED * tol
    )
