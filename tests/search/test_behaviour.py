"""The search as a scikit-learn estimator: results and errors."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cssvm import CostSensitiveSVC, CostSensitiveSVCCV
from cssvm.metrics import cost_risk, cost_risk_scorer, tp_auc_loss


@pytest.fixture(scope="module")
def data():
    return make_classification(150, 5, n_informative=3, flip_y=0.1, weights=[0.7], random_state=0)


def small(**settings):
    return CostSensitiveSVCCV(**({"Cs": [0.5, 5.0], "gammas": [0.05, 0.5], "cv": 3} | settings))


def test_results_are_a_table_with_the_best_point_first_in_rank(data):
    search = small(kappas=[1.0, "tied"], fn_costs=[1.0, 4.0]).fit(*data)
    table = pd.DataFrame(search.cv_results_)
    assert len(table) == 2 * 2 * 2 * 2
    assert {"param_C", "param_gamma", "param_fn_cost", "param_fp_cost", "param_kappa"} <= set(table)
    assert table["rank_test_score"][search.best_index_] == 1
    assert table["mean_test_score"].max() == search.best_score_
    np.testing.assert_allclose(table["mean_test_score"], table.filter(regex=r"^split\d").mean(axis=1))
    np.testing.assert_allclose(table["std_test_score"], table.filter(regex=r"^split\d").std(axis=1, ddof=0))
    assert table["params"][search.best_index_] == search.best_params_


def test_the_final_model_is_the_best_point_trained_on_all_samples(data):
    X, y = data
    search = small(fn_cost=3.0, kappas=[0.5]).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CostSensitiveSVC(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(search.predict(X), model.predict(X))
    for name in ("support_", "dual_coef_", "intercept_", "n_support_", "dual_gap_", "classes_"):
        np.testing.assert_array_equal(getattr(search, name), getattr(model, name))


def test_fitting_again_leaves_nothing_of_the_first_fit(data):
    X, y = data
    again = small().fit(X, y).fit(X[:100], y[:100])
    fresh = small().fit(X[:100], y[:100])
    np.testing.assert_array_equal(again.dual_coef_, fresh.dual_coef_)


def test_automatic_axes_cover_the_scale_of_the_data(data):
    X, y = data
    search = CostSensitiveSVCCV(Cs=4, gammas=5, fn_costs=3, kappas=2, cv=3).fit(1e3 * X, y)
    scaled = CostSensitiveSVCCV(Cs=4, gammas=5, fn_costs=3, kappas=2, cv=3).fit(X, y)
    np.testing.assert_allclose(
        np.unique(search.cv_results_["param_gamma"]) * 1e6, np.unique(scaled.cv_results_["param_gamma"]), rtol=1e-6
    )
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scaled.cv_results_["mean_test_score"], atol=0.02)
    table = pd.DataFrame(search.cv_results_)
    assert len(table) == 4 * 5 * 3 * 2
    negatives_per_positive = np.sum(y == 0) / np.sum(y == 1)
    assert table["param_fn_cost"].max() >= negatives_per_positive
    assert table["param_fn_cost"].min() == 1.0  # the default fp_cost


def test_integer_weights_equal_repeated_samples(data):
    X, y = data
    rng = np.random.default_rng(0)
    times = rng.integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    folds = [(np.flatnonzero(np.arange(len(y)) % 3 != k), np.flatnonzero(np.arange(len(y)) % 3 == k)) for k in range(3)]
    repeated_folds = [(np.flatnonzero(rows % 3 != k), np.flatnonzero(rows % 3 == k)) for k in range(3)]
    weighted = CostSensitiveSVCCV(Cs=4, gammas=4, cv=folds, tol=1e-6).fit(X, y, sample_weight=times)
    repeated = CostSensitiveSVCCV(Cs=4, gammas=4, cv=repeated_folds, tol=1e-6).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.cv_results_["mean_test_score"], repeated.cv_results_["mean_test_score"])
    assert weighted.best_params_ == pytest.approx(repeated.best_params_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"Cs": []}, "Cs must hold at least one value"),
        ({"Cs": [1.0, -1.0]}, "Cs must hold positive finite numbers; got -1.0 at position 1"),
        ({"Cs": [np.nan]}, "Cs must hold positive finite"),
        ({"gammas": [np.inf]}, "gammas must hold positive finite"),
        ({"gammas": 0}, "gammas must be a positive integer"),
        ({"gammas": "scale"}, "gammas must be a positive integer"),
        ({"Cs": 2.5}, "Cs must be a positive integer"),
        ({"Cs": np.inf}, "Cs must be a positive integer"),
        ({"gammas": np.nan}, "gammas must be a positive integer"),
        ({"fn_costs": [0.0]}, "fn_costs must hold positive"),
        ({"kappas": [0.5, -1]}, "kappas must hold positive"),
        ({"kappas": ["tide"]}, "kappas must be"),
        ({"kappas": []}, "kappas must hold at least one"),
        ({"cv": 1}, "cv must be an integer of at least 2"),
        ({"scoring": "riks"}, "scoring must be one of"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"n_jobs": np.nan}, "n_jobs must be"),
        ({"tol": 0.0}, "tol of CostSensitiveSVCCV"),
        ({"kernel": "rfb"}, "kernel of CostSensitiveSVCCV"),
        ({"kernel": "precomputed", "transformer": StandardScaler()}, "transformer must be None"),
    ],
)
def test_invalid_settings_are_rejected_with_the_reason(data, settings, message):
    search = small(**settings)
    before = dict(vars(search))
    with pytest.raises(ValueError, match=message):
        search.fit(*data)
    assert vars(search) == before


def test_a_fold_whose_training_samples_lack_a_class_is_rejected(data):
    X, y = data
    order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match=r"training samples of fold \d have the negative class only"):
        small(cv=KFold(2)).fit(X[order], y[order])


def test_a_validation_fold_of_one_class_can_be_scored_by_risk_but_not_ranked(data):
    X, y = data
    order = np.argsort(y, kind="stable")
    assert np.isfinite(small(cv=KFold(5)).fit(X[order], y[order]).best_score_)
    with pytest.raises(ValueError, match=r"validation samples of fold 0 .* cannot rank"):
        small(cv=KFold(5), scoring="tp_auc").fit(X[order], y[order])


def test_too_few_samples_of_a_class_mean_fewer_folds(data):
    X, y = data
    rows = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:3]])
    with pytest.warns(UserWarning, match="3 samples, fewer than cv=10: 3 stratified folds"):
        search = small(cv=10).fit(X[rows], y[rows])
    assert search.n_splits_ == 3
    with pytest.raises(ValueError, match="at least 2 samples"):
        small().fit(X[rows[:-2]], y[rows[:-2]])


def test_fits_that_do_not_converge_are_reported(data, monkeypatch):
    monkeypatch.setattr("cssvm._solvers.dual.tuning.PATH_MAX_STEPS", 0)
    with pytest.warns(
        ConvergenceWarning,
        match="12 of the search's 12 fits did not converge.*StandardScaler.*smaller Cs",
    ):
        small().fit(*data)


def test_it_lives_in_pipelines_clones_and_pickles(data):
    X, y = data
    model = make_pipeline(StandardScaler(), small(fn_cost=2.0))
    copy = pickle.loads(pickle.dumps(clone(model).fit(X, y)))
    np.testing.assert_array_equal(copy.predict(X), model.fit(X, y).predict(X))


def test_costs_of_single_samples_are_routed_to_fit_and_to_the_scorer(data):
    X, y = data
    amount = np.random.default_rng(0).uniform(1.0, 9.0, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        search = small(scoring=cost_risk_scorer()).set_fit_request(fn_cost=True)
        found = cross_validate(
            search, X, y, cv=3, scoring=cost_risk_scorer(), params={"fn_cost": amount}, return_estimator=True
        )
    train = np.setdiff1d(np.arange(len(y)), next(iter(StratifiedKFold(3).split(X, y)))[1])
    by_name = small(scoring="risk").fit(X[train], y[train], fn_cost=amount[train])
    np.testing.assert_allclose(found["estimator"][0].best_score_, by_name.best_score_)
    assert (found["test_score"] < 0).all()


def test_progress_is_written_to_the_error_stream(data, capsys):
    small(verbose=1).fit(*data)
    captured = capsys.readouterr()
    assert "12 of 12 fits" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize("scoring", ["risk", "income", "min_risk", "tp_auc", "accuracy"])
@pytest.mark.parametrize("pos_label", [0, 1])
def test_score_is_the_scoring_of_the_search_on_other_samples(data, scoring, pos_label):
    X, y = data
    search = small(scoring=scoring, fn_cost=3.0, fp_cost=2.0, pos_label=pos_label).fit(X[:100], y[:100])
    X, y, f = X[100:], y[100:], search.decision_function(X[100:])
    costs, decided = {"fn_cost": 3.0, "fp_cost": 2.0, "pos_label": pos_label}, search.predict(X)
    true, false = (decided == pos_label) & (y == pos_label), (decided == pos_label) & (y != pos_label)
    expected = {
        "risk": -cost_risk(y, decided, **costs),
        "income": 3.0 * true.sum() - 2.0 * false.sum(),
        "min_risk": -cost_risk(y, decided, **costs),  # at the threshold found on the training samples
        "tp_auc": -tp_auc_loss(y, f if pos_label == 1 else -f, pos_label=pos_label),
        "accuracy": np.mean(decided == y),
    }[scoring]
    assert search.score(X, y) == pytest.approx(expected, rel=1e-12)


def test_a_supervised_transformer_sees_the_labels_of_its_training_samples(data):
    X, y = data
    X = np.hstack([X, np.random.default_rng(0).normal(size=(len(y), 20))])
    ours = small(transformer=SelectKBest(k=3)).fit(X, y)
    model = make_pipeline(SelectKBest(k=3), CostSensitiveSVC())
    grid = {"costsensitivesvc__C": [0.5, 5.0], "costsensitivesvc__gamma": [0.05, 0.5]}
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    theirs = GridSearchCV(model, grid, scoring=cost_risk_scorer(), cv=folds).fit(X, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1 / 50 + 1e-12
    )


def test_score_rejects_labels_that_the_search_has_not_seen():
    X, y = make_classification(60, 4, random_state=0)
    search = CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], cv=2, scoring="accuracy").fit(X, y)
    for strange in (np.where(y == 1, 2, 0), np.where(y == 1, "1", "0")):
        with pytest.raises(ValueError, match=r"y must hold the classes \[0, 1\] that CostSensitiveSVCCV was fitted on"):
            search.score(X, strange)


def test_folds_whose_training_samples_of_a_class_cost_nothing_are_rejected():
    X, y = make_classification(60, 4, random_state=0)
    fn_cost = np.where(np.arange(60) < 30, 0.0, 1.0)
    halves = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    with pytest.raises(ValueError, match="training samples of fold 0 have the negative class only"):
        CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], cv=halves).fit(X, y, fn_cost=fn_cost)


def test_costs_of_samples_may_have_missing_entries_on_the_other_class():
    X, y = make_classification(60, 4, random_state=0)
    given = [900.0 if label else None for label in y]
    settings = {"Cs": [1e-3], "gammas": [0.1], "cv": 2}
    plain = CostSensitiveSVCCV(**settings).fit(X, y, fn_cost=np.where(y == 1, 900.0, np.nan))
    search = CostSensitiveSVCCV(**settings).fit(X, y, fn_cost=given)
    np.testing.assert_array_equal(search.decision_function(X), plain.decision_function(X))


def test_points_without_a_score_on_some_fold_have_no_mean_and_a_search_of_them_says_so():
    X, y = make_classification(60, 4, random_state=0)
    calls = iter([np.nan, 1.0, 1.0, 1.0, 0.5, 0.5])  # folds within kernels, points within folds
    settings = {"Cs": [0.1, 1.0], "gammas": [0.1], "cv": 3, "n_jobs": 1}
    search = CostSensitiveSVCCV(**settings, scoring=lambda *_: next(calls)).fit(X, y)
    np.testing.assert_array_equal(np.isnan(search.cv_results_["mean_test_score"]), [True, False])
    assert search.best_index_ == 1
    with pytest.warns(UserWarning, match="No point has a score on all folds"):
        CostSensitiveSVCCV(**settings, scoring=lambda *_: np.nan).fit(X, y)
