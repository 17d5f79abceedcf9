"""Decisions by costs: the costs of all four outcomes, Bayes' rule, and costs that reach the `predict` of a classifier.

Bayes' rule predicts the positive class if p_i fn_cost_i > (1 - p_i) fp_cost_i. Where both sides are equal, as wherever
a decision function is 0, the prediction is ``classes_[0]``; `PositiveClass.predicted_positive` breaks this tie.

With costs of all four outcomes the rule is p (fn_cost - tp_cost) > (1 - p) (fp_cost - tn_cost): only the two
differences matter, and they are the fn_cost and fp_cost of the rest of this library. Where one of them is negative or 0
the better action does not depend on the class: a donation worth less than the letter is never worth the letter.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from .nested import deciding_estimator, unwrap
from .samples import Samples
from .sklearn_compat import metadata_requests
from .types import Vector
from .validation import align_to_samples, as_floats, check_sample_values, is_pandas

COSTS = ("fn_cost", "fp_cost")
OUTCOMES = ("tp_cost", "fp_cost", "tn_cost", "fn_cost")
NEGLIGIBLE = float(np.finfo(np.float64).eps)  # relative to the other cost


@dataclass(frozen=True, eq=False)
class CostMatrix:
    """`fn_cost` and `fp_cost`, which unpack with ``**`` into the arguments of `fit`, `predict`, metrics and `evaluate`.

    fn_cost, fp_cost : float or (n_samples,), at least 0; fixed : 0 where the better action depends on the class, +1
    where acting and -1 where leaving is never worse, a number or (n_samples,); outcomes : the four costs as given, for
    ``income(y, decisions, **costs.outcomes)``.
    """

    fn_cost: Any
    fp_cost: Any
    fixed: Any
    outcomes: dict[str, Any]

    def keys(self) -> Iterator[str]:
        """Names of the entries, for ``**``."""
        return iter(COSTS)

    def __getitem__(self, name: str) -> Any:
        if name not in COSTS:
            raise KeyError(name)
        return getattr(self, name)

    @property
    def n_fixed(self) -> int:
        """Number of samples on which the better action does not depend on the class."""
        return int(np.count_nonzero(self.fixed))

    def training(self, y: Any, *, pos_label: Any = None) -> tuple[NDArray[Any], dict[str, Any]]:
        """Labels and costs to train with, for decisions that know no costs of single samples.

        A positive sample that is better left alone gets the negative label, at what acting on it costs more; a negative
        sample that is better acted on gets the positive label.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels of two classes.
        pos_label : label, default=None
            The positive class. If None, the larger label.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        costs : dict with fn_cost and fp_cost
        """
        samples = Samples.from_labels(y, pos_label=pos_label)
        fn_cost, fp_cost = _differences(align_to_samples(None, y, **self.outcomes))
        own = np.where(samples.positive, fn_cost, fp_cost)
        labels = np.asarray(y).copy()
        labels[(own < 0.0) & samples.positive] = samples.positive_class.other
        labels[(own < 0.0) & ~samples.positive] = samples.positive_class.label
        return labels, {"fn_cost": np.abs(own), "fp_cost": np.abs(own)}

    def __repr__(self) -> str:
        costs = ", ".join(f"{name}={_format_range(self[name])}" for name in COSTS)
        if not np.ndim(self.fixed):
            return f"CostMatrix({costs})"
        return f"CostMatrix({costs}, {np.size(self.fixed):,} samples, {self.n_fixed:,} of them decided by their costs)"


def decision_costs(*, tp_cost: Any = 0.0, fp_cost: Any = 0.0, tn_cost: Any = 0.0, fn_cost: Any = 0.0) -> CostMatrix:
    """fn_cost and fp_cost for training and decisions, from what all four outcomes cost.

    Parameters
    ----------
    tp_cost, fp_cost : float or array-like of shape (n_samples,), default=0.0
        What acting on a positive and on a negative sample costs. Negative: it earns that much. Missing values stay
        missing: the amount of a negative sample may not be known.
    tn_cost, fn_cost : float or array-like of shape (n_samples,), default=0.0
        What leaving a negative and a positive sample alone costs.

    Returns
    -------
    CostMatrix
        It unpacks with ``**`` into fn_cost = fn_cost - tp_cost and fp_cost = fp_cost - tn_cost, each at least 0, and
        marks the samples that are decided by their costs alone (`fixed`, `n_fixed`).

    Examples
    --------
    A letter costs 0.68, and a donor gives 10, 20 or 0.50, which is not worth the letter:

    >>> from cssvm import decision_costs
    >>> costs = decision_costs(tp_cost=[0.68 - 10, 0.68 - 20, 0.68 - 0.5], fp_cost=0.68)
    >>> costs.fn_cost.round(2), costs.fp_cost
    (array([ 9.32, 19.32,  0.  ]), array([0.68, 0.68, 0.68]))
    >>> costs
    CostMatrix(fn_cost=0 to 19.3, fp_cost=0.68, 3 samples, 1 of them decided by their costs)
    """
    given = {"tp_cost": tp_cost, "fp_cost": fp_cost, "tn_cost": tn_cost, "fn_cost": fn_cost}
    indexes = [value.index for value in given.values() if is_pandas(value)]
    if not all(index.equals(indexes[0]) for index in indexes):
        raise ValueError("costs that are pandas Series must have the same index; got different ones.")
    fn, fp = _differences(given)
    both_negative = (fn < 0.0) & (fp < 0.0)
    if both_negative.any():
        raise ValueError(
            "fn_cost - tp_cost and fp_cost - tn_cost must not both be negative, as wrong decisions would be the better "
            f"ones; got this on {np.count_nonzero(both_negative)} samples, first in row {np.argmax(both_negative)}. "
            "Check the signs: what earns money is a negative cost."
        )
    leaving = (fn < 0.0) | ((fn == 0.0) & (fp >= 0.0))
    acting = (fp < 0.0) | ((fp == 0.0) & (fn > 0.0))
    fixed = np.where(leaving, -1, np.where(acting, 1, 0))
    index = indexes[0] if indexes else None
    return CostMatrix(
        fn_cost=_clipped(fn, fp, index),
        fp_cost=_clipped(fp, fn, index),
        fixed=fixed if fixed.ndim else fixed.item(),
        outcomes=given,
    )


def _differences(given: dict[str, Any]) -> tuple[Vector, Vector]:
    """fn_cost - tp_cost and fp_cost - tn_cost, numbers or (n,) each."""
    costs = {name: as_floats(name, given[name], "Pass one number, or one for each sample.") for name in OUTCOMES}
    shapes = {value.shape for value in costs.values() if value.ndim}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        raise ValueError(
            f"{', '.join(OUTCOMES)} must be numbers, or hold one value for each sample, all of one length; got shapes "
            f"{[value.shape for value in costs.values()]}."
        )
    for name, value in costs.items():
        if np.isinf(value).any():
            raise ValueError(f"{name} must be finite; got {name}={value[np.isinf(value)].flat[0]}.")
    return costs["fn_cost"] - costs["tp_cost"], costs["fp_cost"] - costs["tn_cost"]


def _clipped(own: Vector, other: Vector, index: Any) -> Any:
    """A difference of costs, at least 0: a number, an array, or a Series with the index that the costs came with.

    Where it is 0 and the other one negative, it is negligible but positive, so that acting is still the better one.
    """
    values = np.where((own == 0.0) & (other < 0.0), NEGLIGIBLE * np.abs(other), np.maximum(own, 0.0))
    if values.ndim == 0:
        return values.item()
    if index is None:
        return values
    import pandas as pd  # the costs came as a Series of it

    return pd.Series(np.broadcast_to(values, len(index)), index=index)


def _format_range(values: Any) -> str:
    low, high = np.nanmin(values), np.nanmax(values)
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"


def expected_saving(probability: Any, fn_cost: Any, fp_cost: Any) -> Any:
    """P * fn_cost - (1 - p) * fp_cost, (n,): by how much predicting positive lowers the expected cost."""
    return probability * fn_cost - (1.0 - probability) * fp_cost


def relative_saving(probability: Any, fn_cost: Any, fp_cost: Any) -> Any:
    """`expected_saving` / (fn_cost + fp_cost), (n,); -1 where both costs are 0, so that the prediction is negative."""
    total = np.asarray(fn_cost + fp_cost, dtype=np.float64)
    saving = expected_saving(probability, fn_cost, fp_cost)
    return np.divide(saving, total, out=np.full_like(saving, -1.0), where=total > 0)


class FreeDecisionWarning(UserWarning):
    """Samples on which neither decision costs anything."""


def check_decision_costs(fn_cost: Any, fp_cost: Any, n_samples: int) -> tuple[Vector, Vector]:
    """`check_both_costs` of samples to predict; warns if both are 0 on some, and raises if they are on all."""
    fn, fp = check_both_costs(fn_cost, fp_cost, n_samples, reason="as the labels are not known")
    if fn.ndim == 0 and fp.ndim == 0 and fn == fp == 0:
        raise ValueError("fn_cost and fp_cost must not both be 0 for all samples. Give one of the costs a value.")
    n_free = np.count_nonzero(np.broadcast_to((fn == 0) & (fp == 0), n_samples))
    if n_free:
        warnings.warn(
            f"fn_cost and fp_cost are both 0 on {n_free} of {n_samples} samples, where either decision costs nothing: "
            "the negative class is predicted.",
            FreeDecisionWarning,
            stacklevel=5,
        )
    return fn, fp


def check_both_costs(
    fn_cost: Any, fp_cost: Any, n_samples: int, *, reason: str, fix: str = ""
) -> tuple[Vector, Vector]:
    """Both costs of all samples whatever their labels, shape () or (n_samples,) each; `reason` says why both."""
    where = f", {reason}"
    fn = check_sample_values("fn_cost", fn_cost, n_samples, where=where, fix=fix)
    return fn, check_sample_values("fp_cost", fp_cost, n_samples, where=where, fix=fix)


def costs_for_predict(estimator: Any) -> list[str]:
    """Names of the costs per sample that the predictions of a fitted classifier, pipeline or search depend on.

    These are parameters of `predict` of the deciding estimator, unless its `decides_by_costs` (a bool or names)
    excludes them, or metadata routing declines them: ``set_predict_request(fn_cost=False)``.
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

    A cost that its `predict` does not take is what it estimates or was made with, as the true one may reveal the class.
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
