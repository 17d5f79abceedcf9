"""Pairwise terms: the one number for each pair of samples that a kernel is a function of.

Tiles compute it as size(x) + size(z) + factor * value(x, z), in which only the value is computed for each pair:

================ ============ ====== ===========================================================
term             size         factor value
================ ============ ====== ===========================================================
InnerProduct     0            1      <x, z>
SquaredDistance  |x|_2^2      -2     <x, z>
L1Distance       0            1      |x - z|_1 on dense samples
                 |x|_1        1      |x - z|_1 - |x|_1 - |z|_1 on sparse ones: common features only
Differences      0            1      |x - z|_2^2 or |x - z|_1, feature by feature, without cancellation
================ ============ ====== ===========================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba.extending import register_jitable
from scipy.spatial.distance import cdist

from .._runtime import threads
from .._runtime.compiler import njit

NORM_BLOCK = 1 << 14  # samples at a time
BAND = 256  # rows of a matrix of all pairs at a time
TILE = 1024  # columns of it at a time: 2 MB of products
FAR = 8.0  # standard deviations of a feature from zero, beyond which its mean is subtracted
LONG_PRODUCTS = 1 << 23  # multiplications up to which reference values take the time for long double
PAST_ALL = np.iinfo(np.int64).max  # stands for the feature of a sample that has no more of them


def difference_loop(term: Callable[[Any], Any]) -> Callable[..., None]:
    """out[i, j] = sum of term(x - z) over all features; `right_columns` is (n_features, n_right)."""

    @njit
    def update(left, right_columns, out):  # type: ignore[no-untyped-def]
        for i in range(left.shape[0]):
            row = out[i]
            row[:] = 0
            for k in range(left.shape[1]):
                x = left[i, k]
                column = right_columns[k]
                for j in range(row.shape[0]):
                    row[j] += term(x - column[j])

    return update


def sparse_difference_loop(term: Callable[[Any], Any]) -> Callable[..., None]:
    """The same for rows in CSR with sorted indices: two rows are walked through together."""

    @njit
    def update(indptr, indices, data, other_indptr, other_indices, other_data, out):  # type: ignore[no-untyped-def]
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                total = 0.0
                a, b = indptr[i], other_indptr[j]
                while a < indptr[i + 1] or b < other_indptr[j + 1]:
                    x_at = indices[a] if a < indptr[i + 1] else PAST_ALL
                    z_at = other_indices[b] if b < other_indptr[j + 1] else PAST_ALL
                    difference = 0.0
                    if x_at <= z_at:
                        difference += data[a]
                        a += 1
                    if z_at <= x_at:
                        difference -= other_data[b]
                        b += 1
                    total += term(difference)
                out[i, j] = total

    return update


def sparse_loop(term: Callable[[Any, Any], Any]) -> Callable[..., None]:
    """out[i, j] = sum of term(x, z) over the features that left_i, in CSR, and right_j, by columns, share."""

    @njit
    def update(indptr, indices, data, by_column, column_rows, column_data, out):  # type: ignore[no-untyped-def]
        for i in range(out.shape[0]):
            target = out[i]
            target[:] = 0
            for entry in range(indptr[i], indptr[i + 1]):
                x, feature = data[entry], indices[entry]
                for other in range(by_column[feature], by_column[feature + 1]):
                    # An unsigned index needs no check for a negative one.
                    target[np.uintp(column_rows[other])] += term(x, column_data[other])

    return update


@register_jitable
def _product(x, z):  # type: ignore[no-untyped-def]
    return x * z


@register_jitable
def _square(x):  # type: ignore[no-untyped-def]
    return x * x


@register_jitable
def _size(x):  # type: ignore[no-untyped-def]
    return abs(x)


@register_jitable
def _l1_difference(x, z):  # type: ignore[no-untyped-def]
    return abs(x - z) - abs(x) - abs(z)


update_l1_distances, update_squared_distances = difference_loop(_size), difference_loop(_square)
update_sparse_l1_distances = sparse_difference_loop(_size)
update_sparse_squared_distances = sparse_difference_loop(_square)
update_sparse_products = sparse_loop(_product)  # <left_i, right_j>
update_sparse_l1 = sparse_loop(_l1_difference)  # |x - z|_1 - |x|_1 - |z|_1


@njit
def update_mirrored(out, top, start, n_rows, n_columns):  # type: ignore[no-untyped-def]
    """Copy the tile of `out` at (top, start) to its place across the diagonal."""
    for j in range(n_columns):
        target = out[start + j, top : top + n_rows]
        for i in range(n_rows):
            target[i] = out[top + i, start + j]


class PairwiseTerm(ABC):
    """One number for each pair of samples, by the table that opens this module."""

    is_distance: bool  # it depends on x - z only
    is_centred = False  # samples are taken relative to their mean: products lose the common part that costs digits
    metric = ""  # SciPy's name for a distance
    factor = 1.0
    max_recomputed_features: int  # up to which computing a row of kernel values takes less time than reading it

    @property
    def by_differences(self) -> PairwiseTerm:
        """The same term computed without cancellation."""
        return self

    def sizes(self, X: Any) -> np.ndarray:
        """|x|_2^2 or |x|_1 of samples (n, d), dense or sparse, (n,) float64."""
        if sp.issparse(X):
            return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
        return np.einsum("ij,ij->i", X, X, dtype=np.float64)

    def tile_sizes(self, X: Any) -> np.ndarray:
        """The size of the second table, (n,) float64."""
        return np.zeros(X.shape[0])

    def diagonal_of(self, X: Any) -> np.ndarray:
        """The term of each sample with itself, (n,) float64: 0 for a distance."""
        return np.zeros(X.shape[0])

    def update_dense(self, left: np.ndarray, right: np.ndarray, values: np.ndarray) -> None:
        """Write the values of dense samples `left` (m, d) against `right` (n, d); here products, by BLAS."""
        np.matmul(left, right.T, out=values)

    def index(self, rows: Any) -> Any:
        """CSR samples in the form in which `update_sparse` takes its right side; here by columns."""
        return sp.csc_array(rows)

    def update_sparse(self, left: Any, right: Any, values: np.ndarray) -> None:
        """Write the values of CSR samples `left` against the `index` of others; here products."""
        update_sparse_products(left.indptr, left.indices, left.data, right.indptr, right.indices, right.data, values)

    def reference_values(self, A: Any, B: Any) -> np.ndarray:
        """The term of samples A and B, (len(A), len(B)) float64, by independent code.

        Distances are SciPy's; products of dense samples are summed in long double if they are few.
        """
        A, B = (X.astype(np.float64, copy=False) for X in (A, B))
        if not self.is_distance:
            if sp.issparse(A):
                return (A @ B.T).toarray()
            few = A.shape[0] * B.size <= LONG_PRODUCTS
            return (A.astype(np.longdouble) @ B.T.astype(np.longdouble) if few else A @ B.T).astype(np.float64)
        if sp.issparse(A):
            return self._sparse_reference_values(A, B)
        return cdist(A, B, self.metric)

    def _sparse_reference_values(self, A: Any, B: Any) -> np.ndarray:
        """Features that a sample of A has by SciPy, the others of B by their size."""
        A, B = sp.csr_array(A), sp.csr_array(B)
        by_column, out = sp.csc_array(B), np.empty((A.shape[0], B.shape[0]))
        for i in range(A.shape[0]):
            own = slice(A.indptr[i], A.indptr[i + 1])
            features = A.indices[own]
            others = sp.csr_array((B.data * ~np.isin(B.indices, features), B.indices, B.indptr), shape=B.shape)
            out[i] = self.sizes(others)
            if len(features):
                out[i] += cdist(A.data[np.newaxis, own], by_column[:, features].toarray(), self.metric)[0]
        return out

    @abstractmethod
    def update_matrix(self, out: np.ndarray, X: Any) -> None:
        """Write the term of all pairs of samples of X, (n, n)."""

    def scale(self, spread: float, n_features: int) -> float:
        """Typical size of the term, for features whose variances sum to `spread`."""
        return 2.0 * spread


class InnerProduct(PairwiseTerm):
    """<x, z>."""

    is_distance = False
    max_recomputed_features = 256

    def diagonal_of(self, X: Any) -> np.ndarray:
        return self.sizes(X)

    def update_matrix(self, out: np.ndarray, X: Any) -> None:
        def write(products: np.ndarray, top: int, start: int) -> None:
            out[top : top + products.shape[0], start : start + products.shape[1]] = products

        _for_product_tiles(X, write)


class SquaredDistance(PairwiseTerm):
    """|x - z|_2^2 = |x|^2 + |z|^2 - 2 <x, z>."""

    is_distance = is_centred = True
    metric = "sqeuclidean"
    factor = -2.0
    max_recomputed_features = 256

    @property
    def by_differences(self) -> PairwiseTerm:
        return Differences(self, update_squared_distances, update_sparse_squared_distances)

    def tile_sizes(self, X: Any) -> np.ndarray:
        return self.sizes(X)

    def update_matrix(self, out: np.ndarray, X: Any) -> None:
        squares = self.sizes(X.astype(np.float64, copy=False))

        def write(products: np.ndarray, top: int, start: int) -> None:
            """Write |x|^2 + |z|^2 - 2 <x, z>, at least 0, and 0 for a sample with itself."""
            n_rows, n_columns = products.shape
            products *= -2.0
            products += squares[top : top + n_rows, np.newaxis]
            products += squares[start : start + n_columns]
            target = out[top : top + n_rows, start : start + n_columns]
            np.maximum(products, 0.0, out=target, casting="same_kind")
            same = np.arange(max(top, start), min(top + n_rows, start + n_columns))
            target[same - top, same - start] = 0.0

        _for_product_tiles(X, write)


class L1Distance(PairwiseTerm):
    """|x - z|_1, which BLAS does not compute."""

    is_distance = is_centred = True
    metric = "cityblock"
    max_recomputed_features = 32

    @property
    def by_differences(self) -> PairwiseTerm:
        return Differences(self, update_l1_distances, update_sparse_l1_distances)

    def sizes(self, X: Any) -> np.ndarray:
        return np.asarray(abs(X).sum(axis=1), dtype=np.float64).ravel()

    def tile_sizes(self, X: Any) -> np.ndarray:
        return self.sizes(X) if sp.issparse(X) else np.zeros(len(X))

    def update_dense(self, left: np.ndarray, right: np.ndarray, values: np.ndarray) -> None:
        update_l1_distances(left, np.ascontiguousarray(right.T), values)

    def update_sparse(self, left: Any, right: Any, values: np.ndarray) -> None:
        """|x - z|_1 - |x|_1 - |z|_1."""
        update_sparse_l1(left.indptr, left.indices, left.data, right.indptr, right.indices, right.data, values)

    def update_matrix(self, out: np.ndarray, X: Any) -> None:
        self.by_differences.update_matrix(out, X)

    def scale(self, spread: float, n_features: int) -> float:
        """At most sqrt(n_features) times the Euclidean distance."""
        return float(np.sqrt(2.0 * spread * n_features))


class Differences(PairwiseTerm):
    """A distance summed over the features of x - z by compiled loops; not centred, as a centre would overflow first."""

    is_distance = True
    max_recomputed_features = 32

    def __init__(self, distance: PairwiseTerm, dense_loop: Callable[..., None], sparse_loop: Callable[..., None]):
        self.distance, self._update_dense, self._update_sparse = distance, dense_loop, sparse_loop

    def sizes(self, X: Any) -> np.ndarray:
        return self.distance.sizes(X)

    def update_dense(self, left: np.ndarray, right: np.ndarray, values: np.ndarray) -> None:
        self._update_dense(left, np.ascontiguousarray(right.T), values)

    def index(self, rows: Any) -> Any:
        """By rows, their features in ascending order."""
        return _with_sorted_features(rows)

    def update_sparse(self, left: Any, right: Any, values: np.ndarray) -> None:
        left = _with_sorted_features(left)
        self._update_sparse(left.indptr, left.indices, left.data, right.indptr, right.indices, right.data, values)

    def update_matrix(self, out: np.ndarray, X: Any) -> None:
        sparse, X = sp.issparse(X), X.astype(np.float64, copy=False)
        right = self.index(sp.csr_array(X)) if sparse else np.ascontiguousarray(X)

        def band(first: int, last: int) -> None:
            values = np.empty((last - first, X.shape[0]))
            (self.update_sparse if sparse else self.update_dense)(right[first:last], right, values)
            out[first:last] = values

        threads.run(band, _bands(len(out)))


def _with_sorted_features(rows: Any) -> Any:
    return rows if rows.has_sorted_indices else rows.sorted_indices()


def far_mean(mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Means (d,) of the features that are `FAR` from zero, 0 for the others: what costs products their digits."""
    return np.where(np.abs(mean) > FAR * deviation, mean, 0.0)


