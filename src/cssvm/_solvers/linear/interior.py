"""The linear SVM with a cost and a margin for each sample, by an interior-point method.

    min over w, b    1/2 |w|^2 + sum_i c_i max(0, u_i),                     u_i = m_i - y_i (w'z_i + b)
    max over alpha   sum_i m_i alpha_i - 1/2 |sum_i alpha_i y_i z_i|^2,     0 <= alpha <= c,  sum_i alpha_i y_i = 0

Mehrotra's predictor and corrector follow the path on which the products of `passes` are all mu, to mu = 0 (Ferris and
Munson, 2002). Each iteration makes three passes over all samples and solves two systems with one matrix,

    (diag(1, ..., 1, 0) + sum_i theta_i (z_i, 1)(z_i, 1)') (dw, db) = ...,    1 / theta = beyond / alpha + short / room

The certificate is valid in each iteration: scaling down the class with the larger sum of alpha makes it feasible.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..._core.types import Status, Vector
from ..certificate import relative_gap
from .blocks import Blocks
from .passes import FixedSamples, LinearFunction, Measure, Prediction, Step

BACK_OFF = 0.995  # of the way to the nearest bound
PATIENCE = 15  # iterations in a row without a smaller gap: rounding errors are all that is left
REFINEMENTS = 2  # of each solution of a system
RIDGES = 8  # attempts to factorise a matrix that rounding errors have made indefinite
USUAL_LIMIT = 200  # iterations, far more than any problem takes that gets ahead


class Certificate(NamedTuple):
    """A point, the primal objective there, and the best dual objective known."""

    point: LinearFunction
    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """The relative gap; 1 as long as nothing is known."""
        if not (self.primal < np.inf and self.dual > -np.inf):
            return 1.0
        return relative_gap(self.primal, self.dual)

    def with_primal(self, point: LinearFunction, loss: float) -> Certificate:
        """Replace the point by this one, if it is better."""
        primal = float(0.5 * point.weights @ point.weights + loss)
        return self._replace(point=point, primal=primal) if primal < self.primal else self

    def with_dual(self, dual: float) -> Certificate:
        """Replace the dual objective by this one, if it is better."""
        return self._replace(dual=dual) if dual > self.dual else self


NOTHING_KNOWN = Certificate(LinearFunction(np.zeros(0), 0.0), np.inf, -np.inf)
AT_ZERO = NOTHING_KNOWN.with_dual(0.0)  # alpha = 0 is feasible
Report = Callable[[int, Certificate], None]  # called with the number of each iteration and its certificate


class LinearSolution(NamedTuple):
    """Weights (n_features,) and bias with their certificate, and how the solver ended."""

    coef: Vector
    bias: float
    primal_objective: float
    dual_objective: float
    gap: float
    status: Status
    n_iter: int

    @classmethod
    def from_certificate(cls, best: Certificate, status: Status, n_iter: int) -> LinearSolution:
        return cls(best.point.weights, best.point.bias, best.primal, best.dual, best.gap, status, n_iter)

    @property
    def point(self) -> LinearFunction:
        return LinearFunction(self.coef, self.bias)


def solve_interior(
    blocks: Blocks,
    *,
    tol: float,
    aim: float | None = None,
    max_iter: int = -1,
    report: Report | None = None,
    best: Certificate = AT_ZERO,
    fixed: FixedSamples | None = None,
) -> LinearSolution:
    """Solve the problem that opens this module to a relative gap of `tol`.

    aim : a smaller gap to continue to, if rounding errors allow; max_iter : limit on the iterations, -1 for
    `USUAL_LIMIT`; best : certificate known already; fixed : sums over further samples, whose alpha is fixed
    """
    fixed = FixedSamples.none(blocks.n_features) if fixed is None else fixed
    aim = tol if aim is None else min(aim, tol)
    limit = USUAL_LIMIT if max_iter < 0 else max_iter
    point = LinearFunction(np.zeros(blocks.n_features), 0.0)
    n_iter, n_worse, least = 0, 0, np.inf
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        measure = blocks.measure(None)
        while True:
            found = best.with_primal(point, measure.loss + fixed.loss(point)).with_dual(_dual_objective(measure, fixed))
            n_worse = 0 if found.gap < best.gap or measure.products < least else n_worse + 1
            best, least = found, min(least, measure.products)
            if report is not None:
                report(n_iter, best)
            done = best.gap <= aim or n_iter >= limit or n_worse >= PATIENCE
            step = None if done else _step(blocks, measure, fixed, point)
            if step is None:
                break
            measure, point, n_iter = blocks.measure(step), step.end, n_iter + 1
    stopped = Status.ITERATION_LIMIT if n_iter >= limit and max_iter >= 0 else Status.STALLED
    return LinearSolution.from_certificate(best, Status.CONVERGED if best.gap <= tol else stopped, n_iter)


def _dual_objective(measure: Measure, fixed: FixedSamples) -> float:
    """That of alpha with the class of the larger sum scaled down; minus infinity if that is infeasible."""
    excess = float(measure.alphas[0] - measure.alphas[1]) + fixed.excess
    shares = 1.0 - np.maximum([excess, -excess], 0.0) / measure.alphas
    if not shares.min() >= 0.0:
        return -np.inf
    pull = shares[0] * measure.pulls[0] - shares[1] * measure.pulls[1] + fixed.pull
    return float(shares @ measure.gains) + fixed.gain - 0.5 * float(pull @ pull)


def _step(blocks: Blocks, measure: Measure, fixed: FixedSamples, point: LinearFunction) -> Step | None:
    """Predictor and corrector; None if no step can be computed."""
    if not (np.isfinite(measure.gram).all() and np.isfinite(measure.products)):
        return None
    solved = _system(measure.gram)
    if solved is None:
        return None
    pull = measure.pulls[0] - measure.pulls[1] + fixed.pull
    excess = measure.alphas[0] - measure.alphas[1] + fixed.excess
    lack = np.append(pull - point.weights, excess)
    predictor = solved(measure.ahead + lack)
    ahead: Prediction = blocks.predict(point, predictor)
    length = 1.0 / max(1.0, ahead.ratio)
    left = (1.0 - length) * measure.products + length**2 * ahead.curvature
    centre = measure.products / (2 * measure.n) * (left / measure.products) ** 3
    step = Step(point, predictor, solved(measure.ahead + lack + ahead.bent + centre * measure.inward), centre)
    ratio = blocks.reach(step)
    if not (np.isfinite(ratio) and np.isfinite(step.corrected.weights).all()):
        return None
    return step._replace(length=min(1.0, BACK_OFF / max(ratio, np.finfo(float).tiny)))


def _system(gram: np.ndarray) -> Callable[[Vector], LinearFunction] | None:
    """A function that solves the systems of an iteration; None if the matrix is no longer positive definite."""
    matrix = np.tril(gram)
    matrix += np.tril(gram, -1).T
    diagonal = np.einsum("ii->i", matrix)
    diagonal[:-1] += 1.0
    scale = 1.0 / np.sqrt(diagonal)  # to a diagonal of 1, which removes the units of the features
    matrix *= scale
    matrix *= scale[:, np.newaxis]
    factor, ridge = None, 0.0
    for _ in range(RIDGES):
        diagonal[:] = 1.0 + ridge
        try:
            factor = cho_factor(matrix, lower=True, check_finite=False)
            break
        except LinAlgError:
            ridge = max(10.0 * ridge, len(matrix) * np.finfo(float).eps)
    if factor is None:
        return None
    diagonal[:] = 1.0

    def solved(side: Vector) -> LinearFunction:
        side = scale * side
        found = cho_solve(factor, side, check_finite=False)
        for _ in range(REFINEMENTS):
            found += cho_solve(factor, side - matrix @ found, check_finite=False)
        found *= scale
        return LinearFunction(found[:-1], float(found[-1]))

    return solved
