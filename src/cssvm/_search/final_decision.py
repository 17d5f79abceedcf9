"""How the final model of a search decides, learned from the out-of-fold scores of its best point without further fits.

    zero        positive if f(x) > 0
    threshold   positive if f(x) > t,    t of least cost on the out-of-fold scores of all folds together
    bayes       positive if p(x) fn_cost > (1 - p(x)) fp_cost,    p the sigmoid of f fitted to the out-of-fold scores,
                with costs that may be given for each sample

f is the score for the positive class. One threshold or sigmoid for all folds is far less optimistic than one of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.decision import ONE_MARGIN, check_decision_costs, relative_saving, threshold_of_least_cost
from .._core.samples import Samples
from .._core.sklearn_compat import PlattScaling
from .._core.types import Vector

AUTO, ZERO, THRESHOLD, BAYES = "auto", "zero", "threshold", "bayes"
DECISIONS = (ZERO, THRESHOLD, BAYES)

LEAST_ODDS_RATIO = 1.1  # probabilities whose odds differ by less are one constant as far as decisions are concerned


class ThresholdRule:
    """One threshold for all samples."""

    def __init__(self, threshold: float = 0.0):
        self.threshold = threshold

    def gain(self, scores: Vector, fn_cost: Any, fp_cost: Any) -> Vector:
        """The distance from the threshold, (n_samples,) float64: the positive class is predicted where it is > 0."""
        return scores - self.threshold if self.threshold else scores


class BayesRule:
    """Bayes' rule with the costs of each sample; scores that are all equal up to `tie` have one probability."""

    def __init__(self, scores: Vector, samples: Samples, tie: float):
        distinct = scores if np.ptp(scores) > tie else np.zeros_like(scores)
        self.calibrator = PlattScaling().fit(distinct, samples.positive.astype(int), samples.weights)
        self.threshold = np.nan

    def probabilities(self, scores: Vector) -> Vector:
        """Probability of the positive class, (n_samples,) float64."""
        return self.calibrator.predict(scores)

    def varies(self, scores: Vector) -> bool:
        """Whether the odds p / (1 - p) of these scores differ by more than `LEAST_ODDS_RATIO`."""
        return bool(np.ptp(self.calibrator.a_ * scores) > np.log(LEAST_ODDS_RATIO))

    def gain(self, scores: Vector, fn_cost: Any, fp_cost: Any) -> Vector:
        """Expected saving of predicting the positive class, relative to both costs together."""
        fn, fp = check_decision_costs(fn_cost, fp_cost, len(scores))
        return relative_saving(self.probabilities(scores), fn, fp)


def check_decision(decision: Any, scoring: Any) -> str:
    """The decision asked for; "auto" is "threshold" for a scoring that has one, else "zero"."""
    if decision == AUTO:
        return THRESHOLD if isinstance(scoring, str) and scoring == "min_risk" else ZERO
    if decision not in DECISIONS:
        raise ValueError(f"decision must be one of {[AUTO, *DECISIONS]}; got decision={decision!r}.")
    return decision


def tie_of_folds(scores: Sequence[NDArray[Any]], tie: float) -> Any:
    """Up to which difference the scores (..., n_valid) of all folds together are equal, (...,)."""
    # If the model of every fold is constant all of them are equal: it is chance that one fold has +1, another -1.
    constant = np.all([np.ptp(each, axis=-1) <= tie for each in scores], axis=0)
    return np.where(constant, np.inf, tie)


def pooled_threshold(scores: Vector, samples: Samples, tie: float) -> float:
    """The threshold of least cost on the scores of all folds together, the nearest to zero among equals."""
    return threshold_of_least_cost(
        scores, samples.positive, samples.weighted_costs, prefer="nearest_zero", beyond=ONE_MARGIN, tie=tie
    )


def with_balanced_costs(samples: Samples) -> Samples:
    """The same samples with costs that give both classes the same total, as ``class_weight="balanced"`` does.

    Probabilities must not follow the amounts, so those are not trained with; and with equal totals no constant is
    optimal, so that the scores always rank. docs/search.md has the figures.
    """
    totals = [float(samples.weights[rows].sum()) for rows in (samples.positive, ~samples.positive)]
    fn_cost, fp_cost = (sum(totals) / (2.0 * total) if total else 1.0 for total in totals)
    return replace(samples, cost=np.where(samples.positive, fn_cost, fp_cost), fn_cost=fn_cost, fp_cost=fp_cost)


def costs_when_deciding(samples: Samples) -> tuple[Any, Any]:
    """Costs by which held-out samples are decided, a number or (n_samples,) each.

    The mean replaces missing costs of the other class, and all costs where that class has none, as these would tell the
    classes apart.
    """
    known = []
    for cost, mean, own in zip(
        (samples.fn_cost, samples.fp_cost), samples.mean_costs(), (samples.positive, ~samples.positive), strict=True
    ):
        if np.ndim(cost):
            given = np.isfinite(cost) & (cost >= 0)
            cost = np.where(given, cost, mean) if cost[(samples.weights > 0) & ~own & given].any() else mean
        known.append(cost)
    return known[0], known[1]
