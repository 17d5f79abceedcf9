"""What has to be learnt from rows before an SVM sees them: medians, vocabularies, scales."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

# A word with fewer rows than this shares an indicator with the other rare ones.
RARE = 20


def make_preprocessor(X: Any, *, min_frequency: int = RARE) -> Any:
    """Make a transformer for a pipeline, so that whatever is learnt from rows is learnt from training rows only.

    Missing numbers become the median and, where any were missing, get an indicator; numbers are standardised; words
    become indicators, the rare ones of a column together. Sparse rows are scaled by the largest absolute value of each
    column, which keeps zeros zero; ``siam1``, ``siam11`` and ``webspam`` have rows of length 1 and need no scaling.

    Parameters
    ----------
    X : array, CSR matrix or DataFrame, (n_samples, n_features)
        ``data`` or ``frame`` of what `load` returned; only its type is looked at.

    min_frequency : int, default=20
        Rows that a word must have for an indicator of its own.

    Returns
    -------
    transformer : scikit-learn transformer
        Not fitted. For a frame it selects columns by type, so that it does for any frame with numbers and words.

    See Also
    --------
    load : The data.

    Examples
    --------
    >>> import numpy as np
    >>> from cssvm.datasets import make_preprocessor
    >>> X = np.array([[1.0, 4.0], [3.0, np.nan], [5.0, 8.0]])
    >>> make_preprocessor(X).fit_transform(X).round(1)
    array([[-1.2, -1.2, -0.7],
           [ 0. ,  0. ,  1.4],
           [ 1.2,  1.2, -0.7]])
    """
    if sp.issparse(X):
        return MaxAbsScaler()
    if not hasattr(X, "columns"):
        return _for_numbers()
    words = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=min_frequency)
    return make_column_transformer(
        (_for_numbers(), make_column_selector(dtype_include=np.number)),
        (words, make_column_selector(dtype_exclude=np.number)),
    )


def _for_numbers() -> Any:
    return make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
