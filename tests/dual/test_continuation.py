"""Solutions along growing C against Clarabel, the decomposition solver and plain linear algebra."""

import numpy as np
import pytest

from cssvm.dual import Continuation, DualProblem, Status, solve
from cssvm.dual.continuation import update_by_newton
from cssvm.dual.problem import violation

from .problems import KERNELS, clarabel_optimum, gram, random_problem, signed

TOL = 1e-3
CS = [0.02, 0.1, 0.3, 2.0, 50.0, 2000.0]


def unit_problem(n, seed):
    X, y, margins, boxes = random_problem(n, seed)
    rows = boxes > 0
    return X[rows], signed(y[rows], margins[rows], boxes[rows])


def at(unit, C):
    return DualProblem(unit.linear, C * unit.lower, C * unit.upper)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("seed", range(3))
def test_every_solution_of_the_path_is_that_of_clarabel(kernel, seed):
    X, unit = unit_problem(60, seed)
    K = gram(kernel, X)
    path = Continuation(K, K.diagonal(), unit)
    for C in CS:
        assert path.advance(C, 1e-6) == Status.CONVERGED
        problem = at(unit, C)
        value = problem.linear @ path.beta - 0.5 * path.beta @ K @ path.beta
        best = clarabel_optimum(K, problem)
        # A violation of 1e-6 leaves at most 1e-6 times the largest possible movement of beta.
        assert best - value <= 1e-6 * np.abs(path.beta).sum() + 1e-6 * abs(best)
        assert (path.beta >= problem.lower).all()
        assert (path.beta <= problem.upper).all()
        assert abs(path.beta.sum()) <= 1e-10 * np.abs(path.beta).sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [300, 900])
def test_the_violation_met_is_the_true_one(dtype, n):
    """In float32 the gradient carries rounding errors; recomputed in float64 it still satisfies the tolerance."""
    X, unit = unit_problem(n, 7)
    K = gram(KERNELS[1], X).astype(dtype)
    path = Continuation(K, np.ones(len(K)), unit)
    for C in CS:
        path.advance(C, TOL)
        gradient = unit.linear - K.astype(np.float64) @ path.beta
        assert violation(path.beta, gradient, at(unit, C)) <= 1.2 * TOL


@pytest.mark.parametrize("C", [0.5, 30.0])
def test_scores_do_not_depend_on_the_way_to_C(C):
    X, unit = unit_problem(700, 3)
    K = gram(KERNELS[1], X)
    scores = []
    for way in ([C], [C / 100, C / 10, C], [C / 1.1, C]):
        path = Continuation(K, K.diagonal(), unit)
        for step in way:
            path.advance(step, 1e-5)
        scores.append(K @ path.beta + path.bias())
    reference = solve(KERNELS[1].rows(X, boxes=np.ones(len(X)), tol=1e-5), at(unit, C), tol=1e-5)
    for other in [*scores[1:], K @ reference.beta + reference.bias]:
        assert np.abs(scores[0] - other).max() < 1e-3


def test_a_newton_round_without_bounds_in_the_way_solves_the_linear_system():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 30))
    K, p = A @ A.T + np.eye(30), rng.normal(size=30)
    wide = np.full(30, 1e3)
    beta, gradient = np.zeros(30), p.copy()
    assert update_by_newton(K, beta, gradient, -wide, wide, TOL, 0.0) == 1.0
    system = np.block([[K, np.ones((30, 1))], [np.ones((1, 30)), np.zeros((1, 1))]])
    expected = np.linalg.solve(system, np.append(p, 0.0))
    np.testing.assert_allclose(beta, expected[:30], atol=1e-10)
    np.testing.assert_allclose(gradient, expected[30], atol=1e-9)


def test_newton_rounds_never_lower_the_objective():
    X, unit = unit_problem(200, 11)
    K = gram(KERNELS[1], X)
    problem = at(unit, 5.0)
    rng = np.random.default_rng(1)
    for _ in range(20):
        beta = rng.uniform(problem.lower, problem.upper)
        up, down = beta[beta > 0].sum(), -beta[beta < 0].sum()
        beta[beta > 0] *= min(1.0, down / up)
        beta[beta < 0] *= min(1.0, up / down)
        gradient = problem.linear - K @ beta
        before = problem.linear @ beta - 0.5 * beta @ K @ beta
        update_by_newton(K, beta, gradient, problem.lower, problem.upper, TOL, 1e-10)
        after = problem.linear @ beta - 0.5 * beta @ K @ beta
        assert after >= before - 1e-9 * abs(before)
        np.testing.assert_allclose(gradient, problem.linear - K @ beta, atol=1e-9 * np.abs(beta).sum())
        assert (beta >= problem.lower - 1e-12).all()
        assert (beta <= problem.upper + 1e-12).all()


def test_an_indefinite_kernel_is_solved_by_pair_steps_alone():
    X, unit = unit_problem(80, 2)
    K = np.tanh(2.0 * X @ X.T - 1.0)
    path = Continuation(K, K.diagonal(), unit)
    for C in CS[:4]:
        assert path.advance(C, TOL) == Status.CONVERGED
        assert violation(path.beta, unit.linear - K @ path.beta, at(unit, C)) <= 1.01 * TOL


def test_a_solution_without_bounded_variables_needs_no_step_for_a_larger_C():
    """With no variable at its bound the solution does not depend on C any more."""
    X, unit = unit_problem(100, 4)
    K = gram(KERNELS[3], 20 * X) + 0.5 * np.eye(len(X))
    path = Continuation(K, K.diagonal(), unit)
    path.advance(1e4, 1e-8)
    before = path.beta.copy()
    path.advance(1e5, 1e-6)
    np.testing.assert_allclose(path.beta, before, rtol=1e-9, atol=1e-12)


def test_a_kernel_of_low_rank_is_solved_to_tolerance_for_large_C():
    """K_FF is singular there, Newton's direction leads far out, and pair steps alone need millions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1.0, 30.0, 0.1] + 5.0
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=200) > 5.0, 1.0, -1.0)
    unit = signed(y, np.ones(200), np.ones(200))
    K = X @ X.T
    path = Continuation(K, K.diagonal(), unit)
    for C in [0.01, 1.0, 100.0, 1e4]:
        assert path.advance(C, TOL) == Status.CONVERGED
        # The gradient is a difference of sums of about C n |x|^2; it is exact to their rounding.
        rounding = 1e-14 * C * 200 * K.max()
        assert violation(path.beta, unit.linear - K @ path.beta, at(unit, C)) <= TOL + rounding
