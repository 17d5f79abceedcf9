"""Blocks of kernel values between two sets of samples, and weighted sums of them, tile by tile.

For `left` (m samples), `right` (n samples) and a kernel k::

    update_values(left, right, out)                 out[i, j] = k(left_i, right_j)
    update_minus_sums(left, right, coef, total)     total[j] -= sum_i coef_i k(left_i, right_j)

Both use tiles small enough to stay in the processor's cache between the passes over them: the pairwise term (BLAS on
dense samples, an inverted index on sparse ones), the kernel function, the sum. So the second never writes a kernel
value to memory, which is why recomputing rows of a cheap kernel is faster than storing them.
Tiles are the same whatever the number of threads, and each belongs to one thread.

`precisions` and `prediction_precision` choose their type. Rounding errors of relative size u in K, and those of
cancelling distances, change the decision value of sample j, for weights w that are beta or its bounds, by about

    error_j = u sqrt(sum_i (w_i K_ij (1 + lipschitz gamma (size_i + size_j)))^2)
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._core.types import RowNumbers, Vector
from .._runtime import threads
from .._runtime.sums import update_row_sum
from .pairwise import NORM_BLOCK, centred_sizes, update_mirrored

if TYPE_CHECKING:
    from .base import ComputedKernel, Kernel
    from .pairwise import PairwiseTerm

TILE_ROWS, TILE_COLUMNS = 256, 1024  # 1 MB of float32: small enough for the caches, large enough to hide Python
SQUARE_TILE = 256  # rows and columns of a tile of a symmetric block
SPARSE_COLUMNS = 4096  # per tile of sparse points: enough to amortise walking through the rows, a page of sums
DENSE_ENOUGH = 0.1  # past this density BLAS on unpacked rows beats the sparse products
COSTLY_SHARED_FEATURES = 10.0  # of two sparse samples, above which reading stored kernel values beats recomputing them

ROUNDING = 2.0**-53
# Of a kernel value, above which distances are computed by differences: negligible for any C in use.
KERNEL_ERROR = 1e-11
EXACT_ROWS = 1500  # up to here float64 throughout costs milliseconds and makes small fits exact
EXACT_ROWS_OF_PRODUCTS = 4096  # the same for kernels of products, on which SMO steps alone can crawl
FLOAT32_ROUNDING = 2.0**-24 / 3**0.5  # root mean square of a relative rounding error
ROUNDING_ALLOWED = 4.0  # times tol; upper bounds overstate |beta| several times over
SAMPLE = (64, 512)  # samples whose kernel values show how large a typical one is
COLUMNS, PREDICTION_COLUMNS = 32, 16  # samples at which errors are estimated
SCORE_ERROR, SUM_ERROR = 1e-4, 1e-6  # allowed in a prediction, relative to scores and to sum_i |coef_i K_ij|
SCORE_TOL = 1e-5  # error that cancelling distances may leave in scores, whatever the size of the coefficients

_scratch = threading.local()


def _buffer(name: str, shape: tuple[int, int], dtype: Any) -> np.ndarray:
    """Scratch tile of that name, one per thread: fresh memory would cost more than the work on it."""
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    flat = getattr(_scratch, name, None)
    if flat is None or flat.nbytes < size:
        flat = np.empty(size, np.uint8)
        setattr(_scratch, name, flat)
    return flat[:size].view(dtype).reshape(shape)


class Points(ABC):
    """Samples prepared for one kernel, or its term by differences: `rows` less `centre`, and gamma times `sizes`."""

    tile_columns: int

    def __init__(self, kernel: ComputedKernel, term: PairwiseTerm, rows: Any, sizes: np.ndarray, centre: Any = 0.0):
        self.kernel, self.term, self.rows, self.sizes, self.centre = kernel, term, rows, sizes, centre

    @classmethod
    @abstractmethod
    def prepare(cls, kernel: ComputedKernel, term: PairwiseTerm, X: Any, centre: Any, dtype: Any) -> Points:
        """Samples (n, d), converted to `dtype`, that of the tile's values."""

    def prepare_like(self, X: Any) -> Points:
        """Other samples, prepared as these were."""
        return self.prepare(self.kernel, self.term, X, self.centre, self.rows.dtype)

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def take(self, indices: Any) -> Any:
        """Some of the points: a slice or an index array."""
        return type(self)(self.kernel, self.term, self.rows[indices], self.sizes[indices], self.centre)

    def tiles(self, columns: int | None = None) -> list[tuple[int, Any]]:
        """Consecutive parts with where they begin, of `tile_columns` points each if `columns` is None."""
        columns = columns or self.tile_columns
        return [(j, self.take(slice(j, j + columns))) for j in range(0, len(self), columns)]

    @abstractmethod
    def update_term(self, left: Any, values: np.ndarray) -> None:
        """Write the values of the term for `left` against these points."""

    @property
    @abstractmethod
    def is_costly(self) -> bool:
        """Whether a row of kernel values takes longer to compute than to read from memory."""


