"""Operating points by cost ratio: one model trained for each ratio, to choose from when the costs are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._core.samples import Samples
from .._core.types import Mask, Vector, is_number
from .._kernels import kernel_class, make_kernel
from .._runtime.threads import n_cores
from .._svm import CostSensitiveSVC
from .._svm.bandwidth import resolve_gamma
from ..metrics._hull import upper_hull
from .engine import Engine, FoldScores, Machines, Task
from .features import Features
from .folds import make_folds
from .grid import MachineKey, axis, make_grid

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
    on_hull: Mask
    prior: float
    params: dict[str, Any]

    def risk(self, *, fn_cost: float, fp_cost: float, prior: float | None = None) -> Vector:
        """Expected cost of a decision by each model: ``P_1 fn_cost (1 - tpr) + P_{-1} fp_cost fpr``."""
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
    >>> from cssvm._search import cost_path
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
    # The costs of the estimator are not used: every model has its own.
    X, sample = model.set_params(fn_cost=1.0, fp_cost=1.0)._read(X, y, None, None, sample_weight)
    kernel_class(model.kernel).check_training_matrix(X)
    values = np.unique(axis("ratios", ratios, lambda count: np.geomspace(*RATIO_RANGE, count)))
    sample.target.require_pos_label(fn_cost=float(values.max()), fp_cost=1.0)
    gamma = resolve_gamma(model.gamma, model.kernel, X, sample.weights)
    grid = make_grid(
        kernels=[make_kernel(model.kernel, gamma=gamma, degree=model.degree, coef0=model.coef0)],
        Cs=np.array([(1.0 if isinstance(model.C, str) else model.C) * 2.0 / (1.0 + model.kappa)]),
        slopes=_slopes_at(model.C, values, sample),
        kappas=[model.kappa],
        example_costs=False,
    )
    folds = make_folds(cv, X, sample, ranking=False)
    machines = Machines(Features(X, sample.labels), sample, folds, grid, model.tol, model.cache_size)
    fpr, tpr = _rates(machines)
    params = {name: value for name, value in model.get_params().items() if name not in ("fn_cost", "fp_cost")}
    prior = float(sample.weights[sample.positive].sum() / sample.weights.sum())
    return CostPath(values, fpr, tpr, upper_hull(fpr, tpr), prior, params | {"gamma": gamma})


class FoldCounts(NamedTuple):
    """Weight of the validation rows of a fold that each model takes for targets, and of all of them.

    alarms, hits : (n_ratios,) of the other class and of the target; n_negative, n_positive : of all such rows.
    """

    fold: int
    alarms: Vector
    hits: Vector
    n_negative: float
    n_positive: float


def _rates(machines: Machines) -> tuple[Vector, Vector]:
    """False and true positive rates (n_ratios,) of the decisions on all validation rows."""
    keys = [MachineKey(path, 0) for path in range(len(machines.grid.paths))]
    affine = machines.grid.points[0].affine

    def count(task: Task, found: FoldScores) -> FoldCounts:
        sample = machines.sample.take(machines.folds[task.fold].valid)
        scores = affine.scale * np.array([found.scores[key] for key in keys]) + affine.offset
        accepted = sample.target.accepted(scores).astype(np.float64)
        negative, positive = (np.where(rows, sample.weights, 0.0) for rows in (~sample.positive, sample.positive))
        return FoldCounts(task.fold, accepted @ negative, accepted @ positive, negative.sum(), positive.sum())

    tasks = [Task(0, fold) for fold in range(len(machines.folds))]
    found = Engine(machines, n_cores()).results(tasks, wanted=lambda task: keys, use=count)
    counts = sorted(found, key=lambda each: each.fold)
    alarms, hits = np.sum([each.alarms for each in counts], axis=0), np.sum([each.hits for each in counts], axis=0)
    return alarms / sum(each.n_negative for each in counts), hits / sum(each.n_positive for each in counts)


def _slopes_at(C: Any, ratios: Vector, sample: Samples) -> list[tuple[float, float]]:
    """The slopes of each model for C = 1 where C is to be 1 / the mean cost of a row, which differs between models."""
    share = float(sample.weights[sample.positive].sum() / sample.weights.sum())
    if not isinstance(C, str):
        return _slopes(ratios)
    means = [share * fn_cost + (1.0 - share) * fp_cost for fn_cost, fp_cost in _slopes(ratios)]
    return [(fn / mean, fp / mean) for (fn, fp), mean in zip(_slopes(ratios), means, strict=True)]


def _slopes(ratios: Vector) -> list[tuple[float, float]]:
    return [(float(r**0.5), float(r**-0.5)) for r in ratios]
