"""The table of an evaluation for decisions that were made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._core.cost_matrix import OUTCOMES, decision_costs
from .._core.folds import check_groups
from .._core.positive_class import PositiveClassScores
from .._core.samples import Samples
from .._core.validation import align_to_samples
from ..metrics._action import GIVEN, ActionScores, scores_of_decisions
from ..metrics._bootstrap import check_request
from ..metrics._income import ActionCosts
from ..metrics._scored import ScoredSamples
from .cross_val import named
from .evaluate import compared
from .result import MODEL, Evaluation, HeldOutDecisions


def evaluate_predictions(
    y_true: Any,
    y_pred: Any,
    *,
    y_score: Any = None,
    outcomes: dict[str, Any],
    pos_label: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    compare: Mapping[str, Any] | None = None,
    resampling: tuple[int, float, Any] = (1000, 0.95, 0),
    currency: str = "",
) -> Evaluation:
    """What decisions `y_pred` on rows with labels `y_true` cost, beside the plain policies and other decisions.

    y_score : scores that are higher for the target, or None; outcomes : the four costs by name; groups : (n,) rows that
    belong together and are drawn together for the intervals; compare : other decisions by name; resampling : number of
    resamples, confidence and seed.
    """
    check_request(*resampling[:2])
    given = align_to_samples(None, y_true, **outcomes, sample_weight=sample_weight, groups=groups)
    outcomes = {name: given[name] for name in OUTCOMES}
    label = y_score.target if isinstance(y_score, PositiveClassScores) and pos_label is None else pos_label
    whole = Samples.read(
        y_true, y_pred, pos_label=label, sample_weight=given["sample_weight"], **dict(decision_costs(**outcomes))
    )
    whole.check_both_classes_weighted("a comparison of decisions")
    groups = check_groups(given["groups"], len(whole))
    counted = whole.counted_rows
    sample, money = whole.take(counted), ActionCosts.from_outcomes(whole, outcomes).take(counted)
    decided = {MODEL: y_pred} | named({} if compare is None else compare)
    acted = {name: whole.decisions(labels)[counted] for name, labels in decided.items()}
    if y_score is None:
        scores = scores_of_decisions(acted[MODEL])
    else:
        values = whole.scores(y_score.values if isinstance(y_score, PositiveClassScores) else y_score)[counted]
        scores = ActionScores(values.astype(np.float64), np.nan, GIVEN)
        if not isinstance(y_score, PositiveClassScores):
            ScoredSamples.from_samples(sample, scores.values).warn_below_chance()
    return compared(
        {name: each.astype(np.float64) for name, each in acted.items()},
        sample,
        money,
        rows=np.arange(len(sample)),
        groups=None if groups is None else groups[counted],
        held_out=HeldOutDecisions(
            sample=sample,
            money=money,
            acted=acted[MODEL],
            scores=scores,
            fold=np.zeros(len(sample), dtype=np.intp),
            models=[],
            n_trained=[],
        ),
        own_estimate=np.nan,
        resampling=resampling,
        currency=currency,
    )
