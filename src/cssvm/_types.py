"""Types that every part shares, and what counts as a number."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]
RowNumbers = NDArray[np.intp]


def is_number(value: Any) -> bool:
    """A real scalar; True and False are none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
