"""Dual coordinate descent for wide samples, for which a matrix with a row for each feature would be too large.

    max over alpha   sum_i m_i alpha_i - 1/2 |w|^2,    0 <= alpha <= c,    s = 0
    w = sum_i alpha_i y_i z_i,    s = sum_i alpha_i y_i

One alpha at a time can be moved if the last constraint is dropped (Hsieh et al., 2008). By the method of multipliers,

    max over alpha   sum_i m_i alpha_i - 1/2 |w|^2 - b0 s - 1/2 rho s^2,    0 <= alpha <= c,    b = b0 + rho s

is solved roughly, b takes the place of b0, and so on: s goes to zero, b to the bias.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core.types import Status, Vector
from ..._runtime.compiler import njit
from ..certificate import least_hinge_loss
from .interior import AT_ZERO, LinearSolution
from .passes import LinearFunction, balanced
from .rows import SparseTile

SWEEPS = 5  # between two certificates
USUAL_LIMIT = 2_000  # sweeps
RHO = 0.1  # times the mean |z|^2: hardly slower for each alpha, fast enough for the bias
SEED = 0


def solve_coordinates(
    X: Any, linear: Vector, upper_bounds: Vector, *, tol: float, max_iter: int = -1
) -> LinearSolution:
    """Solve the problem of `solve_linear` for a canonical CSR matrix X; an iteration is a sweep in a seeded order."""
    csr = (X.indptr, X.indices, X.data)
    tile, signs, margins = SparseTile(*csr, X.shape[1]), np.sign(linear), np.abs(linear)
    lower, upper = np.where(linear > 0.0, 0.0, -upper_bounds), np.where(linear > 0.0, upper_bounds, 0.0)
    squares = np.bincount(
        np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), np.square(X.data, dtype=np.float64), len(linear)
    )
    rho = RHO * float(squares.mean()) or 1.0
    alpha, w, b0, s = np.zeros_like(upper_bounds), np.zeros(X.shape[1]), 0.0, 0.0
    random, best, n_iter = np.random.default_rng(SEED), AT_ZERO, 0
    limit = USUAL_LIMIT if max_iter < 0 else max_iter
    while True:
        for _ in range(min(SWEEPS, limit - n_iter)):
            s = _sweep(
                alpha, w, *csr, signs, margins, upper_bounds, squares, b0, rho, s, random.permutation(len(alpha))
            )
            n_iter += 1
        b0 += rho * s
        w = tile.sum(signs * alpha)  # sweeps leave rounding errors in it
        s = float(signs @ alpha)
        bias, loss = least_hinge_loss(linear - tile.scores(w, 0.0), lower, upper)
        beta = balanced(alpha, linear)
        pull = tile.sum(beta)
        best = best.with_primal(LinearFunction(w.copy(), bias), loss)
        best = best.with_dual(float(beta @ linear - 0.5 * pull @ pull))
        if best.gap <= tol or n_iter >= limit:
            break
    status = Status.CONVERGED if best.gap <= tol else Status.STALLED if max_iter < 0 else Status.ITERATION_LIMIT
    return LinearSolution.from_certificate(best, status, n_iter)


@njit
def _sweep(alpha, w, indptr, indices, data, signs, margins, upper_bounds, squares, b0, rho, s, order):  # type: ignore[no-untyped-def]
    """Move each alpha to its optimum with all others fixed, w and s with it; returns s."""
    for i in order:
        first, last = indptr[i], indptr[i + 1]
        f = b0 + rho * s
        for k in range(first, last):
            f += data[k] * w[indices[k]]
        new = alpha[i] + (margins[i] - signs[i] * f) / (squares[i] + rho)
        new = min(max(new, 0.0), upper_bounds[i])
        change = signs[i] * (new - alpha[i])
        if change != 0.0:
            alpha[i] = new
            s += change
            for k in range(first, last):
                w[indices[k]] += change * data[k]
    return s
