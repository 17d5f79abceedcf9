"""The kernel coefficient gamma from the data.

    gamma="scale":   1 / (n_features v),   v = sum_i s_i sum_j (x_ij - mu)^2 / (n_features sum_i s_i)

with mu the mean of all entries of X under the same weights s_i = sample_weight_i, so that an integer weight
means repeated rows and a weight of zero a removed row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._core.moments import feature_moments
from .._core.types import Vector
from .._kernels import kernel_class

# Entries whose squares, and sums of many of them, are normal numbers.
SAFE = (1e-100, 1e100)
# A spread below this many units of rounding of the mean is that of a constant X.
CONSTANT_ULPS = 8


def resolve_gamma(gamma: Any, kernel: Any, X: Any, weights: Vector) -> float:
    """The value of gamma, a positive float; 1.0 for kernels that have none."""
    if "gamma" not in kernel_class(kernel).parameters:
        return 1.0
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        unit = _unit(X)
        variance = weighted_variance(X if unit == 1 else X * unit, weights)
        if not variance > 0:
            return 1.0
        with np.errstate(over="ignore", under="ignore"):
            found = float(np.float64(unit) / (X.shape[1] * variance) * unit)
        if not 0 < found < np.inf:
            raise ValueError(
                f'gamma="scale" is 1 / (n_features * X.var()), which no float can hold; got entries of X as large as '
                f"{1 / unit:.3g}. Scale the features, for example with StandardScaler, or pass gamma as a number."
            )
        return found
    return float(gamma)


def _unit(X: Any) -> float:
    """A power of two that brings the entries of X to 1, where their squares would over- or underflow; else 1."""
    values = X.data if sparse.issparse(X) else X
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0 or SAFE[0] < largest < SAFE[1]:
        return 1.0
    return float(2.0 ** -np.clip(np.ceil(np.log2(largest)), -1022, 1022))


def weighted_variance(X: Any, weights: Vector) -> float:
    """Variance v of all entries of X, dense or CSR, under weights (n_samples,); 0.0 for a constant X."""
    mean, variance = feature_moments(X, weights)
    # That of the entries around the mean of their feature, and that of the means.
    total = float(variance.mean() + mean.var())
    return total if total > (CONSTANT_ULPS * np.finfo(np.float64).eps * mean.mean()) ** 2 else 0.0
