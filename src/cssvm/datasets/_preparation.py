"""A transformer for the rows of any data set, to be fitted inside a pipeline or a search."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from sklearn.preprocessing import MaxAbsScaler

from .._preprocessing import CATEGORY, NUMBER, ColumnsOfKind, column_preprocessor


def make_preprocessor(X: Any, *, min_frequency: int | None = None) -> Any:
    """Make a transformer for a pipeline, so that whatever is learnt from rows is learnt from training rows only.

    It is the preprocessing of ``cssvm train``, with and without a cluster. Numbers: missing values become the mean,
    then columns are scaled to mean 0 and variance 1. Each numeric column with missing values in training gets an
    indicator column, 1 where a value is missing. Strings, booleans and pandas categoricals: an indicator column for
    each category seen in training, a missing value being a category; all 0 for a new category. Sparse rows are scaled
    by the largest absolute value of each column, which keeps zeros zero; ``siam1``, ``siam11`` and ``webspam`` have
    rows of length 1 and need no scaling.

    Parameters
    ----------
    X : array, CSR matrix or pandas DataFrame, (n_samples, n_features)
        ``data`` or ``frame`` of what `load` returned; only its type is looked at.

    min_frequency : int, default=None
        Rows that a category must have for an indicator of its own; rarer ones share one, which new categories have as
        well. None gives each category its own.

    Returns
    -------
    transformer : scikit-learn transformer
        Not fitted. For a frame it selects columns by type when it is fitted; other types, such as dates, raise an
        error. It returns arrays or CSR matrices, also with ``sklearn.set_config(transform_output="pandas")``.

    See Also
    --------
    load : The data.

    Examples
    --------
    >>> import numpy as np
    >>> from cssvm.datasets import make_preprocessor
    >>> X = np.array([[1.0, 4.0], [3.0, np.nan], [5.0, 8.0]])
    >>> make_preprocessor(X).fit_transform(X).round(1)
    array([[-1.2, -1.2,  0. ],
           [ 0. ,  0. ,  1. ],
           [ 1.2,  1.2,  0. ]])
    """
    if sp.issparse(X):
        return MaxAbsScaler().set_output(transform="default")
    if not hasattr(X, "columns"):
        return column_preprocessor(slice(0, None), [])
    if not hasattr(X, "iloc"):
        kind = f"{type(X).__module__}.{type(X).__name__}"
        raise TypeError(f"X must be a pandas data frame; got {kind}. Pass X.to_pandas().")
    ColumnsOfKind(NUMBER)(X)  # raises for columns of other types, before a search does so in each fold
    return column_preprocessor(ColumnsOfKind(NUMBER), ColumnsOfKind(CATEGORY), min_frequency=min_frequency)
