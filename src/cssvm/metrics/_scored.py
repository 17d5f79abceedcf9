"""Scored samples: checked samples with a score each, and the order of the scores.

All metrics have two layers. The public functions read labels, scores and costs into `Samples` or `ScoredSamples` and
call a function of the second layer, which does not check them again; the rest of the library calls that one. A sample
is predicted positive if its score is at or above the threshold. Samples of weight zero are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.positive_class import PositiveClass, PositiveClassScores
from .._core.ranking import Ranking
from .._core.samples import Samples
from .._core.types import Mask, Vector

BELOW_CHANCE = 2.0  # standard deviations of the area under the ROC curve of random scores


@dataclass(frozen=True, eq=False)
class ScoredSamples:
    """Samples with a score each, float64 or float32, and whether a model predicts them positive, where that is known.

    Scores that differ by no more than `tie` are equal.
    """

    samples: Samples
    scores: NDArray[Any]
    predictions: Mask | None = None
    tie: float = 0.0

    @classmethod
    def from_samples(
        cls, samples: Samples, scores: NDArray[Any], *, predictions: Mask | None = None, tie: float = 0.0
    ) -> ScoredSamples:
        """Checked samples with their scores (n_samples,); samples of weight zero are left out."""
        return cls(samples, scores, predictions, tie).take(samples.nonzero_weights())

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        y_pred: Any = None,
        fn_cost: Any = 1.0,
        fp_cost: Any = 1.0,
        pos_label: Any = None,
        sample_weight: Any = None,
        in_double: bool = False,
    ) -> ScoredSamples:
        """Check labels, scores, costs and weights as users pass them; scores keep their type unless `in_double`.

        Scores other than `PositiveClassScores` are assumed to be higher for the positive class, with a warning where
        the labels say the opposite.
        """
        oriented = isinstance(y_score, PositiveClassScores)
        if oriented:
            pos_label, y_score = _agreed_class(pos_label, y_score), y_score.values
        samples = Samples.from_labels(
            y_true, pos_label=pos_label, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight
        )
        scores = samples.scores(y_score)
        scores = scores.astype(np.float64, copy=False) if in_double else scores
        predictions = None if y_pred is None else samples.predicted_positive(y_pred)
        scored = cls.from_samples(samples, scores, predictions=predictions)
        if not oriented:
            scored.warn_below_chance()
        return scored

    def __len__(self) -> int:
        return len(self.scores)

    @cached_property
    def ranking(self) -> Ranking:
        """The order of the samples by falling score."""
        return Ranking.from_scores(self.scores, tie=self.tie)

    @property
    def positive(self) -> Mask:
        """(n_samples,) bool, the samples of the positive class."""
        return self.samples.positive

    @property
    def labels(self) -> NDArray[Any]:
        """(n_samples,) labels."""
        return self.samples.labels

    def take(self, chosen: Any) -> ScoredSamples:
        """Some of the samples: a slice, a mask or indices."""
        predictions = None if self.predictions is None else self.predictions[chosen]
        return ScoredSamples(self.samples.take(chosen), self.scores[chosen], predictions, self.tie)

    def ranked(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the samples (n_samples,) in the order of the ranking."""
        return values[self.ranking.order]

    def warn_below_chance(self) -> None:
        """Warn if the positive class ranks clearly below the negative one."""
        positive = self.ranked(self.positive)
        n_positive, n_negative = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
        if not n_positive or not n_negative:
            return
        false_positives, true_positives = self.ranking.false_and_true_positives(positive, np.ones(len(positive)))
        area = float(np.trapezoid(true_positives, false_positives)) / (n_positive * n_negative)
        deviation = np.sqrt((n_positive + n_negative + 1) / (12.0 * n_positive * n_negative))  # if scores are random
        if area < 0.5 - BELOW_CHANCE * deviation:
            label = self.samples.positive_class.label_repr
            warnings.warn(
                f"The scores rank {label}, the positive class, below the negative class: the area under the ROC "
                f"curve is {area:.2f}, chance gives 0.50 +- {deviation:.2f}. Scores must be higher for pos_label; "
                "decision_function is higher for classes_[1]. Pass positive_class_scores(model, X) in place of "
                "model.decision_function(X), or another pos_label.",
                UserWarning,
                stacklevel=4,
            )


def _agreed_class(pos_label: Any, scores: PositiveClassScores) -> PositiveClass:
    """The positive class of the scores, which must be `pos_label` if one is given."""
    if pos_label is None or isinstance(pos_label, PositiveClass):
        return scores.positive_class
    if pos_label != scores.pos_label:
        raise ValueError(
            f"pos_label must be the class that the scores are for, {scores.positive_class.label_repr}; got "
            f"pos_label={pos_label!r}. Pass positive_class_scores(model, X, pos_label={pos_label!r})."
        )
    return replace(scores.positive_class, named=True)


class RankedMetric(NamedTuple):
    """A metric of the ranking as a function of the weights (..., n_samples), in the order of the ranking."""

    scored: ScoredSamples
    values: Callable[[Vector], Vector]

    @property
    def value(self) -> float:
        """The metric for the weights of the sample."""
        return float(self.values(self.scored.ranked(self.scored.samples.weights)))
