"""Rows sorted by score, once: what every metric that looks at all thresholds is computed from.

A *cut* k = 0, 1, ..., n_runs accepts the rows with the k highest distinct scores, so rows with equal scores, a *run*,
are accepted together: cut 0 accepts nobody, the last one everybody. Sums over accepted rows are cumulative sums in the
order of the ranking, for one vector of weights or for many at once: a bootstrap replicate is the same ranking with
other weights. (scikit-learn's `roc_curve` sorts for every vector of weights.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .types import Mask, RowNumbers, Vector


class Ranking(NamedTuple):
    """Order of the rows by falling score.

    order : (n_samples,) int, the rows; last : (n_runs,) int, where in `order` each run of equal scores ends;
    lowest, highest : (n_runs,), the ends of each run, falling, which are one array where runs have one score each;
    tie : neighbouring scores that differ by no more than this are equal, in runs less than twice as wide.
    """

    order: RowNumbers
    last: RowNumbers
    lowest: NDArray[Any]
    highest: NDArray[Any]
    tie: float = 0.0

    @classmethod
    def from_scores(cls, scores: NDArray[Any], *, tie: float = 0.0) -> Ranking:
        """Sort the rows; the order within equal scores does not matter."""
        order = np.argsort(scores)[::-1]
        falling = scores[order]
        apart = _apart(falling, tie) if tie else falling[1:] != falling[:-1]
        last = np.append(np.flatnonzero(apart), len(scores) - 1)
        lowest = falling[last]
        highest = falling[np.append(0, last[:-1] + 1)] if tie else lowest
        return cls(order, last, lowest, highest, tie)

    def accepted(self, values: Vector) -> Vector:
        """Sums over the rows that each cut accepts: (..., n_samples) in the order of the ranking to (..., n_cuts)."""
        sums = np.zeros((*values.shape[:-1], len(self.last) + 1))
        if len(self.last) == values.shape[-1]:
            np.cumsum(values, axis=-1, out=sums[..., 1:])
        else:
            sums[..., 1:] = np.take(np.cumsum(values, axis=-1), self.last, axis=-1)
        return sums

    def alarms_and_hits(self, positive: Mask, weights: Vector) -> tuple[Vector, Vector]:
        """Weight of the accepted rows of the other class and of the target at each cut, two (..., n_cuts)."""
        return self.accepted(np.where(positive, 0.0, weights)), self.accepted(np.where(positive, weights, 0.0))

    def rates(self, positive: Mask, weights: Vector) -> tuple[Vector, Vector]:
        """False positive and false negative rate of each cut, two (..., n_cuts)."""
        alarms, hits = self.alarms_and_hits(positive, weights)
        return alarms / alarms[..., -1:], (hits[..., -1:] - hits) / hits[..., -1:]

    def cost_at_cuts(self, positive: Mask, weighted_costs: Vector) -> Vector:
        """Sum of the weighted costs of the wrong rows at each cut, (..., n_cuts): missed targets and accepted others.

        Accepting a target takes its stake off the sum, accepting another row adds its stake.
        """
        missed_by_all = np.where(positive, weighted_costs, 0.0).sum(axis=-1, keepdims=True)
        return missed_by_all + self.accepted(np.where(positive, -weighted_costs, weighted_costs))

    def cut(self, thresholds: Vector) -> RowNumbers:
        """The cut that accepts the rows with score >= threshold, for runs of one score each."""
        return len(self.lowest) - np.searchsorted(self.lowest[::-1], thresholds, side="left")

    def thresholds(self, cuts: RowNumbers, *, beyond: float = np.inf) -> Vector:
        """(n_cuts,) float64: half-way between the lowest accepted score and the highest refused one.

        Where there is no such score, it is `beyond` away from the extreme one, infinite by default. The middle is
        rounded to the type of the scores. Where it falls on the refused score, there being no number between the two,
        the accepted one is the threshold: "score >= threshold" accepts what the cut accepts.
        """
        levels = np.where(cuts == 0, float(self.highest[0]) + beyond, float(self.lowest[-1]) - beyond)
        inner = (cuts > 0) & (cuts < len(self.lowest))
        low, high = self.highest[cuts[inner]], self.lowest[cuts[inner] - 1]
        middle = low / 2 + high / 2
        levels[inner] = np.where((low < middle) & (middle <= high), middle, high)
        return levels

    def threshold(self, cut: int, *, beyond: float = np.inf) -> float:
        """`thresholds` of one cut."""
        return float(self.thresholds(np.array([cut]), beyond=beyond)[0])


def _apart(falling: NDArray[Any], tie: float) -> Mask:
    """Whether a run ends between neighbouring scores, (n - 1,) bool.

    Scores linked by gaps of at most `tie` are a chain. Many samples make one long chain of all scores, so a chain is
    split into parts of equal width, at least `tie` each.
    """
    ends = np.append(np.flatnonzero(falling[:-1] - falling[1:] > tie), len(falling) - 1)
    lengths = np.diff(ends, prepend=-1)
    top, bottom = falling[ends - lengths + 1], falling[ends]
    n_parts = np.maximum(np.floor((top - bottom) / tie), 1.0)
    width = np.maximum((top - bottom) / n_parts, tie)
    top, width, n_parts, chain = (np.repeat(each, lengths) for each in (top, width, n_parts, np.arange(len(ends))))
    part = np.minimum(np.floor((top - falling) / width), n_parts - 1)
    return (np.diff(chain) > 0) | (np.diff(part) > 0)
