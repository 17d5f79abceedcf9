"""What a point of the grid is worth on the validation rows of a fold; greater is better.

========= =====================================================================================
risk      minus the mean cost of the decisions, `cssvm.metrics.cost_risk`
min_risk  minus the mean cost at the best threshold, `cssvm.metrics.min_cost_risk`
tp_auc    minus `cssvm.metrics.tp_auc_loss` at t = 0.9
tn_auc    minus `cssvm.metrics.tn_auc_loss` at t = 0.9
income    sum over rows decided to be targets of fn_cost_i (a hit) or -fp_cost_i (a false alarm)
========= =====================================================================================

Any other scoring is a scikit-learn scorer. It is shown an estimator that is fitted already and knows the scores of
exactly the rows it is asked about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring, get_scorer
from sklearn.utils import _safe_indexing

from .._types import Vector
from ..costs import example_costs
from ..metrics import min_cost_risk, tn_auc_loss, tp_auc_loss

RANKING = ("min_risk", "tp_auc", "tn_auc")
NAMES = ("risk", *RANKING, "income")


@dataclass(frozen=True)
class Rows:
    """Rows to search or to score: labels, what each costs, weights; `side` is the sign of f that means the target."""

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any]
    side: int
    fn_cost: Any
    fp_cost: Any
    weights: Vector

    @property
    def targets(self) -> NDArray[Any]:
        """+1 for rows of the target class, -1 for others, (n,)."""
        return self.side * np.where(self.y == self.classes[1], 1, -1)

    def is_target(self, scores: NDArray[Any]) -> NDArray[np.bool_]:
        """Decisions by scores that are positive for the target; a score of 0 means classes[0], as in `predict`."""
        return scores > 0 if self.side > 0 else scores >= 0


class Scoring:
    """Scores of points by the decisions or the ranking of their validation rows."""

    def __init__(self, name: str, rows: Rows):
        self.name, self.rows = name, rows
        self.ranking = name in RANKING
        self.targets = rows.targets
        self.costs = example_costs(self.targets, fn_cost=rows.fn_cost, fp_cost=rows.fp_cost, sample_weight=rows.weights)

    def evaluate(self, scores: NDArray[Any], valid: NDArray[np.intp]) -> Vector:
        """The values (n_points,) of scores (n_points, n_valid), positive for the target, of the rows `valid`."""
        if self.ranking:
            return np.array([self._rank(each, valid) for each in scores])
        positive, costs = self.targets[valid] > 0, self.costs[valid]
        accepted = self.rows.is_target(scores)
        if self.name == "income":
            return np.asarray(accepted @ np.where(positive, costs, -costs), dtype=np.float64)
        return -((accepted != positive) @ costs) / self.rows.weights[valid].sum()

    def _rank(self, scores: Vector, valid: NDArray[np.intp]) -> float:
        targets, weights = self.targets[valid], self.rows.weights[valid]
        if self.name == "tp_auc":
            return -tp_auc_loss(targets, scores, sample_weight=weights)
        if self.name == "tn_auc":
            return -tn_auc_loss(targets, scores, sample_weight=weights)
        # What an error on a row costs, of either class, so that one array serves both arguments.
        costs = self.costs[valid] / weights
        return -min_cost_risk(targets, scores, fn_cost=costs, fp_cost=costs, sample_weight=weights).risk


class ScorerScoring:
    """Values of a scikit-learn scorer."""

    ranking = False

    def __init__(self, scorer: Callable[..., float], rows: Rows):
        self.scorer, self.rows = scorer, rows
        self.names = _requested(scorer)
        self.config = get_config()  # scikit-learn's, which other threads do not see

    def evaluate(self, scores: NDArray[Any], valid: NDArray[np.intp]) -> Vector:
        """The values (n_points,) of scores (n_points, n_valid), positive for the target, of the rows `valid`."""
        rows = self.rows
        metadata = {"fn_cost": rows.fn_cost, "fp_cost": rows.fp_cost, "sample_weight": rows.weights}
        params = {name: _at(metadata[name], valid) for name in self.names}
        X, y = _safe_indexing(rows.X, valid), rows.y[valid]
        with config_context(**self.config):
            return np.array([self.scorer(_Scored(rows.classes, rows.side * f), X, y, **params) for f in scores])


class _Scored(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose scores of the rows in question are known."""

    def __init__(self, classes: Any = None, scores: Any = None) -> None:
        self.classes, self.scores = classes, scores

    @property
    def classes_(self) -> Any:
        return self.classes

    def fit(self, X: Any, y: Any) -> _Scored:
        """Nothing: it is fitted."""
        return self

    def decision_function(self, X: Any) -> Any:
        """The known scores."""
        return self.scores

    def predict(self, X: Any) -> Any:
        """The class by the sign of the known scores."""
        return self.classes[(self.scores > 0).astype(np.intp)]


def make_scoring(scoring: Any, rows: Rows) -> Scoring | ScorerScoring:
    """The scoring of that name, or the scorer given; None is "risk"."""
    if scoring is None:
        scoring = "risk"
    if isinstance(scoring, str):
        if scoring in NAMES:
            return Scoring(scoring, rows)
        try:
            scoring = get_scorer(scoring)
        except ValueError as error:
            raise ValueError(
                f"scoring must be one of {list(NAMES)}, the name of a scikit-learn scorer or a scorer; "
                f"got scoring={scoring!r}."
            ) from error
    if not callable(scoring):
        raise ValueError(
            f"scoring must be one of {list(NAMES)}, the name of a scikit-learn scorer or a scorer; got {scoring!r}."
        )
    return ScorerScoring(check_scoring(_Scored(), scoring=scoring), rows)


def _requested(scorer: Any) -> list[str]:
    """Which of the row values the scorer has asked for; none with metadata routing off."""
    if not get_config().get("enable_metadata_routing") or not hasattr(scorer, "get_metadata_routing"):
        return []
    requests = scorer.get_metadata_routing().score.requests
    return [name for name in ("fn_cost", "fp_cost", "sample_weight") if requests.get(name) is True]


def _at(values: Any, rows: NDArray[np.intp]) -> Any:
    return values if np.ndim(values) == 0 else np.asarray(values)[rows]
