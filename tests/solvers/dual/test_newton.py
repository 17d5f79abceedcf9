"""Newton steps against dense linear algebra, and the active-set method against the optimality conditions."""

import numpy as np
import pytest

from cssvm._solvers.certificate import feasible, violation
from cssvm._solvers.dual import DualProblem, tuning
from cssvm._solvers.dual.newton import NewtonSteps, ridge_for, up_to_first_bound, update_to_optimum
from cssvm._solvers.dual.smo import update_by_smo

from .problems import KERNELS, clarabel_optimum, gram, random_problem, signed

TOL = 1e-3
UNLIMITED_NS = 1e12


def first_bound(direction, room_down, room_up):
    """`up_to_first_bound` in plain NumPy."""
    room = np.where(direction > 0, room_up, room_down)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(direction != 0, room / direction, np.inf)
    share = min(1.0, reach.min())
    blocked = (reach <= share) & (share < 1.0)
    return np.where(blocked, room, share * direction), blocked


@pytest.mark.parametrize("width", [0.0, 0.1, 1.0, 100.0])
def test_a_step_up_to_the_first_bound_equals_its_numpy_twin(width):
    rng = np.random.default_rng(0)
    direction = rng.normal(size=50)
    direction[:5] = 0.0
    direction[6] = direction[5]
    room_down, room_up = -width * rng.uniform(size=50), width * rng.uniform(size=50)
    room_down[6], room_up[6] = room_down[5], room_up[5]
    change, blocked = up_to_first_bound(direction, room_down, room_up)
    expected_change, expected_blocked = first_bound(direction, room_down, room_up)
    np.testing.assert_array_equal(blocked, expected_blocked)
    np.testing.assert_allclose(change, expected_change, rtol=1e-15)
    assert blocked.any() == (width < 100.0)


def test_variables_that_reach_their_bounds_together_are_all_stopped():
    change, blocked = up_to_first_bound(np.array([2.0, 2.0, -4.0]), np.full(3, -9.0), np.array([1.0, 1.0, 9.0]))
    np.testing.assert_array_equal(change, [1.0, 1.0, -2.0])
    np.testing.assert_array_equal(blocked, [True, True, False])


def test_a_newton_round_without_bounds_in_the_way_solves_the_linear_system():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 30))
    K, p = A @ A.T + np.eye(30), rng.normal(size=30)
    wide = np.full(30, 1e3)
    beta, gradient = np.zeros(30), p.copy()
    assert NewtonSteps(K, beta, gradient, DualProblem(p, -wide, wide), 0.0).take(TOL) == 1.0
    kkt = np.block([[K, np.ones((30, 1))], [np.ones((1, 30)), np.zeros((1, 1))]])
    expected = np.linalg.solve(kkt, np.append(p, 0.0))
    np.testing.assert_allclose(beta, expected[:30], atol=1e-10)
    np.testing.assert_allclose(gradient, expected[30], atol=1e-9)


@pytest.mark.parametrize("small_system", [0, 500])
def test_newton_rounds_never_lower_the_objective(small_system, monkeypatch):
    monkeypatch.setattr(tuning, "SMALL_SYSTEM", small_system)
    X, y, margins, upper_bounds = random_problem(200, 11, C=5.0)
    K, problem = gram(KERNELS[1], X), signed(y, margins, upper_bounds)
    rng = np.random.default_rng(1)
    for _ in range(20):
        beta = feasible(rng.uniform(problem.lower, problem.upper), problem)
        gradient = problem.linear - K @ beta
        before = problem.linear @ beta - 0.5 * beta @ K @ beta
        NewtonSteps(K, beta, gradient, problem, 1e-10).take(TOL)
        after = problem.linear @ beta - 0.5 * beta @ K @ beta
        assert after >= before - 1e-9 * abs(before)
        np.testing.assert_allclose(gradient, problem.linear - K @ beta, atol=1e-9 * np.abs(beta).sum())
        assert (beta >= problem.lower - 1e-12).all()
        assert (beta <= problem.upper + 1e-12).all()


