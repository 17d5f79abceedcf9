"""The search for linear models as an estimator, and against fits one by one."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from cssvm import CostSensitiveLinearSVC, CostSensitiveLinearSVCCV, CostSensitiveSVCCV, evaluate
from cssvm._core.decision import SCORE_TIE
from cssvm._search.workers import LinearWorker
from cssvm._solvers.linear import active_set
from cssvm.metrics import cost_risk, min_cost_risk, tp_auc_loss

EXACT = 1e-10  # tolerance of training so small that no score lies on the other side of a tie
FOLDS = StratifiedKFold(3, shuffle=True, random_state=7)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(300, 6, n_informative=4, flip_y=0.15, weights=[0.75], random_state=1)
    return StandardScaler().fit_transform(X), y


def small(**settings):
    return CostSensitiveLinearSVCCV(**({"Cs": [0.05, 0.5, 5.0], "cv": FOLDS} | settings))


def runs(scores, tie):
    """Numbers (n,) of the runs of scores that count as equal, higher for higher scores.

    Scores at most `tie` from the next one are a chain, split into as many parts of equal width as can be `tie` wide.
    """
    falling = sorted(scores.tolist(), reverse=True)
    chains = [[falling[0]]]
    for score in falling[1:]:
        if chains[-1][-1] - score > tie:
            chains.append([])
        chains[-1].append(score)
    numbers, n_runs = {}, 0
    for chain in chains:
        width = chain[0] - chain[-1]
        n_parts = max(1, int(width / tie))
        for score in chain:
            part = int(n_parts * (chain[0] - score) / width) if width else 0
            numbers[score] = -n_runs - min(part, n_parts - 1)
        n_runs += n_parts
    return np.array([numbers[score] for score in scores.tolist()], dtype=float)


def fits_one_by_one(X, y, points, value, *, folds=FOLDS, fn_cost=None, fp_cost=None, weight=None, tied=False):
    """Values (n_points, n_folds) of `value(rows, scores)`, each model trained by itself.

    tied : whether scores that are equal up to `SCORE_TIE`, in units of half the margin from -kappa to 1, are one score.
    """
    of_rows = {"fn_cost": fn_cost, "fp_cost": fp_cost, "sample_weight": weight}
    found = []
    for point, (train, valid) in itertools.product(points, folds.split(X, y)):
        factors = {name: point[name] for name in ("fn_cost", "fp_cost") if of_rows[name] is not None}
        given = {name: each[train] * factors.get(name, 1.0) for name, each in of_rows.items() if each is not None}
        model = CostSensitiveLinearSVC(**point, tol=EXACT).fit(X[train], y[train], **given)
        scores = model.decision_function(X[valid])
        if tied:
            kappa = 1.0 / point.get("fp_cost", 1.0) if point["kappa"] == "tied" else point["kappa"]
            scores = runs(scores, SCORE_TIE * (1.0 + kappa) / 2.0)
        found.append(value(valid, scores))
    return np.reshape(found, (len(points), -1))


def values_of(search):
    return np.column_stack([search.cv_results_[f"split{fold}_test_score"] for fold in range(search.n_splits_)])


VALUES = {
    "risk": lambda y, f: -cost_risk(y, f > 0, fn_cost=4.0, fp_cost=1.5),
    "min_risk": lambda y, f: -min_cost_risk(y, f, fn_cost=4.0, fp_cost=1.5).risk,
    "tp_auc": lambda y, f: -tp_auc_loss(y, f),
    "income": lambda y, f: np.sum((f > 0) * np.where(y == 1, 4.0, -1.5)),
    "accuracy": lambda y, f: np.mean((f > 0) == (y == 1)),
}


@pytest.mark.parametrize("scoring", VALUES)
def test_values_are_those_of_fits_one_by_one(data, scoring):
    X, y = data
    axes = {"Cs": [0.02, 0.5], "fn_costs": [1.0, 4.0], "kappas": [1.0, 0.4, "tied"]}
    settings = {"fn_cost": 4.0, "fp_cost": 1.5, "decision": "zero", "tol": EXACT}
    search = small(**axes, **settings, scoring=scoring).fit(X, y)
    assert len(search.cv_results_["params"]) == 12
    assert search.n_fits_ == 4
    points, tied = search.cv_results_["params"], scoring == "tp_auc"
    expected = fits_one_by_one(X, y, points, lambda rows, f: VALUES[scoring](y[rows], f), tied=tied)
    np.testing.assert_allclose(values_of(search), expected, atol=1e-9)


def test_costs_weights_and_margins_of_samples_are_those_of_fits_one_by_one(data):
    X, y = data
    rng = np.random.default_rng(3)
    fn, fp, weight = rng.lognormal(1, 1, len(y)), rng.uniform(0.2, 2.0, len(y)), rng.integers(1, 4, len(y))
    search = small(Cs=[0.02, 0.5], fn_costs=[1.0, 3.0], kappas=[1.0, "tied"])
    search.fit(X, y, fn_cost=np.where(y == 1, fn, np.nan), fp_cost=fp, sample_weight=weight)
    assert search.n_fits_ == 8  # margins of samples have fits of their own

    def value(rows, f):
        costs = np.where(y[rows] == 1, fn[rows] * (f <= 0), fp[rows] * (f > 0))
        return -np.average(costs, weights=weight[rows])

    points = search.cv_results_["params"]
    expected = fits_one_by_one(X, y, points, value, fn_cost=fn, fp_cost=fp, weight=weight)
    np.testing.assert_allclose(values_of(search), expected, atol=1e-9)


@pytest.mark.parametrize("decision", ["zero", "threshold", "bayes"])
def test_it_decides_as_the_search_with_the_linear_kernel(data, decision):
    X, y = data
    settings = {"Cs": [0.05, 0.5, 5.0], "kappas": [1.0, 0.5], "fn_cost": 3.0, "cv": FOLDS, "decision": decision}
    ours = CostSensitiveLinearSVCCV(**settings).fit(X, y)
    kernel = CostSensitiveSVCCV(kernel="linear", **settings, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(values_of(ours), values_of(kernel), atol=1e-9)
    assert ours.best_params_ == pytest.approx(kernel.best_params_)
    np.testing.assert_allclose(ours.held_out_scores_, kernel.held_out_scores_, atol=1e-4)
    np.testing.assert_allclose(ours.decision_function(X), kernel.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(ours.threshold_, kernel.threshold_, atol=1e-4)
    assert ours.score(X, y) == pytest.approx(kernel.score(X, y), abs=1e-9)
    np.testing.assert_array_equal(ours.predict(X), kernel.predict(X))
    if decision == "bayes":
        np.testing.assert_allclose(ours.predict_proba(X), kernel.predict_proba(X), atol=1e-4)
        amount = np.linspace(0.1, 30.0, len(y))
        np.testing.assert_array_equal(ours.predict(X, fn_cost=amount), kernel.predict(X, fn_cost=amount))
    else:
        assert not hasattr(ours, "predict_proba")


def test_the_final_model_is_the_best_point_trained_on_all_samples(data):
    X, y = data
    search = small(fn_cost=3.0, kappas=[0.5]).fit(X, y)
    model = CostSensitiveLinearSVC(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.decision_function(X), model.decision_function(X))
    for name in ("coef_", "intercept_", "C_", "solver_", "dual_gap_", "n_iter_", "fit_status_", "classes_"):
        np.testing.assert_array_equal(getattr(search, name), getattr(model, name))


def test_the_positive_class_may_be_the_smaller_label(data):
    X, y = data
    ours = small(fn_cost=3.0, pos_label=0).fit(X, y)
    turned = small(fn_cost=3.0).fit(X, 1 - y)
    np.testing.assert_allclose(values_of(ours), values_of(turned), atol=1e-9)
    np.testing.assert_allclose(ours.decision_function(X), -turned.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array, lambda X: X.astype(np.float32)])
def test_containers_and_precisions_agree(data, container):
    X, y = data
    X = np.where(np.abs(X) > 0.9, X, 0.0).astype(np.float32).astype(float)
    plain, other = small().fit(X, y), small().fit(container(X), y)
    np.testing.assert_allclose(other.held_out_scores_, plain.held_out_scores_, atol=1e-5)


def test_samples_that_cost_nothing_are_scored_and_not_trained_on(data):
    X, y = data
    fn_cost = np.where(np.arange(len(y)) % 3 == 0, 0.0, 2.0)
    search = small(kappas=[1.0, "tied"]).fit(X, y, fn_cost=fn_cost)

    def value(rows, f):
        return -np.mean(np.where(y[rows] == 1, fn_cost[rows] * (f <= 0), f > 0))

    expected = fits_one_by_one(X, y, search.cv_results_["params"], value, fn_cost=fn_cost)
    np.testing.assert_allclose(values_of(search), expected, atol=1e-9)


def test_folds_are_shuffled_always_in_the_same_way(data):
    X, y = data
    given = small(cv=StratifiedKFold(5, shuffle=True, random_state=0)).fit(X, y)
    ours = small(cv=None).fit(X, y)
    np.testing.assert_array_equal(values_of(ours), values_of(given))


def test_a_transformer_sees_the_training_samples_of_a_fold_alone(data):
    X, y = data
    search = small(transformer=StandardScaler()).fit(1.0 + 5.0 * X, y)
    values = []
    for point, (train, valid) in itertools.product(search.cv_results_["params"], FOLDS.split(X, y)):
        scaler = StandardScaler().fit(1.0 + 5.0 * X[train])
        scaled = [scaler.transform(1.0 + 5.0 * X[rows]) for rows in (train, valid)]
        f = CostSensitiveLinearSVC(**point).fit(scaled[0], y[train]).decision_function(scaled[1])
        values.append(-cost_risk(y[valid], f > 0))
    np.testing.assert_allclose(values_of(search).ravel(), values, atol=1e-9)


def test_a_table_with_strings_goes_through_its_transformer_to_the_decision(data):
    from cssvm.datasets import make_preprocessor

    X, y = data
    frame = pd.DataFrame(X).rename(columns=str).assign(word=np.where(X[:, 0] > 0, "a", "b"))
    search = small(transformer=make_preprocessor(frame), fn_cost=2.0).fit(frame, y)
    assert search.predict(frame.iloc[:5]).shape == (5,)
    assert search.feature_names_in_.tolist() == list(frame.columns)


@pytest.fixture
def for_few_samples(monkeypatch):
    """The algorithm for many samples, for some thousand of them."""
    monkeypatch.setattr(active_set, "FEW_ROWS", 1500)
    monkeypatch.setattr(active_set, "LEAST_NEAR", 50)


def many_samples(n=4000):
    X, y = make_classification(n, 6, n_informative=4, flip_y=0.02, weights=[0.9], random_state=2)
    return X, y


def test_models_that_start_from_each_other_are_those_trained_alone(for_few_samples):
    X, y = many_samples()
    axes = {"Cs": np.geomspace(1e-3, 10.0, 6), "fn_costs": [1.0, 6.0], "kappas": [1.0, 0.5]}
    search = small(**axes, fn_cost=6.0, scoring="tp_auc", tol=EXACT).fit(X, y)
    points = search.cv_results_["params"]
    expected = fits_one_by_one(X, y, points, lambda rows, f: -tp_auc_loss(y[rows], f), tied=True)
    np.testing.assert_allclose(values_of(search), expected, atol=1e-9)


def test_values_do_not_depend_on_the_number_of_threads(for_few_samples):
    X, y = many_samples()
    found = [small(n_jobs=n, scoring="tp_auc").fit(X, y) for n in (1, 2)]
    np.testing.assert_array_equal(values_of(found[0]), values_of(found[1]))
    np.testing.assert_array_equal(found[0].held_out_scores_, found[1].held_out_scores_)


def test_a_stored_search_continues_where_it_stopped(data, tmp_path, monkeypatch):
    X, y = data
    trained = []
    train = LinearWorker.fold_scores

    def count(self, task, fits, stop):
        trained.append(len(fits))
        return train(self, task, fits, stop)

    whole = small(fn_cost=2.0).fit(X, y)
    small(fn_cost=2.0, checkpoint=tmp_path / "points.npz").fit(X, y)
    monkeypatch.setattr(LinearWorker, "fold_scores", count)
    again = small(fn_cost=2.0, checkpoint=tmp_path / "points.npz").fit(X, y)
    np.testing.assert_array_equal(values_of(again), values_of(whole))
    assert trained == [1, 1, 1]  # the best point on each fold, whose scores are not kept


def test_the_axis_of_C_is_extended_where_the_best_point_lies_at_its_end():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] - 2 * X[:, 1] > 1.0  # separable: the largest C is best
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = CostSensitiveLinearSVCCV(Cs=3).fit(0.03 * X, y)
    tried, scores = search.cv_results_["param_C"], search.cv_results_["mean_test_score"]
    assert max(tried) > max(tried[:3])
    assert search.best_score_ > max(scores[:3])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"Cs": [1.0, -1.0]}, "Cs must hold positive finite numbers; got -1.0 at position 1"),
        ({"fn_costs": [0.0]}, "fn_costs must hold positive"),
        ({"kappas": ["tide"]}, "kappas must be"),
        ({"cv": 1}, "cv must be an integer of at least 2"),
        ({"scoring": "riks"}, "scoring must be one of"),
        ({"decision": "sero"}, "decision must be one of"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"tol": 0.0}, "tol of CostSensitiveLinearSVCCV"),
    ],
)
def test_invalid_settings_are_rejected_with_the_reason(data, settings, message):
    search = small(**settings)
    before = dict(vars(search))
    with pytest.raises(ValueError, match=message):
        search.fit(*data)
    assert vars(search) == before


def test_evaluate_searches_again_in_each_fold(data):
    X, y = data
    amount = np.random.default_rng(0).lognormal(1, 1, len(y))
    found = evaluate(small(decision="bayes"), X, y, fn_cost=amount, fp_cost=1.0, cv=3)
    assert "act on nobody" in str(found)
    assert "CostSensitiveLinearSVCCV" not in str(found)


def test_a_feature_map_as_a_transformer_is_a_search_for_a_kernel_svm(data):
    X, y = data
    mapped = small(transformer=Nystroem(gamma=0.2, n_components=200, random_state=0), scoring="tp_auc").fit(X, y)
    kernel = CostSensitiveSVCCV(Cs=[0.05, 0.5, 5.0], gammas=[0.2], cv=FOLDS, scoring="tp_auc", tol=1e-5).fit(X, y)
    np.testing.assert_allclose(values_of(mapped), values_of(kernel), atol=0.02)
