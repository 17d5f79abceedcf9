"""The dual objective of a solution in float64, computed from the dual coefficients.

The dual in signed variables beta_i = y_i a_i:

    maximise    sum_i m_i |beta_i| - 1/2 beta' K beta
    subject to  sum_i beta_i = 0,   0 <= y_i beta_i <= c_i.

Only objectives of feasible points are comparable, so the infeasibility is computed too.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

# Kernel values per block: 160 MB of float64.
BLOCK_VALUES = 20_000_000


def linear_quadratic_form(X: Any, beta: np.ndarray) -> float:
    """beta' K beta = |X' beta|^2 for K = X X'; X (n, d) dense or CSR, beta (n,), both float64."""
    w = X.T @ beta
    return float(w @ w)


def rbf_quadratic_form(X: Any, beta: np.ndarray, gamma: float) -> float:
    """beta' K beta for K_ij = exp(-gamma |x_i - x_j|^2); X (n, d) dense or CSR, beta (n,), both float64."""
    squared_norms = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    block = max(1, BLOCK_VALUES // max(1, len(beta)))
    total = 0.0
    for start in range(0, len(beta), block):
        rows = slice(start, start + block)
        products = X[rows] @ X.T
        K = products.toarray() if sp.issparse(products) else products
        K *= 2.0
        K -= squared_norms[rows, None]
        K -= squared_norms
        np.minimum(K, 0.0, out=K)  # rounding can leave a tiny negative squared distance
        K *= gamma
        np.exp(K, out=K)
        total += beta[rows] @ (K @ beta)
    return float(total)


def quadratic_form(X: Any, beta: np.ndarray, kernel: str, gamma: float) -> float:
    X = X.astype(np.float64, copy=False)
    return linear_quadratic_form(X, beta) if kernel == "linear" else rbf_quadratic_form(X, beta, gamma)


def dual_objective(
    X: Any, beta: np.ndarray, gamma: float, margins: np.ndarray | float = 1.0, *, kernel: str = "rbf"
) -> float:
    """sum_i m_i |beta_i| - 1/2 beta' K beta over the support vectors X (n_sv, d), dense or CSR."""
    beta = np.asarray(beta, dtype=np.float64)
    return float(np.sum(margins * np.abs(beta))) - 0.5 * quadratic_form(X, beta, kernel, gamma)


def infeasibility(beta: np.ndarray, y: np.ndarray, c: np.ndarray) -> float:
    """Largest violation of the constraints, relative to the largest upper bound; y in {0, 1}, c (n_sv,)."""
    a = np.where(y == 1, beta, -beta)
    bound_excess = max(np.max(a - c), np.max(-a), 0.0)
    return float(max(bound_excess, abs(np.sum(beta))) / np.max(c))
