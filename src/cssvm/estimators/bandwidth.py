"""The kernel coefficient gamma from the data.

    gamma="scale":   1 / (n_features v),   v = sum_i s_i sum_j (x_ij - mu)^2 / (n_features sum_i s_i)

with mu the mean of all entries of X under the same weights s_i = sample_weight_i, so that an integer weight
means repeated rows and a weight of zero a removed row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from .._types import Vector
from ..kernels import kernel_class

# Entries of X turned to centred float64 at a time.
BLOCK_ENTRIES = 1 << 20

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
    counted = weights > 0
    if not counted.all():
        X, weights = X[counted], weights[counted]
    total = weights.sum() * X.shape[1]
    mean = _weighted_sum(X, weights, centre=0.0, squared=False) / total
    variance = _weighted_sum(X, weights, centre=mean, squared=True) / total
    return variance if variance > (CONSTANT_ULPS * np.finfo(np.float64).eps * mean) ** 2 else 0.0


def _weighted_sum(X: Any, weights: Vector, *, centre: float, squared: bool) -> float:
    """sum_i s_i sum_j (x_ij - centre)^p, p = 2 if `squared` else 1, in float64 whatever the dtype of X.

    Two passes with the centre subtracted: E[x^2] - E[x]^2 would lose all digits on data with a large offset.
    """
    if sparse.issparse(X):
        stored = np.diff(X.indptr)
        entries = X.data.astype(np.float64) - centre
        implicit = np.sum(weights * (X.shape[1] - stored)) * (centre**2 if squared else -centre)
        return float(np.sum(np.repeat(weights, stored) * (entries**2 if squared else entries)) + implicit)
    parts = []
    for batch in gen_batches(X.shape[0], max(1, BLOCK_ENTRIES // X.shape[1])):
        entries = X[batch].astype(np.float64) - centre
        parts.append(np.sum(weights[batch] * np.sum(entries**2 if squared else entries, axis=1)))
    return float(np.sum(parts))
