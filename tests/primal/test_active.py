"""Solving without the rows far beyond their margin: the optimum of the whole, and which rows were asked."""

import numpy as np
import pytest
from scipy import sparse

from cssvm._types import Status
from cssvm.primal import active, choice, solve_active
from cssvm.primal.blocks import Block, Point
from cssvm.primal.interior import solve_interior
from cssvm.primal.local import LocalBlocks
from cssvm.primal.rows import make_rows

from .problems import primal_objective, random_problem, rare_problem


@pytest.fixture
def for_few_rows(monkeypatch):
    """Samples that are worth while for some thousand rows."""
    monkeypatch.setattr(active, "SAMPLE_ROWS", 300)
    monkeypatch.setattr(active, "SAMPLE_SQUARES", 10)
    monkeypatch.setattr(active, "LEAST_KEPT", 50)


@pytest.fixture
def solved(monkeypatch):
    """The numbers of rows of all problems that are solved."""
    rows = []

    def counted(blocks, **options):
        rows.append(int(blocks.counts().sum()))
        return solve_interior(blocks, **options)

    monkeypatch.setattr(active, "solve_interior", counted)
    return rows


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_a_rare_class_is_solved_with_few_rows(for_few_rows, solved, container, C):
    X, linear, boxes = rare_problem(6000, C=C)
    X = container(np.where(np.abs(X) > 0.3, X, 0.0))
    solution = solve_active(LocalBlocks.of(X, linear, boxes, 500), tol=1e-6)
    assert max(solved) < 2000
    assert solution.status == Status.CONVERGED
    whole = solve_interior(LocalBlocks.of(X, linear, boxes, 500), tol=1e-7)
    assert solution.primal_objective == pytest.approx(whole.primal_objective, rel=1.1e-6)
    dense = X.toarray() if sparse.issparse(X) else X
    true = primal_objective(dense, linear, boxes, solution.coef, solution.bias)
    assert solution.primal_objective == pytest.approx(true, rel=1e-12)
    assert solution.dual_objective <= whole.primal_objective


def test_noisy_rows_are_all_needed(for_few_rows, solved):
    X, linear, boxes = random_problem(3000, 5, noise=5.0)
    solution = solve_active(LocalBlocks.of(X, linear, boxes), tol=1e-6)
    assert solved[-1] == 3000
    assert solution.status == Status.CONVERGED


def test_rows_that_count_after_all_are_found(for_few_rows, solved):
    """A feature that the sample has not seen: it helps some rows, and draws others that were left out to the margin."""
    X, linear, boxes = rare_problem(6000)
    X = np.column_stack([X, np.zeros(6000)])
    negative = np.flatnonzero(linear < 0)
    helped, drawn = negative[1:400:10], negative[2:400:10]
    X[helped, 0], X[helped, -1] = 5.0, 3.0  # where the target is
    X[drawn, 0], X[drawn, -1] = -6.0, -40.0
    solution = solve_active(LocalBlocks.of(X, linear, boxes), tol=1e-6)
    assert len(solved) > 2
    assert solution.status == Status.CONVERGED
    whole = solve_interior(LocalBlocks.of(X, linear, boxes), tol=1e-7)
    assert solution.primal_objective == pytest.approx(whole.primal_objective, rel=1.1e-6)


def test_few_rows_need_no_sample(solved):
    solve_active(LocalBlocks.of(*random_problem(500)), tol=1e-6)
    assert solved == [500]


@pytest.mark.parametrize("limit", [3, 12, 25])
def test_a_limit_holds_for_all_problems_together(for_few_rows, limit):
    X, linear, boxes = rare_problem(6000)
    solution = solve_active(LocalBlocks.of(X, linear, boxes), tol=1e-12, max_iter=limit)
    assert solution.status == Status.ITERATION_LIMIT
    assert solution.n_iter == limit
    true = primal_objective(X, linear, boxes, solution.coef, solution.bias)
    assert solution.primal_objective == pytest.approx(true, rel=1e-12)


def test_certificates_that_are_reported_are_those_of_all_rows(for_few_rows):
    problem, seen = rare_problem(6000), []
    solution = solve_active(LocalBlocks.of(*problem), tol=1e-6, report=lambda n, best: seen.append(best))
    assert len(seen) >= 2
    assert seen[-1].gap == solution.gap
    for best in seen:
        assert best.primal == pytest.approx(primal_objective(*problem, *best.point), rel=1e-12)


def test_a_sample_takes_every_so_many_rows_of_a_class_and_enlarges_their_boxes():
    X, linear, boxes = random_problem(100, 2, seed=1)
    part = choice.sampled(Block(make_rows(X), linear, boxes), np.array([2, 5]))
    rows = np.sort(np.concatenate([np.flatnonzero(linear > 0)[::2], np.flatnonzero(linear < 0)[::5]]))
    np.testing.assert_array_equal(part.linear, linear[rows])
    np.testing.assert_array_equal(part.boxes, boxes[rows] * np.where(linear[rows] > 0, 2, 5))
    assert part.rows.n == len(rows)


def test_a_look_counts_rows_by_their_distance_beyond_the_margin():
    X, linear, boxes = random_problem(500, 4, seed=6)
    point = Point(np.array([2.0, 0.0, 0.1, -0.3]), 0.2)
    block = Block(make_rows(X), linear, boxes)
    look = choice.look(block, point)
    y = np.sign(linear)
    u = np.abs(linear) - y * (X @ point.weights + point.bias)
    assert look.loss == pytest.approx(boxes @ np.maximum(0, u))
    assert look.n_short == np.sum(u >= 0)
    assert look.beyond.sum(axis=1).tolist() == [np.sum((u < 0) & (y > 0)), np.sum((u < 0) & (y < 0))]
    distances, n_near = look.near(np.array([40, 1000]))
    assert distances[1] == np.inf  # so many are not beyond their margin
    positive, negative = (-u <= distances[0]) & (y > 0), y < 0
    assert 40 <= np.sum(positive & (u < 0)) <= np.sum((u < 0) & (y > 0) & (-u <= 2**0.25 * distances[0]))
    assert n_near == np.sum(positive) + np.sum(negative)
    near = choice.near(block, point, distances)
    np.testing.assert_array_equal(near.linear, linear[positive | negative])
