"""LAPACK's solver for positive definite systems, called from compiled code without the GIL.

Numba's own `np.linalg` takes seconds to compile, and SciPy's functions need the GIL. SciPy publishes the addresses of
its LAPACK for Cython; compiled code is given the address as a number, because Numba would not keep code on disk that
contains one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import get_cython_function_address, intrinsic

from .compiler import njit

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

    Of `matrix`, C-ordered, the lower triangle of the first n rows and columns is read, and overwritten. `numbers` (6,)
    int32 is room for LAPACK's arguments; `address` is that of `POSV` for the type of both arrays.
    """
    numbers[0], numbers[1], numbers[2] = UPPER, n, sides.shape[0]
    numbers[3], numbers[4], numbers[5] = matrix.shape[1], sides.shape[1], 0
    _posv(address, numbers, matrix, sides)
    return numbers[5] == 0
