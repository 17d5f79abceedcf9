"""Float32 where it is accurate enough: predictions and fits against kernel values in float64."""

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from cssvm._kernels import make_kernel
from cssvm._kernels.tiles import EXACT_ROWS, SCORE_ERROR, SUM_ERROR, precisions, prediction_precision

from .registry import gram

N = EXACT_ROWS + 500
DISTANCES = ["rbf", "laplacian", "matern32", "matern52"]


def normal_rows(n=N, d=10):
    return np.random.default_rng(0).normal(size=(n, d))


def problem(kind, name):
    """Vectors, gamma and coefficients; distances are about 1 / gamma, depending on the kind."""
    X, gamma = normal_rows(), 0.02 if name == "laplacian" else 0.05
    coef = np.random.default_rng(1).normal(size=N)
    if kind == "scaled":
        X, gamma = 1e3 * X + 1e5, gamma * (1e-3 if name == "laplacian" else 1e-6)
    elif kind == "binary features":
        X = (X > 0.5) * np.linspace(0.3, 3.0, X.shape[1])
    elif kind == "outliers":
        X[::100] *= 30.0
    elif kind in ("narrow", "wide"):
        gamma *= 1e5 if kind == "narrow" else 1e-7
        coef -= coef.mean()
    elif kind == "sparse":
        X = sp.csr_array(sp.random(N, 300, density=0.03, random_state=0))
    elif kind == "large coefficients":
        X[1::2] = X[::2] + 1e-4 * X[1::2]
        coef = 1e4 * (-1.0) ** np.arange(N) + coef
    return X, gamma, coef


def new_rows(X):
    """Vectors, rows between them, and rows further out than any."""
    if sp.issparse(X):
        return sp.csr_array(sp.vstack([X[:100], X[100:200] * 1.5, X[200:300] * 20.0]))
    centre = X.mean(axis=0)
    return np.concatenate([X[:100], (X[:100] + X[100:200]) / 2, centre + 3.0 * (X[200:300] - centre)])


FLOAT32_KINDS = ["plain", "scaled", "binary features", "outliers", "sparse"]
FLOAT64_KINDS = ["narrow", "wide", "large coefficients"]


@pytest.mark.parametrize("kind", FLOAT32_KINDS + FLOAT64_KINDS)
@pytest.mark.parametrize("name", DISTANCES)
def test_predictions_are_right_in_the_precision_that_is_chosen(name, kind):
    vectors, gamma, coef = problem(kind, name)
    rows, kernel = new_rows(vectors), make_kernel(name, gamma=gamma)
    to_float64 = prediction_precision(kernel, vectors, coef) == np.float64
    assert to_float64 == (kind in FLOAT64_KINDS)
    centre = 0.0 if sp.issparse(vectors) else vectors.mean(axis=0)  # the reference loses digits without this
    dense_rows, dense_vectors = (M.toarray() if sp.issparse(M) else M - centre for M in (rows, vectors))
    K = gram(name, dense_rows, dense_vectors, gamma=gamma)
    errors = np.abs(kernel.expand(rows, np.arange(N), vectors, coef) - K @ coef)
    scale = np.sqrt(np.mean((K @ coef)[:100] ** 2))
    assert errors.max() <= (1e-9 * np.abs(K @ np.abs(coef)).max() if to_float64 else SCORE_ERROR * scale)
    if not to_float64:
        assert errors.max() <= SUM_ERROR * (K @ np.abs(coef))[:100].mean()


@pytest.mark.parametrize("name", ["linear", "poly", "sigmoid"])
def test_kernels_of_products_predict_in_float64(name):
    X, coef = normal_rows(5000), np.ones(5000)
    kernel = make_kernel(name)
    assert prediction_precision(kernel, X, coef) == np.float64


def test_few_support_vectors_predict_in_float64():
    X, coef = normal_rows(EXACT_ROWS), np.ones(EXACT_ROWS)
    assert prediction_precision(make_kernel("rbf", gamma=0.05), X, coef) == np.float64


@pytest.mark.parametrize("kind", ["plain", "large coefficients"])
def test_the_score_of_a_row_does_not_depend_on_the_others(kind):
    """Up to the rounding of its own precision: the last rows of a tile are multiplied in another order."""
    vectors, gamma, coef = problem(kind, "rbf")
    kernel, rows = make_kernel("rbf", gamma=gamma), new_rows(vectors)
    together = kernel.expand(rows, np.arange(N), vectors, coef)
    alone = np.concatenate([kernel.expand(rows[i : i + 1], np.arange(N), vectors, coef) for i in range(0, 300, 17)])
    absolute = gram("rbf", rows[::17], vectors, gamma=gamma) @ np.abs(coef)
    unit = 2.0**-24 if kind == "plain" else 2.0**-53
    assert np.all(np.abs(alone - together[::17]) <= 16 * unit * absolute.max())


def test_float32_predictions_are_the_same_for_any_number_of_threads():
    vectors, gamma, coef = problem("plain", "rbf")
    kernel, rows = make_kernel("rbf", gamma=gamma), normal_rows(5000)
    with threadpool_limits(1):
        alone = kernel.expand(rows, np.arange(N), vectors, coef)
    np.testing.assert_array_equal(alone, kernel.expand(rows, np.arange(N), vectors, coef))


def test_a_few_rows_far_out_do_not_make_a_fit_use_float64():
    X, upper_bounds = normal_rows(5000), np.ones(5000)
    kernel = make_kernel("rbf", gamma=0.05)
    X[:3] *= 200.0
    assert precisions(kernel, X, upper_bounds, 1e-3) == (np.float32, np.float32)
    X[:2000] = 200.0 + normal_rows(2000)  # many rows close to each other and far from the centre
    assert precisions(kernel, X, upper_bounds, 1e-3) == (np.float64, np.float32)
