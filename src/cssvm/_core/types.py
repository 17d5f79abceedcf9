"""Types that every part shares, and what counts as a number."""

from __future__ import annotations

import numbers
import reprlib
from decimal import Decimal
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]
RowNumbers = NDArray[np.intp]


class Status(IntEnum):
    """How a solve ended; 0 is success, as in scikit-learn's `fit_status_`."""

    CONVERGED = 0
    ITERATION_LIMIT = 1
    STALLED = 2


def is_number(value: Any) -> bool:
    """Whether `value` is a real number; bool does not count."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    """Whether `value` is an integer; bool does not count."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def as_floats(name: str, value: Any, fix: str) -> Vector:
    """A number or an array-like (list, NumPy, pandas or polars) as float64; anything else is refused with the fix.

    Strings are refused even where they spell a number: a column read as text is a mistake somewhere before.
    """
    cause = None
    try:
        found = np.asarray(value)
        if _is_numeric(found) and not np.ma.is_masked(value):
            return found.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        cause = error
    raise ValueError(
        f"{name} must be a number or an array of numbers; got {name}={reprlib.repr(value)}. {fix}"
    ) from cause


def _is_numeric(values: np.ndarray) -> bool:
    if values.dtype.kind == "O":
        return all(isinstance(each, numbers.Real | Decimal) or each is None for each in values.flat)
    return values.dtype.kind in "biuf"
