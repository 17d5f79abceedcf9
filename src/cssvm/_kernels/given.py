"""Kernels whose values the user provides: a matrix computed before, or a function that computes matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .base import Expansion, Kernel
from .gram import CachedGram, GramRows, MatrixGram, SharedMatrix, SharedValues, row_budget

EXPAND_VALUES = 1 << 22  # kernel values of a callable at a time
SYMMETRY_ROWS = 512  # compared at a time in the symmetry check, to keep its memory small


class Precomputed(Kernel):
    """X is the kernel matrix itself, (n, n) in training and (n_new, n) for new rows."""

    name = "precomputed"
    pairwise = True

    @classmethod
    def select(cls, X: Any, rows: Any, columns: Any) -> Any:
        """Rows and columns of the matrix."""
        return X[np.ix_(rows, columns)]

    @classmethod
    def vectors(cls, X: Any, used: Any) -> Any:
        """Empty: new rows come with their kernel values."""
        return np.empty((0, 0), dtype=X.dtype)

    @classmethod
    def check_training_matrix(cls, X: Any) -> None:
        """Refuse a matrix that is not square and symmetric, up to the rounding of its dtype."""
        n_rows, n_columns = X.shape
        if n_rows != n_columns:
            raise ValueError(
                f'X must be a square kernel matrix with kernel="{cls.name}"; got shape {X.shape}. '
                "Pass K(X, X) of shape (n_samples, n_samples) to fit, and K(X_new, X) to predict."
            )
        allowed = np.sqrt(np.finfo(X.dtype).eps) * np.abs(X).max()
        for start in range(0, n_rows, SYMMETRY_ROWS):
            block = slice(start, start + SYMMETRY_ROWS)
            difference = np.abs(X[block] - X[:, block].T)
            if difference.max() > allowed:
                i, j = np.unravel_index(difference.argmax(), difference.shape)
                raise ValueError(
                    f'X must be a symmetric kernel matrix with kernel="{cls.name}"; got '
                    f"X[{start + i}, {j}]={X[start + i, j]:g} and X[{j}, {start + i}]={X[j, start + i]:g}. "
                    "Pass K(X, X), or (X + X.T) / 2 if the difference is noise."
                )

    def rows(self, X: Any, *, upper_bounds: np.ndarray, tol: float, cache_size: Any = "auto") -> GramRows:
        """Rows looked up, of the symmetric matrix that X is up to rounding."""
        return MatrixGram(_symmetric(_dense(X)))

    def expansion(self, support: np.ndarray, vectors: Any, coef: np.ndarray, dtype: Any = None) -> Expansion:
        """A product with the columns of the support vectors."""
        return lambda X: np.asarray(X[:, support] @ coef, dtype=np.float64).ravel()

    def matrix(self, A: Any, B: Any) -> np.ndarray:
        """There are no features to compute them from."""
        raise TypeError("a kernel matrix was given: kernel values between other rows cannot be computed")

    def shared(self, X: Any, dtype: Any, allowed: float = 0.0) -> SharedValues:
        """The matrix itself."""
        return SharedMatrix(_symmetric(X), dtype)


@dataclass(frozen=True, kw_only=True)
class CallableKernel(Kernel):
    """A function ``(A, B) -> (len(A), len(B))`` matrix, dense or sparse, called from the calling thread only."""

    function: Callable[[Any, Any], Any]

    name = "callable"

    def matrix(self, A: Any, B: Any) -> np.ndarray:
        """Kernel values (len(A), len(B)) float64; a result of another shape is refused."""
        block = np.asarray(_dense(self.function(A, B)), dtype=np.float64)
        if block.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"kernel returned an array of shape {block.shape} for {A.shape[0]} rows against {B.shape[0]}; "
                "a callable kernel must return the (len(A), len(B)) matrix of kernel values"
            )
        if not np.isfinite(block).all():
            raise ValueError(
                f"kernel returned {block[~np.isfinite(block)][0]} among {block.shape[0]} x {block.shape[1]} values; a "
                "callable kernel must return finite numbers. Scale the features, or correct the function."
            )
        return block

    def rows(self, X: Any, *, upper_bounds: np.ndarray, tol: float, cache_size: Any = "auto") -> GramRows:
        """Rows stored as long as there is room."""
        return CachedGram(CallableGram(self, X), row_budget(cache_size, X.shape[0]))

    def expansion(self, support: np.ndarray, vectors: Any, coef: np.ndarray, dtype: Any = None) -> Expansion:
        """Computed in blocks of rows."""
        step = max(1, EXPAND_VALUES // max(1, len(coef)))

        def sums(X: Any) -> np.ndarray:
            total = np.zeros(X.shape[0])
            for i in range(0, X.shape[0] if len(coef) else 0, step):
                total[i : i + step] = self.matrix(X[i : i + step], vectors) @ coef
            return total

        return sums

    def shared(self, X: Any, dtype: Any, allowed: float = 0.0) -> SharedValues:
        """All kernel values."""
        return SharedMatrix(self.matrix(X, X), dtype)


class CallableGram:
    """Rows of a callable's matrix for `CachedGram`."""

    dtype = np.dtype(np.float64)

    def __init__(self, kernel: CallableKernel, X: Any):
        self.kernel, self.X, self.rank, self.errors = kernel, X, X.shape[0], np.zeros(X.shape[0])
        self.diagonal = kernel.diagonal_of(X)

    def update_block(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into the corner of `out`."""
        out[: len(left), : len(right)] = self.reference_values(left, right)

    def reference_values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """K[left][:, right]; there is no other way to have them."""
        return self.kernel.matrix(self.X[left], self.X[right])


def _symmetric(matrix: Any) -> Any:
    """A matrix that is symmetric up to rounding made so exactly: the solver takes K_ij and K_ji for one number."""
    return matrix if np.array_equal(matrix, matrix.T) else (matrix + matrix.T) / 2


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if sp.issparse(matrix) else matrix
