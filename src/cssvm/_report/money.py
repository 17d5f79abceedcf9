"""The first part of the report: what the model's decisions cost or earn, beside what else one could do."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._evaluation import Evaluation
from .._evaluation.result import BLIND, EVERYBODY, FEWEST_ERRORS, MODEL, NOBODY, ROW_COSTS
from ..metrics._policies import Interval, Policy
from .numbers import count, number, percent

PLAIN = (NOBODY, EVERYBODY)
BETTER, WORSE, UNCLEAR = "the model is better", "the model is worse", "no clear difference"
SUBTITLES = {
    NOBODY: "leave every case alone",
    EVERYBODY: "treat every case as the target",
    BLIND: "a standard SVM that knows no costs",
    ROW_COSTS: "a logistic regression that decides by the costs of each case",
    FEWEST_ERRORS: "the model's scores, cut where errors are fewest on these rows",
}


def money_section(evaluation: Evaluation, name: str) -> dict[str, Any]:
    """Verdict, figures and the lines of the table; `name` is the model's."""
    earns = any(policy.cost.value < 0.0 for policy in evaluation.policies)
    plain = min((evaluation[each] for each in PLAIN), key=lambda policy: policy.cost.value)
    shown = [_as_shown(policy.cost, earns) for policy in evaluation.policies]
    scale = _scale(shown)
    return {
        "word": "income" if earns else "cost",
        "column": "Earns less than the model by" if earns else "Costs more than the model by",
        "verdict": verdict(evaluation, plain, earns),
        "figures": _figures(evaluation, plain, earns),
        "lines": [
            _line(policy, interval, evaluation.currency, earns, scale, name)
            for policy, interval in zip(evaluation.policies, shown, strict=True)
        ],
        "zero": _place(0.0, scale),
        "confidence": percent(evaluation.confidence),
        "rows": count(evaluation.n_rows),
        "own_estimate": _own_estimate(evaluation, earns),
    }


def verdict(evaluation: Evaluation, plain: Policy, earns: bool) -> str:
    """One sentence: whether the model is worth using at these costs."""
    apart = plain.difference
    assert apart is not None
    sure = percent(evaluation.confidence)
    interval = f"({sure} interval {_range(apart, evaluation.currency)})"
    against = f"{_quoted(plain.name)}, the better plain policy"
    by = amount(abs(apart.value), evaluation.currency)
    if apart.low > 0:
        gains = f"earns {by} per case more than" if earns else f"saves {by} per case against"
        text = f"The model {gains} {against} {interval}"
    elif apart.high < 0:
        loses = f"earns {by} per case less than" if earns else f"costs {by} per case more than"
        turned = _range(_as_shown(apart, True), evaluation.currency)
        text = f"At these costs the model should not decide: it {loses} {against} ({sure} interval {turned})"
    else:
        text = f"On {count(evaluation.n_rows)} cases the model cannot be told from {against}: the difference of "
        text += f"{amount(apart.value, evaluation.currency)} per case may be chance {interval}"
    cheaper = [
        _quoted(policy.name)
        for policy in evaluation.policies[1:]
        if policy.name not in PLAIN and policy.difference is not None and policy.difference.high < 0
    ]
    if cheaper:
        text += f"; {' and '.join(cheaper)} {'is' if len(cheaper) == 1 else 'are'} clearly better than the model"
    return text + "."


def amount(value: float, currency: str) -> str:
    """ActionCosts with its currency, which a line break does not part from it."""
    return f"{number(value)}\N{NO-BREAK SPACE}{currency}" if currency else number(value)


def _quoted(name: str) -> str:
    return f"“{name}”"


def _range(interval: Interval, currency: str) -> str:
    return f"{number(interval.low)} to {amount(interval.high, currency)}"


def _as_shown(interval: Interval, earns: bool) -> Interval:
    """A cost, or minus it as an income."""
    return Interval(-interval.value, -interval.high, -interval.low) if earns else interval


def _figures(evaluation: Evaluation, plain: Policy, earns: bool) -> list[dict[str, str]]:
    """The three numbers that a reader in a hurry needs."""
    model, currency = evaluation.model, evaluation.currency
    cost = _as_shown(model.cost, earns)
    apart = plain.difference
    assert apart is not None
    word = "Income" if earns else "Cost"
    share = apart.value / abs(plain.cost.value) if plain.cost.value else np.nan
    compared = f"{percent(share)} of {amount(plain.total, currency)}" if not earns and np.isfinite(share) else ""
    return [
        {
            "name": f"{word} per case",
            "value": amount(cost.value, currency),
            "note": f"{percent(evaluation.confidence)} interval {_range(cost, currency)}",
        },
        {
            "name": f"{word} in total",
            "value": amount(-model.total if earns else model.total, currency),
            "note": f"on {count(evaluation.n_rows)} cases{_unseen(evaluation)}",
        },
        {
            "name": f"Saved against “{plain.name}”" if apart.value >= 0 else f"Lost against “{plain.name}”",
            "value": amount(abs(plain.total - model.total), currency),
            "note": compared or "in total, against the better plain policy",
        },
    ]


def _unseen(evaluation: Evaluation) -> str:
    """Whether the models were trained without the cases, which is taken for granted of one that was fitted before."""
    return " that the model had not seen" if evaluation.trained_here else ", taken as ones that the model has not seen"


def _line(
    policy: Policy, shown: Interval, currency: str, earns: bool, scale: tuple[float, float], name: str
) -> dict[str, Any]:
    """The cells of one policy, and where its bar lies."""
    apart = policy.difference
    return {
        "name": policy.name,
        "subtitle": name if policy.name == MODEL else SUBTITLES.get(policy.name, ""),
        "is_model": policy.name == MODEL,
        "value": number(shown.value),
        "interval": f"{number(shown.low)} to {number(shown.high)}",
        "total": number(-policy.total if earns else policy.total),
        "misses": count(policy.false_negatives),
        "alarms": count(policy.false_positives),
        "actions": count(policy.actions),
        "difference": "" if apart is None else number(apart.value),
        "difference_interval": "" if apart is None else f"{number(apart.low)} to {number(apart.high)}",
        "judgement": "" if apart is None else BETTER if apart.low > 0 else WORSE if apart.high < 0 else UNCLEAR,
        "bar": {end: _place(value, scale) for end, value in shown._asdict().items()},
    }


def _own_estimate(evaluation: Evaluation, earns: bool) -> str:
    """What the model's own search expected; empty if it has none, or if right decisions have costs as well."""
    if earns or not np.isfinite(evaluation.own_estimate):
        return ""
    return amount(evaluation.own_estimate, evaluation.currency)


def _scale(shown: list[Interval]) -> tuple[float, float]:
    """The ends of all bars, zero among them."""
    low, high = min(0.0, *(each.low for each in shown)), max(0.0, *(each.high for each in shown))
    return low, high if high > low else low + 1.0


def _place(value: float, scale: tuple[float, float]) -> float:
    """Where a value lies between the ends of the scale, in thousandths."""
    return round(1000.0 * (value - scale[0]) / (scale[1] - scale[0]), 1)
