"""Arguments that pass costs, weights and groups to the `fit` of any model: a pipeline, a search, a wrapper.

Without metadata routing they are named after the steps of pipelines, and a search passes them on. With it they are
requested on the clone that is trained, unless the user has set a request. Costs go to the outermost classifier that
takes them, and not further in. A model whose classifier they cannot reach is rejected.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils.metadata_routing import get_routing_for_object

from .._core.classifier import BinaryClassifier
from .._core.decision import COSTS, is_request_denied
from .._core.nested import iter_nested_estimators, split_final_step
from .._core.sklearn_compat import is_search, metadata_requests, uses_groups

WEIGHT, GROUPS = "sample_weight", "groups"


def taker_of_costs(model: Any) -> Any:
    """The outermost classifier in a model that has costs of its own; None if there is none."""
    return next((each for each in iter_nested_estimators(model) if hasattr(each, "fn_cost")), None)


def for_fit(model: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    """Arguments of `fit` for the costs, weights and groups that it takes; requests are set on the model."""
    found = _routed(model, metadata) if get_config()["enable_metadata_routing"] else _by_steps(model, metadata)
    _check_costs_reach(model, metadata, {name.rpartition("__")[2] for name in found})
    return found


def _by_steps(model: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    """Arguments of `fit` without routing."""
    found: dict[str, Any] = {}
    prefix, last = split_final_step(model)
    while is_search(last):
        if GROUPS in metadata and uses_groups(last.cv):
            found[f"{prefix}{GROUPS}"] = metadata[GROUPS]
        inner, last = split_final_step(last.estimator)
        prefix += inner
    taken = [name for name in metadata if name in inspect.signature(last.fit).parameters and _wants(last, name)]
    return found | {f"{prefix}{name}": metadata[name] for name in taken}


def _routed(model: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    """Arguments of `fit` with routing, after setting the requests that the user has not set."""
    path, taker = list(iter_nested_estimators(model)), taker_of_costs(model)
    outside = path if taker is None else path[: path.index(taker) + 1]
    weighted = list(iter_nested_estimators(model, branches=True))
    for each in (model, *model.get_params().values()):
        if metadata_requests(each, "fit") is None:
            continue
        for method in ("fit", "score"):
            wanted = dict.fromkeys(COSTS, any(each is one for one in outside) and _wants(each, COSTS[0]))
            _request(each, method, wanted | {WEIGHT: any(each is one for one in weighted)})
        if not isinstance(each, BinaryClassifier):  # the searches here hand weights to their scorers themselves
            _request_of_scorers(each, any(each is one for one in weighted))
    names = get_routing_for_object(model).consumes("fit", metadata.keys())
    return {name: metadata[name] for name in names}


def _wants(estimator: Any, name: str) -> bool:
    """Whether `fit` uses the argument; `trains_by_costs` is False for classifiers that use costs in `predict` alone."""
    return name not in COSTS or getattr(estimator, "trains_by_costs", True)


def _request(estimator: Any, method: str, wanted: dict[str, bool]) -> None:
    """Set the requests that the user has not set."""
    requests = metadata_requests(estimator, method) or {}
    unset = {name: want for name, want in wanted.items() if name in requests and requests[name] is None}
    if unset:
        getattr(estimator, f"set_{method}_request")(**requests | unset)  # all: a scorer forgets what is not named


def _request_of_scorers(estimator: Any, weighted: bool) -> None:
    """Set the requests of the scorers of a search; a name becomes a scorer, which can hold a request."""
    scoring = getattr(estimator, "scoring", None)
    if isinstance(scoring, list | tuple | set):
        scoring = {name: name for name in scoring}
    scorers: dict[str, Any] = dict(scoring) if isinstance(scoring, Mapping) else {"": scoring}
    scorers = {
        name: get_scorer(each) if isinstance(each, str) and each in get_scorer_names() else each
        for name, each in scorers.items()
    }
    for each in scorers.values():
        if hasattr(each, "_score_func"):
            _request(each, "score", {WEIGHT: weighted and WEIGHT in inspect.signature(each._score_func).parameters})
    if scoring is not None:
        estimator.scoring = scorers if isinstance(scoring, Mapping) else scorers[""]


def _check_costs_reach(model: Any, metadata: dict[str, Any], reached: set[str]) -> None:
    """Raise if a classifier inside would train with costs that do not reach it."""
    taker = taker_of_costs(model)
    if taker is None or not _wants(taker, COSTS[0]):
        return
    can_take = inspect.signature(taker.fit).parameters
    for name in COSTS:
        if name not in metadata or name in reached or name not in can_take or is_request_denied(taker, "fit", name):
            continue
        if np.ndim(metadata[name]) or metadata[name] != getattr(taker, name):
            raise ValueError(
                f"{name} passed to evaluate does not reach {type(taker).__name__} inside {type(model).__name__}, which "
                f"would be trained with its own {name}={getattr(taker, name)!r}. Give it the same number, or enable "
                "metadata routing: sklearn.set_config(enable_metadata_routing=True)."
            )
