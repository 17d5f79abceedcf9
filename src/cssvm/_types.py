"""Types that every part shares, and what counts as a number."""

from __future__ import annotations

import numbers
import reprlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]
RowNumbers = NDArray[np.intp]


def is_number(value: Any) -> bool:
    """Whether `value` is a real number; bool does not count."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    """Whether `value` is an integer; bool does not count."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def as_floats(name: str, value: Any, fix: str) -> Vector:
    """A number or an array-like (list, NumPy, pandas or polars) as float64; anything else is refused with the fix."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a number or an array of numbers; got {name}={reprlib.repr(value)}. {fix}"
        ) from error
