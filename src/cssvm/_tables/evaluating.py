"""`evaluate_table`: what the decisions of a saved model are worth on rows whose labels are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.positive_class import PositiveClass, PositiveClassScores
from .._core.prediction_costs import COSTS
from .._core.types import Mask, Vector
from .._evaluation import evaluate_predictions
from .._evaluation.result import EVERYBODY, NOBODY
from ..metrics._action import COST_RATIO, DECISION_VALUE, ActionScores, scores_by_costs
from ..metrics._bootstrap import check_request, joint_intervals
from ..metrics._partial_auc import mean_height
from ..metrics._policies import Interval
from ..metrics._risk import ranked_min_risk
from ..metrics._scored import ScoredSamples
from .chunk import Chunk, TableError
from .cost_spec import read_weight_column
from .scoring import Decider
from .sources import open_table

COST, BEST, AUC = "cost per case", "cost per case at the best threshold", "AUC"
BEST_RATIO = "cost per case at the best cost ratio"  # the same of a model that decides by the costs of each row
MEASURES = (
    *("savings", BEST, "targets found", "false alarms among others", "targets among acted on", "acted on"),
    *(AUC, "TP-0.9 area loss", "TN-0.9 area loss", "Brier score"),
)


@dataclass(frozen=True)
class EvaluatedTable:
    """What `evaluate_table` returns.

    measures : values with their intervals, by name; n_rows, n_targets : labelled rows, and those of the target;
    n_acted : rows decided to be of the target; n_unlabelled : rows that were left out; total : cost of all decisions.
    """

    measures: dict[str, Interval]
    n_rows: int
    n_targets: int
    n_acted: int
    n_unlabelled: int
    total: float
    confidence: float
    currency: str


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
) -> EvaluatedTable:
    """Measure a saved model on a table with labels, which it should not have been trained on.

    Parameters
    ----------
    model : path or SavedModel
        A model file, or what `cssvm.deploy.load_model` returns.
    data : path, "-" or data frame
        As for `train_table`.
    target : str, default=None
        The column of labels; None: as the card says. Rows without a label are left out.
    fn_cost, fp_cost : float or str, default=None
        What errors on these rows cost, as for `train_table`; None: as the card says.
    weight : str, default=None
        A column of row weights.
    n_resamples : int, default=1000
        Resamples of the rows for the intervals.
    confidence : float, default=0.95
        Of the intervals.
    random_state : int, RandomState instance or None, default=0
        Seed of the resampling.
    progress : callable, default=None
        CallableKernel with the number of rows done after each chunk.

    Returns
    -------
    EvaluatedTable
        Its ``measures`` are the costs per case of the model and of the plain policies, as `evaluate` and `report_table`
        find them, and those of `bootstrap_interval` for `savings_score`, `min_cost_risk`, the shares of targets found,
        of false alarms, of targets among the rows acted on and of rows acted on, the areas of the ROC curve, and for
        probabilities the Brier score. The best threshold is one of what the model decides by: of the score, or, named
        "cost per case at the best cost ratio", of the ratio of the two expected costs, if it decides by the costs of
        each row.

    Examples
    --------
    >>> import pandas as pd
    >>> from cssvm.deploy import SavedModel
    >>> from cssvm._tables import evaluate_table, train_table
    >>> loans = pd.DataFrame({"income": [9.0, 8.0, None, 2.0, 7.0, 1.0] * 5,
    ...                       "outcome": ["paid", "paid", "default", "default", "paid", "default"] * 5})
    >>> trained = train_table(loans, target="outcome", pos_label="default", fn_cost=5, Cs=3, gammas=3, evaluation=False)
    >>> found = evaluate_table(SavedModel(trained.model, trained.card), loans, n_resamples=200)
    >>> print(found.measures["cost per case"].value, found.measures["act on everybody"].value)
    0.0 0.5
    """
    check_request(n_resamples, confidence)
    decider = Decider.of(model, fn_cost=fn_cost, fp_cost=fp_cost)
    rows, n_read = _read(decider, data, target, weight, progress)
    n_labelled = len(rows.positive)
    if rows.weights is not None:
        rows = rows.take(rows.weights > 0)
    options: dict[str, Any] = {"n_resamples": n_resamples, "confidence": confidence, "random_state": random_state}
    target_class = decider.target
    of_rows: dict[str, Any] = {"pos_label": target_class.label, "sample_weight": rows.weights}
    y, acted = target_class.labels(rows.positive), target_class.labels(rows.acted)
    costs = evaluate_predictions(
        y,
        acted,
        outcomes={"tp_cost": 0.0, "tn_cost": 0.0, **rows.costs},
        **of_rows,
        resampling=(n_resamples, confidence, random_state),
    )
    measures = {COST: costs.model.cost, NOBODY: costs[NOBODY].cost, EVERYBODY: costs[EVERYBODY].cost}
    found = joint_intervals(_measures(rows, target_class), y, **options)
    best = BEST_RATIO if rows.by_ratio else BEST
    measures |= {best if name == BEST else name: Interval(*each[:3]) for name, each in found.items()}
    return EvaluatedTable(
        measures=measures,
        n_rows=len(rows.positive),
        n_targets=int(np.count_nonzero(rows.positive)),
        n_acted=int(np.count_nonzero(rows.acted)),
        n_unlabelled=n_read - n_labelled,
        total=costs.model.total,
        confidence=confidence,
        currency=decider.card.currency or "",
    )


@dataclass(frozen=True)
class Judged:
    """Labelled rows and what a model says of them, (n,) each.

    positive : whether they are of the target; acted : whether the model takes them for it; scores : for the target;
    decided_by : what the decisions are a threshold on, as in a report; by_ratio : whether that is the ratio of the
    expected costs of each row; costs : fn_cost and fp_cost.
    """

    positive: Mask
    acted: Mask
    scores: Vector
    probabilities: Vector | None
    decided_by: Vector
    by_ratio: bool
    costs: dict[str, Any]
    weights: Vector | None

    def take(self, kept: Mask) -> Judged:
        """The rows of a mask (n,)."""
        whole = vars(self) | {"costs": {name: _taken(cost, kept) for name, cost in self.costs.items()}}
        return Judged(**{name: _taken(value, kept) for name, value in whole.items()})

    @classmethod
    def joined(cls, parts: Sequence[Judged]) -> Judged:
        """The rows of all parts."""
        return cls(
            positive=np.concatenate([part.positive for part in parts]),
            acted=np.concatenate([part.acted for part in parts]),
            scores=np.concatenate([part.scores for part in parts]),
            probabilities=_joined([part.probabilities for part in parts]),
            decided_by=np.concatenate([part.decided_by for part in parts]),
            by_ratio=parts[0].by_ratio,
            costs={name: _joined([part.costs[name] for part in parts]) for name in COSTS},
            weights=_joined([part.weights for part in parts]),
        )


def _joined(parts: list[Any]) -> Any:
    """Arrays one after the other; a number or None, which is the same in all parts, as it is."""
    return np.concatenate(parts) if np.ndim(parts[0]) else parts[0]


def _taken(values: Any, kept: Mask) -> Any:
    """The entries of an array of rows; anything else as it is."""
    return values[kept] if np.ndim(values) else values


def _read(decider: Decider, data: Any, target: str | None, weight: str | None, progress: Any) -> tuple[Judged, int]:
    """All labelled rows of a table, a chunk at a time, and the number of rows read."""
    column = decider.label_column(target)
    parts, n_read = [], 0
    for chunk in open_table(data).chunks():
        own, labels = decider.labelled(chunk, column, weight)
        if len(labels):
            parts.append(_judged(decider, own, labels, weight))
        n_read += len(chunk)
        if progress is not None:
            progress(n_read)
    if not parts:
        raise TableError(f"column {column!r} holds no labels.")
    rows = Judged.joined(parts)
    decider.check_both_classes(column, rows.positive, rows.weights)
    return rows, n_read


def _judged(decider: Decider, rows: Chunk, labels: NDArray[Any], weight: str | None) -> Judged:
    """The rows of a chunk, which all have labels."""
    costs = decider.all_costs(rows, labels)
    decided = decider.decide(rows, costs)
    label, decided_by = decider.target.label, ActionScores(decided.scores, 0.0, DECISION_VALUE)
    if decider.decides_by and decided.probabilities is not None:
        decided_by = scores_by_costs(decided.probabilities, **decided.costs)
    return Judged(
        positive=labels == label,
        acted=decided.labels == label,
        scores=decided.scores,
        probabilities=decided.probabilities,
        decided_by=decided_by.values,
        by_ratio=decided_by.kind == COST_RATIO,
        costs=costs,
        weights=None if weight is None else read_weight_column(rows, weight),
    )


def _measures(rows: Judged, target: PositiveClass) -> Callable[[Vector], dict[str, Vector]]:
    """Measures by name, (n_batch,) each, of how often each of these rows was drawn, (n_batch, n_rows)."""
    of_rows: dict[str, Any] = {"pos_label": target.label, "sample_weight": rows.weights}
    y, scores = target.labels(rows.positive), PositiveClassScores(rows.scores, target, 0.0)
    ratios, by_score = _ratios_of_sums(rows), ScoredSamples.from_labels(y, scores, **of_rows)
    by_decision = ScoredSamples.from_labels(
        y, PositiveClassScores(rows.decided_by, target, 0.0), **rows.costs, **of_rows
    )
    positive, weights = by_score.ranked(by_score.samples.positive), by_score.ranked(by_score.samples.weights)
    best, weights_of_best = ranked_min_risk(by_decision), by_decision.ranked(by_decision.samples.weights)

    def measures(counts: Vector) -> dict[str, Vector]:
        fpr, fnr = by_score.ranking.rates(positive, weights * counts.take(by_score.ranking.order, axis=1))
        found = ratios(counts) | {
            BEST: best.values(weights_of_best * counts.take(by_decision.ranking.order, axis=1)),
            AUC: 1.0 - mean_height(fpr, fnr, 1.0),
            "TP-0.9 area loss": mean_height(fnr[:, ::-1], fpr[:, ::-1], 1.0 - 0.9),
            "TN-0.9 area loss": mean_height(fpr, fnr, 1.0 - 0.9),
        }
        return {name: found[name] for name in MEASURES if name in found}

    return measures


def _ratios_of_sums(rows: Judged) -> Callable[[Vector], dict[str, Vector]]:
    """The measures that are ratios of sums over rows, all from one product of counts with what is summed."""
    positive, acted = rows.positive, rows.acted
    weights = np.ones(len(positive)) if rows.weights is None else rows.weights
    weighted_cost = weights * np.where(positive, rows.costs["fn_cost"], rows.costs["fp_cost"])
    summed = {
        "all": weights,
        "target": weights * positive,
        "other": weights * ~positive,
        "acted": weights * acted,
        "found": weights * (positive & acted),
        "alarms": weights * (~positive & acted),
        "cost": weighted_cost * (positive != acted),
        "cost of nobody": weighted_cost * positive,
        "cost of everybody": weighted_cost * ~positive,
    }
    if rows.probabilities is not None:
        summed["squares"] = weights * (rows.probabilities - positive) ** 2
    columns = np.column_stack(list(summed.values()))

    def ratios(counts: Vector) -> dict[str, Vector]:
        of = dict(zip(summed, (counts @ columns).T, strict=True))
        found = {
            "savings": 1.0 - _ratio(of["cost"], np.minimum(of["cost of nobody"], of["cost of everybody"])),
            "targets found": _ratio(of["found"], of["target"]),
            "false alarms among others": _ratio(of["alarms"], of["other"]),
            "targets among acted on": _ratio(of["found"], of["acted"]),
            "acted on": _ratio(of["acted"], of["all"]),
        }
        return found | ({"Brier score": of["squares"] / of["all"]} if "squares" in of else {})

    return ratios


def _ratio(values: Vector, base: Vector) -> Vector:
    """The quotient of two vectors, (n,) each; nan where the base is 0."""
    return np.divide(values, base, out=np.full_like(base, np.nan), where=base > 0)
