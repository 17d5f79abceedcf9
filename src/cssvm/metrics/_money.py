"""What decisions earn, and what they save against the same decision for all rows.

income  = -sum_i w_i cost_i          with the cost of row i's outcome: tp, fp, tn or fn
savings = 1 - cost / min(cost of accepting all, cost of accepting none)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._core.alignment import is_series
from .._core.cost_matrix import OUTCOMES
from .._core.samples import Samples
from .._core.types import Mask, Vector, as_floats


class Benefits(NamedTuple):
    """What each row brings if it is accepted and if it is refused, given its class: (n_samples,) float64 each."""

    accepted: Vector
    refused: Vector


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
    """The sum of what the outcomes of all rows bring, or minus the sum of what they cost.

    Each outcome has a benefit or a cost, whichever is said more naturally: one is minus the other.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, or of one.
    y_pred : array-like of shape (n_samples,)
        Decisions, with the labels of `y_true`.
    tp_benefit, fp_benefit : float or array-like of shape (n_samples,), default=None
        What an accepted row brings, of the target class and of the other one; None means 0.
    tn_benefit, fn_benefit : float or array-like of shape (n_samples,), default=None
        What a refused row brings, of the other class and of the target. Entries of an array count only on the rows with
        its outcome; the others may be missing. A pandas Series is matched to `y_true` by index where both have one.
    tp_cost, fp_cost, tn_cost, fn_cost : float or array-like of shape (n_samples,), default=None
        What these outcomes cost, in place of what they bring; negative where they earn.
    pos_label : label, default=None
        The target class; None means the larger of the two labels.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Sample weights. If None, all weights are 1.

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
    whole = Samples.read(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight)
    whole.target.require_pos_label(**outcomes)
    sample, accepted = whole.present(whole.decisions(y_pred))
    rows = {
        "tp_cost": sample.positive & accepted,
        "fp_cost": ~sample.positive & accepted,
        "tn_cost": ~sample.positive & ~accepted,
        "fn_cost": sample.positive & ~accepted,
    }
    tp, fp, tn, fn = (_benefit(whole, name, cost, rows[name]) for name, cost in outcomes.items())
    brought = Benefits(np.where(sample.positive, tp, fp), np.where(sample.positive, fn, tn))
    return float(income_of_decisions(sample, accepted, brought))


def as_costs(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments that are not None, each benefit as the cost that it is minus; both for one outcome are refused."""
    named = {name: value for name, value in given.items() if value is not None}
    for benefit in [name for name in named if name.endswith("_benefit")]:
        cost, value = benefit.replace("_benefit", "_cost"), named.pop(benefit)
        if cost in named:
            raise ValueError(f"{benefit} and {cost} of income are the same with opposite signs; pass one of them.")
        fix = "Pass one number, or one for each row of y_true."
        named[cost] = -value if is_series(value) else -as_floats(benefit, value, fix)
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
    """Share of the cost that the decisions save against the best decision made alike for all rows.

    1 is perfect, 0 no better than accepting or refusing everybody, negative worse than that.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_pred : array-like of shape (n_samples,)
        Decisions, with the labels of `y_true`.
    fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
        Costs of a miss and of a false alarm, as in `cost_risk`.
    pos_label : label, default=None
        The target class; None means the larger of the two labels.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Sample weights. If None, all weights are 1.

    Returns
    -------
    float
        The savings, at most 1.

    Examples
    --------
    Finding the fraud of 900 and missing the one of 100, with one false alarm at 10; checking all four costs 20:

    >>> from cssvm.metrics import savings_score
    >>> savings_score([1, 1, 0, 0], [1, 0, 1, 0], fn_cost=[900, 100, 0, 0], fp_cost=10)
    -4.5
    >>> savings_score([1, 1, 0, 0], [1, 1, 1, 0], fn_cost=[900, 100, 0, 0], fp_cost=10)
    0.5
    """
    sample = Samples.read(
        y_true, y_pred, pos_label=pos_label, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight
    )
    return savings_of_decisions(sample, sample.decisions(y_pred))


def income_of_decisions(sample: Samples, accepted: Mask, benefits: Benefits) -> Vector:
    """Income (...,) of decisions (..., n_samples), of one machine or of many."""
    # Accepting a row adds to what refusing all brings; so many decisions are one product.
    gain = benefits.accepted - benefits.refused
    gain *= sample.weights
    return sample.weights @ benefits.refused + accepted @ gain


def hits_less_alarms(sample: Samples) -> Benefits:
    """The benefits by which a hit brings what missing it would cost, and a false alarm takes what it costs."""
    return Benefits(np.where(sample.positive, sample.cost, -sample.cost), np.zeros(len(sample)))


def savings_of_decisions(sample: Samples, accepted: Mask) -> float:
    """`savings_score` of checked rows."""
    sample.check_both_classes_weighted("savings")
    constant = min(sample.miss_cost, sample.alarm_cost)
    if constant == 0:
        raise ValueError(
            "savings_score compares with the best constant decision, which must cost something; got a class whose rows "
            "of positive weight all cost 0. Evaluate on more rows, or use cost_risk."
        )
    return float(1.0 - (accepted != sample.positive) @ sample.weighted_costs / constant)


def _benefit(whole: Samples, name: str, cost: Any, rows: Mask) -> Vector:
    """Minus a cost on the rows of positive weight that it applies to, where it must be finite, and 0 on others.

    A number that is finite stays one: it does no harm on others.
    """
    values = as_floats(name, whole.column(name, cost), "Pass one number, or one for each row of y_true.")
    if values.ndim == 0 and np.isfinite(values):
        return -values
    values = values[whole.counted()] if values.ndim else values
    applied = np.where(rows, values, 0.0)
    wrong = ~np.isfinite(applied)
    if wrong.any():
        raise ValueError(
            f"{name} must be finite on every row it applies to; got {applied[np.argmax(wrong)]} on {wrong.sum()} of "
            f"{rows.sum()} such rows. Correct these values, or drop the rows (values on other rows are ignored)."
        )
    return -applied
