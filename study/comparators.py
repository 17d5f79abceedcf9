"""Other cost-sensitive methods on the same folds, compared by the cost of their decisions.

All estimators get the same features and choose their parameters by cross-validation on the training samples. The SVMs
of other libraries search C and gamma on every second value of the grids. On large sets, parameters are selected on a
subsample, as for the paper's methods, and the chosen model is trained on all training samples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, ParameterGrid, TunedThresholdClassifierCV
from sklearn.svm import SVC

from cssvm._meta import CostThresholdClassifier, MetaCostClassifier
from cssvm._search import CostSensitiveSVCCV
from cssvm.metrics import cost_risk, cost_risk_scorer

from .boundary_alignment import BoundaryAlignedSVC
from .methods import Method, Task
from .protocol import test_score

COST = ("cost",)
NEIGHBOURS = 5  # of SMOTE


def _scored(
    make: Callable[[Task], Any], needs: tuple[str, ...] = (), whole: Callable[[Any], Any] | None = None
) -> Method:
    """A method that fits the estimator that `make` returns, and scores its predictions.

    whole : returns the estimator to fit on all training samples, given the one fitted on a subsample; None if there is
    none
    """

    def run(task: Task) -> tuple[float, dict[str, Any]]:
        split, rows = task.split, task.split.search
        model = make(task).fit(split.X_train[rows], split.y_train[rows], **_weighted(split.search_weights))
        if len(rows) < len(split.y_train):
            if whole is None:
                raise ValueError("this method does not support subsamples.")
            whole(model).fit(split.X_train, split.y_train, **_weighted(split.weights))
        predicted = np.asarray(model.predict(split.X_test)) == 1
        return test_score(task.measure, split, None, predicted), split.facts

    return Method(run, COST, needs)


def _weighted(weights: np.ndarray) -> dict[str, Any]:
    """`sample_weight` for `fit`; empty if all are 1, since not every estimator has it."""
    return {} if (weights == 1.0).all() else {"sample_weight": weights}


def _costs(task: Task) -> dict[str, Any]:
    return {"fn_cost": task.split.fn_cost, "fp_cost": task.split.fp_cost}


def _grid(task: Task, prefix: str = "") -> dict[str, list[float]]:
    """Every second value of the grids, since other searches train every point separately."""
    return {f"{prefix}C": list(task.grids.Cs[::2]), f"{prefix}gamma": list(task.grids.gammas[::2])}


def _search(task: Task) -> Any:
    return CostSensitiveSVCCV(**_costs(task), cv=task.split.folds, n_jobs=1)


def _bayes_search(task: Task) -> Any:
    return CostSensitiveSVCCV(**_costs(task), cv=task.split.folds, decision="bayes", n_jobs=1)


def _tuned_threshold(task: Task) -> Any:
    """C and gamma by ROC AUC first: a search inside every fold of the threshold would take five times as long."""
    split = task.split
    chosen = GridSearchCV(SVC(class_weight="balanced"), _grid(task), scoring="roc_auc", cv=split.folds, refit=False)
    chosen.fit(split.X_train[split.search], split.y_train[split.search])
    estimator = SVC(class_weight="balanced", **chosen.best_params_)
    return TunedThresholdClassifierCV(estimator, scoring=cost_risk_scorer(**_costs(task)), cv=split.folds)


def _resampled(task: Task, sampler: Any) -> Any:
    """SVC on resampled data, C and gamma by the cost on folds; each fold is resampled once for the whole grid."""
    from imblearn.pipeline import Pipeline

    split, points = task.split, list(ParameterGrid(_grid(task)))
    X, y, costs = split.X_train[split.search], split.y_train[split.search], np.zeros(len(points))
    for train, held_out in split.folds.split(X, y):
        resampled = clone(sampler).fit_resample(X[train], y[train])
        predictions = (SVC(**point).fit(*resampled).predict(X[held_out]) for point in points)
        costs += [cost_risk(y[held_out], own, **_costs(task)) for own in predictions]
    return Pipeline([("sampler", sampler), ("svc", SVC(**points[int(np.argmin(costs))]))])


def _svm_smote(task: Task) -> Any:
    from imblearn.over_sampling import SVMSMOTE

    rarest = int(np.bincount(task.split.y_train[task.split.search]).min())
    neighbours = max(1, min(NEIGHBOURS, rarest // 2 - 1))
    return _resampled(task, SVMSMOTE(k_neighbors=neighbours, m_neighbors=2 * neighbours, random_state=task.split.seed))


def _under_sampling(task: Task) -> Any:
    from imblearn.under_sampling import RandomUnderSampler

    return _resampled(task, RandomUnderSampler(random_state=task.split.seed))


def _boundary_alignment(task: Task) -> Any:
    """C and gamma of BM, as for the methods of the paper."""
    before = task.before["BM"]
    return BoundaryAlignedSVC(before["Cs"], before["gammas"], **_costs(task))


def _cost_threshold(task: Task) -> Any:
    return CostThresholdClassifier(SVC(), **_costs(task), cv=task.split.folds)


def _meta_cost(task: Task) -> Any:
    return MetaCostClassifier(
        GradientBoostingClassifier(n_estimators=50, random_state=0),
        **_costs(task),
        n_estimators=10,
        random_state=task.split.seed,
    )


def _logistic(task: Task) -> Any:
    estimator = LogisticRegressionCV(cv=task.split.folds, scoring="neg_log_loss", max_iter=1000, l1_ratios=(0,))
    return CostThresholdClassifier(estimator, **_costs(task), calibration=None)


def _whole_logistic(chosen: Any) -> Any:
    """The same estimator with the C that was chosen."""
    return chosen.set_params(estimator=LogisticRegression(C=float(np.ravel(chosen.estimator_.C_)[0]), max_iter=1000))


def _boosting(task: Task) -> Any:
    return CostThresholdClassifier(GradientBoostingClassifier(random_state=0), **_costs(task), calibration=None)


COMPARATORS: dict[str, Method] = {
    "search": _scored(_search, whole=lambda found: found.best_estimator_),
    "search, bayes": _scored(_bayes_search),
    "balanced SVC, tuned threshold": _scored(_tuned_threshold),
    "SVM-SMOTE": _scored(_svm_smote),
    "under-sampling": _scored(_under_sampling),
    "KBA": _scored(_boundary_alignment, needs=("BM",)),
    "CostThreshold(SVC)": _scored(_cost_threshold),
    "MetaCost": _scored(_meta_cost),
    "logistic regression": _scored(_logistic, whole=_whole_logistic),
    "gradient boosting": _scored(_boosting, whole=lambda model: model),
}
