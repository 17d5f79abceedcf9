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
    X : array, CSR matrix or pandas DataFrame, (n_samples, n_features)
        ``data`` or ``frame`` of what `load` returned; only its type is looked at.

    min_frequency : int, default=20
        Rows that a word must have for an indicator of its own.

    Returns
    -------
    transformer : scikit-learn transformer
        Not fitted. For a frame it selects columns by type, so that it does for any frame with numbers and words. It
        returns arrays or CSR matrices, also with ``sklearn.set_config(transform_output="pandas")``.

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
        found = MaxAbsScaler()
    elif not hasattr(X, "columns"):
        found = _for_numbers()
    else:
        _check_frame(X)
        words = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=min_frequency)
        found = make_column_transformer(
            (_for_numbers(), make_column_selector(dtype_include=np.number)),
            (words, make_column_selector(dtype_exclude=np.number)),
        )
    return found.set_output(transform="default")  # sparse indicators are no data frame, whatever set_config says


def _check_frame(X: Any) -> None:
    """Raise for frames of other libraries than pandas, and for dates and times, which are neither numbers nor words."""
    if not hasattr(X, "iloc"):
        kind = f"{type(X).__module__}.{type(X).__name__}"
        raise TypeError(f"X must be a pandas data frame; got {kind}. Pass X.to_pandas().")
    dates = [str(name) for name, dtype in X.dtypes.items() if getattr(dtype, "kind", None) in ("m", "M")]
    if dates:
        raise ValueError(
            f"X must have columns of numbers and of categories; got dates or times in {', '.join(dates)}. Turn them "
            "into numbers, such as days since a date, or leave them out."
        )


def _for_numbers() -> Any:
    return make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
