"""The linear support vector machine of rows in memory, by the means that suits their number and width.

interior-point            up to some thousand features: see `active` and `interior`
rotated interior-point    more features than rows: the same for the rows in features of their own, see `rotation`
coordinate descent        more of both than a matrix of either can have: see `coordinate`
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._types import Status, Vector
from ..runtime import threads
from .active import solve_active
from .blocks import Point
from .coordinate import solve_coordinates
from .interior import AT_ZERO, Certificate, LinearSolution, solve_interior
from .local import LocalBlocks
from .rotation import rotated

WIDEST = 3_000  # features, or rows, of which a square matrix is solved in each iteration
INTERIOR, ROTATED, COORDINATE = "interior-point", "rotated interior-point", "coordinate descent"
SMALL = 1 << 20  # entries of X: an iteration takes no time, so that a much smaller gap costs nothing
FINE_SHARE = 1e-4  # of tol, for these
FULL = 2 / 3  # of the entries of a CSR matrix stored: an array takes no more memory


def solve_linear(
    X: Any, linear: Vector, boxes: Vector, *, tol: float, max_iter: int = -1
) -> tuple[LinearSolution, str]:
    """Minimise 1/2 |w|^2 + sum_i c_i max(0, m_i - y_i (w'x_i + b)) to a relative gap of `tol`; returns how as well.

    Parameters
    ----------
    X : (n, n_features) array in C order or canonical CSR matrix, float64 or float32
    linear : (n,) float64
        y_i m_i, with margins m_i > 0; of both signs.
    boxes : (n,) float64
        c_i > 0.
    tol : float
        Largest (primal - dual) / primal allowed.
    max_iter : int
        Limit on the iterations; -1 for none.
    """
    if sparse.issparse(X) and X.nnz > FULL * X.shape[0] * X.shape[1]:
        X = X.toarray()
    n, n_features = X.shape
    with threads.own_threads(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if n < n_features and n <= WIDEST:
            return _rotated(X, linear, boxes, tol, max_iter), ROTATED
        if n_features > WIDEST:
            return solve_coordinates(sparse.csr_array(X), linear, boxes, tol=tol, max_iter=max_iter), COORDINATE
        blocks = LocalBlocks.of(X, linear, boxes)
        centre = blocks.centre()
        aim = FINE_SHARE * tol if n * n_features <= SMALL else tol
        solution = solve_active(blocks, tol=tol, aim=aim, max_iter=max_iter)
        return solution._replace(bias=solution.bias - float(solution.coef @ centre)), INTERIOR


def _rotated(X: Any, linear: Vector, boxes: Vector, tol: float, max_iter: int) -> LinearSolution:
    """The solution in features of the rows' own, turned back, with the certificate that it has for X."""
    whole = LocalBlocks.of(X, linear, boxes)
    centre = whole.centre()
    centred = X - centre if centre.any() else X
    turned = rotated(centred)
    blocks = LocalBlocks.of(turned.Z, linear, boxes)
    best, alpha = AT_ZERO, np.zeros_like(boxes)

    def keep(_: int, found: Certificate) -> None:
        nonlocal best, alpha
        if found.dual > best.dual:
            best, alpha = found, blocks.alpha()

    found = solve_interior(blocks, tol=FINE_SHARE * tol, max_iter=max_iter, report=keep)
    w = turned.weights(centred, found.coef)
    primal = whole.look(Point(w, found.bias)).loss
    best = AT_ZERO.with_primal(Point(w, found.bias - float(w @ centre)), primal)
    best = best.with_dual(whole.dual_objective(alpha))
    status = Status.CONVERGED if best.gap <= tol else found.status if found.status else Status.STALLED
    return LinearSolution.of(best, status, found.n_iter)
