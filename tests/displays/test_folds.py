import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import cross_validate

from cssvm.displays._scored import score_folds


def test_validation_samples_are_scored_by_the_estimator_of_their_fold(data, model, amounts):
    X, y = data
    results = cross_validate(model, X, y, cv=3, return_estimator=True, return_indices=True)
    folds, pooled = score_folds(results, X, y, fn_cost=amounts, sample_weight=amounts)
    for fold, estimator, rows in zip(folds, results["estimator"], results["indices"]["test"], strict=True):
        np.testing.assert_array_equal(fold.scores, estimator.decision_function(X[rows]))
        np.testing.assert_array_equal(fold.samples.signs, np.where(y[rows] == 1, 1, -1))
        np.testing.assert_array_equal(fold.samples.cost, np.where(y[rows] == 1, amounts[rows], 1.0))
        np.testing.assert_array_equal(fold.samples.weights, amounts[rows])
    assert len(pooled.samples) == len(y)


def test_scores_that_are_not_finite_are_rejected(data):
    X, y = data

    class Broken(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

        def decision_function(self, X):
            return np.full(len(X), np.nan)

    results = cross_validate(Broken(), X, y, cv=3, return_estimator=True, return_indices=True)
    with pytest.raises(ValueError, match="decision_function of Broken must return finite numbers; got nan"):
        score_folds(results, X, y)


def test_a_series_of_costs_finds_its_samples_by_the_index_of_y(data, model, amounts):
    pd = pytest.importorskip("pandas")
    X, y = data
    results = cross_validate(model, X, y, cv=3, return_estimator=True, return_indices=True)
    names = [f"row {i}" for i in range(len(y))]
    shuffled = pd.Series(amounts, index=names).sample(frac=1.0, random_state=0)
    by_index = score_folds(results, X, pd.Series(y, index=names), fn_cost=shuffled).folds
    by_place = score_folds(results, X, y, fn_cost=amounts).folds
    for one, other in zip(by_index, by_place, strict=True):
        np.testing.assert_array_equal(one.samples.cost, other.samples.cost)


def test_cv_results_without_estimators_are_rejected_with_the_call_to_make(data, model):
    with pytest.raises(ValueError, match="return_estimator=True, return_indices=True"):
        score_folds(cross_validate(model, *data, cv=2), *data)
