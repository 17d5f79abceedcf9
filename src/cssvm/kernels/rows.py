"""The Gram matrix as the solver wants it: blocks of it, and sums of its rows, within a byte budget.

A provider has ``n``, ``dtype``, ``diagonal`` (n,) float64, ``budget`` in bytes, and two verbs::

    update_block(out, left, right)                   out[: len(left), : len(right)] = K[left][:, right]
    subtract(total, indices, coef, columns=None)     total -= coef @ K[indices][:, columns]

`StreamedRows` computes both afresh. `StoredRows` is for kernels that are dear to compute: it keeps the rows it has
summed, the least recently used giving way when the budget is spent. `PrecomputedRows` looks them up.

Precision: `_precisions` lets kernel values be float32 where their rounding cannot move a decision value by more than
the tolerance of the fit allows, and has them in float64 otherwise, always so for small problems.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..runtime import threads
from ..runtime.sums import subtract_rows
from .blocks import DensePoints, Points, fill, fill_symmetric, prepare_points, subtract
from .functions import Kernel

EXACT_ROWS = 1500  # up to here float64 throughout costs milliseconds and makes small fits exact
EXACT_ROWS_UNBOUNDED = 4096  # the same for kernels without an exponential; pair steps alone can crawl on those
FLOAT32_ROUNDING = 2.0**-24 / 3**0.5  # root mean square of a relative rounding error
ROUNDING_ALLOWED = 4.0  # times tol; boxes overstate |beta| several times over
DEAR = 256  # features past which reading a stored row beats computing it again
DEAR_LAPLACIAN = 32  # the same for L1 distances, which BLAS does not do
DEAR_SPARSE = 10.0  # the same for the features two sparse rows share
SAMPLE = (64, 512)  # rows whose kernel values show how large a typical one is
FRESH_ROWS, FRESH_BYTES = 256, 1 << 26  # computed at a time for the store, at most
NORM_BLOCK = 1 << 14  # rows at a time
EXPAND_BLOCK = 1 << 22  # kernel values of a callable at a time
MIN_ROWS = 64  # kept at least, however small the budget
MEGABYTE = 1 << 20
SMALL_BUDGET = 64 * MEGABYTE


class StreamedRows:
    """Kernel values computed whenever they are asked for."""

    def __init__(self, points: Points, diagonal: np.ndarray, dtype: Any, budget: int):
        self.points, self.diagonal, self.dtype, self.budget = points, diagonal, np.dtype(dtype), budget
        self.n = len(diagonal)
        self._narrow: tuple[Any, Any] = (None, points)

    def update_block(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into the corner of `out`."""
        if right is left:
            fill_symmetric(self.points.take(left), out)
        else:
            fill(self.points.take(left), self.points.take(right), out)

    def subtract(self, total: np.ndarray, indices: np.ndarray, coef: np.ndarray, columns: Any = None) -> None:
        """Take the weighted sum of rows `indices`, at `columns`, from `total`."""
        subtract(self.points.take(indices), self._right(columns), coef, total, self.dtype)

    def _right(self, columns: Any) -> Points:
        """The points of these columns; those asked for last are kept, as the solver asks for the same many times."""
        if self._narrow[0] is not columns:
            self._narrow = (columns, self.points if columns is None else self.points.take(columns))
        return self._narrow[1]


class StoredRows:
    """Least-recently-used store of rows; `update_block` is the function of that name that computes them."""

    def __init__(
        self,
        update_block: Callable[[np.ndarray, np.ndarray, np.ndarray], None],
        diagonal: np.ndarray,
        dtype: Any,
        budget: int,
    ):
        self.update_block = update_block
        self.diagonal, self.dtype, self.budget = diagonal, np.dtype(dtype), budget
        self.n = len(diagonal)
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

    def subtract(self, total: np.ndarray, indices: np.ndarray, coef: np.ndarray, columns: Any = None) -> None:
        """Take the weighted sum of rows `indices`, at `columns`, from `total`."""
        for i in range(0, len(indices), self.capacity):
            part = slice(i, i + self.capacity)
            subtract_rows(total, self.store, self.fetch(indices[part]), coef[part], columns)


