"""Samples as dense or CSR rows of features, and the sums over them, tile by tile, in float64 whatever their type.

With z a sample less the `centre` of all samples, a tile gives

    scores    z'w + b                of each sample
    sum       sum_i v_i z_i
    gram      sum_i theta_i (z_i, 1)(z_i, 1)'

A tile is small enough to stay in the processor's cache while several of these are computed from it, so that the samples
are read from memory once. Tiles depend on the shape of the data alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..._core.types import RowNumbers, Vector
from ..._kernels.pairwise import far_mean
from ..._runtime.compiler import njit

TILE_BYTES = 1 << 19  # of dense float64 samples
LEAST_TILE_ROWS = 512  # a product with fewer samples would be slow for its size
SPARSE_TILE_ROWS = 8192
DENSE_SHARE = 0.1  # of entries that are stored, above which tiles of sparse samples are made dense


class Rows(ABC):
    """All samples (n, n_features) of a block; a centre (n_features,) is subtracted from dense ones."""

    def __init__(self, X: Any, centre: Vector | None = None):
        self.n, self.n_features = X.shape
        self._X, self._centre = X, centre

    @abstractmethod
    def tiles(self) -> Iterator[tuple[slice, Any]]:
        """The tiles in order, each with the numbers of its samples."""

    @abstractmethod
    def centred(self, centre: Vector) -> Rows:
        """The same samples with this centre, (n_features,)."""

    @abstractmethod
    def stacked(self, others: Sequence[Any]) -> Rows:
        """These samples, then the others, which are of the same kind and have the same centre."""

    @abstractmethod
    def moments(self) -> tuple[Vector, Vector]:
        """Sums of the features and of their squares, (n_features,) each, without any centre."""

    def take(self, chosen: RowNumbers) -> Rows:
        """Some of the samples, copied."""
        return type(self)(self._X[chosen], self._centre)


def make_rows(X: Any) -> Rows:
    """Samples X (n, n_features), a C-ordered array or canonical CSR matrix of float64 or float32, not copied."""
    return SparseRows(X) if sparse.issparse(X) else DenseRows(X)


def tile_rows(n_features: int) -> int:
    """Number of samples of a dense tile."""
    return max(LEAST_TILE_ROWS, TILE_BYTES // (8 * max(1, n_features)))


def _parts(n: int, size: int) -> Iterator[slice]:
    return (slice(first, min(n, first + size)) for first in range(0, n, size))


def linear_scores(X: Any, weights: Vector, bias: float) -> Vector:
    """Scores w'x + b of the samples X, (n,) float64, without a copy of X in float64."""
    return np.concatenate([tile.scores(weights, bias) for _, tile in make_rows(X).tiles()])


def centre_from_sums(total: Vector, squares: Vector, n: int) -> Vector:
    """The `far_mean` (n_features,) of n samples, from the sums of their features and of the squares of these.

    The bias makes up for any centre, so the problem stays the same.
    """
    mean = total / n
    deviation = np.sqrt(np.maximum(squares / n - mean**2, 0.0))
    return far_mean(mean, deviation)


class DenseRows(Rows):
    """A C-ordered array (n, n_features)."""

    def centred(self, centre: Vector) -> DenseRows:
        return DenseRows(self._X, centre if centre.any() else None)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._X.nbytes

    def stacked(self, others: Sequence[DenseRows]) -> DenseRows:
        return DenseRows(np.concatenate([self._X, *(other._X for other in others)]), self._centre)

    def tiles(self) -> Iterator[tuple[slice, DenseTile]]:
        size = tile_rows(self.n_features)
        plain, weighted = np.empty((size, self.n_features)), np.empty((size, self.n_features + 1))
        as_they_are = self._X.dtype == np.float64 and self._centre is None
        centre = 0.0 if self._centre is None else self._centre
        for part in _parts(self.n, size):
            values = self._X[part]
            if not as_they_are:
                values = np.subtract(values, centre, out=plain[: len(values)])
            yield part, DenseTile(values, weighted)

    def moments(self) -> tuple[Vector, Vector]:
        total, squares = np.zeros(self.n_features), np.zeros(self.n_features)
        for _, tile in DenseRows(self._X).tiles():
            ones = np.ones(len(tile.values))
            total += ones @ tile.values
            squares += ones @ np.square(tile.values)
        return total, squares


