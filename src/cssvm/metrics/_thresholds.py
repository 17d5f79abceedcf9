"""The threshold at which decisions cost least: one search over all cuts of a ranking, with an explicit tie rule.

    cost(t) = sum over y_i = +1, score_i < t of s_i  +  sum over y_i = -1, score_i >= t of s_i,    s_i = w_i cost_i

is constant between neighbouring scores, so looking at one threshold in each gap, and one beyond either end, finds the
exact minimum. Several thresholds may reach it, and `prefer` says which of them is taken:

    "highest"         accepts the fewest rows, so that there are the fewest false alarms
    "nearest_zero"    moves the decision of a classifier that decides at zero the least; of two that are equally near
                      the lower one, which misses less

At the two ends one decision is made for all rows. `beyond` says how far outside of the scores these thresholds lie:
infinitely far, where they are to hold for any score, or a finite distance, where they are to be subtracted from scores.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._core.types import Mask, Vector
from ._ranking import Ranking

Preference = Literal["highest", "nearest_zero"]

# Costs this close, relative to that of being wrong everywhere, are equal: sums in another order round differently.
RISK_TIE = 1e-12

# Scores of an SVM this close are one, in units of its margin: it is trained up to an error of this size, and where the
# training makes it constant, or puts free support vectors at +-1, what is left of an order is the solver's error.
SCORE_TIE = 1e-3

# A finite distance of the ends from the extreme scores: one margin.
ONE_MARGIN = 1.0


def score_tie(tol: float) -> float:
    """Scores of SVMs trained with this `tol` are equal up to this difference."""
    return max(SCORE_TIE, tol)


def cheapest_threshold(
    ranking: Ranking, positive: Mask, weighted_costs: Vector, *, prefer: Preference = "highest", beyond: float = np.inf
) -> float:
    """The threshold of least cost.

    positive, weighted_costs : (n_samples,) in the order of the ranking.
    """
    lost = ranking.cost_at_cuts(positive, weighted_costs)
    equal = lost <= lost.min() + RISK_TIE * weighted_costs.sum()
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
    """`cheapest_threshold` of scored rows (n_samples,) in any order, of which at least one has a stake.

    Rows without a stake are absent: they do not even decide where between two scores the threshold lies. Scores that
    differ by at most `tie` are equal.
    """
    counted = weighted_costs > 0
    scores, positive, weighted_costs = scores[counted], positive[counted], weighted_costs[counted]
    ranking = Ranking.of(scores, tie=tie)
    order = ranking.order
    return cheapest_threshold(ranking, positive[order], weighted_costs[order], prefer=prefer, beyond=beyond)
