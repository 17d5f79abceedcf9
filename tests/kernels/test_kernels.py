"""Kernel values against scikit-learn, row caches within their budget, and precision."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from cssvm._kernels import KERNELS, make_kernel
from cssvm._kernels.gram import MIN_ROWS, CachedGram, ComputedGram, MatrixGram, available_bytes
from cssvm._kernels.tiles import DENSE_ENOUGH, SparsePoints, prepare_points
from cssvm._runtime import threads

from .registry import CASES, gram


def sparse_rows(n, d, density, rng=None):
    return sp.csr_array(sp.random(n, d, density=density, format="csr", random_state=rng))


def rows_of_kind(kind):
    """Two matrices (300, d) and (70, d)."""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(300, 7)), rng.normal(size=(70, 7))
    if kind == "dense":
        return dense
    if kind == "shifted":
        return dense[0] + 1e5, dense[1] + 1e5
    share = 0.05 if kind != "sparse, crowded" else 0.5
    pair = tuple(sparse_rows(n, 90, share, rng) for n in (300, 70))
    if kind == "sparse vectors, dense rows":
        return pair[0], pair[1].toarray()
    if kind == "dense vectors, sparse rows":
        return pair[0].toarray(), pair[1]
    if kind == "sparse, 64-bit":
        for matrix in pair:
            matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return pair


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


def block_of(rows, left, right):
    """K[left][:, right] as the provider computes it, with a margin of untouched numbers around it."""
    out = np.full((len(left) + 1, len(right) + 3), 7.0, rows.dtype)
    with threads.single_threaded_blas():
        rows.update_block(out, left, right)
    assert (out[len(left) :] == 7.0).all()
    assert (out[:, len(right) :] == 7.0).all()
    return out[: len(left), : len(right)]


def sum_of(rows, indices, coef, columns=None):
    total = np.zeros(rows.n if columns is None else len(columns))
    with threads.single_threaded_blas():
        rows.update_gradient(total, indices, coef, columns)
    return -total


KINDS = ["dense", "sparse", "sparse, crowded", "sparse, 64-bit", "shifted"]
MIXED = ["sparse vectors, dense rows", "dense vectors, sparse rows"]


@pytest.mark.parametrize("kind", KINDS + MIXED)
@pytest.mark.parametrize("name", CASES)
def test_values_equal_the_reference(name, kind):
    vectors, X = rows_of_kind(kind)
    kernel = make_kernel(name, **CASES[name].parameters)
    if kind == "shifted" and not kernel.term.is_distance:
        pytest.skip("products of shifted rows are as large in the reference")
    centre = dense(vectors).mean(axis=0) if kind == "shifted" else 0.0  # the reference loses digits without this
    reference = gram(name, dense(X) - centre, dense(vectors) - centre)
    coef = np.random.default_rng(1).normal(size=300)
    np.testing.assert_allclose(kernel.expand(X, np.arange(300), vectors, coef), reference @ coef, rtol=1e-9, atol=1e-9)
    K = gram(name, dense(vectors) - centre)
    rows = kernel.gram(vectors, upper_bounds=np.ones(300), tol=1e-3)
    some, others = np.array([5, 299, 0, 17]), np.array([2, 250, 249])
    np.testing.assert_allclose(block_of(rows, some, others), K[np.ix_(some, others)], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(rows.diagonal, K.diagonal(), rtol=1e-9)
    np.testing.assert_allclose(sum_of(rows, some, coef[:4]), coef[:4] @ K[some], rtol=1e-9, atol=1e-10)
    narrow = sum_of(rows, some, coef[:4], others)
    np.testing.assert_allclose(narrow, coef[:4] @ K[np.ix_(some, others)], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("density", [1.0, 0.02])
def test_float32_rows_are_right_to_float32(name, density):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(5000, 60)) if density == 1.0 else sparse_rows(5000, 60, density, rng)
    parameters = {**CASES[name].parameters, "gamma": 0.01} if "gamma" in CASES[name].parameters else {}
    rows = make_kernel(name, **parameters).gram(X, upper_bounds=np.full(5000, 1e-2), tol=1e-3)
    assert rows.dtype == np.float32
    some = np.arange(0, 5000, 250)
    reference = gram(name, dense(X)[some], dense(X), **parameters)
    largest = np.abs(reference).max()
    np.testing.assert_allclose(block_of(rows, some, np.arange(5000)), reference, rtol=0, atol=3e-6 * largest)
    np.testing.assert_allclose(sum_of(rows, some, np.ones(20)), reference.sum(axis=0), rtol=0, atol=3e-5 * largest)


def test_float32_gives_way_to_float64_where_rounding_would_show():
    X = np.random.default_rng(0).normal(size=(5000, 3))
    keeps = {
        scale: make_kernel("linear").gram(scale * X, upper_bounds=np.ones(5000), tol=1e-3).dtype for scale in (1.0, 1e4)
    }
    assert keeps == {1.0: np.float32, 1e4: np.float64}
    narrow = make_kernel("rbf", gamma=1e4).gram(X, upper_bounds=np.ones(5000), tol=1e-3)
    assert (narrow.dtype, narrow.points.rows.dtype) == (np.float32, np.float64)
    assert make_kernel("rbf").gram(X, upper_bounds=np.full(5000, 1e6), tol=1e-3).dtype == np.float64


@pytest.mark.parametrize("name", ["rbf", "laplacian", "matern32", "matern52"])
@pytest.mark.parametrize(("n", "dtype"), [(1000, np.float64), (5000, np.float32)])
def test_narrow_kernels_have_no_values_whose_products_are_subnormal(name, n, dtype):
    """Arithmetic with subnormal numbers takes many times as long."""
    X = np.random.default_rng(0).normal(size=(n, 1))
    rows = make_kernel(name, gamma=1e5).gram(X, upper_bounds=np.full(n, 1e-2), tol=1e-3)
    values = block_of(rows, np.arange(20), np.arange(n))
    assert rows.dtype == dtype
    assert (values**2).min() >= np.finfo(dtype).tiny
    assert np.median(values) <= 1e-3 * np.finfo(dtype).eps  # of k(x, x) = 1


def test_crowded_sparse_rows_are_unpacked():
    few, many = (sparse_rows(50, 40, d) for d in (DENSE_ENOUGH / 2, 2 * DENSE_ENOUGH))
    kernel = make_kernel("rbf")
    assert isinstance(prepare_points(kernel, few, few, np.float64)[0], SparsePoints)
    assert not isinstance(prepare_points(kernel, many, many, np.float64)[0], SparsePoints)


def test_rows_that_take_long_to_compute_are_stored_and_others_are_not():
    rng = np.random.default_rng(0)
    few, many = rng.normal(size=(50, 5)), rng.normal(size=(50, 500))
    thin, thick = (sparse_rows(50, 2000, d, rng) for d in (0.01, 0.1))
    kinds = [type(make_kernel("rbf").gram(X, upper_bounds=np.ones(50), tol=1e-3)) for X in (few, many, thin, thick)]
    assert kinds == [ComputedGram, CachedGram, ComputedGram, CachedGram]
    assert isinstance(make_kernel("laplacian").gram(many, upper_bounds=np.ones(50), tol=1e-3), CachedGram)


def test_store_keeps_its_budget_and_the_rows_last_used():
    X = np.random.default_rng(0).normal(size=(4000, 300))
    rows = make_kernel("rbf", gamma=1e-3).gram(X, upper_bounds=np.ones(4000), tol=1e-3, cache_size=2)
    assert rows.store.nbytes <= 2**20  # half of the budget: the working set's block has the other half
    capacity = rows.capacity
    with threads.single_threaded_blas():
        recent = np.arange(0, capacity // 2)
        rows.fetch(np.arange(1000, 1000 + capacity))
        rows.fetch(recent)
        before = rows.fetch(recent).copy()
        rows.fetch(np.arange(2000, 2000 + capacity // 3))
        np.testing.assert_array_equal(rows.fetch(recent), before)
        reference = pairwise_kernels(X[recent[:5]], X, metric="rbf", gamma=1e-3)
        np.testing.assert_allclose(rows.store[before[:5]], reference, atol=1e-5)


def test_tiny_budget_still_holds_a_few_rows():
    X = np.random.default_rng(0).normal(size=(2000, 300))
    assert make_kernel("rbf").gram(X, upper_bounds=np.ones(2000), tol=1e-3, cache_size=1e-3).capacity == MIN_ROWS


def test_sum_of_rows_without_room_for_them_all():
    X = np.random.default_rng(0).normal(size=(3000, 300))
    rows = make_kernel("rbf", gamma=1e-3).gram(X, upper_bounds=np.ones(3000), tol=1e-3, cache_size=1)
    coef, chosen, columns = np.random.default_rng(1).normal(size=900), np.arange(0, 2700, 3), np.arange(5, 3000, 7)
    reference = coef @ pairwise_kernels(X[chosen], X, metric="rbf", gamma=1e-3)
    np.testing.assert_allclose(sum_of(rows, chosen, coef), reference, atol=1e-4)
    np.testing.assert_allclose(sum_of(rows, chosen, coef, columns), reference[columns], atol=1e-4)


def test_precomputed_rows_are_looked_up():
    X = np.random.default_rng(0).normal(size=(30, 30))
    K = X @ X.T
    rows, some, others = MatrixGram(K), np.array([3, 29, 4]), np.array([0, 12])
    np.testing.assert_array_equal(block_of(rows, some, others), K[np.ix_(some, others)])
    np.testing.assert_allclose(sum_of(rows, some, np.ones(3), others), K[np.ix_(some, others)].sum(axis=0))


def test_callable_kernel_must_return_a_matrix():
    X = np.random.default_rng(0).normal(size=(20, 3))
    rows = make_kernel(lambda A, B: A @ B.T).gram(X, upper_bounds=np.ones(20), tol=1e-3)
    np.testing.assert_allclose(block_of(rows, np.arange(20), np.arange(20)), X @ X.T)
    np.testing.assert_allclose(sum_of(rows, np.arange(20), np.ones(20)), (X @ X.T).sum(axis=0))
    with pytest.raises(ValueError, match="kernel returned an array of shape"):
        make_kernel(lambda A, B: np.ones((len(A), 7))).gram(X, upper_bounds=np.ones(20), tol=1e-3)


def test_available_memory_is_positive_and_no_more_than_the_machine_has():
    assert 0 < available_bytes() < 2**50


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_states_what_is_true_of_it(name):
    """Bounds, diagonal and definiteness on random rows; the registry of the tests has every computed kernel."""
    kernel = KERNELS[name]
    if kernel.pairwise:
        return
    X = np.random.default_rng(0).normal(size=(60, 4))
    K = gram(name, X)
    if kernel.term.is_distance or name == "sigmoid":
        assert np.abs(K).max() <= 1 + 1e-12
    assert not kernel.positive_definite or np.linalg.eigvalsh(K).min() > -1e-9 * np.abs(K).max()
    assert kernel.is_linear == np.allclose(K, X @ X.T)
    if kernel.term.is_distance:
        np.testing.assert_allclose(K.diagonal(), 1.0)
        np.testing.assert_allclose(gram(name, X + 7.0), K, atol=1e-8)
        t = np.linspace(0, 20, 100_001)
        slopes = np.abs(np.diff(make_kernel(name, gamma=1.0).from_term(t)) / np.diff(t))
        assert 0.95 * kernel.lipschitz < slopes.max() < 1.01 * kernel.lipschitz


def test_a_callable_may_return_a_sparse_matrix():
    X = sparse_rows(20, 30, 0.2, np.random.default_rng(0))
    kernel = make_kernel(lambda A, B: sp.csr_array(A @ B.T))
    rows = kernel.gram(X, upper_bounds=np.ones(20), tol=1e-3)
    K = dense(X) @ dense(X).T
    np.testing.assert_allclose(block_of(rows, np.arange(20), np.arange(20)), K)
    np.testing.assert_allclose(kernel.expand(X, np.arange(20), X, np.ones(20)), K.sum(axis=1))
    np.testing.assert_allclose(kernel.shared(X, np.float64).base, K)
