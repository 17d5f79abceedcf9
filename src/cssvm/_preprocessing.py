"""How columns become features: the rule of `make_preprocessor`, also for `cssvm train` and `cssvm.dask`.

Features are the numbers, then indicators of missing numbers, then those of categories in alphabetical order. Means,
variances and categories are those of the training samples with positive weight, each counted once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.utils.validation import validate_data

NUMBER, CATEGORY = "number", "category"
MISSING = ""  # the category of missing values
NUMBERS_AS_OBJECTS = ("integer", "floating", "mixed-integer-float", "decimal")  # names of pandas for object columns


def make_preprocessor(X: Any, *, min_frequency: int | None = None) -> Any:
    """Make the transformer of columns that ``cssvm train`` uses, to be fitted on training samples in a pipeline.

    Missing numbers become the mean, then numbers are scaled to mean 0 and variance 1; each numeric column with missing
    values in training gets an indicator column. Strings, booleans and pandas categoricals get an indicator column for
    each category seen in training, a missing value being a category; all 0 for an unseen one. Sparse matrices are
    scaled by the largest absolute value of each column, which keeps zeros zero.

    Parameters
    ----------
    X : array, CSR matrix or pandas DataFrame, (n_samples, n_features)
        ``data`` or ``frame`` as returned by `load`; only its type and its columns are used.
    min_frequency : int, default=None
        Samples that a category needs for an indicator of its own; rarer ones share one, as do unseen categories. If
        None, each category has its own.

    Returns
    -------
    transformer : scikit-learn transformer
        Not fitted. It returns arrays or CSR matrices, also with ``sklearn.set_config(transform_output="pandas")``.
        Columns of other types, such as dates, raise an error.

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


def column_preprocessor(
    numbers: Any,
    categories: Any,
    *,
    known: Any = "auto",
    min_frequency: int | None = None,
    scale: bool = True,
    sparse: bool = True,
) -> ColumnTransformer:
    """Return an unfitted transformer that applies the rule of this module to columns given to `ColumnTransformer`.

    known : the categories of each column, "auto" to learn them; sparse : whether the result may be sparse
    """
    scaling = [("scale", StandardScaler())] if scale else []
    # Without a mean and a variance the scaler only converts: None among objects becomes NaN, the missing value.
    convert = StandardScaler(with_mean=False, with_std=False)
    encode = OneHotEncoder(
        categories=known, handle_unknown="infrequent_if_exist", min_frequency=min_frequency, sparse_output=sparse
    )
    missing: Any = [] if isinstance(numbers, list) and not numbers else ColumnsWithMissing(numbers)
    steps = [
        ("numbers", Pipeline([("fill", SimpleImputer(strategy="mean", keep_empty_features=True)), *scaling]), numbers),
        ("missing", Pipeline([("convert", convert), ("missing", MissingIndicator(features="all"))]), missing),
        ("categories", Pipeline([("text", CategoriesAsText()), ("encode", encode)]), categories),
    ]
    present = [step for step in steps if not (isinstance(step[2], list) and len(step[2]) == 0)]
    made = ColumnTransformer(present, sparse_threshold=0.3 if sparse else 0.0)
    return made.set_output(transform="default")  # sparse indicators are no data frame, whatever set_config says


def fitted_preprocessor(
    numbers: list[str],
    scaler: StandardScaler,
    has_missing: NDArray[np.bool_],
    categories: dict[str, list[str]],
    *,
    scale: bool,
) -> ColumnTransformer:
    """Return the dense transformer of a data frame that was fitted on samples with these statistics.

    scaler : of the numbers, fitted, whose means also replace missing values; categories : by the name of their column
    """
    import pandas as pd

    known = [np.array(each, dtype=object) for each in categories.values()]
    made = column_preprocessor(numbers, [*categories], known=known, scale=scale, sparse=False)
    # Fitted on two samples with the columns and the missing values; then statistics are those of all samples.
    pairs: dict[str, list[Any]] = {
        name: [0.0, np.nan if missing else 1.0] for name, missing in zip(numbers, has_missing, strict=True)
    }
    made.fit(pd.DataFrame(pairs | {name: each[:1] * 2 for name, each in categories.items()}))
    if numbers:
        steps = made.named_transformers_["numbers"]
        steps["fill"].statistics_ = scaler.mean_.copy()
        if scale:
            steps.steps[1] = ("scale", scaler)
    return made


