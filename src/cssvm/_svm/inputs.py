"""Checks of X, and of X with y: what is refused, and why, before any number is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d, validate_data


def training_data(estimator: BaseEstimator, X: Any, y: Any, *, pairwise: bool) -> tuple[Any, Any]:
    """X as C-contiguous or CSR float64/float32, and y as an array."""
    return _validated(estimator, X, y, pairwise=pairwise)


def new_data(estimator: BaseEstimator, X: Any, *, pairwise: bool) -> Any:
    """X to be scored, in the form `training_data` gives it and with the features of the fit."""
    if _is_as_wanted(estimator, X):
        return X
    return _validated(estimator, X, pairwise=pairwise, reset=False)


def _is_as_wanted(estimator: BaseEstimator, X: Any) -> bool:
    """Whether all checks would pass and change nothing: they take longer than to score a single row."""
    return (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and X.flags.c_contiguous
        and not hasattr(estimator, "feature_names_in_")
        and bool(np.isfinite(X).all())
    )


def raw_data(estimator: BaseEstimator, X: Any, *y: Any, reset: bool = True) -> Any:
    """X as it is, for a transformer that knows what to do with it, and y as an array; the features are remembered."""
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if not y:
        return X
    check_consistent_length(X, *y)
    return X, column_or_1d(*y, warn=True)


def transformed_data(values: Any, transformer: Any) -> Any:
    """What a transformer returns, in the form `training_data` gives it."""
    try:
        return check_array(values, dtype=[np.float64, np.float32], order="C", accept_sparse="csr")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"transformer must turn X into finite numbers; {type(transformer).__name__} returned others: {error}. Add "
            "steps that encode words and fill gaps, for example OneHotEncoder and SimpleImputer."
        ) from error


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