class DensePoints(Points):
    """Dense samples."""

    tile_columns = TILE_COLUMNS

    @classmethod
    def prepare(cls, kernel: ComputedKernel, term: PairwiseTerm, X: Any, centre: Any, dtype: Any) -> DensePoints:
        X = X.toarray() if sp.issparse(X) else X
        rows = np.ascontiguousarray(X - centre if term.is_centred else X, dtype)
        return cls(kernel, term, rows, (kernel.gamma * term.tile_sizes(rows)).astype(dtype), centre)

    def update_term(self, left: DensePoints, values: np.ndarray) -> None:
        self.term.update_dense(left.rows, self.rows, values)

    @property
    def is_costly(self) -> bool:
        return self.rows.shape[1] > self.term.max_recomputed_features


class SparsePoints(Points):
    """CSR samples; products by an inverted index, at the cost of the features that two samples share."""

    tile_columns = SPARSE_COLUMNS
    _index: Any = None
    _tiles: list[tuple[int, SparsePoints]] | None = None

    @classmethod
    def prepare(cls, kernel: ComputedKernel, term: PairwiseTerm, X: Any, centre: Any, dtype: Any) -> SparsePoints:
        rows = sp.csr_array(X, dtype=np.float64)
        sizes = (kernel.gamma * term.tile_sizes(rows)).astype(dtype)
        return cls(kernel, term, rows.astype(dtype, copy=False), sizes)

    def tiles(self, columns: int | None = None) -> list[tuple[int, SparsePoints]]:
        """The parts, each with its inverted index, which are kept."""
        columns = columns or self.tile_columns
        if not self._tiles or len(self._tiles[0][1]) != min(columns, len(self)):
            self._tiles = super().tiles(columns)
            for _, tile in self._tiles:
                tile._index = self.term.index(tile.rows)
        return self._tiles

    def update_term(self, left: SparsePoints, values: np.ndarray) -> None:
        self.term.update_sparse(left.rows, self._index, values)

    @property
    def is_costly(self) -> bool:
        n_rows, n_features = self.rows.shape
        used = np.bincount(self.rows.indices, minlength=n_features) / n_rows
        return float(used @ used) > COSTLY_SHARED_FEATURES


def prepare_points(
    kernel: ComputedKernel, X: Any, vectors: Any, dtype: Any, allowed: float = KERNEL_ERROR
) -> tuple[Points, Points]:
    """`X` and `vectors` prepared alike, as the vectors demand."""
    right = prepare_vectors(kernel, vectors, dtype, allowed)
    if X is vectors:
        return right, right
    with np.errstate(over="ignore", invalid="ignore"):
        return right.prepare_like(X), right


def prepare_vectors(kernel: ComputedKernel, vectors: Any, dtype: Any, allowed: float = KERNEL_ERROR) -> Points:
    """The right side of kernel values, prepared, by differences if float64 would leave errors above `allowed`."""
    stored = vectors.nnz / max(1, vectors.shape[0] * vectors.shape[1]) if sp.issparse(vectors) else 1.0
    sparse = stored <= DENSE_ENOUGH
    kind: Any = SparsePoints if sparse else DensePoints
    term = kernel.term
    with np.errstate(over="ignore", invalid="ignore"):
        centre = 0.0 if sp.issparse(vectors) else vectors.mean(axis=0, dtype=np.float64)
        points = kind.prepare(kernel, term, vectors, centre, dtype)
        error = cancellation(kernel, term.sizes(points.rows))
    if not error <= allowed:
        return kind.prepare(kernel, term.by_differences, vectors, 0.0, np.float64)
    return points


def cancellation(kernel: ComputedKernel, sizes: np.ndarray) -> float:
    """The rounding error in float64 of a kernel of distances, for samples of these sizes; NaN if unknown."""
    if not kernel.term.is_distance:
        return 0.0
    return 2.0 * ROUNDING * kernel.lipschitz * kernel.gamma * float(sizes.max(initial=0.0))


