"""One measure of an answer for all peers, in float64, from the dual coefficients alone.

The dual in signed variables beta_i = y_i a_i:

    maximise    sum_i m_i |beta_i| - 1/2 beta' K beta
    subject to  sum_i beta_i = 0,   0 <= y_i beta_i <= c_i.

An objective means something only for a feasible point, so the infeasibility is measured as well.
"""

import numpy as np

# Kernel rows computed at a time: 1024 x 20,000 float64 are 160 MB.
BLOCK_ROWS = 1024


def rbf_quadratic_form(X: np.ndarray, beta: np.ndarray, gamma: float) -> float:
    """beta' K beta for K_ij = exp(-gamma |x_i - x_j|^2); X (n, d), beta (n,), both float64."""
    X = np.asarray(X, dtype=np.float64)
    squared_norms = np.einsum("ij,ij->i", X, X)
    total = 0.0
    for start in range(0, len(beta), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        K = X[rows] @ X.T
        K *= 2.0
        K -= squared_norms[rows, None]
        K -= squared_norms
        np.minimum(K, 0.0, out=K)  # rounding can leave a tiny negative squared distance
        K *= gamma
        np.exp(K, out=K)
        total += beta[rows] @ (K @ beta)
    return float(total)


def dual_objective(X: np.ndarray, beta: np.ndarray, gamma: float, margins: np.ndarray | float = 1.0) -> float:
    """sum_i m_i |beta_i| - 1/2 beta' K beta over the support vectors X (n_sv, d)."""
    beta = np.asarray(beta, dtype=np.float64)
    return float(np.sum(margins * np.abs(beta))) - 0.5 * rbf_quadratic_form(X, beta, gamma)


def infeasibility(beta: np.ndarray, y: np.ndarray, c: np.ndarray) -> float:
    """Largest violation of the constraints, relative to the largest box; y in {0, 1}, c (n_sv,)."""
    a = np.where(y == 1, beta, -beta)
    box_excess = max(np.max(a - c), np.max(-a), 0.0)
    return float(max(box_excess, abs(np.sum(beta))) / np.max(c))
