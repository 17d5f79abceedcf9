"""Coordinate descent for many features: the optimum of the interior-point method, its certificate and limits."""

import numpy as np
import pytest
from scipy import sparse

from cssvm._core.types import Status
from cssvm._solvers.linear import COORDINATE, LinearSolver, linear_solver, solve_linear
from cssvm._solvers.linear.blocks import LocalBlocks
from cssvm._solvers.linear.interior import solve_interior
from cssvm._solvers.linear.linear_solver import rotated, solve_coordinates

from .problems import primal_objective


def words(n=600, d=150, seed=0, positives=0.2):
    """Sparse samples of length 1 with a few features each, some of them frequent."""
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, d + 1)
    chosen = rng.choice(d, size=(n, 20), p=weights / weights.sum())
    X = sparse.csr_array((np.ones(n * 20), chosen.ravel(), np.arange(0, 20 * n + 1, 20)), shape=(n, d))
    X.sum_duplicates()
    X = sparse.csr_array(X.multiply(1 / np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())[:, np.newaxis]))
    X.sum_duplicates()
    f = X @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
    y = np.where(f > np.quantile(f, 1 - positives), 1.0, -1.0)
    return X, y * rng.uniform(0.5, 1.5, n), rng.exponential(size=n) + 0.01


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_optimum_is_that_of_the_interior_point_method(C, dtype):
    X, linear, upper_bounds = words()
    X = X.astype(dtype)
    found = solve_coordinates(X, linear, C * upper_bounds, tol=1e-6)
    reference = solve_interior(LocalBlocks.from_samples(X, linear, C * upper_bounds), tol=1e-8)
    assert found.status == Status.CONVERGED
    assert found.primal_objective == pytest.approx(reference.primal_objective, rel=1.1e-6)
    assert found.dual_objective <= reference.primal_objective
    true = primal_objective(X.toarray(), linear, C * upper_bounds, found.coef, found.bias)
    assert found.primal_objective == pytest.approx(true, rel=1e-9)


def test_two_solves_are_equal_bit_for_bit():
    problem = words(300)
    first, again = (solve_coordinates(*problem, tol=1e-5) for _ in range(2))
    np.testing.assert_array_equal(first.coef, again.coef)
    assert first.bias == again.bias


def test_a_limit_on_the_sweeps_is_kept_and_the_certificate_is_true_all_the_same():
    X, linear, upper_bounds = words()
    found = solve_coordinates(X, linear, 100 * upper_bounds, tol=1e-9, max_iter=7)
    assert found.status == Status.ITERATION_LIMIT
    assert found.n_iter == 7
    optimum = solve_interior(LocalBlocks.from_samples(X, linear, 100 * upper_bounds), tol=1e-8).primal_objective
    assert found.dual_objective < optimum < found.primal_objective


def test_wide_rows_are_solved_by_coordinates(monkeypatch):
    monkeypatch.setattr(linear_solver, "WIDEST", 100)
    problem = words()
    found, how = solve_linear(*problem, tol=1e-5)
    assert how == COORDINATE
    assert found.gap <= 1e-5


def test_dense_rows_are_made_sparse_once_for_all_problems(monkeypatch):
    monkeypatch.setattr(linear_solver, "WIDEST", 100)
    X, linear, upper_bounds = words()
    seen = []
    monkeypatch.setattr(linear_solver, "solve_coordinates", lambda rows, *_, **__: seen.append(rows))
    rows = LinearSolver(X.toarray())
    for C in (0.1, 1.0):
        rows.solve(linear, C * upper_bounds, tol=1e-3)
    assert sparse.issparse(seen[0])
    assert seen[0] is seen[1]


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("rank", [7, 25])
def test_rotated_rows_have_the_same_products_and_functions(container, rank):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(25, rank)) @ rng.normal(size=(rank, 60))
    turned = rotated(container(X))
    assert turned.Z.shape == (25, rank)
    np.testing.assert_allclose(turned.Z @ turned.Z.T, X @ X.T, atol=1e-10)
    v = rng.normal(size=rank)
    w = turned.weights(v)
    np.testing.assert_allclose(X @ w, turned.Z @ v, atol=1e-10)
    assert w @ w == pytest.approx(v @ v)
