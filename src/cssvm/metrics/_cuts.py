"""Cuts of scored rows with what they accept: enough to find the best cut for any costs and any share of the target.

If costs of the target are multiplied by a and those of the other class by b, a cut that finds targets with the weighted costs
S and raises false alarms with the weighted costs T costs, per case,

    (a (M - S) + b T) / W

where M is the stake of all targets and W the weight of all rows. Another prior p of the target only changes a and b, by
p / (share of the target) and (1 - p) / (share of the others). The minimum over all cuts lies on a vertex of the upper
convex hull of the points (T, S), for every a and b: a few hundred vertices stand for a million rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._core.types import Mask, RowNumbers, Vector
from ._hull import hull_of_curve
from ._scored import ScoredSamples


class Accepted(NamedTuple):
    """What cuts accept, or decisions: weight and weighted costs of the targets and of the others, (n_cuts,) each.

    hits, alarms : weights of targets and of other rows; saved, spent : their weighted_costs.
    """

    hits: Vector
    alarms: Vector
    saved: Vector
    spent: Vector

    def at(self, cuts: RowNumbers) -> Accepted:
        """Of these cuts."""
        return Accepted(*(each[cuts] for each in self))


class BestCuts(NamedTuple):
    """Cuts that cost least for some costs, from nobody to everybody, and some of all cuts, for a picture.

    thresholds : (n_vertices,), falling: those of `min_cost_risk`, infinite at the ends; vertices : what they accept;
    curve : at most `n_points` of all cuts; all_rows : what the last cut accepts; weight : of all rows.
    """

    thresholds: Vector
    vertices: Accepted
    curve: Accepted
    all_rows: Accepted
    weight: float


def best_cuts(rows: ScoredSamples, *, n_points: int = 1000) -> BestCuts:
    """The cuts of scored rows that cost least for some costs, and at most `n_points` of all of them."""
    rows.samples.check_both_classes_weighted("the best cut")
    weights, weighted_costs = (rows.ranked(each) for each in (rows.samples.weights, rows.samples.weighted_costs))
    positive = rows.ranked(rows.samples.positive)
    alarms, hits = rows.ranking.alarms_and_hits(positive, weights)
    spent, saved = rows.ranking.alarms_and_hits(positive, weighted_costs)
    if not (spent[-1] > 0 and saved[-1] > 0):
        raise ValueError(
            "errors on both classes must cost something on rows of positive weight; got a class whose rows all cost 0. "
            "Evaluate on more rows, or correct fn_cost and fp_cost."
        )
    cuts = Accepted(hits, alarms, saved, spent)
    vertices = hull_of_curve(spent, saved)
    everybody = len(hits) - 1
    return BestCuts(
        thresholds=rows.ranking.thresholds(vertices),
        vertices=cuts.at(vertices),
        curve=cuts.at(_spread_along(spent / spent[-1] + saved / saved[-1], n_points)),
        all_rows=cuts.at(np.array([everybody])),
        weight=float(weights.sum()),
    )


def accepted_by(rows: ScoredSamples, acted: Mask) -> Accepted:
    """What decisions (n,) on the rows accept, (1,) each."""
    sample = rows.samples
    sums = [
        float(each[acted & (sample.positive == target)].sum())
        for each in (sample.weights, sample.weighted_costs)
        for target in (True, False)
    ]
    return Accepted(*(np.array([each]) for each in sums))


def _spread_along(length: Vector, n_points: int) -> RowNumbers:
    """At most `n_points` places on a curve, about evenly spread by its rising length (n,), both ends among them."""
    if len(length) <= n_points:
        return np.arange(len(length))
    places = np.searchsorted(length, np.linspace(0.0, length[-1], n_points - 1))
    return np.unique(np.append(places, len(length) - 1))
