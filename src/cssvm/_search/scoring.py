"""The value of scores of the validation samples, greater is better: our measures and scikit-learn's scorers.

With a decision that is learned from the out-of-fold scores of all folds together, one threshold or Bayes' rule, risk,
min_risk and income are those of its predictions. Scores that differ by less than the solver's tolerance are equal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.metrics import check_scoring, get_scorer

from .._core.classifier import BinaryClassifier
from .._core.decision import expected_saving
from .._core.samples import Samples
from .._core.sklearn_compat import safe_indexing
from .._core.types import RowNumbers, Vector
from .._core.validation import take_samples
from ..metrics._curves import ranked_tn_auc_loss, ranked_tp_auc_loss
from ..metrics._income import ActionCosts, income_of_predictions
from ..metrics._risk import minimum_risk, risk_of_predictions
from ..metrics._scored import ScoredSamples
from .final_decision import BAYES, THRESHOLD, ZERO, BayesRule, costs_when_deciding, pooled_threshold, tie_of_folds

DEFAULT_SCORING, MIN_RISK = "risk", "min_risk"

# Values (n_points,) of predictions (n_points, n_valid); the value of one vector of scores.
OF_PREDICTIONS: dict[str, Callable[[Samples, NDArray[np.bool_]], Vector]] = {
    "risk": lambda samples, positive: -risk_of_predictions(samples, positive),
    "income": lambda samples, positive: income_of_predictions(samples, positive, ActionCosts.from_errors(samples)),
}
OF_RANKING: dict[str, Callable[[ScoredSamples], float]] = {
    MIN_RISK: lambda scored: -minimum_risk(scored).risk,
    "tp_auc": lambda scored: -ranked_tp_auc_loss(scored).value,
    "tn_auc": lambda scored: -ranked_tn_auc_loss(scored).value,
}
NAMES = [*OF_PREDICTIONS, *OF_RANKING]


class Scoring(ABC):
    """The value of the points of a grid on a fold."""

    ranking = False  # whether only the order of the scores counts: an increasing map of them changes nothing
    pooled = False  # whether a value depends on the scores of all folds; then `evaluate_folds` is used

    @abstractmethod
    def evaluate(self, scores: NDArray[Any], valid: RowNumbers) -> Vector:
        """The values (n_points,) of scores (n_points, n_valid) of the validation samples for the positive class."""

    def evaluate_folds(self, scores: Sequence[NDArray[Any]], valid: Sequence[RowNumbers]) -> NDArray[np.float64]:
        """Values (n_points, n_folds) of scores (n_points, n_valid) on each fold."""
        return np.column_stack([self.evaluate(own, rows) for own, rows in zip(scores, valid, strict=True)])


class PredictionScoring(Scoring):
    """Scores the predictions of the points."""

    def __init__(self, name: str, samples: Samples, tie: float):
        self.value, self.samples, self.tie = OF_PREDICTIONS[name], samples, tie

    def evaluate(self, scores: NDArray[Any], valid: RowNumbers) -> Vector:
        return self.value(self.samples.take(valid), self.samples.positive_class.predicted_positive(scores))


class ThresholdScoring(PredictionScoring):
    """Scores the predictions of each point at its own threshold of least cost on all folds together."""

    ranking = pooled = True

    def evaluate_folds(self, scores: Sequence[NDArray[Any]], valid: Sequence[RowNumbers]) -> NDArray[np.float64]:
        pooled, together = self.samples.take(np.concatenate(valid)), np.concatenate(scores, axis=1)
        ties = tie_of_folds(scores, self.tie)
        found = [pooled_threshold(each, pooled, tie) for each, tie in zip(together, ties, strict=True)]
        return super().evaluate_folds([own - np.array(found)[:, np.newaxis] for own in scores], valid)


class BayesScoring(PredictionScoring):
    """Scores the predictions of each point by Bayes' rule, its sigmoid fitted to the scores of all folds together."""

    ranking = pooled = True

    def evaluate_folds(self, scores: Sequence[NDArray[Any]], valid: Sequence[RowNumbers]) -> NDArray[np.float64]:
        pooled, together = self.samples.take(np.concatenate(valid)), np.concatenate(scores, axis=1)
        ties = tie_of_folds(scores, self.tie)
        rules = [BayesRule(each, pooled, tie) for each, tie in zip(together, ties, strict=True)]
        costs, savings = costs_when_deciding(self.samples), []
        for own, rows in zip(scores, valid, strict=True):
            p = np.array([rule.probabilities(each) for rule, each in zip(rules, own, strict=True)])
            savings.append(expected_saving(p, *(take_samples(cost, rows) for cost in costs)))
        return super().evaluate_folds(savings, valid)


