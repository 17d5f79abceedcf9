"""The linear support vector machine of rows in memory, by the means that suits their number and width.

interior-point            up to some thousand features: see `active` and `interior`
rotated interior-point    more features than rows: the same for the rows in features of their own, see `rotation`
coordinate descent        more of both than a matrix of either can have: see `coordinate`
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..._core.types import Status, Vector
from ..._runtime import threads
from .active import solve_active
from .blocks import Point
from .coordinate import solve_coordinates
from .interior import AT_ZERO, Certificate, LinearSolution, solve_interior
from .local import LocalBlocks
from .rotation import Rotated, rotated
from .summed import SummedBlocks

WIDEST = 3_000  # features, or rows, of which a square matrix is solved in each iteration
INTERIOR, ROTATED, COORDINATE = "interior-point", "rotated interior-point", "coordinate descent"
SMALL = 1 << 20  # entries of X: an iteration takes no time, so that a much smaller gap costs nothing
FINE_SHARE = 1e-4  # of tol, for these
FULL = 2 / 3  # of the entries of a CSR matrix stored: an array takes no more memory


def solve_linear(
    X: Any, linear: Vector, upper_bounds: Vector, *, tol: float, max_iter: int = -1
) -> tuple[LinearSolution, str]:
    """Minimise 1/2 |w|^2 + sum_i c_i max(0, m_i - y_i (w'x_i + b)) to a relative gap of `tol`; returns how as well.

    Parameters
    ----------
    X : (n, n_features) array in C order or canonical CSR matrix, float64 or float32
    linear : (n,) float64
        y_i m_i, with margins m_i > 0; of both signs.
    upper_bounds : (n,) float64
        c_i > 0.
    tol : float
        Largest (primal - dual) / primal allowed.
    max_iter : int
        Limit on the iterations; -1 for none.
    """
    rows = TrainingRows(X)
    return rows.solve(linear, upper_bounds, tol=tol, max_iter=max_iter), rows.method


class TrainingRows:
    """Rows X (n, n_features) of several problems that differ in margins and upper bounds: what they share is computed once.

    method : how they are solved
    """

    def __init__(self, X: Any):
        if sparse.issparse(X) and X.nnz > FULL * X.shape[0] * X.shape[1]:
            X = X.toarray()
        self.X, (n, n_features) = X, X.shape
        self.method = INTERIOR
        if n < n_features and n <= WIDEST:
            self.method = ROTATED
        elif n_features > WIDEST:
            self.method = COORDINATE
            self.X = sparse.csr_array(X)

    def solve(
        self, linear: Vector, upper_bounds: Vector, *, tol: float, max_iter: int = -1, start: Point | None = None
    ) -> LinearSolution:
        """One of the problems, as `solve_linear`.

        start : the solution of another one that is almost the same; it saves time where there are many rows
        """
        with threads.single_threaded_blas(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            if self.method == ROTATED:
                return self._rotated(linear, upper_bounds, tol, max_iter)
            if self.method == COORDINATE:
                return solve_coordinates(self.X, linear, upper_bounds, tol=tol, max_iter=max_iter)
            if start is not None:
                start = start.seen_from(self._centre)
            aim = FINE_SHARE * tol if self.X.shape[0] * self.X.shape[1] <= SMALL else tol
            blocks = self._blocks(linear, upper_bounds)
            found = solve_active(blocks, tol=tol, aim=aim, max_iter=max_iter, start=start)
            return with_centre(found, self._centre, blocks, tol)

    def _blocks(self, linear: Vector, upper_bounds: Vector) -> LocalBlocks:
        """Of the rows less their centre."""
        blocks = LocalBlocks.of(self.X, linear, upper_bounds).blocks
        return LocalBlocks([block._replace(rows=block.rows.centred(self._centre)) for block in blocks])

    @cached_property
    def _centre(self) -> Vector:
        """What is far from zero in the features, (n_features,); nothing of sparse rows, which would not stay sparse."""
        if sparse.issparse(self.X):
            return np.zeros(self.X.shape[1])
        nothing = np.ones(self.X.shape[0])
        return LocalBlocks.of(self.X, nothing, nothing).centre()

    @cached_property
    def _turned(self) -> tuple[Any, Rotated]:
        """The rows less their centre, and in features of their own."""
        centred = self.X - self._centre if self._centre.any() else self.X
        return centred, rotated(centred)

    def _rotated(self, linear: Vector, upper_bounds: Vector, tol: float, max_iter: int) -> LinearSolution:
        """The solution in features of the rows' own, turned back, with the certificate that it has for X."""
        centred, turned = self._turned
        whole, blocks = self._blocks(linear, upper_bounds), LocalBlocks.of(turned.Z, linear, upper_bounds)
        best, alpha = AT_ZERO, np.zeros_like(upper_bounds)

        def keep(_: int, found: Certificate) -> None:
            nonlocal best, alpha
            if found.dual > best.dual:
                best, alpha = found, blocks.alpha()

        found = solve_interior(blocks, tol=FINE_SHARE * tol, max_iter=max_iter, report=keep)
        point = Point(turned.weights(centred, found.coef), found.bias)
        best = AT_ZERO.with_primal(point, whole.look(point).loss).with_dual(whole.dual_objective(alpha))
        status = Status.CONVERGED if best.gap <= tol else found.status if found.status else Status.STALLED
        return with_centre(LinearSolution.of(best, status, found.n_iter), self._centre, whole, tol)


def with_centre(found: LinearSolution, centre: Vector, blocks: SummedBlocks, tol: float) -> LinearSolution:
    """The solution for rows from which the centre, (n_features,), is not taken, with the objective that it has there.

    The digits that a large centre costs are lost in the bias and in the scores, so the certificate must know of them.
    """
    if not centre.any():
        return found
    point = found.point.seen_from(-centre)
    best = Certificate(point, np.inf, found.dual_objective).with_primal(point, blocks.bare_loss(point))
    lost = found.status == Status.CONVERGED and best.gap > tol
    return LinearSolution.of(best, Status.STALLED if lost else found.status, found.n_iter)
