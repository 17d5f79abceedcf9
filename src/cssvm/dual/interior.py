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

from .._types import Vector
from .problem import DualProblem, KernelRows, update_balanced

MAX_STEPS = 100  # usual are 20 to 40
RELATIVE_GAP = 1e-11  # between the objectives, at which a solution is exact enough to tell which variables are free
BACK_OFF = 0.995  # of the way to the nearest bound
LEAST_START = 1e-3  # of the middle of the boxes: where to begin
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
        path, n_steps = _CentralPath(factor[movable], part), 0
        while n_steps < MAX_STEPS and path.gap() > RELATIVE_GAP and path.step():
            n_steps += 1
        beta[movable] = path.rounded()
    return Interior(beta, n_steps) if np.isfinite(beta).all() else None


class _CentralPath:
    """Iterates of the method, in units in which the largest box is 1 wide.

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
        self.beta, self.bias = beta, 0.0
        self.slacks = np.array([beta - lower, upper - beta])
        self.slope = factor @ (factor.T @ beta) - p
        least = max(1.0, float(np.abs(self.slope).mean()))
        self.multipliers = np.array([np.maximum(self.slope, 0.0), np.maximum(-self.slope, 0.0)]) + least

    def gap(self) -> float:
        """Primal minus dual objective, once the first two equations hold, relative to the dual one."""
        dual = float(0.5 * self.beta @ (self.problem.linear - self.slope))
        return float((self.slacks * self.multipliers).sum()) / max(abs(dual), np.finfo(float).tiny)

    def step(self) -> bool:
        """Predictor and corrector; False if there is nowhere to go, and then the iterates are as they were."""
        slacks, multipliers = self.slacks, self.multipliers
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

        def solve(side: Vector) -> Vector:
            side = weights * side
            return side - weighted @ cho_solve(cholesky, self.factor.T @ side, check_finite=False)

        level = solve(np.ones_like(weights))
        residual = multipliers[0] - multipliers[1] - self.slope - self.bias

        def direction(wanted: np.ndarray) -> tuple[Vector, float, np.ndarray]:
            """Changes of beta, bias and multipliers by which slacks times multipliers change as wanted."""
            change = solve(residual + wanted[0] / slacks[0] - wanted[1] / slacks[1])
            bias = float((change.sum() + self.beta.sum()) / level.sum())
            change -= bias * level
            return change, bias, (wanted - multipliers * np.array([change, -change])) / slacks

        products = slacks * multipliers
        change, bias, turned = direction(-products)
        length = self._length(change, turned)
        moved = np.array([change, -change])
        ahead = ((slacks + length * moved) * (multipliers + length * turned)).mean()
        centre = products.mean() * (ahead / products.mean()) ** 3
        change, bias, turned = direction(centre - products - moved * turned)
        length = BACK_OFF * self._length(change, turned)
        found = self.factor @ (self.factor.T @ (self.beta + length * change)) - self.problem.linear
        if not (length > 0.0 and np.isfinite(found.sum()) and np.isfinite(turned.sum())):
            return False
        self.beta = self.beta + length * change
        self.bias += length * bias
        self.slacks = slacks + length * np.array([change, -change])
        self.multipliers = multipliers + length * turned
        self.slope = found
        return True

    def _length(self, change: Vector, turned: np.ndarray) -> float:
        """How far slacks and multipliers stay positive."""
        shares = np.concatenate([change / self.slacks[0], -change / self.slacks[1], *(turned / self.multipliers)])
        return 1.0 / max(1.0, -float(shares.min()))

    def rounded(self) -> Vector:
        """Variables within the bounds of the problem as it was, on a bound where the slack has vanished, balanced."""
        p, lower, upper = self.problem
        scale = max(float(np.abs(p).max()), np.finfo(float).tiny)
        at_lower, at_upper = self.unit * self.slacks / (upper - lower) < self.multipliers / scale
        beta = np.clip(self.unit * self.beta, lower, upper)
        beta = np.where(at_lower & ~at_upper, lower, np.where(at_upper & ~at_lower, upper, beta))
        update_balanced(beta, lower, upper)
        return beta
