"""Gram matrices from shared distances and products, against scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from cssvm._kernels import make_kernel

from .registry import CASES, gram


@pytest.fixture
def rows():
    X = np.random.default_rng(0).normal(size=(300, 7))
    X[np.abs(X) < 0.5] = 0.0
    return X


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_blocks_are_the_kernel_values(rows, name, kind):
    shared = make_kernel(name).shared(kind(rows), np.float64)  # whatever the parameters
    kernel = make_kernel(name, **CASES[name].parameters)
    left, right = np.arange(3, 290), np.array([299, 0, 5, 5, 17])
    out = np.empty((len(left), len(right)))
    shared.update_block(out, kernel, left, right)
    expected = gram(name, rows)
    np.testing.assert_allclose(out, expected[np.ix_(left, right)], atol=1e-12)
    np.testing.assert_allclose(shared.diagonal(kernel), expected.diagonal(), atol=1e-12)


def test_float32_distances_round_rbf_values_like_float32_values(rows):
    """Also for rows far from the origin, whose norms dwarf their distances."""
    kernel = make_kernel("rbf", gamma=0.3)
    shared = kernel.shared(rows + 1e4, np.float32)
    out = np.empty((300, 300), np.float32)
    shared.update_block(out, kernel, np.arange(300), np.arange(300))
    assert np.abs(out - pairwise_kernels(rows, metric="rbf", gamma=0.3)).max() < 3e-7


def test_precomputed_and_callable_kernels_are_kept_as_they_are(rows):
    K = rows @ rows.T
    every = np.arange(300)
    for kernel, X in ((make_kernel("precomputed"), K), (make_kernel(lambda A, B: A @ B.T), rows)):
        shared = kernel.shared(X, np.float64)
        out = np.empty((300, 300))
        shared.update_block(out, kernel, every, every)
        np.testing.assert_array_equal(out, K)
        np.testing.assert_array_equal(shared.diagonal(kernel), K.diagonal())


def test_a_callable_of_the_wrong_shape_is_rejected(rows):
    with pytest.raises(ValueError, match=r"shape \(300,\)"):
        make_kernel(lambda A, B: np.ones(len(A))).shared(rows, np.float64)
