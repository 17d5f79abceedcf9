"""Random dual problems with a margin and an upper bound for each sample, and Clarabel as the oracle."""

import cvxpy as cp
import numpy as np

from cssvm._core.margins_and_bounds import signed_terms
from cssvm._kernels import make_kernel
from cssvm._solvers.dual import DualProblem
from tests.kernels.registry import CASES

KERNELS = [
    make_kernel("linear"),
    make_kernel("rbf", gamma=0.3),
    make_kernel("poly", gamma=0.2, degree=2, coef0=1.0),
    make_kernel("laplacian", gamma=0.2),
]


def random_problem(n, seed, *, zero_bounds=0.1, C=1.0):
    """Samples (n, 5), labels, margins and upper bounds, of which some are zero; some samples are equal."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X[n // 2] = X[0]
    margins = rng.uniform(0.1, 2.0, n)
    upper_bounds = C * rng.exponential(size=n) * (rng.uniform(size=n) > zero_bounds)
    upper_bounds[:2] = C
    return X, y, margins, upper_bounds


def signed(y, margins, upper_bounds):
    return DualProblem(*signed_terms(y, margins, upper_bounds))


def gram(kernel, X):
    own = {name: getattr(kernel, name) for name in kernel.parameters}
    return CASES[kernel.name].reference(X, X, **own)


def rows_of(kernel, X, upper_bounds, tol=1e-6, **options):
    return kernel.gram(X, upper_bounds=upper_bounds, tol=tol, **options)


def clarabel_optimum(K, problem):
    """The optimal value of the dual by an interior-point method on the same matrix."""
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    beta = cp.Variable(len(K))
    objective = cp.Maximize(problem.linear @ beta - 0.5 * cp.sum_squares(root.T @ beta))
    constraints = [cp.sum(beta) == 0, beta >= problem.lower, beta <= problem.upper]
    return cp.Problem(objective, constraints).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
    )
