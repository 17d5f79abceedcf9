"""Operating points by cost ratio: one model trained for each ratio, to choose from when the costs are known."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull
from sklearn.base import clone

from .._types import Vector, is_number
from ..costs import row_weights
from ..estimators import CostSensitiveSVC
from ..estimators.bandwidth import resolve_gamma
from ..estimators.inputs import check_gram, target_index, training_data
from ..estimators.machine import PRECOMPUTED
from ..kernels import Kernel
from ..runtime import threads
from .engine import Problem, make_worker
from .folds import make_folds
from .grid import axis, make_grid
from .scoring import Rows, Scoring

# Automatic ratios reach this far below and above even costs.
RATIO_RANGE = (1 / 64, 64.0)


@dataclass(frozen=True)
class CostPath:
    """Models for a range of cost ratios, with the error rates of each on rows it was not trained on.

    Attributes
    ----------
    ratios : ndarray of shape (n_ratios,)
        fn_cost / fp_cost, ascending.
    fpr, tpr : ndarray of shape (n_ratios,)
        False and true positive rate of the decisions of each model on the validation rows, pooled over the folds.
    on_hull : ndarray of shape (n_ratios,), bool
        Whether a point is a vertex of the upper convex hull of all points with (0, 0) and (1, 1). No others are
        ever the best choice.
    prior : float
        Share of the target class among the rows.
    params : dict
        Constructor arguments of the models, costs excepted.
    """

    ratios: Vector
    fpr: Vector
    tpr: Vector
    on_hull: NDArray[np.bool_]
    prior: float
    params: dict[str, Any]

    def risk(self, *, fn_cost: float, fp_cost: float, prior: float | None = None) -> Vector:
        """Expected cost of a decision by each model: P_1 fn_cost (1 - tpr) + P_-1 fp_cost fpr."""
        prior = self.prior if prior is None else prior
        return prior * fn_cost * (1.0 - self.tpr) + (1.0 - prior) * fp_cost * self.fpr

    def best(self, *, fn_cost: float, fp_cost: float, prior: float | None = None) -> int:
        """The model with the smallest expected cost; of equals the one trained for the ratio nearest to the costs'."""
        risk = self.risk(fn_cost=fn_cost, fp_cost=fp_cost, prior=prior)
        equal = np.flatnonzero(risk <= risk.min() * (1 + np.finfo(float).eps))
        return int(equal[np.argmin(np.abs(np.log(self.ratios[equal]) - np.log(fn_cost / fp_cost)))])

    def estimator(self, index: int) -> CostSensitiveSVC:
        """The model of that index, to be fitted."""
        fn_cost, fp_cost = _slopes(self.ratios)[index]
        return CostSensitiveSVC(**self.params, fn_cost=fn_cost, fp_cost=fp_cost)


