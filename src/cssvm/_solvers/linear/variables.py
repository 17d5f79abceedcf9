"""The dual variables of a linear problem whose solution is known.

Rows far from their margin have theirs by the side they are on: 0 beyond it, their upper bound short of it. Those of the rows
near it are the solution of the problem that is left (`active`), whose rows are as many as are needed for the dual
objective to come near to the primal one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core.types import Mask, Vector
from ..._runtime import threads
from .active import FEW_ROWS
from .blocks import Point, Rest
from .interior import NOTHING_KNOWN, Certificate, solve_interior
from .local import LocalBlocks
from .rows import linear_scores

OWN_SHARE = 0.1  # of tol, for the problem of the near rows
NEGLIGIBLE = 1e-7  # of its upper bound, what a variable may be off a bound to be taken for one at it


def dual_variables(X: Any, linear: Vector, upper_bounds: Vector, point: Point, *, tol: float) -> Vector:
    """Signed variables y_i alpha_i, (n,) float64: within their upper bounds, of sum zero, optimal to about a gap of `tol`.

    X, linear, upper_bounds : as for `solve_linear`; point : its solution, to that gap
    """
    with threads.single_threaded_blas(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        distance = np.sign(linear) * (linear - linear_scores(X, *point))
        primal = 0.5 * point.weights @ point.weights + upper_bounds @ np.maximum(distance, 0.0)
        order, n_near = np.argsort(np.abs(distance)), FEW_ROWS
        while True:
            near = np.zeros(len(linear), dtype=bool)
            near[order[:n_near]] = True
            beta = _with_near(X, linear, upper_bounds, distance, near, tol)
            if near.all() or primal - _dual_objective(X, linear, beta) <= 2.0 * tol * primal:
                return beta
            n_near *= 2


def _with_near(X: Any, linear: Vector, upper_bounds: Vector, distance: Vector, near: Mask, tol: float) -> Vector:
    """The variables, those of the rows `near` their margin solved for; all zero where the others leave no solution."""
    signs = np.sign(linear)
    beta = np.where(near | (distance <= 0.0), 0.0, signs * upper_bounds)
    sums = np.array([upper_bounds[near & (signs == sign)].sum() for sign in (1.0, -1.0)])
    rest = Rest(float(beta.sum()), float(beta @ linear), np.asarray(X.T @ beta, dtype=np.float64), sums)
    if not (rest.can_be_balanced or near.all()):
        return np.zeros_like(beta)
    blocks, best = LocalBlocks.of(X[near], linear[near], upper_bounds[near]), NOTHING_KNOWN
    alpha = np.zeros(int(near.sum()))

    def keep(_: int, found: Certificate) -> None:
        nonlocal best, alpha
        if found.dual > best.dual:
            best, alpha = found, blocks.alpha()

    solve_interior(blocks, tol=OWN_SHARE * tol, report=keep, best=best, rest=rest)
    own, own_boxes = signs[near], upper_bounds[near]
    alpha = np.where(alpha < NEGLIGIBLE * own_boxes, 0.0, alpha)
    alpha = np.where(alpha > (1.0 - NEGLIGIBLE) * own_boxes, own_boxes, alpha)
    for sign in (1.0, -1.0):  # the class with the larger sum is scaled down, where that can be done
        excess, total = float(own @ alpha) + rest.excess, float(alpha[own == sign].sum())
        if sign * excess > 0.0:
            if abs(excess) > total:
                return np.zeros_like(beta)
            alpha = np.where(own == sign, alpha * (1.0 - abs(excess) / total), alpha)
    beta[near] = own * alpha
    return beta


def _dual_objective(X: Any, linear: Vector, beta: Vector) -> float:
    pull = X.T @ beta
    return float(beta @ linear - 0.5 * pull @ pull)