class RankingScoring(Scoring):
    """Scores the order of the samples."""

    ranking = True

    def __init__(self, name: str, samples: Samples, tie: float):
        self.value, self.samples, self.tie = OF_RANKING[name], samples, tie

    def evaluate(self, scores: NDArray[Any], valid: RowNumbers) -> Vector:
        samples = self.samples.take(valid)
        return np.array([self.value(ScoredSamples.from_samples(samples, each, tie=self.tie)) for each in scores])


class ScorerScoring(Scoring):
    """Values of a scikit-learn scorer, which gets the costs and weights that it has requested."""

    def __init__(self, scorer: Callable[..., float], X: Any, samples: Samples):
        self.scorer, self.X, self.samples = scorer, X, samples
        self.config = get_config()  # scikit-learn's, which other threads do not see
        self.names: list[str] = []
        if self.config.get("enable_metadata_routing") and hasattr(scorer, "get_metadata_routing"):
            requests = scorer.get_metadata_routing().score.requests
            self.names = [name for name in ("fn_cost", "fp_cost", "sample_weight") if requests.get(name) is True]

    def evaluate(self, scores: NDArray[Any], valid: RowNumbers) -> Vector:
        samples = self.samples.take(valid)
        metadata = {"fn_cost": samples.fn_cost, "fp_cost": samples.fp_cost, "sample_weight": samples.weights}
        params = {name: metadata[name] for name in self.names}
        X, y, positive_class = safe_indexing(self.X, valid), samples.labels, samples.positive_class
        fitted = [
            _Scored(
                positive_class.classes,
                positive_class.to_classes_sign(f),
                positive_class.label if positive_class.named else None,
            )
            for f in scores
        ]
        with config_context(**self.config):
            return np.array([self.scorer(each, X, y, **params) for each in fitted])


class _Scored(BinaryClassifier):
    """The fitted classifier that a scorer gets: its scores of exactly the samples it is asked about are known."""

    def __init__(self, classes: Any = None, scores: Any = None, pos_label: Any = None) -> None:
        self.classes = self.classes_ = classes
        self.scores = scores
        self.pos_label = pos_label

    def fit(self, X: Any, y: Any) -> _Scored:
        return self

    def decision_function(self, X: Any) -> Any:
        return self.scores


def make_scoring(scoring: Any, X: Any, samples: Samples, decision: str = ZERO, tie: float = 0.0) -> Scoring:
    """The scoring of that name for that decision, or the scorer given; None is "risk". Scores are equal up to `tie`."""
    if scoring is None:
        scoring = DEFAULT_SCORING
    error = ValueError(
        f"scoring must be one of {NAMES}, the name of a scikit-learn scorer or a scorer; got scoring={scoring!r}."
    )
    if isinstance(scoring, str):
        if decision in (THRESHOLD, BAYES) and scoring in (MIN_RISK, *OF_PREDICTIONS):
            learned = ThresholdScoring if decision == THRESHOLD else BayesScoring
            return learned(DEFAULT_SCORING if scoring == MIN_RISK else scoring, samples, tie)
        if scoring in OF_PREDICTIONS:
            return PredictionScoring(scoring, samples, tie)
        if scoring in OF_RANKING:
            return RankingScoring(scoring, samples, tie)
        try:
            scoring = get_scorer(scoring)
        except ValueError as unknown:
            raise error from unknown
    if not callable(scoring):
        raise error
    return ScorerScoring(check_scoring(_Scored(), scoring=scoring), X, samples)
