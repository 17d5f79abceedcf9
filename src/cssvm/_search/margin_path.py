"""Support vectors by margin: how many each class keeps as the negative margin kappa shrinks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._core.costs import is_tied
from .._core.positive_class import PositiveClass
from .._core.types import Vector


@dataclass(frozen=True)
class MarginPath:
    """Numbers of support vectors of models with different margins.

    Attributes
    ----------
    kappas : ndarray of shape (n_kappas,)
        Margins of the other class; that of the target is 1.
    n_negative, n_positive : ndarray of shape (n_kappas,)
        Support vectors of the other class and of the target.
    """

    kappas: Vector
    n_negative: NDArray[np.int64]
    n_positive: NDArray[np.int64]


def margin_path(estimator: Any, X: Any, y: Any, *, kappas: Any, **fit_params: Any) -> MarginPath:
    """Train a clone of the estimator for each kappa and count its support vectors.

    Parameters
    ----------
    estimator : estimator with a parameter `kappa`
        Such as `cssvm.CostSensitiveSVC`; it is cloned, not changed. If its kappa is ``"tied"``, it stays so and
        fp_cost = 1 / kappa is set instead: the negative slope grows as the margin shrinks.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Training rows.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    kappas : array-like of shape (n_kappas,)
        Positive margins of the other class, in any order.
    **fit_params : dict
        Further arguments of each fit, for example `sample_weight`.

    Returns
    -------
    MarginPath

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from cssvm import CostSensitiveSVC
    >>> from cssvm._search import margin_path
    >>> X, y = make_classification(300, weights=[0.9], random_state=0)
    >>> path = margin_path(CostSensitiveSVC(fn_cost=16.0, kappa="tied"), X, y, kappas=[1, 1 / 4, 1 / 16])
    >>> bool(path.n_negative[-1] < path.n_negative[0])
    True
    """
    margins = np.asarray(kappas, dtype=np.float64)
    if margins.ndim != 1 or margins.size == 0 or not ((margins > 0) & np.isfinite(margins)).all():
        raise ValueError(
            f"kappas must be a list of positive finite margins; got kappas={kappas!r}. "
            "Pass for example 2.0 ** -np.arange(9)."
        )
    parameters = estimator.get_params(deep=False)
    if "kappa" not in parameters:
        raise ValueError(
            f"{type(estimator).__name__} has no parameter kappa to follow. "
            "Pass an estimator that has, such as CostSensitiveSVC."
        )
    tied = is_tied(parameters["kappa"])
    counts = []
    for kappa in margins.tolist():
        model = clone(estimator).set_params(**({"fp_cost": 1 / kappa} if tied else {"kappa": kappa}))
        model.fit(X, y, **fit_params)
        target = PositiveClass.among(model.classes_, model.pos_label)
        counts.append((model.n_support_[1 - target.index], model.n_support_[target.index]))
    n_negative, n_positive = np.transpose(counts)
    return MarginPath(margins, n_negative, n_positive)
