"""Blocks of kernel values between the rows of two matrices.

Given a kernel, `left` (n_left, d) and `right` (n_right, d), a provider has one verb::

    fill(rows, out, slots)      out[slots[i], :] = k(left[rows[i]], right[:])

with rows, slots (m,) intp and out (anything, n_right) float32 or float64. Dense, sparse and callable rows differ only
in how the values of a tile come about; the tiles are the same whatever the number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _threads
from .functions import Kernel
from .loops import UPDATES, update_l1_distances, update_sparse_l1, update_sparse_products

TILE_ROWS, TILE_COLUMNS = 128, 1024  # 512 KB of float32: a tile stays in the second-level cache between its two passes
SPARSE_TILE = 1 << 18  # values per tile of sparse rows, which always span all columns
DENSE_ENOUGH = (
    0.1  # past this density BLAS on dense rows beats the sparse scatter (0.3 ns per common feature against 0.02)
)


class _Tiles:
    """What the providers share: the kernel function's loop and one scratch tile per thread."""

    def __init__(self, kernel: Kernel, n_right: int, dtype: Any):
        self.kernel, self.n_right, self.dtype = kernel, n_right, np.dtype(dtype)
        self._update = UPDATES[str(kernel.name)]
        self._scratch = threading.local()

    def _tile(self, n_rows: int, n_columns: int) -> np.ndarray:
        size = n_rows * n_columns
        if getattr(self._scratch, "flat", np.empty(0)).size < size:
            self._scratch.flat = np.empty(size, self.dtype)
        return self._scratch.flat[:size].reshape(n_rows, n_columns)

    def _finish(self, values: np.ndarray, left: Any, right: Any, out: Any, slots: Any, start: int) -> None:
        kernel = self.kernel
        self._update(values, left, right, kernel.scale, float(kernel.coef0), int(kernel.degree), out, slots, start)


class DenseBlocks(_Tiles):
    """Dense rows: inner products by BLAS in the precision of `dtype`.

    `left` may be sparse: its rows are unpacked as they are used. Exponential kernels depend on differences only, so
    rows are taken relative to `centre`: products then lose the large common part that would cost them digits.
    """

    def __init__(self, kernel: Kernel, left: Any, right: np.ndarray, dtype: Any):
        super().__init__(kernel, len(right), dtype)
        self.centre = right.mean(axis=0, dtype=np.float64) if kernel.is_exponential else np.zeros(right.shape[1])
        self.left = None if left is right else left
        self.right = self._prepared(right)
        self.right_norms = self._norms(self.right)
        if kernel.name == "laplacian":
            self._columns = np.ascontiguousarray(self.right.T)

    def _prepared(self, rows: Any) -> np.ndarray:
        rows = rows.toarray() if sp.issparse(rows) else rows
        rows = rows - self.centre if self.kernel.is_exponential else rows
        return np.ascontiguousarray(rows, self.dtype)

    def _norms(self, rows: np.ndarray) -> np.ndarray:
        if self.kernel.name != "rbf":
            return np.zeros(len(rows), self.dtype)
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        return (self.kernel.gamma * squares).astype(self.dtype)

    def fill(self, rows: np.ndarray, out: np.ndarray, slots: np.ndarray) -> None:
        """Write the kernel rows of `left[rows]` against all of `right`."""
        left = self.right[rows] if self.left is None else self._prepared(self.left[rows])
        norms = self.right_norms[rows] if self.left is None else self._norms(left)
        parts = [slice(i, i + TILE_ROWS) for i in range(0, len(rows), TILE_ROWS)]
        _threads.run(
            self._fill_tile,
            [
                (left[part], norms[part], start, out, slots[part])
                for start in range(0, self.n_right, TILE_COLUMNS)
                for part in parts
            ],
        )

    def _fill_tile(self, left: np.ndarray, norms: np.ndarray, start: int, out: Any, slots: Any) -> None:
        right = self.right[start : start + TILE_COLUMNS]
        values = self._tile(len(left), len(right))
        if self.kernel.name == "laplacian":
            update_l1_distances(left, self._columns[:, start : start + TILE_COLUMNS], values)
        else:
            np.matmul(left, right.T, out=values)
        self._finish(values, norms, self.right_norms[start : start + TILE_COLUMNS], out, slots, start)


