"""Rows of the Gram matrix, computed when asked for and kept while the byte budget lasts.

The solver sees this much of a kernel:

* ``n``, ``dtype`` and ``diagonal`` (n,) float64;
* ``capacity``: how many rows can be held at once;
* ``fetch(indices) -> slots``: afterwards row ``indices[i]`` is ``store[slots[i]]``, until the next fetch;
* ``product(indices, coef)``: the sum of those rows weighted by `coef`, (n,) float64, without keeping them.

While the whole matrix fits the budget no row is computed twice; past that the least recently used rows give way.
Precision: `_precisions` keeps rows in float32 where their rounding cannot move a decision value by more than the
tolerance of the fit allows, and in float64 otherwise, always so for small problems.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _threads
from .blocks import Blocks, kernel_blocks
from .functions import Kernel

EXACT_ROWS = 1500  # up to here float64 throughout costs milliseconds and makes small fits exact
FLOAT32_ROUNDING = 2.0**-24 / 3**0.5  # root mean square of a relative rounding error
ROUNDING_ALLOWED = 4.0  # times tol; boxes overstate |beta| several times over
MEGABYTE = 1 << 20
NORM_BLOCK = 1 << 14  # rows at a time
EXPAND_BLOCK = 1 << 22  # kernel values at a time
MIN_ROWS = 64  # what a working set needs at least, however small the budget


class GramRows:
    """Least-recently-used store of Gram matrix rows over a block provider."""

    def __init__(self, blocks: Blocks, diagonal: np.ndarray, dtype: Any, budget: int):
        self.blocks, self.diagonal, self.dtype = blocks, diagonal, np.dtype(dtype)
        self.n = len(diagonal)
        self.capacity = int(min(self.n, max(MIN_ROWS, budget // (self.n * self.dtype.itemsize))))
        self.store = np.empty((self.capacity, self.n), self.dtype)
        self._slot_of = np.full(self.n, -1, np.intp)
        self._row_in = np.full(self.capacity, -1, np.intp)
        self._used = np.zeros(self.capacity, np.int64)
        self._clock = 0

    def fetch(self, indices: np.ndarray) -> np.ndarray:
        """Make the rows available and return their places in `store`."""
        if len(indices) > self.capacity:
            raise ValueError(f"{len(indices)} rows asked for at once, but the store holds {self.capacity}")
        self._clock += 1
        held = self._slot_of[indices]
        self._used[held[held >= 0]] = self._clock
        missing = indices[held < 0]
        if len(missing):
            slots = self._free_slots(len(missing))
            self.blocks.fill(missing, self.store, slots)
            self._row_in[slots] = missing
            self._slot_of[missing] = slots
            self._used[slots] = self._clock
        return self._slot_of[indices]

    def _free_slots(self, count: int) -> np.ndarray:
        slots = np.argsort(self._used, kind="stable")[:count]
        evicted = self._row_in[slots]
        self._slot_of[evicted[evicted >= 0]] = -1
        self._row_in[slots] = -1
        return slots

    def product(self, indices: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Sum of rows `indices` weighted by `coef`."""
        total = np.zeros(self.n)
        for i in range(0, len(indices), self.capacity):
            part = slice(i, i + self.capacity)
            total += coef[part] @ self.store[self.fetch(indices[part])]
        return total


class PrecomputedRows:
    """A Gram matrix the user has computed: every row is at hand."""

    def __init__(self, gram: np.ndarray):
        self.store = np.ascontiguousarray(gram)
        self.n = self.capacity = len(gram)
        self.dtype = self.store.dtype
        self.diagonal = gram.diagonal().astype(np.float64)

    def fetch(self, indices: np.ndarray) -> np.ndarray:
        """Rows are where the user put them."""
        return indices

    def product(self, indices: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Sum of rows `indices` weighted by `coef`."""
        return coef @ self.store[indices].astype(np.float64)


def kernel_rows(kernel: Kernel, X: Any, *, boxes: np.ndarray, tol: float, cache_size: Any = "auto") -> Any:
    """The Gram matrix of `X` as the solver wants it.

    Parameters
    ----------
    kernel : Kernel
    X : (n, d) array or CSR matrix; for a precomputed kernel the (n, n) Gram matrix
    boxes : (n,) float64
        Upper bounds of the dual variables; with `tol` they decide the precision rows are kept in.
    tol : float
        Tolerance of the fit.
    cache_size : "auto" or float
        Budget for rows in megabytes; "auto" takes half of the memory available now.
    """
    if kernel.name == "precomputed":
        return PrecomputedRows(X.toarray() if sp.issparse(X) else X)
    budget = available_bytes() // 2 if cache_size == "auto" else int(cache_size * MEGABYTE)
    if callable(kernel.name):
        diagonal = np.array(
            [np.asarray(kernel.name(X[i : i + 1], X[i : i + 1]), float).item() for i in range(X.shape[0])]
        )
        return GramRows(kernel_blocks(kernel, X, X, np.float64), diagonal, np.float64, budget)
    squares = _squared_norms(X, centred=kernel.is_exponential)
    diagonal = kernel.of_squared_norms(squares)
    compute, keep = _precisions(kernel, squares, diagonal, boxes, tol)
    return GramRows(kernel_blocks(kernel, X, X, compute), diagonal, keep, budget)


def _precisions(kernel: Kernel, squares: np.ndarray, diagonal: np.ndarray, boxes: np.ndarray, tol: float) -> Any:
    """Precision of inner products and of stored rows, from the error that float32 would bring to a decision value.

    A decision value is the sum of n products beta_i K_i with |beta_i| <= boxes_i. Independent rounding errors of
    relative size u in K add up to about u max|K| |boxes|_2; the exponent of an rbf kernel brings
    u gamma (|x|^2 + |z|^2) more.
    """
    if len(boxes) <= EXACT_ROWS:
        return np.float64, np.float64
    allowed = ROUNDING_ALLOWED * tol
    rounding = FLOAT32_ROUNDING * np.abs(diagonal).max() * np.linalg.norm(boxes)
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

    Computed in blocks and in float64. For a precomputed kernel `X` holds the kernel values themselves, (n,
    len(coef)), and `vectors` is ignored.
    """
    if kernel.name == "precomputed":
        return np.asarray(X @ coef, dtype=np.float64).ravel()
    if not len(coef):
        return np.zeros(X.shape[0])
    total = np.empty(X.shape[0])
    step = max(1, min(X.shape[0], EXPAND_BLOCK // len(coef)))
    values = np.empty((step, len(coef)))
    with _threads.own_threads():
        blocks = kernel_blocks(kernel, X, vectors, np.float64)
        for i in range(0, X.shape[0], step):
            rows = np.arange(i, min(i + step, X.shape[0]))
            blocks.fill(rows, values, rows - i)
            total[rows] = values[: len(rows)] @ coef
    return total


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
    return max(64 * MEGABYTE, min(limits, default=1024 * MEGABYTE))
