"""How this library uses Numba: one set of compiler options and the few instructions Numba does not offer.

`njit` compiles on first call, keeps the code on disk where it may, and releases the GIL. Divisions follow NumPy's error
model, because Python's zero-division check keeps a loop from being vectorised. Of LLVM's fast-math licences only those
are given that change no result but NaN, except `contract` (fused multiply-add): sums are never reordered, so results
are repeatable. Infinities keep their meaning.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "nnan", "nsz"}}
_hinted = False


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Numba's, with `OPTIONS`, used as ``@njit`` or ``@njit(...)``; without a cache where no folder can be written."""

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
    """Say once what is lost, through logging: a warning could be an error to those who import this."""
    global _hinted
    if not _hinted:
        logging.getLogger("cssvm").warning(
            "cssvm compiles anew in every process, some seconds: no folder to keep compiled code in can be written. "
            "Set NUMBA_CACHE_DIR to one that can."
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
