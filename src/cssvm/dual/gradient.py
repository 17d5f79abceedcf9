"""Moving kernel values in bulk: the gradient of all variables, and the block of a working set."""

from __future__ import annotations

import numpy as np

from .. import _threads
from .._numba import njit

COLUMNS = 2048  # of the gradient per task: 16 KB stay in the first-level cache while the rows stream past
BLOCK_ROWS = 64


def update_gradient(gradient: np.ndarray, store: np.ndarray, slots: np.ndarray, change: np.ndarray) -> None:
    """Subtract the sum of change[k] * store[slots[k]] over k, in float64 and in the order given."""
    parts = [slice(i, i + COLUMNS) for i in range(0, len(gradient), COLUMNS)]
    _threads.run(_update_gradient, [(gradient[part], store[:, part], slots, change) for part in parts])


@njit
def _update_gradient(gradient, store, slots, change):  # type: ignore[no-untyped-def]
    whole = len(slots) - len(slots) % 4
    for k in range(0, whole, 4):  # four rows at a time: a quarter of the loads and stores of the gradient
        a, b, c, d = store[slots[k]], store[slots[k + 1]], store[slots[k + 2]], store[slots[k + 3]]
        u, v, w, x = change[k], change[k + 1], change[k + 2], change[k + 3]
        for t in range(gradient.shape[0]):
            gradient[t] -= (u * a[t] + v * b[t]) + (w * c[t] + x * d[t])
    for k in range(whole, len(slots)):
        row, factor = store[slots[k]], change[k]
        for t in range(gradient.shape[0]):
            gradient[t] -= factor * row[t]


def update_block(block: np.ndarray, store: np.ndarray, slots: np.ndarray, columns: np.ndarray) -> None:
    """block[i, j] = store[slots[i], columns[j]]; NumPy's own indexing by two arrays is several times slower."""
    parts = [slice(i, i + BLOCK_ROWS) for i in range(0, len(slots), BLOCK_ROWS)]
    _threads.run(_update_block, [(block[part], store, slots[part], columns) for part in parts])


@njit
def _update_block(block, store, slots, columns):  # type: ignore[no-untyped-def]
    for i in range(block.shape[0]):
        source, target = store[slots[i]], block[i]
        for j in range(target.shape[0]):
            target[j] = source[columns[j]]
