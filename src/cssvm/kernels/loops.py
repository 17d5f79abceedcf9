"""Compiled loops below the kernel functions: the exponential, sparse products, L1 distances, copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from ..runtime.compiler import OPTIONS, bits_of_float64, float32_from_bits, float64_from_bits, fmax, fmin, njit

_f = np.float32
# Cody-Waite: exp(x) = 2^k exp(r), r = x - k log 2 with log 2 split in two so that k * HIGH is exact.
_LOG2E_32, _HIGH_32, _LOW_32 = _f(1.4426950408889634), _f(0.693359375), _f(-2.12194440e-4)
_HIGH_64, _LOW_64 = 6.93145751953125e-1, 1.42860682030941723212e-6
_P0, _P1, _P2, _P3, _P4, _P5 = (  # minimax polynomial of (exp(r) - 1 - r) / r^2 on |r| <= log(2)/2 (Cephes expf)
    _f(1.9875691500e-4), _f(1.3981999507e-3), _f(8.3334519073e-3),
    _f(4.1665795894e-2), _f(1.6666665459e-1), _f(5.0000001201e-1),
)  # fmt: skip
_SMALLEST_32, _SMALLEST_64 = _f(-87.0), -708.0  # exp of these is the smallest normal number: nothing underflows
_ROUNDER = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer that sits in the low bits


def exp_nonpositive(x: Any) -> Any:
    """exp(min(x, 0)) with a relative error below 1e-6 (float32, 0.6 ns) or 2e-15 (float64, 1.9 ns)."""
    return np.exp(np.minimum(x, 0))


def _exp_float32(x):  # type: ignore[no-untyped-def]
    x = fmin(fmax(x, _SMALLEST_32), _f(0.0))
    k = np.int32(x * _LOG2E_32 - _f(0.5))  # truncation towards zero rounds a negative number minus 1/2 to nearest
    whole = _f(k)
    r = (x - whole * _HIGH_32) - whole * _LOW_32
    y = ((((_P0 * r + _P1) * r + _P2) * r + _P3) * r + _P4) * r + _P5
    return (y * r * r + r + _f(1.0)) * float32_from_bits((k + np.int32(127)) << np.int32(23))


def _exp_float64(x):  # type: ignore[no-untyped-def]
    x = fmin(fmax(x, _SMALLEST_64), 0.0)
    shifted = x * 1.4426950408889634 + _ROUNDER
    whole = shifted - _ROUNDER
    r = (x - whole * _HIGH_64) - whole * _LOW_64
    y = 1 / 6227020800.0  # Taylor to r^13: |r| <= 0.35 leaves 4e-17
    y = y * r + 1 / 479001600.0
    y = y * r + 1 / 39916800.0
    y = y * r + 1 / 3628800.0
    y = y * r + 1 / 362880.0
    y = y * r + 1 / 40320.0
    y = y * r + 1 / 5040.0
    y = y * r + 1 / 720.0
    y = y * r + 1 / 120.0
    y = y * r + 1 / 24.0
    y = y * r + 1 / 6.0
    y = y * r + 0.5
    y = y * r + 1.0
    y = y * r + 1.0
    return y * float64_from_bits((bits_of_float64(shifted) + 1023) << 52)


@overload(exp_nonpositive, jit_options=OPTIONS)
def _exp_nonpositive(x):  # type: ignore[no-untyped-def]
    return _exp_float32 if x == types.float32 else _exp_float64


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
