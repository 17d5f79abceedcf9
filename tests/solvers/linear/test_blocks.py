"""Blocks joined after a selection of rows have the same rows in the same order."""

import numpy as np
import pytest
from scipy import sparse

from cssvm._solvers.linear import active_set, solve_active
from cssvm._solvers.linear.blocks import LocalBlocks, block_rows, groups
from cssvm._solvers.linear.interior import solve_interior
from cssvm._solvers.linear.passes import Block, joined
from cssvm._solvers.linear.rows import make_rows

from .problems import random_problem, rare_problem


@pytest.mark.parametrize("counts", [[5], [0], [3, 3, 3], [0, 0, 7, 0], [1, 20, 2, 2, 2, 2], [10, 10, 4]])
def test_groups_are_all_blocks_in_order_with_enough_rows_each(counts):
    found = groups(counts, 5)
    assert [k for part in found for k in range(len(counts))[part]] == list(range(len(counts)))
    assert len(found) == 1 or all(sum(counts[part]) >= 5 for part in found)
    assert groups(counts, 0) == [slice(k, k + 1) for k in range(len(counts))]


def test_a_block_has_rows_enough_for_the_matrix_it_answers_with():
    for n_features in (1, 60, 3000):
        assert block_rows(n_features) >= n_features
        assert 8 * n_features * block_rows(n_features) >= 1 << 22


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_joined_blocks_have_all_rows_in_order(container):
    X, linear, upper_bounds = random_problem(50, 4)
    X = container(np.where(X > 0.0, X, 0.0))
    cuts = [slice(0, 20), slice(20, 20), slice(20, 50)]
    centre = np.array([0.0, 5.0, 0.0, 1.0])
    parts = [Block(make_rows(X[cut]).centred(centre), linear[cut], upper_bounds[cut]) for cut in cuts]
    whole, found = make_rows(X).centred(centre), joined(parts)
    np.testing.assert_array_equal(found.linear, linear)
    np.testing.assert_array_equal(found.upper_bounds, upper_bounds)
    for (_, tile), (_, expected) in zip(found.rows.tiles(), whole.tiles(), strict=True):
        np.testing.assert_array_equal(tile.scores(np.ones(4), 0.5), expected.scores(np.ones(4), 0.5))


def test_joining_changes_the_solution_by_rounding_only(monkeypatch):
    monkeypatch.setattr(active_set, "FEW_ROWS", 2000)
    monkeypatch.setattr(active_set, "LEAST_NEAR", 50)
    n_blocks = []

    def counted(blocks, **options):
        n_blocks.append(len(blocks.blocks))
        return solve_interior(blocks, **options)

    monkeypatch.setattr(active_set, "solve_interior", counted)
    X, linear, upper_bounds = rare_problem(6000)
    many = LocalBlocks.from_samples(X, linear, upper_bounds, 100)
    apart, together = solve_active(many, tol=1e-6), solve_active(LocalBlocks(many.blocks, 400), tol=1e-6)
    assert together.primal_objective == pytest.approx(apart.primal_objective, rel=1e-9)
    assert max(n_blocks[len(n_blocks) // 2 :]) < 10 < n_blocks[0] == 60
