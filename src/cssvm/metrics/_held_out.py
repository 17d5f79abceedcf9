"""Rows scored by models that have not seen them: what `cross_validate` returns, read once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from .._core.positive_class import positive_class_scores
from .._core.samples import Samples
from ._scored import ScoredSamples


class HeldOut(NamedTuple):
    """The held-out rows of each fold with the scores of its own estimator, and the rows of all folds together."""

    folds: list[ScoredSamples]
    pooled: ScoredSamples


def held_out_rows(
    cv_results: dict[str, Any],
    X: Any,
    y: Any,
    *,
    fn_cost: Any = 1.0,
    fp_cost: Any = 1.0,
    pos_label: Any = None,
    sample_weight: Any = None,
    response_method: str = "auto",
) -> HeldOut:
    """Score the rows that each estimator was not trained on; `pos_label` None is the first estimator's target.

    Labels, weights and costs are read with all rows, so that a pandas Series finds its rows by the index of y, and a
    fold need not hold a row of each cost.
    """
    missing = [key for key in ("estimator", "indices") if key not in cv_results]
    if missing:
        raise ValueError(
            f"cv_results must hold the estimators and the rows of the folds; it lacks {missing}. "
            "Call cross_validate(..., return_estimator=True, return_indices=True)."
        )
    parts, scores = cv_results["indices"]["test"], []
    for estimator, rows in zip(cv_results["estimator"], parts, strict=True):
        found = positive_class_scores(
            estimator, _safe_indexing(X, rows), pos_label=pos_label, response_method=response_method
        )
        pos_label, target = found.pos_label, found.target
        scores.append(found.values)
    sample = Samples.read(y, pos_label=target, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
    folds = [sample.take(rows) for rows in parts]
    scored = [ScoredSamples.from_samples(fold, fold.scores(own)) for fold, own in zip(folds, scores, strict=True)]
    pooled = sample.take(np.concatenate(parts))
    return HeldOut(scored, ScoredSamples.from_samples(pooled, np.concatenate(scores)))
