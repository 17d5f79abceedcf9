"""Gradients checked by reference values: they agree for a correct kernel and show the errors of a wrong one."""

import numpy as np
import pytest
import scipy.sparse as sp

from cssvm import CostSensitiveSVC
from cssvm._kernels import make_kernel
from cssvm._kernels.gram import MatrixGram
from cssvm._kernels.pairwise import InnerProduct, L1Distance, SquaredDistance
from cssvm._solvers.dual import Status, solve
from tests.solvers.dual.problems import gram, random_problem, signed


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("term", [InnerProduct(), SquaredDistance(), L1Distance()])
def test_reference_values_are_the_pairwise_term_by_its_definition(term, kind):
    rng = np.random.default_rng(0)
    A, B = (np.where(rng.random((n, 7)) < 0.4, rng.normal(size=(n, 7)), 0.0) for n in (5, 9))
    difference = A[:, None] - B[None]
    expected = {
        "InnerProduct": A @ B.T,
        "SquaredDistance": (difference**2).sum(axis=2),
        "L1Distance": np.abs(difference).sum(axis=2),
    }[type(term).__name__]
    np.testing.assert_allclose(term.reference_values(kind(A), kind(B)), expected, atol=1e-12)


class WrongGram(MatrixGram):
    """A kernel matrix with errors, and reference values without."""

    def __init__(self, K, errors):
        super().__init__(K + errors)
        self.true = K

    def reference_values(self, left, right):
        return self.true[np.ix_(left, right)]


@pytest.mark.parametrize("n", [100, 400])
def test_wrong_kernel_values_give_no_certificate(n):
    X, y, margins, upper_bounds = random_problem(n, seed=3)
    K = gram(make_kernel("rbf", gamma=0.5), X)
    problem = signed(y, margins, upper_bounds)
    right = solve(WrongGram(K, 0.0), problem)
    assert right.status == Status.CONVERGED
    assert right.deviation <= 1e-12
    shared = 0.05 * np.random.default_rng(0).random((n, n))
    wrong = solve(WrongGram(K, shared + shared.T), problem)
    assert wrong.status == Status.STALLED
    assert wrong.deviation > 1e-3
    assert wrong.gap > right.gap + 1e-4


def test_errors_that_leave_no_row_certain_show_in_the_gap_of_bounded_variables():
    # Signs of an indefinite kernel that are wrong in many places: all variables end at their bounds.
    rng = np.random.default_rng(2)
    K = np.sign(rng.normal(size=(14, 14)))
    K = np.triu(K) + np.triu(K, 1).T
    wrong = np.where(rng.random((14, 14)) < 0.2, -2 * K, 0.0)
    y, C = np.repeat([1.0, -1.0], 7), 7e6
    problem = signed(y, np.ones(14), np.full(14, C))
    solution = solve(WrongGram(K, np.triu(wrong) + np.triu(wrong, 1).T), problem, max_iter=10)
    gradient = problem.linear - K @ solution.beta
    dual = 0.5 * solution.beta @ (problem.linear + gradient)
    primal = min(
        0.5 * solution.beta @ (problem.linear - gradient) + C * np.maximum(0.0, y * (gradient - bias)).sum()
        for bias in gradient
    )
    assert solution.status != Status.CONVERGED
    assert not ((solution.beta != problem.lower) & (solution.beta != problem.upper)).any()
    assert solution.gap >= (primal - dual) / max(abs(primal), abs(dual)) > 0.01


def test_errors_that_agree_on_repeated_rows_are_all_in_the_gap():
    # Two values a thousand times each: float32 errs alike in all rows of a class, and all of them lie on the margin.
    x, gamma = np.repeat([0.0, 1.0], 1000), 4.000027098684738
    model = CostSensitiveSVC(C=230.0, gamma=gamma, tol=0.1).fit(x[:, None], x)
    signs, beta = np.where(x == 1, 1.0, -1.0), np.zeros(2000)
    beta[model.support_] = model.dual_coef_[0]
    gradient = signs - np.exp(-gamma * (x[:, None] - x) ** 2) @ beta
    dual = 0.5 * beta @ (signs + gradient)
    losses = [230.0 * np.maximum(0.0, signs * (gradient - bias)).sum() for bias in np.unique(gradient)]
    primal = 0.5 * beta @ (signs - gradient) + min(losses)
    assert model.dual_gap_ >= 0.99 * (primal - dual) / primal > 1e-5
