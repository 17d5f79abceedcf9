"""Scores that are high for the target class, from any fitted binary classifier, with labels and costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from ..sample import Sample

RESPONSES = ("decision_function", "predict_proba")

# Where `predict` itself decides for the target, by kind of score.
OWN_THRESHOLD = {"decision_function": 0.0, "predict_proba": 0.5}


class TargetScores(NamedTuple):
    """Scores of the rows of X, oriented so that a higher one speaks for the target class.

    values : (n_samples,) float64; pos_label : the target; own_threshold : where `predict` decides for it.
    """

    values: NDArray[np.float64]
    pos_label: Any
    own_threshold: float


def target_scores(estimator: Any, X: Any, *, pos_label: Any = None, response_method: str = "auto") -> TargetScores:
    """Scores of X for `pos_label`; None takes the estimator's own target, then ``classes_[1]``."""
    check_is_fitted(estimator)
    classes = np.asarray(getattr(estimator, "classes_", ()))
    if classes.shape != (2,):
        raise ValueError(
            f"{type(estimator).__name__} must be a classifier of two classes; got classes_={classes.tolist()}. "
            "Pass a fitted binary classifier."
        )
    if pos_label is None:
        pos_label = _own_target(estimator)
    if pos_label is None:
        pos_label = classes[1]
    if pos_label not in classes:
        raise ValueError(f"pos_label must be one of the classes {classes.tolist()}; got pos_label={pos_label!r}.")

    method = _response(estimator, response_method)
    response = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    is_second = bool(classes[1] == pos_label)
    if response.ndim == 2:
        return TargetScores(response[:, int(is_second)], pos_label, OWN_THRESHOLD[method])
    # decision_function is positive for classes_[1], whatever the target is.
    return TargetScores(response if is_second else -response, pos_label, OWN_THRESHOLD[method])


def _response(estimator: Any, response_method: str) -> str:
    """The method to call: the one asked for, or for "auto" the first of `RESPONSES` that the estimator has."""
    if response_method not in ("auto", *RESPONSES):
        raise ValueError(f"response_method must be 'auto' or one of {RESPONSES}; got {response_method!r}.")
    asked = RESPONSES if response_method == "auto" else (response_method,)
    for method in asked:
        if hasattr(estimator, method):
            return method
    raise ValueError(
        f"{type(estimator).__name__} has no {' or '.join(asked)}, so there are no scores to draw. "
        "Pass a classifier that has, or your own scores to from_predictions."
    )


def _own_target(estimator: Any) -> Any:
    """`pos_label` of the estimator, of the best one of a search, or of the last step of a pipeline."""
    inner = getattr(estimator, "best_estimator_", estimator)
    steps = getattr(inner, "steps", None)
    return getattr(steps[-1][1] if steps else inner, "pos_label", None)


class CostedScores(NamedTuple):
    """Scores with labels and costs, checked.

    y : (n_samples,) in {-1, +1}, +1 the target; scores : (n_samples,) float64, higher for the target;
    cost : (n_samples,) float64, what a wrong decision costs on the row; weights : (n_samples,) float64.
    """

    y: NDArray[np.int64]
    scores: NDArray[np.float64]
    cost: NDArray[np.float64]
    weights: NDArray[np.float64]

    @property
    def costs(self) -> dict[str, Any]:
        """The keyword arguments of the metrics; each cost is read on the rows of its own class only."""
        return {"fn_cost": self.cost, "fp_cost": self.cost, "sample_weight": self.weights}

    @property
    def weighted_cost(self) -> NDArray[np.float64]:
        """(n_samples,) weight times cost."""
        return self.weights * self.cost

    @property
    def miss_cost(self) -> float:
        """P_1 C_1 times the number of rows: the cost of missing every target."""
        return float(self.weighted_cost[self.y > 0].sum())

    @property
    def alarm_cost(self) -> float:
        """P_{-1} C_{-1} times the number of rows: the cost of all false alarms."""
        return float(self.weighted_cost[self.y < 0].sum())

    @property
    def costs_differ(self) -> bool:
        """Whether rows of the same class have different costs."""
        return any(np.ptp(self.cost[self.y == label]) > 0 for label in (-1, 1))


def costed_scores(
    y_true: Any, y_score: Any, *, fn_cost: Any, fp_cost: Any, pos_label: Any, sample_weight: Any
) -> CostedScores:
    """Check labels, scores and costs as the metrics do; rows of weight zero are left out."""
    sample = Sample.read(y_true, pos_label=pos_label, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
    sample, scores = sample.present(sample.scores(y_score))
    sample.check_classes_matter("a picture of both kinds of errors")
    return CostedScores(sample.signs, scores.astype(np.float64), sample.cost, sample.weights)


def held_out_scores(
    cv_results: dict[str, Any],
    X: Any,
    y: Any,
    *,
    fn_cost: Any,
    fp_cost: Any,
    pos_label: Any,
    sample_weight: Any,
    response_method: str,
) -> list[CostedScores]:
    """For each fold, the rows it was not trained on with the scores of its own estimator."""
    missing = [key for key in ("estimator", "indices") if key not in cv_results]
    if missing:
        raise ValueError(
            f"cv_results must hold the estimators and the rows of the folds; it lacks {missing}. "
            "Call cross_validate(..., return_estimator=True, return_indices=True)."
        )
    labels = np.asarray(y)
    folds = []
    for estimator, rows in zip(cv_results["estimator"], cv_results["indices"]["test"], strict=True):
        scores = target_scores(estimator, _safe_indexing(X, rows), pos_label=pos_label, response_method=response_method)
        # Read with all rows, so that a pandas Series finds its rows by the index of y.
        whole = Sample.read(y, pos_label=scores.pos_label, sample_weight=None)
        weight = 1.0 if sample_weight is None else sample_weight
        values = {"fn_cost": fn_cost, "fp_cost": fp_cost, "sample_weight": weight}
        own = {name: _rows_of(whole.column(name, value), rows) for name, value in values.items()}
        folds.append(costed_scores(labels[rows], scores.values, pos_label=scores.pos_label, **own))
    return folds


def pooled(folds: Sequence[CostedScores]) -> CostedScores:
    """The rows of all folds together."""
    return CostedScores(*map(np.concatenate, zip(*folds, strict=True)))


def _rows_of(column: Any, rows: NDArray[np.intp]) -> Any:
    """The entries of these rows; a number stands for all of them."""
    return column[rows] if isinstance(column, np.ndarray) else column
