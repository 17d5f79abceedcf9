"""What scores of the validation rows of a fold are worth; greater is better.

========= =====================================================================================
risk      minus the mean cost of the decisions, `cssvm.metrics.cost_risk`
min_risk  minus the mean cost at the best threshold, `cssvm.metrics.min_cost_risk`
tp_auc    minus `cssvm.metrics.tp_auc_loss` at t = 0.9
tn_auc    minus `cssvm.metrics.tn_auc_loss` at t = 0.9
income    sum over rows decided to be targets of fn_cost_i (a hit) or -fp_cost_i (a false alarm)
========= =====================================================================================

With ``decision="threshold"`` risk, min_risk and income are those of the decisions at one threshold, of least cost on
the held-out scores of all folds together; with ``decision="bayes"`` those of the Bayes decisions, by one sigmoid fitted
to these scores. Scores that differ by less than the solver tells apart are equal.

Any other scoring is a scikit-learn scorer. It is shown an estimator that is fitted already and knows the scores of
exactly the rows it is asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.metrics import check_scoring, get_scorer
from sklearn.utils import _safe_indexing

from .._core.classifier import BinaryClassifier
from .._core.decision import expected_saving
from .._core.samples import Samples
from .._core.types import RowNumbers, Vector
from .._core.validation import take_samples
from ..metrics._income import ActionCosts, income_of_predictions
from ..metrics._partial_auc import ranked_tn_auc_loss, ranked_tp_auc_loss
from ..metrics._risk import minimum_risk, risk_of_predictions
from ..metrics._scored import ScoredSamples
from .decision import BAYES, THRESHOLD, ZERO, ByProbability, costs_when_deciding, pooled_threshold, tie_of_folds

DEFAULT_SCORING, MIN_RISK = "risk", "min_risk"

# Values (n_points,) of decisions (n_points, n_valid) on a sample; the value of one vector of scores.
OF_DECISIONS: dict[str, Callable[[Samples, NDArray[np.bool_]], Vector]] = {
    "risk": lambda sample, accepted: -risk_of_predictions(sample, accepted),
    "income": lambda sample, accepted: income_of_predictions(sample, accepted, ActionCosts.from_errors(sample)),
}
OF_RANKING: dict[str, Callable[[ScoredSamples], float]] = {
    MIN_RISK: lambda rows: -minimum_risk(rows).risk,
    "tp_auc": lambda rows: -ranked_tp_auc_loss(rows).value,
    "tn_auc": lambda rows: -ranked_tn_auc_loss(rows).value,
}
NAMES = [*OF_DECISIONS, *OF_RANKING]


class Scoring(Protocol):
    """What a search asks of a scoring."""

    # Whether only the order of the scores counts: an increasing map of them changes nothing.
    ranking: bool
    # Whether a value depends on the scores of all folds; if so `evaluate_folds` is there as well.
    pooled: bool

    def evaluate(self, scores: NDArray[Any], valid: RowNumbers) -> Vector:
        """The values (n_points,) of scores (n_points, n_valid), positive for the target, of the rows `valid`."""


class DecisionScoring:
    """Scores by the decisions of the points."""

    ranking = pooled = False

    def __init__(self, name: str, sample: Samples, tie: float):
        self.value, self.sample, self.tie = OF_DECISIONS[name], sample, tie

    def evaluate(self, scores: NDArray[Any], valid: RowNumbers) -> Vector:
        """As `Scoring` says."""
        return self.value(self.sample.take(valid), self.sample.target.accepted(scores))


class PooledScoring(DecisionScoring):
    """Scores by the decisions of the points, each at its own threshold of least cost on all folds together."""

    ranking = pooled = True

    def evaluate_folds(self, scores: Sequence[NDArray[Any]], valid: Sequence[RowNumbers]) -> NDArray[np.float64]:
        """Values (n_points, n_folds) of scores (n_points, n_valid) on each fold."""
        pooled, together = self.sample.take(np.concatenate(valid)), np.concatenate(scores, axis=1)
        ties = tie_of_folds(scores, self.tie)
        found = [pooled_threshold(each, pooled, tie) for each, tie in zip(together, ties, strict=True)]
        thresholds = np.array(found)[:, np.newaxis]
        return np.column_stack([self.evaluate(own - thresholds, rows) for own, rows in zip(scores, valid, strict=True)])


class BayesScoring(DecisionScoring):
    """Scores by the Bayes decisions of the points, the sigmoid of each fitted to the scores of all folds together."""

    ranking = pooled = True

    def __init__(self, name: str, sample: Samples, tie: float):
        super().__init__(name, sample, tie)
        self.costs = costs_when_deciding(sample)

    def evaluate_folds(self, scores: Sequence[NDArray[Any]], valid: Sequence[RowNumbers]) -> NDArray[np.float64]:
        """Values (n_points, n_folds) of scores (n_points, n_valid) on each fold."""
        pooled, together = self.sample.take(np.concatenate(valid)), np.concatenate(scores, axis=1)
        ties = tie_of_folds(scores, self.tie)
        rules = [ByProbability(each, pooled, tie) for each, tie in zip(together, ties, strict=True)]
        values = []
        for own, rows in zip(scores, valid, strict=True):
            costs = [take_samples(cost, rows) for cost in self.costs]
            p = np.array([rule.probabilities(each) for rule, each in zip(rules, own, strict=True)])
            values.append(self.evaluate(expected_saving(p, *costs), rows))
        return np.column_stack(values)


class RankingScoring:
    """Scores by the order of the rows."""

    ranking, pooled = True, False

    def __init__(self, name: str, sample: Samples, tie: float):
        self.value, self.sample, self.tie = OF_RANKING[name], sample, tie

    def evaluate(self, scores: NDArray[Any], valid: RowNumbers) -> Vector:
        """As `Scoring` says."""
        sample = self.sample.take(valid)
        return np.array([self.value(ScoredSamples.from_samples(sample, each, tie=self.tie)) for each in scores])


class ScorerScoring:
    """Values of a scikit-learn scorer, which gets what it has requested of costs and weights."""

    ranking = pooled = False

    def __init__(self, scorer: Callable[..., float], X: Any, sample: Samples):
        self.scorer, self.X, self.sample = scorer, X, sample
        self.names = _requested(scorer)
        self.config = get_config()  # scikit-learn's, which other threads do not see

    def evaluate(self, scores: NDArray[Any], valid: RowNumbers) -> Vector:
        """As `Scoring` says."""
        sample = self.sample.take(valid)
        metadata = {"fn_cost": sample.fn_cost, "fp_cost": sample.fp_cost, "sample_weight": sample.weights}
        params = {name: metadata[name] for name in self.names}
        X, y, target = _safe_indexing(self.X, valid), sample.labels, sample.target
        shown = [_Scored(target.classes, target.as_f(f), target.label if target.named else None) for f in scores]
        with config_context(**self.config):
            return np.array([self.scorer(each, X, y, **params) for each in shown])


class _Scored(BinaryClassifier):
    """A fitted classifier whose scores of the rows in question are known, and its target if that was named."""

    def __init__(self, classes: Any = None, scores: Any = None, pos_label: Any = None) -> None:
        self.classes = self.classes_ = classes
        self.scores = scores
        self.pos_label = pos_label

    def fit(self, X: Any, y: Any) -> _Scored:
        """Nothing: it is fitted."""
        return self

    def decision_function(self, X: Any) -> Any:
        """The known scores."""
        return self.scores


def make_scoring(scoring: Any, X: Any, sample: Samples, decision: str = ZERO, tie: float = 0.0) -> Scoring:
    """The scoring of that name for that decision, or the scorer given; None is "risk". Scores are equal up to `tie`."""
    if scoring is None:
        scoring = DEFAULT_SCORING
    refusal = ValueError(
        f"scoring must be one of {NAMES}, the name of a scikit-learn scorer or a scorer; got scoring={scoring!r}."
    )
    if isinstance(scoring, str):
        if decision == BAYES and scoring in (MIN_RISK, *OF_DECISIONS):
            return BayesScoring(DEFAULT_SCORING if scoring == MIN_RISK else scoring, sample, tie)
        if scoring == MIN_RISK and decision == THRESHOLD:
            return PooledScoring(DEFAULT_SCORING, sample, tie)
        if scoring in OF_DECISIONS and decision == THRESHOLD:
            return PooledScoring(scoring, sample, tie)
        if scoring in OF_DECISIONS:
            return DecisionScoring(scoring, sample, tie)
        if scoring in OF_RANKING:
            return RankingScoring(scoring, sample, tie)
        try:
            scoring = get_scorer(scoring)
        except ValueError as error:
            raise refusal from error
    if not callable(scoring):
        raise refusal
    return ScorerScoring(check_scoring(_Scored(), scoring=scoring), X, sample)


def _requested(scorer: Any) -> list[str]:
    """Which of the row values the scorer has asked for; none with metadata routing off."""
    if not get_config().get("enable_metadata_routing") or not hasattr(scorer, "get_metadata_routing"):
        return []
    requests = scorer.get_metadata_routing().score.requests
    return [name for name in ("fn_cost", "fp_cost", "sample_weight") if requests.get(name) is True]
