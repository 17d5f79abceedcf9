"""Active sets of samples near their margin: the optimum of the whole problem, and which samples were used."""

import numpy as np
import pytest
from scipy import sparse

from cssvm._core.types import Status
from cssvm._solvers.linear import LinearSolver, active_set, passes, solve_active, solve_linear
from cssvm._solvers.linear.blocks import LocalBlocks
from cssvm._solvers.linear.interior import NOTHING_KNOWN, solve_interior
from cssvm._solvers.linear.passes import Block, LinearFunction
from cssvm._solvers.linear.rows import make_rows

from .problems import primal_objective, random_problem, rare_problem


@pytest.fixture
def for_few_rows(monkeypatch):
    """As with many rows, for some thousand of them."""
    monkeypatch.setattr(active_set, "FEW_ROWS", 2000)
    monkeypatch.setattr(active_set, "LEAST_NEAR", 50)


@pytest.fixture
def solved(monkeypatch):
    """The numbers of rows of all problems that are solved."""
    rows = []

    def counted(blocks, **options):
        rows.append(int(blocks.counts().sum()))
        return solve_interior(blocks, **options)

    monkeypatch.setattr(active_set, "solve_interior", counted)
    return rows


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_a_rare_class_is_solved_with_few_rows(for_few_rows, solved, container, C):
    X, linear, upper_bounds = rare_problem(6000, C=C)
    X = container(np.where(np.abs(X) > 0.3, X, 0.0))
    solution = solve_active(LocalBlocks.from_samples(X, linear, upper_bounds, 500), tol=1e-6)
    assert max(solved) < 2000
    assert solution.status == Status.CONVERGED
    whole = solve_interior(LocalBlocks.from_samples(X, linear, upper_bounds, 500), tol=1e-7)
    assert solution.primal_objective == pytest.approx(whole.primal_objective, rel=1.1e-6)
    dense = X.toarray() if sparse.issparse(X) else X
    true = primal_objective(dense, linear, upper_bounds, solution.coef, solution.bias)
    assert solution.primal_objective == pytest.approx(true, rel=1e-12)
    assert solution.dual_objective <= whole.primal_objective


def test_noisy_rows_far_short_of_their_margin_are_not_solved_for(for_few_rows, solved):
    X, linear, upper_bounds = random_problem(8000, 5, noise=1.5)
    linear = np.sign(linear)  # margins of 1: the losses of half of the rows are far from their kink
    solution = solve_active(LocalBlocks.from_samples(X, linear, upper_bounds, 700), tol=1e-6)
    assert max(solved) < 4000
    assert solution.status == Status.CONVERGED
    whole = solve_interior(LocalBlocks.from_samples(X, linear, upper_bounds), tol=1e-7)
    assert solution.primal_objective == pytest.approx(whole.primal_objective, rel=1.1e-6)
    assert solution.dual_objective <= whole.primal_objective


def test_where_all_rows_are_near_their_margin_all_are_solved_for(for_few_rows, solved):
    """Nobody is predicted to be a target: f = -1 for all, where the losses of the others begin."""
    X, linear, upper_bounds = rare_problem(6000, C=1e-6)
    X = X - 2.5 * linear[:, None] * (np.arange(X.shape[1]) == 0)  # no information
    solution = solve_active(LocalBlocks.from_samples(X, linear, upper_bounds), tol=1e-6)
    assert solved[-1] == 6000
    assert solution.status == Status.CONVERGED
    assert solution.primal_objective == pytest.approx(2 * upper_bounds[linear > 0].sum(), rel=1e-4)


def test_rows_that_count_after_all_are_found(for_few_rows, solved):
    """A feature that the sample has not seen: it helps some rows, and draws others that were left out to the margin."""
    X, linear, upper_bounds = rare_problem(6000)
    X = np.column_stack([X, np.zeros(6000)])
    negative = np.flatnonzero(linear < 0)
    helped, drawn = negative[1:400:10], negative[2:400:10]
    X[helped, 0], X[helped, -1] = 5.0, 3.0  # where the target is
    X[drawn, 0], X[drawn, -1] = -6.0, -40.0
    solution = solve_active(LocalBlocks.from_samples(X, linear, upper_bounds), tol=1e-6)
    assert len(solved) > 2
    assert solution.status == Status.CONVERGED
    whole = solve_interior(LocalBlocks.from_samples(X, linear, upper_bounds), tol=1e-7)
    assert solution.primal_objective == pytest.approx(whole.primal_objective, rel=1.1e-6)


