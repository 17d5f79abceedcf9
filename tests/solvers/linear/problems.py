"""Random linear problems with a margin and an upper bound for every row, and what is true of them by other means."""

import cvxpy as cp
import numpy as np


def random_problem(n=60, d=5, seed=0, *, C=1.0, noise=0.8):
    """Rows (n, d), p = y m and upper bounds: margins and upper bounds differ per row, and two rows are equal."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X[n // 2] = X[0]
    return X, y * rng.uniform(0.1, 2.0, n), C * rng.exponential(size=n) + 1e-3 * C


def rare_problem(n=4000, d=6, seed=0, *, C=1.0):
    """Two well separated classes, of which y = +1 is rare: most rows are far beyond their margin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(rng.uniform(size=n) < 0.02, 1.0, -1.0)
    X[:, 0] += 2.5 * y
    return X, y, np.full(n, C)


def primal_objective(X, linear, upper_bounds, w, b):
    """1/2 |w|^2 + sum c max(0, m - y f), in extended precision."""
    X, w = np.asarray(X, dtype=np.longdouble), np.asarray(w, dtype=np.longdouble)
    f = X @ w + np.longdouble(b)
    return float(w @ w / 2 + (upper_bounds * np.maximum(0, np.abs(linear) - np.sign(linear) * f)).sum())


def dual_objective(X, linear, beta):
    """p'beta - 1/2 |X'beta|^2, in extended precision."""
    beta = np.asarray(beta, dtype=np.longdouble)
    pull = np.asarray(X, dtype=np.longdouble).T @ beta
    return float(linear @ beta - pull @ pull / 2)


def clarabel_optimum(X, linear, upper_bounds):
    """The optimal value of the primal by Clarabel, scaled so that the largest upper bound is 1."""
    unit = upper_bounds.max()
    w, b, y = cp.Variable(X.shape[1]), cp.Variable(), np.sign(linear)
    loss = (upper_bounds / unit) @ cp.pos(np.abs(linear) - cp.multiply(y, X @ w + b))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / (2 * unit) + loss))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return problem.value * unit