def cost_path(
    estimator: CostSensitiveSVC, X: Any, y: Any, *, ratios: Any = 21, cv: Any = None, sample_weight: Any = None
) -> CostPath:
    """Train a model for each cost ratio and measure where on the ROC plane it operates.

    A threshold moved along the scores of one model gives the operating points of one compromise between the classes.
    Here every point is a model trained for its own ratio, with slopes sqrt(ratio) and 1 / sqrt(ratio).

    Parameters
    ----------
    estimator : CostSensitiveSVC
        Its C, kernel, gamma, kappa and pos_label are used; its costs are not.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows; for ``kernel="precomputed"`` the kernel matrix.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    ratios : int or array-like of float, default=21
        fn_cost / fp_cost to train for, or a number of automatic ones from 1/64 to 64.
    cv : int, splitter or iterable of splits, default=None
        As in `CostSensitiveSVCCV`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.

    Returns
    -------
    CostPath

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from cssvm import CostSensitiveSVC
    >>> from cssvm.search import cost_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = cost_path(CostSensitiveSVC(C=0.5, pos_label=0), scale(X), y, ratios=[0.1, 1.0, 10.0, 100.0])
    >>> chosen = path.best(fn_cost=50, fp_cost=1)  # a missed tumour costs fifty false alarms
    >>> bool(path.tpr[chosen] >= path.tpr[1])
    True
    >>> path.estimator(chosen).fit(scale(X), y).score(scale(X), y) > 0.5
    True
    """
    model = clone(estimator)
    if not is_number(model.kappa):
        raise ValueError(f"kappa of the estimator must be a number for a cost path; got kappa={model.kappa!r}.")
    X, classes, index = training_data(model, X, y, precomputed=model.kernel == PRECOMPUTED)
    if model.kernel == PRECOMPUTED:
        check_gram(X)
    side = 2 * target_index(model, classes, model.pos_label) - 1
    weights = row_weights(sample_weight, len(index))
    rows = Rows(X, classes[index], classes, side, 1.0, 1.0, weights)
    targets = rows.targets
    values = np.unique(axis("ratios", ratios, lambda count: np.geomspace(*RATIO_RANGE, count)))

    gamma = resolve_gamma(model.gamma, model.kernel, X, weights)
    grid = make_grid(
        kernels=[Kernel(model.kernel, gamma=gamma, degree=model.degree, coef0=model.coef0)],
        Cs=np.array([model.C * 2.0 / (1.0 + model.kappa)]),
        slopes=_slopes(values),
        kappas=[model.kappa],
        example_costs=False,
    )
    folds = make_folds(cv, X, rows.y, targets, weights, ranking=False)
    problem = Problem(rows, folds, grid, Scoring("risk", rows), lambda fold: X, True, model.tol, model.cache_size)
    fpr, tpr = _rates(problem)
    params = {name: value for name, value in model.get_params().items() if name not in ("fn_cost", "fp_cost")}
    prior = float(weights[targets > 0].sum() / weights.sum())
    return CostPath(values, fpr, tpr, _on_hull(fpr, tpr), prior, params | {"gamma": gamma})


def _rates(problem: Problem) -> tuple[Vector, Vector]:
    """False and true positive rates (n_ratios,) of the decisions on all validation rows."""
    n_ratios = len(problem.grid.paths)
    accepted = {True: np.zeros(n_ratios), False: np.zeros(n_ratios)}  # by whether the row is a target
    present = {True: 0.0, False: 0.0}
    machines = {(path, 0) for path in range(n_ratios)}
    with threads.own_threads() as n_threads:
        worker, n_workers = make_worker(problem, min(n_threads, len(problem.folds)))
        affine, stop = problem.grid.points[0].affine, threading.Event()

        def decisions(fold: int) -> tuple[int, dict[Any, NDArray[np.bool_]]]:
            scores, _ = worker.scores(0, fold, machines, stop)
            return fold, {key: problem.rows.is_target(affine.scale * f + affine.offset) for key, f in scores.items()}

        tasks = [(fold,) for fold in range(len(problem.folds))]
        for fold, decided in threads.completed(decisions, tasks, n_workers, stop.set):
            valid = problem.folds[fold].valid
            for kind in accepted:
                weights = problem.rows.weights[valid] * ((problem.targets[valid] > 0) == kind)
                present[kind] += weights.sum()
                for (path, _), taken in decided.items():
                    accepted[kind][path] += weights @ taken
    return accepted[False] / present[False], accepted[True] / present[True]


def _on_hull(fpr: Vector, tpr: Vector) -> NDArray[np.bool_]:
    """Whether each point is a vertex of the upper convex hull of all, (0, 0) and (1, 1).

    With (1, 0) added, whatever lies below the diagonal is inside.
    """
    points = np.column_stack([np.append(fpr, [0.0, 1.0, 1.0]), np.append(tpr, [0.0, 1.0, 0.0])])
    vertices = points[ConvexHull(points).vertices]
    return (points[:-3, np.newaxis] == vertices).all(axis=2).any(axis=1)


def _slopes(ratios: Vector) -> list[tuple[float, float]]:
    return [(float(r**0.5), float(r**-0.5)) for r in ratios]
