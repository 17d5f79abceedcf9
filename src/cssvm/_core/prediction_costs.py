"""Costs of the samples to predict: which of them a classifier decides by, and how they reach its `predict`."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from .nested import deciding_estimator, unwrap
from .sklearn_compat import metadata_requests

COSTS = ("fn_cost", "fp_cost")


def costs_for_predict(estimator: Any) -> list[str]:
    """Names of the costs per sample that the predictions of a fitted classifier, pipeline or search depend on.

    These are parameters of `predict` of the estimator that decides inside. A classifier may say in `decides_by_costs`
    whether it decides by costs, or by which of them. With metadata routing costs can be declined:
    ``set_predict_request(fn_cost=False)``; a request that is not set is not declined.
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

    A cost that its `predict` takes is that of the samples, any other is what the classifier estimates or was made with:
    the true amount may reveal the class. If it has neither, the cost is that of the samples too.
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
