"""What an evaluation found: the table of policies, and the decisions behind the model's line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.samples import Samples
from .._core.types import Mask, RowNumbers
from ..metrics._action import ActionScores
from ..metrics._income import ActionCosts
from ..metrics._policies import Policy
from ..metrics._scored import ScoredSamples

MODEL, NOBODY, EVERYBODY, BLIND = "model", "act on nobody", "act on everybody", "cost-blind SVC"
ROW_COSTS = "logistic, row costs"
FEWEST_ERRORS = "cost-blind cut"  # of the scores of a model that is not trained here
RESERVED = (MODEL, NOBODY, EVERYBODY, BLIND, ROW_COSTS, FEWEST_ERRORS)


@dataclass(frozen=True, eq=False)
class HeldOutDecisions:
    """The model's decisions on rows it had not seen, an entry for each time that a row of positive weight was held out.

    sample : the entries; a row held out several times shares its weight among them; money : what acting and leaving
    costs on each; acted : (n,) bool; scores : for acting; fold : (n,) which model decided; models : fitted, one for
    each fold, or none for decisions from elsewhere; n_trained : how many rows each was trained on, 0 if not known.
    """

    sample: Samples
    money: ActionCosts
    acted: Mask
    scores: ActionScores
    fold: RowNumbers
    models: list[Any]
    n_trained: list[int]

    @property
    def scored(self) -> ScoredSamples:
        """The entries with their scores, sorted."""
        return ScoredSamples.from_samples(self.sample, self.scores.values)


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` returns; it prints as a table.

    policies : the model first, then the others; own_estimate : the cost per case that the model's own search expected,
    nan for a model without one, or one that is not of these decisions and outcomes; decisions : for each policy
    whether it acts on each row, (n_samples,) bool, for rows of positive weight that were held out; n_rows : how many;
    held_out : what the model's line was computed from; notes : what else there is to say.
    """

    policies: list[Policy]
    own_estimate: float
    decisions: dict[str, Mask]
    n_rows: int
    confidence: float
    currency: str = ""
    held_out: HeldOutDecisions | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Policy:
        for policy in self.policies:
            if policy.name == name:
                return policy
        raise KeyError(f"{name!r} is none of the policies {[policy.name for policy in self.policies]}.")

    @property
    def model(self) -> Policy:
        """The model's line."""
        return self.policies[0]

    @property
    def trained_here(self) -> bool:
        """Whether the models were trained by `evaluate`, without the rows that they decide on."""
        return self.held_out is None or any(self.held_out.n_trained)

    @property
    def how_decided(self) -> str:
        """How many rows there are, whether models were trained without them, and whether rows are weighted."""
        how = "which the model must not have seen"
        if self.trained_here:
            how = "each decided by a model that has not seen it"
        weighted = self.held_out is not None and bool((self.held_out.sample.weights != 1.0).any())
        counts = " Totals and counts are sums of weights." if weighted else ""
        return f"{self.n_rows:,} rows, {how}; intervals of {self.confidence:.0%}.{counts}"

    def to_frame(self) -> Any:
        """The table as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "policy": policy.name,
                    "cost": policy.cost.value,
                    "cost_low": policy.cost.low,
                    "cost_high": policy.cost.high,
                    "total": policy.total,
                    "misses": policy.false_negatives,
                    "alarms": policy.false_positives,
                    "actions": policy.actions,
                    "difference": np.nan if policy.difference is None else policy.difference.value,
                    "difference_low": np.nan if policy.difference is None else policy.difference.low,
                    "difference_high": np.nan if policy.difference is None else policy.difference.high,
                }
                for policy in self.policies
            ]
        ).set_index("policy")

    def __str__(self) -> str:
        unit = f" {self.currency}" if self.currency else ""
        head = ("", f"cost per case{unit}", "total", "missed", "alarms", "acted on", "more than the model")
        lines = [head, *(self._line(policy) for policy in self.policies)]
        widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
        table = [
            "  ".join(
                [line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))]
            )
            for line in lines
        ]
        notes = [self.how_decided]
        if np.isfinite(self.own_estimate):
            notes.append(
                f"The search itself expected {self.own_estimate:.4g} per case; it has chosen by these numbers."
            )
        return "\n".join([*(line.rstrip() for line in table), *notes, *self.notes])

    __repr__ = __str__

    @staticmethod
    def _line(policy: Policy) -> tuple[str, ...]:
        counts = (
            f"{value:,.0f}" for value in (policy.total, policy.false_negatives, policy.false_positives, policy.actions)
        )
        return (policy.name, repr(policy.cost), *counts, "" if policy.difference is None else repr(policy.difference))
