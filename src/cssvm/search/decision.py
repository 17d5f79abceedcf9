"""What the final model of a search decides by, learnt from the held-out scores of its best point: no further fits.

    zero        target if f(x) > 0
    threshold   target if f(x) > t,    t of least cost on the held-out scores of all folds together
    bayes       target if p(x) fn_cost > (1 - p(x)) fp_cost,    p the sigmoid of f fitted to the held-out scores, with
                costs that may be given for each row

f is the score for the target. One threshold for all folds is far less optimistic than the best one of each.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from sklearn.calibration import _SigmoidCalibration

from .._types import Vector
from ..costs import read_decision_costs, relative_saving
from ..metrics.thresholds import ONE_MARGIN, threshold_of_least_cost
from ..sample import Sample

AUTO, ZERO, THRESHOLD, BAYES = "auto", "zero", "threshold", "bayes"
DECISIONS = (ZERO, THRESHOLD, BAYES)


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
    """Bayes' rule with the costs of each row."""

    by_costs = True

    def __init__(self, scores: Vector, sample: Sample):
        self.calibrator = _SigmoidCalibration().fit(scores, sample.positive.astype(int), sample.weights)
        self.threshold = np.nan

    def probabilities(self, scores: Vector) -> Vector:
        """Probability of the target, (n,) float64."""
        return self.calibrator.predict(scores)

    def gain(self, scores: Vector, fn_cost: Any, fp_cost: Any) -> Vector:
        """How much less accepting a row is expected to cost than refusing it, relative to both costs together."""
        fn, fp = read_decision_costs(fn_cost, fp_cost, len(scores))
        return relative_saving(self.probabilities(scores), fn, fp)


def check_decision(decision: Any, scoring: Any) -> str:
    """The decision asked for; "auto" is "threshold" for a scoring that has one, else "zero"."""
    if decision == AUTO:
        return THRESHOLD if isinstance(scoring, str) and scoring == "min_risk" else ZERO
    if decision not in DECISIONS:
        raise ValueError(f"decision must be one of {[AUTO, *DECISIONS]}; got decision={decision!r}.")
    return decision


def make_decision(name: str, scores: Vector, sample: Sample) -> Decision:
    """The decision of this name from held-out scores (n,) for the target, of the rows of `sample`."""
    if name == BAYES:
        return ByProbability(scores, sample)
    return AtThreshold(pooled_threshold(scores, sample) if name == THRESHOLD else 0.0)


def pooled_threshold(scores: Vector, sample: Sample) -> float:
    """The threshold of least cost on the scores of all folds together, the nearest to zero among equals."""
    return threshold_of_least_cost(scores, sample.positive, sample.stakes, prefer="nearest_zero", beyond=ONE_MARGIN)
