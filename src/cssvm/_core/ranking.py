"""Samples sorted by score once, from which every metric over all thresholds is computed.

A *cut* k = 0, 1, ..., n_runs predicts the samples with the k highest distinct scores positive; samples with equal
scores, a *run*, get the same prediction. Sums over the samples predicted positive are cumulative sums in the order of
the ranking, for one vector of weights or for many: a bootstrap resample is the same ranking with other weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .types import Mask, RowNumbers, Vector


class Ranking(NamedTuple):
    """Order of the samples by falling score.

    order : (n_samples,) sample numbers; last : (n_runs,), where in `order` each run ends; lowest, highest : (n_runs,),
    the extreme scores of each run, falling; tie : scores that differ by no more than this are equal.
    """

    order: RowNumbers
    last: RowNumbers
    lowest: NDArray[Any]
    highest: NDArray[Any]
    tie: float = 0.0

    @classmethod
    def from_scores(cls, scores: NDArray[Any], *, tie: float = 0.0) -> Ranking:
        """Sort the samples; the order within equal scores does not matter."""
        order = np.argsort(scores)[::-1]
        falling = scores[order]
        apart = _apart(falling, tie) if tie else falling[1:] != falling[:-1]
        last = np.append(np.flatnonzero(apart), len(scores) - 1)
        lowest = falling[last]
        highest = falling[np.append(0, last[:-1] + 1)] if tie else lowest
        return cls(order, last, lowest, highest, tie)

    def sums_above(self, values: Vector) -> Vector:
        """Sums over the samples predicted positive: (..., n_samples) in the order of the ranking to (..., n_cuts)."""
        sums = np.zeros((*values.shape[:-1], len(self.last) + 1))
        if len(self.last) == values.shape[-1]:
            np.cumsum(values, axis=-1, out=sums[..., 1:])
        else:
            sums[..., 1:] = np.take(np.cumsum(values, axis=-1), self.last, axis=-1)
        return sums

    def false_and_true_positives(self, positive: Mask, weights: Vector) -> tuple[Vector, Vector]:
        """Weight of the false and of the true positives of each cut, two (..., n_cuts)."""
        return self.sums_above(np.where(positive, 0.0, weights)), self.sums_above(np.where(positive, weights, 0.0))

    def rates(self, positive: Mask, weights: Vector) -> tuple[Vector, Vector]:
        """False positive and false negative rate of each cut, two (..., n_cuts)."""
        false, true = self.false_and_true_positives(positive, weights)
        return false / false[..., -1:], (true[..., -1:] - true) / true[..., -1:]

    def cost_at_cuts(self, positive: Mask, weighted_costs: Vector) -> Vector:
        """Sum of the weighted costs of the false negatives and false positives of each cut, (..., n_cuts)."""
        all_negative = np.where(positive, weighted_costs, 0.0).sum(axis=-1, keepdims=True)
        return all_negative + self.sums_above(np.where(positive, -weighted_costs, weighted_costs))

    def cut(self, thresholds: Vector) -> RowNumbers:
        """The cut that predicts the samples with score >= threshold positive, for runs of one score each."""
        return len(self.lowest) - np.searchsorted(self.lowest[::-1], thresholds, side="left")

    def thresholds(self, cuts: RowNumbers, *, beyond: float = np.inf) -> Vector:
        """(n_cuts,) float64: half-way between the lowest score predicted positive and the highest predicted negative.

        At the ends, `beyond` away from the extreme score. Where no number lies between the two scores, the higher one
        is the threshold, so that "score >= threshold" predicts what the cut predicts.
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

    Scores linked by differences of at most `tie` are a chain, which is split into parts of equal width, at least `tie`.
    """
    ends = np.append(np.flatnonzero(falling[:-1] - falling[1:] > tie), len(falling) - 1)
    lengths = np.diff(ends, prepend=-1)
    top, bottom = falling[ends - lengths + 1], falling[ends]
    n_parts = np.maximum(np.floor((top - bottom) / tie), 1.0)
    width = np.maximum((top - bottom) / n_parts, tie)
    top, width, n_parts, chain = (np.repeat(each, lengths) for each in (top, width, n_parts, np.arange(len(ends))))
    part = np.minimum(np.floor((top - falling) / width), n_parts - 1)
    return (np.diff(chain) > 0) | (np.diff(part) > 0)
