"""The Gram matrix as the solver wants it: blocks of it, and sums of its rows, within a byte budget.

A provider has ``n``, ``dtype``, ``diagonal`` (n,) float64, ``budget`` in bytes, a ``rank`` that K does not exceed, the
``errors`` (n,) that cancelling distances leave in kernel values of rows close to each other, ``computes_columns``,
which says whether a sum of fewer columns takes less time in proportion, two verbs, a witness, a substitute and a
shift::

    update_block(out, left, right)                               out[: len(left), : len(right)] = K[left][:, right]
    update_gradient(gradient, indices, change, columns=None)     gradient -= change @ K[indices][:, columns]
    by_definition(left, right)                                   K[left][:, right] in float64, by other code
    precise()                                                    a provider of values in float64
    intercept_offset(support, vectors, coef)                            what scores have more than the gradient here knows of

`ComputedGram` computes both afresh. `CachedGram` is for kernels that take long to compute: it keeps the rows it has
summed, the least recently used giving way when the budget is spent. `LinearGram` sum features in place of kernel
values. `MatrixGram` looks them up. `ScaledRows` multiplies those of another.


What the kernels of one family have in common, computed once for all pairs of rows.

Kernels computed from a relation share the relation of all pairs, kernels given by the user the kernel values
themselves. Any block of the Gram matrix, for any gamma, degree and coef0, is then one pass over these numbers.
Distances may be rounded to the precision of kernel values: an error of relative size u in gamma |x - z|^2 = e changes
exp(-e) by e exp(-e) u < u / 2.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .._runtime import threads
from .._runtime.memory import memory_budget
from .._runtime.sums import update_minus_rows
from .pairwise import far_centre
from .precision import error_allowed, precisions
from .tiles import Points, prepare_points, rounding_errors, update_minus_sums, update_symmetric_values, update_values

if TYPE_CHECKING:
    from .base import ComputedKernel
from .._runtime.sums import update_gathered
from .pairwise import PairwiseTerm, centred

FRESH_ROWS, FRESH_BYTES = 256, 1 << 26  # computed at a time for the store, at most
LINEAR_ROWS = 1 << 14  # whose products with a weight vector are one task
MIN_ROWS = 64  # kept at least, however small the budget


class RowSource(Protocol):
    """What computes the rows that are stored."""

    dtype: np.dtype
    diagonal: np.ndarray
    rank: int
    errors: np.ndarray

    def update_block(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into the corner of `out`."""

    def reference_values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """K[left][:, right] in float64, by other code."""


