"""What the final model of a search decides by, learnt from the held-out scores of its best point: no further fits.

    zero        target if f(x) > 0
    threshold   target if f(x) > t,    t of least cost on the held-out scores of all folds together
    bayes       target if p(x) fn_cost > (1 - p(x)) fp_cost,    p the sigmoid of f fitted to the held-out scores, with
                costs that may be given for each row

f is the score for the target. One threshold for all folds is far less optimistic than the best one of each, and so is
one sigmoid. Points are scored by the cost of the decisions made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import _SigmoidCalibration

from .._core.decision import ONE_MARGIN, check_decision_costs, relative_saving, threshold_of_least_cost
from .._core.samples import Samples
from .._core.types import Vector

AUTO, ZERO, THRESHOLD, BAYES = "auto", "zero", "threshold", "bayes"
DECISIONS = (ZERO, THRESHOLD, BAYES)

# Probabilities whose odds differ by less are one constant for all that a decision makes of them.
LEAST_ODDS_RATIO = 1.1


class Decision(Protocol):
    """A rule on scores for the target."""

    by_costs: bool  # whether costs of the rows enter
    threshold: float  # on the scores, for costs of the classes

    def gain(self, scores: Vector, fn_cost: Any, fp_cost: Any) -> Vector:
        """Positive where the target is decided for, (n,) float64."""


class AtThreshold:
    """One threshold for all rows."""

    by_costs = False

    def __init__(self, threshold: float = 0.0):
        self.threshold = threshold

    def gain(self, scores: Vector, fn_cost: Any, fp_cost: Any) -> Vector:
        """The distance from the threshold."""
        return scores - self.threshold if self.threshold else scores


class ByProbability:
    """Bayes' rule with the costs of each row; scores that are all equal up to `tie` have one probability."""

    by_costs = True

    def __init__(self, scores: Vector, sample: Samples, tie: float):
        told_apart = scores if np.ptp(scores) > tie else np.zeros_like(scores)
        self.calibrator = _SigmoidCalibration().fit(told_apart, sample.positive.astype(int), sample.weights)
        self.threshold = np.nan

    def probabilities(self, scores: Vector) -> Vector:
        """Probability of the target, (n,) float64."""
        return self.calibrator.predict(scores)

    def varies(self, scores: Vector) -> bool:
        """Whether the odds p / (1 - p) of these scores differ by more than `LEAST_ODDS_RATIO`."""
        return bool(np.ptp(self.calibrator.a_ * scores) > np.log(LEAST_ODDS_RATIO))

    def gain(self, scores: Vector, fn_cost: Any, fp_cost: Any) -> Vector:
        """How much less accepting a row is expected to cost than refusing it, relative to both costs together."""
        fn, fp = check_decision_costs(fn_cost, fp_cost, len(scores))
        return relative_saving(self.probabilities(scores), fn, fp)


def check_decision(decision: Any, scoring: Any) -> str:
    """The decision asked for; "auto" is "threshold" for a scoring that has one, else "zero"."""
    if decision == AUTO:
        return THRESHOLD if isinstance(scoring, str) and scoring == "min_risk" else ZERO
    if decision not in DECISIONS:
        raise ValueError(f"decision must be one of {[AUTO, *DECISIONS]}; got decision={decision!r}.")
    return decision


def make_decision(name: str, scores: Vector, sample: Samples, tie: float) -> Decision:
    """The decision of this name, from held-out scores (n,) for the target, equal up to `tie`, of `sample`."""
    if name == BAYES:
        return ByProbability(scores, sample, tie)
    return AtThreshold(pooled_threshold(scores, sample, tie) if name == THRESHOLD else 0.0)


def tie_of_folds(scores: Sequence[NDArray[Any]], tie: float) -> Any:
    """Up to which difference the scores (..., n_valid) of all folds together are equal, (...,).

    Where the model of every fold is constant all of them are equal: it is chance that one fold has +1, another -1.
    """
    constant = np.all([np.ptp(each, axis=-1) <= tie for each in scores], axis=0)
    return np.where(constant, np.inf, tie)


def pooled_threshold(scores: Vector, sample: Samples, tie: float) -> float:
    """The threshold of least cost on the scores of all folds together, the nearest to zero among equals."""
    return threshold_of_least_cost(
        scores, sample.positive, sample.weighted_costs, prefer="nearest_zero", beyond=ONE_MARGIN, tie=tie
    )


def balanced(sample: Samples) -> Samples:
    """The same samples with costs of the classes that give both the same total, as ``class_weight="balanced"`` does.

    Probabilities must not follow the amounts, so those are no penalties; and with equal totals no constant is optimal,
    so that the scores always rank. docs/decisions.md has the figures.
    """
    totals = [float(sample.weights[rows].sum()) for rows in (sample.positive, ~sample.positive)]
    fn_cost, fp_cost = (sum(totals) / (2.0 * total) if total else 1.0 for total in totals)
    return replace(sample, cost=np.where(sample.positive, fn_cost, fp_cost), fn_cost=fn_cost, fp_cost=fp_cost)


def costs_when_deciding(sample: Samples) -> tuple[Any, Any]:
    """Costs by which held-out samples are decided, a number or (n,) each.

    A cost of the other class that is missing is replaced by the mean. Where it is missing, or 0, on all samples of that
    class it is not known when deciding, and its values would tell the classes apart: then the mean stands for all.
    """
    counted = sample.weights > 0
    known = []
    for cost, mean, own in zip(
        (sample.fn_cost, sample.fp_cost), sample.mean_costs(), (sample.positive, ~sample.positive), strict=True
    ):
        if np.ndim(cost):
            given = np.isfinite(cost) & (cost >= 0)
            cost = np.where(given, cost, mean) if cost[counted & ~own & given].any() else mean
        known.append(cost)
    return known[0], known[1]
