"""Compiled loops below the kernels: sparse products, L1 distances, copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import register_jitable

from ..runtime.compiler import njit


@njit
def update_l1_distances(left, right_columns, out):  # type: ignore[no-untyped-def]
    """out[i, j] = |left_i - right_j|_1; `right_columns` is (n_features, n_right): the inner loop is contiguous."""
    for i in range(left.shape[0]):
        row = out[i]
        row[:] = 0
        for k in range(left.shape[1]):
            x = left[i, k]
            column = right_columns[k]
            for j in range(row.shape[0]):
                row[j] += abs(x - column[j])


def sparse_loop(term: Callable[[Any, Any], Any]) -> Callable[..., None]:
    """out[i, j] = sum of term(x, z) over the features that left_i and right_j share, compiled.

    left in CSR, right by columns: only common features are touched. An unsigned index spares the check for a negative
    one.
    """

    @njit
    def update(indptr, indices, data, by_column, column_rows, column_data, out):  # type: ignore[no-untyped-def]
        for i in range(out.shape[0]):
            target = out[i]
            target[:] = 0
            for entry in range(indptr[i], indptr[i + 1]):
                x, feature = data[entry], indices[entry]
                for other in range(by_column[feature], by_column[feature + 1]):
                    target[np.uintp(column_rows[other])] += term(x, column_data[other])

    return update


@register_jitable
def _product(x, z):  # type: ignore[no-untyped-def]
    return x * z


@register_jitable
def _l1_difference(x, z):  # type: ignore[no-untyped-def]
    return abs(x - z) - abs(x) - abs(z)


update_sparse_products = sparse_loop(_product)  # <left_i, right_j>
update_sparse_l1 = sparse_loop(_l1_difference)  # |x - z|_1 - |x|_1 - |z|_1


@njit
def update_mirrored(out, top, start, n_rows, n_columns):  # type: ignore[no-untyped-def]
    """Copy the tile of `out` at (top, start) to its place across the diagonal."""
    for j in range(n_columns):
        target = out[start + j, top : top + n_rows]
        for i in range(n_rows):
            target[i] = out[top + i, start + j]