class SparseBlocks(_Tiles):
    """CSR rows: inner products through an inverted index of `right`, at the cost of the features two rows share."""

    def __init__(self, kernel: Kernel, left: Any, right: Any, dtype: Any):
        super().__init__(kernel, right.shape[0], dtype)
        self.left = sp.csr_array(left, dtype=self.dtype)
        self.columns = sp.csc_array(right, dtype=self.dtype)
        self.left_norms, self.right_norms = self._norms(left), self._norms(right)
        self._products = update_sparse_l1 if kernel.name == "laplacian" else update_sparse_products

    def _norms(self, rows: Any) -> np.ndarray:
        if not self.kernel.is_exponential:
            return np.zeros(rows.shape[0], self.dtype)
        size = abs(rows) if self.kernel.name == "laplacian" else rows.multiply(rows)
        return (self.kernel.gamma * np.asarray(size.sum(axis=1), dtype=np.float64).ravel()).astype(self.dtype)

    def fill(self, rows: np.ndarray, out: np.ndarray, slots: np.ndarray) -> None:
        """Write the kernel rows of `left[rows]` against all of `right`."""
        step = max(1, SPARSE_TILE // self.n_right)
        _threads.run(
            self._fill_tile, [(rows[i : i + step], out, slots[i : i + step]) for i in range(0, len(rows), step)]
        )

    def _fill_tile(self, rows: np.ndarray, out: Any, slots: Any) -> None:
        values = self._tile(len(rows), self.n_right)
        left, right = self.left, self.columns
        self._products(left.indptr, left.indices, left.data, rows, right.indptr, right.indices, right.data, values)
        self._finish(values, self.left_norms[rows], self.right_norms, out, slots, 0)


class CallableBlocks:
    """The user's own function, called with blocks of rows from the calling thread only."""

    BLOCK = 1 << 22  # kernel values asked for at a time

    def __init__(self, function: Callable[..., Any], left: Any, right: Any):
        self.function, self.left, self.right, self.n_right = function, left, right, right.shape[0]

    def fill(self, rows: np.ndarray, out: np.ndarray, slots: np.ndarray) -> None:
        """Write the kernel rows of `left[rows]` against all of `right`."""
        step = max(1, self.BLOCK // self.n_right)
        for i in range(0, len(rows), step):
            part = rows[i : i + step]
            block = np.asarray(self.function(self.left[part], self.right))
            if block.shape != (len(part), self.n_right):
                raise ValueError(
                    f"kernel returned an array of shape {block.shape} for {len(part)} rows against {self.n_right}; "
                    "a callable kernel must return the (len(A), len(B)) matrix of kernel values"
                )
            out[slots[i : i + step]] = block


Blocks = DenseBlocks | SparseBlocks | CallableBlocks


def kernel_blocks(kernel: Kernel, left: Any, right: Any, dtype: Any) -> Blocks:
    """The provider for these rows: callable, sparse, or dense (sparse `right` past `DENSE_ENOUGH` is unpacked)."""
    if callable(kernel.name):
        return CallableBlocks(kernel.name, left, right)
    if not sp.issparse(right):
        return DenseBlocks(kernel, left, right, dtype)
    if density(right) <= DENSE_ENOUGH:
        return SparseBlocks(kernel, sp.csr_array(left), right, dtype)
    unpacked = right.toarray()
    return DenseBlocks(kernel, unpacked if left is right else left, unpacked, dtype)


def density(rows: Any) -> float:
    """Share of stored entries of a sparse matrix."""
    return rows.nnz / max(1, rows.shape[0] * rows.shape[1])
