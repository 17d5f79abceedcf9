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


class Tile(ABC):
    """Some samples z."""

    @abstractmethod
    def scores(self, weights: Vector, bias: float) -> Vector:
        """Scores z'w + b, (n_rows,)."""

    @abstractmethod
    def sum(self, coef: Vector) -> Vector:
        """sum_i coef_i z_i, (n_features,)."""

    @abstractmethod
    def update_gram(self, out: np.ndarray, theta: Vector) -> None:
        """Add sum_i theta_i (z_i, 1)(z_i, 1)' to the lower triangle of `out`, (n_features + 1, n_features + 1)."""


class Rows(ABC):
    """All n samples of a block."""

    n: int
    n_features: int

    @abstractmethod
    def tiles(self) -> Iterator[tuple[slice, Tile]]:
        """The tiles in order, each with the numbers of its samples."""

    @abstractmethod
    def centred(self, centre: Vector) -> Rows:
        """The same samples with this centre, (n_features,)."""

    @abstractmethod
    def take(self, chosen: RowNumbers) -> Rows:
        """Some of the samples, copied."""

    @abstractmethod
    def moments(self) -> tuple[Vector, Vector]:
        """Sums of the features and of their squares, (n_features,) each, without any centre."""


def make_rows(X: Any) -> Rows:
    """Samples X (n, n_features), a C-ordered array or canonical CSR matrix of float64 or float32, not copied."""
    return SparseRows(X) if sparse.issparse(X) else DenseRows(X)


def stacked(parts: Sequence[Any]) -> Rows:
    """The samples of all parts, which are of one kind and have one centre, in their order."""
    return parts[0].stacked(parts[1:])


def tile_rows(n_features: int) -> int:
    """Number of samples of a dense tile."""
    return max(LEAST_TILE_ROWS, TILE_BYTES // (8 * max(1, n_features)))


def _parts(n: int, n_features: int) -> Iterator[slice]:
    step = tile_rows(n_features)
    for first in range(0, n, step):
        yield slice(first, min(n, first + step))


class _Room:
    """Memory that the dense tiles of a pass use in turn: fresh memory costs more than the sums in it."""

    def __init__(self, n_features: int):
        self.plain = np.empty((tile_rows(n_features), n_features))
        self.weighted = np.empty((tile_rows(n_features), n_features + 1))


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
    """An array (n, n_features)."""

    def __init__(self, X: np.ndarray, centre: Vector | None = None):
        self.n, self.n_features = X.shape
        self._X, self._centre = X, centre

    def centred(self, centre: Vector) -> DenseRows:
        return DenseRows(self._X, centre if centre.any() else None)

    def take(self, chosen: RowNumbers) -> DenseRows:
        return DenseRows(self._X[chosen], self._centre)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._X.nbytes

    def stacked(self, others: Sequence[DenseRows]) -> DenseRows:
        """These samples, then the others."""
        return DenseRows(np.concatenate([self._X, *(other._X for other in others)]), self._centre)

    def tiles(self) -> Iterator[tuple[slice, DenseTile]]:
        room = _Room(self.n_features)
        as_they_are = self._X.dtype == np.float64 and self._centre is None
        for part in _parts(self.n, self.n_features):
            values = self._X[part]
            if not as_they_are:
                values = np.subtract(
                    values, 0.0 if self._centre is None else self._centre, out=room.plain[: len(values)]
                )
            yield part, DenseTile(values, room.weighted)

    def moments(self) -> tuple[Vector, Vector]:
        total, squares = np.zeros(self.n_features), np.zeros(self.n_features)
        for _, tile in DenseRows(self._X).tiles():
            ones = np.ones(len(tile.values))
            total += ones @ tile.values
            squares += ones @ np.square(tile.values)
        return total, squares


class DenseTile(Tile):
    """An array (n_rows, n_features) float64 in the cache, and room for at least as many rows of one more column."""

    def __init__(self, values: np.ndarray, room: np.ndarray):
        self.values, self._room = values, room

    def scores(self, weights: Vector, bias: float) -> Vector:
        return self.values @ weights + bias

    def sum(self, coef: Vector) -> Vector:
        return coef @ self.values

    def update_gram(self, out: np.ndarray, theta: Vector) -> None:
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

    def __init__(self, X: Any):
        self.n, self.n_features = X.shape
        self._X = X

    def centred(self, centre: Vector) -> SparseRows:
        return self

    def take(self, chosen: RowNumbers) -> SparseRows:
        return SparseRows(self._X[chosen])

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._X.data.nbytes + self._X.indices.nbytes + self._X.indptr.nbytes

    def stacked(self, others: Sequence[SparseRows]) -> SparseRows:
        """These samples, then the others."""
        return SparseRows(sparse.vstack([self._X, *(other._X for other in others)], format="csr"))

    def tiles(self) -> Iterator[tuple[slice, Tile]]:
        indptr = self._X.indptr
        if self._X.nnz > DENSE_SHARE * self.n * self.n_features:
            room = _Room(self.n_features)
            for part in _parts(self.n, self.n_features):
                yield part, DenseTile(self._X[part].toarray().astype(np.float64, copy=False), room.weighted)
            return
        for first in range(0, self.n, SPARSE_TILE_ROWS):
            part = slice(first, min(self.n, first + SPARSE_TILE_ROWS))
            yield part, SparseTile(indptr[first : part.stop + 1], self._X.indices, self._X.data, self.n_features)

    def moments(self) -> tuple[Vector, Vector]:
        data, indices = self._X.data.astype(np.float64, copy=False), self._X.indices
        both = (np.bincount(indices, each, minlength=self.n_features) for each in (data, np.square(data)))
        total, squares = (each.astype(np.float64, copy=False) for each in both)
        return total, squares


class SparseTile(Tile):
    """Some rows of a CSR matrix, from `indptr[0]` on."""

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
