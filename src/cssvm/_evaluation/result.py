"""The result of an evaluation: the table of policies, and the model's predictions behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from .._core.samples import Samples
from .._core.types import Mask, RowNumbers, Vector
from .._runtime.format import DIGITS, aligned_table, format_count, format_estimate, format_number
from ..metrics._bootstrap import check_request
from ..metrics._income import ActionCosts
from ..metrics._policies import Policy, compare_policies
from ..metrics._scored import ScoredSamples
from .action_scores import LESS_OWN, ActionScores

MODEL, NOBODY, EVERYBODY, BLIND = "model", "act on nobody", "act on everybody", "cost-blind SVC"
ROW_COSTS = "logistic, row costs"
FEWEST_ERRORS = "cost-blind cut"  # of the scores of a model that is not trained here
RESERVED = (MODEL, NOBODY, EVERYBODY, BLIND, ROW_COSTS, FEWEST_ERRORS)

WIDTH = 80  # columns of the printed table


class FoldPredictions(NamedTuple):
    """Sample numbers, whether the model acts on each of them, and its scores for acting if they are needed.

    model : None for predictions made elsewhere; n_trained : number of training samples, 0 if not known.
    """

    rows: RowNumbers
    acted: Mask
    scores: ActionScores | None = None
    model: Any = None
    n_trained: int = 0


@dataclass(frozen=True, eq=False)
class HeldOutPredictions:
    """The model's predictions for samples it was not trained on, an entry for each time that one was held out.

    scored : the entries; a sample held out several times shares its weight among them; own_threshold, score_kind : as
    in `ActionScores`; costs : of acting and not acting; fold : (n,) number of the model; models, n_trained : as in
    `FoldPredictions`, none for predictions made elsewhere.
    """

    scored: ScoredSamples
    own_threshold: float
    score_kind: str
    costs: ActionCosts
    fold: RowNumbers
    models: list[Any]
    n_trained: list[int]

    @classmethod
    def from_folds(cls, folds: Sequence[FoldPredictions], samples: Samples, costs: ActionCosts) -> HeldOutPredictions:
        """Pool the predictions of all folds; entries of weight zero are left out."""
        rows = np.concatenate([fold.rows for fold in folds])
        shared = samples.weights / np.maximum(np.bincount(rows, minlength=len(samples)), 1)
        scores = _at_one_threshold([fold.scores for fold in folds if fold.scores is not None])
        acted = np.concatenate([fold.acted for fold in folds])
        counted = shared[rows] > 0
        return cls(
            scored=ScoredSamples.from_samples(
                replace(samples, weights=shared).take(rows), scores.values, predictions=acted
            ),
            own_threshold=scores.own_threshold,
            score_kind=scores.kind,
            costs=costs.take(rows[counted]),
            fold=np.repeat(np.arange(len(folds)), [len(fold.rows) for fold in folds])[counted],
            models=[fold.model for fold in folds if fold.model is not None],
            n_trained=[fold.n_trained for fold in folds],
        )


def _at_one_threshold(parts: Sequence[ActionScores]) -> ActionScores:
    """The scores of all models; if their thresholds differ, each less its own; nan where one is not known."""
    own, joined = np.array([part.own_threshold for part in parts]), parts[0]
    values = [part.values for part in parts]
    if own.min() != own.max():
        joined = joined._replace(own_threshold=np.nan)
        if np.isfinite(own).all():
            values = [part.values - part.own_threshold for part in parts]
            joined = joined._replace(own_threshold=0.0, kind=f"{joined.kind} {LESS_OWN}")
    return joined._replace(values=np.concatenate(values))


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` returns; it prints as a table.

    Attributes
    ----------
    policies : list of Policy
        Costs of the model, the baselines and the other models. A policy has a ``name``, its ``cost`` per row with an
        interval, the ``total``, the weights of ``false_negatives``, ``false_positives`` and ``actions``, and the paired
        ``difference`` to the model. ``evaluation[name]`` finds one by its name.
    own_estimate : float
        Cost per row that the model's own search expected; nan if there is none for these decisions.
    decisions : dict of str to ndarray of shape (n_samples,)
        Whether each policy acts on each sample, for samples of positive weight that were held out.
    n_rows : int
        Number of these samples.
    confidence : float
        Confidence level of the intervals.
    currency : str
        Unit of the costs.
    held_out : HeldOutPredictions or None
        The predictions that the model's costs were computed from.
    notes : tuple of str
        Models that could not be trained, or were trained without weights.
    """

    policies: list[Policy]
    own_estimate: float
    decisions: dict[str, Mask]
    n_rows: int
    confidence: float
    currency: str = ""
    held_out: HeldOutPredictions | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def from_predictions(
        cls,
        predictions: dict[str, list[FoldPredictions]],
        sample: Samples,
        outcomes: dict[str, Any],
        *,
        groups: Any = None,
        own_estimate: float = np.nan,
        n_resamples: int = 1000,
        confidence: float = 0.95,
        random_state: Any = 0,
        currency: str = "",
        notes: Sequence[str] = (),
    ) -> Evaluation:
        """Compare the model's predictions with the baselines and with those of other models."""
        check_request(n_resamples, confidence)
        share = {name: _action_share(folds, len(sample)) for name, folds in predictions.items()}
        share |= {NOBODY: np.zeros(len(sample)), EVERYBODY: np.ones(len(sample))}
        order = [name for name in RESERVED if name in share]
        order += [name for name in share if name not in order]
        rows = np.unique(np.concatenate([fold.rows for fold in predictions[MODEL]]))
        rows = rows[sample.weights[rows] > 0]
        costs = ActionCosts.from_outcomes(sample, outcomes)
        policies = compare_policies(
            {name: share[name][rows] for name in order},
            sample.take(rows),
            costs.take(rows),
            groups=None if groups is None else groups[rows],
            n_resamples=n_resamples,
            confidence=confidence,
            random_state=random_state,
        )
        return cls(
            policies=policies,
            own_estimate=own_estimate,
            decisions={name: share[name] > 0.5 for name in order},
            n_rows=len(rows),
            confidence=confidence,
            currency=currency,
            held_out=HeldOutPredictions.from_folds(predictions[MODEL], sample, costs),
            notes=tuple(notes),
        )

    def __getitem__(self, name: str) -> Policy:
        for policy in self.policies:
            if policy.name == name:
                return policy
        raise KeyError(f"policy must be one of {[policy.name for policy in self.policies]}; got {name!r}.")

    @property
    def model(self) -> Policy:
        """Costs of the model."""
        return self.policies[0]

    @property
    def trained_here(self) -> bool:
        """Whether `evaluate` trained the models, each without the samples that it decides on."""
        return self.held_out is None or any(self.held_out.n_trained)

    def to_frame(self) -> Any:
        """The table as a data frame with a row for each policy.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "policy": policy.name,
                    **_columns("cost", policy.cost),
                    "total": policy.total,
                    "false_negatives": policy.false_negatives,
                    "false_positives": policy.false_positives,
                    "actions": policy.actions,
                    **_columns("difference", policy.difference or (np.nan, np.nan, np.nan)),
                }
                for policy in self.policies
            ]
        ).set_index("policy")

    def _rows(self, digits: int = DIGITS) -> list[tuple[str, ...]]:
        """Cells of the printed table."""
        return [
            (
                policy.name,
                format_estimate(*policy.cost, digits),
                "" if policy.difference is None else format_estimate(*policy.difference, digits),
                format_count(policy.false_negatives),
                format_count(policy.false_positives),
            )
            for policy in self.policies
        ]

    def _head(self) -> tuple[str, ...]:
        return "", f"cost per row\n{self.currency}".rstrip(), "more than\nthe model", "\nmissed", "false\nalarms"

    def _sentences(self) -> list[str]:
        """What is printed below the table."""
        weights = self.held_out.scored.samples.weights if self.held_out is not None else np.ones(1)
        unseen = "each decided by a model that was not trained on it"
        assumed = "which must not be in the model's training data"
        sentences = [
            f"{self.n_rows:,} rows, {unseen if self.trained_here else assumed}.",
            f"The model acts on {format_count(self.model.actions)} of them, at a total cost of "
            f"{f'{format_number(self.model.total)} {self.currency}'.rstrip()}.",
            f"In brackets: {self.confidence:.0%} confidence intervals.",
        ]
        if (weights != 1.0).any():
            sentences.append("Totals and counts are sums of weights.")
        if np.isfinite(self.own_estimate):
            sentences.append(
                f"The search expected {format_number(self.own_estimate)} per row, which is optimistic: it chose the "
                "parameters by that number."
            )
        return [*sentences, *self.notes]

    def __str__(self) -> str:
        sentences = [fill(text, WIDTH, break_on_hyphens=False) for text in self._sentences()]
        for digits in (DIGITS, DIGITS - 1):  # fewer for small costs, whose numbers are long
            table = aligned_table(self._rows(digits), self._head(), "<>")
            if max(map(len, table.splitlines())) <= WIDTH:
                break
        return "\n".join([table, *sentences])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(f"<th>{escape(' '.join(cell.split()))}</th>" for cell in self._head())
        rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows())
        notes = " ".join(self._sentences())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table><p>{escape(notes)}</p>"


def _action_share(folds: Sequence[FoldPredictions], n_samples: int) -> Vector:
    """How often each sample was acted on when it was held out, as a share, (n_samples,)."""
    times, acted = np.zeros(n_samples), np.zeros(n_samples)
    for fold in folds:
        acted[fold.rows] += fold.acted
        times[fold.rows] += 1.0
    return acted / np.maximum(times, 1.0)


def _columns(name: str, interval: Any) -> dict[str, float]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), interval, strict=True))
