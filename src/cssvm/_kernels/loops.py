"""Compiled loops below the kernels: sparse products, distances by differences, copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import register_jitable

from .._runtime.compiler import njit

PAST_ALL = np.iinfo(np.int64).max  # stands for the feature of a row that has no more of them


def difference_loop(term: Callable[[Any], Any]) -> Callable[..., None]:
    """out[i, j] = sum of term(x - z) over all features of left_i and right_j, compiled.

    `right_columns` is (n_features, n_right): the inner loop is contiguous.
    """

    @njit
    def update(left, right_columns, out):  # type: ignore[no-untyped-def]
        for i in range(left.shape[0]):
            row = out[i]
            row[:] = 0
            for k in range(left.shape[1]):
                x = left[i, k]
                column = right_columns[k]
                for j in range(row.shape[0]):
                    row[j] += term(x - column[j])

    return update


def sparse_difference_loop(term: Callable[[Any], Any]) -> Callable[..., None]:
    """The same for rows in CSR with sorted indices, compiled: two rows are walked through together."""

    @njit
    def update(indptr, indices, data, other_indptr, other_indices, other_data, out):  # type: ignore[no-untyped-def]
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                total = 0.0
                a, b = indptr[i], other_indptr[j]
                while a < indptr[i + 1] or b < other_indptr[j + 1]:
                    x_at = indices[a] if a < indptr[i + 1] else PAST_ALL
                    z_at = other_indices[b] if b < other_indptr[j + 1] else PAST_ALL
                    difference = 0.0
                    if x_at <= z_at:
                        difference += data[a]
                        a += 1
                    if z_at <= x_at:
                        difference -= other_data[b]
                        b += 1
                    total += term(difference)
                out[i, j] = total

    return update


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
def _square(x):  # type: ignore[no-untyped-def]
    return x * x


@register_jitable
def _size(x):  # type: ignore[no-untyped-def]
    return abs(x)


@register_jitable
def _l1_difference(x, z):  # type: ignore[no-untyped-def]
    return abs(x - z) - abs(x) - abs(z)


update_l1_distances, update_squared_distances = difference_loop(_size), difference_loop(_square)
update_sparse_l1_distances = sparse_difference_loop(_size)
update_sparse_squared_distances = sparse_difference_loop(_square)
update_sparse_products = sparse_loop(_product)  # <left_i, right_j>
update_sparse_l1 = sparse_loop(_l1_difference)  # |x - z|_1 - |x|_1 - |z|_1


@njit
def update_mirrored(out, top, start, n_rows, n_columns):  # type: ignore[no-untyped-def]
    """Copy the tile of `out` at (top, start) to its place across the diagonal."""
    for j in range(n_columns):
        target = out[start + j, top : top + n_rows]
        for i in range(n_rows):
            target[i] = out[top + i, start + j]
