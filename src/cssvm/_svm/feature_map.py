"""Features whose inner products approximate a kernel: scikit-learn's Nystroem map on this library's kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel as MatrixFunction
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import kernel_metrics

from .._kernels import Kernel


class KernelFunction(MatrixFunction):
    """A kernel as scikit-learn's pairwise functions call one: on two matrices at once, dense or sparse."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """The kernel values (len(X), len(Y))."""
        return self.kernel.matrix(X, X if Y is None else Y)

    def diag(self, X: Any) -> np.ndarray:
        """The k(x, x)."""
        return self.kernel.matrix(X, X).diagonal()

    def is_stationary(self) -> bool:
        """Not asked for here; False claims nothing."""
        return False


def nystroem(kernel: Kernel, n_components: int, random_state: Any) -> Nystroem:
    """The map, to be fitted; kernels that scikit-learn has are given to it by name, with their parameters."""
    if kernel.name in kernel_metrics():
        own = {name: getattr(kernel, name) for name in kernel.parameters}
        return Nystroem(kernel.name, **own, n_components=n_components, random_state=random_state)
    return Nystroem(KernelFunction(kernel), n_components=n_components, random_state=random_state)
