"""What the kernels of one family have in common, computed once for all pairs of rows.

Kernels computed from a relation share the relation of all pairs, kernels given by the user the kernel values
themselves. Any block of the Gram matrix, for any gamma, degree and coef0, is then one pass over these numbers.
Distances may be rounded to the precision of kernel values: an error of relative size u in gamma |x - z|^2 = e changes
exp(-e) by e exp(-e) u < u / 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .._runtime.gather import update_gathered
from .relations import Relation, centred

if TYPE_CHECKING:
    from .base import ComputedKernel

BAND = 256  # rows at a time


class SharedValues(Protocol):
    """What the search asks of values that it computes once."""

    def update_block(self, out: np.ndarray, kernel: Any, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into `out`, on the calling thread only."""

    def diagonal(self, kernel: Any) -> np.ndarray:
        """The k(x, x), (n,) float64."""


class SharedRelation:
    """The relation of all pairs of n rows, for every kernel that is a function of it; threads may read it together."""

    def __init__(self, base: np.ndarray):
        self.base = base

    @classmethod
    def compute(cls, relation: Relation, X: Any, dtype: Any) -> SharedRelation:
        """Kept in `dtype`."""
        base = np.empty((X.shape[0], X.shape[0]), dtype)
        relation.update_matrix(base, centred(X) if relation.is_centred else X)
        return cls(base)

    def update_block(self, out: np.ndarray, kernel: ComputedKernel, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into `out`, on the calling thread only."""
        values = np.empty((BAND, len(right)), self.base.dtype)
        for i in range(0, len(left), BAND):
            part = left[i : i + BAND]
            update_gathered(values, self.base, part, right)
            kernel.update_from_relation(values[: len(part)], out, i)

    def diagonal(self, kernel: ComputedKernel) -> np.ndarray:
        """The k(x, x), (n,) float64."""
        return kernel.of_relation(self.base.diagonal().astype(np.float64))


class SharedMatrix:
    """Kernel values given by the user."""

    def __init__(self, values: Any, dtype: Any):
        self.base = np.ascontiguousarray(values, dtype)

    def update_block(self, out: np.ndarray, kernel: Any, left: np.ndarray, right: np.ndarray) -> None:
        """Write K[left][:, right] into `out`, on the calling thread only."""
        update_gathered(out, self.base, left, right)

    def diagonal(self, kernel: Any) -> np.ndarray:
        """The k(x, x), (n,) float64."""
        return self.base.diagonal().astype(np.float64)
