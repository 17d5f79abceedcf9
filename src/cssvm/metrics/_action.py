"""Scores for acting on a row, such that a model's own decisions are one threshold on them.

A model that decides by one threshold gives its scores for the target. One that decides by the probability p of the
target and the costs of each row acts where p fn_cost > (1 - p) fp_cost, that is where

    log p / (1 - p) + log fn_cost / fp_cost > 0

and costs that all grow by a factor move the threshold of this score by its logarithm: the same curve serves them. Costs
are those that the model knows when it decides: an estimate where the row's own is not one of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit

from .._core.decision import expected_saving
from .._core.positive_class import RESPONSES, PositiveClass, own_cut, positive_class_scores
from .._core.prediction_costs import costs_for_predict, known_costs
from .._core.types import Mask, Vector

DECISION_VALUE, PROBABILITY, COST_RATIO, DECISION, GIVEN = (
    "the decision value for the target",
    "the probability of the target",
    "the logarithm of the expected cost of leaving it over that of acting on it (0: both cost the same)",
    "the decision itself",
    "the score",
)

LESS_OWN = "less the threshold of the model of its fold"  # of scores of several models, whose thresholds differ

# Probabilities of 0 and 1, and costs of nothing, have finite scores.
LEAST_PROBABILITY, LEAST_COST = 1e-15, float(np.finfo(np.float64).tiny)

TIE = 1e-9  # scores this close to the threshold, relative to it or to 1, may differ from it by rounding only


class ActionScores(NamedTuple):
    """Scores that are higher for rows to act on.

    values : (n,) float64; own_threshold : where the model itself turns to acting, nan if that is not known;
    kind : what the scores are, in words.
    """

    values: Vector
    own_threshold: float
    kind: str


def action_scores(
    model: Any, X: Any, decisions: Any, target: PositiveClass, *, fn_cost: Any, fp_cost: Any
) -> ActionScores:
    """Scores of a fitted classifier for rows with these costs, a number or (n,) each.

    decisions : (n,) bool, whether the model acts on each row, which stand in where it gives no scores.
    """
    decisions = np.asarray(decisions, dtype=bool)
    if costs_for_predict(model) and hasattr(model, "predict_proba"):
        p = positive_class_scores(model, X, pos_label=target.label, response_method="predict_proba").values
        costs = known_costs(model, X, {"fn_cost": fn_cost, "fp_cost": fp_cost})
        return cut_by_decisions(scores_by_costs(p, **costs), decisions)
    if not any(hasattr(model, response) for response in RESPONSES):
        return scores_of_decisions(decisions)
    found = positive_class_scores(model, X, pos_label=target.label)
    kind = PROBABILITY if own_cut(model, found.target)[0] == "predict_proba" else DECISION_VALUE
    return cut_by_decisions(ActionScores(found.values, found.own_threshold, kind), decisions)


def scores_by_costs(p: Vector, *, fn_cost: Any, fp_cost: Any) -> ActionScores:
    """Scores of a model that decides by the probabilities p (n,) of the target and costs, a number or (n,) each."""
    if np.ndim(fn_cost) == 0 and np.ndim(fp_cost) == 0:
        return ActionScores(p, float(fp_cost / (fn_cost + fp_cost)), PROBABILITY)
    odds = logit(np.clip(p, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY))
    ratio = np.log(np.maximum(fn_cost, LEAST_COST)) - np.log(np.maximum(fp_cost, LEAST_COST))
    saving, values = expected_saving(p, fn_cost, fp_cost), odds + ratio
    values = np.where(saving > 0.0, np.maximum(values, 0.0), np.minimum(values, np.nextafter(0.0, -1.0)))
    return ActionScores(np.where(saving == 0.0, 0.0, values), 0.0, COST_RATIO)


def cut_by_decisions(scores: ActionScores, decisions: Mask) -> ActionScores:
    """Scores that are at or above `own_threshold` exactly where the model acts; nan where no threshold does that.

    Scores at the threshold, up to rounding, are put on the side of their decision: classifiers break ties either way.
    """
    values, own = scores.values, scores.own_threshold
    tied = np.abs(values - own) <= TIE * max(1.0, abs(own))
    sided = np.where(decisions, np.maximum(values, own), np.minimum(values, np.nextafter(own, -np.inf)))
    values = np.where(tied, sided, values)
    if not np.array_equal(values >= own, decisions):
        least = np.min(scores.values[decisions], initial=np.inf)
        apart = np.max(scores.values[~decisions], initial=-np.inf) < least
        return scores._replace(own_threshold=float(least) if apart else np.nan)
    return scores._replace(values=values)


def scores_of_decisions(decisions: Any) -> ActionScores:
    """Decisions (n,) as scores, where there are no others: acting on nobody and on everybody are the other cuts."""
    return ActionScores(np.asarray(decisions, dtype=np.float64), 0.5, DECISION)
