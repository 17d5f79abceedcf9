"""The Gram matrix as the solver wants it: blocks of it, and sums of its rows, within a byte budget.

A provider has ``n``, ``dtype``, ``diagonal`` (n,) float64, ``budget`` in bytes, a ``rank`` that K does not exceed, the
``errors`` (n,) that cancelling distances leave in kernel values of rows close to each other, ``computes_columns``,
which says whether a sum of fewer columns takes less time in proportion, two verbs, a witness, a substitute and a
shift::

    update_block(out, left, right)                               out[: len(left), : len(right)] = K[left][:, right]
    update_gradient(gradient, indices, change, columns=None)     gradient -= change @ K[indices][:, columns]
    by_definition(left, right)                                   K[left][:, right] in float64, by other code
    precise()                                                    a provider of values in float64
    at_centre(support, vectors, coef)                            what scores have more than the gradient here knows of

`ComputedGram` computes both afresh. `CachedGram` is for kernels that take long to compute: it keeps the rows it has
summed, the least recently used giving way when the budget is spent. `LinearRows` sum features in place of kernel
values. `MatrixRows` looks them up. `ScaledRows` multiplies those of another.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .._runtime import threads
from .._runtime.memory import memory_budget
from .._runtime.sums import update_minus_rows
from .precision import error_allowed, precisions
from .relations import far_centre
from .tiles import Points, prepare_points, rounding_errors, update_minus_sums, update_symmetric_values, update_values

if TYPE_CHECKING:
    from .base import ComputedKernel

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

    def by_definition(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """K[left][:, right] in float64, by other code."""


class ComputedGram:
    """Kernel values among rows X computed whenever they are asked for.

    The values of tiles are computed in one precision, kernel values kept in another; `allowed` is the error of a
    kernel value past which distances are taken by differences.
    """

    computes_columns = True

    def __init__(self, kernel: ComputedKernel, X: Any, dtypes: tuple[Any, Any], allowed: float, budget: int):
        self.kernel, self.X, self.allowed, self.budget = kernel, X, allowed, budget
        self.diagonal = kernel.of_relation(kernel.relation.own(X))
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

    def by_definition(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """K[left][:, right] in float64, by SciPy."""
        return self.kernel.of_relation(self.kernel.relation.by_definition(self.X[left], self.X[right]))

    def precise(self) -> ComputedGram:
        """The same in float64."""
        if self.points.sizes.dtype == self.dtype == np.float64:
            return self
        other = copy(self)
        other._prepare(np.float64, np.float64)
        return other

    def at_centre(self, support: np.ndarray, vectors: Any, coef: np.ndarray) -> float:
        """Nothing."""
        return 0.0


class LinearRows(ComputedGram):
    """Inner products of rows relative to a centre: sum(beta) = 0, so that K beta changes by a constant only.

    That leaves digits for the differences between rows that are far from zero. Scores of the kernel itself have
    `at_centre` more. A sum of rows of K is one of the features, and then a product with each row.
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

    def at_centre(self, support: np.ndarray, vectors: Any, coef: np.ndarray) -> float:
        """The sum at the centre, by the code of predictions: with another's rounding errors it would not cancel."""
        if self.centre is None:
            return 0.0
        return float(self.kernel.expand(self.centre[np.newaxis], support, vectors, coef)[0])


class CachedGram:
    """Least-recently-used store of the rows of a source."""

    computes_columns = False

    def __init__(self, source: RowSource, budget: int):
        self.source, self.budget = source, budget
        self.update_block, self.by_definition = source.update_block, source.by_definition
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

    def precise(self) -> GramRows:
        """The same in float64; no longer stored, as the store of this one stays where it is."""
        if isinstance(self.source, ComputedGram) and self.dtype != np.float64:
            return self.source.precise()
        return self

    def at_centre(self, support: np.ndarray, vectors: Any, coef: np.ndarray) -> float:
        """Nothing."""
        return 0.0


class MatrixRows:
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

    def by_definition(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """K[left][:, right]."""
        return self.gram[left][:, right].astype(np.float64)

    def update_gradient(
        self, gradient: np.ndarray, indices: np.ndarray, change: np.ndarray, columns: Any = None
    ) -> None:
        """Take the sum of rows `indices`, each times its change, at `columns`, from `gradient`."""
        update_minus_rows(gradient, self.gram, indices, change, columns)

    def precise(self) -> MatrixRows:
        """The matrix is as precise as it was given, but steps on it are not."""
        return self if self.dtype == np.float64 else MatrixRows(self.gram.astype(np.float64))

    def at_centre(self, support: np.ndarray, vectors: Any, coef: np.ndarray) -> float:
        """Nothing."""
        return 0.0


class ScaledRows:
    """Another provider's kernel values, row i and column i multiplied by a scaling (n,) of its own."""

    n: int
    rank: int
    budget: int
    dtype: np.dtype
    computes_columns: bool
    diagonal: np.ndarray
    errors: np.ndarray

    def __init__(self, rows: GramRows, scaling: np.ndarray):
        self.rows, self.scaling = rows, scaling
        self.n, self.dtype, self.rank, self.budget = rows.n, rows.dtype, rows.rank, rows.budget
        self.computes_columns = rows.computes_columns
        self.diagonal = scaling**2 * rows.diagonal
        self.errors = scaling * scaling.max() * rows.errors

    def update_block(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into the corner of `out`."""
        self.rows.update_block(out, left, right)
        # One factor for both: of a symmetric block a product with one scaling after the other is not symmetric.
        out[: len(left), : len(right)] *= np.multiply.outer(self.scaling[left], self.scaling[right])

    def update_gradient(
        self, gradient: np.ndarray, indices: np.ndarray, change: np.ndarray, columns: Any = None
    ) -> None:
        """Take the sum of rows `indices`, each times its change, at `columns`, from `gradient`."""
        sums = np.zeros_like(gradient)
        self.rows.update_gradient(sums, indices, change * self.scaling[indices], columns)
        gradient += sums * (self.scaling if columns is None else self.scaling[columns])

    def by_definition(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """K[left][:, right] in float64."""
        return self.rows.by_definition(left, right) * np.multiply.outer(self.scaling[left], self.scaling[right])

    def precise(self) -> ScaledRows:
        """The same in float64."""
        precise = self.rows.precise()
        return self if precise is self.rows else ScaledRows(precise, self.scaling)

    def at_centre(self, support: np.ndarray, vectors: Any, coef: np.ndarray) -> float:
        """Nothing."""
        return 0.0


GramRows = ComputedGram | CachedGram | MatrixRows | ScaledRows


def computed_rows(kernel: ComputedKernel, X: Any, *, upper_bounds: np.ndarray, tol: float, cache_size: Any) -> GramRows:
    """The provider for a kernel computed from a relation."""
    if kernel.is_linear:
        budget = row_budget(cache_size, X.shape[0])
        return LinearRows(kernel, X, precisions(kernel, X, upper_bounds, tol), error_allowed(upper_bounds, tol), budget)
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
