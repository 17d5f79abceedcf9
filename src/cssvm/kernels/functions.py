"""Kernel functions of inner products.

========== ============================================
linear     <x, z>
poly       (gamma <x, z> + coef0) ** degree
rbf        exp(-gamma |x - z|_2^2)
sigmoid    tanh(gamma <x, z> + coef0)
laplacian  exp(-gamma |x - z|_1)
========== ============================================

A block of kernel values is made in two passes over a tile that stays in the processor's cache: `values` (inner products
from BLAS or from an inverted index, or L1 distances), then a compiled loop (`loops.py`) that turns them into kernel
values ``out[top + i, start + j] = k(values[i, j], left[i], right[j])``.

For the two exponential kernels the exponent is ``scale * value - left - right``: rbf has scale = 2 gamma and
left, right = gamma |x|^2; laplacian has scale = -gamma and, on sparse rows, left, right = gamma |x|_1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

KERNEL_NAMES = ("linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed")
TRANSLATION_INVARIANT = ("rbf", "laplacian")


@dataclass(frozen=True)
class Kernel:
    """A kernel by name or as a callable ``(A, B) -> (len(A), len(B)) array``, with its parameters."""

    name: str | Callable[..., Any]
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    @property
    def is_exponential(self) -> bool:
        """Whether values lie in (0, 1] and depend on differences of rows only."""
        return self.name in TRANSLATION_INVARIANT

    @property
    def scale(self) -> float:
        """Factor of the inner product or distance inside the kernel function."""
        return {"rbf": 2.0 * self.gamma, "laplacian": -self.gamma, "linear": 1.0}.get(str(self.name), self.gamma)

    def of_squared_norms(self, squares: np.ndarray) -> np.ndarray:
        """k(x, x) from |x|^2, (n,) float64."""
        if self.is_exponential:
            return np.ones_like(squares)
        values = self.scale * squares
        if self.name == "poly":
            return (values + self.coef0) ** self.degree
        if self.name == "sigmoid":
            return np.tanh(values + self.coef0)
        return values
