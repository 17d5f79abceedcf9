"""The sections of the report: costs, thresholds, the data of its sliders, the model and the data."""

from __future__ import annotations

import re
import reprlib
from functools import partial
from typing import Any

import numpy as np

from .._core.nested import final_step, iter_outermost
from .._core.samples import has_both_classes
from .._core.types import Status, Vector
from .._evaluation import Evaluation, HeldOutPredictions
from .._evaluation.action_scores import COST_RATIO, DECISION, DECISION_VALUE
from .._evaluation.result import BLIND, EVERYBODY, FEWEST_ERRORS, MODEL, NOBODY, ROW_COSTS
from .._runtime.format import DASH, format_count, format_number, format_percent
from ..metrics._curves import Cuts, best_cuts
from ..metrics._policies import Interval, Policy
from ..metrics._risk import minimum_risk, risk_of_predictions
from ..metrics._scored import ScoredSamples
from ..metrics._threshold_costs import threshold_costs

number = partial(format_number, typographic=True)

BASELINES = (NOBODY, EVERYBODY)
BETTER, WORSE, UNCLEAR = "the model is better", "the model is worse", "no clear difference"
SUBTITLES = {
    NOBODY: "predict every row negative",
    EVERYBODY: "predict every row positive",
    BLIND: "a standard SVM without costs",
    ROW_COSTS: "a logistic regression that decides by the costs of each row",
    FEWEST_ERRORS: "the model's scores, cut where errors are fewest on these rows",
}
N_RESAMPLES = 200  # for the interval of the threshold, which is read to two digits
N_POINTS = 500  # of the curves: more than the pixels they are drawn on can show
CURVE_DIGITS = 5  # of the curves, which are only drawn; what is printed comes from the vertices
MAX_NAMES = 200  # of features, listed
MAX_TEXT = 300  # characters of a parameter's value
MAX_MODELS = 50
LEAST_GAP = 1e-5  # a smaller one is written as less than this
LARGE_GAP = 1e-2  # one of this size shows in the decisions
INDENT = re.compile(r"\n +")  # of continuation lines, which would be wider than a phone
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # of an object in memory, in its repr


def amount(value: float, currency: str) -> str:
    """A number with its currency, which stay on one line."""
    return f"{number(value)}\N{NO-BREAK SPACE}{currency}" if currency else number(value)


def cost_section(evaluation: Evaluation, name: str) -> dict[str, Any]:
    """Verdict, figures and the table of policies; `name` is the model's."""
    earns = any(policy.cost.value < 0.0 for policy in evaluation.policies)
    baseline = min((evaluation[each] for each in BASELINES), key=lambda policy: policy.cost.value)
    shown = [_as_shown(policy.cost, earns) for policy in evaluation.policies]
    scale = _scale([0.0, *(end for each in shown for end in each)])
    return {
        "word": "income" if earns else "cost",
        "column": "Earns less than the model by" if earns else "Costs more than the model by",
        "verdict": _verdict(evaluation, baseline, earns),
        "figures": _figures(evaluation, baseline, earns),
        "lines": [
            _line(policy, interval, earns, scale, name)
            for policy, interval in zip(evaluation.policies, shown, strict=True)
        ],
        "zero": _position(0.0, scale),
        "confidence": format_percent(evaluation.confidence),
        "rows": format_count(evaluation.n_rows),
        "own_estimate": ""
        if earns or not np.isfinite(evaluation.own_estimate)
        else amount(evaluation.own_estimate, evaluation.currency),
    }


def _verdict(evaluation: Evaluation, baseline: Policy, earns: bool) -> str:
    """One sentence: whether the model is worth using at these costs."""
    difference, currency = baseline.difference, evaluation.currency
    assert difference is not None
    confidence = format_percent(evaluation.confidence)
    interval = f"({confidence} interval {_range(difference, currency)})"
    against = f"“{baseline.name}”, the better baseline"
    by = amount(abs(difference.value), currency)
    if difference.low > 0:
        gains = f"earns {by} per row more than" if earns else f"saves {by} per row against"
        text = f"The model {gains} {against} {interval}"
    elif difference.high < 0:
        loses = f"earns {by} per row less than" if earns else f"costs {by} per row more than"
        interval = f"({confidence} interval {_range(_as_shown(difference, True), currency)})"
        text = f"At these costs the model should not decide: it {loses} {against} {interval}"
    else:
        text = f"On {format_count(evaluation.n_rows)} rows the model cannot be distinguished from {against}: the "
        text += f"difference of {amount(difference.value, currency)} per row may be chance {interval}"
    cheaper = [
        f"“{policy.name}”"
        for policy in evaluation.policies[1:]
        if policy.name not in BASELINES and policy.difference is not None and policy.difference.high < 0
    ]
    if cheaper:
        text += f"; {' and '.join(cheaper)} {'is' if len(cheaper) == 1 else 'are'} clearly better than the model"
    return text + "."


