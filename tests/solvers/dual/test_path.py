"""Solutions along growing C against Clarabel, the decomposition solver and dense linear algebra."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from cssvm._solvers.certificate import violation
from cssvm._solvers.dual import Status, Workspace, smo_newton, solve, solve_path, tuning
from cssvm._solvers.dual.smo_newton import DualPath

from .problems import KERNELS, clarabel_optimum, gram, random_problem, signed

TOL = 1e-3
CS = [0.02, 0.1, 0.3, 2.0, 50.0, 2000.0]


def unit_problem(n, seed):
    X, y, margins, upper_bounds = random_problem(n, seed)
    rows = upper_bounds > 0
    return X[rows], signed(y[rows], margins[rows], upper_bounds[rows])


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("seed", range(3))
def test_every_solution_of_the_path_is_that_of_clarabel(kernel, seed):
    X, unit = unit_problem(60, seed)
    K = gram(kernel, X)
    for C, solution in zip(CS, solve_path(K, K.diagonal(), unit, CS, tol=1e-6), strict=True):
        assert solution.status == Status.CONVERGED
        problem, beta = unit.scaled(C), solution.beta
        value = problem.linear @ beta - 0.5 * beta @ K @ beta
        best = clarabel_optimum(K, problem)
        # A violation of 1e-6 leaves at most 1e-6 times the largest possible movement of beta.
        assert best - value <= 1e-6 * np.abs(beta).sum() + 1e-6 * abs(best)
        assert (beta >= problem.lower).all()
        assert (beta <= problem.upper).all()
        assert abs(beta.sum()) <= 1e-10 * np.abs(beta).sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [300, 900])
def test_the_violation_met_is_the_true_one(dtype, n):
    """In float32 the gradient carries rounding errors; recomputed in float64 it still satisfies the tolerance."""
    X, unit = unit_problem(n, 7)
    K = gram(KERNELS[1], X).astype(dtype)
    for C, solution in zip(CS, solve_path(K, np.ones(len(K)), unit, CS, tol=TOL), strict=True):
        gradient = unit.linear - K.astype(np.float64) @ solution.beta
        assert violation(solution.beta, gradient, unit.scaled(C)) <= 1.2 * TOL


@pytest.mark.parametrize("C", [0.5, 30.0])
def test_scores_do_not_depend_on_the_way_to_C(C):
    X, unit = unit_problem(700, 3)
    K = gram(KERNELS[1], X)
    scores = []
    for way in ([C], [C / 100, C / 10, C], [C / 1.1, C]):
        *_, last = solve_path(K, K.diagonal(), unit, way, tol=1e-5)
        scores.append(K @ last.beta + last.bias)
    reference = solve(KERNELS[1].gram(X, upper_bounds=np.ones(len(X)), tol=1e-5), unit.scaled(C), tol=1e-5)
    for other in [*scores[1:], K @ reference.beta + reference.bias]:
        assert np.abs(scores[0] - other).max() < 1e-3


def test_an_indefinite_kernel_is_solved_by_smo_steps_alone():
    X, unit = unit_problem(80, 2)
    K = np.tanh(2.0 * X @ X.T - 1.0)
    for C, solution in zip(CS[:4], solve_path(K, K.diagonal(), unit, CS[:4], tol=TOL), strict=True):
        assert solution.status == Status.CONVERGED
        assert violation(solution.beta, unit.linear - K @ solution.beta, unit.scaled(C)) <= 1.01 * TOL


def test_a_solution_without_bounded_variables_needs_no_step_for_a_larger_C():
    """With no variable at its bound the solution does not depend on C any more."""
    X, unit = unit_problem(100, 4)
    K = gram(KERNELS[3], 20 * X) + 0.5 * np.eye(len(X))
    path = DualPath(K, K.diagonal(), unit)
    before, after = path.advance(1e4, 1e-8), path.advance(1e5, 1e-6)
    assert after.n_iter == 0
    np.testing.assert_allclose(after.beta, before.beta, rtol=1e-9, atol=1e-12)


def test_a_kernel_of_low_rank_is_solved_to_tolerance_for_large_C():
    """K_FF is singular there, Newton's direction leads far out, and SMO steps alone need millions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1.0, 30.0, 0.1] + 5.0
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=200) > 5.0, 1.0, -1.0)
    unit = signed(y, np.ones(200), np.ones(200))
    K = X @ X.T
    Cs = [0.01, 1.0, 100.0, 1e4]
    for C, solution in zip(Cs, solve_path(K, K.diagonal(), unit, Cs, tol=TOL), strict=True):
        assert solution.status == Status.CONVERGED
        # The gradient is a difference of sums of about C n |x|^2; it is exact to their rounding.
        rounding = 1e-14 * C * 200 * K.max()
        assert violation(solution.beta, unit.linear - K @ solution.beta, unit.scaled(C)) <= TOL + rounding


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_solutions_carry_their_certificate(dtype):
    X, unit = unit_problem(300, 5)
    K = gram(KERNELS[1], X).astype(dtype)
    for C, solution in zip(CS, solve_path(K, np.ones(len(K)), unit, CS, tol=TOL), strict=True):
        exact, beta, problem = K.astype(np.float64), solution.beta, unit.scaled(C)
        f = exact @ beta + solution.bias
        y = np.sign(problem.linear)
        losses = (problem.upper - problem.lower) @ np.maximum(0.0, np.abs(problem.linear) - y * f)
        # A gradient that is wrong by a tenth of the tolerance moves the objectives by that times |beta| and the upper
        # bounds.
        size = 0.1 * TOL * (np.abs(beta).sum() + (problem.upper - problem.lower).sum())
        quadratic = 0.5 * beta @ exact @ beta
        assert solution.dual_objective == pytest.approx(problem.linear @ beta - quadratic, abs=size)
        assert solution.primal_objective == pytest.approx(quadratic + losses, abs=size)
        assert solution.violation <= TOL
        assert solution.converged


