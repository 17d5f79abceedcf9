"""Costs of rows that `predict` is to decide by: which of them a classifier takes, and how they reach it."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from .nested import decider, opened

COSTS = ("fn_cost", "fp_cost")


def costs_for_predict(estimator: Any) -> list[str]:
    """The costs that the decisions of a fitted classifier, a pipeline or a search depend on, row by row.

    These are parameters of `predict` of what decides inside. A classifier that knows whether it decides by costs says
    so itself, in `decides_by_costs`: whether it does, or by which of them. With metadata routing one can refuse them,
    ``set_predict_request(fn_cost=False)``; what was not said is not refused.
    """
    inner = decider(estimator)
    own = getattr(inner, "decides_by_costs", True)
    if not own or not hasattr(inner, "predict"):
        return []
    taken = [name for name in COSTS if name in inspect.signature(inner.predict).parameters]
    return [name for name in taken if (own is True or name in own) and not refuses(inner, "predict", name)]


def decide(estimator: Any, X: Any, costs: dict[str, Any]) -> NDArray[Any]:
    """The decisions of a fitted classifier on X, by those of the costs that it decides by, with or without routing."""
    taken = {name: costs[name] for name in costs_for_predict(estimator) if name in costs}
    if not taken:
        return estimator.predict(X)
    inner, X = _at_decider(estimator, X)
    return inner.predict(X, **taken)


def known_costs(estimator: Any, X: Any, costs: dict[str, Any]) -> dict[str, Any]:
    """Both costs as a fitted classifier that decides by costs knows them when it decides on X.

    One that it takes is that of the rows, any other is what the classifier estimates or was made with: the true amount
    of a row may tell its class. Of a classifier that has neither, it is that of the rows too.
    """
    inner, taken, known = decider(estimator), costs_for_predict(estimator), dict(costs)
    for name in COSTS:
        if name in taken:
            continue
        if name == "fn_cost" and hasattr(inner, "predict_amount"):
            known[name] = inner.predict_amount(_at_decider(estimator, X)[1])
        elif hasattr(inner, name):
            known[name] = getattr(inner, name)
    return known


def _at_decider(estimator: Any, X: Any) -> tuple[Any, Any]:
    """What decides inside a fitted classifier, and X as it takes it."""
    while estimator is not (inner := opened(estimator)):
        for _, step in getattr(estimator, "steps", [])[:-1]:
            X = step.transform(X) if hasattr(step, "transform") else X  # "passthrough", or draws rows in training only
        estimator = inner
    return estimator, X


def row_costs(costs: dict[str, Any]) -> dict[str, Any]:
    """The costs, if one of them is given for each row: by numbers alone a classifier decides as it was made."""
    return costs if any(np.ndim(cost) for cost in costs.values()) else {}


def refuses(estimator: Any, method: str, name: str) -> bool:
    """Whether metadata routing is on and the user has said that this value is not for the method, or is elsewhere."""
    if not get_config()["enable_metadata_routing"] or not hasattr(estimator, "_get_metadata_request"):
        return False
    request = getattr(estimator._get_metadata_request(), method).requests.get(name)
    return request is not None and request is not True
