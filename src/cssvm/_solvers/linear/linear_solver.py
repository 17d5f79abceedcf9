"""The linear support vector machine of rows in memory, by the means that suits their number and width.

interior-point            up to some thousand features: see `active` and `interior`
rotated interior-point    more features than rows: the same for the rows in features of their own, see `rotation`
coordinate descent        more of both than a matrix of either can have: see `coordinate`


Rows with more features than there are rows, turned into no more features than rows.

With K = X X' and a factor K = Z Z', the rows of Z have the inner products of the rows of X: the problem is the same,
and its weights v in the features of Z are those of the function with w = X'beta, where Z'beta = v. Cholesky's method
with pivots finds Z of the rank of K, and a beta that is zero but for the pivots.


The dual variables of a linear problem whose solution is known.

Rows far from their margin have theirs by the side they are on: 0 beyond it, their upper bound short of it. Those of the rows
near it are the solution of the problem that is left (`active`), whose rows are as many as are needed for the dual
objective to come near to the primal one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular

from ..._core.types import Mask, RowNumbers, Status, Vector
from ..._runtime import threads
from .active_set import FEW_ROWS, solve_active
from .blocks import Blocks, LocalBlocks
from .coordinate import solve_coordinates
from .interior import AT_ZERO, NOTHING_KNOWN, Certificate, LinearSolution, solve_interior
from .passes import FixedSamples, LinearFunction
from .rows import linear_scores

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
    rows = LinearSolver(X)
    return rows.solve(linear, upper_bounds, tol=tol, max_iter=max_iter), rows.method


class LinearSolver:
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
        self,
        linear: Vector,
        upper_bounds: Vector,
        *,
        tol: float,
        max_iter: int = -1,
        start: LinearFunction | None = None,
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
                start = start.shift_bias(self._centre)
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
        point = LinearFunction(turned.weights(centred, found.coef), found.bias)
        best = AT_ZERO.with_primal(point, whole.margin_histogram(point).loss).with_dual(whole.dual_objective(alpha))
        status = Status.CONVERGED if best.gap <= tol else found.status if found.status else Status.STALLED
        return with_centre(LinearSolution.of(best, status, found.n_iter), self._centre, whole, tol)


def with_centre(found: LinearSolution, centre: Vector, blocks: Blocks, tol: float) -> LinearSolution:
    """The solution for rows from which the centre, (n_features,), is not taken, with the objective that it has there.

    The digits that a large centre costs are lost in the bias and in the scores, so the certificate must know of them.
    """
    if not centre.any():
        return found
    point = found.point.shift_bias(-centre)
    best = Certificate(point, np.inf, found.dual_objective).with_primal(point, blocks.uncentred_loss(point))
    lost = found.status == Status.CONVERGED and best.gap > tol
    return LinearSolution.of(best, Status.STALLED if lost else found.status, found.n_iter)


RANK_SHARE = 1e-14  # of the largest k(x, x) and for each row, below which a pivot is rounding errors


class Rotated(NamedTuple):
    """Rows Z (n, rank) C-ordered, and what leads back from their weights to those of X."""

    Z: np.ndarray
    pivots: RowNumbers
    corner: np.ndarray

    def weights(self, X: Any, v: Vector) -> Vector:
        """The w of X, (n_features,), that belongs to v, (rank,)."""
        beta = solve_triangular(self.corner, v, lower=True, trans=1, check_finite=False)
        return np.asarray(X[self.pivots].T @ beta, dtype=np.float64)


def rotated(X: Any) -> Rotated:
    """Rows of X (n, n_features), an array or a CSR matrix, with at most n features instead."""
    X = X.astype(np.float64, copy=False)
    K = np.asarray((X @ X.T).toarray() if sparse.issparse(X) else X @ X.T)
    least = RANK_SHARE * len(K) * float(K.diagonal().max())
    factor, pivots, rank, _ = lapack.dpstrf(K, tol=least, lower=1)
    pivots = pivots - 1  # Fortran counts from 1
    if rank == 0:  # rows that are all zero
        return Rotated(np.zeros((len(K), 1)), pivots[:1], np.ones((1, 1)))
    Z = np.empty((len(K), rank))
    Z[pivots] = np.tril(factor)[:, :rank]
    return Rotated(Z, pivots[:rank], np.tril(factor[:rank, :rank]))


OWN_SHARE = 0.1  # of tol, for the problem of the near rows
NEGLIGIBLE = 1e-7  # of its upper bound, what a variable may be off a bound to be taken for one at it


def recover_dual(X: Any, linear: Vector, upper_bounds: Vector, point: LinearFunction, *, tol: float) -> Vector:
    """Signed variables y_i alpha_i, (n,) float64: within their upper bounds, of sum zero, optimal to about a gap of `tol`.

    X, linear, upper_bounds : as for `solve_linear`; point : its solution, to that gap
    """
    with threads.single_threaded_blas(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        distance = np.sign(linear) * (linear - linear_scores(X, *point))
        primal = 0.5 * point.weights @ point.weights + upper_bounds @ np.maximum(distance, 0.0)
        order, n_near = np.argsort(np.abs(distance)), FEW_ROWS
        while True:
            near_margin = np.zeros(len(linear), dtype=bool)
            near_margin[order[:n_near]] = True
            beta = _with_near(X, linear, upper_bounds, distance, near_margin, tol)
            if near_margin.all() or primal - _dual_objective(X, linear, beta) <= 2.0 * tol * primal:
                return beta
            n_near *= 2


def _with_near(X: Any, linear: Vector, upper_bounds: Vector, distance: Vector, near_margin: Mask, tol: float) -> Vector:
    """The variables, those of the rows `near` their margin solved for; all zero where the others leave no solution."""
    signs = np.sign(linear)
    beta = np.where(near_margin | (distance <= 0.0), 0.0, signs * upper_bounds)
    sums = np.array([upper_bounds[near_margin & (signs == sign)].sum() for sign in (1.0, -1.0)])
    fixed = FixedSamples(float(beta.sum()), float(beta @ linear), np.asarray(X.T @ beta, dtype=np.float64), sums)
    if not (fixed.can_be_balanced or near_margin.all()):
        return np.zeros_like(beta)
    blocks, best = LocalBlocks.of(X[near_margin], linear[near_margin], upper_bounds[near_margin]), NOTHING_KNOWN
    alpha = np.zeros(int(near_margin.sum()))

    def keep(_: int, found: Certificate) -> None:
        nonlocal best, alpha
        if found.dual > best.dual:
            best, alpha = found, blocks.alpha()

    solve_interior(blocks, tol=OWN_SHARE * tol, report=keep, best=best, fixed=fixed)
    own, own_bounds = signs[near_margin], upper_bounds[near_margin]
    alpha = np.where(alpha < NEGLIGIBLE * own_bounds, 0.0, alpha)
    alpha = np.where(alpha > (1.0 - NEGLIGIBLE) * own_bounds, own_bounds, alpha)
    for sign in (1.0, -1.0):  # the class with the larger sum is scaled down, where that can be done
        excess, total = float(own @ alpha) + fixed.excess, float(alpha[own == sign].sum())
        if sign * excess > 0.0:
            if abs(excess) > total:
                return np.zeros_like(beta)
            alpha = np.where(own == sign, alpha * (1.0 - abs(excess) / total), alpha)
    beta[near_margin] = own * alpha
    return beta


def _dual_objective(X: Any, linear: Vector, beta: Vector) -> float:
    pull = X.T @ beta
    return float(beta @ linear - 0.5 * pull @ pull)