def _range(interval: Interval, currency: str = "") -> str:
    return f"{number(interval.low)} to {amount(interval.high, currency)}"


def _as_shown(interval: Interval, earns: bool) -> Interval:
    """A cost, or minus it as an income."""
    return Interval(-interval.value, -interval.high, -interval.low) if earns else interval


def _figures(evaluation: Evaluation, baseline: Policy, earns: bool) -> list[dict[str, str]]:
    """The three main numbers."""
    model, currency, difference = evaluation.model, evaluation.currency, baseline.difference
    cost = _as_shown(model.cost, earns)
    assert difference is not None
    word = "Income" if earns else "Cost"
    unseen = " that the model was not trained on"
    note = "in total, against the better baseline"
    if not earns and baseline.cost.value:
        share = format_percent(difference.value / abs(baseline.cost.value))
        note = f"{share} of {amount(baseline.total, currency)}"
    return [
        {
            "name": f"{word} per row",
            "value": amount(cost.value, currency),
            "note": f"{format_percent(evaluation.confidence)} interval {_range(cost, currency)}",
        },
        {
            "name": f"{word} in total",
            "value": amount(-model.total if earns else model.total, currency),
            "note": f"on {format_count(evaluation.n_rows)} rows"
            + (unseen if evaluation.trained_here else f", assumed to be rows{unseen}"),
        },
        {
            "name": f"{'Saved' if difference.value >= 0 else 'Lost'} against “{baseline.name}”",
            "value": amount(abs(baseline.total - model.total), currency),
            "note": note,
        },
    ]


def _line(policy: Policy, shown: Interval, earns: bool, scale: tuple[float, float], name: str) -> dict[str, Any]:
    """The cells of one policy, and the position of its bar."""
    difference = policy.difference
    line: dict[str, Any] = {
        "name": policy.name,
        "subtitle": name if policy.name == MODEL else SUBTITLES.get(policy.name, ""),
        "is_model": policy.name == MODEL,
        "value": number(shown.value),
        "interval": _range(shown),
        "total": number(-policy.total if earns else policy.total),
        "missed": format_count(policy.false_negatives),
        "alarms": format_count(policy.false_positives),
        "actions": format_count(policy.actions),
        "bar": {end: _position(value, scale) for end, value in shown._asdict().items()},
    }
    if difference is not None:
        line["difference"], line["difference_interval"] = number(difference.value), _range(difference)
        line["judgement"] = BETTER if difference.low > 0 else WORSE if difference.high < 0 else UNCLEAR
    return line


def right_decision_costs(held_out: HeldOutPredictions, currency: str) -> dict[str, str] | None:
    """Costs of right decisions, and the number of rows on which the wrong one costs less; None if they are all 0."""
    samples, costs = held_out.scored.samples, held_out.costs
    right = np.where(samples.positive, costs.act, costs.skip)
    wrong = np.where(samples.positive, costs.skip, costs.act)
    if not right.any():
        return None
    total = float(samples.weights @ right)
    return {
        "cost": amount(total / float(samples.weights.sum()), currency),
        "total": amount(total, currency),
        "fixed": format_count(int(np.count_nonzero(wrong < right))),
    }


def threshold_section(held_out: HeldOutPredictions, confidence: float) -> dict[str, Any] | None:
    """The best thresholds in hindsight, of all rows and of each fold; None if the model has no scores."""
    if held_out.score_kind == DECISION:
        return None
    rows, own = held_out.scored, held_out.own_threshold
    found = threshold_costs(rows, n_resamples=N_RESAMPLES, confidence=confidence, random_state=0)
    assert found.threshold_interval is not None
    folds = [_fold(rows.take(held_out.fold == fold)) for fold in range(len(held_out.models))]
    best = np.array([each["best"] for each in folds])
    scale = _scale([*np.quantile(rows.scores, [0.01, 0.99]), *best, found.threshold, *found.threshold_interval])
    for each in folds:
        each["position"] = _position(each["best"], scale)
        each["threshold"] = _threshold_text(each["best"])
    finite = best[np.isfinite(best)]
    fitted = [float(getattr(each, "threshold_", np.nan)) for each in held_out.models]
    ratio = held_out.score_kind == COST_RATIO and np.isfinite(found.threshold)
    return {
        "kind": held_out.score_kind,
        "own": number(own) if np.isfinite(own) else "",
        "own_position": _position(own, scale),
        "best": _threshold_text(found.threshold),
        "ratio": number(float(np.exp(found.threshold))) if ratio else "",
        "best_position": _position(found.threshold, scale),
        "interval": tuple(number(end) for end in found.threshold_interval),
        "interval_position": tuple(_position(end, scale) for end in found.threshold_interval),
        "confidence": format_percent(confidence),
        "n_resamples": N_RESAMPLES,
        "folds": folds if len(folds) > 1 else [],
        "spread": number(float(np.std(finite))) if len(finite) > 1 else "",
        "fitted": ", ".join(number(each) for each in fitted if np.isfinite(each) and each != 0.0)
        if held_out.score_kind == DECISION_VALUE
        else "",
        "ends": tuple(number(end) for end in scale),
    }


