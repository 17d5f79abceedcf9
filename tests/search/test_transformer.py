"""A transformer inside a search is used as in a pipeline."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

from cssvm import CostSensitiveLinearSVCCV, CostSensitiveSVC, CostSensitiveSVCCV
from cssvm._core.folds import Fold
from cssvm._search.fold_data import FoldFeatures

pytestmark = pytest.mark.filterwarnings("ignore:`TargetEncoder:FutureWarning")


@pytest.fixture(scope="module")
def categories():
    """Two columns of categories, one of them informative."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 12, 90), rng.integers(0, 3, 90)]).astype(str).astype(object)
    return X, (X[:, 0].astype(int) + 4 * rng.normal(size=90) > 6).astype(int)


ENCODER = TargetEncoder(cv=3, random_state=0)


@pytest.mark.parametrize("encoder", [ENCODER, OneHotEncoder(handle_unknown="ignore")], ids=["dense", "sparse"])
@pytest.mark.parametrize("train", [np.arange(60), np.repeat(np.arange(20, 50), 2)], ids=["plain", "repeated"])
def test_features_of_a_fold_are_those_of_a_pipeline(categories, encoder, train):
    X, y = categories
    valid = np.arange(45, 90)  # some of them are trained on as well
    found, places = FoldFeatures(X, y, encoder).of_fold(Fold(train, valid))
    pipeline = make_pipeline(clone(encoder))
    expected = pipeline.fit_transform(X[train], y[train]), pipeline.transform(X[valid])
    for part, values in zip(places, expected, strict=True):
        np.testing.assert_array_equal(_dense(found[part]), _dense(values))


def _dense(values):
    return values.toarray() if sp.issparse(values) else values


def test_each_point_is_scored_as_its_pipeline_is(categories):
    X, y = categories
    cv = [(np.flatnonzero(np.arange(90) % 3 != k), np.flatnonzero(np.arange(90) % 3 == k)) for k in range(3)]
    search = CostSensitiveSVCCV(Cs=[3.0], gammas=[0.5], cv=cv, transformer=ENCODER, tol=1e-6).fit(X, y)
    for train, valid in cv:
        model = make_pipeline(clone(ENCODER), CostSensitiveSVC(C=3.0, gamma=0.5, tol=1e-6)).fit(X[train], y[train])
        np.testing.assert_allclose(search.held_out_scores_[valid], model.decision_function(X[valid]), atol=1e-4)
    final = make_pipeline(clone(ENCODER), CostSensitiveSVC(C=3.0, gamma=0.5, tol=1e-6)).fit(X, y)
    np.testing.assert_allclose(search.decision_function(X), final.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("search", [CostSensitiveSVCCV(gammas=[0.5], tol=1e-6), CostSensitiveLinearSVCCV()])
def test_samples_of_weight_zero_are_as_if_removed(categories, search):
    X, y = categories
    weight = np.where(np.arange(90) % 7 == 0, 0.0, 1.0)
    X = np.where(weight[:, np.newaxis] > 0, X, "a category that is nowhere else")
    kept = np.flatnonzero(weight)
    search.set_params(Cs=[0.3, 3.0], transformer=ENCODER)
    rows = np.arange(90)
    cv = [(rows[rows % 2 == k], rows[rows % 2 != k]) for k in range(2)]
    of_kept = [tuple(np.flatnonzero(np.isin(kept, part)) for part in parts) for parts in cv]
    weighted = clone(search).set_params(cv=cv).fit(X, y, sample_weight=weight)
    removed = clone(search).set_params(cv=of_kept).fit(X[kept], y[kept])
    np.testing.assert_allclose(weighted.cv_results_["mean_test_score"], removed.cv_results_["mean_test_score"])
    np.testing.assert_allclose(weighted.decision_function(X), removed.decision_function(X), atol=1e-6)


def test_a_parameter_set_after_fit_does_not_change_predictions():
    X, y = make_classification(60, 4, random_state=0)
    search = CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], cv=2, transformer=StandardScaler()).fit(1.0 + 9.0 * X, y)
    before = search.decision_function(1.0 + 9.0 * X)
    np.testing.assert_array_equal(search.set_params(transformer=None).decision_function(1.0 + 9.0 * X), before)
    plain = CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], cv=2).fit(X, y)
    np.testing.assert_array_equal(search.fit(X, y).decision_function(X), plain.decision_function(X))


def test_models_that_do_not_converge_behind_an_ensemble_are_reported(monkeypatch):
    """An ensemble that is not fitted has no length, and so no boolean value."""
    monkeypatch.setattr("cssvm._solvers.dual.tuning.PATH_MAX_STEPS", 0)
    X, y = make_classification(60, 4, random_state=0)
    transformer = RandomTreesEmbedding(n_estimators=3, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], cv=2, transformer=transformer).fit(X, y)
    (message,) = [str(each.message) for each in caught if issubclass(each.category, ConvergenceWarning)]
    assert "did not converge" in message
    assert "StandardScaler" not in message