@pytest.mark.parametrize("small_system", [0, 500])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_few_newton_rounds_end_what_smo_steps_have_begun(dtype, small_system, monkeypatch):
    monkeypatch.setattr(tuning, "SMALL_SYSTEM", small_system)
    X, y, margins, upper_bounds = random_problem(200, 11, C=50.0)
    K, problem = gram(KERNELS[1], X).astype(dtype), signed(y, margins, upper_bounds)
    beta, gradient = np.zeros(200), problem.linear.astype(dtype)
    update_by_smo(K, K.diagonal().copy(), gradient, beta, problem.lower, problem.upper, TOL, 200)
    gradient = problem.linear - K.astype(float) @ beta
    assert violation(beta, gradient, problem) > 100 * TOL
    newton = NewtonSteps(K, beta, gradient, problem, ridge_for(K, K.diagonal()), dtype)
    for _ in range(10):
        newton.take(TOL)
    assert violation(beta, problem.linear - K.astype(float) @ beta, problem) <= TOL
    value = problem.linear @ beta - 0.5 * beta @ K.astype(float) @ beta
    assert value == pytest.approx(clarabel_optimum(K.astype(float), problem), rel=1e-5)
    assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()


@pytest.mark.parametrize("small_system", [0, 500])
def test_a_round_takes_variables_to_their_bounds_exactly(small_system, monkeypatch):
    """A variable a hair inside its bound would count as free for ever after."""
    monkeypatch.setattr(tuning, "SMALL_SYSTEM", small_system)
    X, y, margins, upper_bounds = random_problem(200, 11, C=5.0)
    K, problem = gram(KERNELS[1], X).astype(np.float32), signed(y, margins, upper_bounds)
    beta, gradient = np.zeros(200), problem.linear.copy()
    newton = NewtonSteps(K, beta, gradient, problem, ridge_for(K, K.diagonal()), np.float32)
    for _ in range(10):
        newton.take(TOL)
    distance = np.minimum(beta - problem.lower, problem.upper - beta)
    assert (distance == 0).any()
    assert (distance[distance > 0] > 1e-6 * upper_bounds[distance > 0]).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_the_finish_reaches_the_optimum_to_rounding(kernel):
    X, y, margins, upper_bounds = random_problem(60, seed=9, C=2.0)
    K, problem = gram(kernel, X), signed(y, margins, upper_bounds)
    beta, gradient = np.zeros(60), problem.linear.copy()
    assert update_to_optimum(K, beta, gradient, problem, ridge_for(K, K.diagonal()), UNLIMITED_NS, TOL)[0]
    np.testing.assert_allclose(gradient, problem.linear - K @ beta, atol=1e-10)
    assert violation(beta, problem.linear - K @ beta, problem) <= 1e-9
    value = problem.linear @ beta - 0.5 * beta @ K @ beta
    assert value == pytest.approx(clarabel_optimum(K, problem), rel=1e-6)
    assert abs(beta.sum()) <= 1e-10


def test_a_larger_budget_never_lowers_the_objective():
    X, y, margins, upper_bounds = random_problem(200, seed=9, C=2.0)
    K, problem = gram(KERNELS[1], X), signed(y, margins, upper_bounds)
    done, values = [], []
    for budget_ns in np.geomspace(1.0, UNLIMITED_NS, 25):
        beta, gradient = np.zeros(200), problem.linear.copy()
        done.append(update_to_optimum(K, beta, gradient, problem, ridge_for(K, K.diagonal()), budget_ns, TOL)[0])
        values.append(problem.linear @ beta - 0.5 * beta @ K @ beta)
    assert values[0] == 0.0
    assert len(set(values)) > 3
    assert (np.diff(values) >= 0).all()
    assert not done[0]
    assert done[-1]


def test_the_finish_gives_an_indefinite_kernel_up():
    X, y, margins, upper_bounds = random_problem(80, seed=2)
    K, problem = np.tanh(2.0 * X @ X.T - 1.0), signed(y, margins, upper_bounds)
    beta, gradient = np.zeros(80), problem.linear.copy()
    assert not update_to_optimum(K, beta, gradient, problem, ridge_for(K, K.diagonal()), UNLIMITED_NS, TOL)[0]
