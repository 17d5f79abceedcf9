"""Validation of constructor parameters and of X and y; every message names the argument, its value and the fix.

    gamma="scale":   1 / (n_features v),   v = sum_i s_i sum_j (x_ij - mu)^2 / (n_features sum_i s_i)

with mu the mean of all entries of X under the same weights s_i = sample_weight_i, so that an integer weight
means repeated samples and a weight of zero a removed sample.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d, validate_data

from .._core.moments import feature_moments
from .._core.types import Vector, is_integer
from .._core.validation import CHECKS as COMMON_CHECKS
from .._core.validation import Check, check_parameters, is_one_of
from .._kernels import DEFAULT_KERNEL, KERNEL_NAMES, kernel_class

SAFE = (1e-100, 1e100)  # entries whose squares, and sums of many of them, are normal numbers
CONSTANT_ULPS = 8  # a standard deviation below so many units of rounding of the mean is that of a constant X

CHECKS: dict[str, Check] = COMMON_CHECKS | {
    "kernel": (
        lambda v: callable(v) or is_one_of(v, KERNEL_NAMES),
        f"a callable or one of {list(KERNEL_NAMES)}",
        f'kernel="{DEFAULT_KERNEL}"',
    ),
    "n_components": (lambda v: is_integer(v) and v > 0, "a positive integer", "n_components=300"),
}


def validate_parameters(estimator: BaseEstimator, **own_checks: Check) -> None:
    """Check the constructor parameters of an estimator: those in `CHECKS` that it has, and its own."""
    check_parameters(estimator, {name: each for name, each in CHECKS.items() if hasattr(estimator, name)} | own_checks)


def validate_X_y(estimator: BaseEstimator, X: Any, y: Any, *, pairwise: bool) -> tuple[Any, Any]:
    """X as C-contiguous or CSR float64/float32, and y as an array."""
    return _validated(estimator, X, y, pairwise=pairwise)


def validate_X(estimator: BaseEstimator, X: Any, *, pairwise: bool) -> Any:
    """X of a prediction in the same form, with the features seen in `fit`."""
    if _is_valid(estimator, X):
        return X
    return _validated(estimator, X, pairwise=pairwise, reset=False)


def _is_valid(estimator: BaseEstimator, X: Any) -> bool:
    """Whether all checks would pass and change nothing: they take longer than scoring a single sample."""
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


def validate_raw(estimator: BaseEstimator, X: Any, *y: Any, reset: bool = True) -> Any:
    """X unchanged, for a transformer, and y as an array; sets or checks the features of the estimator."""
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if not y:
        return X
    check_consistent_length(X, *y)
    return X, column_or_1d(*y, warn=True)


def validate_transformed(values: Any, transformer: Any) -> Any:
    """The output of a transformer as C-contiguous or CSR float64/float32."""
    try:
        return check_array(values, dtype=[np.float64, np.float32], order="C", accept_sparse="csr")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"transformer must turn X into finite numbers; the output of {type(transformer).__name__} is invalid: "
            f"{error}. Add steps that encode strings and impute missing values, for example OneHotEncoder and "
            "SimpleImputer."
        ) from error


def _validated(estimator: BaseEstimator, X: Any, *y: Any, pairwise: bool, reset: bool = True) -> Any:
    """scikit-learn's checks of X, or of X and y; adds advice to its message about infinite values."""
    for name, values in zip(("X", "y"), (X, *y), strict=False):
        if np.ma.is_masked(values):
            raise ValueError(
                f"{name} must not be masked; got {int(np.ma.getmaskarray(values).sum())} masked entries. Fill them, or "
                "drop these samples."
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
        raise ValueError(f"{error} Clip these entries, scale the features or drop the samples first.") from error


def check_scores(scores: Vector) -> None:
    """Raise if a score is not finite, which happens for samples much larger than those of the fit."""
    if not np.isfinite(scores).all():
        row = np.argmin(np.isfinite(scores))
        raise ValueError(
            f"decision values of X must be finite; got {scores[row]} in sample {row}, whose entries are too large for "
            "this kernel. Scale the features as for the fit, or drop the sample."
        )


def resolve_gamma(gamma: Any, kernel: Any, X: Any, weights: Vector) -> float:
    """The value of gamma, a positive float; 1.0 for kernels without this parameter."""
    if "gamma" not in kernel_class(kernel).parameters:
        return 1.0
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    unit = _unit(X)
    variance = weighted_variance(X if unit == 1 else X * unit, weights)
    if not variance > 0:
        return 1.0
    with np.errstate(over="ignore", under="ignore"):
        scale = float(np.float64(unit) / (X.shape[1] * variance) * unit)
    if not 0 < scale < np.inf:
        raise ValueError(
            f'gamma="scale" is 1 / (n_features * X.var()), which overflows; got entries of X as large as '
            f"{1 / unit:.3g}. Scale the features, for example with StandardScaler, or pass gamma as a number."
        )
    return scale


def _unit(X: Any) -> float:
    """A power of two that scales X to entries of about 1 where their squares would over- or underflow; else 1."""
    values = X.data if sp.issparse(X) else X
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0 or SAFE[0] < largest < SAFE[1]:
        return 1.0
    return float(2.0 ** -np.clip(np.ceil(np.log2(largest)), -1022, 1022))


def weighted_variance(X: Any, weights: Vector) -> float:
    """Variance v of all entries of X, dense or CSR, under weights (n_samples,); 0.0 for a constant X."""
    mean, variance = feature_moments(X, weights)
    total = float(variance.mean() + mean.var())  # within features, and between their means
    return total if total > (CONSTANT_ULPS * np.finfo(np.float64).eps * mean.mean()) ** 2 else 0.0
