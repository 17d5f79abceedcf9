"""Decisions: the threshold of least cost, Bayes' rule, and costs that reach the `predict` of a classifier.

Bayes' rule predicts the positive class if p_i fn_cost_i > (1 - p_i) fp_cost_i. Where both sides are equal, as wherever
a decision function is 0, the prediction is ``classes_[0]``; `PositiveClass.predicted_positive` breaks this tie.

The threshold of least cost minimises

    cost(t) = sum over y_i = +1, score_i < t of s_i  +  sum over y_i = -1, score_i >= t of s_i,    s_i = w_i cost_i,

which is constant between neighbouring scores: one threshold between each two, and one beyond either end, are enough for
the exact minimum. `prefer` chooses among several thresholds of least cost:

    "highest"         the fewest samples are predicted positive, so that there are the fewest false positives
    "nearest_zero"    changes the predictions of a classifier that decides at zero the least; of two equally near ones
                      the lower, which has fewer false negatives

At the two ends all samples get one prediction. `beyond` is the distance of these thresholds from the extreme scores:
infinite if they are to hold for any score, finite if they are to be subtracted from scores.
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from .nested import deciding_estimator, unwrap
from .ranking import Ranking
from .sklearn_compat import metadata_requests
from .types import Mask, Vector
from .validation import check_sample_values

COSTS = ("fn_cost", "fp_cost")

Preference = Literal["highest", "nearest_zero"]

# Costs this close, relative to that of being wrong everywhere, are equal: sums in another order round differently.
RISK_TIE = 1e-12

# Scores of an SVM this close are equal, in units of its margin: it is trained up to an error of this size. Where it is
# constant, or free support vectors are at +-1, what is left of an order is the solver's error.
SCORE_TIE = 1e-3

# The finite distance of the outermost thresholds from the extreme scores: one margin.
ONE_MARGIN = 1.0


def score_tie(tol: float) -> float:
    """The difference up to which scores of SVMs trained with this `tol` are equal."""
    return max(SCORE_TIE, tol)


def cheapest_threshold(
    ranking: Ranking, positive: Mask, weighted_costs: Vector, *, prefer: Preference = "highest", beyond: float = np.inf
) -> float:
    """The threshold of least cost; positive, weighted_costs : (n_samples,) in the order of the ranking."""
    cost = ranking.cost_at_cuts(positive, weighted_costs)
    equal = cost <= cost.min() + RISK_TIE * weighted_costs.sum()
    if prefer == "highest":
        return ranking.threshold(int(np.argmax(equal)), beyond=beyond)
    thresholds = ranking.thresholds(np.flatnonzero(equal), beyond=beyond)
    distance = np.abs(thresholds)
    # In the order of the cuts thresholds fall.
    return float(thresholds[distance <= distance.min() + ranking.tie][-1])


def threshold_of_least_cost(
    scores: NDArray[Any],
    positive: Mask,
    weighted_costs: Vector,
    *,
    prefer: Preference = "highest",
    beyond: float = np.inf,
    tie: float = 0.0,
) -> float:
    """`cheapest_threshold` of samples in any order, of which at least one has a cost; those without one are absent."""
    counted = weighted_costs > 0
    scores, positive, weighted_costs = scores[counted], positive[counted], weighted_costs[counted]
    ranking = Ranking.from_scores(scores, tie=tie)
    positive, weighted_costs = positive[ranking.order], weighted_costs[ranking.order]
    return cheapest_threshold(ranking, positive, weighted_costs, prefer=prefer, beyond=beyond)


def expected_saving(probability: Any, fn_cost: Any, fp_cost: Any) -> Any:
    """By how much predicting positive lowers the expected cost: p * fn_cost - (1 - p) * fp_cost, (n,)."""
    return probability * fn_cost - (1.0 - probability) * fp_cost


def relative_saving(probability: Any, fn_cost: Any, fp_cost: Any) -> Any:
    """`expected_saving` / (fn_cost + fp_cost), (n,); -1 where both costs are 0, so that the prediction is negative."""
    total = np.asarray(fn_cost + fp_cost, dtype=np.float64)
    saving = expected_saving(probability, fn_cost, fp_cost)
    return np.divide(saving, total, out=np.full_like(saving, -1.0), where=total > 0)


class FreeDecisionWarning(UserWarning):
    """Samples on which neither decision costs anything."""


def check_decision_costs(fn_cost: Any, fp_cost: Any, n_samples: int) -> tuple[Vector, Vector]:
    """`check_both_costs` of samples to predict; warns if both are 0 on some, and raises if they are on all."""
    fn, fp = check_both_costs(fn_cost, fp_cost, n_samples, reason="as the labels are not known")
    if fn.ndim == 0 and fp.ndim == 0 and fn == fp == 0:
        raise ValueError("fn_cost and fp_cost must not both be 0 for all samples. Give one of the costs a value.")
    n_free = np.count_nonzero(np.broadcast_to((fn == 0) & (fp == 0), n_samples))
    if n_free:
        warnings.warn(
            f"fn_cost and fp_cost are both 0 on {n_free} of {n_samples} samples, where either decision costs nothing: "
            "the negative class is predicted.",
            FreeDecisionWarning,
            stacklevel=5,
        )
    return fn, fp


def check_both_costs(
    fn_cost: Any, fp_cost: Any, n_samples: int, *, reason: str, fix: str = ""
) -> tuple[Vector, Vector]:
    """Both costs of all samples whatever their labels, shape () or (n_samples,) each; `reason` says why both."""
    where = f", {reason}"
    fn = check_sample_values("fn_cost", fn_cost, n_samples, where=where, fix=fix)
    return fn, check_sample_values("fp_cost", fp_cost, n_samples, where=where, fix=fix)


def costs_for_predict(estimator: Any) -> list[str]:
    """Names of the costs per sample that the predictions of a fitted classifier, pipeline or search depend on.

    These are parameters of `predict` of the deciding estimator, unless its `decides_by_costs` (a bool or names)
    excludes them, or metadata routing declines them: ``set_predict_request(fn_cost=False)``.
    """
    inner = deciding_estimator(estimator)
    own = getattr(inner, "decides_by_costs", True)
    if not own or not hasattr(inner, "predict"):
        return []
    taken = [name for name in COSTS if name in inspect.signature(inner.predict).parameters]
    return [name for name in taken if (own is True or name in own) and not is_request_denied(inner, "predict", name)]


def predict_with_costs(estimator: Any, X: Any, costs: dict[str, Any]) -> NDArray[Any]:
    """Predictions of a fitted classifier by those of the costs that it uses, with or without metadata routing."""
    taken = {name: costs[name] for name in costs_for_predict(estimator) if name in costs}
    if not taken:
        return estimator.predict(X)
    inner, X = _transform_for_decider(estimator, X)
    return inner.predict(X, **taken)


def known_costs(estimator: Any, X: Any, costs: dict[str, Any]) -> dict[str, Any]:
    """Both costs as a fitted classifier that decides by costs knows them when it predicts.

    A cost that its `predict` does not take is what it estimates or was made with, as the true one may reveal the class.
    """
    inner, taken, known = deciding_estimator(estimator), costs_for_predict(estimator), dict(costs)
    for name in COSTS:
        if name in taken:
            continue
        if name == "fn_cost" and hasattr(inner, "predict_amount"):
            known[name] = inner.predict_amount(_transform_for_decider(estimator, X)[1])
        elif hasattr(inner, name):
            known[name] = getattr(inner, name)
    return known


def _transform_for_decider(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The estimator that decides, and X as it is passed to it."""
    while estimator is not (inside := unwrap(estimator)):
        for _, step in getattr(estimator, "steps", [])[:-1]:
            X = step.transform(X) if hasattr(step, "transform") else X  # not "passthrough" and resamplers
        estimator = inside
    return estimator, X


def per_sample_costs(costs: dict[str, Any]) -> dict[str, Any]:
    """The costs if one of them is given per sample, else none: a classifier knows the costs of classes already."""
    return costs if any(np.ndim(cost) for cost in costs.values()) else {}


def is_request_denied(estimator: Any, method: str, name: str) -> bool:
    """Whether metadata routing is on and the user has set the request of this value to False, or to another name."""
    if not get_config()["enable_metadata_routing"]:
        return False
    request = (metadata_requests(estimator, method) or {}).get(name)
    return request is not None and request is not True
