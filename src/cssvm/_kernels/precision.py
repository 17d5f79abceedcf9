"""Rounding errors of kernel values, and the precision that a fit or a prediction needs.

A decision value is the sum of n products beta_i K_i. Independent rounding errors of relative size u in K add up to
about u |beta K|_2. The values of tiles add errors to a kernel of distances, relative to the sizes of the samples, which
the kernel multiplies by its Lipschitz constant. At sample j, for weights w that are beta or its bounds:

    error_j = u sqrt(sum_i (w_i K_ij (1 + lipschitz gamma (size_i + size_j)))^2)

A fit uses float32 if the error stays within its tolerance, a prediction if the error is negligible in the scores.
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
EXACT_ROWS_OF_PRODUCTS = 4096  # the same for kernels of products, on which SMO steps alone can crawl
FLOAT32_ROUNDING = 2.0**-24 / 3**0.5  # root mean square of a relative rounding error
ROUNDING_ALLOWED = 4.0  # times tol; upper bounds overstate |beta| several times over
SAMPLE = (64, 512)  # samples whose kernel values show how large a typical one is
COLUMNS, PREDICTION_COLUMNS = 32, 16  # samples at which errors are estimated
# Errors allowed in a prediction, relative to the size of scores and to that of sum_i |coef_i K_ij|. Scores are about 1,
# so the first is a tenth of what the usual tolerance of a fit leaves open.
SCORE_ERROR, SUM_ERROR = 1e-4, 1e-6
SCORE_TOL = 1e-5  # error that cancelling distances may leave in scores, whatever the size of the coefficients


class Rounding(NamedTuple):
    """The effect of float32 on sum_i w_i K_ij at some samples j, (n_columns,) float64 each."""

    errors: Vector  # the formula that opens this module
    sums: Vector
    absolute: Vector  # sum_i |w_i K_ij|


def precisions(kernel: ComputedKernel, X: Any, upper_bounds: np.ndarray, tol: float) -> tuple[Any, Any]:
    """Precision of the values of tiles and of kernel values, from the error that float32 would bring to a fit.

    For the latter the root mean square of some kernel values stands for all.
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
    """Largest error allowed in a kernel value for sums with these bounds, or coefficients, to `tol`."""
    return min(KERNEL_ERROR, ROUNDING_ALLOWED * tol / max(float(np.linalg.norm(upper_bounds)), np.finfo(float).tiny))


def prediction_precision(kernel: ComputedKernel, vectors: Any, coef: Vector) -> Any:
    """Precision in which sums over support vectors are computed, whatever samples are predicted.

    Errors at the support vectors stand for all others: far from all of them a kernel of distances is near 0. Products
    grow with the new sample, so kernels of products stay in float64.
    """
    if len(coef) <= EXACT_ROWS or not kernel.term.is_distance:
        return np.float64
    errors, sums, absolute = rounding(kernel, vectors, coef, PREDICTION_COLUMNS)
    allowed = min(SCORE_ERROR * np.sqrt(np.mean(sums**2)), SUM_ERROR * np.mean(absolute))
    return np.float32 if errors.max() <= allowed else np.float64


def rounding(kernel: ComputedKernel, X: Any, weights: Vector, n_columns: int) -> Rounding:
    """The effect of float32 on sums over samples X (n, d) with these weights, for a kernel of distances."""
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
    """Samples evenly spaced, and the largest with ever fewer smaller ones: there may be any number of outliers."""
    n = len(sizes)
    even = np.linspace(0, n - 1, count // 2).astype(np.intp)
    ranks = np.geomspace(1, n, count // 2).astype(np.intp)
    return np.unique(np.concatenate([even, np.argsort(sizes, kind="stable")[n - ranks]]))


def float32_suffices(kernel: Kernel, upper_bounds: np.ndarray, tol: float) -> bool:
    """Whether float32 kernel values keep decision values within `tol`; False if the kernel magnifies rounding."""
    return (
        kernel.tolerates_rounding and FLOAT32_ROUNDING * float(np.linalg.norm(upper_bounds)) <= ROUNDING_ALLOWED * tol
    )