def test_a_problem_of_near_rows_is_a_lower_bound_whose_alpha_is_feasible_for_all_rows():
    X, linear, upper_bounds = random_problem(300, 5, seed=3)
    whole = solve_interior(LocalBlocks.from_samples(X, linear, upper_bounds), tol=1e-9)
    for seed in range(5):
        point = LinearFunction(whole.coef + 0.3 * np.random.default_rng(seed).normal(size=5), whole.bias)
        near_margin, fixed = LocalBlocks.from_samples(X, linear, upper_bounds, 40).near_margin(
            [point], np.full((2, 2), 0.4)
        )
        assert 0 < near_margin.counts().sum() < 300
        if not fixed.can_be_balanced:
            continue
        part = solve_interior(near_margin, fixed=fixed, best=NOTHING_KNOWN, tol=1e-8)
        assert part.status == Status.CONVERGED
        assert part.dual_objective <= whole.primal_objective * (1 + 1e-9)
        u = np.abs(linear) - np.sign(linear) * (X @ point.weights + point.bias)
        chosen, fixed = np.abs(u) <= 0.4, (u > 0.4)
        found = np.abs(linear) - np.sign(linear) * (X @ part.coef + part.bias)
        loss = upper_bounds[chosen] @ np.maximum(0, found[chosen]) + upper_bounds[fixed] @ found[fixed]
        assert part.primal_objective == pytest.approx(0.5 * part.coef @ part.coef + loss, rel=1e-9)


def test_few_rows_need_no_sample_nor_do_rows_with_as_many_features(for_few_rows, solved):
    solve_active(LocalBlocks.from_samples(*random_problem(500)), tol=1e-6)
    solve_active(LocalBlocks.from_samples(*random_problem(2500, 300)), tol=1e-2)
    assert solved == [500, 2500]


@pytest.mark.parametrize("n", [50_000, 10**6])
@pytest.mark.parametrize("d", [10, 60])
def test_the_sizes_of_sample_and_near_rows_make_the_work_least(n, d):
    def work(n_sample):
        return 12 * n_sample + 20 * n * active_set.DEVIATIONS * np.sqrt(d / n_sample)

    n_sample, share = active_set._sizes(n, d)
    assert share == pytest.approx(active_set.DEVIATIONS * np.sqrt(d / n_sample), rel=1e-3)
    assert work(n_sample) <= 1.001 * min(work(other) for other in np.geomspace(100, n, 1000))


@pytest.mark.parametrize("limit", [3, 12, 25])
def test_a_limit_holds_for_all_problems_together(for_few_rows, limit):
    X, linear, upper_bounds = rare_problem(6000)
    solution = solve_active(LocalBlocks.from_samples(X, linear, upper_bounds), tol=1e-12, max_iter=limit)
    assert solution.status == Status.ITERATION_LIMIT
    assert solution.n_iter == limit
    true = primal_objective(X, linear, upper_bounds, solution.coef, solution.bias)
    assert solution.primal_objective == pytest.approx(true, rel=1e-12)


def test_certificates_that_are_reported_are_those_of_all_rows(for_few_rows):
    problem, seen = rare_problem(6000), []
    solution = solve_active(LocalBlocks.from_samples(*problem), tol=1e-6, report=lambda n, best: seen.append(best))
    assert len(seen) >= 2
    assert seen[-1].gap == solution.gap
    for best in seen:
        assert best.primal == pytest.approx(primal_objective(*problem, *best.point), rel=1e-12)


def test_a_sample_takes_every_so_many_rows_of_a_class_and_enlarges_their_bounds():
    X, linear, upper_bounds = random_problem(100, 2, seed=1)
    part, _ = passes.subsample(Block(make_rows(X), linear, upper_bounds), np.array([2, 5]))
    rows = np.sort(np.concatenate([np.flatnonzero(linear > 0)[::2], np.flatnonzero(linear < 0)[::5]]))
    np.testing.assert_array_equal(part.linear, linear[rows])
    np.testing.assert_array_equal(part.upper_bounds, upper_bounds[rows] * np.where(linear[rows] > 0, 2, 5))
    assert part.rows.n == len(rows)


