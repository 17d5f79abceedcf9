"""The sections of the report about the model and the data."""

from __future__ import annotations

import re
import reprlib
from typing import Any

import numpy as np

from .._core.nested import final_step, iter_outermost
from .._core.types import Status, Vector
from .._evaluation import HeldOutPredictions
from .._runtime.format import format_count, format_percent
from .sections import number

MAX_NAMES = 200  # of features, listed
MAX_TEXT = 300  # characters of a parameter's value
MAX_MODELS = 50
LEAST_GAP = 1e-5  # a smaller one is written as less than this
LARGE_GAP = 1e-2  # one of this size shows in the decisions
INDENT = re.compile(r"\n +")  # of continuation lines, which would be wider than a phone
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # of an object in memory, in its repr


def model_section(held_out: HeldOutPredictions) -> dict[str, Any]:
    """Parameters, those chosen by a search, and the SVMs inside with their certificates."""
    if not held_out.models:
        return {"name": ""}
    svms = [
        _svm(each, fold, trained)
        for fold, (model, trained) in enumerate(zip(held_out.models, held_out.n_trained, strict=True), 1)
        for each in iter_outermost(model, "n_support_")
    ]
    first = held_out.models[0]
    gaps = [each["gap_value"] for each in svms if each["gap_value"] is not None]
    return {
        "name": type(final_step(first)).__name__,
        "text": INDENT.sub("\n    ", ADDRESS.sub("", repr(first))),
        "chosen": _chosen(held_out.models),
        "svms": svms[:MAX_MODELS],
        "n_more": max(0, len(svms) - MAX_MODELS),
        "gap": _gap(max(gaps)) if gaps else "",
        "exact": bool(gaps) and max(gaps) < LARGE_GAP,
        "all": [(key, _text(value)) for key, value in sorted(first.get_params(deep=False).items())],
    }


def data_section(held_out: HeldOutPredictions, n_rows: int) -> dict[str, Any]:
    """Numbers of cases and features, classes and costs."""
    samples = held_out.scored.samples
    first = held_out.models[0] if held_out.models else None
    names = getattr(first, "feature_names_in_", None)
    n_features = getattr(first, "n_features_in_", None)
    return {
        "rows": format_count(n_rows),
        "positive": str(samples.positive_class.label),
        "classes": [
            {
                "name": str(label),
                "role": role,
                "rows": format_count(float(samples.weights[rows].sum())),
                "share": format_percent(float(samples.weights[rows].sum() / samples.weights.sum())),
                "cost": _spread(samples.cost[rows]),
                "error": error,
            }
            for label, role, rows, error in (
                (samples.positive_class.label, "positive", samples.positive, "missed"),
                (samples.positive_class.other, "negative", ~samples.positive, "false alarm"),
            )
        ],
        "weighted": bool(np.ptp(samples.weights) > 0),
        "n_features": None if n_features is None else format_count(n_features),
        "names": [] if names is None else [str(name) for name in names[:MAX_NAMES]],
        "n_more": 0 if names is None else max(0, len(names) - MAX_NAMES),
    }


def _spread(cost: Vector) -> str:
    """One number, or minimum, median and maximum."""
    if np.ptp(cost) == 0:
        return number(float(cost[0]))
    low, middle, high = np.quantile(cost, [0.0, 0.5, 1.0])
    return f"{number(low)} to {number(high)}, half of them up to {number(middle)}"


def _svm(svm: Any, fold: int, trained: int) -> dict[str, Any]:
    """A line of the table of SVMs."""
    n_support = int(np.sum(svm.n_support_))
    gap = getattr(svm, "dual_gap_", None)
    return {
        "fold": fold,
        "name": type(svm).__name__,
        "trained": format_count(trained) if trained else "",
        "support": format_count(n_support),
        "by_class": [(str(label), format_count(int(n))) for label, n in zip(svm.classes_, svm.n_support_, strict=True)],
        "share": format_percent(n_support / trained) if trained else "",
        "gap": "" if gap is None else _gap(gap).replace("less than ", "< "),
        "gap_value": gap,
        "objective": "" if gap is None else number(svm.primal_objective_),
        "bound": "" if gap is None else number(svm.dual_objective_),
        "status": Status(int(svm.fit_status_)).name.lower().replace("_", " "),
    }


def _gap(gap: float) -> str:
    """A duality gap in percent."""
    return f"less than {format_percent(LEAST_GAP)}" if gap < LEAST_GAP else format_percent(gap)


def _chosen(models: list[Any]) -> dict[str, Any] | None:
    """Parameters chosen by the search of each fold; None if nothing was searched."""
    found = [getattr(final_step(model), "best_params_", None) or {} for model in models]
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
