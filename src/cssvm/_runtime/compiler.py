"""Numba with one set of compiler options, and the few instructions and LAPACK functions that it does not offer.

`njit` compiles on first call, keeps the code on disk where it may, and releases the GIL. Divisions follow NumPy's error
model, because Python's zero-division check keeps a loop from being vectorised. Of LLVM's fast-math flags only those
are set that change no result but NaN, except `contract` (fused multiply-add): sums are never reordered, so results
are repeatable. Infinities keep their meaning.

`solve_positive` calls LAPACK from compiled code: Numba's `np.linalg` takes seconds to compile, and SciPy's functions
need the GIL. The address of the function is an argument, because Numba would not keep code on disk that contains one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import get_cython_function_address, intrinsic

OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "nnan", "nsz"}}
_hinted = False


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Numba's njit with `OPTIONS`; without a cache if no folder can be written."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, **(OPTIONS | options))(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            _hint_at_cache()
            return numba.njit(**(OPTIONS | options))(function)

    return compiled if function is None else compiled(function)


def _hint_at_cache() -> None:
    """Log once that nothing is cached; a warning could be an error to those who import this."""
    global _hinted
    if not _hinted:
        logging.getLogger("cssvm").warning(
            "cssvm compiles its code again in every process, which takes some seconds: no cache folder can be written. "
            "Set NUMBA_CACHE_DIR to a folder that can."
        )
    _hinted = True


def _float_pair(name: str) -> Any:
    """LLVM's two-operand intrinsic `name`. Python's max and min compile to branches that LLVM does not vectorise."""

    def typed(typing_context: Any, a: Any, b: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = args[0].type
            function = builder.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind, kind]))
            return builder.call(function, args, fastmath=("nnan", "nsz"))

        return a(a, a), emit

    return intrinsic(typed)


fmax = _float_pair("llvm.maxnum")  # fmax(a, b): both of one float type
fmin = _float_pair("llvm.minnum")


def _reinterpret(source: Any, target: Any, llvm_type: Any) -> Any:
    """The bits of a `source` number read as a `target` number."""

    def typed(typing_context: Any, value: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], llvm_type)

        return target(source), emit

    return intrinsic(typed)


float32_from_bits = _reinterpret(types.int32, types.float32, ir.FloatType())
float64_from_bits = _reinterpret(types.int64, types.float64, ir.DoubleType())
bits_of_float64 = _reinterpret(types.float64, types.int64, ir.IntType(64))


# By the type of the numbers.
POSV = {
    np.dtype(np.float32): get_cython_function_address("scipy.linalg.cython_lapack", "sposv"),
    np.dtype(np.float64): get_cython_function_address("scipy.linalg.cython_lapack", "dposv"),
}
UPPER = ord("U")  # in Fortran's order, which is the lower triangle of a C-ordered matrix
N_ARGUMENTS = 8


def _call(typing_context: Any, address: Any, numbers: Any, matrix: Any, sides: Any) -> Any:
    """Call posv(uplo, n, nrhs, a, lda, b, ldb, info); numbers (6,) int32 are uplo, n, nrhs, lda, ldb and info."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        number, a, b = (
            builder.bitcast(context.make_array(kind)(context, builder, value).data, byte)
            for kind, value in zip(signature.args[1:], args[1:], strict=True)
        )
        uplo, n, n_sides, lda, ldb, info = (builder.gep(number, [ir.Constant(ir.IntType(64), 4 * k)]) for k in range(6))
        kind = ir.FunctionType(ir.VoidType(), [byte] * N_ARGUMENTS)
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), [uplo, n, n_sides, a, lda, b, ldb, info])
        return context.get_dummy_value()

    return types.void(address, numbers, matrix, sides), emit


_posv = intrinsic(_call)


@njit(inline="always")
def solve_positive(matrix, n, sides, numbers, address):  # type: ignore[no-untyped-def]
    """Overwrite the first n entries of each row of `sides` by the solution for it; False if not positive definite.

    The lower triangle of the first n rows and columns of `matrix`, C-ordered, is overwritten. numbers : (6,) int32 for
    LAPACK's arguments; address : that of `POSV` for the type of both arrays
    """
    numbers[0], numbers[1], numbers[2] = UPPER, n, sides.shape[0]
    numbers[3], numbers[4], numbers[5] = matrix.shape[1], sides.shape[1], 0
    _posv(address, numbers, matrix, sides)
    return numbers[5] == 0
