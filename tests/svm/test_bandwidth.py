import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from cssvm import CostSensitiveSVC
from cssvm._svm.kernel_svc import resolve_gamma, weighted_variance

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_scale_is_the_inverse_variance_of_all_entries(dtype, shift):
    X = (RNG.normal(size=(50, 7)) + shift).astype(dtype)
    gamma = resolve_gamma("scale", "rbf", X, np.ones(50))
    assert gamma == pytest.approx(1 / (7 * X.astype(np.float64).var()), rel=1e-12)


def test_scale_is_that_of_scikit_learn():
    X = RNG.normal(size=(40, 3)) * [1, 10, 100]
    y = np.arange(40) % 2
    assert CostSensitiveSVC().fit(X, y).gamma_ == pytest.approx(SVC().fit(X, y)._gamma, rel=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_integer_weights_mean_repeated_rows_and_zero_a_removed_row(container):
    X = RNG.normal(size=(200, 9)) * (RNG.random((200, 9)) < 0.4) + 0.0
    weights = RNG.integers(0, 6, 200)
    repeated = np.repeat(X, weights, axis=0)
    expected = weighted_variance(container(repeated), np.ones(len(repeated)))
    assert weighted_variance(container(X), weights.astype(float)) == pytest.approx(expected, rel=1e-12)
    assert expected == pytest.approx(repeated.var(), rel=1e-12)


def test_rows_are_summed_in_blocks(monkeypatch):
    X, weights = RNG.normal(size=(101, 4)), RNG.random(101)
    whole = weighted_variance(X, weights)
    monkeypatch.setattr("cssvm._kernels.base.BLOCK_ENTRIES", 32)
    assert weighted_variance(X, weights) == pytest.approx(whole, rel=1e-13)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 / 3])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_constant_data_have_gamma_one(value, container):
    X = container(np.full((30, 3), value))
    weights = RNG.random(30)
    assert resolve_gamma("scale", "rbf", X, weights) == 1.0


def test_auto_number_and_kernels_without_gamma():
    X = RNG.normal(size=(10, 4))
    assert resolve_gamma("auto", "rbf", X, np.ones(10)) == 0.25
    assert resolve_gamma(3, "poly", X, np.ones(10)) == 3.0
    for kernel in ("linear", "precomputed", np.dot):
        assert resolve_gamma("scale", kernel, X, np.ones(10)) == 1.0
