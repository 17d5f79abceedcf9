"""Scored rows: a checked sample with a score for each row, sorted once.

All metrics have two floors. The public functions take labels, scores and costs as users have them, read them into a
`Sample` or a `ScoredSample` and call a function of the second floor, which takes these and checks no rows again. The
estimators, the search and the displays call the second floor. A row is *accepted*, that is taken for the target, if its
score is at or above the threshold. Rows of weight zero are absent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._types import Vector
from ..sample import Sample
from .ranking import Ranking


@dataclass(frozen=True, eq=False)
class ScoredSample:
    """Rows of positive weight, their scores and their order.

    scores : (n_samples,) float64 or float32, higher for the target, in the order of the rows of `sample`.
    """

    sample: Sample
    scores: NDArray[Any]
    ranking: Ranking

    @classmethod
    def of(cls, sample: Sample, scores: NDArray[Any]) -> ScoredSample:
        """Sort checked rows by their scores (n,); rows of weight zero are left out."""
        sample, scores = sample.present(scores)
        return cls(sample, scores, Ranking.of(scores))

    @classmethod
    def read(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        fn_cost: Any = 1.0,
        fp_cost: Any = 1.0,
        pos_label: Any = 1,
        sample_weight: Any = None,
        in_double: bool = False,
    ) -> ScoredSample:
        """Check labels, scores, costs and weights as users pass them; scores keep their type unless `in_double`."""
        sample = Sample.read(y_true, pos_label=pos_label, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
        scores = sample.scores(y_score)
        return cls.of(sample, scores.astype(np.float64, copy=False) if in_double else scores)

    def ranked(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the rows (n,) in the order of the ranking."""
        return values[self.ranking.order]

    def weighed_by_stakes(self) -> ScoredSample:
        """The rows with their stakes as weights, so that rates are shares of the cost; those without are left out."""
        sample = self.sample.weighed_by_stakes()
        if sample.weights.all():
            return replace(self, sample=sample)
        return ScoredSample.of(sample, self.scores)


class RankedMetric(NamedTuple):
    """A metric of the ranking as a function of the weights alone.

    values : maps weights (..., n_samples), in the order of the ranking, to the metric (...,).
    """

    rows: ScoredSample
    values: Callable[[Vector], Vector]

    @property
    def value(self) -> float:
        """The metric for the weights of the sample."""
        return float(self.values(self.rows.ranked(self.rows.sample.weights)))
