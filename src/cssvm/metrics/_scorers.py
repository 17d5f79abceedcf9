"""The metrics as scikit-learn scorers, for `GridSearchCV`, `cross_validate` or `TunedThresholdClassifierCV`.

A scorer's value is better when greater, so a risk or a loss comes with a minus sign. Values given for each row reach
the right rows in two ways: as a pandas Series with the index of y, here; or as metadata, which the scorers request
already, with ``sklearn.set_config(enable_metadata_routing=True)``. What is routed comes before what is given here.

Where one of the costs is given for each row, all that are given also reach `predict`, if it takes them and has not
refused them: a classifier that decides by the costs of each row is judged by those decisions. By numbers alone it
decides as it was made. Without `pos_label` the target is the one that the estimator states, or what is inside it, and
the larger label if none does.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.metrics._scorer import _Scorer

from .._core.cost_matrix import OUTCOMES, decision_costs
from .._core.positive_class import RESPONSES, PositiveClass, own_pos_label, positive_class_scores
from .._core.prediction_costs import costs_for_predict, per_sample_costs, predict_with_costs
from .._core.validation import aligned_sample_values, is_pandas
from ._income import as_costs, income, savings_score
from ._partial_auc import tn_auc_loss, tp_auc_loss
from ._risk import cost_risk, min_cost_risk

DECISIONS = "predict"

# What can differ from row to row, and is therefore requested as metadata.
ROW_VALUES = ("fn_cost", "fp_cost", "tp_cost", "tn_cost", "sample_weight")


def cost_risk_scorer(**kwargs: Any) -> Callable[..., float]:
    """Scorer of the negative `cost_risk` of the predictions.

    Parameters
    ----------
    **kwargs
        Arguments of `cost_risk`: `fn_cost`, `fp_cost`, `pos_label`, `sample_weight`, `prior`, `normalize`.

    Returns
    -------
    scorer
        ``scorer(estimator, X, y)``. It requests `fn_cost`, `fp_cost` and `sample_weight` as metadata.

    Examples
    --------
    Missing a malignant tumour costs its area, a false alarm 100. The Series finds the rows of each fold by index:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from cssvm.metrics import cost_risk_scorer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> scorer = cost_risk_scorer(fn_cost=X["mean area"], fp_cost=100, pos_label=0)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> search = GridSearchCV(model, {"logisticregression__C": [0.001, 1.0]}, scoring=scorer).fit(X, y)
    >>> search.best_params_
    {'logisticregression__C': 1.0}
    """
    return _scorer(cost_risk, DECISIONS, kwargs, greater_is_better=False)


def min_cost_risk_scorer(**kwargs: Any) -> Callable[..., float]:
    """Scorer of the negative risk of `min_cost_risk`: what the scores cost at their best threshold.

    Parameters
    ----------
    **kwargs
        Arguments of `min_cost_risk`: `fn_cost`, `fp_cost`, `pos_label`, `sample_weight`, `prior`,
        `normalize`.

    Returns
    -------
    scorer
        ``scorer(estimator, X, y)``. It requests `fn_cost`, `fp_cost` and `sample_weight` as metadata.
    """
    return _scorer(_smallest_risk, RESPONSES, kwargs, greater_is_better=False)


def tp_auc_scorer(**kwargs: Any) -> Callable[..., float]:
    """Scorer of the negative `tp_auc_loss`.

    Parameters
    ----------
    **kwargs
        Arguments of `tp_auc_loss`: `t`, `pos_label`, `sample_weight`.

    Returns
    -------
    scorer
        ``scorer(estimator, X, y)``. It requests `sample_weight` as metadata.
    """
    return _scorer(tp_auc_loss, RESPONSES, kwargs, greater_is_better=False)


def tn_auc_scorer(**kwargs: Any) -> Callable[..., float]:
    """Scorer of the negative `tn_auc_loss`.

    Parameters
    ----------
    **kwargs
        Arguments of `tn_auc_loss`: `t`, `pos_label`, `sample_weight`.

    Returns
    -------
    scorer
        ``scorer(estimator, X, y)``. It requests `sample_weight` as metadata.
    """
    return _scorer(tn_auc_loss, RESPONSES, kwargs, greater_is_better=False)


def income_scorer(**kwargs: Any) -> Callable[..., float]:
    """Scorer of the `income` of the predictions.

    Parameters
    ----------
    **kwargs
        Arguments of `income`: a benefit or a cost for each outcome (`tp_benefit` or `tp_cost`, and so on), `pos_label`,
        `sample_weight`.

    Returns
    -------
    scorer
        ``scorer(estimator, X, y)``. It requests the four costs and `sample_weight` as metadata.
    """
    return _scorer(income, DECISIONS, as_costs(kwargs), greater_is_better=True)


def savings_scorer(**kwargs: Any) -> Callable[..., float]:
    """Scorer of the `savings_score` of the predictions.

    Parameters
    ----------
    **kwargs
        Arguments of `savings_score`: `fn_cost`, `fp_cost`, `pos_label`, `sample_weight`.

    Returns
    -------
    scorer
        ``scorer(estimator, X, y)``. It requests `fn_cost`, `fp_cost` and `sample_weight` as metadata.
    """
    return _scorer(savings_score, DECISIONS, kwargs, greater_is_better=True)


def _scorer(
    metric: Callable[..., float], response_method: Any, kwargs: dict[str, Any], *, greater_is_better: bool
) -> Callable[..., float]:
    signature = inspect.signature(metric)
    signature.bind_partial(None, None, **kwargs)  # an argument the metric does not have is an error here, not in a fold
    # Bound to the metric, not to the scorer: of an argument that is both routed and the scorer's own, scikit-learn
    # warns. Only pos_label, never routed, is the scorer's.
    bound = functools.partial(metric, **{name: value for name, value in kwargs.items() if name != "pos_label"})
    bound.__name__ = metric.__name__  # type: ignore[attr-defined]
    sign, own = 1 if greater_is_better else -1, {"pos_label": kwargs.get("pos_label")}
    scorer = CostScorer(bound, sign, own, response_method)
    requests = {name: True for name in ROW_VALUES if name in signature.parameters}
    with config_context(enable_metadata_routing=True):
        return scorer.set_score_request(**requests)


class CostScorer(_Scorer):
    """A scorer that knows the target of the estimator, and hands the costs of the rows to its `predict`."""

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **routed: Any) -> float:
        pos_label = self._kwargs["pos_label"]
        if pos_label is None:
            pos_label = own_pos_label(estimator)
        if self._response_method != DECISIONS:
            y_pred: Any = positive_class_scores(estimator, X, pos_label=pos_label)
        elif costs_for_predict(estimator) and (costs := self._row_costs(y_true, routed)):
            y_pred = predict_with_costs(estimator, X, costs)
        else:
            y_pred = method_caller(estimator, DECISIONS, X, pos_label=pos_label)
        target = _known_target(estimator, pos_label)
        return self._sign * self._score_func(y_true, y_pred, pos_label=target, **routed)

    def _row_costs(self, y_true: Any, routed: dict[str, Any]) -> dict[str, Any]:
        """The costs to decide by: those that the decisions are judged by, if one of them is given for each row."""
        index = y_true.index if is_pandas(y_true) else None
        given = {
            name: aligned_sample_values(name, value, len(y_true), index)
            for name, value in {**self._score_func.keywords, **routed}.items()
            if name in OUTCOMES
        }
        given = per_sample_costs(given)
        return dict(decision_costs(**given)) if given and self._score_func.func is income else given


def _known_target(estimator: Any, pos_label: Any) -> Any:
    """The target among the classes of the estimator, of which a fold may hold one only; else `pos_label` as it is."""
    classes = np.asarray(getattr(estimator, "classes_", ()))
    return PositiveClass.among(classes, pos_label) if classes.shape == (2,) else pos_label


def _smallest_risk(
    y_true: Any,
    y_score: Any,
    *,
    fn_cost: Any = 1.0,
    fp_cost: Any = 1.0,
    pos_label: Any = None,
    sample_weight: Any = None,
    prior: float | None = None,
    normalize: bool = False,
) -> float:
    """The first entry of `min_cost_risk`: a scorer returns a number."""
    return min_cost_risk(
        y_true,
        y_score,
        fn_cost=fn_cost,
        fp_cost=fp_cost,
        pos_label=pos_label,
        sample_weight=sample_weight,
        prior=prior,
        normalize=normalize,
    ).risk