class ComputedGram:
    """Kernel values among rows X computed whenever they are asked for.

    The values of tiles are computed in one precision, kernel values kept in another; `allowed` is the error of a
    kernel value past which distances are taken by differences.
    """

    computes_columns = True

    def __init__(self, kernel: ComputedKernel, X: Any, dtypes: tuple[Any, Any], allowed: float, budget: int):
        self.kernel, self.X, self.allowed, self.budget = kernel, X, allowed, budget
        self.diagonal = kernel.from_term(kernel.term.diagonal_of(X))
        self.n = len(self.diagonal)
        self.rank = min(self.n, kernel.rank(X.shape[1]))
        self._prepare(*dtypes)

    def _prepare(self, compute: Any, keep: Any) -> None:
        self.points, _ = prepare_points(self.kernel, self.X, self.X, compute, self.allowed)
        self.errors, self.dtype = rounding_errors(self.points), np.dtype(keep)
        self._narrow: tuple[Any, Any] = (None, self.points)

    def update_block(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into the corner of `out`."""
        if right is left:
            update_symmetric_values(self.points.take(left), out)
        else:
            update_values(self.points.take(left), self.points.take(right), out)

    def update_gradient(
        self, gradient: np.ndarray, indices: np.ndarray, change: np.ndarray, columns: Any = None
    ) -> None:
        """Take the sum of rows `indices`, each times its change, at `columns`, from `gradient`."""
        update_minus_sums(self.points.take(indices), self._right(columns), change, gradient, self.dtype)

    def _right(self, columns: Any) -> Points:
        """The points of these columns; those asked for last are kept, as the solver asks for the same many times."""
        if self._narrow[0] is not columns:
            self._narrow = (columns, self.points if columns is None else self.points.take(columns))
        return self._narrow[1]

    def reference_values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """K[left][:, right] in float64, by SciPy."""
        return self.kernel.from_term(self.kernel.term.reference_values(self.X[left], self.X[right]))

    def to_float64(self) -> ComputedGram:
        """The same in float64."""
        if self.points.sizes.dtype == self.dtype == np.float64:
            return self
        other = copy(self)
        other._prepare(np.float64, np.float64)
        return other

    def intercept_offset(self, support: np.ndarray, vectors: Any, coef: np.ndarray) -> float:
        """Nothing."""
        return 0.0


class LinearGram(ComputedGram):
    """Inner products of rows relative to a centre: sum(beta) = 0, so that K beta changes by a constant only.

    That leaves digits for the differences between rows that are far from zero. Scores of the kernel itself have
    `intercept_offset` more. A sum of rows of K is one of the features, and then a product with each row.
    """

    def __init__(self, kernel: ComputedKernel, X: Any, dtypes: tuple[Any, Any], allowed: float, budget: int):
        self.centre = far_centre(X)
        super().__init__(kernel, X if self.centre is None else X - self.centre, dtypes, allowed, budget)

    def update_gradient(
        self, gradient: np.ndarray, indices: np.ndarray, change: np.ndarray, columns: Any = None
    ) -> None:
        """Take the sum of rows `indices`, each times its change, at `columns`, from `gradient`."""
        weights = change @ self.X[indices]

        def part(first: int, last: int) -> None:
            rows = self.X[first:last] if columns is None else self.X[columns[first:last]]
            gradient[first:last] -= rows @ weights

        threads.run(part, [(i, min(i + LINEAR_ROWS, len(gradient))) for i in range(0, len(gradient), LINEAR_ROWS)])

    def intercept_offset(self, support: np.ndarray, vectors: Any, coef: np.ndarray) -> float:
        """The sum at the centre, by the code of predictions: with another's rounding errors it would not cancel."""
        if self.centre is None:
            return 0.0
        return float(self.kernel.expand(self.centre[np.newaxis], support, vectors, coef)[0])


class CachedGram:
    """Least-recently-used store of the rows of a source."""

    computes_columns = False

    def __init__(self, source: RowSource, budget: int):
        self.source, self.budget = source, budget
        self.update_block, self.reference_values = source.update_block, source.reference_values
        self.diagonal, self.dtype, self.rank, self.errors = source.diagonal, source.dtype, source.rank, source.errors
        self.n = len(self.diagonal)
        half = budget // 2  # the solver's block of a working set has the other half
        self.capacity = int(min(self.n, max(MIN_ROWS, half // (self.n * self.dtype.itemsize))))
        self.store = np.empty((self.capacity, self.n), self.dtype)
        self._slot_of = np.full(self.n, -1, np.intp)
        self._row_in = np.full(self.capacity, -1, np.intp)
        self._used = np.zeros(self.capacity, np.int64)
        self._clock = 0

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

    def update_gradient(
        self, gradient: np.ndarray, indices: np.ndarray, change: np.ndarray, columns: Any = None
    ) -> None:
        """Take the sum of rows `indices`, each times its change, at `columns`, from `gradient`."""
        for i in range(0, len(indices), self.capacity):
            part = slice(i, i + self.capacity)
            update_minus_rows(gradient, self.store, self.fetch(indices[part]), change[part], columns)

    def to_float64(self) -> GramRows:
        """The same in float64; no longer stored, as the store of this one stays where it is."""
        if isinstance(self.source, ComputedGram) and self.dtype != np.float64:
            return self.source.to_float64()
        return self

    def intercept_offset(self, support: np.ndarray, vectors: Any, coef: np.ndarray) -> float:
        """Nothing."""
        return 0.0


class MatrixGram:
    """A Gram matrix in memory: every row is at hand."""

    computes_columns = False

    def __init__(self, gram: np.ndarray):
        self.gram = np.ascontiguousarray(gram)
        self.n, self.dtype, self.budget = len(gram), self.gram.dtype, row_budget("auto", len(gram))
        self.rank, self.errors = self.n, np.zeros(self.n)
        self.diagonal = gram.diagonal().astype(np.float64)

    def update_block(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into the corner of `out`."""
        out[: len(left), : len(right)] = self.gram[np.ix_(left, right)]

    def reference_values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """K[left][:, right]."""
        return self.gram[left][:, right].astype(np.float64)

    def update_gradient(
        self, gradient: np.ndarray, indices: np.ndarray, change: np.ndarray, columns: Any = None
    ) -> None:
        """Take the sum of rows `indices`, each times its change, at `columns`, from `gradient`."""
        update_minus_rows(gradient, self.gram, indices, change, columns)

    def to_float64(self) -> MatrixGram:
        """The matrix is as precise as it was given, but steps on it are not."""
        return self if self.dtype == np.float64 else MatrixGram(self.gram.astype(np.float64))

    def intercept_offset(self, support: np.ndarray, vectors: Any, coef: np.ndarray) -> float:
        """Nothing."""
        return 0.0


GramRows = ComputedGram | CachedGram | MatrixGram


def computed_rows(kernel: ComputedKernel, X: Any, *, upper_bounds: np.ndarray, tol: float, cache_size: Any) -> GramRows:
    """The provider for a kernel computed from a relation."""
    if kernel.is_linear:
        budget = row_budget(cache_size, X.shape[0])
        return LinearGram(kernel, X, precisions(kernel, X, upper_bounds, tol), error_allowed(upper_bounds, tol), budget)
    return rows_of_values(kernel, X, upper_bounds=upper_bounds, tol=tol, cache_size=cache_size)


def rows_of_values(
    kernel: ComputedKernel, X: Any, *, upper_bounds: np.ndarray, tol: float, cache_size: Any
) -> GramRows:
    """The values themselves: stored rows where they take long, in the precision needed."""
    budget, allowed = row_budget(cache_size, X.shape[0]), error_allowed(upper_bounds, tol)
    streamed = ComputedGram(kernel, X, precisions(kernel, X, upper_bounds, tol), allowed, budget)
    return CachedGram(streamed, budget) if streamed.points.is_costly else streamed


def row_budget(cache_size: Any, n: int) -> int:
    """Bytes for kernel values of n rows; the solver can make use of two (n, n) matrices."""
    return memory_budget(cache_size, 2 * n * n * np.dtype(float).itemsize)


BAND = 256  # rows at a time


class SharedValues(Protocol):
    """What the search asks of values that it computes once."""

    def update_block(self, out: np.ndarray, kernel: Any, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into `out`, on the calling thread only."""

    def diagonal(self, kernel: Any) -> np.ndarray:
        """The k(x, x), (n,) float64."""


class SharedTerm:
    """The relation of all pairs of n rows, for every kernel that is a function of it; threads may read it together."""

    def __init__(self, base: np.ndarray):
        self.base = base

    @classmethod
    def compute(cls, term: PairwiseTerm, X: Any, dtype: Any) -> SharedTerm:
        """Kept in `dtype`."""
        base = np.empty((X.shape[0], X.shape[0]), dtype)
        term.update_matrix(base, centred(X) if term.is_centred else X)
        return cls(base)

    def update_block(self, out: np.ndarray, kernel: ComputedKernel, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into `out`, on the calling thread only."""
        values = np.empty((BAND, len(right)), self.base.dtype)
        for i in range(0, len(left), BAND):
            part = left[i : i + BAND]
            update_gathered(values, self.base, part, right)
            kernel.update_from_term(values[: len(part)], out, i)

    def diagonal(self, kernel: ComputedKernel) -> np.ndarray:
        """The k(x, x), (n,) float64."""
        return kernel.from_term(self.base.diagonal().astype(np.float64))


class SharedMatrix:
    """Kernel values given by the user."""

    def __init__(self, values: Any, dtype: Any):
        self.base = np.ascontiguousarray(values, dtype)

    def update_block(self, out: np.ndarray, kernel: Any, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into `out`, on the calling thread only."""
        update_gathered(out, self.base, left, right)

    def diagonal(self, kernel: Any) -> np.ndarray:
        """The k(x, x), (n,) float64."""
        return self.base.diagonal().astype(np.float64)
