"""Two rules that turn the scores of a learner into decisions of least cost.

    bayes:   target if p(x_i) fn_cost_i > (1 - p(x_i)) fp_cost_i,    p calibrated, costs those of the new rows
    tuned:   target if score(x_i) > threshold,    the threshold that costs least on held-out training rows

p and the score are those of the target class. Where both sides are equal, the decision is for ``classes_[0]``, as it is
wherever a decision function is 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.classifier import resolve_cost
from .._core.decision import ONE_MARGIN, check_decision_costs, relative_saving, threshold_of_least_cost
from .._core.folds import make_splits
from .._core.positive_class import PositiveClass
from .._core.samples import Samples, check_both_classes, has_both_classes
from .._core.types import Mask, Vector
from .probabilities import PROBABILITIES
from .routing import ESTIMATOR

if TYPE_CHECKING:
    from .cost_threshold import CostThresholdClassifier


class FittedRule(NamedTuple):
    """A trained learner, the method that gives its scores, and the thresholds: for all rows, and of each fold alone."""

    estimator: Any
    response: str
    threshold: float
    thresholds: Vector


class Rule(ABC):
    """How a classifier decides; it reads the parameters of the classifier and changes nothing."""

    def __init__(self, classifier: CostThresholdClassifier):
        self.classifier = classifier

    @property
    @abstractmethod
    def has_probabilities(self) -> bool:
        """Whether the trained learner will have `predict_proba`."""

    @abstractmethod
    def fit(
        self, X: Any, y: Any, target: PositiveClass, positive: Mask, given: dict[str, Any], groups: Any = None
    ) -> FittedRule:
        """Train the learner and set the threshold; `given` holds the costs and weights that `fit` was given."""

    @abstractmethod
    def gain(self, score: Vector, fn_cost: Any, fp_cost: Any) -> Vector:
        """The target's score minus the threshold, which varies by row if the costs do."""


class BayesRule(Rule):
    """Probabilities, calibrated unless told otherwise; the costs alone set the threshold."""

    @property
    def has_probabilities(self) -> bool:
        """A calibrated learner has them, any other may."""
        return self.classifier._will_have_probabilities

    def fit(
        self, X: Any, y: Any, target: PositiveClass, positive: Mask, given: dict[str, Any], groups: Any = None
    ) -> FittedRule:
        """Costs given to `fit` are for the learner only, and refused if it does not take them."""
        classifier = self.classifier
        target.require_pos_label(fn_cost=classifier.fn_cost, fp_cost=classifier.fp_cost)
        fn_cost, fp_cost = self._costs(None, None, len(positive))
        metadata = classifier._metadata_for(ESTIMATOR, given)
        unused = sorted(given.keys() - metadata.keys() - {"sample_weight"})
        if unused:
            raise ValueError(
                f"{unused[0]} given to fit does not enter the decisions of {type(classifier).__name__} with "
                f'method="bayes". Pass it to predict: predict(X, {unused[0]}=...), or use method="tuned".'
            )
        fitted = classifier._fit_probabilities(
            X, y, target, positive, metadata, sample_weight=given.get("sample_weight"), groups=groups
        )
        return FittedRule(fitted.estimator, PROBABILITIES, float(fp_cost / (fn_cost + fp_cost)), np.empty(0))

    def gain(self, score: Vector, fn_cost: Any, fp_cost: Any) -> Vector:
        """P - fp / (fn + fp), in the form of the rule: no rounding of the threshold moves a tie."""
        fn, fp = self._costs(fn_cost, fp_cost, len(score))
        self.classifier._positive_class.require_pos_label(fn_cost=fn, fp_cost=fp)
        return relative_saving(score, fn, fp)

    def _costs(self, fn_cost: Any, fp_cost: Any, n_samples: int) -> tuple[Vector, Vector]:
        """Costs of rows of unknown label: the given or the constructor's, which is a number."""
        own = self.classifier._cost_of_new_rows
        return check_decision_costs(own("fn_cost", fn_cost), own("fp_cost", fp_cost), n_samples)


class TunedRule(Rule):
    """The threshold from pooled held-out scores, and from those of each fold; the learner from all rows."""

    @property
    def has_probabilities(self) -> bool:
        """The learner's own."""
        return hasattr(self.classifier.estimator, PROBABILITIES)

    def fit(
        self, X: Any, y: Any, target: PositiveClass, positive: Mask, given: dict[str, Any], groups: Any = None
    ) -> FittedRule:
        """Costs given to `fit` count for the threshold."""
        classifier = self.classifier
        costs = {name: resolve_cost(classifier, name, given.get(name)) for name in ("fn_cost", "fp_cost")}
        sample = Samples.from_mask(target, positive, **costs, sample_weight=given.get("sample_weight"))
        sample.check_totals()
        folds = make_splits(classifier.cv, X, y, positive=positive, weights=sample.weights, groups=groups)
        for seen, _ in folds:
            part = f"the training rows of each fold of cv={classifier.cv!r}"
            check_both_classes(sample.positive[seen], part, "Use fewer or stratified folds.")
        metadata = classifier._metadata_for(ESTIMATOR, given)
        method = PROBABILITIES if self.has_probabilities else "decision_function"
        held_out = classifier._held_out_responses(X, y, folds, method, metadata)
        scores = [target.to_positive_sign(part) for part in held_out]
        rows = [fold.valid for fold in folds]
        pooled = sample.take(np.concatenate(rows))
        check_both_classes(pooled.positive, f"the held-out rows of cv={classifier.cv!r}", "Use fewer folds.")
        return FittedRule(
            estimator=classifier._train_estimator(X, y, metadata),
            response=method,
            threshold=_least_cost_threshold(pooled, np.concatenate(scores)),
            thresholds=np.array(
                [_least_cost_threshold(sample.take(part), own) for part, own in zip(rows, scores, strict=True)]
            ),
        )

    def gain(self, score: Vector, fn_cost: Any, fp_cost: Any) -> Vector:
        """One threshold holds for all rows."""
        if not (fn_cost is None and fp_cost is None):
            raise ValueError(
                f'predict of {type(self.classifier).__name__} takes no costs with method="tuned", whose threshold '
                'holds for all rows and was set in fit. Use method="bayes" for costs of new rows.'
            )
        return score - self.classifier.threshold_


def _least_cost_threshold(sample: Samples, scores: Vector) -> float:
    """The threshold of least cost on these rows, finite also if it separates none; nan if one class has no cost."""
    if not has_both_classes(sample.positive[sample.weighted_costs > 0]):
        return np.nan
    # One decision for all rows is meant for new rows too, whose scores may lie beyond those seen.
    return threshold_of_least_cost(scores, sample.positive, sample.weighted_costs, prefer="highest", beyond=ONE_MARGIN)


RULES: dict[str, type[Rule]] = {"bayes": BayesRule, "tuned": TunedRule}
