"""Means and variances of features under row weights.

Two passes, the second one centred: E[x^2] - E[x]^2 would lose the digits of rows that are far from the origin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .types import Vector

# Entries of X turned to centred float64 at a time.
BLOCK_ENTRIES = 1 << 20


def feature_moments(X: Any, weights: Vector) -> tuple[Vector, Vector]:
    """Mean and variance of each column of X, dense or CSR, (n_features,) float64 each, whatever the dtype of X.

    weights : (n_samples,) float64, not all zero. An integer weight means repeated rows, and zero a removed row.
    """
    if not weights.all():  # the same sums, to the last digit, as without these rows
        X, weights = X[weights > 0.0], weights[weights > 0.0]
    share = weights / weights.sum()
    if sparse.issparse(X):
        return _sparse_moments(X, share)
    step = max(1, BLOCK_ENTRIES // max(1, X.shape[1]))
    parts = [slice(i, i + step) for i in range(0, X.shape[0], step)]
    mean = np.sum([share[part] @ X[part].astype(np.float64, copy=False) for part in parts], axis=0)
    return mean, np.sum([share[part] @ (X[part] - mean) ** 2 for part in parts], axis=0)


def _sparse_moments(X: Any, share: Vector) -> tuple[Vector, Vector]:
    n_features = X.shape[1]
    stored, data = np.repeat(share, np.diff(X.indptr)), X.data.astype(np.float64, copy=False)
    mean: Vector = np.asarray(share @ X, dtype=np.float64).ravel()
    spread = np.bincount(X.indices, weights=stored * (data - mean[X.indices]) ** 2, minlength=n_features)
    # Entries that are not stored are zero; where all are stored, rounding must not leave a share for them.
    missing = np.maximum(1.0 - np.bincount(X.indices, weights=stored, minlength=n_features), 0.0)
    missing[np.bincount(X.indices, minlength=n_features) == X.shape[0]] = 0.0
    return mean, spread + missing * mean**2
