"""Folds of the library: weights of 0, few samples, few groups."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cssvm import BoundaryMovementSVC, CostThresholdClassifier
from cssvm._core.folds import make_splits

X = np.random.default_rng(0).normal(size=(40, 2))
Y = (np.arange(40) % 2).astype(int)


@pytest.mark.parametrize("grouped", [False, True])
def test_samples_of_weight_zero_are_as_if_removed(grouped):
    kept = np.sort(np.random.default_rng(1).permutation(40)[:25])
    weights, groups = np.zeros(40), np.arange(40) // 2 if grouped else None
    weights[kept] = 2.0
    found = make_splits(3, X, Y, positive=Y == 1, weights=weights, groups=groups)
    own = make_splits(3, X[kept], Y[kept], positive=Y[kept] == 1, groups=groups[kept] if grouped else None)
    for with_zeros, removed in zip(found, own, strict=True):
        np.testing.assert_array_equal(with_zeros.train, kept[removed.train])
        np.testing.assert_array_equal(with_zeros.valid, kept[removed.valid])


@pytest.mark.parametrize("method", ["bayes", "tuned"])
def test_a_wrapper_with_weights_of_zero_is_the_one_without_these_samples(method):
    y, weights = (np.arange(40) < 20).astype(int), np.ones(40)
    weights[6:20] = 0.0  # six positive samples are left
    model = CostThresholdClassifier(LogisticRegression(), method=method)
    whole = model.fit(X, y, sample_weight=weights).decision_function(X)
    kept = weights > 0
    np.testing.assert_allclose(whole, model.fit(X[kept], y[kept]).decision_function(X), atol=1e-6)


def test_groups_are_counted_against_the_folds_that_are_made():
    y = (np.arange(40) < 3).astype(int)
    with pytest.warns(UserWarning, match="3 stratified folds are used"):
        folds = make_splits(5, X, y, positive=y == 1, groups=np.arange(40) % 4)
    assert len(folds) == 3
    with pytest.raises(ValueError, match="got 2 groups, fewer than 5 folds"):
        make_splits(5, X, Y, positive=Y == 1, groups=np.arange(40) % 2)


@pytest.mark.parametrize("cv", [None, 3])
def test_groups_of_another_length_are_rejected(cv):
    with pytest.raises(ValueError, match=r"groups must hold one value for each sample, shape \(40,\)"):
        BoundaryMovementSVC(cv=cv).fit(X, Y, groups=["anything"])


@pytest.mark.parametrize("cv", [np.nan, np.inf, 1.5, 1])
def test_a_number_of_folds_is_an_integer_of_at_least_two(cv):
    with pytest.raises(ValueError, match="cv must be an integer of at least 2"):
        make_splits(cv, X, Y, positive=Y == 1)
