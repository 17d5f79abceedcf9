"""Costs of rows that `predict` is to decide by: which of them an estimator takes, and how they reach it."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import get_routing_for_object

COSTS = ("fn_cost", "fp_cost")


def costs_for_predict(estimator: Any) -> list[str]:
    """The costs that `predict` of a fitted classifier, a pipeline or a search takes for each row.

    With metadata routing these are the ones it requests; without, the parameters of its last step. A classifier that
    knows whether it decides by costs says so itself, in `decides_by_costs`: whether it does, or by which of them.
    """
    last = _last_step(estimator)
    own = getattr(last, "decides_by_costs", True)
    if not own:
        return []
    if get_config()["enable_metadata_routing"] and hasattr(estimator, "get_metadata_routing"):
        return sorted(get_routing_for_object(estimator).consumes("predict", COSTS))
    if not hasattr(last, "predict"):
        return []
    parameters = inspect.signature(last.predict).parameters
    return [name for name in COSTS if name in parameters and (own is True or name in own)]


def _last_step(estimator: Any) -> Any:
    """The last step of a pipeline, or of pipelines in it."""
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    return estimator


def decider_of(estimator: Any) -> Any:
    """What decides: the estimator, or the best one of a search whose own `predict` takes no costs."""
    while hasattr(estimator, "best_estimator_") and not hasattr(estimator, "decides_by_costs"):
        estimator = estimator.best_estimator_
    return estimator
