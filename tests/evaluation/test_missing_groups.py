"""Samples with a missing group are groups of their own, in `evaluate` and in the folds of a search."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cssvm import evaluate
from cssvm._core.folds import check_groups, make_splits, separate_missing_groups

MISSING = {
    "nan": lambda known, codes: np.where(known, codes, np.nan),
    "None": lambda known, codes: np.where(known, codes.astype(str), None),
    "empty": lambda known, codes: np.where(known, codes.astype(str), ""),
    "pandas": lambda known, codes: pd.Series(codes).astype("Int64").mask(~known).to_numpy(dtype=object),
    "times": lambda known, codes: np.where(known, codes.astype("datetime64[D]"), np.datetime64("NaT")),
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    return X, (X[:, 0] + rng.normal(size=60) > 0).astype(int), np.arange(60) % 2 == 0, np.arange(60) // 6


@pytest.mark.parametrize("kind", MISSING)
def test_missing_groups_are_evaluated_as_groups_of_their_own(kind, rows):
    X, y, known, codes = rows
    own = np.where(known, codes, 100 + np.arange(60))
    expected = evaluate(LogisticRegression(), X, y, fn_cost=5.0, groups=own, n_resamples=20)
    with pytest.warns(UserWarning, match="missing or empty on 30 of 60 samples: each of them is a group of its own"):
        found = evaluate(LogisticRegression(), X, y, fn_cost=5.0, groups=MISSING[kind](known, codes), n_resamples=20)
    assert found.model.cost == expected.model.cost


def test_folds_part_rows_without_a_group(rows):
    X, y, known, codes = rows
    with pytest.warns(UserWarning, match="30 of 60"):
        folds = make_splits(5, X, y, positive=y == 1, groups=np.where(known, codes, np.nan))
    for fold in folds:
        assert not set(codes[fold.train][known[fold.train]]) & set(codes[fold.valid][known[fold.valid]])
        assert len(fold.valid) < 24  # no fold holds all rows without a group


def test_groups_without_missing_entries_stay_as_they_are():
    groups = np.array(["b", "a", "b"], dtype=object)
    assert separate_missing_groups(groups) == (groups, 0)


@pytest.mark.parametrize("missing", [[], [None]], ids=["none missing", "one missing"])
def test_groups_of_both_strings_and_numbers_are_rejected(missing):
    groups = pd.Series([7, "a", 7, "a", *missing], dtype=object)
    with pytest.raises(ValueError, match="groups must all be numbers or all be strings; got 7 and 'a'"):
        check_groups(groups, len(groups))
