"""The linear SVM of samples in memory, by the method that suits their number and width.

    min over w, b    1/2 |w|^2 + sum_i c_i max(0, m_i - y_i (w'x_i + b))

interior-point            up to some thousand features: see `active_set` and `interior`
rotated interior-point    more features than samples: the same in features of the samples' own, see `rotated`
coordinate descent        too many of both for a square matrix of either

Coordinate descent moves one alpha at a time (Hsieh et al., 2008), without the constraint s = sum_i alpha_i y_i = 0. By
the method of multipliers, with w = sum_i alpha_i y_i x_i,

    max over alpha   sum_i m_i alpha_i - 1/2 |w|^2 - b0 s - 1/2 rho s^2,    0 <= alpha <= c,    b = b0 + rho s

is solved roughly, b takes the place of b0, and so on: s goes to zero, b to the bias.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular

from ..._core.types import Mask, Status, Vector
from ..._runtime import threads
from ..._runtime.compiler import njit
from ..certificate import least_hinge_loss
from .active_set import FEW_ROWS, solve_active
from .blocks import Blocks, LocalBlocks
from .interior import AT_ZERO, NOTHING_KNOWN, Certificate, LinearSolution, solve_interior
from .passes import FixedSamples, LinearFunction, balanced
from .rows import SparseTile, linear_scores

WIDEST = 3_000  # features, or samples, of which a square matrix is solved in each iteration
INTERIOR, ROTATED, COORDINATE = "interior-point", "rotated interior-point", "coordinate descent"
SMALL = 1 << 20  # entries of X: an iteration takes no time, so that a much smaller gap costs nothing
FINE_SHARE = 1e-4  # of tol, for these
FULL = 2 / 3  # of the entries of a CSR matrix stored: an array takes no more memory
RANK_SHARE = 1e-14  # of the largest k(x, x) and per sample, below which a pivot is rounding errors
NEAR_SHARE = 0.1  # of tol, for the problem of the near samples in `recover_dual`
NEGLIGIBLE = 1e-7  # of its upper bound, within which a variable is taken to be at a bound
SWEEPS = 5  # between two certificates
USUAL_LIMIT = 2_000  # sweeps
RHO = 0.1  # times the mean |z|^2: hardly slower for each alpha, fast enough for the bias
SEED = 0


def solve_linear(
    X: Any, linear: Vector, upper_bounds: Vector, *, tol: float, max_iter: int = -1
) -> tuple[LinearSolution, str]:
    """Minimise the problem that opens this module to a relative gap of `tol`; returns the solution and the method.

    X : (n, n_features) array in C order or canonical CSR matrix, float64 or float32; linear : (n,) float64, y_i m_i
    with m_i > 0, of both signs; upper_bounds : (n,) float64, c_i > 0; max_iter : limit on the iterations, -1 for none
    """
    solver = LinearSolver(X)
    return solver.solve(linear, upper_bounds, tol=tol, max_iter=max_iter), solver.method


class LinearSolver:
    """Solves problems on the samples X that differ in margins and upper bounds; `method` is one of three."""

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
        """Solve one problem, with the parameters of `solve_linear`; start : the solution of a similar problem."""
        with threads.single_threaded_blas(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            if self.method == ROTATED:
                return self._solve_rotated(linear, upper_bounds, tol, max_iter)
            if self.method == COORDINATE:
                return solve_coordinates(self.X, linear, upper_bounds, tol=tol, max_iter=max_iter)
            if start is not None:
                start = start.shift_bias(self._centre)
            aim = FINE_SHARE * tol if self.X.shape[0] * self.X.shape[1] <= SMALL else tol
            blocks = self._blocks(linear, upper_bounds)
            found = solve_active(blocks, tol=tol, aim=aim, max_iter=max_iter, start=start)
            return with_centre(found, self._centre, blocks, tol)

    def _blocks(self, linear: Vector, upper_bounds: Vector) -> LocalBlocks:
        blocks = LocalBlocks.from_samples(self.X, linear, upper_bounds).blocks
        return LocalBlocks([block._replace(rows=block.rows.centred(self._centre)) for block in blocks])

    @cached_property
    def _centre(self) -> Vector:
        """The `far_mean` of the features, (n_features,); zero for sparse samples, which would not stay sparse."""
        if sparse.issparse(self.X):
            return np.zeros(self.X.shape[1])
        nothing = np.ones(self.X.shape[0])
        return LocalBlocks.from_samples(self.X, nothing, nothing).centre()

    @cached_property
    def _rotated(self) -> Rotated:
        return rotated(self.X - self._centre if self._centre.any() else self.X)

    def _solve_rotated(self, linear: Vector, upper_bounds: Vector, tol: float, max_iter: int) -> LinearSolution:
        """The solution in the rotated features, rotated back, with the certificate that it has for X."""
        whole = self._blocks(linear, upper_bounds)
        blocks = LocalBlocks.from_samples(self._rotated.Z, linear, upper_bounds)
        found, alpha = _solve_with_alpha(blocks, tol=FINE_SHARE * tol, max_iter=max_iter)
        point = LinearFunction(self._rotated.weights(found.coef), found.bias)
        best = AT_ZERO.with_primal(point, whole.margin_histogram(point).loss).with_dual(whole.dual_objective(alpha))
        status = Status.CONVERGED if best.gap <= tol else found.status if found.status else Status.STALLED
        return with_centre(LinearSolution.from_certificate(best, status, found.n_iter), self._centre, whole, tol)


def with_centre(found: LinearSolution, centre: Vector, blocks: Blocks, tol: float) -> LinearSolution:
    """The solution for samples whose centre is not subtracted; its gap shows the digits that a large one costs."""
    if not centre.any():
        return found
    point = found.point.shift_bias(-centre)
    best = Certificate(point, np.inf, found.dual_objective).with_primal(point, blocks.uncentred_loss(point))
    lost = found.status == Status.CONVERGED and best.gap > tol
    return LinearSolution.from_certificate(best, Status.STALLED if lost else found.status, found.n_iter)


class Rotated(NamedTuple):
    """Samples Z (n, rank), C-ordered, with Z Z' = X X', and the pivot samples of X with their corner of the factor."""

    Z: np.ndarray
    pivots: Any
    corner: np.ndarray

    def weights(self, v: Vector) -> Vector:
        """The weights w = X'beta, (n_features,), with Z'beta = v, (rank,)."""
        beta = solve_triangular(self.corner, v, lower=True, trans=1, check_finite=False)
        return np.asarray(self.pivots.T @ beta, dtype=np.float64)


def rotated(X: Any) -> Rotated:
    """Samples X (n, n_features) with at most n features: K = X X' = Z Z' by Cholesky's method with pivots.

    The problem is the same, and the beta of `Rotated.weights` is zero but for the pivots.
    """
    X = X.astype(np.float64, copy=False)
    K = np.asarray((X @ X.T).toarray() if sparse.issparse(X) else X @ X.T)
    least = RANK_SHARE * len(K) * float(K.diagonal().max())
    factor, pivots, rank, _ = lapack.dpstrf(K, tol=least, lower=1)
    pivots = pivots - 1  # Fortran counts from 1
    if rank == 0:  # samples that are all zero
        return Rotated(np.zeros((len(K), 1)), X[pivots[:1]], np.ones((1, 1)))
    Z = np.empty((len(K), rank))
    Z[pivots] = np.tril(factor)[:, :rank]
    return Rotated(Z, X[pivots[:rank]], np.tril(factor[:rank, :rank]))


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


def recover_dual(X: Any, linear: Vector, upper_bounds: Vector, point: LinearFunction, *, tol: float) -> Vector:
    """Signed dual variables y_i alpha_i (n,) at a solution `point` of `solve_linear`, to a gap of about `tol`.

    Samples far from their margin have alpha at a bound, 0 or c. The others are solved for, as many as it takes.
    """
    with threads.single_threaded_blas(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        distance = np.sign(linear) * (linear - linear_scores(X, *point))
        primal = 0.5 * point.weights @ point.weights + upper_bounds @ np.maximum(distance, 0.0)
        order, n_near = np.argsort(np.abs(distance)), FEW_ROWS
        while True:
            near = np.zeros(len(linear), dtype=bool)
            near[order[:n_near]] = True
            beta = np.where(near | (distance <= 0.0), 0.0, np.sign(linear) * upper_bounds)
            beta = _with_near(beta, X, linear, upper_bounds, near, tol)
            pull = X.T @ beta
            if near.all() or primal - float(beta @ linear - 0.5 * pull @ pull) <= 2.0 * tol * primal:
                return beta
            n_near *= 2


def _with_near(beta: Vector, X: Any, linear: Vector, upper_bounds: Vector, near: Mask, tol: float) -> Vector:
    """The signed variables `beta` (n,), those of the `near` samples solved for; all zero if that is infeasible."""
    signs = np.sign(linear)
    sums = np.array([upper_bounds[near & (signs == sign)].sum() for sign in (1.0, -1.0)])
    fixed = FixedSamples(float(beta.sum()), float(beta @ linear), np.asarray(X.T @ beta, dtype=np.float64), sums)
    if not (fixed.can_be_balanced or near.all()):
        return np.zeros_like(beta)
    signs, upper_bounds = signs[near], upper_bounds[near]
    blocks = LocalBlocks.from_samples(X[near], linear[near], upper_bounds)
    _, alpha = _solve_with_alpha(blocks, tol=NEAR_SHARE * tol, best=NOTHING_KNOWN, fixed=fixed)
    alpha = np.where(alpha < NEGLIGIBLE * upper_bounds, 0.0, alpha)
    alpha = np.where(alpha > (1.0 - NEGLIGIBLE) * upper_bounds, upper_bounds, alpha)
    for sign in (1.0, -1.0):  # the class with the larger sum is scaled down
        excess, total = float(signs @ alpha) + fixed.excess, float(alpha[signs == sign].sum())
        if sign * excess > 0.0:
            if abs(excess) > total:
                return np.zeros_like(beta)
            alpha = np.where(signs == sign, alpha * (1.0 - abs(excess) / total), alpha)
    beta[near] = signs * alpha
    return beta


def _solve_with_alpha(
    blocks: LocalBlocks, *, best: Certificate = AT_ZERO, **options: Any
) -> tuple[LinearSolution, Vector]:
    """The solution of `solve_interior`, and the alpha (n,) of its best dual objective."""
    dual, alpha = best.dual, np.zeros(sum(block.rows.n for block in blocks.blocks))

    def keep(_: int, found: Certificate) -> None:
        nonlocal dual, alpha
        if found.dual > dual:
            dual, alpha = found.dual, blocks.states()[0]

    return solve_interior(blocks, best=best, report=keep, **options), alpha
