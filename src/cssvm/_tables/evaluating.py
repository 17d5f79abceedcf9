"""`evaluate_table` and `report_table`: what the decisions of a saved model cost on rows with labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._core.positive_class import response_and_threshold, to_python
from .._core.samples import Samples, has_both_classes
from .._core.types import Vector
from .._evaluation import Evaluation
from .._evaluation.action_scores import (
    COST_RATIO,
    DECISION_VALUE,
    PROBABILITY,
    ActionScores,
    align_with_predictions,
    scores_by_costs,
)
from .._evaluation.cross_val import fewest_errors, warn_cost_leakage
from .._evaluation.result import EVERYBODY, FEWEST_ERRORS, MODEL, NOBODY, FoldPredictions, HeldOutPredictions
from .._report import Report
from ..metrics._bootstrap import check_request, joint_intervals
from ..metrics._curves import mean_height
from ..metrics._policies import Interval
from ..metrics._risk import ranked_min_risk
from ..metrics._scored import ScoredSamples
from .chunk import TableError
from .cost_spec import read_weight_column
from .predicting import TableScorer
from .sources import open_table

BEST = "cost per row at the best threshold"
BEST_RATIO = "cost per row at the best cost ratio"  # for a model that decides by the costs of each row


@dataclass(frozen=True)
class EvaluatedTable:
    """Measures by name and numbers of labelled rows of positive weight; rows without a label are left out.

    evaluation : costs of the model and of the baselines, which prints as a table.
    """

    target: str
    measures: dict[str, Interval]
    n_rows: int
    n_positives: int
    n_acted: int
    n_unlabelled: int
    evaluation: Evaluation = field(compare=False)


def evaluate_table(
    model: Any,
    data: Any,
    *,
    target: str | None = None,
    fn_cost: Any = None,
    fp_cost: Any = None,
    weight: str | None = None,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
    progress: Callable[[int], Any] | None = None,
    only_costs: bool = False,
) -> EvaluatedTable:
    """Measure a saved model, a file or a `SavedModel`, on labelled rows that it should not have been trained on.

    The target column and the costs are the card's unless they are given; `weight` is a column. The measures are the
    costs per row of `evaluate` and the values of `bootstrap_interval` for the metrics. The best threshold is one on
    what the model decides by: the score or, if costs differ by row, the ratio of the two expected costs. `progress` is
    called with the number of rows read. With `only_costs` the other measures are left out.
    """
    resampling: dict[str, Any] = {"n_resamples": n_resamples, "confidence": confidence, "random_state": random_state}
    scorer = TableScorer.load(model, fn_cost=fn_cost, fp_cost=fp_cost)
    column = scorer.card.target if target is None else target
    if column is None:
        raise TableError("the card of this model names no target column: give it, with target (--target).")
    check_request(n_resamples, confidence)
    rows, n_read = _score_labelled(scorer, data, column, weight, progress)
    evaluation = _evaluate(scorer, rows, **resampling)
    held_out = evaluation.held_out
    assert held_out is not None
    counted, positive = rows["weights"] > 0, held_out.scored.positive
    measures = {"cost per row": evaluation.model.cost}
    measures |= {name: evaluation[name].cost for name in (NOBODY, EVERYBODY)}
    if not only_costs:
        probabilities = None if rows["probabilities"] is None else rows["probabilities"][counted]
        others = _measures(held_out, rows["scores"][counted], probabilities)
        found = joint_intervals(others, held_out.scored.labels, **resampling)
        measures |= {name: Interval(*each[:3]) for name, each in found.items()}
    return EvaluatedTable(
        target=column,
        measures=measures,
        n_rows=len(positive),
        n_positives=int(np.count_nonzero(positive)),
        n_acted=int(np.count_nonzero(rows["acted"][counted])),
        n_unlabelled=n_read - len(counted),
        evaluation=evaluation,
    )


def report_table(model: Any, data: Any, *, title: str = "", **options: Any) -> Report:
    """Make a report on a saved model and labelled rows; options : of `evaluate_table`."""
    found = evaluate_table(model, data, **options, only_costs=True)
    return Report.from_evaluation(found.evaluation, title=title or f"What decisions on “{found.target}” cost")


def _score_labelled(
    scorer: TableScorer, data: Any, column: str, weight: str | None, progress: Callable[[int], Any] | None = None
) -> tuple[dict[str, Any], int]:
    """Labels, predictions, weights and costs by name, (n_labelled,) or numbers, and the number of rows read."""
    parts, n_read = [], 0
    for chunk in open_table(data).chunks():
        own, labels = scorer.labelled(chunk, column, weight)
        if len(labels):
            costs = scorer.required_costs(own, labels)
            predicted = scorer.predict(own, costs)
            parts.append(
                {
                    "positive": labels == scorer.positive_class.label,
                    "acted": predicted.labels == scorer.positive_class.label,
                    "scores": predicted.scores,
                    "probabilities": predicted.probabilities,
                    "weights": np.ones(len(labels)) if weight is None else read_weight_column(own, weight),
                    **costs,
                    **{f"known {name}": cost for name, cost in predicted.costs.items()},
                }
            )
        n_read += len(chunk)
        if progress is not None:
            progress(n_read)
    if not parts:
        raise TableError(f"column {column!r} holds no labels.")
    rows = {
        name: np.concatenate([part[name] for part in parts]) if np.ndim(first) else first
        for name, first in parts[0].items()
    }
    counted = rows["positive"][rows["weights"] > 0]
    if not has_both_classes(counted):
        missing = scorer.positive_class.other if counted.any() else scorer.positive_class.label
        raise TableError(
            f"column {column!r} must hold labels of both classes, on rows of positive weight; got none of "
            f"{to_python(missing)!r}. Give a table that has rows of both."
        )
    return rows, n_read


def _evaluate(scorer: TableScorer, rows: dict[str, Any], **resampling: Any) -> Evaluation:
    """Costs of the model's predictions, of the baselines and of the threshold with the fewest errors."""
    costs = {name: rows[name] for name in ("fn_cost", "fp_cost")}
    sample = Samples.from_mask(scorer.positive_class, rows["positive"], **costs, sample_weight=rows["weights"])
    sample.check_totals()
    model = scorer.saved.model
    warn_cost_leakage([model], costs, sample.positive)
    if scorer.decides_by and rows["probabilities"] is not None:
        known = {name: rows[f"known {name}"] for name in costs}
        scores = scores_by_costs(rows["probabilities"], **known)
    else:
        method, threshold = response_and_threshold(model, scorer.positive_class)
        scores = ActionScores(rows["scores"], threshold, PROBABILITY if method == "predict_proba" else DECISION_VALUE)
    scores = align_with_predictions(scores, rows["acted"])
    own = FoldPredictions(np.arange(len(sample)), rows["acted"], scores, model)
    return Evaluation.from_predictions(
        {MODEL: [own], FEWEST_ERRORS: fewest_errors(rows["scores"], sample)},
        sample,
        {"tp_cost": 0.0, "tn_cost": 0.0, **costs},
        currency=scorer.card.currency or "",
        **resampling,
    )