class DenseTile:
    """Samples (n_rows, n_features) float64 in the cache, and memory for as many with one more column, used in turn."""

    def __init__(self, values: np.ndarray, room: np.ndarray):
        self.values, self._room = values, room

    def scores(self, weights: Vector, bias: float) -> Vector:
        """Scores z'w + b, (n_rows,)."""
        return self.values @ weights + bias

    def sum(self, coef: Vector) -> Vector:
        """sum_i coef_i z_i, (n_features,)."""
        return coef @ self.values

    def update_gram(self, out: np.ndarray, theta: Vector) -> None:
        """Add sum_i theta_i (z_i, 1)(z_i, 1)' to the lower triangle of `out`, (n_features + 1, n_features + 1)."""
        weighted = self._room[: len(theta)]
        _update_weighted(weighted, self.values, np.sqrt(theta))
        out += weighted.T @ weighted


@njit
def _update_weighted(out, values, roots):  # type: ignore[no-untyped-def]
    """out[i] = roots[i] (values[i], 1)."""
    n_features = values.shape[1]
    for i in range(values.shape[0]):
        source, target, root = values[i], out[i], roots[i]
        for j in range(n_features):
            target[j] = root * source[j]
        target[n_features] = root


class SparseRows(Rows):
    """A CSR matrix (n, n_features); it has no centre, as it would no longer be sparse."""

    def centred(self, centre: Vector) -> SparseRows:
        return self

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._X.data.nbytes + self._X.indices.nbytes + self._X.indptr.nbytes

    def stacked(self, others: Sequence[SparseRows]) -> SparseRows:
        return SparseRows(sparse.vstack([self._X, *(other._X for other in others)], format="csr"))

    def tiles(self) -> Iterator[tuple[slice, DenseTile | SparseTile]]:
        indptr = self._X.indptr
        if self._X.nnz > DENSE_SHARE * self.n * self.n_features:
            size = tile_rows(self.n_features)
            weighted = np.empty((size, self.n_features + 1))
            for part in _parts(self.n, size):
                yield part, DenseTile(self._X[part].toarray().astype(np.float64, copy=False), weighted)
            return
        for part in _parts(self.n, SPARSE_TILE_ROWS):
            yield part, SparseTile(indptr[part.start : part.stop + 1], self._X.indices, self._X.data, self.n_features)

    def moments(self) -> tuple[Vector, Vector]:
        data, indices = self._X.data.astype(np.float64, copy=False), self._X.indices
        both = (np.bincount(indices, each, minlength=self.n_features) for each in (data, np.square(data)))
        total, squares = (each.astype(np.float64, copy=False) for each in both)
        return total, squares


class SparseTile:
    """Some rows of a CSR matrix, from `indptr[0]` on, with the methods of `DenseTile`."""

    def __init__(self, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, n_features: int):
        self._csr, self._n_features = (indptr, indices, data), n_features

    def scores(self, weights: Vector, bias: float) -> Vector:
        out = np.full(len(self._csr[0]) - 1, bias)
        _update_scores(out, *self._csr, weights)
        return out

    def sum(self, coef: Vector) -> Vector:
        out = np.zeros(self._n_features)
        _update_sum(out, *self._csr, coef)
        return out

    def update_gram(self, out: np.ndarray, theta: Vector) -> None:
        _update_sparse_gram(out, *self._csr, theta)


@njit
def _update_scores(out, indptr, indices, data, weights):  # type: ignore[no-untyped-def]
    """out[i] += z_i'weights."""
    for i in range(out.shape[0]):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * weights[indices[k]]
        out[i] += total


@njit
def _update_sum(out, indptr, indices, data, coef):  # type: ignore[no-untyped-def]
    """Add sum_i coef_i z_i to out."""
    for i in range(coef.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            out[indices[k]] += coef[i] * data[k]


@njit
def _update_sparse_gram(out, indptr, indices, data, theta):  # type: ignore[no-untyped-def]
    """Lower triangle of out += sum_i theta_i (z_i, 1)(z_i, 1)'; `indices` ascend within a row."""
    last = out.shape[0] - 1
    for i in range(theta.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            weighted, target = theta[i] * data[k], out[indices[k]]
            out[last, indices[k]] += weighted
            for other in range(indptr[i], k + 1):
                target[indices[other]] += weighted * data[other]
        out[last, last] += theta[i]
