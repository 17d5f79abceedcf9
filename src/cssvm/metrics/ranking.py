"""Rows sorted by score, once: what every metric that looks at all thresholds is computed from.

A *cut* k = 0, 1, ..., n_distinct accepts the rows with the k highest distinct scores, so rows with equal scores are
accepted together: cut 0 accepts nobody, the last one everybody. Sums over accepted rows are cumulative sums in the
order of the ranking, for one vector of weights or for many at once: a bootstrap replicate is the same ranking with
other weights. (scikit-learn's `roc_curve` sorts for every vector of weights.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._types import Mask, Vector
from .sample import Sample


class Ranking(NamedTuple):
    """Order of the rows by falling score.

    order : (n_samples,) int, the rows; last : (n_distinct,) int, where in `order` each run of equal scores ends;
    scores : (n_distinct,), the distinct scores, falling.
    """

    order: NDArray[np.intp]
    last: NDArray[np.intp]
    scores: NDArray[Any]

    @classmethod
    def of(cls, scores: NDArray[Any]) -> Ranking:
        """Sort the rows; the order within equal scores does not matter."""
        order = np.argsort(scores)[::-1]
        falling = scores[order]
        last = np.append(np.flatnonzero(falling[1:] != falling[:-1]), len(scores) - 1)
        return cls(order, last, falling[last])

    def accepted(self, values: Vector) -> Vector:
        """Sums over the rows that each cut accepts: (..., n_samples) in the order of the ranking to (..., n_cuts)."""
        sums = np.zeros((*values.shape[:-1], len(self.last) + 1))
        if len(self.last) == values.shape[-1]:
            np.cumsum(values, axis=-1, out=sums[..., 1:])
        else:
            sums[..., 1:] = np.take(np.cumsum(values, axis=-1), self.last, axis=-1)
        return sums

    def alarms_and_hits(self, target: Mask, weights: Vector) -> tuple[Vector, Vector]:
        """Weight of the accepted rows of the other class and of the target at each cut, two (..., n_cuts)."""
        return self.accepted(np.where(target, 0.0, weights)), self.accepted(np.where(target, weights, 0.0))

    def rates(self, target: Mask, weights: Vector) -> tuple[Vector, Vector]:
        """False positive and false negative rate of each cut, two (..., n_cuts)."""
        alarms, hits = self.alarms_and_hits(target, weights)
        return alarms / alarms[..., -1:], (hits[..., -1:] - hits) / hits[..., -1:]

    def cut(self, thresholds: Vector) -> NDArray[np.intp]:
        """The cut that accepts the rows with score >= threshold."""
        return len(self.scores) - np.searchsorted(self.scores[::-1], thresholds, side="left")

    def threshold(self, cut: int) -> float:
        """Half-way between the lowest accepted score and the highest refused one; infinite if there is no such score.

        The middle is rounded to the type of the scores. Where it falls on the refused score, there being no number
        between the two, the accepted one is the threshold.
        """
        if cut == 0:
            return np.inf
        if cut == len(self.scores):
            return -np.inf
        low, high = self.scores[cut], self.scores[cut - 1]
        middle = low / 2 + high / 2
        return float(middle if low < middle <= high else high)


class RankedMetric(NamedTuple):
    """A metric of the ranking as a function of the weights alone.

    values : maps weights (..., n_samples), in the order of the ranking, to the metric (...,).
    """

    sample: Sample
    ranking: Ranking
    values: Callable[[Vector], Vector]

    @property
    def value(self) -> float:
        """The metric for the weights of the sample."""
        return float(self.values(self.sample.weight[self.ranking.order]))
