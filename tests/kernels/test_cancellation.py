"""Distances of samples far from the centre and close to each other, against differences."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from cssvm import CostSensitiveSVC, CostSensitiveSVCCV
from cssvm._kernels import make_kernel

FUNCTIONS = {
    "rbf": ("sqeuclidean", lambda t: np.exp(-t)),
    "laplacian": ("cityblock", lambda t: np.exp(-t)),
    "matern32": ("sqeuclidean", lambda t: (1 + np.sqrt(6 * t)) * np.exp(-np.sqrt(6 * t))),
    "matern52": ("sqeuclidean", lambda t: (1 + np.sqrt(10 * t) + 10 * t / 3) * np.exp(-np.sqrt(10 * t))),
}


def reference_values(name, gamma, A, B):
    """The kernel matrix of dense rows, from SciPy's distances."""
    metric, function = FUNCTIONS[name]
    distances = cdist(A, B, metric)
    with np.errstate(over="ignore"):
        scaled = gamma * distances
    values = np.zeros(scaled.shape)  # where the distance is infinite
    values[np.isfinite(scaled)] = function(scaled[np.isfinite(scaled)])
    return values


def rows(scale, *, n=30, d=3):
    """Rows of size `scale`, some of them at distances of about 1 and some repeated."""
    rng = np.random.default_rng(0)
    X = scale * rng.normal(size=(n, d))
    X[1::3] = X[::3] + rng.normal(size=X[1::3].shape)
    X[2::6] = X[::6]
    return X


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("scale", "gamma"), [(1.0, 0.5), (1e6, 0.5), (1e8, 0.3), (1e9, 2.0), (1e150, 1.0), (1e160, 1.0), (1.0, 1e300)]
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_kernel_values_are_those_of_the_definition(name, scale, gamma, kind):
    X, kernel = rows(scale), make_kernel(name, gamma=gamma)
    expected = reference_values(name, gamma, X, X)
    np.testing.assert_allclose(kernel.matrix(kind(X), kind(X)), expected, rtol=1e-7, atol=1e-9)
    provider = kernel.gram(kind(X), upper_bounds=np.ones(len(X)), tol=1e-3)
    block, everything = np.empty((len(X), len(X)), provider.dtype), np.arange(len(X))
    provider.update_block(block, everything, everything)
    np.testing.assert_allclose(block, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(provider.diagonal, 1.0)
    shared = kernel.shared(kind(X), np.float64)
    shared.update_block(block, kernel, everything, everything)
    np.testing.assert_allclose(block, expected, rtol=1e-7, atol=1e-9)
    sums = kernel.expand(kind(X), everything, kind(X), np.linspace(-1, 2, len(X)))
    np.testing.assert_allclose(sums, expected @ np.linspace(-1, 2, len(X)), rtol=1e-7, atol=1e-8)


def test_sparse_rows_with_unsorted_features_are_read_right():
    X = sp.csr_array(np.array([[1e9, 0.0, 2.0], [1e9 + 1.0, 3.0, 0.0]]))
    unsorted = X.copy()
    unsorted.indices, unsorted.data = X.indices[[1, 0, 3, 2]], X.data[[1, 0, 3, 2]]
    unsorted.has_sorted_indices = False
    expected = reference_values("rbf", 0.1, X.toarray(), X.toarray())
    np.testing.assert_allclose(make_kernel("rbf", gamma=0.1).matrix(unsorted, unsorted), expected)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", [1e6, 1e7, 1e8, 1e9])
def test_fits_on_unscaled_features_are_those_of_libsvm_on_the_same_kernel_matrix(scale, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int)
    X *= scale
    X[1::2] = X[::2] + rng.normal(size=X[1::2].shape)  # near enough for kernel values between 0 and 1
    K = reference_values("rbf", 1 / 3, X, X)
    model = CostSensitiveSVC(gamma="auto", tol=1e-6).fit(kind(X), y)
    reference = SVC(kernel="precomputed", tol=1e-6).fit(K, y)
    np.testing.assert_allclose(model.decision_function(kind(X)), reference.decision_function(K), atol=1e-5)
    search = CostSensitiveSVCCV(Cs=[1.0, 10.0], gammas=[1 / 3], cv=3).fit(kind(X), y)
    given = CostSensitiveSVCCV(Cs=[1.0, 10.0], kernel="precomputed", cv=3).fit(K, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], given.cv_results_["mean_test_score"])


def test_scores_of_new_rows_far_from_the_vectors_are_the_bias():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    model = CostSensitiveSVC().fit(X, y)
    scores = model.decision_function(np.array([[1e155, 0.0], [1e300, 1e300]]))
    np.testing.assert_allclose(scores, np.repeat(model.intercept_, 2))
