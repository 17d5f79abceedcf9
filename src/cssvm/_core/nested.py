"""How classifiers are nested: pipelines, searches, calibrations, ensembles and wrappers, from the outside in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# Where scikit-learn and this library keep what an estimator is made around, the trained one first.
AROUND = ("best_estimator_", "estimator")


def iter_nested_estimators(estimator: Any) -> Iterator[Any]:
    """The estimator, what it is around, what that is around, and so on."""
    while estimator is not None:
        yield estimator
        estimator = _inner(estimator)


def _inner(estimator: Any) -> Any:
    """The last step of a pipeline, the best or the only estimator of another, the first member of an ensemble."""
    if hasattr(estimator, "steps"):
        return estimator.steps[-1][1]
    for name in AROUND:
        if hasattr(getattr(estimator, name, None), "fit"):
            return getattr(estimator, name)
    members = getattr(estimator, "estimators", None)
    return members[0][1] if isinstance(members, list) and members and isinstance(members[0], tuple) else None


def decider(estimator: Any) -> Any:
    """What decides in fitted pipelines and searches."""
    while estimator is not (inner := opened(estimator)):
        estimator = inner
    return estimator


def opened(estimator: Any) -> Any:
    """The last step of a pipeline, or the best estimator of a search whose own `predict` takes no costs."""
    if hasattr(estimator, "best_estimator_") and not hasattr(estimator, "decides_by_costs"):
        return estimator.best_estimator_
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
