"""Checks of X, and of X with y: what is refused, and why, before any number is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data


def training_data(estimator: BaseEstimator, X: Any, y: Any, *, pairwise: bool) -> tuple[Any, Any]:
    """X as C-contiguous or CSR float64/float32, and y as an array."""
    return _validated(estimator, X, y, pairwise=pairwise)


def new_data(estimator: BaseEstimator, X: Any, *, pairwise: bool) -> Any:
    """X to be scored, in the form `training_data` gives it and with the features of the fit."""
    return _validated(estimator, X, pairwise=pairwise, reset=False)


def _validated(estimator: BaseEstimator, X: Any, *y: Any, pairwise: bool, reset: bool = True) -> Any:
    """scikit-learn's checks of X, or of X and y; its message about infinity gets the advice it lacks."""
    for name, values in zip(("X", "y"), (X, *y), strict=False):
        if np.ma.is_masked(values):
            raise ValueError(
                f"{name} must not be masked; got {int(np.ma.getmaskarray(values).sum())} masked entries. Fill them, or "
                "drop these rows."
            )
    if sp.issparse(X) and X.format == "csr" and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    try:
        return validate_data(
            estimator,
            X,
            *y,
            reset=reset,
            dtype=[np.float64, np.float32],
            order="C",
            accept_sparse=False if pairwise else "csr",
            accept_large_sparse=True,
        )
    except ValueError as error:
        if "X contains infinity" not in str(error):
            raise
        raise ValueError(f"{error} Clip these entries, scale the features or drop the rows first.") from error