class PrecomputedRows:
    """A Gram matrix the user has computed: every row is at hand."""

    def __init__(self, gram: np.ndarray):
        self.gram = np.ascontiguousarray(gram)
        self.n, self.dtype, self.budget = len(gram), self.gram.dtype, memory_budget("auto", _two_matrices(len(gram)))
        self.diagonal = gram.diagonal().astype(np.float64)

    def update_block(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into the corner of `out`."""
        out[: len(left), : len(right)] = self.gram[np.ix_(left, right)]

    def subtract(self, total: np.ndarray, indices: np.ndarray, coef: np.ndarray, columns: Any = None) -> None:
        """Take the weighted sum of rows `indices`, at `columns`, from `total`."""
        subtract_rows(total, self.gram, indices, coef, columns)


def kernel_rows(kernel: Kernel, X: Any, *, boxes: np.ndarray, tol: float, cache_size: Any = "auto") -> Any:
    """The provider for the Gram matrix of `X`.

    Parameters
    ----------
    kernel : Kernel
    X : (n, d) array or CSR matrix; for a precomputed kernel the (n, n) Gram matrix
    boxes : (n,) float64
        Upper bounds of the dual variables; with `tol` they decide the precision of kernel values.
    tol : float
        Tolerance of the fit.
    cache_size : "auto" or float
        Budget for kernel values in megabytes; "auto" takes half of the memory available now.
    """
    if kernel.name == "precomputed":
        return PrecomputedRows(X.toarray() if sp.issparse(X) else X)
    budget = memory_budget(cache_size, _two_matrices(X.shape[0]))
    if callable(kernel.name):
        return _called_rows(kernel.name, X, budget)
    squares = _squared_norms(X, centred=kernel.is_exponential)
    diagonal = kernel.of_squared_norms(squares)
    compute, keep = _precisions(kernel, X, squares, boxes, tol)
    points, _ = prepare_points(kernel, X, X, compute)
    streamed = StreamedRows(points, diagonal, keep, budget)
    return StoredRows(streamed.update_block, diagonal, keep, budget) if _is_dear(points) else streamed


def _is_dear(points: Points) -> bool:
    """Whether a row costs more to compute than to read from memory."""
    n_rows, n_features = points.rows.shape
    if isinstance(points, DensePoints):
        return n_features > (DEAR_LAPLACIAN if points.kernel.name == "laplacian" else DEAR)
    used = np.bincount(points.rows.indices, minlength=n_features) / n_rows
    return float(used @ used) > DEAR_SPARSE


def _called_rows(function: Callable[..., Any], X: Any, budget: int) -> StoredRows:
    """Rows of the user's own kernel function, called with blocks of rows from the calling thread only."""

    def update_block(out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        block = np.asarray(function(X[left], X[right]), dtype=np.float64)
        if block.shape != (len(left), len(right)):
            raise ValueError(
                f"kernel returned an array of shape {block.shape} for {len(left)} rows against {len(right)}; "
                "a callable kernel must return the (len(A), len(B)) matrix of kernel values"
            )
        out[: len(left), : len(right)] = block

    diagonal = np.empty((X.shape[0], 1))
    for i in range(len(diagonal)):
        update_block(diagonal[i : i + 1], np.array([i]), np.array([i]))
    return StoredRows(update_block, diagonal.ravel(), np.float64, budget)


def _precisions(kernel: Kernel, X: Any, squares: np.ndarray, boxes: np.ndarray, tol: float) -> Any:
    """Precision of inner products and of kernel values, from the error that float32 would bring to a decision value.

    A decision value is the sum of n products beta_i K_i with |beta_i| <= boxes_i. Independent rounding errors of
    relative size u in K add up to about u k |boxes|_2 with k a typical kernel value, here the root mean square of a
    sample; the exponent of an rbf kernel brings u gamma (|x|^2 + |z|^2) more.
    """
    n = len(boxes)
    if n <= (EXACT_ROWS if kernel.is_exponential else EXACT_ROWS_UNBOUNDED):
        return np.float64, np.float64
    some, others = X[:: -(-n // SAMPLE[0])], X[:: -(-n // SAMPLE[1])]
    left, right = prepare_points(kernel, some, others, np.float64)
    values = np.empty((len(left), len(right)))
    fill(left, right, values)
    allowed = ROUNDING_ALLOWED * tol
    rounding = FLOAT32_ROUNDING * np.sqrt(np.mean(values**2)) * np.linalg.norm(boxes)
    if rounding > allowed:
        return np.float64, np.float64
    exponent = 1.0 + 2.0 * kernel.gamma * squares.max() if kernel.is_exponential else 1.0
    return (np.float64 if rounding * exponent > allowed else np.float32), np.float32


def _squared_norms(X: Any, *, centred: bool) -> np.ndarray:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    centre = X.mean(axis=0, dtype=np.float64) if centred else 0.0
    squares = np.empty(len(X))
    for i in range(0, len(X), NORM_BLOCK):
        part = X[i : i + NORM_BLOCK] - centre
        squares[i : i + NORM_BLOCK] = np.einsum("ij,ij->i", part, part)
    return squares


def expand(kernel: Kernel, X: Any, vectors: Any, coef: np.ndarray) -> np.ndarray:
    """Sum over j of ``coef[j] * k(X[i], vectors[j])`` for every row of `X`, (len(X),) float64.

    Computed in blocks and in float64. For a precomputed kernel `X` holds the kernel values themselves,
    (n, len(coef)), and `vectors` is ignored.
    """
    if kernel.name == "precomputed":
        return np.asarray(X @ coef, dtype=np.float64).ravel()
    total = np.zeros(X.shape[0])
    if not len(coef):
        return total
    step = NORM_BLOCK if not callable(kernel.name) else max(1, EXPAND_BLOCK // len(coef))
    with threads.own_threads():
        for i in range(0, X.shape[0], step):
            part = X[i : i + step]
            if callable(kernel.name):
                total[i : i + step] = np.asarray(kernel.name(part, vectors), dtype=np.float64) @ coef
            else:
                left, right = prepare_points(kernel, part, vectors, np.float64)
                subtract(right, left, -coef, total[i : i + step], np.float64)
    return total


def float32_suffices(kernel: Kernel, boxes: np.ndarray, tol: float) -> bool:
    """Whether float32 kernel values keep decision values within `tol`, going by their largest possible size.

    Only exponential kernels have one, 1; other kernels are said to need float64.
    """
    return kernel.is_exponential and FLOAT32_ROUNDING * float(np.linalg.norm(boxes)) <= ROUNDING_ALLOWED * tol


def memory_budget(cache_size: Any, wanted: int) -> int:
    """Bytes for kernel values: `cache_size` in megabytes, or "auto" for half of the memory available.

    Where little is `wanted`, which fits anywhere, the system is not asked.
    """
    if cache_size != "auto":
        return int(cache_size * MEGABYTE)
    return SMALL_BUDGET if wanted <= SMALL_BUDGET else available_bytes() // 2


def _two_matrices(n: int) -> int:
    """Bytes of two (n, n) matrices: what the solver can make use of."""
    return 2 * n * n * np.dtype(float).itemsize


def available_bytes() -> int:
    """Memory this process may still take: what the system has available, less where a control group allows less."""
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
