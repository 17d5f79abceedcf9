"""Income of predictions, and what they save against the same prediction for all samples.

income  = -sum_i w_i cost_i          with the cost of sample i's outcome: tp, fp, tn or fn
savings = 1 - cost / min(cost of predicting all positive, cost of predicting all negative)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._core.alignment import is_pandas
from .._core.cost_matrix import OUTCOMES
from .._core.samples import Samples
from .._core.types import Mask, Vector
from .._core.validation import as_floats

ONE_OR_EACH = "Pass one number, or one for each sample of y_true."


class ActionCosts(NamedTuple):
    """What acting on each sample (predicting it positive) costs, and what skipping it costs: (n_samples,) each."""

    act: Vector
    skip: Vector

    @classmethod
    def from_outcomes(cls, samples: Samples, outcomes: dict[str, Any]) -> ActionCosts:
        """From the costs of the four outcomes, numbers or (n_samples,) each."""
        tp, fp, tn, fn = (np.asarray(outcomes[name], dtype=np.float64) for name in OUTCOMES)
        return cls(np.where(samples.positive, tp, fp), np.where(samples.positive, fn, tn))

    @classmethod
    def from_errors(cls, samples: Samples) -> ActionCosts:
        """A true positive earns what a false negative would cost, a false positive costs its cost, skipping nothing."""
        return cls(np.where(samples.positive, -samples.cost, samples.cost), np.zeros(len(samples)))

    def take(self, chosen: Any) -> ActionCosts:
        """The costs of some of the samples."""
        return ActionCosts(self.act[chosen], self.skip[chosen])


def income(
    y_true: Any,
    y_pred: Any,
    *,
    tp_benefit: Any = None,
    fp_benefit: Any = None,
    tn_benefit: Any = None,
    fn_benefit: Any = None,
    tp_cost: Any = None,
    fp_cost: Any = None,
    tn_cost: Any = None,
    fn_cost: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Income of predictions: the sum of the benefits of all outcomes. Higher is better.

    Each outcome has a benefit or a cost, whichever is more natural: one is minus the other.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, or of one.
    y_pred : array-like of shape (n_samples,)
        Predictions, with the labels of `y_true`.
    tp_benefit, fp_benefit : float or array-like of shape (n_samples,), default=None
        Benefit of a true positive and of a false positive. If None, it is 0.
    tn_benefit, fn_benefit : float or array-like of shape (n_samples,), default=None
        Benefit of a true negative and of a false negative. Entries of an array count only on samples with that outcome;
        the others may be missing. A pandas Series is matched to `y_true` by index if both have one.
    tp_cost, fp_cost, tn_cost, fn_cost : float or array-like of shape (n_samples,), default=None
        Cost of an outcome, in place of its benefit.
    pos_label, sample_weight
        As in `cost_risk`.

    Returns
    -------
    float
        The income, in the unit of the costs.

    Examples
    --------
    Three letters at 0.68 each bring one donation of 20:

    >>> from cssvm.metrics import income
    >>> donation = [20, 0, 0, 5]
    >>> gave, mailed = [1, 0, 0, 1], [1, 1, 1, 0]
    >>> print(round(income(gave, mailed, tp_benefit=[d - 0.68 for d in donation], fp_cost=0.68), 2))
    17.96
    """
    costs = {"tp_cost": tp_cost, "fp_cost": fp_cost, "tn_cost": tn_cost, "fn_cost": fn_cost}
    benefits = {"tp_benefit": tp_benefit, "fp_benefit": fp_benefit, "tn_benefit": tn_benefit, "fn_benefit": fn_benefit}
    outcomes = dict.fromkeys(OUTCOMES, 0.0) | as_costs({**costs, **benefits})
    given = Samples.from_labels(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight)
    given.positive_class.require_pos_label(**outcomes)
    samples, predicted = given.drop_zero_weights(given.predicted_positive(y_pred))
    applies = {
        "tp_cost": samples.positive & predicted,
        "fp_cost": ~samples.positive & predicted,
        "tn_cost": ~samples.positive & ~predicted,
        "fn_cost": samples.positive & ~predicted,
    }
    checked = {name: _applied_cost(given, name, cost, applies[name]) for name, cost in outcomes.items()}
    return float(income_of_predictions(samples, predicted, ActionCosts.from_outcomes(samples, checked)))


def as_costs(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments that are not None, each benefit as a cost; raise if one outcome has both."""
    named = {name: value for name, value in given.items() if value is not None}
    for benefit in [name for name in named if name.endswith("_benefit")]:
        cost, value = benefit.replace("_benefit", "_cost"), named.pop(benefit)
        if cost in named:
            raise ValueError(f"{benefit} and {cost} of income are the same with opposite signs; pass one of them.")
        named[cost] = -value if is_pandas(value) else -as_floats(benefit, value, ONE_OR_EACH)
    return named


def savings_score(
    y_true: Any,
    y_pred: Any,
    *,
    fn_cost: Any = 1.0,
    fp_cost: Any = 1.0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Share of the cost of the best constant prediction that the predictions save. Higher is better, 1 is perfect.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_pred : array-like of shape (n_samples,)
        Predictions, with the labels of `y_true`.
    fn_cost, fp_cost, pos_label, sample_weight
        As in `cost_risk`.

    Returns
    -------
    float
        The savings; below 0 if one class for all samples were cheaper.

    Examples
    --------
    Finding both frauds with one false positive at 10; checking all four would cost 20:

    >>> from cssvm.metrics import savings_score
    >>> savings_score([1, 1, 0, 0], [1, 1, 1, 0], fn_cost=[900, 100, 0, 0], fp_cost=10)
    0.5
    """
    samples = Samples.from_labels(
        y_true, y_pred, pos_label=pos_label, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight
    )
    predicted = samples.predicted_positive(y_pred)
    samples.check_both_classes_weighted("savings")
    constant = min(samples.total_fn_cost, samples.total_fp_cost)
    if constant == 0:
        raise ValueError(
            "savings_score compares with the best constant prediction, which must cost something; got a class whose "
            "samples of positive weight all cost 0. Evaluate on more samples, or use cost_risk."
        )
    return float(1.0 - (predicted != samples.positive) @ samples.weighted_costs / constant)


def income_of_predictions(samples: Samples, predicted: Mask, costs: ActionCosts) -> Vector:
    """Income (...,) of predictions (..., n_samples), of one model or of many."""
    # Predicting a sample positive adds to the income of predicting all negative; so many predictions are one product.
    gain = costs.skip - costs.act
    gain *= samples.weights
    return predicted @ gain - samples.weights @ costs.skip


def _applied_cost(given: Samples, name: str, cost: Any, applies: Mask) -> Any:
    """A number, or the cost of samples of positive weight, 0 where it does not apply; others must be finite."""
    values = as_floats(name, given.aligned(name, cost), ONE_OR_EACH)
    if values.ndim == 0 and np.isfinite(values):
        return values
    values = values[given.nonzero_weights()] if values.ndim else values
    applied = np.where(applies, values, 0.0)
    invalid = ~np.isfinite(applied)
    if invalid.any():
        raise ValueError(
            f"{name} must be finite on every sample it applies to; got {applied[np.argmax(invalid)]} on "
            f"{invalid.sum()} of {applies.sum()} such samples. Correct these values, or drop the samples."
        )
    return applied