def far_centre(X: Any) -> np.ndarray | None:
    """The `far_mean` of X; None if no feature is far from zero, or X is sparse."""
    if sp.issparse(X):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        centre = far_mean(X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64))
    return centre if centre.any() else None


def centred_sizes(term: PairwiseTerm, X: Any) -> np.ndarray:
    """Sizes of the samples, for a distance relative to their centre, (n,) float64."""
    if sp.issparse(X):
        return term.sizes(X)
    centre = X.mean(axis=0, dtype=np.float64) if term.is_distance else 0.0
    starts = range(0, len(X), NORM_BLOCK)
    return np.concatenate([term.sizes(X[i : i + NORM_BLOCK] - centre) for i in starts])


def _bands(n: int) -> list[tuple[int, int]]:
    return [(i, min(i + BAND, n)) for i in range(0, n, BAND)]


def _for_product_tiles(X: Any, write: Callable[[np.ndarray, int, int], Any]) -> None:
    """Call ``write(products, top, start)`` for tiles of all <x_i, x_j>, float64, that stay in the processor's cache."""
    X = X.astype(np.float64, copy=False)

    def band(first: int, last: int) -> None:
        if sp.issparse(X):
            write((X[first:last] @ X.T).toarray(), first, 0)
            return
        rows = X[first:last]
        for start in range(0, len(X), TILE):
            write(rows @ X[start : start + TILE].T, first, start)

    threads.run(band, _bands(X.shape[0]))