def _measures(
    held_out: HeldOutPredictions, scores: Vector, probabilities: Vector | None
) -> Callable[[Vector], dict[str, Vector]]:
    """A function of how often each row was drawn, (n_batch, n_rows), that returns measures by name, (n_batch,) each.

    Ratios of sums over rows come from one product of the counts with the summands.
    """
    scored = held_out.scored
    by_score = ScoredSamples.from_samples(scored.samples, scores)
    ranked_positive, ranked_weights = by_score.ranked(by_score.positive), by_score.ranked(by_score.samples.weights)
    best, weights_of_best = ranked_min_risk(scored), scored.ranked(scored.samples.weights)
    name_of_best = BEST_RATIO if held_out.score_kind == COST_RATIO else BEST
    positive, acted, weights, cost = scored.positive, scored.predictions, scored.samples.weights, scored.samples.cost
    assert acted is not None
    summed = {
        "all": weights,
        "positives": weights * positive,
        "negatives": weights * ~positive,
        "acted": weights * acted,
        "true positives": weights * (positive & acted),
        "false positives": weights * (~positive & acted),
        "cost": weights * cost * (positive != acted),
        "cost of nobody": weights * cost * positive,
        "cost of everybody": weights * cost * ~positive,
        "squares": weights * (0.0 if probabilities is None else (probabilities - positive) ** 2),
    }
    columns = np.column_stack(list(summed.values()))

    def measures(counts: Vector) -> dict[str, Vector]:
        of = dict(zip(summed, (counts @ columns).T, strict=True))
        order = by_score.ranking.order
        fpr, fnr = by_score.ranking.rates(ranked_positive, ranked_weights * counts.take(order, axis=1))
        found = {
            "savings": 1.0 - _ratio(of["cost"], np.minimum(of["cost of nobody"], of["cost of everybody"])),
            name_of_best: best.values(weights_of_best * counts.take(scored.ranking.order, axis=1)),
            "recall": _ratio(of["true positives"], of["positives"]),
            "false positive rate": _ratio(of["false positives"], of["negatives"]),
            "precision": _ratio(of["true positives"], of["acted"]),
            "acted on": _ratio(of["acted"], of["all"]),
            "AUC": 1.0 - mean_height(fpr, fnr, 1.0),
            "TP-0.9 area loss": mean_height(fnr[:, ::-1], fpr[:, ::-1], 1.0 - 0.9),
            "TN-0.9 area loss": mean_height(fpr, fnr, 1.0 - 0.9),
        }
        return found if probabilities is None else found | {"Brier score": of["squares"] / of["all"]}

    return measures


def _ratio(values: Vector, base: Vector) -> Vector:
    """The quotient of two vectors, (n,) each; nan where the base is 0."""
    return np.divide(values, base, out=np.full_like(base, np.nan), where=base > 0)
