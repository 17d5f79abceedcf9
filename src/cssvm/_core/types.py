"""Type aliases and the status of a solve, which all parts share."""

from __future__ import annotations

from enum import IntEnum

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
