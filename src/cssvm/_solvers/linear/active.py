"""The rows that matter: of most rows the solution tells alpha, 0 or their upper bound, and only the others are solved for.

With alpha_i = c_i fixed for rows far short of their margin, and 0 for those far beyond it, what is left is a problem of
the same kind over the rows near their margin, plus a term that is linear in w and b:

    1/2 |w|^2 + sum over near rows of c_i max(0, u_i) + sum over rows far short of it of c_i u_i

It is a lower bound of the whole: its alpha, with what is fixed, is feasible there. Where no fixed row has changed sides
at its solution, that is the solution of the whole. So a sample of the rows says roughly where the margin is, the rows
near it are solved for, and one look at all rows gives the true primal objective, hence a certificate. If that is not
enough, the rows that have changed sides are near as well, and so on; where they become too many, all rows are solved
for. So all rows are read a few times, in place of three times in each of 20 to 80 iterations.

The solution of a problem that is almost the same, such as that of a neighbouring C, does better than a sample: fewer
near rows are enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ..._core.types import Status, Vector
from .blocks import Blocks, Point, Rest
from .choice import Look
from .interior import AT_ZERO, NOTHING_KNOWN, LinearSolution, Report, solve_interior

FEW_ROWS = 20_000  # of which all are solved for
ROUGH = 1e-3  # relative gap of the sample's solution: its rows are not the ones that count
DEVIATIONS = 4.0  # of the sample's gradient: the rows near their margin have to make up for so many
SAMPLE_FACTOR = 3.3  # see `_sizes`
SIDES = np.array([2 / 3, 1 / 3])  # of the near rows, those short of their margin and those beyond it
LEAST_NEAR = 5_000  # of either and of each class, all if it has fewer
STARTED_SHARE = 0.15  # of the near rows, where the start is the solution of a problem that is almost the same
MOST_NEAR = 0.5  # of all rows, past which all are solved for
MOST_ROUNDS = 5
OWN_SHARE = 0.5  # of tol, for the problem of the near rows; what rows change sides may take the rest


class AllBlocks(Blocks, Protocol):
    """All rows of a problem, of which some can be chosen."""

    def counts(self) -> Vector:
        """Rows of y = +1 and of y = -1, (2,)."""

    def sample(self, strides: Vector) -> AllBlocks:
        """Every strides[0]-th row of y = +1 and every strides[1]-th of y = -1, their upper bounds larger by as much."""

    def look(self, point: Point) -> Look:
        """The loss at a point, and how far rows are from their margin."""

    def near(self, points: Sequence[Point], distances: np.ndarray) -> tuple[AllBlocks, Rest]:
        """The rows near their margin, and what the rest is.

        Near is what lies within the distance of its class and side, (2, 2), at the first point, or has changed sides
        at a later one.
        """


def solve_active(
    blocks: AllBlocks,
    *,
    tol: float,
    aim: float | None = None,
    max_iter: int = -1,
    report: Report | None = None,
    start: Point | None = None,
) -> LinearSolution:
    """As `solve_interior`; where there are many rows, by those near their margin.

    aim : a smaller gap to go on to where there are few rows
    start : the solution of a problem that is almost the same, which takes the place of a sample's
    """
    counts = blocks.counts()
    n_sample, share = _sizes(counts.sum(), blocks.n_features)
    if counts.sum() <= FEW_ROWS or share > MOST_NEAR:
        return solve_interior(blocks, tol=tol, aim=aim, max_iter=max_iter, report=report)
    started = start is not None
    if start is None:
        strides = np.maximum(1, counts // np.maximum(n_sample // 2, n_sample - counts[::-1]))
        found = solve_active(blocks.sample(strides), tol=max(tol, ROUGH), max_iter=max_iter)
        start, n_iter = found.point, found.n_iter
    else:
        share, n_iter = STARTED_SHARE * share, 0
    points, distances, best = [start], np.zeros((2, 2)), AT_ZERO
    for n_rounds in range(MOST_ROUNDS + 1):
        look = blocks.look(points[-1])
        best = best.with_primal(points[-1], look.loss)
        if report is not None:
            report(n_iter, best)
        if best.gap <= tol:
            return LinearSolution.of(best, Status.CONVERGED, n_iter)
        left = -1 if max_iter < 0 else max_iter - n_iter
        if left == 0:
            return LinearSolution.of(best, Status.ITERATION_LIMIT, n_iter)
        if n_rounds == 0:
            distances = look.distances(np.maximum(LEAST_NEAR, share * np.outer(counts, SIDES)))
        near, rest = blocks.near(points, distances)
        if not rest.can_be_balanced or near.counts().sum() > MOST_NEAR * counts.sum() or n_rounds == MOST_ROUNDS:
            break
        found = solve_interior(near, rest=rest, best=NOTHING_KNOWN, tol=OWN_SHARE * tol, max_iter=left)
        best, n_iter = best.with_dual(found.dual_objective), n_iter + found.n_iter
        points.append(found.point)
        if found.status == Status.STALLED:
            break
    left = -1 if max_iter < 0 else max(0, max_iter - n_iter)
    if started and n_rounds > 0:
        last = solve_active(blocks, tol=tol, aim=aim, max_iter=left, report=report)
    else:
        last = solve_interior(blocks, tol=tol, max_iter=left, report=report, best=best)
    return last._replace(n_iter=n_iter + last.n_iter)


def _sizes(n: float, n_features: int) -> tuple[int, float]:
    """Rows of the sample, and the share of all rows that are near their margin.

    The sample's solution leaves a gradient of n sqrt(d / n_sample), relative to a row's, for the near rows to make up
    for, in a problem that is linear beyond them. So their share has to be `DEVIATIONS` sqrt(d / n_sample), and
    n_sample = (SAMPLE_FACTOR n sqrt(d))^(2/3) makes the work of both problems least, at 12 and 20 iterations.
    """
    n_sample = (SAMPLE_FACTOR * n * np.sqrt(n_features)) ** (2 / 3)
    return int(n_sample), float(DEVIATIONS * np.sqrt(n_features / n_sample))
