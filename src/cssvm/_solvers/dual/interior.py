"""An interior-point method for kernels of low rank, on which pair steps crawl when C is large.

With K = F F', F of (n, r), the optimum is the end of the path on which all products of slacks and multipliers are mu:

    K beta - p + b 1 - z + w = 0,    sum(beta) = 0,    z (beta - lower) = mu,    w (upper - beta) = mu

Mehrotra's predictor and corrector follow it in 20 to 40 steps, whatever C is. Each solves two systems with K + D, where
D is the diagonal of z / (beta - lower) + w / (upper - beta), for the price of one with the (r, r) matrix I + F' D^-1 F
(Woodbury; Fine and Scheinberg, 2001). In the end variables whose slack has vanished are put on their bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..._core.types import Vector
from .problem import DualProblem, KernelRows, update_balanced

MAX_STEPS = 100  # usual are 20 to 40
EXACT = 1e-11  # error at which a solution tells which variables are free
RESIDUAL_SHARE = 1e-4  # of the residual, relative to p, that counts as much as a relative gap
PATIENCE = 8  # steps in a row without a smaller error: rounding errors are all that is left
REFINEMENTS = 2  # of each solution of a system: near the end their errors would be all that is left
BACK_OFF = 0.995  # of the way to the nearest bound
LEAST_START = 1e-3  # of the middle of the upper bounds: where to begin
RESIDUAL = 1e-13  # of the largest k(x, x), below which what a factor leaves of K is rounding errors
MAX_NEGATIVE = 10.0  # times that, below zero: a K that is not positive semidefinite


class Interior(NamedTuple):
    """Where the method ended, and after how many steps."""

    beta: Vector
    n_steps: int


def low_rank_factor(rows: KernelRows, most: int) -> np.ndarray | None:
    """F (n, r) with K = F F' up to rounding, by Cholesky's method with pivots, for rows in float64.

    None if r would exceed `most`, if K has negative eigenvalues, or if its diagonal is zero.
    """
    left = rows.diagonal.copy()
    least = RESIDUAL * float(np.abs(left).max(initial=0.0))
    factor = np.empty((rows.n, most), order="F")
    row, everything = np.empty((1, rows.n)), np.arange(rows.n)
    for rank in range(most + 1):
        pivot = int(np.argmax(left))
        if left.min() < -MAX_NEGATIVE * least:
            return None
        if left[pivot] <= least:
            return factor[:, :rank] if rank else None
        if rank < most:
            rows.update_block(row, np.array([pivot]), everything)
            row[0] -= factor[:, :rank] @ factor[pivot, :rank]
            factor[:, rank] = row[0] / np.sqrt(left[pivot])
            left -= factor[:, rank] ** 2
            left[pivot] = 0.0
    return None


def interior_solution(factor: np.ndarray, problem: DualProblem) -> Interior | None:
    """A feasible beta near the optimum of the problem with K = factor factor'; None where rounding is in the way."""
    beta, movable = np.zeros(len(factor)), problem.upper > problem.lower
    part = DualProblem(*(each[movable] for each in problem))
    if not (part.upper.any() and part.lower.any()):
        return None
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        path, n_steps, n_worse = _CentralPath(factor[movable], part), 0, 0
        best, least = path.point, path.error()
        while n_steps < MAX_STEPS and n_worse < PATIENCE and least > EXACT and path.step():
            n_steps += 1
            error = path.error()
            n_worse = 0 if error < least else n_worse + 1
            if error < least:
                best, least = path.point, error
        beta[movable] = path.rounded(best)
    return Interior(beta, n_steps) if np.isfinite(beta).all() else None


class _Point(NamedTuple):
    """Variables, with slacks and multipliers (2, n) of their lower and upper bounds."""

    beta: Vector
    slacks: np.ndarray
    multipliers: np.ndarray


