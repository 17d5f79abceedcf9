"""German credit: 20 categorical and numeric columns, labels 1 (good) and 2 (bad), costs 5 : 1."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

AMOUNT = 4


def raw(real, n=400, gaps=True):
    """Some rows as a frame and their labels as a Series, a few numbers missing."""
    bunch = real("german_credit")
    rows = np.random.default_rng(0).permutation(len(bunch.target))[:n]
    X, y = bunch.frame.iloc[rows].copy(), pd.Series(bunch.target + 1, name="class").iloc[rows]
    if gaps:
        X.iloc[::17, AMOUNT] = np.nan
    return X, y


def preparation(X):
    """Typical preprocessing: missing values imputed, categories encoded, numbers scaled."""
    words = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    numbers = [name for name in X.columns if name not in words]
    return make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore"), words),
    )


def prepared(real, n=400):
    """A matrix of numbers and the labels as an array."""
    X, y = raw(real, n)
    values = preparation(X).fit_transform(X)
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values), y.to_numpy()
