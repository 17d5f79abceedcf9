"""Active samples: for most samples the solution's alpha is 0 or the upper bound, and only the others are solved for.

With alpha_i = c_i fixed for samples far short of their margin, and 0 for those far beyond it, what is left is a problem
of the same kind over the samples near their margin, plus a term that is linear in w and b:

    1/2 |w|^2 + sum over near samples of c_i max(0, u_i) + sum over samples far short of it of c_i u_i

It is a lower bound of the whole. If no fixed sample changes sides at its solution, that is the whole solution.
So a subsample shows roughly where the margin is, the samples near it are solved for, and one pass over all gives
the true primal objective. If the gap is too large, the samples that have changed sides are added, and so on.
"""

from __future__ import annotations

import numpy as np

from ..._core.types import Status
from .blocks import Blocks
from .interior import AT_ZERO, NOTHING_KNOWN, LinearSolution, Report, solve_interior
from .passes import LinearFunction

FEW_ROWS = 20_000  # samples up to which all are solved for
ROUGH = 1e-3  # relative gap of the subsample's solution: its samples are not the ones that count
DEVIATIONS = 4.0  # of the subsample's gradient: the samples near their margin have to make up for so many
SAMPLE_FACTOR = 3.3  # see `_sizes`
SIDES = np.array([2 / 3, 1 / 3])  # of the near samples, those short of their margin and those beyond it
LEAST_NEAR = 5_000  # of either and of each class, all if it has fewer
STARTED_SHARE = 0.15  # of the near samples, if the start is the solution of a problem that is almost the same
MOST_NEAR = 0.5  # of all samples, above which all are solved for
MOST_ROUNDS = 5
OWN_SHARE = 0.5  # of tol, for the problem of the near samples; those that change sides may take the rest


def solve_active(
    blocks: Blocks,
    *,
    tol: float,
    aim: float | None = None,
    max_iter: int = -1,
    report: Report | None = None,
    start: LinearFunction | None = None,
) -> LinearSolution:
    """Solve the problem of `solve_interior`; if there are many samples, by those near their margin.

    aim : a smaller gap if there are few samples; start : the solution of a similar problem, in place of a subsample's
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
        margin_histogram = blocks.margin_histogram(points[-1])
        best = best.with_primal(points[-1], margin_histogram.loss)
        if report is not None:
            report(n_iter, best)
        if best.gap <= tol:
            return LinearSolution.from_certificate(best, Status.CONVERGED, n_iter)
        left = -1 if max_iter < 0 else max_iter - n_iter
        if left == 0:
            return LinearSolution.from_certificate(best, Status.ITERATION_LIMIT, n_iter)
        if n_rounds == 0:
            distances = margin_histogram.distances(np.maximum(LEAST_NEAR, share * np.outer(counts, SIDES)))
        near_margin, fixed = blocks.near_margin(points, distances)
        if (
            not fixed.can_be_balanced
            or near_margin.counts().sum() > MOST_NEAR * counts.sum()
            or n_rounds == MOST_ROUNDS
        ):
            break
        found = solve_interior(near_margin, fixed=fixed, best=NOTHING_KNOWN, tol=OWN_SHARE * tol, max_iter=left)
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
    """Size of the subsample, and the share of all samples that count as near their margin.

    The subsample's solution leaves a gradient of n sqrt(d / n_sample), relative to that of one sample, for the near
    samples to make up for: `DEVIATIONS` sqrt(d / n_sample) of all. This n_sample makes the work of both least.
    """
    n_sample = (SAMPLE_FACTOR * n * np.sqrt(n_features)) ** (2 / 3)
    return int(n_sample), float(DEVIATIONS * np.sqrt(n_features / n_sample))
