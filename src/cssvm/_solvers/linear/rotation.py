"""Rows with more features than there are rows, turned into no more features than rows.

With K = X X' and a factor K = Z Z', the rows of Z have the inner products of the rows of X: the problem is the same,
and its weights v in the features of Z are those of the function with w = X'beta, where Z'beta = v. Cholesky's method
with pivots finds Z of the rank of K, and a beta that is zero but for the pivots.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular

from ..._core.types import RowNumbers, Vector

RANK_SHARE = 1e-14  # of the largest k(x, x) and for each row, below which a pivot is rounding errors


class Rotated(NamedTuple):
    """Rows Z (n, rank) C-ordered, and what leads back from their weights to those of X."""

    Z: np.ndarray
    pivots: RowNumbers
    corner: np.ndarray

    def weights(self, X: Any, v: Vector) -> Vector:
        """The w of X, (n_features,), that belongs to v, (rank,)."""
        beta = solve_triangular(self.corner, v, lower=True, trans=1, check_finite=False)
        return np.asarray(X[self.pivots].T @ beta, dtype=np.float64)


def rotated(X: Any) -> Rotated:
    """Rows of X (n, n_features), an array or a CSR matrix, with at most n features instead."""
    X = X.astype(np.float64, copy=False)
    K = np.asarray((X @ X.T).toarray() if sparse.issparse(X) else X @ X.T)
    least = RANK_SHARE * len(K) * float(K.diagonal().max())
    factor, pivots, rank, _ = lapack.dpstrf(K, tol=least, lower=1)
    pivots = pivots - 1  # Fortran counts from 1
    if rank == 0:  # rows that are all zero
        return Rotated(np.zeros((len(K), 1)), pivots[:1], np.ones((1, 1)))
    Z = np.empty((len(K), rank))
    Z[pivots] = np.tril(factor)[:, :rank]
    return Rotated(Z, pivots[:rank], np.tril(factor[:rank, :rank]))
