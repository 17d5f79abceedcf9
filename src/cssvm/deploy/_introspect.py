"""What a card tells of a fitted model: its classes, costs, parameters, columns and certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._core.nested import final_step, iter_nested_estimators
from .._core.positive_class import PositiveClass, stated_pos_label
from .._core.sklearn_compat import column_indices
from .._kernels import KERNELS
from .._solvers.dual import Status
from ._card import CATEGORY, NUMBER, PLAIN, Column


def describe_model(model: Any) -> dict[str, Any]:
    """The fields of a `ModelCard` that can be read from a fitted model."""
    check_is_fitted(model)
    classes = np.asarray(getattr(model, "classes_", ()))
    if classes.shape != (2,):
        kind = type(model).__name__
        raise ValueError(f"model must be a fitted classifier of two classes; got {kind} with {classes.tolist()}.")
    estimator = final_step(model)
    positive = PositiveClass.from_labels(classes, stated_pos_label(model))
    return {
        "classes": positive.classes.tolist(),
        "pos_label": positive.classes.tolist()[positive.index],
        "fn_cost": _cost(estimator, "fn_cost"),
        "fp_cost": _cost(estimator, "fp_cost"),
        "columns": model_columns(model),
        "certificate": _certificate(estimator),
        "parameters": _parameters(estimator),
    }


def _cost(estimator: Any, name: str) -> float | None:
    """The cost by which an estimator decides; None if there is none, or fit was given one for each sample."""
    fitted = getattr(estimator, "_fit_costs", None)
    value = getattr(estimator, name, None) if fitted is None else fitted[name]
    return None if value is None else float(value)


def _certificate(estimator: Any) -> dict[str, Any]:
    """Objectives, duality gap and status of the SVM that scores samples; empty if there is none, or several."""
    for each in iter_nested_estimators(estimator):
        if hasattr(each, "calibrated_classifiers_"):
            break
        if hasattr(each, "dual_gap_"):
            return {
                "primal": each.primal_objective_,
                "dual": each.dual_objective_,
                "gap": each.dual_gap_,
                "status": Status(each.fit_status_).name.lower().replace("_", " "),
            }
    return {}


def _parameters(estimator: Any) -> dict[str, Any]:
    """Parameters that are plain values, with those that fit or a search has found."""
    given = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    plain = {name: value for name, value in given.items() if isinstance(value, PLAIN)}
    found = {name: getattr(estimator, f"{name}_") for name in ("C", "gamma") if hasattr(estimator, f"{name}_")}
    best = getattr(estimator, "best_params_", {})
    kernel = (best or given).get("kernel", plain.get("kernel"))
    if isinstance(kernel, str) and kernel in KERNELS and "gamma" not in KERNELS[kernel].parameters:
        found.pop("gamma", None)
    return {"estimator": type(estimator).__name__, **plain, **found, **best}


def model_columns(model: Any) -> list[Column]:
    """The columns that a fitted model reads; those that an encoder of strings reads are categories."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x{i}" for i in range(getattr(model, "n_features_in_", 0))]
    categories = _categories(_first_step(model))
    return [
        Column(str(name), CATEGORY, "str", categories[i]) if i in categories else Column(str(name), NUMBER)
        for i, name in enumerate(names)
    ]


def _first_step(model: Any) -> Any:
    """The part of a model that is given the columns of the table."""
    inner = [getattr(model, name, None) for name in ("transformer_", "best_estimator_", "svc_", "estimator_")]
    inner += [step for _, step in getattr(model, "steps", ())[:1]]
    inner += [each.estimator for each in getattr(model, "calibrated_classifiers_", ())[:1]]
    return next((_first_step(part) for part in inner if part is not None), model)


def _categories(reader: Any) -> dict[int, list[str]]:
    """String categories by the number of the column that a one-hot or ordinal encoder reads them from."""
    if not hasattr(reader, "transformers_"):
        branches = [(reader, list(range(getattr(reader, "n_features_in_", 0))))]
    else:
        branches = [(part, list(column_indices(reader, name))) for name, part, _ in reader.transformers_]
    found: dict[int, list[str]] = {}
    for branch, columns in branches:
        steps = [step for _, step in getattr(branch, "steps", [("", branch)])]
        known = next((step.categories_ for step in steps if hasattr(step, "categories_")), ())
        for column, categories in zip(columns, known, strict=False):
            if categories.dtype.kind in "OUT":
                found[int(column)] = [each for each in categories.tolist() if isinstance(each, str)]
    return found
