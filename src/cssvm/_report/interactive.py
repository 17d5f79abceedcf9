"""What the moving part of the report is computed from, as plain numbers: the cuts that can be best, and a curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.samples import Samples
from .._core.types import Mask, Vector
from .._evaluation import HeldOutDecisions
from ..metrics._action import COST_RATIO
from ..metrics._curves import Cuts, best_cuts

N_POINTS = 500  # of the curves: more than the pixels they are drawn on can show
CURVE_DIGITS = 5  # of the curves, which are only drawn; what is printed comes from the vertices


def interactive_data(held_out: HeldOutDecisions, currency: str) -> dict[str, Any]:
    """The numbers that `script.js` reads: sums over accepted rows, in cases and in money.

    ratio : whether thresholds are logarithms of the ratio of expected costs; base : costs and the share of the target
    as they are; a cost that differs from row to row has the base 1, a factor of all of them. targets, others : cases;
    missed, alarmed : the money at stake in them; cuts : vertices of the hull, from nobody to everybody; curve : cuts
    as shares of these four; own : what the model accepts. Where costs are those of the classes, money is proportional
    to cases and left out.
    """
    rows = held_out.scored
    found = best_cuts(rows, n_points=N_POINTS)
    hits, alarms, saved, spent = (float(each[0]) for each in found.all_positive)
    by_row = rows.samples.costs_differ
    return {
        "currency": currency,
        "ratio": held_out.scores.kind == COST_RATIO,
        "base": {**_base_costs(rows.samples), "share": hits / found.weight},
        "factor": {"fn": _differ(rows.samples, True), "fp": _differ(rows.samples, False)},
        "cases": found.weight,
        "targets": hits,
        "others": alarms,
        "missed": saved,
        "alarmed": spent,
        "thresholds": [float(each) if np.isfinite(each) else None for each in found.thresholds],
        "cuts": _columns(found.vertices, by_row),
        "curve": _columns(_shares(found.curve, found.all_positive), by_row, digits=CURVE_DIGITS),
        "own": _columns(Cuts.from_predictions(rows, held_out.acted), by_row),
    }


def _differ(sample: Samples, target: bool) -> bool:
    """Whether costs of the rows of one class differ."""
    cost = sample.cost[_of_class(sample, target)]
    return bool(np.ptp(cost) > 0)


def _base_costs(sample: Samples) -> dict[str, float]:
    """What an error on a class costs, or the factor 1 where that differs from row to row."""
    costs = {"fn": True, "fp": False}
    return {
        name: 1.0 if _differ(sample, target) else float(sample.cost[_of_class(sample, target)][0])
        for name, target in costs.items()
    }


def _of_class(sample: Samples, target: bool) -> Mask:
    return sample.positive == target


def _shares(cuts: Cuts, totals: Cuts) -> Cuts:
    return Cuts(*(part / whole[0] for part, whole in zip(cuts, totals, strict=True)))


def _columns(cuts: Cuts, by_row: bool, *, digits: int | None = None) -> dict[str, list[float]]:
    """Lists for JSON, whole numbers without a point."""
    names = ("hits", "alarms", "saved", "spent") if by_row else ("hits", "alarms")
    return {name: _list(each, digits) for name, each in zip(names, cuts, strict=False)}


def _list(values: Vector, digits: int | None) -> list[Any]:
    rounded = values if digits is None else values.round(digits)
    return [int(each) if float(each).is_integer() else float(each) for each in rounded]
