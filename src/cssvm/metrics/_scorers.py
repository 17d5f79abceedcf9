"""The metrics as scikit-learn scorers, for `GridSearchCV`, `cross_validate` or `TunedThresholdClassifierCV`.

Risks and losses are negated, so that higher is better. Values given for each sample are matched as a pandas Series with
the index of y, or come as metadata, which the scorers request and which take precedence. If one of the costs is given
for each sample, all given costs are also passed to `predict`, if it takes them. Without `pos_label` the positive class
is that of the estimator, or of what it wraps, and the larger label if none is given.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import config_context

from .._core.alignment import is_pandas
from .._core.cost_matrix import OUTCOMES, decision_costs
from .._core.decision import costs_for_predict, per_sample_costs, predict_with_costs
from .._core.positive_class import RESPONSE_METHODS, PositiveClass, positive_class_scores, stated_pos_label
from .._core.sklearn_compat import Scorer
from .._core.validation import aligned_sample_values
from ._curves import tn_auc_loss, tp_auc_loss
from ._income import as_costs, income, savings_score
from ._risk import MinimumRisk, cost_risk, min_cost_risk

PREDICT = "predict"

# What can differ between samples, and is therefore requested as metadata.
SAMPLE_VALUES = ("fn_cost", "fp_cost", "tp_cost", "tn_cost", "sample_weight")


def cost_risk_scorer(**kwargs: Any) -> Callable[..., float]:
    """Scorer of the negative `cost_risk` of the predictions.

    Parameters
    ----------
    **kwargs
        Arguments of `cost_risk`: `fn_cost`, `fp_cost`, `pos_label`, `sample_weight`, `prior`, `normalize`.

    Returns
    -------
    scorer
        ``scorer(estimator, X, y)``. It requests as metadata the costs that the metric takes, and `sample_weight`.

    Examples
    --------
    A false negative costs the area of the tumour, a false positive 100. The Series is matched to each fold by index:

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
    return _make_scorer(cost_risk, PREDICT, kwargs, greater_is_better=False)


def min_cost_risk_scorer(**kwargs: Any) -> Callable[..., float]:
    """Scorer of the negative risk of `min_cost_risk`; used like `cost_risk_scorer`."""
    return _make_scorer(min_cost_risk, RESPONSE_METHODS, kwargs, greater_is_better=False)


def tp_auc_scorer(**kwargs: Any) -> Callable[..., float]:
    """Scorer of the negative `tp_auc_loss`; used like `cost_risk_scorer`."""
    return _make_scorer(tp_auc_loss, RESPONSE_METHODS, kwargs, greater_is_better=False)


def tn_auc_scorer(**kwargs: Any) -> Callable[..., float]:
    """Scorer of the negative `tn_auc_loss`; used like `cost_risk_scorer`."""
    return _make_scorer(tn_auc_loss, RESPONSE_METHODS, kwargs, greater_is_better=False)


def income_scorer(**kwargs: Any) -> Callable[..., float]:
    """Scorer of the `income` of the predictions; used like `cost_risk_scorer`."""
    return _make_scorer(income, PREDICT, as_costs(kwargs), greater_is_better=True)


def savings_scorer(**kwargs: Any) -> Callable[..., float]:
    """Scorer of the `savings_score` of the predictions; used like `cost_risk_scorer`."""
    return _make_scorer(savings_score, PREDICT, kwargs, greater_is_better=True)


def _make_scorer(
    metric: Callable[..., Any], response_method: Any, kwargs: dict[str, Any], *, greater_is_better: bool
) -> Callable[..., float]:
    signature = inspect.signature(metric)
    signature.bind_partial(None, None, **kwargs)  # raise for unknown arguments now, not in a fold
    # Bound to the metric, not to the scorer: scikit-learn warns of arguments that are both routed and the scorer's own.
    # Only pos_label, which is never routed, is the scorer's.
    bound = functools.partial(metric, **{name: value for name, value in kwargs.items() if name != "pos_label"})
    bound.__name__ = metric.__name__  # type: ignore[attr-defined]
    sign, own = 1 if greater_is_better else -1, {"pos_label": kwargs.get("pos_label")}
    scorer = CostScorer(bound, sign, own, response_method)
    requests = {name: True for name in SAMPLE_VALUES if name in signature.parameters}
    with config_context(enable_metadata_routing=True):
        return scorer.set_score_request(**requests)


class CostScorer(Scorer):
    """A scorer for the positive class of the estimator, which passes costs of the samples to `predict`."""

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **routed: Any) -> float:
        pos_label = self._kwargs["pos_label"]
        if pos_label is None:
            pos_label = stated_pos_label(estimator)
        if self._response_method != PREDICT:
            y_pred: Any = positive_class_scores(estimator, X, pos_label=pos_label)
        elif costs_for_predict(estimator) and (costs := self._sample_costs(y_true, routed)):
            y_pred = predict_with_costs(estimator, X, costs)
        else:
            y_pred = method_caller(estimator, PREDICT, X, pos_label=pos_label)
        # A fold may hold one class only, the estimator knows both.
        classes = np.asarray(getattr(estimator, "classes_", ()))
        if classes.shape == (2,):
            pos_label = PositiveClass.from_labels(classes, pos_label)
        value = self._score_func(y_true, y_pred, pos_label=pos_label, **routed)
        return self._sign * (value.risk if isinstance(value, MinimumRisk) else value)

    def _sample_costs(self, y_true: Any, routed: dict[str, Any]) -> dict[str, Any]:
        """The costs of the metric, to predict by, if one of them is given for each sample; else none."""
        index = y_true.index if is_pandas(y_true) else None
        given = {
            name: aligned_sample_values(name, value, len(y_true), index)
            for name, value in {**self._score_func.keywords, **routed}.items()
            if name in OUTCOMES
        }
        given = per_sample_costs(given)
        return dict(decision_costs(**given)) if given and self._score_func.func is income else given
