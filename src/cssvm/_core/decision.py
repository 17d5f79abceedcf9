"""How scores become decisions: by a threshold, or by probabilities and costs.

    threshold rule    positive if score_i > t
    Bayes' rule       positive if p_i fn_cost_i > (1 - p_i) fp_cost_i

score and p are those of the positive class. Where both sides of a rule are equal the prediction is ``classes_[0]``, as
it is wherever a decision function is 0: `PositiveClass.predicted_positive` is the one place that breaks this tie.

The threshold of least cost minimises

    cost(t) = sum over y_i = +1, score_i < t of s_i  +  sum over y_i = -1, score_i >= t of s_i,    s_i = w_i cost_i,

which is constant between neighbouring scores, so looking at one threshold between each two, and one beyond either end,
finds the exact minimum. Several thresholds may reach it, and `prefer` chooses among them:

    "highest"         the fewest samples are predicted positive, so that there are the fewest false positives
    "nearest_zero"    changes the predictions of a classifier that decides at zero the least; of two equally near ones
                      the lower, which has fewer false negatives

At the two ends all samples get one prediction. `beyond` is how far outside of the scores these thresholds lie:
infinitely far if they are to hold for any score, or a finite distance if they are to be subtracted from scores.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .ranking import Ranking
from .types import Mask, Vector
from .validation import check_sample_values

Preference = Literal["highest", "nearest_zero"]

# Costs this close, relative to that of being wrong everywhere, are equal: sums in another order round differently.
RISK_TIE = 1e-12

# Scores of an SVM this close are equal, in units of its margin: it is trained up to an error of this size. Where it is
# constant, or free support vectors are at +-1, what is left of an order is the solver's error.
SCORE_TIE = 1e-3

# The finite distance of the outermost thresholds from the extreme scores: one margin.
ONE_MARGIN = 1.0


def score_tie(tol: float) -> float:
    """The difference up to which scores of SVMs trained with this `tol` are equal."""
    return max(SCORE_TIE, tol)


def cheapest_threshold(
    ranking: Ranking, positive: Mask, weighted_costs: Vector, *, prefer: Preference = "highest", beyond: float = np.inf
) -> float:
    """The threshold of least cost for samples already sorted by score.

    positive, weighted_costs : (n_samples,) in the order of the ranking.
    """
    cost = ranking.cost_at_cuts(positive, weighted_costs)
    equal = cost <= cost.min() + RISK_TIE * weighted_costs.sum()
    if prefer == "highest":
        return ranking.threshold(int(np.argmax(equal)), beyond=beyond)
    thresholds = ranking.thresholds(np.flatnonzero(equal), beyond=beyond)
    distance = np.abs(thresholds)
    # In the order of the cuts thresholds fall.
    return float(thresholds[distance <= distance.min() + ranking.tie][-1])


def threshold_of_least_cost(
    scores: NDArray[Any],
    positive: Mask,
    weighted_costs: Vector,
    *,
    prefer: Preference = "highest",
    beyond: float = np.inf,
    tie: float = 0.0,
) -> float:
    """`cheapest_threshold` of scored samples (n_samples,) in any order, of which at least one has a positive cost.

    Samples without a cost are absent: they do not even decide where between two scores the threshold lies. Scores that
    differ by at most `tie` are equal.
    """
    counted = weighted_costs > 0
    scores, positive, weighted_costs = scores[counted], positive[counted], weighted_costs[counted]
    ranking = Ranking.from_scores(scores, tie=tie)
    order = ranking.order
    return cheapest_threshold(ranking, positive[order], weighted_costs[order], prefer=prefer, beyond=beyond)


def expected_saving(probability: Any, fn_cost: Any, fp_cost: Any) -> Any:
    """P * fn_cost - (1 - p) * fp_cost: how much less predicting the positive class is expected to cost, (n,) float64.

    Bayes' rule predicts the positive class where it is positive; 0 is a tie.
    """
    return probability * fn_cost - (1.0 - probability) * fp_cost


def relative_saving(probability: Any, fn_cost: Any, fp_cost: Any) -> Any:
    """`expected_saving` divided by the sum of both costs, p - fp_cost / (fn_cost + fp_cost).

    -1 where both costs are 0: such a sample is predicted negative. No rounding of a threshold moves a tie.
    """
    total = np.asarray(fn_cost + fp_cost, dtype=np.float64)
    saving = expected_saving(probability, fn_cost, fp_cost)
    return np.divide(saving, total, out=np.full_like(saving, -1.0), where=total > 0)


class FreeDecisionWarning(UserWarning):
    """Samples on which neither decision costs anything."""


def check_decision_costs(fn_cost: Any, fp_cost: Any, n_samples: int) -> tuple[Vector, Vector]:
    """Both costs of samples whose labels are not known, shape () or (n_samples,) each: checked on all samples.

    Samples on which both are 0 are predicted negative (`relative_saving`), with a warning that counts them.
    """
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
    """Both costs of all samples, whatever their labels, shape () or (n_samples,) each.

    reason : why all samples need both costs; fix : a further remedy.
    """
    given = {"fn_cost": fn_cost, "fp_cost": fp_cost}
    fn, fp = (
        check_sample_values(name, value, n_samples, where=f", {reason}", fix=fix) for name, value in given.items()
    )
    return fn, fp
