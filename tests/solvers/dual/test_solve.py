"""Facts about the solver, against Clarabel and against the definition of the problem."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cssvm._kernels import gram as gram_rows
from cssvm._kernels import make_kernel
from cssvm._kernels.gram import MatrixGram
from cssvm._solvers.dual import DualProblem, Status, bordered_kkt, decomposition, solve, solver, tuning
from cssvm._solvers.dual.bordered_kkt import BorderedKKT
from tests.hostile.test_reference_values import WrongGram

from .problems import KERNELS, clarabel_optimum, gram, random_problem, rows_of, signed


def primal_value(K, problem, y, margins, upper_bounds, solution):
    """The primal written as in the paper: half the squared norm plus the weighted hinge losses."""
    f = K @ solution.beta + solution.bias
    return 0.5 * solution.beta @ K @ solution.beta + upper_bounds @ np.maximum(0.0, margins - y * f)


def true_gap(K, beta, problem):
    """Relative duality gap of a feasible beta by definition, with the best bias among all kinks."""
    G = problem.linear - K @ beta
    slack = [problem.upper @ np.maximum(G - b, 0.0) - problem.lower @ np.maximum(b - G, 0.0) for b in G]
    quadratic = beta @ K @ beta
    primal, dual = 0.5 * quadratic + min(slack), problem.linear @ beta - 0.5 * quadratic
    return (primal - dual) / primal


def test_signs_margins_and_upper_bounds_give_the_linear_term_and_the_bounds_of_the_formula():
    """p_i = y_i m_i;   [lower_i, upper_i] = [0, c_i] if y_i = +1, [-c_i, 0] if y_i = -1."""
    problem = signed(np.array([1.0, -1.0]), np.array([1.0, 0.5]), np.array([4.0, 2.0]))
    np.testing.assert_array_equal(problem, [[1.0, -0.5], [0.0, -2.0], [4.0, 0.0]])
    np.testing.assert_array_equal(problem.scaled(10.0), [[1.0, -0.5], [0.0, -20.0], [40.0, 0.0]])


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize(("n", "C"), [(20, 1.0), (80, 100.0), (300, 1.0), (300, 10.0)])
def test_objective_equals_clarabel_and_gap_is_true(kernel, n, C):
    X, y, margins, upper_bounds = random_problem(n, seed=n + int(C), C=C)
    problem, K = signed(y, margins, upper_bounds), gram(kernel, X)
    solution = solve(rows_of(kernel, X, upper_bounds), problem, tol=1e-6)
    optimum = clarabel_optimum(K, problem)
    dual = problem.linear @ solution.beta - 0.5 * solution.beta @ K @ solution.beta
    primal = primal_value(K, problem, y, margins, upper_bounds, solution)
    assert solution.status == Status.CONVERGED
    assert dual == pytest.approx(optimum, rel=1e-6)
    assert solution.dual_objective == pytest.approx(dual, rel=1e-9)
    assert solution.primal_objective == pytest.approx(primal, rel=1e-9)
    assert solution.gap == pytest.approx((primal - dual) / primal, abs=1e-9)
    assert abs(solution.beta.sum()) <= 1e-9
    assert (solution.beta >= problem.lower).all()
    assert (solution.beta <= problem.upper).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_working_sets_reach_the_optimum_of_the_whole(kernel, monkeypatch):
    X, y, margins, upper_bounds = random_problem(300, seed=3, C=10.0)
    problem = signed(y, margins, upper_bounds)
    whole = solve(rows_of(kernel, X, upper_bounds), problem, tol=1e-6)
    monkeypatch.setattr(tuning, "WHOLE_PROBLEM", 50)
    monkeypatch.setattr(tuning, "FIRST_WORKING_SET", 20)
    monkeypatch.setattr(tuning, "MAX_WORKING_SET", 60)
    parts = solve(rows_of(kernel, X, upper_bounds), problem, tol=1e-6)
    assert parts.status == Status.CONVERGED
    assert parts.dual_objective == pytest.approx(whole.dual_objective, rel=1e-6)
    assert parts.violation <= 1e-6


def test_a_factor_handed_from_working_set_to_working_set_reaches_the_optimum(monkeypatch):
    X, y, margins, upper_bounds = random_problem(300, seed=4, C=100.0)
    kernel, problem = KERNELS[1], signed(y, margins, upper_bounds)
    for name, value in {
        "WHOLE_PROBLEM": 50, "FIRST_WORKING_SET": 100, "MAX_WORKING_SET": 250, "SMALL_SYSTEM": 0,
        "FIT_FIRST_STEPS": 1.0, "FIT_NEWTON_SHARE": 0.0,
    }.items():  # fmt: skip
        monkeypatch.setattr(tuning, name, value)
    monkeypatch.setattr(bordered_kkt, "BORDERING", -np.inf)  # a factor is kept as long as it can be
    handed, replaced = [], BorderedKKT.replace
    monkeypatch.setattr(
        BorderedKKT, "replace", lambda self, places: (handed.append(len(places)), replaced(self, places))
    )
    solution = solve(rows_of(kernel, X, upper_bounds), problem, tol=1e-6)
    assert len(handed) > 0
    assert solution.status == Status.CONVERGED
    assert solution.dual_objective == pytest.approx(clarabel_optimum(gram(kernel, X), problem), rel=1e-6)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000), n=st.integers(2, 40), zero=st.floats(0, 0.9), C=st.sampled_from([1e-3, 1.0, 1e3, 1e6])
)
def test_every_solution_is_feasible_and_certified(seed, n, zero, C):
    X, y, margins, upper_bounds = random_problem(max(n, 2), seed, zero_bounds=zero, C=C)
    problem = signed(y, margins, upper_bounds)
    solution = solve(rows_of(make_kernel("rbf", gamma=0.3), X, upper_bounds), problem, tol=1e-6)
    assert abs(solution.beta.sum()) <= 1e-9 * max(1.0, C)
    assert (solution.beta >= problem.lower).all()
    assert (solution.beta <= problem.upper).all()
    assert -1e-12 <= solution.gap <= 1e-6


def test_bias_minimises_the_primal_when_no_variable_is_free():
    X = np.array([[-0.5], [0.5]])
    problem = DualProblem(np.array([-1.0, 1.0]), np.array([-1e-3, 0.0]), np.array([0.0, 1e-3]))
    solution = solve(rows_of(make_kernel("linear"), X, np.full(2, 1e-3)), problem, tol=1e-6)
    f = X @ (X.T @ solution.beta)

    def primal(b):
        return 1e-3 * (np.maximum(0, 1 + f[0] + b) + np.maximum(0, 1 - f[1] - b))

    grid = np.linspace(-3, 3, 601)
    assert (np.abs(solution.beta) == 1e-3).all()
    assert primal(solution.bias) <= min(primal(b) for b in grid) + 1e-15
    assert solution.bias == pytest.approx(0.0, abs=1e-12)  # the middle of the flat part


def test_duplicate_rows_and_constant_features_are_solved():
    X, y, margins, upper_bounds = random_problem(60, seed=1)
    X[:, 2] = 7.0
    X, y, margins, upper_bounds = (
        np.repeat(X, 3, axis=0),
        np.repeat(y, 3),
        np.repeat(margins, 3),
        np.repeat(upper_bounds, 3),
    )
    problem = signed(y, margins, upper_bounds)
    solution = solve(rows_of(make_kernel("linear"), X, upper_bounds), problem, tol=1e-6)
    assert solution.dual_objective == pytest.approx(clarabel_optimum(X @ X.T, problem), rel=1e-6)


def test_integer_upper_bounds_equal_duplicated_rows():
    X, y, margins, _ = random_problem(40, seed=5)
    counts = np.random.default_rng(0).integers(0, 4, 40)
    counts[:2] = 1
    kernel = make_kernel("rbf", gamma=0.3)
    weighted = solve(rows_of(kernel, X, counts * 2.0), signed(y, margins, counts * 2.0))
    several = np.repeat(np.arange(40), counts)
    upper_bounds = np.full(len(several), 2.0)
    repeated = solve(rows_of(kernel, X[several], upper_bounds), signed(y[several], margins[several], upper_bounds))
    K = gram(kernel, X)
    np.testing.assert_allclose(
        K @ weighted.beta + weighted.bias, K[:, several] @ repeated.beta + repeated.bias, rtol=0, atol=1e-9
    )


def test_indefinite_kernel_ends_at_a_point_no_pair_can_improve():
    X, y, margins, upper_bounds = random_problem(100, seed=2)
    solution = solve(
        rows_of(make_kernel("sigmoid", gamma=1.0, coef0=-1.0), X, upper_bounds),
        signed(y, margins, upper_bounds),
        tol=1e-4,
    )
    assert solution.status == Status.CONVERGED
    assert solution.violation <= 1e-4


def test_iteration_limit_is_kept_and_reported():
    X, y, margins, upper_bounds = random_problem(100, seed=2)
    solution = solve(
        rows_of(make_kernel("rbf", gamma=0.3), X, upper_bounds), signed(y, margins, upper_bounds), max_iter=7
    )
    assert solution.status == Status.ITERATION_LIMIT
    assert solution.n_iter == 7
    assert solution.gap > 0


def test_warm_start_from_the_solution_takes_no_steps_and_an_infeasible_one_is_repaired():
    X, y, margins, upper_bounds = random_problem(200, seed=8)
    problem, kernel = signed(y, margins, upper_bounds), make_kernel("rbf", gamma=0.3)
    cold = solve(rows_of(kernel, X, upper_bounds), problem)
    again = solve(rows_of(kernel, X, upper_bounds), problem, start=cold.beta)
    assert again.n_iter == 0
    wild = np.random.default_rng(0).normal(scale=100.0, size=200)
    repaired = solve(rows_of(kernel, X, upper_bounds), problem, start=wild)
    assert repaired.dual_objective == pytest.approx(cold.dual_objective, rel=1e-9)
    assert abs(repaired.beta.sum()) <= 1e-9


def test_one_sided_upper_bounds_leave_everything_at_zero():
    X, y, margins, upper_bounds = random_problem(30, seed=4)
    upper_bounds[y > 0] = 0.0
    solution = solve(rows_of(make_kernel("linear"), X, upper_bounds), signed(y, margins, upper_bounds))
    assert not solution.beta.any()
    assert solution.status == Status.CONVERGED


def overlapping_classes(n, d=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y, np.ones(n), np.ones(n)


@pytest.mark.parametrize("d", [4, 300])
def test_small_row_budget_gives_the_optimum_of_a_large_one(d):
    X, y, margins, upper_bounds = overlapping_classes(5000, d)
    problem, kernel = signed(y, margins, upper_bounds), make_kernel("rbf", gamma=1 / d)
    large = solve(kernel.gram(X, upper_bounds=upper_bounds, tol=1e-3), problem)
    small = solve(kernel.gram(X, upper_bounds=upper_bounds, tol=1e-3, cache_size=4), problem)
    assert small.dual_objective == pytest.approx(large.dual_objective, rel=1e-5)
    assert small.violation <= 1e-3


def test_sleeping_variables_change_nothing_but_the_time(monkeypatch):
    X, y, margins, upper_bounds = overlapping_classes(6000)
    problem, kernel = signed(y, margins, upper_bounds), make_kernel("rbf", gamma=0.25)
    slept = []
    monkeypatch.setattr(
        decomposition.Decomposition,
        "unshrink",
        lambda state, unshrink=decomposition.Decomposition.unshrink: (slept.append(len(state.shrunk)), unshrink(state)),
    )
    solution = solve(kernel.gram(X, upper_bounds=upper_bounds, tol=1e-3), problem)
    assert max(slept) > 0
    K = gram(kernel, X)
    np.testing.assert_allclose(solution.gradient, y - K @ solution.beta, atol=1e-4)
    assert solution.violation <= 1e-3
    monkeypatch.setattr(tuning, "ACTIVE_SHARE", 0.0)
    unshrunk = solve(kernel.gram(X, upper_bounds=upper_bounds, tol=1e-3), problem)
    assert solution.dual_objective == pytest.approx(unshrunk.dual_objective, rel=1e-5)


def test_working_set_grows_with_the_free_variables(monkeypatch):
    monkeypatch.setattr(tuning, "WHOLE_PROBLEM", 100)
    monkeypatch.setattr(tuning, "FIRST_WORKING_SET", 64)
    X, y, margins, upper_bounds = overlapping_classes(1200)
    upper_bounds = 100.0 * upper_bounds
    problem, kernel = signed(y, margins, upper_bounds), make_kernel("rbf", gamma=1.0)
    grown = solve(kernel.gram(X, upper_bounds=upper_bounds, tol=1e-3), problem)
    monkeypatch.setattr(tuning, "MAX_WORKING_SET", 64)
    kept = solve(kernel.gram(X, upper_bounds=upper_bounds, tol=1e-3), problem)
    assert grown.dual_objective == pytest.approx(kept.dual_objective, rel=1e-4)
    assert max(grown.violation, kept.violation) <= 1e-3


@pytest.mark.parametrize("share", [0.0, 2.0], ids=["members left out", "all updated"])
def test_the_gradient_is_true_whoever_is_left_out_of_updates(share, monkeypatch):
    """G = p - K beta, also for members of working sets, whose gradient comes from the local solve."""
    for name, size in (
        ("WHOLE_PROBLEM", 50),
        ("FIRST_WORKING_SET", 40),
        ("MAX_WORKING_SET", 80),
        ("KNOWN_SHARE", share),
    ):
        monkeypatch.setattr(tuning, name, size)
    X, y, margins, upper_bounds = random_problem(400, seed=5, C=10.0)
    problem, kernel = signed(y, margins, upper_bounds), KERNELS[1]
    solution = solve(rows_of(kernel, X, upper_bounds), problem, tol=1e-4)
    np.testing.assert_allclose(solution.gradient, problem.linear - gram(kernel, X) @ solution.beta, atol=1e-9)


def test_a_start_near_the_optimum_leaves_the_gradient_true(monkeypatch):
    """Variables that would be shrunk at once are not in the first working set."""
    monkeypatch.setattr(tuning, "WHOLE_PROBLEM", 50)
    monkeypatch.setattr(tuning, "FIRST_WORKING_SET", 600)
    kernel = KERNELS[1]
    X, y, margins, upper_bounds = random_problem(800, seed=11, C=10.0)
    problem, K = signed(y, margins, upper_bounds), gram(kernel, X)
    rough = solve(rows_of(kernel, X, upper_bounds), problem, tol=1e-2)
    solution = solve(rows_of(kernel, X, upper_bounds), problem, tol=1e-6, start=rough.beta)
    np.testing.assert_allclose(solution.gradient, problem.linear - K @ solution.beta, atol=1e-10)
    assert solution.status == Status.CONVERGED


def test_float32_is_corrected_where_its_rounding_shows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8))
    y = np.where(X[:, 0] + rng.normal(size=2000) > 0, 1.0, -1.0)
    kernel, upper_bounds = make_kernel("rbf", gamma=0.05), np.full(2000, 300.0)
    problem, rows = signed(y, np.ones(2000), upper_bounds), kernel.gram(X, upper_bounds=upper_bounds, tol=1e-3)
    assert rows.dtype == np.float32
    K, uncorrected = gram(kernel, X), solver.Decomposition(rows, problem)
    uncorrected.run(1e-3, np.inf)
    assert true_gap(K, uncorrected.beta, problem) > 3e-5
    solution = solve(rows, problem, tol=1e-3)
    assert solution.gap <= 1e-5
    assert true_gap(K, solution.beta, problem) <= 1.2 * solution.gap


@pytest.mark.parametrize("error", [1e-7, 1e-5])
def test_what_errors_hide_of_the_gap_is_estimated(error):
    """Of kernel values with known errors: the gap at the true gradient is what is claimed, within a factor of 3."""
    X, y, margins, upper_bounds = random_problem(400, seed=5, C=10.0)
    kernel, problem = KERNELS[1], signed(y, margins, upper_bounds)
    K, noise = gram(kernel, X), np.random.default_rng(0).normal(size=(400, 400)) * error
    solution = solve(WrongGram(K, noise + noise.T), problem, tol=1e-3)
    assert solution.hidden > 0.0
    assert true_gap(K, solution.beta, problem) == pytest.approx(solution.gap, rel=2.0)
    assert true_gap(K, solution.beta, problem) > solution.gap / 3


def test_errors_in_a_few_kernel_values_enter_the_gap_by_their_bound():
    X, y, margins, upper_bounds = random_problem(300, seed=5)
    rows, problem = MatrixGram(gram(KERNELS[1], X)), signed(y, margins, upper_bounds)
    before = solve(rows, problem)
    rows.errors = np.full(300, 1e-8)
    after = solve(rows, problem)
    assert after.gap > before.gap + 1e-8
    assert before.hidden < 1e-12


def test_rows_with_nothing_on_the_diagonal_have_a_finite_gap():
    rng = np.random.default_rng(0)
    K = rng.normal(size=(40, 40))
    K = K + K.T
    np.fill_diagonal(K, 0.0)
    y, upper_bounds = np.where(rng.random(40) < 0.5, 1.0, -1.0), rng.random(40) + 0.1
    with np.errstate(all="raise"):
        assert np.isfinite(solve(MatrixGram(K), signed(y, np.ones(40), upper_bounds)).gap)


def test_a_solve_goes_on_in_float64_where_float32_stalls(monkeypatch):
    """Without a correction the deviation is above the tolerance."""
    X, y, margins, upper_bounds = random_problem(2000, seed=7, C=1e4)
    kernel, problem = make_kernel("rbf", gamma=0.05), signed(y, margins, upper_bounds)
    rows = gram_rows.ComputedGram(kernel, X, (np.float32, np.float32), 1e-11, 1 << 30)
    solution = solve(rows, problem, tol=1e-3)
    K = gram(kernel, X)
    np.testing.assert_allclose(solution.gradient, problem.linear - K @ solution.beta, atol=1e-5)
    assert solution.status == Status.CONVERGED
