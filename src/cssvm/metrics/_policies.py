"""Expected costs of several policies on the same samples, and how they differ: the lines of a table of policies.

Predicting sample i positive, that is acting on it, costs a_i; predicting it negative, skipping it, costs l_i, given its
class. A policy that acts on it with probability d_i costs, per sample,

    sum_i w_i (d_i a_i + (1 - d_i) l_i) / sum_i w_i

All policies share the resamples of the samples, or of groups of them, so that differences are paired.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._core.samples import Samples
from .._core.types import Vector
from ._bootstrap import generator, percentile_interval, resample_counts
from ._income import ActionCosts


class Interval(NamedTuple):
    """A value with the ends of its interval."""

    value: float
    low: float
    high: float

    def __repr__(self) -> str:
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


@dataclass(frozen=True)
class Policy:
    """One way to decide: its cost per sample, negative for an income, and the weights of errors and of actions.

    difference : the cost per sample minus that of the model, paired by sample; None for the model itself.
    """

    name: str
    cost: Interval
    total: float
    false_negatives: float
    false_positives: float
    actions: float
    difference: Interval | None


def compare_policies(
    action_shares: dict[str, Vector],
    samples: Samples,
    costs: ActionCosts,
    n_resamples: int,
    confidence: float,
    random_state: Any,
    *,
    groups: Any = None,
) -> list[Policy]:
    """One `Policy` for each name, the first being the model's, by the share (n_samples,) of its actions on each sample.

    groups : (n_samples,) labels of samples that are drawn together, or None.
    """
    weights, positive = samples.weights, samples.positive
    shares = np.array(list(action_shares.values()))
    weighted_costs = weights * (shares * costs.act + (1.0 - shares) * costs.skip)
    group = np.arange(len(samples)) if groups is None else np.unique(groups, return_inverse=True)[1]
    group_weights = np.bincount(group, weights)
    group_costs = np.array([np.bincount(group, each) for each in weighted_costs])
    everything = [np.arange(len(group_weights))]
    counts = resample_counts(everything, n_resamples, generator(random_state), stratified=False)
    means = np.concatenate([batch @ group_costs.T / (batch @ group_weights)[:, np.newaxis] for batch in counts])
    total = weighted_costs.sum(axis=1)
    cost = total / weights.sum()
    low, high = percentile_interval(means, confidence)
    difference_low, difference_high = percentile_interval(means - means[:, :1], confidence)
    return [
        Policy(
            name=name,
            cost=Interval(float(cost[k]), float(low[k]), float(high[k])),
            total=float(total[k]),
            false_negatives=float(((1.0 - share) * weights)[positive].sum()),
            false_positives=float((share * weights)[~positive].sum()),
            actions=float(share @ weights),
            difference=None
            if k == 0
            else Interval(float(cost[k] - cost[0]), float(difference_low[k]), float(difference_high[k])),
        )
        for k, (name, share) in enumerate(action_shares.items())
    ]
