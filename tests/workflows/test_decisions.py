"""Decisions of a search: threshold, probabilities, folds and the edges of the grid."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    PredefinedSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from cssvm import BoundaryMovementSVC, CostSensitiveSVC, CostSensitiveSVCCV, CostThresholdClassifier
from cssvm.metrics import cost_risk, min_cost_risk

X, Y = make_classification(300, 6, n_informative=4, weights=[0.8], flip_y=0.1, random_state=3)
NEW_X, NEW_Y = make_classification(300, 6, n_informative=4, weights=[0.8], flip_y=0.1, random_state=4)
GRID = {"Cs": [0.1, 1.0, 10.0], "gammas": [0.02, 0.2], "fn_cost": 5.0}
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def held_out(params, splitter=FOLDS, groups=None):
    """Held-out scores of samples."""
    scores = np.full(len(Y), np.nan)
    for train, test in splitter.split(X, Y, groups):
        scores[test] = CostSensitiveSVC(**params, tol=1e-6).fit(X[train], Y[train]).decision_function(X[test])
    return scores


@pytest.mark.parametrize("decision", ["zero", "threshold", "bayes"])
def test_held_out_scores_are_those_of_the_best_point(decision):
    search = CostSensitiveSVCCV(**GRID, decision=decision, tol=1e-6).fit(X, Y)
    np.testing.assert_allclose(search.held_out_scores_, held_out(search.best_params_), atol=1e-3)


def test_a_threshold_is_the_one_of_least_cost_on_all_folds_together():
    search = CostSensitiveSVCCV(**GRID, scoring="min_risk", tol=1e-6).fit(X, Y)
    for place, params in enumerate(search.cv_results_["params"]):
        scores = held_out(params)
        best = min_cost_risk(Y, scores, fn_cost=5.0)
        pooled = -np.average(
            [search.cv_results_[f"split{k}_test_score"][place] for k in range(5)],
            weights=[len(test) for _, test in FOLDS.split(X, Y)],
        )
        assert pooled == pytest.approx(best.risk, abs=6 / len(Y))  # rows within tol of each other may change places
    best = min_cost_risk(Y, search.held_out_scores_, fn_cost=5.0).risk
    assert cost_risk(Y, (search.held_out_scores_ > search.threshold_).astype(int), fn_cost=5.0) == pytest.approx(best)
    decided = search.best_estimator_.decision_function(NEW_X) > search.threshold_
    np.testing.assert_array_equal(search.predict(NEW_X), decided.astype(int))
    np.testing.assert_array_equal(search.decision_function(NEW_X) > 0, decided)
    assert search.score(NEW_X, NEW_Y) == pytest.approx(-cost_risk(NEW_Y, decided.astype(int), fn_cost=5.0))


def test_probabilities_are_those_of_a_sigmoid_on_the_held_out_scores():
    search = CostSensitiveSVCCV(**GRID, decision="bayes").fit(X, Y)

    class Known(LogisticRegression):
        def decision_function(self, rows):
            return rows[:, 0]

    scores = search.held_out_scores_[:, np.newaxis]
    theirs = CalibratedClassifierCV(Known(), ensemble=False, cv=2).fit(scores, Y)
    f = search.best_estimator_.decision_function(NEW_X)[:, np.newaxis]
    np.testing.assert_allclose(search.predict_proba(NEW_X), theirs.predict_proba(f), atol=1e-6)
    p = search.predict_proba(NEW_X)[:, 1]
    np.testing.assert_array_equal(search.predict(NEW_X), (p * 5.0 > 1 - p).astype(int))
    amounts = np.random.default_rng(0).lognormal(1.0, 1.0, len(NEW_X))
    np.testing.assert_array_equal(search.predict(NEW_X, fn_cost=amounts), (p * amounts > 1 - p).astype(int))
    risk = cost_risk(NEW_Y, search.predict(NEW_X, fn_cost=amounts), fn_cost=amounts)
    assert search.score(NEW_X, NEW_Y, fn_cost=amounts) == pytest.approx(-risk)


def test_decisions_are_no_further_fits(monkeypatch):
    from cssvm._search.workers import MatrixWorker

    tasks = []
    carry_out = MatrixWorker.fold_scores
    monkeypatch.setattr(
        MatrixWorker,
        "fold_scores",
        lambda self, task, fits, stop: (tasks.append(task), carry_out(self, task, fits, stop))[1],
    )
    counts = []
    for decision in ("zero", "threshold", "bayes"):
        tasks.clear()
        CostSensitiveSVCCV(**GRID, decision=decision).fit(X, Y)
        counts.append(len(tasks))
    assert counts == [10, 10, 10]  # two kernels on five folds


def test_a_search_from_a_checkpoint_has_the_same_scores(tmp_path):
    settings = {**GRID, "decision": "bayes", "checkpoint": tmp_path / "search"}
    first = CostSensitiveSVCCV(**settings).fit(X, Y)
    second = CostSensitiveSVCCV(**settings).fit(X, Y)
    np.testing.assert_allclose(first.held_out_scores_, second.held_out_scores_, atol=1e-9)


def test_missing_and_unused_costs_are_reported():
    amounts = np.random.default_rng(0).lognormal(1.0, 1.0, len(Y))
    search = CostSensitiveSVCCV(**GRID, decision="bayes").fit(X, Y, fn_cost=amounts)
    with pytest.raises(
        ValueError, match="predict needs fn_cost of these samples, as fit was given one for each sample"
    ):
        search.predict(NEW_X)
    with pytest.raises(ValueError, match="score needs fn_cost of these samples"):
        search.score(NEW_X, NEW_Y)
    search.predict(NEW_X, fn_cost=3.0)
    with pytest.raises(ValueError, match='predict takes no costs with decision="zero"'):
        CostSensitiveSVCCV(**GRID).fit(X, Y).predict(NEW_X, fn_cost=2.0)
    with pytest.raises(ValueError, match="decision must be one of"):
        CostSensitiveSVCCV(**GRID, decision="best").fit(X, Y)
    assert not hasattr(CostSensitiveSVCCV(**GRID), "predict_proba")
    assert hasattr(CostSensitiveSVCCV(**GRID, decision="bayes"), "predict_proba")


def sorted_rows():
    """A table that comes in order: by class, and within it by a feature that is not in X."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    order = np.lexsort((X[:, 0], y))
    return X[order], y[order]


