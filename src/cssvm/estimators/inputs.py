"""Checks of X and y: what is refused, and why, before any number is computed.

Sign convention: +1 is the target class (`pos_label`) in all that concerns costs, and classes_[1] in all that
concerns f, as everywhere in scikit-learn. The two differ when the target is classes_[0].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import validate_data

# Rows compared at a time in the symmetry check, to keep its memory small.
SYMMETRY_BLOCK = 512


def training_data(
    estimator: BaseEstimator, X: Any, y: Any, *, precomputed: bool
) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    """X as C-contiguous or CSR float64/float32, the two classes, and the class index (0 or 1) of each row."""
    X, y = _validated(estimator, X, y, precomputed=precomputed)
    return X, *two_classes(estimator, y)


def new_data(estimator: BaseEstimator, X: Any, *, precomputed: bool) -> Any:
    """X to be scored, in the form `training_data` gives it and with the features of the fit."""
    return _validated(estimator, X, precomputed=precomputed, reset=False)


def _validated(estimator: BaseEstimator, X: Any, *y: Any, precomputed: bool, reset: bool = True) -> Any:
    """scikit-learn's checks of X, or of X and y; its message about infinity gets the advice it lacks."""
    try:
        return validate_data(
            estimator,
            X,
            *y,
            reset=reset,
            dtype=[np.float64, np.float32],
            order="C",
            accept_sparse=False if precomputed else "csr",
            accept_large_sparse=True,
        )
    except ValueError as error:
        if "X contains infinity" not in str(error):
            raise
        raise ValueError(f"{error} Clip these entries, scale the features or drop the rows first.") from error


def check_gram(K: NDArray[Any]) -> None:
    """Refuse a precomputed kernel that is not a square symmetric matrix, up to the rounding of its dtype."""
    n_rows, n_columns = K.shape
    if n_rows != n_columns:
        raise ValueError(
            f'X must be a square kernel matrix with kernel="precomputed"; got shape {K.shape}. '
            "Pass K(X, X) of shape (n_samples, n_samples) to fit, and K(X_new, X) to predict."
        )
    allowed = np.sqrt(np.finfo(K.dtype).eps) * np.abs(K).max()
    for start in range(0, n_rows, SYMMETRY_BLOCK):
        block = slice(start, start + SYMMETRY_BLOCK)
        difference = np.abs(K[block] - K[:, block].T)
        if difference.max() > allowed:
            i, j = np.unravel_index(difference.argmax(), difference.shape)
            raise ValueError(
                'X must be a symmetric kernel matrix with kernel="precomputed"; got '
                f"X[{start + i}, {j}]={K[start + i, j]:g} and X[{j}, {start + i}]={K[j, start + i]:g}. "
                "Pass K(X, X), or (X + X.T) / 2 if the difference is noise."
            )


def two_classes(estimator: BaseEstimator, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The sorted classes (2,) and each row's class index (n_samples,); any other number is refused."""
    name = type(estimator).__name__
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind.startswith("continuous"):
        raise ValueError(
            f"Unknown label type: {kind}. y of {name} must hold the labels of two classes; got numbers such "
            f"as {y[y != np.round(y)][0]}. Turn them into classes first, for example y = (amount > 0), and "
            "pass the amounts as fn_cost or fp_cost."
        )
    classes, index = np.unique(y, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}: y has "
            f"{len(classes)} classes, {_listed(classes)}. For more than two classes use "
            f"sklearn.multiclass.OneVsRestClassifier({name}(...))."
        )
    if len(classes) < 2:
        raise ValueError(
            f"y must hold two classes; got one class only, {_listed(classes)}. "
            "Add rows of the other class, or stratify the split."
        )
    return classes, index


def target_index(estimator: BaseEstimator, classes: NDArray[Any], pos_label: Any) -> int:
    """Index in `classes` of the target: that of `pos_label`, 1 for None."""
    if pos_label is None:
        return 1
    labels = classes.tolist()
    if pos_label not in labels:
        raise ValueError(
            f"pos_label of {type(estimator).__name__} must be one of the classes {_listed(classes)} of y, or "
            f"None for {labels[1]!r}; got pos_label={pos_label!r}."
        )
    return labels.index(pos_label)


def _listed(classes: NDArray[Any], at_most: int = 10) -> str:
    labels = [repr(label) for label in classes[:at_most].tolist()]
    return "[" + ", ".join(labels) + (", ..." if len(classes) > at_most else "") + "]"