def rounding_errors(points: Points) -> np.ndarray:
    """Rounding errors of cancelling distances in kernel values of points close to each other, (n,) float64."""
    return float(np.finfo(points.sizes.dtype).eps) * points.kernel.lipschitz * points.sizes.astype(np.float64)


def update_values(left: Points, right: Points, out: np.ndarray) -> None:
    """Write all kernel values, (len(left), len(right)), in the precision of `out`."""
    parts = _parts(left)

    def tile_column(start: int, tile: Points) -> None:
        for begin, part in parts:
            _update_tile(part, tile, out, begin, start)

    threads.run(tile_column, right.tiles())


def update_symmetric_values(points: Points, out: np.ndarray) -> None:
    """Write all kernel values among `points`; those below the diagonal are copies of those above."""

    def tile_column(start: int, tile: Points, parts: list[tuple[int, Points]]) -> None:
        for top, part in parts:
            _update_tile(part, tile, out, top, start)
            if top < start:
                update_mirrored(out, top, start, len(part), len(tile))

    tiles = points.tiles(SQUARE_TILE)
    tasks = [(start, tile, tiles[: k + 1]) for k, (start, tile) in enumerate(tiles)]
    threads.run(tile_column, tasks[::-1])  # the longest first


def update_minus_sums(left: Points, right: Points, coef: np.ndarray, total: np.ndarray, dtype: Any) -> None:
    """Subtract the kernel sums from `total` (len(right),) float64; only kernel values are rounded to `dtype`."""
    parts, order = _parts(left), np.arange(TILE_ROWS)

    def tile_column(start: int, tile: Points) -> None:
        target = total[start : start + len(tile)]
        for begin, part in parts:
            values = _buffer("kernel", (len(part), len(tile)), dtype)
            _update_tile(part, tile, values, 0, 0)
            update_row_sum(target, values, order[: len(part)], coef[begin : begin + len(part)], 0)

    threads.run(tile_column, right.tiles())


def _parts(left: Points) -> list[tuple[int, Points]]:
    return [(i, left.take(slice(i, i + TILE_ROWS))) for i in range(0, len(left), TILE_ROWS)]


def _update_tile(part: Points, tile: Points, out: np.ndarray, top: int, start: int) -> None:
    """Write the kernel values of one tile, whose corner in `out` is (top, start)."""
    values = _buffer("term", (len(part), len(tile)), part.sizes.dtype)
    tile.update_term(part, values)
    tile.kernel.update_tile(values, part.sizes, tile.sizes, tile.term.factor, out, top, start)


def precisions(kernel: ComputedKernel, X: Any, upper_bounds: np.ndarray, tol: float) -> tuple[Any, Any]:
    """Precision of the values of tiles and of kernel values, of which some stand for all."""
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
    if distance and not rounding(kernel, X, upper_bounds, COLUMNS)[0].max() <= allowed:
        return np.float64, np.float32
    return np.float32, np.float32


def error_allowed(upper_bounds: np.ndarray, tol: float) -> float:
    """Largest error allowed in a kernel value for sums with these bounds, or coefficients, to `tol`."""
    return min(KERNEL_ERROR, ROUNDING_ALLOWED * tol / max(float(np.linalg.norm(upper_bounds)), np.finfo(float).tiny))


def prediction_precision(kernel: ComputedKernel, vectors: Any, coef: Vector) -> Any:
    """Precision of sums over support vectors: errors at these stand for all, as distance kernels vanish far from them.

    Products grow with the new sample, so kernels of products stay in float64.
    """
    if len(coef) <= EXACT_ROWS or not kernel.term.is_distance:
        return np.float64
    errors, sums, absolute = rounding(kernel, vectors, coef, PREDICTION_COLUMNS)
    allowed = min(SCORE_ERROR * np.sqrt(np.mean(sums**2)), SUM_ERROR * np.mean(absolute))
    return np.float32 if errors.max() <= allowed else np.float64


def rounding(kernel: ComputedKernel, X: Any, weights: Vector, n_columns: int) -> tuple[Vector, Vector, Vector]:
    """error_j, sum_i w_i K_ij and sum_i |w_i K_ij| at some samples j, for float32 and a kernel of distances."""
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
    return FLOAT32_ROUNDING * np.sqrt(squares), sums, absolute


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