def test_solutions_already_yielded_stay_as_they_are():
    X, unit = unit_problem(100, 6)
    K = gram(KERNELS[1], X)
    path = solve_path(K, K.diagonal(), unit, CS)
    first = next(path)
    beta, gradient = first.beta.copy(), first.gradient.copy()
    list(path)
    np.testing.assert_array_equal(first.beta, beta)
    np.testing.assert_array_equal(first.gradient, gradient)


def test_a_solve_ends_where_neither_smo_steps_nor_rounds_get_ahead(monkeypatch):
    """A violation just above the tolerance can be within it in float32: then no step is taken."""
    monkeypatch.setattr(smo_newton, "update_by_smo", lambda *args: (0, 2 * TOL))
    monkeypatch.setattr(smo_newton.NewtonSteps, "take", lambda self, tol: 0.0)
    monkeypatch.setattr(tuning, "COPIED_PROBLEM", 10)
    X, unit = unit_problem(60, 0)
    K = gram(KERNELS[1], X)
    (solution,) = solve_path(K, K.diagonal(), unit, [1.0], tol=TOL)
    assert solution.status == Status.ITERATION_LIMIT
    assert solution.n_iter == 0


def test_too_few_smo_steps_are_reported(monkeypatch):
    monkeypatch.setattr(tuning, "PATH_MAX_STEPS", 0)
    X, unit = unit_problem(100, 6)
    K = gram(KERNELS[1], X)
    (solution,) = solve_path(K, K.diagonal(), unit, [1.0])
    assert solution.status == Status.ITERATION_LIMIT
    assert not solution.converged
    assert solution.gap > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_workspace_does_not_change_results(dtype, monkeypatch):
    monkeypatch.setattr(tuning, "COPIED_PROBLEM", 200)
    monkeypatch.setattr(tuning, "ACTIVE_SHARE", 1.0)  # every long turn is made on a copy
    X, unit = unit_problem(400, 6)
    n = len(X)
    workspace = Workspace(n, dtype)
    K = workspace.matrix(n)
    K[:] = gram(KERNELS[1], X)
    parts = []
    monkeypatch.setattr(workspace, "part", lambda size, part=workspace.part: parts.append(part(size)) or parts[-1])
    shared = [solution.beta for solution in solve_path(K, np.ones(n), unit, CS, workspace=workspace)]
    assert parts
    held = {id(array.base): array.base.nbytes for array in [K, *parts]}
    assert sum(held.values()) == Workspace.bytes_needed(n, dtype)
    own = [solution.beta for solution in solve_path(K, np.ones(n), unit, CS)]
    np.testing.assert_array_equal(shared, own)


def test_a_workspace_too_small_for_its_problem_is_rejected():
    with pytest.raises(ValueError, match="room for 100 kernel values; 11 rows need 121"):
        Workspace(10, np.float32).matrix(11)


def test_solutions_do_not_depend_on_the_threads_that_blas_may_use():
    X, unit = unit_problem(500, 8)
    K = gram(KERNELS[1], X)
    results = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            results.append([solution.beta for solution in solve_path(K, K.diagonal(), unit, CS)])
    np.testing.assert_array_equal(*results)
