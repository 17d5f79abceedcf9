"""What the kernels of one family have in common, computed once for all pairs of rows.

========================= ===========================================
rbf                       squared distances |x - z|_2^2
laplacian                 distances |x - z|_1
linear, poly, sigmoid     inner products <x, z>
precomputed, a callable   the kernel values
========================= ===========================================

Any block of the Gram matrix, for any gamma, degree and coef0, is then one pass over these numbers. Distances may be
rounded to the precision of kernel values: an error of relative size u in gamma |x - z|^2 = e changes exp(-e) by
e exp(-e) u < u / 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..runtime import threads
from ..runtime.compiler import fmax, njit
from ..runtime.gather import update_gathered
from .functions import Kernel
from .loops import UPDATES, update_l1_distances

BAND = 256  # rows at a time
TILE = 1024  # columns at a time: 2 MB of products


class SharedValues:
    """The numbers of the table for all pairs of n rows; safe to read from several threads."""

    def __init__(self, base: np.ndarray):
        self.base = base

    @classmethod
    def compute(cls, kernel: Kernel, X: Any, dtype: Any) -> SharedValues:
        """For the family of `kernel`, kept in `dtype`, whatever its parameters."""
        if kernel.name == "precomputed":
            return cls(np.ascontiguousarray(X, dtype))
        if callable(kernel.name):
            values = np.asarray(kernel.name(X, X), dtype=dtype)
            if values.shape != (X.shape[0], X.shape[0]):
                raise ValueError(
                    f"kernel returned an array of shape {values.shape} for {X.shape[0]} rows against themselves; "
                    "a callable kernel must return the (len(A), len(B)) matrix of kernel values"
                )
            return cls(np.ascontiguousarray(values))
        base = np.empty((X.shape[0], X.shape[0]), dtype)
        update = {"rbf": _update_squared_distances, "laplacian": _update_l1}.get(kernel.name, _update_products)
        update(base, _centred(X) if kernel.is_exponential else X)
        return cls(base)

    def update_block(self, out: np.ndarray, kernel: Kernel, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into `out`, on the calling thread only."""
        if callable(kernel.name) or kernel.name == "precomputed":
            update_gathered(out, self.base, left, right)
            return
        scale = -kernel.gamma if kernel.is_exponential else kernel.scale
        values, none = np.empty((BAND, len(right)), self.base.dtype), np.zeros(max(BAND, len(right)), self.base.dtype)
        update = UPDATES[kernel.name]
        for i in range(0, len(left), BAND):
            part = left[i : i + BAND]
            update_gathered(values, self.base, part, right)
            band = values[: len(part)]
            update(band, none, none, scale, float(kernel.coef0), int(kernel.degree), out, i, 0)

    def diagonal(self, kernel: Kernel) -> np.ndarray:
        """The k(x, x), (n,) float64."""
        own = self.base.diagonal().astype(np.float64)
        if callable(kernel.name) or kernel.name == "precomputed":
            return own
        return kernel.of_squared_norms(own)


def _centred(X: Any) -> Any:
    """Dense rows less their mean: distances stay, products lose the large common part that would cost digits."""
    return X if sp.issparse(X) else X - X.mean(axis=0, dtype=np.float64)


def _bands(n: int) -> list[tuple[int, int]]:
    return [(i, min(i + BAND, n)) for i in range(0, n, BAND)]


def _tiles(X: Any, first: int, last: int) -> Iterator[tuple[int, np.ndarray]]:
    """<x_i, x_j> for a band of rows against all, float64, in tiles that stay in the processor's cache."""
    if sp.issparse(X):
        yield 0, (X[first:last] @ X.T).toarray()
        return
    band = X[first:last]
    for start in range(0, len(X), TILE):
        yield start, band @ X[start : start + TILE].T


def _update_products(base: np.ndarray, X: Any) -> None:
    X = X.astype(np.float64, copy=False)

    def band(first: int, last: int) -> None:
        for start, products in _tiles(X, first, last):
            base[first:last, start : start + products.shape[1]] = products

    threads.run(band, _bands(len(base)))


def _update_squared_distances(base: np.ndarray, X: Any) -> None:
    X = X.astype(np.float64, copy=False)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else np.einsum("ij,ij->i", X, X)

    def band(first: int, last: int) -> None:
        for start, products in _tiles(X, first, last):
            update_distances(base, products, squares, first, start)

    threads.run(band, _bands(len(base)))


def _update_l1(base: np.ndarray, X: Any) -> None:
    rows = np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, np.float64)
    columns = np.ascontiguousarray(rows.T)

    def band(first: int, last: int) -> None:
        values = np.empty((last - first, len(rows)))
        update_l1_distances(rows[first:last], columns, values)
        base[first:last] = values

    threads.run(band, _bands(len(base)))


@njit
def update_distances(out, products, squares, top, start):  # type: ignore[no-untyped-def]
    """out[top + i, start + j] = |x|^2 + |z|^2 - 2 <x, z>, at least 0, and 0 for a row with itself."""
    for i in range(products.shape[0]):
        source, own = products[i], squares[top + i]
        target, others = out[top + i, start : start + len(source)], squares[start : start + len(source)]
        for j in range(len(source)):
            target[j] = fmax(own + others[j] - 2.0 * source[j], 0.0)
        if start <= top + i < start + len(source):
            target[top + i - start] = 0.0
