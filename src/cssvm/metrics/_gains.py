"""What acting on more and more cases saves, the most suspicious first: the numbers behind the gains picture.

Against acting on nobody, acting on the rows above a threshold saves the weighted costs of the targets among them and costs
those of the false alarms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._core.types import Mask, Vector
from ._scored import ScoredSamples


class Gains(NamedTuple):
    """The curve over all thresholds, from nobody to everybody.

    share : (n_cuts,) of the cases acted on; gain : (n_cuts,) money saved per case; own_share, own_gain : of the
    decisions themselves, nan if they are not known; perfect_share, perfect_gain : of acting on the targets alone;
    weight : of all cases, to turn gains into totals.
    """

    share: Vector
    gain: Vector
    own_share: float
    own_gain: float
    perfect_share: float
    perfect_gain: float
    weight: float


def gains(rows: ScoredSamples, *, threshold: float | None = None, acted_on: Mask | None = None) -> Gains:
    """The gains of scored rows, and those of the decisions: at a threshold, or whether each row is acted on, (n,)."""
    rows.samples.check_both_classes_weighted("gains")
    sample, ranking, weights = rows.samples, rows.ranking, rows.samples.weights
    total = float(weights.sum())
    signed = np.where(sample.positive, sample.weighted_costs, -sample.weighted_costs)
    acted, saved = (ranking.accepted(rows.ranked(each)) / total for each in (weights, signed))
    own_share = own_gain = np.nan
    if threshold is not None:
        cut = int(ranking.cut(np.array([threshold]))[0])
        own_share, own_gain = float(acted[cut]), float(saved[cut])
    elif acted_on is not None:
        own_share, own_gain = float(weights @ acted_on) / total, float(signed @ acted_on) / total
    targets = float(weights[sample.positive].sum())
    return Gains(acted, saved, own_share, own_gain, targets / total, sample.miss_cost / total, total)
