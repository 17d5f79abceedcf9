"""Types that every part shares, and what counts as a number."""

from __future__ import annotations

import numbers
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
