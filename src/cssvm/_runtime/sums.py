"""Weighted sums of rows of a matrix in memory, and copies of parts of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import threads
from .compiler import njit

COLUMNS = 2048  # of a sum per task: 16 KB stay in the first-level cache while the rows stream past


def update_minus_rows(
    total: np.ndarray, store: np.ndarray, slots: np.ndarray, coef: np.ndarray, columns: np.ndarray | None = None
) -> None:
    """Subtract coef @ store[slots][:, columns] from `total`, in float64 and in the order given; all columns if None."""
    parts: list[Any] = [slice(i, i + COLUMNS) for i in range(0, len(total), COLUMNS)]
    if columns is None:
        threads.run(update_row_sum, [(total[part], store, slots, coef, part.start) for part in parts])
    else:
        threads.run(_update_row_sum_at, [(total[part], store, slots, coef, columns[part]) for part in parts])


@njit
def update_row_sum(total, store, slots, coef, start):  # type: ignore[no-untyped-def]
    """total[j] -= sum_k coef[k] * store[slots[k], start + j], in float64."""
    part = slice(start, start + total.shape[0])
    whole = len(coef) - len(coef) % 4
    for k in range(0, whole, 4):  # four rows at a time: a quarter of the loads and stores of the total
        a, b = store[slots[k], part], store[slots[k + 1], part]
        c, d = store[slots[k + 2], part], store[slots[k + 3], part]
        u, v, w, x = coef[k], coef[k + 1], coef[k + 2], coef[k + 3]
        for j in range(total.shape[0]):
            total[j] -= (u * a[j] + v * b[j]) + (w * c[j] + x * d[j])
    for k in range(whole, len(coef)):
        row, factor = store[slots[k], part], coef[k]
        for j in range(total.shape[0]):
            total[j] -= factor * row[j]


@njit
def _update_row_sum_at(total, store, slots, coef, columns):  # type: ignore[no-untyped-def]
    """total[j] -= sum_k coef[k] * store[slots[k], columns[j]], in float64."""
    for k in range(len(coef)):
        row, factor = store[slots[k]], coef[k]
        for j in range(total.shape[0]):
            total[j] -= factor * row[columns[j]]


@njit
def update_gathered(out, matrix, left, right):  # type: ignore[no-untyped-def]
    """out[i, j] = matrix[left[i], right[j]]."""
    for i in range(len(left)):
        source, target = matrix[left[i]], out[i]
        for j in range(len(right)):
            target[j] = source[right[j]]
