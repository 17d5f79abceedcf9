"""Gram matrices: as the solver reads them, within a byte budget, and what all kernels of a search share.

Any block of a Gram matrix, for any gamma, degree and coef0, is one pass over the numbers of a `SharedTerm`. Distances
may be rounded to the precision of kernel values: a relative error u in gamma |x - z|^2 = e changes exp(-e) by
e exp(-e) u < u / 2.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._core.types import RowNumbers, Vector
from .._runtime import threads
from .._runtime.sums import update_gathered, update_minus_rows
from .pairwise import PairwiseTerm, far_centre
from .tiles import (
    error_allowed,
    precisions,
    prepare_points,
    rounding_errors,
    update_minus_sums,
    update_symmetric_values,
    update_values,
)

if TYPE_CHECKING:
    from .base import ComputedKernel

FRESH_ROWS, FRESH_BYTES = 256, 1 << 26  # computed at a time for the store, at most
LINEAR_ROWS = 1 << 14  # whose products with a weight vector are one task
MIN_ROWS = 64  # kept at least, however small the budget
BAND = 256  # rows of a shared matrix at a time
MEGABYTE = 1 << 20
SMALL_BUDGET = 64 * MEGABYTE  # bytes


class GramRows(ABC):
    """The Gram matrix K of n samples, as the solver uses it."""

    n: int
    dtype: np.dtype
    diagonal: np.ndarray  # (n,) float64
    budget: int  # bytes that the solver may use for kernel values
    rank: int  # upper bound, as far as is known without looking at K
    errors: np.ndarray  # (n,) float64, that cancelling distances leave in kernel values of samples close together
    computes_columns = False  # whether a sum over fewer columns takes less time; stored rows are read as a whole

    @abstractmethod
    def update_block(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into the top left corner of `out`, which may be larger."""

    @abstractmethod
    def update_gradient(self, gradient: Vector, indices: RowNumbers, change: Vector, columns: Any = None) -> None:
        """Subtract change @ K[indices][:, columns] from `gradient`; all columns if None."""

    @abstractmethod
    def reference_values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """K[left][:, right] in float64, computed by independent code."""

    def to_float64(self) -> GramRows:
        """The same matrix in float64, as far as more precision can be had."""
        return self

    def intercept_offset(self, support: np.ndarray, vectors: Any, coef: np.ndarray) -> float:
        """The constant by which scores exceed what the gradient shows, as with a centred linear kernel."""
        return 0.0


