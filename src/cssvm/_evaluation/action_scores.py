"""Scores for acting on a sample (predicting it positive), such that a model's own predictions are a threshold on them.

For a model that decides by one threshold these are its scores. A model that decides by the probability p of the
positive class and the costs of each sample, as it knows or estimates them, predicts positive if

    log p / (1 - p) + log fn_cost / fp_cost > 0.

A common factor of all costs moves the threshold of this score by its logarithm: the same curve serves them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit

from .._core.decision import costs_for_predict, expected_saving, known_costs
from .._core.positive_class import RESPONSE_METHODS, PositiveClass, positive_class_scores, response_and_threshold
from .._core.types import Mask, Vector

DECISION_VALUE, PROBABILITY, COST_RATIO, DECISION, GIVEN = (
    "the decision value of the positive class",
    "the probability of the positive class",
    "the logarithm of the ratio of the expected costs of skipping and of acting (0 if they are equal)",
    "the prediction itself",
    "the score",
)

LESS_OWN = "minus the threshold of the model of its fold"  # of scores of several models, whose thresholds differ

# Bounds that keep the scores of probabilities of 0 and 1, and of costs of 0, finite.
LEAST_PROBABILITY, LEAST_COST = 1e-15, float(np.finfo(np.float64).tiny)

TIE = 1e-9  # scores this close to the threshold, relative to it or to 1, may differ from it by rounding


class ActionScores(NamedTuple):
    """Scores (n_samples,), higher for samples to act on, the threshold of the model itself (or nan), and their kind."""

    values: Vector
    own_threshold: float
    kind: str


def action_scores(
    model: Any, X: Any, predicted: Any, positive_class: PositiveClass, *, fn_cost: Any, fp_cost: Any
) -> ActionScores:
    """Scores of a fitted classifier for samples with these costs, a number or (n_samples,) each.

    predicted : (n_samples,) bool, the model's own predictions, which are the scores if it has no others.
    """
    predicted = np.asarray(predicted, dtype=bool)
    if costs_for_predict(model) and hasattr(model, "predict_proba"):
        p = positive_class_scores(model, X, pos_label=positive_class.label, response_method="predict_proba").values
        costs = known_costs(model, X, {"fn_cost": fn_cost, "fp_cost": fp_cost})
        return align_with_predictions(scores_by_costs(p, **costs), predicted)
    if not any(hasattr(model, response) for response in RESPONSE_METHODS):
        return scores_of_predictions(predicted)
    found = positive_class_scores(model, X, pos_label=positive_class.label)
    kind = PROBABILITY if response_and_threshold(model, found.positive_class)[0] == "predict_proba" else DECISION_VALUE
    return align_with_predictions(ActionScores(found.values, found.own_threshold, kind), predicted)


def scores_by_costs(p: Vector, *, fn_cost: Any, fp_cost: Any) -> ActionScores:
    """Scores of a model that decides by probabilities p (n_samples,) and costs, a number or (n_samples,) each."""
    if np.ndim(fn_cost) == 0 and np.ndim(fp_cost) == 0:
        return ActionScores(p, float(fp_cost / (fn_cost + fp_cost)), PROBABILITY)
    odds = logit(np.clip(p, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY))
    ratio = np.log(np.maximum(fn_cost, LEAST_COST)) - np.log(np.maximum(fp_cost, LEAST_COST))
    saving, values = expected_saving(p, fn_cost, fp_cost), odds + ratio
    values = np.where(saving > 0.0, np.maximum(values, 0.0), np.minimum(values, np.nextafter(0.0, -1.0)))
    return ActionScores(np.where(saving == 0.0, 0.0, values), 0.0, COST_RATIO)


def align_with_predictions(scores: ActionScores, predicted: Mask) -> ActionScores:
    """Scores that reach `own_threshold` exactly where the model predicts positive; it is nan if none do."""
    values, own = scores.values, scores.own_threshold
    # Classifiers break ties either way: scores at the threshold, up to rounding, are put on the side of the prediction.
    tied = np.abs(values - own) <= TIE * max(1.0, abs(own))
    sided = np.where(predicted, np.maximum(values, own), np.minimum(values, np.nextafter(own, -np.inf)))
    values = np.where(tied, sided, values)
    if not np.array_equal(values >= own, predicted):
        least = np.min(scores.values[predicted], initial=np.inf)
        apart = np.max(scores.values[~predicted], initial=-np.inf) < least
        return scores._replace(own_threshold=float(least) if apart else np.nan)
    return scores._replace(values=values)


def scores_of_predictions(predicted: Any) -> ActionScores:
    """Predictions (n_samples,) as scores: their other cuts are all positive and all negative."""
    return ActionScores(np.asarray(predicted, dtype=np.float64), 0.5, DECISION)
