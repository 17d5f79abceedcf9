"""Estimators inside estimators: pipelines, searches, calibrations, ensembles and wrappers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# Where scikit-learn and this library keep the one estimator that another wraps, the fitted one first.
WRAPPED = ("best_estimator_", "estimator_", "svc_", "estimator")

# Further estimators that are trained on the same samples.
FURTHER = ("amount_estimator", "final_estimator")


def iter_nested_estimators(estimator: Any, *, branches: bool = False) -> Iterator[Any]:
    """The estimator, then what is inside it, from the outside in: the first at each level, or all with `branches`."""
    yield estimator
    inside = inner_estimators(estimator)
    for each in inside if branches else inside[:1]:
        yield from iter_nested_estimators(each, branches=branches)


def iter_outermost(estimator: Any, attribute: str) -> Iterator[Any]:
    """The estimators that have this attribute, each the outermost of its branch."""
    if hasattr(estimator, attribute):
        yield estimator
        return
    for each in inner_estimators(estimator):
        yield from iter_outermost(each, attribute)


def inner_estimators(estimator: Any) -> list[Any]:
    """The estimators directly inside another that are trained on y, fitted ones if there are any."""
    if hasattr(estimator, "steps"):
        found = [estimator.steps[-1][1]]
    elif hasattr(estimator, "calibrated_classifiers_"):
        found = [each.estimator for each in estimator.calibrated_classifiers_]
    else:
        wrapped = (getattr(estimator, name, None) for name in WRAPPED)
        found = [each for each in wrapped if hasattr(each, "fit")][:1]
    members = getattr(estimator, "estimators", None)
    found += [each[1] for each in members if isinstance(each, tuple)] if isinstance(members, list) else []
    found += [getattr(estimator, name, None) for name in FURTHER]
    return [each for each in found if hasattr(each, "fit")]


def final_step(estimator: Any) -> Any:
    """The estimator, or the last step of a pipeline, which may be a pipeline's."""
    return split_final_step(estimator)[1]


def split_final_step(estimator: Any) -> tuple[str, Any]:
    """The prefix of the parameters of the last step, such as "svc__" or "", and that step."""
    prefix = ""
    while getattr(estimator, "steps", None):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return prefix, estimator


def deciding_estimator(estimator: Any) -> Any:
    """The estimator that makes the predictions of fitted pipelines and searches."""
    while estimator is not (inside := unwrap(estimator)):
        estimator = inside
    return estimator


def unwrap(estimator: Any) -> Any:
    """The last step of a pipeline, or the best estimator of a search whose own `predict` takes no costs."""
    if hasattr(estimator, "best_estimator_") and not hasattr(estimator, "decides_by_costs"):
        return estimator.best_estimator_
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
