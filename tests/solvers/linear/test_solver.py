"""`solve_linear` against Clarabel and the optimality conditions, and its certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_limits

from cssvm._core.types import Status
from cssvm._solvers.linear import COORDINATE, INTERIOR, ROTATED, linear_solver, solve_linear
from cssvm._solvers.linear.blocks import LocalBlocks
from cssvm._solvers.linear.interior import solve_interior
from cssvm._solvers.linear.passes import balanced

from .problems import clarabel_optimum, dual_objective, primal_objective, random_problem


def assert_true(solution, problem, optimum=None, rel=1e-9):
    """The certificate holds by an independent computation, and `optimum`, where known, lies between its values."""
    primal = primal_objective(*problem, solution.coef, solution.bias)
    assert solution.primal_objective == pytest.approx(primal, rel=rel)
    assert solution.dual_objective <= solution.primal_objective * (1 + rel)
    gap = max(0.0, solution.primal_objective - solution.dual_objective) / solution.primal_objective
    assert solution.gap == pytest.approx(gap, rel=1e-6, abs=1e-15)
    if optimum is not None:
        slack = (
            1e-7 * optimum + 1e-10 * problem[2].max()
        )  # Clarabel's own tolerance, in units of the largest upper bound
        assert solution.dual_objective <= optimum + slack
        assert solution.primal_objective >= optimum - slack


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), n=st.integers(4, 90), d=st.integers(1, 8), exponent=st.integers(-4, 4))
def test_the_optimum_is_clarabels(seed, n, d, exponent):
    problem = random_problem(n, d, seed, C=10.0**exponent)
    solution, _ = solve_linear(*problem, tol=1e-7)
    optimum = clarabel_optimum(*problem)
    assert solution.status == Status.CONVERGED
    assert solution.primal_objective == pytest.approx(optimum, rel=1e-6)
    assert_true(solution, problem, optimum)


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000), route=st.sampled_from([INTERIOR, ROTATED, COORDINATE]))
def test_all_routes_find_the_same_optimum(seed, route):
    X, linear, upper_bounds = random_problem(40, 60 if route == ROTATED else 12, seed)
    with pytest.MonkeyPatch.context() as patch:
        if route == COORDINATE:
            patch.setattr(linear_solver, "WIDEST", 5)
        solution, taken = solve_linear(X, linear, upper_bounds, tol=1e-6)
    assert taken == route
    assert solution.status == Status.CONVERGED
    assert solution.primal_objective == pytest.approx(clarabel_optimum(X, linear, upper_bounds), rel=2e-6)
    assert_true(solution, (X, linear, upper_bounds))


def test_the_dual_objective_is_that_of_a_feasible_alpha():
    X, linear, upper_bounds = random_problem(300, 7, seed=5, C=3.0)
    blocks = LocalBlocks.from_samples(X, linear, upper_bounds, 64)
    solution = solve_interior(blocks, tol=1e-6)
    alpha = blocks.states()[0]
    assert (alpha > 0).all()
    assert (alpha < upper_bounds).all()
    beta = balanced(alpha, linear)
    assert abs(beta.sum()) <= 1e-13 * np.abs(beta).sum()
    assert (np.abs(beta) <= upper_bounds).all()
    assert dual_objective(X, linear, beta) == pytest.approx(solution.dual_objective, rel=1e-12)
    assert blocks.dual_objective(alpha) == pytest.approx(solution.dual_objective, rel=1e-12)


def test_every_certificate_on_the_way_holds_the_optimum_between_its_values():
    problem, seen = random_problem(200, 6, seed=8, C=10.0), []
    optimum = clarabel_optimum(*problem)
    solve_interior(LocalBlocks.from_samples(*problem), tol=1e-8, report=lambda n, best: seen.append((n, best)))
    assert [n for n, _ in seen] == list(range(len(seen)))
    for _, best in seen:
        assert best.dual <= optimum * (1 + 1e-7)
        assert best.primal >= optimum * (1 - 1e-7)
    gaps = [best.gap for _, best in seen]
    assert gaps == sorted(gaps, reverse=True)


@pytest.mark.parametrize("kind", ["float32", "sparse", "sparse float32", "blocks of 50 rows", "blocks of 1 row"])
def test_solutions_do_not_depend_on_the_form_of_the_data(kind):
    X, linear, upper_bounds = random_problem(400, 8, seed=2)
    X = np.where(np.abs(X) > 1.0, X, 0.0).astype(np.float32).astype(float)  # float32 has all its digits
    reference = solve_interior(LocalBlocks.from_samples(X, linear, upper_bounds), tol=1e-9)
    if "float32" in kind:
        X = X.astype(np.float32)
    if "sparse" in kind:
        X = sparse.csr_array(X)
    rows = {"blocks of 50 rows": 50, "blocks of 1 row": 1}.get(kind)
    found = solve_interior(LocalBlocks.from_samples(X, linear, upper_bounds, rows), tol=1e-9)
    np.testing.assert_allclose(found.coef, reference.coef, rtol=1e-6, atol=1e-8)
    assert found.n_iter == reference.n_iter
    assert found.primal_objective == pytest.approx(reference.primal_objective, rel=1e-10)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_number_of_threads_changes_no_bit(container, monkeypatch):
    monkeypatch.setattr("cssvm._solvers.linear.blocks.BLOCK_BYTES", 1 << 12)  # many blocks
    X, linear, upper_bounds = random_problem(3000, 10, seed=1)
    X, found = container(np.where(X > 0.8, X, 0.0)), []
    for n_threads in (1, 2, 2):
        with threadpool_limits(n_threads):
            solution, _ = solve_linear(X, linear, upper_bounds, tol=1e-6)
        found.append(np.append(solution.coef, [solution.bias, solution.primal_objective, solution.dual_objective]))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[1], found[2])


def test_only_so_many_sums_wait_as_memory_allows(monkeypatch):
    X, linear, upper_bounds = random_problem(900, 30, seed=1)
    whole = solve_interior(LocalBlocks.from_samples(X, linear, upper_bounds, 50), tol=1e-6)
    monkeypatch.setattr("cssvm._solvers.linear.blocks.WAITING_BYTES", 0)
    monkeypatch.setattr("cssvm._runtime.threads.n_cores", lambda: 2)
    blocks = LocalBlocks.from_samples(X, linear, upper_bounds, 50)
    assert blocks.at_once(2) == 2
    np.testing.assert_array_equal(solve_interior(blocks, tol=1e-6).coef, whole.coef)


def test_every_solve_starts_from_zero():
    blocks = LocalBlocks.from_samples(*random_problem(300, 6, seed=3))
    first, again = (solve_interior(blocks, tol=1e-7) for _ in range(2))
    assert again.n_iter == first.n_iter
    np.testing.assert_array_equal(again.coef, first.coef)


def test_a_limit_on_the_iterations_is_kept_and_stated():
    problem = random_problem(200, 6, seed=3)
    solution, _ = solve_linear(*problem, tol=1e-9, max_iter=4)
    assert solution.status == Status.ITERATION_LIMIT
    assert solution.n_iter == 4
    assert_true(solution, problem, clarabel_optimum(*problem))


def test_small_problems_are_solved_beyond_tol():
    """An iteration costs nothing there, and weights are then repetitions to the last digits."""
    problem = random_problem(200, 6, seed=3)
    assert solve_linear(*problem, tol=1e-4)[0].gap < 1e-7
