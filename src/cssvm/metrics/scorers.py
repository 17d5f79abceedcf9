"""The metrics as scikit-learn scorers, for `GridSearchCV`, `cross_validate` or `TunedThresholdClassifierCV`.

A scorer's value is better when greater, so a risk or a loss comes with a minus sign. Values given for each row reach
the right rows in two ways: as a pandas Series with the index of y, here; or as metadata, which the scorers request
already, with ``sklearn.set_config(enable_metadata_routing=True)``. What is routed comes before what is given here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from sklearn import config_context
from sklearn.metrics import make_scorer

from ..target import RESPONSES
from .money import income, savings_score
from .partial_auc import tn_auc_loss, tp_auc_loss
from .risk import cost_risk, min_cost_risk

DECISIONS = "predict"

# What can differ from row to row, and is therefore requested as metadata.
ROW_VALUES = ("fn_cost", "fp_cost", "tp_benefit", "fp_benefit", "fn_benefit", "tn_benefit", "sample_weight")


def cost_risk_scorer(**kwargs: Any) -> Callable[..., float]:
    """Scorer of the negative `cost_risk` of the predictions.

    Parameters
    ----------
    **kwargs
        Arguments of `cost_risk`: `fn_cost`, `fp_cost`, `pos_label` (default 1), `sample_weight`, `prior`, `normalize`.

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
        Arguments of `min_cost_risk`: `fn_cost`, `fp_cost`, `pos_label` (default 1), `sample_weight`, `prior`,
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
        Arguments of `tp_auc_loss`: `t`, `pos_label` (default 1), `sample_weight`.

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
        Arguments of `tn_auc_loss`: `t`, `pos_label` (default 1), `sample_weight`.

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
        Arguments of `income`: `tp_benefit` and `fp_benefit`, unless routed, `fn_benefit`, `tn_benefit`,
        `pos_label` (default 1), `sample_weight`.

    Returns
    -------
    scorer
        ``scorer(estimator, X, y)``. It requests the four benefits and `sample_weight` as metadata.
    """
    return _scorer(income, DECISIONS, kwargs, greater_is_better=True)


def savings_scorer(**kwargs: Any) -> Callable[..., float]:
    """Scorer of the `savings_score` of the predictions.

    Parameters
    ----------
    **kwargs
        Arguments of `savings_score`: `fn_cost`, `fp_cost`, `pos_label` (default 1), `sample_weight`.

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
    pos_label = kwargs.get("pos_label", signature.parameters["pos_label"].default)
    # Bound to the metric, not to the scorer: of an argument that is both routed and the scorer's own, scikit-learn
    # warns. Only pos_label, never routed, is the scorer's: it turns the sign of scores for classes_[0].
    bound = functools.partial(metric, **{name: value for name, value in kwargs.items() if name != "pos_label"})
    bound.__name__ = metric.__name__  # type: ignore[attr-defined]
    scorer = make_scorer(
        bound, response_method=response_method, greater_is_better=greater_is_better, pos_label=pos_label
    )
    requests = {name: True for name in ROW_VALUES if name in signature.parameters}
    with config_context(enable_metadata_routing=True):
        return scorer.set_score_request(**requests)


def _smallest_risk(
    y_true: Any,
    y_score: Any,
    *,
    fn_cost: Any = 1.0,
    fp_cost: Any = 1.0,
    pos_label: Any = 1,
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
