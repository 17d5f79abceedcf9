"""Blocks of kernel values between two sets of points, dense or sparse.

Two verbs, for `left` (m points), `right` (n points) and a kernel k::

    fill(left, right, out)                out[i, j] = k(left_i, right_j)
    subtract(left, right, coef, total)    total[j] -= sum_i coef_i k(left_i, right_j)

Both walk over tiles small enough to stay in the processor's cache between the passes over them: products (BLAS on dense
rows, an inverted index on sparse ones), the kernel function, the sum. The second verb therefore never writes a kernel
value to memory, which is why recomputing rows of a cheap kernel beats keeping them. Tiles are the same whatever the
number of threads, and each belongs to one thread.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..runtime import threads
from ..runtime.sums import update_row_sum
from .functions import Kernel
from .loops import (
    UPDATES,
    update_l1_distances,
    update_mirrored,
    update_sparse_l1,
    update_sparse_products,
)

TILE_ROWS, TILE_COLUMNS = 256, 1024  # 1 MB of float32: small enough for the caches, large enough to hide Python
SQUARE_TILE = 256  # rows and columns of a tile of a symmetric block
SPARSE_COLUMNS = 4096  # per tile of sparse points: enough to amortise walking through the rows, a page of sums
DENSE_ENOUGH = 0.1  # past this density BLAS on unpacked rows beats the sparse products

_scratch = threading.local()


def _buffer(name: str, shape: tuple[int, int], dtype: Any) -> np.ndarray:
    """Scratch tile of that name, one for each thread; fresh memory would cost more than the work on it."""
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    flat = getattr(_scratch, name, None)
    if flat is None or flat.nbytes < size:
        flat = np.empty(size, np.uint8)
        setattr(_scratch, name, flat)
    return flat[:size].view(dtype).reshape(shape)


class DensePoints:
    """Dense rows prepared for one kernel, products in the precision of `rows`.

    Exponential kernels depend on differences only, so rows are taken relative to a centre: products then lose the
    large common part that would cost them digits.
    """

    def __init__(self, kernel: Kernel, rows: np.ndarray, norms: np.ndarray):
        self.kernel, self.rows, self.norms = kernel, rows, norms

    @classmethod
    def prepare(cls, kernel: Kernel, X: Any, centre: np.ndarray, dtype: Any) -> DensePoints:
        """Centre and convert (n, d) rows; sparse ones are unpacked."""
        X = X.toarray() if sp.issparse(X) else X
        rows = np.ascontiguousarray(X - centre if kernel.is_exponential else X, dtype)
        if kernel.name != "rbf":
            return cls(kernel, rows, np.zeros(len(rows), dtype))
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        return cls(kernel, rows, (kernel.gamma * squares).astype(dtype))

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, indices: Any) -> DensePoints:
        """Some of the points: a slice or an index array."""
        return DensePoints(self.kernel, self.rows[indices], self.norms[indices])

    def tiles(self, columns: int = TILE_COLUMNS) -> list[tuple[int, DensePoints]]:
        """Consecutive parts with where they begin."""
        return [(j, self.take(slice(j, j + columns))) for j in range(0, len(self), columns)]

    def update_products(self, left: DensePoints, values: np.ndarray) -> None:
        """Write what the kernel is a function of, for `left` against these points."""
        if self.kernel.name == "laplacian":
            update_l1_distances(left.rows, np.ascontiguousarray(self.rows.T), values)
        else:
            np.matmul(left.rows, self.rows.T, out=values)


class SparsePoints:
    """CSR rows; products through an inverted index, at the cost of the features two rows share."""

    def __init__(self, kernel: Kernel, rows: Any, norms: np.ndarray):
        self.kernel, self.rows, self.norms = kernel, rows, norms
        self._columns: Any = None
        self._tiles: list[tuple[int, SparsePoints]] = []

    @classmethod
    def prepare(cls, kernel: Kernel, X: Any, centre: Any, dtype: Any) -> SparsePoints:
        """Convert (n, d) CSR rows."""
        rows = sp.csr_array(X, dtype=dtype)
        if not kernel.is_exponential:
            return cls(kernel, rows, np.zeros(rows.shape[0], dtype))
        size = abs(X) if kernel.name == "laplacian" else X.multiply(X)
        return cls(kernel, rows, (kernel.gamma * np.asarray(size.sum(axis=1), np.float64).ravel()).astype(dtype))

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def take(self, indices: Any) -> SparsePoints:
        """Some of the points: a slice or an index array."""
        return SparsePoints(self.kernel, self.rows[indices], self.norms[indices])

    def tiles(self, columns: int = SPARSE_COLUMNS) -> list[tuple[int, SparsePoints]]:
        """Consecutive parts with where they begin, each with its inverted index."""
        if not self._tiles or len(self._tiles[0][1]) != min(columns, len(self)):
            self._tiles = [(j, self.take(slice(j, j + columns))) for j in range(0, len(self), columns)]
            for _, tile in self._tiles:
                tile._columns = sp.csc_array(tile.rows)
        return self._tiles

    def update_products(self, left: SparsePoints, values: np.ndarray) -> None:
        """Write what the kernel is a function of, for `left` against these points."""
        update = update_sparse_l1 if self.kernel.name == "laplacian" else update_sparse_products
        a, b = left.rows, self._columns
        update(a.indptr, a.indices, a.data, b.indptr, b.indices, b.data, values)


Points = DensePoints | SparsePoints


def prepare_points(kernel: Kernel, X: Any, vectors: Any, dtype: Any) -> tuple[Points, Points]:
    """`X` and `vectors` prepared alike; sparse vectors that are crowded (`DENSE_ENOUGH`) are unpacked."""
    sparse = sp.issparse(vectors) and density(vectors) <= DENSE_ENOUGH
    centre = 0.0 if sp.issparse(vectors) else vectors.mean(axis=0, dtype=np.float64)
    kind: Any = SparsePoints if sparse else DensePoints
    right = kind.prepare(kernel, vectors, centre, dtype)
    return (right if X is vectors else kind.prepare(kernel, X, centre, dtype)), right


def density(rows: Any) -> float:
    """Share of stored entries of a sparse matrix."""
    return rows.nnz / max(1, rows.shape[0] * rows.shape[1])


def fill(left: Points, right: Points, out: np.ndarray) -> None:
    """Write all kernel values, (len(left), len(right)), in the precision of `out`."""
    parts = _parts(left)

    def tile_column(start: int, tile: Points) -> None:
        for begin, part in parts:
            _update_values(part, tile, out, begin, start)

    threads.run(tile_column, right.tiles())


def fill_symmetric(points: Points, out: np.ndarray) -> None:
    """Write all kernel values among `points`; those below the diagonal are copies of those above."""

    def tile_column(start: int, tile: Points, parts: list[tuple[int, Points]]) -> None:
        for top, part in parts:
            _update_values(part, tile, out, top, start)
            if top < start:
                update_mirrored(out, top, start, len(part), len(tile))

    tiles = points.tiles(SQUARE_TILE)
    tasks = [(start, tile, tiles[: k + 1]) for k, (start, tile) in enumerate(tiles)]
    threads.run(tile_column, tasks[::-1])  # the longest first


def subtract(left: Points, right: Points, coef: np.ndarray, total: np.ndarray, dtype: Any) -> None:
    """Take the kernel sums from `total` (len(right),) float64; kernel values are rounded to `dtype`, sums are not."""
    parts, order = _parts(left), np.arange(TILE_ROWS)

    def tile_column(start: int, tile: Points) -> None:
        target = total[start : start + len(tile)]
        for begin, part in parts:
            values = _buffer("kernel", (len(part), len(tile)), dtype)
            _update_values(part, tile, values, 0, 0)
            update_row_sum(target, values, order[: len(part)], coef[begin : begin + len(part)], 0)

    threads.run(tile_column, right.tiles())


def _parts(left: Points) -> list[tuple[int, Points]]:
    return [(i, left.take(slice(i, i + TILE_ROWS))) for i in range(0, len(left), TILE_ROWS)]


def _update_values(part: Points, tile: Points, out: np.ndarray, top: int, start: int) -> None:
    """Write the kernel values of one tile, whose corner in `out` is (top, start)."""
    kernel = tile.kernel
    products = _buffer("products", (len(part), len(tile)), part.norms.dtype)
    tile.update_products(part, products)  # type: ignore[arg-type]
    update = UPDATES[str(kernel.name)]
    update(products, part.norms, tile.norms, kernel.scale, float(kernel.coef0), int(kernel.degree), out, top, start)
