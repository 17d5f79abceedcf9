"""The estimators behave as scikit-learn expects: cloning, pipelines, searches, routing."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from cssvm import (
    BiasedPenaltySVC,
    BoundaryMovementSVC,
    CostSensitiveLinearSVC,
    CostSensitiveSVC,
)

ESTIMATORS = [CostSensitiveSVC, BiasedPenaltySVC, BoundaryMovementSVC]


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(120, 6, n_informative=4, flip_y=0.1, weights=[0.7], random_state=3)
    amounts = np.random.default_rng(3).lognormal(1.0, 1.0, len(y)) + 2.0
    return X, y, amounts


def scaled(X):
    return StandardScaler().fit_transform(X)


@pytest.mark.parametrize("estimator", [*ESTIMATORS, CostSensitiveLinearSVC])
def test_pickle_keeps_the_decision_function(estimator, data):
    X, y, _ = data
    model = estimator(fn_cost=3.0).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_clone_keeps_parameters_and_forgets_the_fit(estimator, data):
    X, y, _ = data
    model = estimator(C=2.0, fn_cost=3.0, kernel="laplacian", pos_label=0).fit(X, y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not any(name.endswith("_") for name in vars(copy))


def test_constructor_only_stores():
    nonsense = object()
    model = CostSensitiveSVC(nonsense, fn_cost=nonsense, kappa=nonsense, kernel=nonsense, pos_label=nonsense)
    assert model.C is model.fn_cost is model.kappa is model.kernel is model.pos_label is nonsense


def test_grid_search_over_costs_and_margin(data):
    X, y, _ = data
    grid = {"costsensitivesvc__C": [0.1, 1.0], "costsensitivesvc__kappa": [0.5, 1.0]}
    pipeline = make_pipeline(StandardScaler(), CostSensitiveSVC(fn_cost=2.0))
    search = GridSearchCV(pipeline, grid, cv=3, scoring="roc_auc", error_score="raise").fit(X, y)
    assert search.best_score_ > 0.8


def test_costs_reach_a_pipeline_step_without_routing(data):
    X, y, amounts = data
    pipeline = make_pipeline(StandardScaler(), CostSensitiveSVC())
    pipeline.fit(X, y, costsensitivesvc__fn_cost=amounts)
    direct = CostSensitiveSVC().fit(scaled(X), y, fn_cost=amounts)
    np.testing.assert_array_equal(pipeline.decision_function(X), direct.decision_function(scaled(X)))


@pytest.mark.parametrize("estimator", [*ESTIMATORS, CostSensitiveLinearSVC])
def test_cross_val_score_routes_example_costs_to_each_fold(estimator, data):
    X, y, amounts = data
    folds = StratifiedKFold(3)
    with config_context(enable_metadata_routing=True):
        model = estimator().set_fit_request(fn_cost=True)
        routed = cross_val_score(model, X, y, cv=folds, params={"fn_cost": amounts})
    by_hand = [
        estimator().fit(X[train], y[train], fn_cost=amounts[train]).score(X[test], y[test])
        for train, test in folds.split(X, y)
    ]
    np.testing.assert_array_equal(routed, by_hand)


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"),
    reason="a pipeline hands weights on to the score of its last step since scikit-learn 1.8",
)
def test_grid_search_routes_costs_margins_and_weights_through_a_pipeline(data):
    X, y, amounts = data
    kappa, weight = 1 / (1 + amounts / amounts.max()), np.linspace(0.5, 2.0, len(y))
    with config_context(enable_metadata_routing=True):
        svc = CostSensitiveSVC().set_fit_request(fn_cost=True, fp_cost=False, kappa=True, sample_weight=True)
        svc.set_score_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        search = GridSearchCV(make_pipeline(scaler, svc), {"costsensitivesvc__C": [0.5]}, cv=3, error_score="raise")
        search.fit(X, y, fn_cost=amounts, kappa=kappa, sample_weight=weight)
        assert not svc.get_metadata_routing().fit.requests["fp_cost"]
    direct = CostSensitiveSVC(C=0.5)
    direct.fit(scaled(X), y, fn_cost=amounts, kappa=kappa, sample_weight=weight)
    np.testing.assert_array_equal(search.best_estimator_[-1].dual_coef_, direct.dual_coef_)


def test_one_vs_rest_makes_a_multiclass_classifier():
    X, y = load_iris(return_X_y=True)
    model = OneVsRestClassifier(CostSensitiveSVC(fn_cost=2.0, kappa=0.5)).fit(X, y)
    assert model.score(X, y) > 0.95


def test_calibration_gives_probabilities():
    X, y = load_breast_cancer(return_X_y=True)
    X = scaled(X)
    model = CalibratedClassifierCV(CostSensitiveSVC(fn_cost=4.0, pos_label=0), cv=3).fit(X, y)
    assert np.mean((model.predict_proba(X)[:, 1] - y) ** 2) < 0.05
