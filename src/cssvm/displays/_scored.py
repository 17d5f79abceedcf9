"""How displays of scored rows are made: from an estimator, from predictions or from cross-validation, written once.

A display says which numbers it needs: functions of `cssvm.metrics` whose result has the fields of its constructor. Its
class methods `from_...` only state their arguments and pass them on to the methods here:

    estimator, X, y   ->  labels and scores  ->  checked rows   ->  numbers  ->  display  ->  plot
    cv_results, X, y                         ->  checked folds  ->  numbers  ->  display  ->  plot
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from .._core.positive_class import PositiveClassScores, positive_class_scores
from .._core.prediction_costs import COSTS, per_sample_costs, predict_with_costs
from .._core.types import Mask
from .._core.validation import align_to_samples
from ..metrics._held_out import held_out_rows
from ..metrics._scored import ScoredSamples


class ScoredDisplayMixin:
    """What displays of scored rows share.

    In all methods `of_rows` are the arguments that speak of rows: fn_cost, fp_cost, pos_label and sample_weight;
    `options` are those of the numbers, `drawing` those of `plot`.
    """

    # The arguments of the constructor, but for the name: of a ScoredSamples, and of the HeldOut rows of folds.
    _numbers: ClassVar[Callable[..., NamedTuple]]
    _fold_numbers: ClassVar[Callable[..., NamedTuple]]

    # How the legend calls the line that stands for all folds, after the class of the estimators.
    _name_of_folds: ClassVar[str] = "mean"

    plot: Any

    def __init__(self, *, name: str | None, **numbers: Any) -> None:
        raise NotImplementedError

    @classmethod
    def _known_from_estimator(
        cls, estimator: Any, X: Any, y: Any, scores: PositiveClassScores, of_rows: dict[str, Any]
    ) -> dict[str, Any]:
        """Options that follow from where the scores come from."""
        return {}

    @staticmethod
    def _own_decisions(estimator: Any, X: Any, y: Any, scores: PositiveClassScores, of_rows: dict[str, Any]) -> Mask:
        """Which rows of positive weight the estimator itself acts on, by the costs of the rows if it takes them."""
        given = align_to_samples(X, y, **{name: of_rows[name] for name in (*COSTS, "sample_weight")})
        weights = given.pop("sample_weight")
        acted_on = np.asarray(predict_with_costs(estimator, X, per_sample_costs(given))) == scores.pos_label
        return acted_on if weights is None else acted_on[np.broadcast_to(weights, len(acted_on)) > 0]

    @classmethod
    def _from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        of_rows: dict[str, Any],
        response_method: str,
        options: dict[str, Any],
        name: str | None,
        drawing: dict[str, Any],
    ) -> Self:
        """Score X with a fitted classifier and draw the scores."""
        scores = positive_class_scores(estimator, X, pos_label=of_rows["pos_label"], response_method=response_method)
        return cls._from_predictions(
            y,
            scores,
            of_rows=of_rows | {"pos_label": None},
            options=options | cls._known_from_estimator(estimator, X, y, scores, of_rows),
            name=type(estimator).__name__ if name is None else name,
            drawing=drawing,
        )

    @classmethod
    def _from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        of_rows: dict[str, Any],
        options: dict[str, Any],
        name: str | None,
        drawing: dict[str, Any],
    ) -> Self:
        """Check labels, scores, costs and weights, compute the numbers and draw them."""
        rows = ScoredSamples.from_labels(y_true, y_score, **of_rows, in_double=True)
        return cls(**cls._numbers(rows, **options)._asdict(), name=name).plot(**drawing)

    @classmethod
    def _from_cv_results(
        cls,
        cv_results: dict[str, Any],
        X: Any,
        y: Any,
        *,
        of_rows: dict[str, Any],
        response_method: str,
        options: dict[str, Any],
        name: str | None,
        drawing: dict[str, Any],
    ) -> Self:
        """Score the held-out rows of each fold with its own estimator, compute the numbers and draw them."""
        held_out = held_out_rows(cv_results, X, y, **of_rows, response_method=response_method)
        if name is None:
            name = f"{type(cv_results['estimator'][0]).__name__}, {cls._name_of_folds}"
        return cls(**cls._fold_numbers(held_out, **options)._asdict(), name=name).plot(**drawing)