def fitted_scaler(n_samples: int, mean: NDArray[np.float64], variance: NDArray[np.float64]) -> StandardScaler:
    """Return a StandardScaler with these statistics of columns, (n_features,) each."""
    scaler = StandardScaler()
    scaler.mean_, scaler.var_ = mean.copy(), variance.copy()
    # As in scikit-learn, a variance that rounding errors explain is 0.
    rounding = n_samples * np.finfo(float).eps
    constant = variance <= rounding * variance + (rounding * mean) ** 2
    scaler.scale_ = np.where(constant, 1.0, np.sqrt(np.where(constant, 1.0, variance)))
    scaler.n_features_in_, scaler.n_samples_seen_ = len(mean), n_samples
    return scaler


class CategoriesAsText(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Categorical columns as strings: None, NaN and pandas.NA become "", and True becomes "True"."""

    def fit(self, X: Any, y: Any = None) -> CategoriesAsText:
        validate_data(self, X, skip_check_array=True)
        return self

    def transform(self, X: Any) -> NDArray[np.object_]:
        import pandas as pd

        validate_data(self, X, reset=False, skip_check_array=True)
        frame = X if hasattr(X, "iloc") else pd.DataFrame(X)
        return np.column_stack([as_text(frame.iloc[:, k]) for k in range(frame.shape[1])])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags


class ColumnsOfKind:
    """Select the columns of a data frame that are of a kind: a callable for `ColumnTransformer`."""

    def __init__(self, kind: str):
        self.kind = kind

    def __call__(self, X: Any) -> list[Any]:
        return [name for k, name in enumerate(X.columns) if column_kind(X.iloc[:, k]) == self.kind]


class ColumnsWithMissing:
    """Select those of some columns that have missing values in training: a callable for `ColumnTransformer`."""

    def __init__(self, columns: Any):
        self.columns = columns

    def __call__(self, X: Any) -> list[Any]:
        columns = self.columns(X) if callable(self.columns) else self.columns
        if hasattr(X, "iloc"):
            part = X[columns] if isinstance(columns, list) else X.iloc[:, columns]
            return part.columns[part.isna().any()].tolist()
        places = np.arange(X.shape[1])[columns]
        return places[np.isnan(np.asarray(X[:, places], dtype=np.float64)).any(axis=0)].tolist()


def column_kind(column: Any) -> str:
    """Return whether a pandas Series holds numbers or categories; raise ValueError for anything else."""
    import pandas as pd

    dtype, inferred = column.dtype, None
    if isinstance(dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(dtype):
        return CATEGORY
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        return NUMBER
    if dtype == np.dtype(object):
        inferred = pd.api.types.infer_dtype(column, skipna=True)
        if inferred in NUMBERS_AS_OBJECTS:
            return NUMBER
    if inferred in ("string", "boolean", "empty") or (inferred is None and pd.api.types.is_string_dtype(dtype)):
        return CATEGORY
    got = str(dtype)
    if inferred is not None:
        entries = column.dropna()
        is_text = [isinstance(each, str) for each in entries]
        got = repr(entries.iloc[is_text.index(False)]) + (" among strings" if any(is_text) else "")
    raise ValueError(
        f"column {column.name!r} must hold numbers, strings or booleans; got {got}. Convert it, for example dates to "
        "days since a date, or leave it out of the features."
    )


def as_text(column: Any) -> NDArray[np.object_]:
    """Return the entries of a pandas Series as strings (n_samples,), "" for missing values."""
    import pandas as pd

    if column.dtype == np.dtype(object) and pd.api.types.infer_dtype(column, skipna=False) == "string":
        return column.to_numpy()
    known = column.notna().to_numpy()
    text = np.full(len(column), MISSING, dtype=object)
    text[known] = [str(entry) for entry in column[known]]
    return text
