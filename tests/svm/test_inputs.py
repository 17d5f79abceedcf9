"""Supported types of X and y."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel

from cssvm import BiasedPenaltySVC, BoundaryMovementSVC, CostSensitiveSVC
from tests.kernels.registry import CASES, gram

ESTIMATORS = [CostSensitiveSVC, BiasedPenaltySVC, BoundaryMovementSVC]
NAMES = ["income", "age", "debt", "tenure"]


@pytest.fixture(scope="module")
def data():
    return make_classification(80, 4, flip_y=0.1, random_state=2)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("frame", "series"), [(pd.DataFrame, pd.Series), (pl.DataFrame, pl.Series)], ids=["pandas", "polars"]
)
def test_frames_give_the_result_of_arrays_and_keep_feature_names(estimator, frame, series, data):
    X, y = data
    costs = np.linspace(1, 3, len(y))
    table = frame(dict(zip(NAMES, X.T, strict=True)))
    labels = np.array(["good", "bad"])[y]
    framed = estimator(pos_label="good").fit(table, series(labels.tolist()), fn_cost=series(costs))
    plain = estimator(pos_label="good").fit(X, labels, fn_cost=costs)
    assert framed.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(framed.decision_function(table), plain.decision_function(X))
    with pytest.raises(ValueError, match="feature names"):
        framed.predict(
            table.rename(columns={"age": "years"}) if frame is pd.DataFrame else table.rename({"age": "years"})
        )


def test_refitting_on_an_array_forgets_the_feature_names(data):
    X, y = data
    model = CostSensitiveSVC().fit(pd.DataFrame(X, columns=NAMES), y)
    assert not hasattr(model.fit(X, y), "feature_names_in_")


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_matrix])
def test_sparse_rows_give_the_result_of_dense_rows(estimator, container, data):
    X, y = data
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = estimator(tol=1e-6).fit(X, y)
    from_sparse = estimator(tol=1e-6).fit(container(X), y)
    assert sparse.issparse(from_sparse.support_vectors_)
    assert from_sparse.support_vectors_.format == "csr"
    assert isinstance(from_sparse.dual_coef_, np.ndarray)
    np.testing.assert_allclose(from_sparse.decision_function(container(X)), dense.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_indices_may_have_64_bits(container, data):
    X, y = data
    narrow, wide = container(X), container(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    np.testing.assert_array_equal(
        CostSensitiveSVC().fit(wide, y).decision_function(wide),
        CostSensitiveSVC().fit(narrow, y).decision_function(narrow),
    )


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("fitted", [np.asarray, sparse.csr_array], ids=["fit dense", "fit sparse"])
@pytest.mark.parametrize("scored", [np.asarray, sparse.csr_array], ids=["score dense", "score sparse"])
def test_a_model_scores_dense_and_sparse_samples(estimator, fitted, scored, data):
    X, y = data
    model = estimator().fit(fitted(X), y)
    expected = model.decision_function(fitted(X))
    np.testing.assert_allclose(model.decision_function(scored(X)), expected, atol=1e-5)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_float32_rows_stay_float32(estimator, container, data):
    X, y = data
    X32 = container(X.astype(np.float32))
    model = estimator().fit(X32, y)
    assert model.support_vectors_.dtype == np.float32
    wide = estimator().fit(container(X.astype(np.float32).astype(np.float64)), y)
    f = model.decision_function(X32)
    assert f.dtype == np.float64
    np.testing.assert_allclose(f, wide.decision_function(container(X)), atol=1e-3)
    np.testing.assert_allclose(model.decision_function(container(X)), f, atol=1e-3)


def test_integer_rows_are_taken_as_float64(data):
    X, y = data
    X = (10 * X).astype(int)
    model = CostSensitiveSVC().fit(X, y)
    assert model.support_vectors_.dtype == np.float64
    np.testing.assert_array_equal(
        model.decision_function(X), CostSensitiveSVC().fit(X.astype(float), y).decision_function(X)
    )


def gaussian(A, B):
    return rbf_kernel(A, B, gamma=0.2)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_precomputed_and_callable_kernels_equal_the_named_one(estimator, data):
    X, y = data
    named = estimator(kernel="rbf", gamma=0.2, tol=1e-6).fit(X, y)
    from_callable = estimator(kernel=gaussian, tol=1e-6).fit(X, y)
    from_matrix = estimator(kernel="precomputed", tol=1e-6).fit(gaussian(X, X), y)
    np.testing.assert_allclose(from_callable.decision_function(X), named.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(from_matrix.decision_function(gaussian(X, X)), named.decision_function(X), atol=1e-4)
    assert from_matrix.support_vectors_.shape == (0, 0)
    assert from_matrix.n_features_in_ == len(y)


def test_gram_matrix_may_be_asymmetric_by_rounding(data):
    X, y = data
    K = gaussian(X, X)
    noise = 1e-12 * np.random.default_rng(0).normal(size=K.shape)
    model = CostSensitiveSVC(kernel="precomputed").fit(K + noise, y)
    np.testing.assert_allclose(
        model.decision_function(K),
        CostSensitiveSVC(kernel="precomputed").fit(K, y).decision_function(K),
        atol=1e-6,
    )


@pytest.mark.parametrize("kernel", CASES)
def test_every_kernel_train_with_their_parameters(kernel, data):
    X, y = data
    model = CostSensitiveSVC(kernel=kernel, gamma="auto", degree=2, coef0=0.5).fit(X, y)
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize("kernel", CASES)
def test_every_kernel_equals_its_matrix_on_dense_and_sparse_rows(kernel, data):
    X, y = data
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    K = gram(kernel, X)
    expected = CostSensitiveSVC(kernel="precomputed", tol=1e-6).fit(K, y).decision_function(K)
    for container in (np.asarray, sparse.csr_array):
        model = CostSensitiveSVC(kernel=kernel, tol=1e-6, **CASES[kernel].parameters).fit(container(X), y)
        np.testing.assert_allclose(model.decision_function(container(X)), expected, atol=1e-4)


@pytest.mark.parametrize("value", [0.0, 5.0])
def test_constant_features_and_duplicate_rows_work(value):
    X = np.full((20, 3), value)
    model = CostSensitiveSVC().fit(X, np.arange(20) % 2)
    assert model.gamma_ == 1.0
    assert np.isfinite(model.decision_function(X)).all()
