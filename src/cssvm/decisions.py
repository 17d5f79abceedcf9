"""Costs of rows that `predict` is to decide by: which of them a classifier takes, and how they reach it."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

COSTS = ("fn_cost", "fp_cost")


def costs_for_predict(estimator: Any) -> list[str]:
    """The costs that the decisions of a fitted classifier, a pipeline or a search depend on, row by row.

    These are parameters of `predict` of what decides inside. A classifier that knows whether it decides by costs says
    so itself, in `decides_by_costs`: whether it does, or by which of them. With metadata routing one can refuse them,
    ``set_predict_request(fn_cost=False)``; what was not said is not refused.
    """
    decider = _decider(estimator)
    own = getattr(decider, "decides_by_costs", True)
    if not own or not hasattr(decider, "predict"):
        return []
    taken = [name for name in COSTS if name in inspect.signature(decider.predict).parameters]
    return [name for name in taken if (own is True or name in own) and not refuses(decider, "predict", name)]


def decide(estimator: Any, X: Any, costs: dict[str, Any]) -> NDArray[Any]:
    """The decisions of a fitted classifier on X, by those of the costs that it decides by, with or without routing."""
    taken = {name: costs[name] for name in costs_for_predict(estimator) if name in costs}
    if not taken:
        return estimator.predict(X)
    while estimator is not (inner := _opened(estimator)):
        for _, step in getattr(estimator, "steps", [])[:-1]:
            X = step.transform(X) if hasattr(step, "transform") else X  # "passthrough", or draws rows in training only
        estimator = inner
    return estimator.predict(X, **taken)


def row_costs(costs: dict[str, Any]) -> dict[str, Any]:
    """The costs, if one of them is given for each row: by numbers alone a classifier decides as it was made."""
    return costs if any(np.ndim(cost) for cost in costs.values()) else {}


def refuses(estimator: Any, method: str, name: str) -> bool:
    """Whether metadata routing is on and the user has said that this value is not for the method, or is elsewhere."""
    if not get_config()["enable_metadata_routing"] or not hasattr(estimator, "_get_metadata_request"):
        return False
    request = getattr(estimator._get_metadata_request(), method).requests.get(name)
    return request is not None and request is not True


def _decider(estimator: Any) -> Any:
    """What decides in pipelines and searches."""
    while estimator is not (inner := _opened(estimator)):
        estimator = inner
    return estimator


def _opened(estimator: Any) -> Any:
    """The last step of a pipeline, or the best estimator of a search whose own `predict` takes no costs."""
    if hasattr(estimator, "best_estimator_") and not hasattr(estimator, "decides_by_costs"):
        return estimator.best_estimator_
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
