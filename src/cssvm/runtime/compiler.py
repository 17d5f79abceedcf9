"""How this library uses Numba: one set of compiler options and the few instructions Numba does not offer.

`njit` compiles on first call, keeps the code on disk and releases the GIL. Divisions follow NumPy's error model,
because Python's zero-division check keeps a loop from being vectorised. Of LLVM's fast-math licences only those are
given that change no result but NaN, except `contract` (fused multiply-add): sums are never reordered, so results are
repeatable. Infinities keep their meaning.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "nnan", "nsz"}}
njit = partial(numba.njit, cache=True, **OPTIONS)


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
