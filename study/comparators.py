"""What else one would use for given costs, on the same folds: judged by the cost of its decisions.

Estimators are given the same features, and choose their parameters by cross-validation on the training rows. SVMs
of others search C and gamma on every other value of the study's axes. Of a large set a sample selects, as for the
paper's methods, and what was chosen is trained on all training rows.
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
from .protocol import judged

COST = ("cost",)
NEIGHBOURS = 5  # of SMOTE


def _judged(
    make: Callable[[Task], Any], needs: tuple[str, ...] = (), whole: Callable[[Any], Any] | None = None
) -> Method:
    """A method that fits what `make` returns, and decides with its `predict`.

    whole : returns the estimator to fit on all training rows, given the one fitted on a sample; None if there is none.
    """

    def run(task: Task) -> tuple[float, dict[str, Any]]:
        split, rows = task.split, task.split.search
        model = make(task).fit(split.X_train[rows], split.y_train[rows], **_weighted(split.search_weights))
        if len(rows) < len(split.y_train):
            if whole is None:
                raise ValueError("this method is for sets of which no sample is taken.")
            whole(model).fit(split.X_train, split.y_train, **_weighted(split.weights))
        decided = np.asarray(model.predict(split.X_test)) == 1
        return judged(task.measure, split, None, decided), split.facts

    return Method(run, COST, needs)


def _weighted(weights: np.ndarray) -> dict[str, Any]:
    """Weights for `fit`; none if they are 1, since not every estimator takes them."""
    return {} if (weights == 1.0).all() else {"sample_weight": weights}


def _costs(task: Task) -> dict[str, Any]:
    return {"fn_cost": task.split.fn_cost, "fp_cost": task.split.fp_cost}


def _grid(task: Task, prefix: str = "") -> dict[str, list[float]]:
    """Every other value of the study's axes: searches of others train each point by itself."""
    return {f"{prefix}C": list(task.grids.Cs[::2]), f"{prefix}gamma": list(task.grids.gammas[::2])}


def _search(task: Task) -> Any:
    return CostSensitiveSVCCV(**_costs(task), cv=task.split.folds, n_jobs=1)


def _bayes_search(task: Task) -> Any:
    return CostSensitiveSVCCV(**_costs(task), cv=task.split.folds, decision="bayes", n_jobs=1)


def _tuned_threshold(task: Task) -> Any:
    """C and gamma by the ROC curve first: a search inside every fold of the threshold would take five times as long."""
    split = task.split
    chosen = GridSearchCV(SVC(class_weight="balanced"), _grid(task), scoring="roc_auc", cv=split.folds, refit=False)
    chosen.fit(split.X_train[split.search], split.y_train[split.search])
    estimator = SVC(class_weight="balanced", **chosen.best_params_)
    return TunedThresholdClassifierCV(estimator, scoring=cost_risk_scorer(**_costs(task)), cv=split.folds)


def _resampled(task: Task, sampler: Any) -> Any:
    """SVC on resampled rows, C and gamma by the cost on folds; each fold is resampled once for the whole grid."""
    from imblearn.pipeline import Pipeline

    split, points = task.split, list(ParameterGrid(_grid(task)))
    X, y, costs = split.X_train[split.search], split.y_train[split.search], np.zeros(len(points))
    for train, held_out in split.folds.split(X, y):
        drawn = clone(sampler).fit_resample(X[train], y[train])
        decided = (SVC(**point).fit(*drawn).predict(X[held_out]) for point in points)
        costs += [cost_risk(y[held_out], own, **_costs(task)) for own in decided]
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
    """C and gamma of BM, as the paper takes the kernel for all its methods."""
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
    "search": _judged(_search, whole=lambda found: found.best_estimator_),
    "search, bayes": _judged(_bayes_search),
    "balanced SVC, tuned threshold": _judged(_tuned_threshold),
    "SVM-SMOTE": _judged(_svm_smote),
    "under-sampling": _judged(_under_sampling),
    "KBA": _judged(_boundary_alignment, needs=("BM",)),
    "CostThreshold(SVC)": _judged(_cost_threshold),
    "MetaCost": _judged(_meta_cost),
    "logistic regression": _judged(_logistic, whole=_whole_logistic),
    "gradient boosting": _judged(_boosting, whole=lambda model: model),
}