class _CentralPath:
    """Iterates of the method, in units in which the largest upper bound is 1 wide.

    Slacks are kept beside beta, from which they would cancel.
    """

    def __init__(self, factor: np.ndarray, problem: DualProblem):
        self.problem, self.unit = problem, float((problem.upper - problem.lower).max())
        self.factor = factor = factor * np.sqrt(self.unit)
        p, lower, upper = problem.scaled(1.0 / self.unit)
        up, down = upper.sum(), -lower.sum()
        beta = 0.5 * np.where(upper > 0.0, upper * min(1.0, down / up), lower * min(1.0, up / down))
        image = factor.T @ beta
        beta *= min(1.0, max(LEAST_START, float(p @ beta) / max(float(image @ image), np.finfo(float).tiny)))
        self.bias, self.slope = 0.0, factor @ (factor.T @ beta) - p
        self.scale = max(float(np.abs(p).max()), np.finfo(float).tiny)  # of gradients
        least = max(self.scale, float(np.abs(self.slope).mean()))
        multipliers = np.array([np.maximum(self.slope, 0.0), np.maximum(-self.slope, 0.0)]) + least
        self.point = _Point(beta, np.array([beta - lower, upper - beta]), multipliers)

    def error(self) -> float:
        """The gap, relative to the dual objective, or what the first equation lacks, whichever counts more."""
        beta, slacks, multipliers = self.point
        dual = float(0.5 * beta @ (self.problem.linear - self.slope))
        gap = float((slacks * multipliers).sum()) / max(abs(dual), np.finfo(float).tiny)
        return max(gap, RESIDUAL_SHARE * float(np.abs(self.residual()).max()) / self.scale)

    def residual(self) -> Vector:
        """What the first equation lacks."""
        return self.point.multipliers[0] - self.point.multipliers[1] - self.slope - self.bias

    def step(self) -> bool:
        """Predictor and corrector; False if there is nowhere to go, and then the iterates are as they were."""
        beta, slacks, multipliers = self.point
        weights = 1.0 / (multipliers / slacks).sum(axis=0)
        weighted = self.factor * weights[:, np.newaxis]
        inner = self.factor.T @ weighted
        inner.flat[:: len(inner) + 1] += 1.0
        if not np.isfinite(inner.sum()):
            return False
        try:
            cholesky = cho_factor(inner, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return False

        def solve_roughly(side: Vector) -> Vector:
            side = weights * side
            return side - weighted @ cho_solve(cholesky, self.factor.T @ side, check_finite=False)

        def solve(side: Vector) -> Vector:
            found = solve_roughly(side)
            for _ in range(REFINEMENTS):
                found += solve_roughly(side - found / weights - self.factor @ (self.factor.T @ found))
            return found

        level = solve(np.ones_like(weights))
        residual = self.residual()

        def direction(wanted: np.ndarray) -> tuple[Vector, float, np.ndarray]:
            """Changes of beta, bias and multipliers by which slacks times multipliers change as wanted."""
            change = solve(residual + wanted[0] / slacks[0] - wanted[1] / slacks[1])
            bias = float((change.sum() + beta.sum()) / level.sum())
            change -= bias * level
            return change, bias, (wanted - multipliers * np.array([change, -change])) / slacks

        products = slacks * multipliers
        change, _, turned = direction(-products)
        length = self._length(change, turned)
        moved = np.array([change, -change])
        ahead = ((slacks + length * moved) * (multipliers + length * turned)).mean()
        centre = products.mean() * (ahead / products.mean()) ** 3
        change, bias, turned = direction(centre - products - moved * turned)
        length = BACK_OFF * self._length(change, turned)
        found = self.factor @ (self.factor.T @ (beta + length * change)) - self.problem.linear
        if not (length > 0.0 and np.isfinite(found.sum()) and np.isfinite(turned.sum())):
            return False
        self.bias, self.slope = self.bias + length * bias, found
        moved = np.array([change, -change])
        self.point = _Point(beta + length * change, slacks + length * moved, multipliers + length * turned)
        return True

    def _length(self, change: Vector, turned: np.ndarray) -> float:
        """How far slacks and multipliers stay positive."""
        _, slacks, multipliers = self.point
        shares = np.concatenate([change / slacks[0], -change / slacks[1], *(turned / multipliers)])
        return 1.0 / max(1.0, -float(shares.min()))

    def rounded(self, point: _Point) -> Vector:
        """Variables within the bounds of the problem as it was, on a bound where the slack has vanished, balanced."""
        _, lower, upper = self.problem
        at_lower, at_upper = self.unit * point.slacks / (upper - lower) < point.multipliers / self.scale
        beta = np.clip(self.unit * point.beta, lower, upper)
        beta = np.where(at_lower & ~at_upper, lower, np.where(at_upper & ~at_lower, upper, beta))
        update_balanced(beta, lower, upper)
        return beta
