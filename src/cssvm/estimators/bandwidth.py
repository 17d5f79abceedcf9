"""The kernel coefficient gamma from the data.

    gamma="scale":   1 / (n_features v),   v = sum_i s_i sum_j (x_ij - mu)^2 / (n_features sum_i s_i)

with mu the mean of all entries of X under the same weights s_i = sample_weight_i, so that an integer weight
means repeated rows and a weight of zero a removed row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Vector
from ..kernels import kernel_class
from ..moments import feature_moments

# A spread below this many units of rounding of the mean is that of a constant X.
CONSTANT_ULPS = 8


def resolve_gamma(gamma: Any, kernel: Any, X: Any, weights: Vector) -> float:
    """The value of gamma, a positive float; 1.0 for kernels that have none."""
    if "gamma" not in kernel_class(kernel).parameters:
        return 1.0
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        variance = weighted_variance(X, weights)
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    return float(gamma)


def weighted_variance(X: Any, weights: Vector) -> float:
    """Variance v of all entries of X, dense or CSR, under weights (n_samples,); 0.0 for a constant X."""
    mean, variance = feature_moments(X, weights)
    # That of the entries around the mean of their feature, and that of the means.
    total = float(variance.mean() + mean.var())
    return total if total > (CONSTANT_ULPS * np.finfo(np.float64).eps * mean.mean()) ** 2 else 0.0
