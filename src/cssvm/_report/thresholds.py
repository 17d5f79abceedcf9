"""How well the rows settle where to cut: the best threshold of all rows, its interval, and that of each fold alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.samples import both_classes
from .._core.types import Mask
from .._evaluation import HeldOutDecisions
from ..metrics._action import COST_RATIO, DECISION, DECISION_VALUE
from ..metrics._risk import minimum_risk, risk_of_predictions
from ..metrics._scored import ScoredSamples
from ..metrics._threshold_costs import threshold_costs
from .numbers import NOTHING, count, number, percent

N_RESAMPLES = 200  # for an interval that is read to two digits


def threshold_section(held_out: HeldOutDecisions, confidence: float) -> dict[str, Any] | None:
    """The best cuts, hindsight of the rows they are counted on; None where the model gives no scores."""
    if held_out.scores.kind == DECISION:
        return None
    rows = held_out.scored
    found = threshold_costs(rows, n_resamples=N_RESAMPLES, confidence=confidence, random_state=0)
    assert found.threshold_interval is not None
    folds = [_fold(held_out, held_out.fold == number_) for number_ in range(len(held_out.models))]
    best = np.array([each["best"] for each in folds])
    scale = _scale(rows.scores, [*best, found.threshold, *found.threshold_interval])
    for each in folds:
        each["place"] = _place(each["best"], scale)
        each["threshold"] = _shown(each["best"])
    finite = best[np.isfinite(best)]
    return {
        "kind": held_out.scores.kind,
        "own": number(held_out.scores.own_threshold) if np.isfinite(held_out.scores.own_threshold) else "",
        "own_place": _place(held_out.scores.own_threshold, scale),
        "best": _shown(found.threshold),
        "meaning": _meaning(found.threshold) if held_out.scores.kind == COST_RATIO else "",
        "best_place": _place(found.threshold, scale),
        "interval": tuple(number(end) for end in found.threshold_interval),
        "interval_place": tuple(_place(end, scale) for end in found.threshold_interval),
        "confidence": percent(confidence),
        "n_resamples": N_RESAMPLES,
        "folds": folds if len(folds) > 1 else [],
        "spread": number(float(np.std(finite))) if len(finite) > 1 else "",
        "learnt": _learnt(held_out) if held_out.scores.kind == DECISION_VALUE else "",
        "ends": tuple(number(end) for end in scale),
    }


def _fold(held_out: HeldOutDecisions, own: Mask) -> dict[str, Any]:
    """The rows of one fold: what the model's decisions cost there, and its best cut in hindsight."""
    sample = held_out.sample.take(own)
    line: dict[str, Any] = {
        "rows": count(int(np.count_nonzero(own))),
        "targets": count(int(np.count_nonzero(sample.positive))),
        "cost": number(float(risk_of_predictions(sample, held_out.acted[own]))),
        "best": np.nan,
        "least": NOTHING,
    }
    if both_classes(sample.positive[sample.weighted_costs > 0]):
        found = minimum_risk(ScoredSamples.from_samples(sample, held_out.scores.values[own]))
        line |= {"best": found.threshold, "least": number(found.risk)}
    return line


def _learnt(held_out: HeldOutDecisions) -> str:
    """Thresholds that the models themselves have learnt in training, where they keep them."""
    found = [float(getattr(each, "threshold_", np.nan)) for each in held_out.models]
    known = [each for each in found if np.isfinite(each) and each != 0.0]
    return ", ".join(number(each) for each in known)


def _scale(scores: Any, thresholds: list[float]) -> tuple[float, float]:
    """The range of the scores but for the outermost hundredths, and of all finite thresholds."""
    finite = [each for each in thresholds if np.isfinite(each)]
    low, high = np.quantile(scores, [0.01, 0.99])
    low, high = min(low, *finite, low), max(high, *finite, high)
    return float(low), float(high if high > low else low + 1.0)


def _shown(threshold: float) -> str:
    """A threshold, and what it means if it is none."""
    if not np.isinf(threshold):
        return number(threshold)
    return f"{number(threshold)} ({'nobody' if threshold > 0 else 'everybody'})"


def _meaning(threshold: float) -> str:
    """What a finite threshold on the logarithm of the ratio of the expected costs says."""
    if not np.isfinite(threshold):
        return ""
    return f"act where leaving is expected to cost {number(float(np.exp(threshold)))} times what acting does"


def _place(value: float, scale: tuple[float, float]) -> float | None:
    """Where a threshold lies on the scale, in thousandths; at an end if it is infinite, None if there is none."""
    if np.isnan(value):
        return None
    return round(float(np.clip(1000.0 * (value - scale[0]) / (scale[1] - scale[0]), 0.0, 1000.0)), 1)
