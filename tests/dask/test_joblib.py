"""With joblib's dask backend, `evaluate` runs its fits on a cluster, with the same results."""

import os

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cssvm import (
    CostSensitiveLinearSVC,
    CostSensitiveSVC,
    CostSensitiveSVCCV,
    CostThresholdClassifier,
    MetaCostClassifier,
    evaluate,
)
from cssvm._runtime import threads

N = 300
OPTIONS = {"cv": 3, "n_resamples": 50}


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(N, 5, weights=[0.8], random_state=0)
    return X, y, np.random.default_rng(0).lognormal(3.0, 1.0, N)


def search():
    return CostSensitiveSVCCV(Cs=[0.1, 1.0], gammas=[0.05, 0.5], decision="bayes", cv=2, transformer=StandardScaler())


def witness():
    """A model that remembers the process that has trained it; of a local class, as workers cannot import tests."""

    class Witness(CostSensitiveLinearSVC):
        def fit(self, X, y, **costs):
            self.process_ = os.getpid()
            return super().fit(X, y, **costs)

    return Witness()


@pytest.mark.system
def test_evaluate_finds_on_a_cluster_what_it_finds_here(default_processes, rows):
    X, y, amount = rows
    compare = {"linear": CostSensitiveLinearSVC(), "metacost": MetaCostClassifier(
        LogisticRegression(), n_estimators=20, random_state=0)}  # fmt: skip
    here = evaluate(search(), X, y, fn_cost=amount, fp_cost=5.0, compare=compare, **OPTIONS)
    with joblib.parallel_config(backend="dask"):
        there = evaluate(search(), X, y, fn_cost=amount, fp_cost=5.0, compare=compare, **OPTIONS)
    pd.testing.assert_frame_equal(there.to_frame(), here.to_frame(), check_exact=True)
    for name, acted in here.decisions.items():
        np.testing.assert_array_equal(there.decisions[name], acted)
    np.testing.assert_array_equal(there.held_out.scored.scores, here.held_out.scored.scores)


@pytest.mark.system
def test_the_fits_are_done_by_the_workers(default_processes, rows):
    X, y, amount = rows
    default_processes.wait_for_workers(2)
    workers = set(default_processes.run(os.getpid).values())
    with joblib.parallel_config(backend="dask"):
        there = evaluate(witness(), X, y, fn_cost=amount, fp_cost=5.0, blind=False, cv=6, n_resamples=50)
    assert {model.process_ for model in there.held_out.models} <= workers
    here = evaluate(witness(), X, y, fn_cost=amount, fp_cost=5.0, blind=False, cv=6, n_resamples=50)
    np.testing.assert_array_equal(there.held_out.scored.scores, here.held_out.scored.scores)
    assert {model.process_ for model in here.held_out.models} == {os.getpid()}


@pytest.mark.system
def test_searches_inside_searches_stay_in_the_worker(default_processes, rows):
    """Transformers of a search inside a search inside a fold waited for each other when all went to the cluster."""
    X, y, _ = rows
    numbers = make_column_transformer((StandardScaler(), [0, 1, 2, 3, 4]))
    model = GridSearchCV(CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], cv=2, transformer=numbers), {"tol": [1e-3]}, cv=2)
    here = evaluate(model, X, y, cv=2, n_resamples=20)
    with joblib.parallel_config(backend="dask"):
        there = evaluate(model, X, y, cv=2, n_resamples=20)
    pd.testing.assert_frame_equal(there.to_frame(), here.to_frame(), check_exact=True)


@pytest.mark.system
def test_a_cost_blind_model_that_fails_on_a_worker_is_a_note(default_processes, rows):
    X, y = rows[0].copy(), rows[1]
    X[::7, 0] = np.nan  # a tree supports missing values, SVC does not
    model = CostThresholdClassifier(DecisionTreeClassifier(max_depth=3, random_state=0), calibration=None)
    here = evaluate(model, X, y, cv=2, n_resamples=20)
    with joblib.parallel_config(backend="dask"):
        there = evaluate(model, X, y, cv=2, n_resamples=20)
    assert there.notes == here.notes
    assert "No cost-blind SVC" in there.notes[0]
    pd.testing.assert_frame_equal(there.to_frame(), here.to_frame(), check_exact=True)


@pytest.mark.system
def test_a_search_is_the_same_where_a_cluster_is_configured(default_processes, rows):
    X, y, amount = rows
    here = search().fit(X, y, fn_cost=amount, fp_cost=5.0)
    with joblib.parallel_config(backend="dask"):
        there = search().set_params(n_jobs=2).fit(X, y, fn_cost=amount, fp_cost=5.0)
        of_scikit_learn = GridSearchCV(CostSensitiveSVC(), {"C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert there.best_params_ == here.best_params_
    np.testing.assert_array_equal(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(there.decision_function(X), here.decision_function(X))
    assert (
        of_scikit_learn.best_params_ == GridSearchCV(CostSensitiveSVC(), {"C": [0.1, 1.0]}, cv=2).fit(X, y).best_params_
    )


def test_n_jobs_counts_threads_whatever_the_joblib_backend_is(default_client):
    with joblib.parallel_config(backend="dask"):
        assert threads.effective_n_threads(1) == 1
        assert threads.effective_n_threads(None) == threads.effective_n_threads(-1) == threads.n_cores()
        assert threads.effective_n_threads(-1000) == 1


def test_threads_of_joblib_find_the_same(rows):
    X, y, amount = rows
    here = evaluate(CostSensitiveSVC(), X, y, fn_cost=amount, fp_cost=5.0, **OPTIONS)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        there = evaluate(CostSensitiveSVC(), X, y, fn_cost=amount, fp_cost=5.0, **OPTIONS)
    pd.testing.assert_frame_equal(there.to_frame(), here.to_frame(), check_exact=True)
