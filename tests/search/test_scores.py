"""The scores of a search are those of training every point on every fold by itself."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, PredefinedSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from cssvm import CostSensitiveSVC, CostSensitiveSVCCV
from cssvm.metrics import cost_risk, income, min_cost_risk, tn_auc_loss, tp_auc_loss
from tests.kernels.registry import CASES

CS = [0.1, 1.0, 20.0]
GAMMAS = [0.01, 0.1, 1.0]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(240, 6, n_informative=4, flip_y=0.1, weights=[0.7], random_state=1)
    return X, y


def risk_scorer(fn_cost):
    return make_scorer(cost_risk, greater_is_better=False, fn_cost=fn_cost)


def fold_scores(model, X, y, folds, measure, **fit_params):
    """The measure on the validation samples of a model trained on each fold."""
    values = []
    for train, valid in folds:
        routed = {name: value[train] for name, value in fit_params.items()}
        fitted = model.fit(X[train], y[train], **routed)
        values.append(measure(y[valid], fitted, X[valid], valid))
    return np.array(values)


def assert_same_winner(search, other, *, slack):
    """The same point wins, or a tie within `slack` decides."""
    ours, theirs = search.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
    assert search.best_index_ == other.best_index_ or abs(theirs[search.best_index_] - theirs.max()) <= slack
    assert ours.max() == pytest.approx(theirs.max(), abs=slack)


def compare_with_svc(X, y, fn_cost, cv, Cs=CS, gammas=GAMMAS):
    """All scores next to those of GridSearchCV over SVC; a sample within tol of the threshold may be on either side."""
    ours = CostSensitiveSVCCV(Cs=Cs, gammas=gammas, fn_cost=fn_cost, cv=cv).fit(X, y)
    theirs = GridSearchCV(
        SVC(class_weight={1: fn_cost}), {"C": Cs, "gamma": gammas}, scoring=risk_scorer(fn_cost), cv=cv
    ).fit(X, y)
    a, b = ours.cv_results_, theirs.cv_results_
    assert [(p["C"], p["gamma"]) for p in a["params"]] == [(p["C"], p["gamma"]) for p in b["params"]]
    one_row = fn_cost / min(len(valid) for _, valid in cv.split(X, y))
    difference = np.abs(a["mean_test_score"] - b["mean_test_score"])
    assert difference.max() <= one_row
    assert np.mean(difference > 1e-12) <= 0.1
    assert_same_winner(ours, theirs, slack=one_row)


def test_scores_are_those_of_grid_search_over_svc_with_class_weights(data):
    compare_with_svc(*data, fn_cost=4.0, cv=FOLDS)


@pytest.mark.parametrize("name", ["german_credit", "heart"])
def test_scores_on_real_data_are_those_of_grid_search_over_svc(real, name):
    bunch = real(name)
    compare_with_svc(StandardScaler().fit_transform(bunch.data), bunch.target, fn_cost=bunch.fn_cost, cv=FOLDS)


@pytest.mark.parametrize("pos_label", [0, 1])
def test_every_point_scores_as_its_own_model_does(data, pos_label):
    """Slopes, margins and the C that goes with them: `params` are what CostSensitiveSVC is to be given."""
    X, y = data
    search = CostSensitiveSVCCV(
        Cs=[0.3, 10.0], gammas=[0.05, 0.5], fn_costs=[0.5, 1.0, 3.0, 6.0], kappas=[1.0, 0.25, "tied"], fp_cost=2.0,
        fn_cost=3.0, cv=FOLDS, pos_label=pos_label, tol=1e-5,
    ).fit(X, y)  # fmt: skip
    results = search.cv_results_
    assert len(results["params"]) == 2 * 2 * 2 * 2 * 3
    assert search.n_fits_ == 2 * 2 * 4  # kappa needs none
    folds = list(FOLDS.split(X, y))

    def measure(y_valid, model, X_valid, rows):
        return -cost_risk(y_valid, model.predict(X_valid), fn_cost=3.0, fp_cost=2.0, pos_label=pos_label)

    splits = np.column_stack([results[f"split{k}_test_score"] for k in range(3)])
    for point in range(0, 48, 5):
        model = CostSensitiveSVC(**results["params"][point], pos_label=pos_label, tol=1e-5)
        expected = fold_scores(model, X, y, folds, measure)
        np.testing.assert_allclose(splits[point], expected, atol=3.0 / 80 + 1e-12)
        assert np.mean(np.abs(splits[point] - expected) > 1e-12) <= 1 / 3


def example_costs(y, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.6, 5.0, len(y)), rng.uniform(0.6, 2.0, len(y))


@pytest.mark.parametrize("kappa", ["tied", 0.5])
def test_costs_and_weights_of_every_row_are_trained_and_scored_with(data, kappa):
    X, y = data
    fn_cost, fp_cost = example_costs(y)
    weight = np.random.default_rng(3).uniform(0.5, 2.0, len(y))
    search = CostSensitiveSVCCV(Cs=[1.0, 10.0], gammas=[0.1], fn_costs=[1.0, 2.0], kappas=[kappa], cv=FOLDS, tol=1e-5)
    search.fit(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=weight)

    def measure(y_valid, model, X_valid, rows):
        return -cost_risk(
            y_valid, model.predict(X_valid), fn_cost=fn_cost[rows], fp_cost=fp_cost[rows], sample_weight=weight[rows]
        )

    for point, params in enumerate(search.cv_results_["params"]):
        model = CostSensitiveSVC(C=params["C"], gamma=params["gamma"], kappa=params["kappa"], tol=1e-5)
        costs = {"fn_cost": params["fn_cost"] * fn_cost, "fp_cost": fp_cost, "sample_weight": weight}
        expected = fold_scores(model, X, y, FOLDS.split(X, y), measure, **costs)
        found = [search.cv_results_[f"split{k}_test_score"][point] for k in range(3)]
        np.testing.assert_allclose(found, expected, atol=1e-9)
    refitted = CostSensitiveSVC(**search.best_params_, tol=1e-5).fit(
        X, y, fn_cost=search.best_params_["fn_cost"] * fn_cost, fp_cost=fp_cost, sample_weight=weight
    )
    np.testing.assert_allclose(search.decision_function(X), refitted.decision_function(X), atol=1e-9)


MEASURES = {
    "min_risk": lambda y, f: -min_cost_risk(y, f, fn_cost=3.0).risk,
    "tp_auc": lambda y, f: -tp_auc_loss(y, f),
    "tn_auc": lambda y, f: -tn_auc_loss(y, f),
    "income": lambda y, f: income(y, (f > 0).astype(int), tp_cost=-3.0, fp_cost=1.0),
    "roc_auc": lambda y, f: 1 - tp_auc_loss(y, f, t=0.0),
    "balanced_accuracy": lambda y, f: 0.5 * (np.mean(f[y == 1] > 0) + np.mean(f[y == 0] <= 0)),
}


@pytest.mark.parametrize("scoring", MEASURES)
def test_each_scoring_is_the_measure_of_that_name(data, scoring):
    X, y = data
    search = CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], kappas=[1.0, 0.5], fn_cost=3.0, scoring=scoring, cv=FOLDS)
    search.set_params(tol=1e-6, decision="zero").fit(X, y)

    def measure(y_valid, model, X_valid, rows):
        return MEASURES[scoring](y_valid, model.decision_function(X_valid))

    for point, kappa in enumerate([1.0, 0.5]):
        model = CostSensitiveSVC(C=(1 + kappa) / 2, gamma=0.1, fn_cost=3.0, kappa=kappa, tol=1e-6)
        expected = fold_scores(model, X, y, FOLDS.split(X, y), measure)
        found = [search.cv_results_[f"split{k}_test_score"][point] for k in range(3)]
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("kernel", [*CASES, "callable", "precomputed"])
def test_every_kernel_scores_as_its_own_model_does(data, kernel):
    X, y = data
    X = StandardScaler().fit_transform(X)
    chosen = {"callable": lambda A, B: (1.0 + A @ B.T) ** 2, "precomputed": "precomputed"}.get(kernel, kernel)
    K = X @ X.T + np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
    rows = K if kernel == "precomputed" else X
    search = CostSensitiveSVCCV(Cs=[0.1, 1.0], gammas=[0.05], kernel=chosen, cv=FOLDS, tol=1e-5)
    search.fit(rows, y)
    for point, params in enumerate(search.cv_results_["params"]):
        model = CostSensitiveSVC(kernel=chosen, tol=1e-5, **params)
        grid = GridSearchCV(model, {"C": [params["C"]]}, scoring=risk_scorer(1.0), cv=FOLDS).fit(rows, y)
        assert search.cv_results_["mean_test_score"][point] == pytest.approx(grid.best_score_, abs=1 / 80 + 1e-12)
    assert len(search.cv_results_["params"]) == 2


@pytest.mark.parametrize("kernel", CASES)
def test_sparse_samples_score_as_dense_ones(data, kernel):
    X, y = data
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    searches = [
        CostSensitiveSVCCV(Cs=CS, gammas=GAMMAS, kernel=kernel, cv=FOLDS).fit(kind(X), y)
        for kind in (np.asarray, sparse.csr_array)
    ]
    dense, packed = (search.cv_results_["mean_test_score"] for search in searches)
    np.testing.assert_allclose(packed, dense, atol=1 / 80 + 1e-12)
    assert np.mean(packed == dense) > 0.8


def test_a_fixed_validation_set_is_one_fold(data):
    X, y = data
    split = PredefinedSplit(np.where(np.arange(len(y)) < 160, -1, 0))
    compare_with_svc(X, y, fn_cost=2.0, cv=split)


def test_a_transformer_is_fitted_on_the_training_samples_of_each_fold_only(data):
    X, y = data
    X = X * [1.0, 100.0, 0.01, 1.0, 10.0, 5.0] + 7.0
    X[:5] *= 30.0  # outliers that a scaler fitted on all samples would see
    ours = CostSensitiveSVCCV(Cs=CS, gammas=GAMMAS, transformer=StandardScaler(), fn_cost=3.0, cv=FOLDS).fit(X, y)
    model = make_pipeline(StandardScaler(), CostSensitiveSVC(fn_cost=3.0))
    grid = {"costsensitivesvc__C": CS, "costsensitivesvc__gamma": GAMMAS}
    theirs = GridSearchCV(model, grid, scoring=risk_scorer(3.0), cv=FOLDS).fit(X, y)
    difference = np.abs(ours.cv_results_["mean_test_score"] - theirs.cv_results_["mean_test_score"])
    assert difference.max() <= 3.0 / 80
    assert np.mean(difference > 1e-12) <= 0.1
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-2)


def test_a_search_without_room_for_kernel_matrices_gives_the_same_scores(data, limit_memory):
    X, y = data
    settings = {"Cs": CS, "gammas": GAMMAS, "fn_costs": [1.0, 3.0], "kappas": [1.0, 0.5], "cv": FOLDS, "tol": 1e-5}
    roomy = CostSensitiveSVCCV(**settings).fit(X, y).cv_results_["mean_test_score"]
    limit_memory(0.01)
    tight = CostSensitiveSVCCV(**settings).fit(X, y).cv_results_["mean_test_score"]
    assert np.mean(roomy == tight) > 0.9
    np.testing.assert_allclose(tight, roomy, atol=3.0 / 80)


def test_scores_do_not_depend_on_the_number_of_threads(data):
    X, y = data
    one, two = (CostSensitiveSVCCV(Cs=CS, gammas=GAMMAS, cv=FOLDS, n_jobs=n).fit(X, y).cv_results_ for n in (1, 2))
    for name in one:
        if name != "params":
            np.testing.assert_array_equal(one[name], two[name])
