"""What is known of the model, the data and the program: certificates, support vectors, parameters, versions."""

from __future__ import annotations

import platform
import re
import reprlib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from .. import __version__
from .._core.types import Vector
from .._evaluation import HeldOutDecisions
from .numbers import count, number, percent

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
MAX_NAMES = 200  # of features, listed
MAX_TEXT = 300  # characters of a parameter's value
MAX_MACHINES = 50
LEAST_GAP = 1e-5  # a smaller one is written as less than this
LARGE_GAP = 1e-2  # one of this size shows in the decisions
INDENT = re.compile(r"\n +")  # of what goes on on the next line, which would be wider than a phone
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # of an object in memory, in what Python writes of it
STATUS = {0: "converged", 1: "iteration limit", 2: "stalled"}


def model_facts(held_out: HeldOutDecisions) -> dict[str, Any]:
    """Parameters, what a search chose, and the support vector machines inside, with their certificates."""
    if not held_out.models:
        return {"name": ""}
    machines = [
        _machine(each, fold, trained)
        for fold, (model, trained) in enumerate(zip(held_out.models, held_out.n_trained, strict=True), 1)
        for each in _machines(model)
    ]
    first = held_out.models[0]
    gaps = [each["gap_value"] for each in machines if each["gap_value"] is not None]
    return {
        "name": type(_last(first)).__name__,
        "text": INDENT.sub("\n    ", ADDRESS.sub("", repr(first))),
        "chosen": _chosen(held_out.models),
        "machines": machines[:MAX_MACHINES],
        "n_more": max(0, len(machines) - MAX_MACHINES),
        "gap": _gap(max(gaps)) if gaps else "",
        "exact": bool(gaps) and max(gaps) < LARGE_GAP,
        "all": [(key, _text(value)) for key, value in sorted(first.get_params(deep=False).items())],
    }


def data_facts(held_out: HeldOutDecisions, n_rows: int) -> dict[str, Any]:
    """Rows, classes, costs and features."""
    sample = held_out.sample
    first = held_out.models[0] if held_out.models else None
    names = getattr(first, "feature_names_in_", None)
    n_features = getattr(first, "n_features_in_", None)
    return {
        "rows": count(n_rows),
        "target": str(sample.target.label),
        "other": str(sample.target.other),
        "classes": [
            {
                "name": str(label),
                "role": role,
                "rows": count(float(sample.weights[rows].sum())),
                "share": percent(float(sample.weights[rows].sum() / sample.weights.sum())),
                "cost": _spread(sample.cost[rows]),
                "error": error,
            }
            for label, role, rows, error in (
                (sample.target.label, "target", sample.positive, "missed"),
                (sample.target.other, "other", ~sample.positive, "false alarm"),
            )
        ],
        "weighted": bool(np.ptp(sample.weights) > 0),
        "n_features": None if n_features is None else count(n_features),
        "names": [] if names is None else [str(name) for name in names[:MAX_NAMES]],
        "n_more": 0 if names is None else max(0, len(names) - MAX_NAMES),
    }


def versions() -> list[tuple[str, str]]:
    """What computed the numbers."""
    return [("cssvm", __version__), ("Python", platform.python_version()), *_installed()]


def _installed() -> Iterator[tuple[str, str]]:
    for name in PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue


def _spread(cost: Vector) -> str:
    """One number, or the least, the middle and the largest."""
    if np.ptp(cost) == 0:
        return number(float(cost[0]))
    low, middle, high = np.quantile(cost, [0.0, 0.5, 1.0])
    return f"{number(low)} to {number(high)}, half of them up to {number(middle)}"


def _last(model: Any) -> Any:
    """The last step of a pipeline."""
    while hasattr(model, "steps"):
        model = model.steps[-1][1]
    return model


def _machines(model: Any) -> Iterator[Any]:
    """The fitted support vector machines inside a model: of a pipeline, a search, a wrapper or a calibration."""
    model = _last(model)
    if hasattr(model, "n_support_"):
        yield model
        return
    inner = [getattr(model, name) for name in ("best_estimator_", "estimator_", "svc_") if hasattr(model, name)]
    inner += [each.estimator for each in getattr(model, "calibrated_classifiers_", [])]
    for each in inner:
        yield from _machines(each)


def _machine(machine: Any, fold: int, trained: int) -> dict[str, Any]:
    """A line of the table of machines."""
    n_support = int(np.sum(machine.n_support_))
    gap = getattr(machine, "dual_gap_", None)
    return {
        "fold": fold,
        "name": type(machine).__name__,
        "trained": count(trained) if trained else "",
        "support": count(n_support),
        "by_class": [
            (str(label), count(int(n))) for label, n in zip(machine.classes_, machine.n_support_, strict=True)
        ],
        "share": percent(n_support / trained) if trained else "",
        "gap": "" if gap is None else _gap(gap).replace("less than ", "< "),
        "gap_value": gap,
        "objective": "" if gap is None else number(machine.primal_objective_),
        "bound": "" if gap is None else number(machine.dual_objective_),
        "status": STATUS.get(int(machine.fit_status_), ""),
    }


def _gap(gap: float) -> str:
    return f"less than {percent(LEAST_GAP)}" if gap < LEAST_GAP else percent(gap)


def _chosen(models: list[Any]) -> dict[str, Any] | None:
    """What the search of each fold has chosen; None if nothing was searched."""
    found = [getattr(_last(model), "best_params_", None) or {} for model in models]
    if not all(found):
        return None
    names = list(dict.fromkeys(name for each in found for name in each))
    return {"names": names, "lines": [[_text(each.get(name, "")) for name in names] for each in found]}


def _text(value: Any) -> str:
    """A parameter's value, shortened."""
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    text = ADDRESS.sub("", repr(value)) if not isinstance(value, str) else value
    return text if len(text) <= MAX_TEXT else reprlib.repr(text)
