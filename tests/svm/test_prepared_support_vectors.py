"""Support vectors are prepared once per fitted model, without side effects."""

import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from cssvm import CostSensitiveSVC
from cssvm._kernels import KERNEL_NAMES, base, is_pairwise
from cssvm._svm import kernel_svc

NAMES = [name for name in KERNEL_NAMES if not is_pairwise(name)]


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_samples_scored_one_at_a_time_and_again_have_the_scores_of_a_copy_that_scores_them_once(data, kernel, form):
    X, y = data
    model = CostSensitiveSVC(kernel=kernel, gamma=0.1, fn_cost=3.0).fit(form(X), y)
    copied = pickle.loads(pickle.dumps(model))
    first = model.decision_function(form(X))
    assert np.array_equal(first, copied.decision_function(form(X)))
    assert np.array_equal(first, model.decision_function(form(X)))
    alone = [model.decision_function(form(X[i : i + 1]))[0] for i in range(10)]
    np.testing.assert_allclose(alone, first[:10], rtol=1e-12, atol=1e-12)


def test_vectors_are_prepared_once_for_many_predictions(data, monkeypatch):
    X, y = data
    model = CostSensitiveSVC().fit(X, y)
    calls = []
    prepare = base.prepare_vectors
    monkeypatch.setattr(base, "prepare_vectors", lambda *args: calls.append(1) or prepare(*args))
    for i in range(20):
        model.predict(X[i : i + 1])
    assert len(calls) == 1


def test_a_second_fit_scores_with_its_own_vectors(data):
    X, y = data
    model = CostSensitiveSVC().fit(X, y)
    model.decision_function(X)
    again = model.set_params(C=50.0, gamma=2.0).fit(X, y).decision_function(X)
    assert np.array_equal(again, clone(model).fit(X, y).decision_function(X))


def test_coefficients_that_are_replaced_count(data):
    X, y = data
    model = CostSensitiveSVC().fit(X, y)
    before = model.decision_function(X) - model.intercept_[0]
    model.dual_coef_ = 2.0 * model.dual_coef_
    np.testing.assert_allclose(model.decision_function(X) - model.intercept_[0], 2.0 * before, rtol=1e-12, atol=1e-12)


def test_prediction_leaves_no_trace_in_the_estimator_its_copies_or_its_pickle(data):
    X, y = data
    model = CostSensitiveSVC().fit(X, y)
    before, pickled = dict(vars(model)), pickle.dumps(model)
    model.predict(X)
    assert vars(model) == before
    assert pickle.dumps(model) == pickled
    assert copy.deepcopy(model) not in kernel_svc._expansions


def test_prepared_vectors_are_released_with_the_model(data):
    X, y = data
    model = CostSensitiveSVC().fit(X, y)
    model.predict(X)
    gc.collect()
    kept = len(kernel_svc._expansions)
    del model
    gc.collect()
    assert len(kernel_svc._expansions) == kept - 1


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X: X[:, :3], "3 features, but CostSensitiveSVC is expecting 4"),
        (lambda X: np.where(X > 1, np.nan, X), "NaN"),
        (lambda X: np.where(X > 1, np.inf, X), "Clip these entries"),
        (lambda X: X[:0], "0 sample"),
        (lambda X: X[0], "1D array"),
    ],
)
def test_bad_samples_are_rejected_after_good_ones(data, spoil, message):
    X, y = data
    model = CostSensitiveSVC().fit(X, y)
    model.predict(X)
    with pytest.raises(ValueError, match=message):
        model.predict(spoil(X))


def test_columns_laid_out_otherwise_and_other_types_give_the_same_scores(data):
    X, y = data
    model = CostSensitiveSVC().fit(X, y)
    expected = model.decision_function(X)
    assert np.array_equal(model.decision_function(np.asfortranarray(X)), expected)
    assert np.array_equal(model.decision_function(X.tolist()), expected)
    whole = np.round(X)
    assert np.array_equal(model.decision_function(whole.astype(int)), model.decision_function(whole))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_scored_on_many_threads_at_once_have_their_scores(data, form):
    X, y = data
    model = CostSensitiveSVC().fit(form(X), y)
    expected = pickle.loads(pickle.dumps(model)).decision_function(form(X))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: model.decision_function(form(X[i : i + 1]))[0], range(len(X))))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
