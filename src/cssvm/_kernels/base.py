"""What every kernel states about itself, and what can be done with it.

Estimators and searches use the methods of `Kernel` and never ask which it is.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .._core.types import Vector
from .._runtime import threads
from .gram import GramRows, SharedTerm, SharedValues, computed_gram
from .pairwise import PairwiseTerm, centred_sizes
from .tiles import (
    KERNEL_ERROR,
    SCORE_TOL,
    cancellation,
    error_allowed,
    prediction_precision,
    prepare_points,
    prepare_vectors,
    update_minus_sums,
    update_values,
)

EXPAND_ROWS = 1 << 14  # samples predicted at a time
BLOCK_ENTRIES = 1 << 20  # entries of X turned to centred float64 at a time
DIAGONAL_ROWS = 64  # samples whose kernel values are computed to get their diagonal: few calls, few values

Expansion = Callable[[Any], np.ndarray]


@dataclass(frozen=True)
class Kernel(ABC):
    """A kernel k with its parameters; those that it does not have keep their default."""

    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    name: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]] = ()  # which of gamma, degree and coef0 it has
    tolerates_rounding: ClassVar[bool] = False  # a relative error u of its pairwise term changes k by at most u
    positive_definite: ClassVar[bool] = False  # k(x, z) = <phi(x), phi(z)>, for parameters in their usual ranges
    is_linear: ClassVar[bool] = False  # phi(x) = x
    pairwise: ClassVar[bool] = False  # X is the kernel matrix instead of features

    @classmethod
    def select(cls, X: Any, rows: Any, columns: Any) -> Any:
        """The given rows of X; of a kernel matrix also only the given columns."""
        return X[rows]

    @classmethod
    def vectors(cls, X: Any, used: Any) -> Any:
        """The support vectors among the rows of X."""
        return X[used]

    @classmethod
    def check_training_matrix(cls, X: Any) -> None:
        """Raise ValueError if this kernel cannot be trained on X; any features will do here."""
        return

    @classmethod
    def gamma_unit(cls, spread: float, n_features: int) -> float:
        """The gamma to which a search for gamma is relative, for features whose variances sum to `spread`."""
        return 1.0

    @abstractmethod
    def gram(self, X: Any, *, upper_bounds: np.ndarray, tol: float, cache_size: Any = "auto") -> GramRows:
        """The Gram matrix of X for the solver, in the precision that `upper_bounds` (n,) and `tol` demand.

        X : (n, d) array or CSR matrix, or an (n, n) kernel matrix; cache_size : in megabytes, or "auto" for half of the
        memory available
        """

    def diagonal_of(self, X: Any) -> np.ndarray:
        """The k(x, x) of the samples X, (len(X),) float64."""
        parts = [X[i : i + DIAGONAL_ROWS] for i in range(0, X.shape[0], DIAGONAL_ROWS)]
        return np.concatenate([self.matrix(part, part).diagonal() for part in parts])

    def expansion_dtype(self, vectors: Any, coef: np.ndarray) -> Any:
        """Precision in which `expansion` computes with these vectors."""
        return np.float64

    @abstractmethod
    def expansion(self, support: np.ndarray, vectors: Any, coef: np.ndarray, dtype: Any = None) -> Expansion:
        """The function X -> sum over j of ``coef[j] * k(X[i], vectors[j])``, (len(X),) float64.

        support : (n_SV,) row numbers of the training X; vectors : those rows; dtype : their `expansion_dtype`, if known
        """

    def expand(self, X: Any, support: np.ndarray, vectors: Any, coef: np.ndarray, dtype: Any = None) -> np.ndarray:
        """The `expansion` at X."""
        return self.expansion(support, vectors, coef, dtype)(X)

    @abstractmethod
    def matrix(self, A: Any, B: Any) -> np.ndarray:
        """All kernel values (len(A), len(B)) float64."""

    @abstractmethod
    def shared(self, X: Any, dtype: Any, allowed: float = KERNEL_ERROR) -> SharedValues:
        """What all kernels of this class and gamma, or less, share on X; `allowed` is the error of their values."""


class ComputedKernel(Kernel):
    """A kernel that is a function of a pairwise term: k(x, z) = function(gamma term(x, z), ...)."""

    term: ClassVar[PairwiseTerm]
    remedy: ClassVar[str] = ""  # completes the advice to scale the features
    lipschitz: ClassVar[float] = 1.0  # largest |dk/dt| for t = gamma times the term; only read for distances

    @classmethod
    def gamma_unit(cls, spread: float, n_features: int) -> float:
        return 1.0 / cls.term.scale(spread, n_features) if spread > 0 else 1.0

    def rank(self, n_features: int) -> int:
        """Upper bound of the rank of a matrix of kernel values, whatever the number of samples."""
        return sys.maxsize

    def check_finite(self, X: Any) -> None:
        """Raise ValueError if values of this kernel among the samples X overflow."""
        if self.term.is_distance:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            bound = self.bound(float(self.term.sizes(X).max(initial=0.0)))
        if not np.isfinite(bound):
            largest = np.abs(X.data if sp.issparse(X) else X).max(initial=0.0)
            raise ValueError(
                f'kernel="{self.name}" overflows on this X, whose entries are as large as {largest:.3g}. Scale the '
                f"features, for example with StandardScaler{self.remedy}."
            )

    def bound(self, size: float) -> float:
        """Upper bound of |k| and of all intermediate results, for samples of at most this size."""
        return 1.0

    @abstractmethod
    def update_tile(self, values: Any, left: Any, right: Any, factor: float, out: Any, top: int, start: int) -> None:
        """Write kernel values into `out` at (top, start), from the values of a tile and gamma times the sizes."""

    def update_from_term(self, values: np.ndarray, out: np.ndarray, top: int) -> None:
        """Write kernel values into the rows of `out` from `top` on, from values of the whole term."""
        zeros = np.zeros(max(values.shape), values.dtype)
        self.update_tile(values, zeros, zeros, 1.0, out, top, 0)

    @abstractmethod
    def from_term(self, values: np.ndarray) -> np.ndarray:
        """The kernel as a function of the term, float64, by NumPy."""

    def diagonal_of(self, X: Any) -> np.ndarray:
        return self.from_term(self.term.diagonal_of(X))

    def gram(self, X: Any, *, upper_bounds: np.ndarray, tol: float, cache_size: Any = "auto") -> GramRows:
        self.check_finite(X)
        return computed_gram(self, X, upper_bounds=upper_bounds, tol=tol, cache_size=cache_size)

    def expansion_dtype(self, vectors: Any, coef: np.ndarray) -> Any:
        """Float32 where its rounding is negligible."""
        return prediction_precision(self, vectors, coef)

    def expansion(self, support: np.ndarray, vectors: Any, coef: np.ndarray, dtype: Any = None) -> Expansion:
        if not len(coef):
            return lambda X: np.zeros(X.shape[0])
        with threads.single_threaded_blas():
            kind = self.expansion_dtype(vectors, coef) if dtype is None else dtype
            points = prepare_vectors(self, vectors, kind, error_allowed(coef, SCORE_TOL))

        def sums(X: Any) -> np.ndarray:
            total = np.zeros(X.shape[0])
            with threads.single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
                for i in range(0, X.shape[0], EXPAND_ROWS):
                    rows = points.prepare_like(X[i : i + EXPAND_ROWS])
                    update_minus_sums(points, rows, -coef, total[i : i + EXPAND_ROWS], kind)
            return total

        return sums

    def matrix(self, A: Any, B: Any) -> np.ndarray:
        out = np.empty((A.shape[0], B.shape[0]))
        with threads.single_threaded_blas():
            update_values(*prepare_points(self, A, B, np.float64), out)
        return out

    def shared(self, X: Any, dtype: Any, allowed: float = KERNEL_ERROR) -> SharedValues:
        self.check_finite(X)
        with np.errstate(over="ignore", invalid="ignore"):
            exact = cancellation(self, centred_sizes(self.term, X)) <= allowed
        return SharedTerm.from_samples(self.term if exact else self.term.by_differences, X, dtype)


def feature_moments(X: Any, weights: Vector) -> tuple[Vector, Vector]:
    """Mean and variance of each column of X, dense or CSR, (n_features,) float64 each, under weights (n_samples,).

    The second pass is centred: E[x^2] - E[x]^2 would lose the digits of features that are far from zero.
    """
    if not weights.all():  # the same sums, to the last digit, as without these rows
        X, weights = X[weights > 0.0], weights[weights > 0.0]
    share = weights / weights.sum()
    if sp.issparse(X):
        return _sparse_moments(X, share)
    step = max(1, BLOCK_ENTRIES // max(1, X.shape[1]))
    parts = [slice(i, i + step) for i in range(0, X.shape[0], step)]
    mean = np.sum([share[part] @ X[part].astype(np.float64, copy=False) for part in parts], axis=0)
    return mean, np.sum([share[part] @ (X[part] - mean) ** 2 for part in parts], axis=0)


def _sparse_moments(X: Any, share: Vector) -> tuple[Vector, Vector]:
    n_features = X.shape[1]
    stored, data = np.repeat(share, np.diff(X.indptr)), X.data.astype(np.float64, copy=False)
    mean: Vector = np.asarray(share @ X, dtype=np.float64).ravel()
    spread = np.bincount(X.indices, weights=stored * (data - mean[X.indices]) ** 2, minlength=n_features)
    # Entries that are not stored are zero; where all are stored, rounding must not leave a share for them.
    missing = np.maximum(1.0 - np.bincount(X.indices, weights=stored, minlength=n_features), 0.0)
    missing[np.bincount(X.indices, minlength=n_features) == X.shape[0]] = 0.0
    return mean, spread + missing * mean**2