def test_a_look_counts_rows_by_their_distance_from_the_margin():
    X, linear, upper_bounds = random_problem(500, 4, seed=6)
    point = LinearFunction(np.array([2.0, 0.0, 0.1, -0.3]), 0.2)
    block = Block(make_rows(X), linear, upper_bounds)
    found = passes.margin_histogram(block, point)
    y = np.sign(linear)
    u = np.abs(linear) - y * (X @ point.weights + point.bias)
    assert found.loss == pytest.approx(upper_bounds @ np.maximum(0, u))
    cells = [[own & (u > 0), own & (u <= 0)] for own in (y > 0, y < 0)]
    assert found.counts.sum(axis=2).tolist() == [[np.sum(cell) for cell in pair] for pair in cells]
    quotas = np.array([[40, 1000], [30, 20]])
    distances = found.distances(quotas)
    assert distances[0, 1] == np.inf  # there are not so many
    expected = np.zeros(500, dtype=bool)
    for k, pair in enumerate(cells):
        for side, cell in enumerate(pair):
            inside = cell & (np.abs(u) <= distances[k, side])
            assert inside.sum() >= min(quotas[k, side], cell.sum())
            assert np.sum(cell & (np.abs(u) <= distances[k, side] / 2**0.25)) < quotas[k, side]
            expected |= inside
    near_margin, rest = passes.near_margin(block, [point], distances)
    np.testing.assert_array_equal(near_margin.linear, linear[expected])
    fixed = ~expected & (u > 0)
    assert rest.excess == pytest.approx((y * upper_bounds)[fixed].sum())
    assert rest.gain == pytest.approx((np.abs(linear) * upper_bounds)[fixed].sum())
    np.testing.assert_allclose(rest.pull, (y * upper_bounds)[fixed] @ X[fixed])
    np.testing.assert_allclose(rest.upper_bounds, [upper_bounds[expected & own].sum() for own in (y > 0, y < 0)])


def test_rows_that_change_sides_at_a_later_point_are_near_as_well():
    X, linear, upper_bounds = random_problem(300, 4, seed=6)
    first, later = (
        LinearFunction(np.array([2.0, 0.0, 0.1, -0.3]), 0.2),
        LinearFunction(np.array([1.0, 0.5, 0.1, -0.3]), 0.1),
    )
    near_margin, _ = passes.near_margin(Block(make_rows(X), linear, upper_bounds), [first, later], np.full((2, 2), 0.1))
    u, other = (np.abs(linear) - np.sign(linear) * (X @ point.weights + point.bias) for point in (first, later))
    np.testing.assert_array_equal(near_margin.linear, linear[(np.abs(u) <= 0.1) | ((u > 0) != (other > 0))])


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_solution_of_a_neighbouring_C_takes_the_place_of_a_sample(for_few_rows, solved, C):
    X, linear, upper_bounds = rare_problem(6000, C=C)
    cold = solve_active(LocalBlocks.from_samples(X, linear, upper_bounds), tol=1e-6)
    near_rows = solved[-1]
    solved.clear()
    warm = solve_active(LocalBlocks.from_samples(X, linear, 3.0 * upper_bounds), tol=1e-6, start=cold.point)
    assert max(solved) < near_rows
    whole = solve_interior(LocalBlocks.from_samples(X, linear, 3.0 * upper_bounds), tol=1e-7)
    assert warm.status == Status.CONVERGED
    assert warm.dual_objective <= whole.primal_objective
    assert warm.primal_objective == pytest.approx(whole.primal_objective, rel=1.1e-6)


def test_a_start_from_elsewhere_costs_time_and_nothing_else(for_few_rows):
    X, linear, upper_bounds = rare_problem(6000)
    start = LinearFunction(np.full(X.shape[1], -3.0), 5.0)
    found = solve_active(LocalBlocks.from_samples(X, linear, upper_bounds), tol=1e-6, start=start)
    whole = solve_interior(LocalBlocks.from_samples(X, linear, upper_bounds), tol=1e-7)
    assert found.status == Status.CONVERGED
    assert found.primal_objective == pytest.approx(whole.primal_objective, rel=1.1e-6)


@pytest.mark.parametrize("far", [0.0, 50.0])
def test_problems_on_the_same_rows_are_solved_as_each_by_itself(for_few_rows, far):
    X, linear, upper_bounds = rare_problem(5000)
    rows, start = LinearSolver(X + far), None
    for C in (0.01, 0.1, 1.0):
        found = rows.solve(linear, C * upper_bounds, tol=1e-7, start=start)
        alone, method = solve_linear(X + far, linear, C * upper_bounds, tol=1e-7)
        assert rows.method == method
        assert found.primal_objective == pytest.approx(alone.primal_objective, rel=2e-7)
        true = primal_objective(X + far, linear, C * upper_bounds, found.coef, found.bias)
        assert found.primal_objective == pytest.approx(true, rel=1e-9)
        start = found.point