@pytest.mark.parametrize(
    "model",
    [
        CostSensitiveSVCCV(Cs=[1.0], gammas=[0.5]),
        BoundaryMovementSVC(cv=5),
        CostThresholdClassifier(CostSensitiveSVC(), method="tuned"),
        CostThresholdClassifier(CostSensitiveSVC()),
    ],
    ids=lambda model: type(model).__name__ + getattr(model, "method", ""),
)
def test_integer_folds_are_shuffled(model):
    X, y = sorted_rows()
    found = model.fit(X, y)
    other = model.set_params(cv=FOLDS).fit(X, y)
    np.testing.assert_array_equal(found.decision_function(X), other.decision_function(X))


def test_groups_stay_together():
    groups = np.repeat(np.arange(30), 10)
    search = CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], tol=1e-6).fit(X, Y, groups=groups)
    kept = StratifiedGroupKFold(5, shuffle=True, random_state=0)
    np.testing.assert_allclose(search.held_out_scores_, held_out(search.best_params_, kept, groups), atol=1e-3)
    BoundaryMovementSVC(cv=GroupKFold(3)).fit(X, Y, groups=groups)
    CostThresholdClassifier(LogisticRegression(), method="tuned", cv=GroupKFold(3)).fit(X, Y, groups=groups)


@pytest.mark.parametrize("cv", [TimeSeriesSplit(4), PredefinedSplit(np.r_[np.full(200, -1), np.zeros(100)])])
def test_a_threshold_is_tuned_on_the_rows_that_are_held_out(cv):
    tuned = CostThresholdClassifier(LogisticRegression(), fn_cost=5.0, method="tuned", cv=cv).fit(X, Y)
    rows, scores = [], []
    for train, test in cv.split(X, Y):
        rows.append(test)
        scores.append(LogisticRegression().fit(X[train], Y[train]).predict_proba(X[test])[:, 1])
    rows, scores = np.concatenate(rows), np.concatenate(scores)
    assert tuned.threshold_ == pytest.approx(min_cost_risk(Y[rows], scores, fn_cost=5.0).threshold)
    BoundaryMovementSVC(fn_cost=5.0, cv=cv).fit(X, Y)
    search = CostSensitiveSVCCV(**GRID, scoring="min_risk", cv=cv).fit(X, Y)
    np.testing.assert_array_equal(np.isfinite(search.held_out_scores_), np.isin(np.arange(len(Y)), rows))


def test_a_grid_grows_where_its_best_point_lies_at_the_edge():
    x, y = stripes()
    search = CostSensitiveSVCCV(Cs=3, gammas=3).fit(x, y)
    usual = search.cv_results_["param_gamma"][:9].max()
    assert search.best_params_["gamma"] > usual
    assert len(search.cv_results_["params"]) > 9
    assert search.best_score_ > search.cv_results_["mean_test_score"][:9].max() + 0.1


def stripes(n_stripes=16):
    """Samples that only a narrow kernel can separate."""
    x = np.linspace(0, 1, 400)[:, np.newaxis]
    return x, (np.floor(n_stripes * x[:, 0]) % 2 == 0).astype(int)


@pytest.mark.filterwarnings("error:The best point")
def test_values_of_ones_own_neither_grow_nor_warn():
    search = CostSensitiveSVCCV(Cs=[1.0, 100.0], gammas=[1.0, 50.0]).fit(*stripes())
    assert len(search.cv_results_["params"]) == 4


ONE_CLASS = PredefinedSplit(np.where((np.arange(len(Y)) < 150) & (Y == 0), 0, -1))


@pytest.mark.parametrize(
    "model",
    [
        CostSensitiveSVCCV(**GRID, cv=ONE_CLASS, decision="bayes"),
        CostSensitiveSVCCV(**GRID, cv=ONE_CLASS, decision="threshold"),
        CostThresholdClassifier(LogisticRegression(), fn_cost=5.0, cv=ONE_CLASS),
        CostThresholdClassifier(LogisticRegression(), fn_cost=5.0, cv=ONE_CLASS, method="tuned"),
    ],
    ids=["bayes", "threshold", "wrapper, bayes", "wrapper, tuned"],
)
def test_nothing_is_learnt_from_held_out_rows_of_one_class(model):
    with pytest.raises(ValueError, match="both classes must be present among the held-out"):
        model.fit(X, Y)


def test_a_linear_search_has_the_coefficients_of_its_final_model():
    search = CostSensitiveSVCCV(kernel="linear", Cs=[0.1], cv=2).fit(X, Y)
    alone = CostSensitiveSVC(kernel="linear", C=0.1).fit(X, Y)
    np.testing.assert_allclose(search.coef_, alone.coef_, atol=1e-3)
    np.testing.assert_allclose(search.decision_function(X), X @ search.coef_[0] + search.intercept_, atol=1e-8)
    assert not hasattr(CostSensitiveSVCCV(Cs=[0.1], gammas=[0.1], cv=2).fit(X, Y), "coef_")
