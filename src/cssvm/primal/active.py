"""The rows that matter: where many rows lie far beyond their margin, the problem is solved without them.

A problem of some of the rows only is a lower bound of the whole: its alpha, with 0 for the rows left out, is feasible
for all. Where none of these is short of its margin at the solution, that is the solution of the whole. So a sample of
the rows says roughly where the margin is, a problem without the rows far beyond it is solved, and one look at all rows
gives the true primal objective, hence a certificate. If rows that were left out count after all, fewer are left out
in the next attempt, and in the end none.

Of a rare class's problem a tenth of the rows may be left, and the time with it. Rows far short of their margin, whose
alpha is known as well, have to stay: their loss is linear in w where they are, and a lower bound that has no end.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._types import Status, Vector
from .blocks import Blocks, Point
from .choice import Look
from .interior import NOTHING_KNOWN, LinearSolution, Report, solve_interior

SAMPLE_ROWS = 10_000  # of both classes together, at least
SAMPLE_SQUARES = 50  # rows of a sample for each feature
WORTH_WHILE = 4  # times as many rows, for a sample to be worth while
ROUGH = 1e-3  # relative gap of the sample's solution: its rows are not the ones that count
FIRST_SHARE = 0.05  # of the rows of a class, that are kept at first though they are beyond their margin
GROWTH = 3.0  # of that, from one attempt to the next
LEAST_KEPT = 5_000  # of these rows of a class
MOST = 0.6  # of all rows, past which none is left out
OWN_SHARE = 0.5  # of tol, for the problem of some rows; what others add to the loss may take the rest


class AllBlocks(Blocks, Protocol):
    """All rows of a problem, of which some can be chosen."""

    def counts(self) -> Vector:
        """Rows of y = +1 and of y = -1, (2,)."""

    def sample(self, strides: Vector) -> Blocks:
        """Every strides[0]-th row of y = +1 and every strides[1]-th of y = -1, their boxes larger by as much."""

    def look(self, point: Point) -> Look:
        """The loss at a point, and where the rows are."""

    def near(self, point: Point, distances: Vector) -> Blocks:
        """All rows but those further beyond their margin than distances[0], of y = +1, or distances[1], of y = -1."""


def solve_active(
    blocks: AllBlocks, *, tol: float, aim: float | None = None, max_iter: int = -1, report: Report | None = None
) -> LinearSolution:
    """As `solve_interior`, without the rows that lie far beyond their margin if there are many rows."""
    counts = blocks.counts()
    wanted = max(SAMPLE_ROWS, SAMPLE_SQUARES * blocks.n_features)
    if counts.sum() < WORTH_WHILE * wanted:
        return solve_interior(blocks, tol=tol, aim=aim, max_iter=max_iter, report=report)
    strides = np.maximum(1, counts // np.maximum(wanted // 2, wanted - counts[::-1]))
    found = solve_interior(blocks.sample(strides), tol=max(tol, ROUGH), max_iter=max_iter)
    best, n_iter, share = NOTHING_KNOWN, found.n_iter, FIRST_SHARE
    while True:
        look = blocks.look(found.point)
        best = best.with_primal(found.point, look.loss)
        if report is not None:
            report(n_iter, best)
        if best.gap <= tol:
            return LinearSolution.of(best, Status.CONVERGED, n_iter)
        left = -1 if max_iter < 0 else max_iter - n_iter
        if left == 0:
            return LinearSolution.of(best, Status.ITERATION_LIMIT, n_iter)
        distances, n_near = look.near(np.maximum(LEAST_KEPT, share * counts))
        if n_near > MOST * counts.sum():
            last = solve_interior(blocks, tol=tol, max_iter=left, report=report, best=best)
            return last._replace(n_iter=n_iter + last.n_iter)
        found = solve_interior(blocks.near(found.point, distances), tol=OWN_SHARE * tol, max_iter=left)
        best, n_iter, share = best.with_dual(found.dual_objective), n_iter + found.n_iter, GROWTH * share
