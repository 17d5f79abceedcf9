"""Scored rows: a checked sample with a score for each row, sorted once.

All metrics have two floors. The public functions take labels, scores and costs as users have them, read them into a
`Samples` or a `ScoredSamples` and call a function of the second floor, which takes these and checks no rows again. The
estimators, the search and the displays call the second floor. A row is *accepted*, that is taken for the target, if its
score is at or above the threshold. Rows of weight zero are absent.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.positive_class import PositiveClass, PositiveClassScores
from .._core.samples import Samples
from .._core.types import Vector
from ._ranking import Ranking

BELOW_CHANCE = 2.0  # standard deviations of the area under the ROC curve of random scores


@dataclass(frozen=True, eq=False)
class ScoredSamples:
    """Rows of positive weight, their scores and their order.

    scores : (n_samples,) float64 or float32, higher for the target, in the order of the rows of `sample`.
    """

    sample: Samples
    scores: NDArray[Any]
    ranking: Ranking

    @classmethod
    def of(cls, sample: Samples, scores: NDArray[Any], *, tie: float = 0.0) -> ScoredSamples:
        """Sort checked rows by their scores (n,), equal up to `tie`; rows of weight zero are left out."""
        sample, scores = sample.present(scores)
        return cls(sample, scores, Ranking.of(scores, tie=tie))

    @classmethod
    def read(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        fn_cost: Any = 1.0,
        fp_cost: Any = 1.0,
        pos_label: Any = None,
        sample_weight: Any = None,
        in_double: bool = False,
    ) -> ScoredSamples:
        """Check labels, scores, costs and weights as users pass them; scores keep their type unless `in_double`.

        y_score : scores, or `PositiveClassScores`, which know their target; others are believed to be higher for the target,
        with a warning where the rows say the opposite.
        """
        oriented = isinstance(y_score, PositiveClassScores)
        if oriented:
            pos_label, y_score = _agreed_target(pos_label, y_score), y_score.values
        sample = Samples.read(
            y_true, pos_label=pos_label, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight
        )
        scores = sample.scores(y_score)
        rows = cls.of(sample, scores.astype(np.float64, copy=False) if in_double else scores)
        if not oriented:
            rows.warn_below_chance()
        return rows

    def warn_below_chance(self) -> None:
        """Warn if the target ranks clearly below the other class."""
        positive = self.ranked(self.sample.positive)
        n_target, n_other = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
        if not n_target or not n_other:
            return
        alarms, hits = self.ranking.alarms_and_hits(positive, np.ones(len(positive)))
        area = float(np.trapezoid(hits, alarms)) / (n_target * n_other)
        deviation = np.sqrt((n_target + n_other + 1) / (12.0 * n_target * n_other))  # of the area if scores are chance
        if area < 0.5 - BELOW_CHANCE * deviation:
            warnings.warn(
                f"The scores rank {self.sample.target.shown}, the target, below the other class: the area under the "
                f"ROC curve is {area:.2f}, chance gives 0.50 +- {deviation:.2f}. Scores must be higher for pos_label; "
                "decision_function is higher for classes_[1]. Pass positive_class_scores(model, X) in place of "
                "model.decision_function(X), or another pos_label.",
                UserWarning,
                stacklevel=4,
            )

    def ranked(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the rows (n,) in the order of the ranking."""
        return values[self.ranking.order]

    def weighed_by_stakes(self) -> ScoredSamples:
        """The rows with their weighted costs as weights, so that rates are shares of the cost; those without are left out."""
        sample = self.sample.weighed_by_stakes()
        if sample.weights.all():
            return replace(self, sample=sample)
        return ScoredSamples.of(sample, self.scores)


def _agreed_target(pos_label: Any, scores: PositiveClassScores) -> PositiveClass:
    """The target of the scores, which must be `pos_label` if one is given."""
    if pos_label is None or isinstance(pos_label, PositiveClass):
        return scores.target
    if pos_label != scores.pos_label:
        raise ValueError(
            f"pos_label must be the class that the scores are for, {scores.target.shown}; got pos_label={pos_label!r}. "
            f"Pass positive_class_scores(model, X, pos_label={pos_label!r}), or leave pos_label out."
        )
    return replace(scores.target, named=True)


class RankedMetric(NamedTuple):
    """A metric of the ranking as a function of the weights alone.

    values : maps weights (..., n_samples), in the order of the ranking, to the metric (...,).
    """

    rows: ScoredSamples
    values: Callable[[Vector], Vector]

    @property
    def value(self) -> float:
        """The metric for the weights of the sample."""
        return float(self.values(self.rows.ranked(self.rows.sample.weights)))
