"""What several ways to decide cost on the same rows, and how they differ: the lines of a table of money.

Acting on row i costs a_i and leaving it alone l_i, given its class. A policy that acts on it in a share d_i of the
times costs

    sum_i w_i (d_i a_i + (1 - d_i) l_i) / sum_i w_i

per case. Resamples of the rows, or of groups of them, are shared by all policies, so that a difference is one of the
same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._core.cost_matrix import OUTCOMES
from .._core.samples import Samples
from .._core.types import Vector
from ._bootstrap import generator, percentile_interval, resample_counts


class Interval(NamedTuple):
    """A value with the ends of its interval."""

    value: float
    low: float
    high: float

    def __repr__(self) -> str:
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


@dataclass(frozen=True)
class Policy:
    """One way to decide, on the held-out rows.

    cost : per case, negative for an income; total : of all rows, likewise; difference : of the cost per case to the
    model's, row by row, positive where this policy costs more; misses, alarms, actions : weights of the rows missed, of
    the false alarms, and of all rows acted on.
    """

    name: str
    cost: Interval
    total: float
    misses: float
    alarms: float
    actions: float
    difference: Interval | None


class Money(NamedTuple):
    """What acting on each row costs, and what leaving it alone, given its class: (n,) each."""

    acting: Vector
    leaving: Vector

    @classmethod
    def of(cls, sample: Samples, outcomes: dict[str, Any]) -> Money:
        """From the costs of the four outcomes, numbers or (n,) each."""
        tp, fp, tn, fn = (np.asarray(outcomes[name], dtype=np.float64) for name in OUTCOMES)
        return cls(np.where(sample.positive, tp, fp), np.where(sample.positive, fn, tn))

    def at(self, rows: Any) -> Money:
        """Of these rows."""
        return Money(self.acting[rows], self.leaving[rows])


def compared_policies(
    accepted: dict[str, Vector],
    sample: Samples,
    money: Money,
    n_resamples: int,
    confidence: float,
    random_state: Any,
    *,
    groups: Any = None,
) -> list[Policy]:
    """The line of each policy, given the share of times that each row was acted on; the first is the model's.

    groups : (n,) labels of rows that are drawn together, or None.
    """
    weights = sample.weights
    wrong = np.array([np.where(sample.positive, 1.0 - each, each) for each in accepted.values()])
    weighted_costs = np.array(
        [weights * (each * money.acting + (1.0 - each) * money.leaving) for each in accepted.values()]
    )
    group = np.arange(len(sample)) if groups is None else np.unique(groups, return_inverse=True)[1]
    drawn, stakes_drawn = np.bincount(group, weights), np.array([np.bincount(group, each) for each in weighted_costs])
    counts = resample_counts([np.arange(len(drawn))], n_resamples, generator(random_state), stratified=False)
    means = np.concatenate([batch @ stakes_drawn.T / (batch @ drawn)[:, np.newaxis] for batch in counts])
    cost, total = weighted_costs.sum(axis=1) / weights.sum(), weighted_costs.sum(axis=1)
    low, high = percentile_interval(means, confidence)
    apart_low, apart_high = percentile_interval(means - means[:, :1], confidence)
    return [
        Policy(
            name=name,
            cost=Interval(float(cost[k]), float(low[k]), float(high[k])),
            total=float(total[k]),
            misses=float((wrong[k] * weights)[sample.positive].sum()),
            alarms=float((wrong[k] * weights)[~sample.positive].sum()),
            actions=float(acted @ weights),
            difference=None
            if k == 0
            else Interval(float(cost[k] - cost[0]), float(apart_low[k]), float(apart_high[k])),
        )
        for k, (name, acted) in enumerate(accepted.items())
    ]