class ComputedGram(GramRows):
    """Kernel values among samples X, computed on demand.

    dtypes : of the values of tiles, and of kernel values; allowed : error above which distances are differences
    """

    computes_columns = True

    def __init__(self, kernel: ComputedKernel, X: Any, dtypes: tuple[Any, Any], allowed: float, budget: int):
        self.kernel, self.X, self.allowed, self.budget = kernel, X, allowed, budget
        self.diagonal = kernel.diagonal_of(X)
        self.n = len(self.diagonal)
        self.rank = min(self.n, kernel.rank(X.shape[1]))
        self._prepare(*dtypes)

    def _prepare(self, compute: Any, keep: Any) -> None:
        self.points, _ = prepare_points(self.kernel, self.X, self.X, compute, self.allowed)
        self.errors, self.dtype = rounding_errors(self.points), np.dtype(keep)
        self._narrow: tuple[Any, Any] = (None, self.points)  # the last columns summed, often the same many times

    def update_block(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        if right is left:
            update_symmetric_values(self.points.take(left), out)
        else:
            update_values(self.points.take(left), self.points.take(right), out)

    def update_gradient(self, gradient: Vector, indices: RowNumbers, change: Vector, columns: Any = None) -> None:
        if self._narrow[0] is not columns:
            self._narrow = (columns, self.points if columns is None else self.points.take(columns))
        update_minus_sums(self.points.take(indices), self._narrow[1], change, gradient, self.dtype)

    def reference_values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.kernel.from_term(self.kernel.term.reference_values(self.X[left], self.X[right]))

    def to_float64(self) -> ComputedGram:
        if self.points.sizes.dtype == self.dtype == np.float64:
            return self
        other = copy(self)
        other._prepare(np.float64, np.float64)
        return other


class LinearGram(ComputedGram):
    """Inner products relative to a centre: with sum(beta) = 0, K beta changes by a constant, the `intercept_offset`.

    A sum of rows of K is a sum of features, followed by a product with each sample.
    """

    def __init__(self, kernel: ComputedKernel, X: Any, dtypes: tuple[Any, Any], allowed: float, budget: int):
        self.centre = far_centre(X)
        super().__init__(kernel, X if self.centre is None else X - self.centre, dtypes, allowed, budget)

    def update_gradient(self, gradient: Vector, indices: RowNumbers, change: Vector, columns: Any = None) -> None:
        weights = change @ self.X[indices]

        def part(first: int, last: int) -> None:
            rows = self.X[first:last] if columns is None else self.X[columns[first:last]]
            gradient[first:last] -= rows @ weights

        threads.run(part, [(i, min(i + LINEAR_ROWS, len(gradient))) for i in range(0, len(gradient), LINEAR_ROWS)])

    def intercept_offset(self, support: np.ndarray, vectors: Any, coef: np.ndarray) -> float:
        """The score of the centre, by the code of predictions: other rounding errors would not cancel."""
        if self.centre is None:
            return 0.0
        return float(self.kernel.expand(self.centre[np.newaxis], support, vectors, coef)[0])


class CachedGram(GramRows):
    """Least-recently-used store of the rows of a source, which computes blocks: a `ComputedGram` or `CallableGram`."""

    def __init__(self, source: Any, budget: int):
        self.source, self.budget = source, budget
        self.diagonal, self.dtype, self.rank, self.errors = source.diagonal, source.dtype, source.rank, source.errors
        self.n = len(self.diagonal)
        half = budget // 2  # the solver's block of a working set has the other half
        self.capacity = int(min(self.n, max(MIN_ROWS, half // (self.n * self.dtype.itemsize))))
        self.store = np.empty((self.capacity, self.n), self.dtype)
        self._slot_of = np.full(self.n, -1, np.intp)
        self._row_in = np.full(self.capacity, -1, np.intp)
        self._used = np.zeros(self.capacity, np.int64)
        self._clock = 0

    def update_block(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        self.source.update_block(out, left, right)

    def reference_values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.source.reference_values(left, right)

    def fetch(self, indices: np.ndarray) -> np.ndarray:
        """Make up to `capacity` rows available and return their places in `store`, valid until the next fetch."""
        self._clock += 1
        held = self._slot_of[indices]
        self._used[held[held >= 0]] = self._clock
        missing = indices[held < 0]
        if len(missing):
            slots = np.sort(np.argsort(self._used, kind="stable")[: len(missing)])
            evicted = self._row_in[slots]
            self._slot_of[evicted[evicted >= 0]] = -1
            self._row_in[slots] = -1  # stays so if the computation is interrupted
            step = min(FRESH_ROWS, max(1, FRESH_BYTES // (self.n * self.dtype.itemsize)))
            for i in range(0, len(missing), step):
                self._compute(missing[i : i + step], slots[i : i + step])
            self._row_in[slots], self._slot_of[missing], self._used[slots] = missing, slots, self._clock
        return self._slot_of[indices]

    def _compute(self, missing: np.ndarray, slots: np.ndarray) -> None:
        """Compute rows where they belong or, if their places are scattered, in a block of their own first."""
        together = slots[-1] - slots[0] == len(slots) - 1
        block = self.store[slots[0] : slots[-1] + 1] if together else np.empty((len(slots), self.n), self.dtype)
        self.update_block(block, missing, np.arange(self.n))
        if not together:
            self.store[slots] = block

    def update_gradient(self, gradient: Vector, indices: RowNumbers, change: Vector, columns: Any = None) -> None:
        for i in range(0, len(indices), self.capacity):
            part = slice(i, i + self.capacity)
            update_minus_rows(gradient, self.store, self.fetch(indices[part]), change[part], columns)

    def to_float64(self) -> GramRows:
        """Computed in float64, and no longer stored: the store of this one stays where it is."""
        if isinstance(self.source, ComputedGram) and self.dtype != np.float64:
            return self.source.to_float64()
        return self


class MatrixGram(GramRows):
    """A Gram matrix in memory."""

    def __init__(self, gram: np.ndarray):
        self.gram = np.ascontiguousarray(gram)
        self.n, self.dtype, self.budget = len(gram), self.gram.dtype, row_budget("auto", len(gram))
        self.rank, self.errors = self.n, np.zeros(self.n)
        self.diagonal = gram.diagonal().astype(np.float64)

    def update_block(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        out[: len(left), : len(right)] = self.gram[np.ix_(left, right)]

    def update_gradient(self, gradient: Vector, indices: RowNumbers, change: Vector, columns: Any = None) -> None:
        update_minus_rows(gradient, self.gram, indices, change, columns)

    def reference_values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.gram[left][:, right].astype(np.float64)

    def to_float64(self) -> MatrixGram:
        """The values are no more precise than they were given, but steps on them are."""
        return self if self.dtype == np.float64 else MatrixGram(self.gram.astype(np.float64))


def computed_gram(kernel: ComputedKernel, X: Any, *, upper_bounds: np.ndarray, tol: float, cache_size: Any) -> GramRows:
    """The Gram matrix of samples X in the precision needed: stored where values are costly to compute."""
    budget, allowed = row_budget(cache_size, X.shape[0]), error_allowed(upper_bounds, tol)
    dtypes = precisions(kernel, X, upper_bounds, tol)
    if kernel.is_linear:
        return LinearGram(kernel, X, dtypes, allowed, budget)
    computed = ComputedGram(kernel, X, dtypes, allowed, budget)
    return CachedGram(computed, budget) if computed.points.is_costly else computed


def row_budget(cache_size: Any, n: int) -> int:
    """Bytes for kernel values of n samples; the solver can make use of two (n, n) matrices."""
    return memory_budget(cache_size, 2 * n * n * np.dtype(float).itemsize)


def memory_budget(cache_size: Any, wanted: int) -> int:
    """Bytes for kernel values: `cache_size` in megabytes, or "auto" for half of the memory available."""
    if cache_size != "auto":
        return int(cache_size * MEGABYTE)
    return SMALL_BUDGET if wanted <= SMALL_BUDGET else available_bytes() // 2  # that asks the system


def available_bytes() -> int:
    """Memory that this process may still take: available to the system, or allowed by its control group."""
    limits = []
    try:
        with open("/proc/meminfo") as lines:
            limits += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
        with open("/sys/fs/cgroup/memory.max") as limit, open("/sys/fs/cgroup/memory.current") as current:
            limits.append(int(limit.read()) - int(current.read()))
    except (OSError, ValueError):  # no such file on this system, or no limit set ("max")
        pass
    if not limits and hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
        limits.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return max(SMALL_BUDGET, min(limits, default=1024 * MEGABYTE))


class SharedValues:
    """Kernel values of all pairs of samples, given by the user; threads may read them together."""

    def __init__(self, values: Any, dtype: Any):
        self.base = np.ascontiguousarray(values, dtype)

    def update_block(self, out: np.ndarray, kernel: Any, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into `out`, on the calling thread only."""
        update_gathered(out, self.base, left, right)

    def diagonal(self, kernel: Any) -> np.ndarray:
        """The k(x, x), (n,) float64."""
        return self.base.diagonal().astype(np.float64)


class SharedTerm(SharedValues):
    """The pairwise term of all pairs of samples, from which every kernel that is a function of it is computed."""

    @classmethod
    def from_samples(cls, term: PairwiseTerm, X: Any, dtype: Any) -> SharedTerm:
        """Computed from samples X (n, d), kept in `dtype`; sparse ones stay sparse, without a centre."""
        base = np.empty((X.shape[0], X.shape[0]), dtype)
        term.update_matrix(base, X - X.mean(axis=0, dtype=np.float64) if term.is_centred and not sp.issparse(X) else X)
        return cls(base, dtype)

    def update_block(self, out: np.ndarray, kernel: ComputedKernel, left: np.ndarray, right: np.ndarray) -> None:
        values = np.empty((BAND, len(right)), self.base.dtype)
        for i in range(0, len(left), BAND):
            part = left[i : i + BAND]
            update_gathered(values, self.base, part, right)
            kernel.update_from_term(values[: len(part)], out, i)

    def diagonal(self, kernel: ComputedKernel) -> np.ndarray:
        return kernel.from_term(super().diagonal(kernel))
