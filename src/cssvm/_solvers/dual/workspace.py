"""Memory that the paths of many problems share: fresh memory is slow to touch."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from . import tuning
from .optimality import max_active


class Workspace:
    """Room for the kernel matrix of up to `n_rows` rows and for a copy of the part of it that is awake.

    Both are allocated when they are first asked for, and each holds one matrix at a time.
    """

    def __init__(self, n_rows: int, dtype: DTypeLike):
        self.n_rows, self.dtype = n_rows, np.dtype(dtype)
        self._matrix = np.empty(0, self.dtype)
        self._part = np.empty(0, self.dtype)

    @staticmethod
    def bytes_needed(n_rows: int, dtype: DTypeLike) -> int:
        """Bytes of a workspace of which everything is used."""
        return (n_rows**2 + _largest_part(n_rows) ** 2) * np.dtype(dtype).itemsize

    def matrix(self, n: int) -> np.ndarray:
        """Room for a kernel matrix, (n, n), with whatever it held before."""
        if not len(self._matrix):
            self._matrix = np.empty(self.n_rows**2, self.dtype)
        return _square(self._matrix, n)

    def part(self, n: int) -> np.ndarray:
        """Room for a copy of a part of the kernel matrix, (n, n), with whatever it held before."""
        if not len(self._part):
            self._part = np.empty(_largest_part(self.n_rows) ** 2, self.dtype)
        return _square(self._part, n)


def _square(room: np.ndarray, n: int) -> np.ndarray:
    if n**2 > len(room):
        raise ValueError(f"the workspace has room for {len(room)} kernel values; {n} rows need {n**2}")
    return room[: n**2].reshape(n, n)


def _largest_part(n: int) -> int:
    """Rows of the largest part that is copied of an (n, n) kernel matrix."""
    return max_active(n) if n >= tuning.COPY_ROWS else 0