def _fold(scored: ScoredSamples) -> dict[str, Any]:
    """The rows of one fold: the cost of the model's decisions, and its best threshold in hindsight."""
    assert scored.predictions is not None
    line: dict[str, Any] = {
        "rows": format_count(len(scored)),
        "positives": format_count(int(np.count_nonzero(scored.positive))),
        "cost": number(float(risk_of_predictions(scored.samples, scored.predictions))),
        "best": np.nan,
        "least": DASH,
    }
    if has_both_classes(scored.positive[scored.samples.weighted_costs > 0]):
        found = minimum_risk(scored)
        line |= {"best": found.threshold, "least": number(found.risk)}
    return line


def _threshold_text(threshold: float) -> str:
    """A threshold; an infinite one with its meaning."""
    meaning = f" ({'nobody' if threshold > 0 else 'everybody'})" if np.isinf(threshold) else ""
    return number(threshold) + meaning


def _scale(values: list[float]) -> tuple[float, float]:
    """The range of the finite values."""
    finite = [float(each) for each in values if np.isfinite(each)]
    low, high = min(finite), max(finite)
    return low, high if high > low else low + 1.0


def _position(value: float, scale: tuple[float, float]) -> float | None:
    """Position on the scale in thousandths, at an end for infinite values; None for nan."""
    if np.isnan(value):
        return None
    return round(float(np.clip(1000.0 * (value - scale[0]) / (scale[1] - scale[0]), 0.0, 1000.0)), 1)


def slider_data(held_out: HeldOutPredictions, currency: str) -> dict[str, Any]:
    """The numbers that `script.js` reads: weights and weighted costs of rows that are acted on.

    base : present costs, 1 for a cost that differs between rows, and share of the positive class; missed, alarmed :
    what errors on all rows cost; cuts : vertices of the hull, from nobody to everybody; curve : thresholds as shares
    of the totals. Weighted costs that are proportional to weights are left out.
    """
    scored, samples = held_out.scored, held_out.scored.samples
    assert scored.predictions is not None
    found = best_cuts(scored, n_points=N_POINTS)
    hits, alarms, saved, spent = (float(each[0]) for each in found.all_positive)
    costs = {"fn": samples.cost[samples.positive], "fp": samples.cost[~samples.positive]}
    factor = {name: bool(np.ptp(cost) > 0) for name, cost in costs.items()}
    shares = Cuts(*(part / whole[0] for part, whole in zip(found.curve, found.all_positive, strict=True)))
    by_row = samples.costs_differ
    return {
        "currency": currency,
        "ratio": held_out.score_kind == COST_RATIO,
        "base": {name: 1.0 if factor[name] else float(cost[0]) for name, cost in costs.items()}
        | {"share": hits / found.weight},
        "factor": factor,
        "rows": found.weight,
        "positives": hits,
        "negatives": alarms,
        "missed": saved,
        "alarmed": spent,
        "thresholds": [float(each) if np.isfinite(each) else None for each in found.thresholds],
        "cuts": _columns(found.vertices, by_row),
        "curve": _columns(shares, by_row, digits=CURVE_DIGITS),
        "own": _columns(Cuts.from_predictions(scored, scored.predictions), by_row),
    }


def _columns(cuts: Cuts, by_row: bool, *, digits: int | None = None) -> dict[str, list[float]]:
    """Lists for JSON, with integers where numbers are whole."""
    names = ("hits", "alarms", "saved", "spent") if by_row else ("hits", "alarms")
    rounded = cuts if digits is None else [each.round(digits) for each in cuts]
    return {
        name: [int(value) if float(value).is_integer() else float(value) for value in values]
        for name, values in zip(names, rounded, strict=False)
    }


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
    """Numbers of rows and features, classes and costs."""
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
