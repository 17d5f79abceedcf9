"""Kernels whose values the user provides: a precomputed matrix, or a function that computes matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .base import Expansion, Kernel
from .gram import CachedGram, GramRows, MatrixGram, SharedValues, row_budget

EXPAND_VALUES = 1 << 22  # kernel values of a callable at a time
SYMMETRY_ROWS = 512  # compared at a time in the symmetry check, to keep its memory small


class Precomputed(Kernel):
    """X is the kernel matrix itself, (n, n) in training and (n_new, n) for new samples."""

    name = "precomputed"
    pairwise = True

    @classmethod
    def select(cls, X: Any, rows: Any, columns: Any) -> Any:
        return X[np.ix_(rows, columns)]

    @classmethod
    def vectors(cls, X: Any, used: Any) -> Any:
        return np.empty((0, 0), dtype=X.dtype)

    @classmethod
    def check_training_matrix(cls, X: Any) -> None:
        """Raise ValueError if X is not square and, up to the rounding of its dtype, symmetric."""
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

    def gram(self, X: Any, *, upper_bounds: np.ndarray, tol: float, cache_size: Any = "auto") -> GramRows:
        """X itself, made exactly symmetric."""
        return MatrixGram(_symmetric(_dense(X)))

    def expansion(self, support: np.ndarray, vectors: Any, coef: np.ndarray, dtype: Any = None) -> Expansion:
        return lambda X: np.asarray(X[:, support] @ coef, dtype=np.float64).ravel()

    def matrix(self, A: Any, B: Any) -> np.ndarray:
        raise TypeError("X is a kernel matrix: kernel values between other samples cannot be computed")

    def shared(self, X: Any, dtype: Any, allowed: float = 0.0) -> SharedValues:
        return SharedValues(_symmetric(X), dtype)


@dataclass(frozen=True, kw_only=True)
class CallableKernel(Kernel):
    """A function ``(A, B) -> (len(A), len(B))`` matrix, dense or sparse, called from the calling thread only."""

    function: Callable[[Any, Any], Any]

    name = "callable"

    def matrix(self, A: Any, B: Any) -> np.ndarray:
        """All kernel values (len(A), len(B)) float64; raise ValueError if the function returns another shape."""
        block = np.asarray(_dense(self.function(A, B)), dtype=np.float64)
        if block.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"kernel returned an array of shape {block.shape} for {A.shape[0]} samples against {B.shape[0]}; "
                "a callable kernel must return the (len(A), len(B)) matrix of kernel values"
            )
        if not np.isfinite(block).all():
            raise ValueError(
                f"kernel returned {block[~np.isfinite(block)][0]} among {block.shape[0]} x {block.shape[1]} values; a "
                "callable kernel must return finite numbers. Scale the features, or correct the function."
            )
        return block

    def gram(self, X: Any, *, upper_bounds: np.ndarray, tol: float, cache_size: Any = "auto") -> GramRows:
        return CachedGram(CallableGram(self, X), row_budget(cache_size, X.shape[0]))

    def expansion(self, support: np.ndarray, vectors: Any, coef: np.ndarray, dtype: Any = None) -> Expansion:
        step = max(1, EXPAND_VALUES // max(1, len(coef)))

        def sums(X: Any) -> np.ndarray:
            total = np.zeros(X.shape[0])
            for i in range(0, X.shape[0] if len(coef) else 0, step):
                total[i : i + step] = self.matrix(X[i : i + step], vectors) @ coef
            return total

        return sums

    def shared(self, X: Any, dtype: Any, allowed: float = 0.0) -> SharedValues:
        return SharedValues(self.matrix(X, X), dtype)


class CallableGram:
    """Kernel values of a callable, as the source of a `CachedGram`; they have no independent reference."""

    dtype = np.dtype(np.float64)

    def __init__(self, kernel: CallableKernel, X: Any):
        self.kernel, self.X, self.rank, self.errors = kernel, X, X.shape[0], np.zeros(X.shape[0])
        self.diagonal = kernel.diagonal_of(X)

    def update_block(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        out[: len(left), : len(right)] = self.reference_values(left, right)

    def reference_values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """K[left][:, right], by the same code."""
        return self.kernel.matrix(self.X[left], self.X[right])


def _symmetric(matrix: Any) -> Any:
    """The matrix made exactly symmetric: the solver treats K_ij and K_ji as one number."""
    return matrix if np.array_equal(matrix, matrix.T) else (matrix + matrix.T) / 2


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if sp.issparse(matrix) else matrix
