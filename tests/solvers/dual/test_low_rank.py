"""The interior-point method for kernels of low rank, against Clarabel and the definition of the problem."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from cssvm import CostSensitiveSVC
from cssvm._kernels import make_kernel
from cssvm._runtime import threads
from cssvm._solvers.dual import Status, solve, solver, tuning
from cssvm._solvers.dual.solver import low_rank_factor, low_rank_solution

from .problems import clarabel_optimum, gram, random_problem, rows_of, signed

LINEAR = make_kernel("linear")
SQUARES = make_kernel("poly", gamma=0.2, degree=2, coef0=1.0)


def noisy(n, d=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("kernel", [LINEAR, SQUARES], ids=lambda kernel: kernel.name)
def test_a_factor_has_the_rank_of_the_kernel_and_gives_it_back(kernel):
    X, _ = noisy(60, d=4)
    rows = rows_of(kernel, X, np.ones(60))
    factor = low_rank_factor(rows, rows.rank)
    K = gram(kernel, X)
    assert factor.shape == (60, np.linalg.matrix_rank(K))
    np.testing.assert_allclose(factor @ factor.T, K, atol=1e-12)


def test_there_is_no_factor_of_a_kernel_of_higher_rank_or_with_negative_eigenvalues():
    X, _ = noisy(30)
    assert low_rank_factor(rows_of(make_kernel("rbf", gamma=0.1), X, np.ones(30)), 29) is None
    spoilt = make_kernel("poly", gamma=0.2, degree=2, coef0=-1.0)
    assert np.linalg.eigvalsh(gram(spoilt, X[:, :3])).min() < -0.1
    assert low_rank_factor(rows_of(spoilt, X[:, :3], np.ones(30)), 30) is None


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000), n=st.integers(10, 80), exponent=st.integers(-3, 3), zero=st.sampled_from([0.0, 0.3])
)
def test_the_interior_solution_is_feasible_and_optimal(seed, n, exponent, zero):
    X, y, margins, upper_bounds = random_problem(n, seed, C=10.0**exponent, zero_bounds=zero)
    problem = signed(y, margins, upper_bounds)
    beta, n_steps = low_rank_solution(X, problem)
    assert n_steps < 60
    assert (beta >= problem.lower).all()
    assert (beta <= problem.upper).all()
    assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()
    value = problem.linear @ beta - 0.5 * np.square(X.T @ beta).sum()
    scaled = (
        clarabel_optimum(X @ X.T * upper_bounds.max(), problem.scaled(1.0 / upper_bounds.max())) * upper_bounds.max()
    )
    assert value >= (1 - 1e-5) * scaled  # no feasible value is above the optimum


@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("n", [1500, 5000])
def test_noisy_linear_problems_are_solved_whatever_C_is(n, C):
    """SMO steps alone take minutes for the largest of them."""
    X, y = noisy(n)
    upper_bounds = C * np.where(y > 0, 4.0, 1.0)
    solution = solve(rows_of(LINEAR, X, upper_bounds, tol=1e-3), signed(y, np.ones(n), upper_bounds))
    assert solution.status == Status.CONVERGED
    assert solution.n_iter < 100
    G = y - X @ (X.T @ solution.beta)
    grows, shrinks = (
        solution.beta < np.where(y > 0, upper_bounds, 0.0),
        solution.beta > np.where(y > 0, 0.0, -upper_bounds),
    )
    assert G[grows].max() - G[shrinks].min() <= 1e-3
    w = X.T @ solution.beta
    primal = 0.5 * w @ w + upper_bounds @ np.maximum(0.0, 1.0 - y * (X @ w + solution.bias))
    dual = np.abs(solution.beta).sum() - 0.5 * w @ w
    assert 0.0 <= primal - dual <= 1e-5 * primal


def test_what_smo_steps_do_not_solve_in_time_is_solved_by_the_interior_point_method(monkeypatch):
    """The rank of a kernel matrix is not known, so SMO steps are tried first."""
    monkeypatch.setattr(tuning, "WORK", tuning.WorkLimit(5e7, 0.0, 0.0))
    X, y = noisy(1000)
    upper_bounds = np.full(1000, 1000.0)
    problem, rows = (
        signed(y, np.ones(1000), upper_bounds),
        make_kernel("precomputed").gram(X @ X.T, upper_bounds=upper_bounds, tol=1e-3),
    )
    solution = solve(rows, problem)
    reference = solve(rows_of(LINEAR, X, upper_bounds), problem)
    assert solution.status == Status.CONVERGED
    assert solution.dual_objective == pytest.approx(reference.dual_objective, rel=1e-9)
    monkeypatch.setattr(solver, "low_rank_factor", lambda rows, most: None)
    monkeypatch.setattr(solver, "_path_of_growing_bounds", lambda state, tol: None)
    assert solve(rows, problem).status == Status.STALLED


def test_a_path_of_growing_bounds_ends_at_the_optimum():
    X, y = noisy(500, d=6)
    upper_bounds, kernel = np.full(500, 1e4), make_kernel("rbf", gamma=0.05)
    problem, rows = signed(y, np.ones(500), upper_bounds), rows_of(kernel, X, upper_bounds, tol=1e-3)
    with threads.single_threaded_blas():
        state = solver._path_of_growing_bounds(solver.Decomposition(rows, problem), 1e-3)
    G = problem.linear - gram(kernel, X) @ state.beta
    grows, shrinks = state.beta < problem.upper, state.beta > problem.lower
    assert G[grows].max() - G[shrinks].min() <= 2e-3
    assert state.n_iter > 0
    small = signed(y, np.ones(500), np.ones(500))
    assert solver._path_of_growing_bounds(solver.Decomposition(rows, small), 1e-3) is None


def test_features_far_from_zero_work():
    """A column of seconds since 1970: the mean of the features changes nothing but the bias."""
    X, y = noisy(500, d=3)
    X = np.c_[X, 1.7e9 + 1e4 * np.random.default_rng(1).normal(size=500)]
    y01, centred = (y > 0).astype(int), X - X.mean(axis=0)
    far, near = (CostSensitiveSVC(kernel="linear").fit(Z, y01) for Z in (X, centred))
    assert far.fit_status_ == 0
    assert far.primal_objective_ == pytest.approx(near.primal_objective_, rel=1e-6)
    np.testing.assert_allclose(far.decision_function(X), near.decision_function(centred), atol=1e-3)


def test_constant_features_work():
    with np.errstate(all="raise"):
        solution = solve(
            rows_of(LINEAR, np.zeros((600, 3)), np.ones(600)), signed(noisy(600)[1], np.ones(600), np.ones(600))
        )
    assert solution.status == Status.CONVERGED


def test_a_small_budget_is_no_reason_for_smo_steps():
    X, y = noisy(3000, d=2)
    upper_bounds = np.full(3000, 100.0)
    solution = solve(rows_of(LINEAR, X, upper_bounds, tol=1e-3, cache_size=4), signed(y, np.ones(3000), upper_bounds))
    assert solution.n_iter < 200
    assert solution.profile["interior"] > 0.0


@pytest.mark.parametrize("n", [100, 3000, 10**5])
def test_the_rank_that_can_be_afforded_is_the_inverse_of_the_cost(n):
    for rank in (1, 20, 80):
        assert tuning.INTERIOR.most_rank(n, (1.0 + 1e-9) * tuning.INTERIOR.ns(n, rank)) == rank
    assert tuning.INTERIOR.most_rank(n, 0.0) == 0


def test_solutions_do_not_depend_on_the_number_of_threads():
    X, y = noisy(5000)
    upper_bounds, found = np.full(5000, 50.0), []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(solve(rows_of(LINEAR, X, upper_bounds, tol=1e-3), signed(y, np.ones(5000), upper_bounds)).beta)
    np.testing.assert_array_equal(*found)
