"""Numeric and categorical columns, and missing values in all their spellings."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from cssvm._preprocessing import CATEGORY, NUMBER, as_text, column_kind
from cssvm.datasets import make_preprocessor


@pytest.mark.parametrize(
    ("values", "dtype", "kind"),
    [
        ([1, 2], "int64", NUMBER),
        ([1, None], "Int64", NUMBER),
        ([1.0, None], "float32", NUMBER),
        ([1.5, None], "double[pyarrow]", NUMBER),
        ([1, 2.5, None], object, NUMBER),
        ([Decimal(1), None], object, NUMBER),
        ([True, False], bool, CATEGORY),
        ([True, None], "boolean", CATEGORY),
        ([True, None], object, CATEGORY),
        (["a", None], object, CATEGORY),
        (["a", None], "string", CATEGORY),
        (["a", None], "string[pyarrow]", CATEGORY),
        ([1, 2], "category", CATEGORY),
        ([None, None], object, CATEGORY),
    ],
)
def test_columns_are_numbers_or_categories_by_their_type(values, dtype, kind):
    assert column_kind(pd.Series(values, dtype=dtype)) == kind


@pytest.mark.parametrize(
    ("column", "got"),
    [
        (pd.to_datetime(["2026-01-01", "2026-01-02"]), "datetime64"),
        (pd.to_timedelta([1, 2], unit="h"), "timedelta64"),
        ([1j, 2j], "complex128"),
        ([[1], [2]], r"\[1\]\."),
        (["a", 1], "1 among strings"),
    ],
    ids=["dates", "durations", "complex", "lists", "mixed"],
)
def test_columns_of_other_types_are_rejected_by_name(column, got):
    frame = pd.DataFrame({"amount": [1.0, 2.0], "odd": column})
    with pytest.raises(ValueError, match=f"column 'odd' must hold numbers, strings or booleans; got {got}"):
        make_preprocessor(frame).fit(frame)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, ""], ids=repr)
@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_a_missing_category_is_the_same_however_it_is_written(missing, dtype):
    train = pd.DataFrame({"city": pd.Series(["graz", None, "wien", "graz"], dtype=object)})
    fitted = make_preprocessor(train).fit(train)
    new = pd.DataFrame({"city": pd.Series(["wien", missing, "linz"], dtype=object).astype(dtype)})
    found = np.asarray(fitted.transform(new), dtype=float)
    np.testing.assert_array_equal(found, [[0, 0, 1], [1, 0, 0], [0, 0, 0]])


def test_booleans_and_their_names_are_the_same_categories():
    assert as_text(pd.Series([True, False])).tolist() == as_text(pd.Series(["True", "False"])).tolist()


def test_a_clone_is_fitted_on_other_columns():
    prepare = make_preprocessor(pd.DataFrame({"a": [1.0]}))
    frame = pd.DataFrame({"b": ["x", "y"], "c": [1.0, np.nan]})
    fitted = clone(prepare).fit(frame)
    assert fitted.get_feature_names_out().tolist() == [
        "numbers__c", "missing__missingindicator_c", "categories__b_x", "categories__b_y"
    ]  # fmt: skip


@pytest.mark.parametrize("missing", [[], [3], [3, 7]], ids=["none missing", "one missing", "two missing"])
@pytest.mark.parametrize("n_categories", [2, 6, 40])
def test_features_are_those_made_by_hand_whether_values_are_missing_or_not(missing, n_categories):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80), "c": [f"c{i % n_categories:02}" for i in range(80)]})
    frame.loc[missing, "x"] = np.nan
    filled = frame["x"].fillna(frame["x"].mean())
    scaled = (filled - filled.mean()) / filled.std(ddof=0)
    indicator = [frame["x"].isna().to_numpy()] if missing else []
    expected = np.column_stack([scaled, *indicator, pd.get_dummies(frame["c"])]).astype(float)
    found = make_preprocessor(frame).fit_transform(frame)
    np.testing.assert_allclose(found.toarray() if hasattr(found, "toarray") else found, expected, atol=1e-12)


def test_missing_values_that_come_only_after_training_are_the_mean():
    train = pd.DataFrame({"x": [1.0, 2.0, 6.0], "c": ["a", "b", "c"]})
    fitted = make_preprocessor(train).fit(train)
    new = np.asarray(fitted.transform(train.assign(x=np.nan)), dtype=float)
    np.testing.assert_allclose(new[:, 0], 0.0, atol=1e-12)
