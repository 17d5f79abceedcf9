"""Models along one parameter: the margin kappa of the negative class, or the ratio of the two costs.

`margin_path` counts support vectors as kappa shrinks; `cost_path` measures the error rates of one model for each cost
ratio, from which to choose once the costs are known. `plot_margin_path` and `plot_cost_path` draw them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv

from cssvm import CostSensitiveSVC
from cssvm.displays._canvas import BLUE, GREEN, GREY, VERMILION, axis_or_new, legend_above_curves, pyplot

Vector = NDArray[np.float64]

# Range of automatic cost ratios.
RATIO_RANGE = (1 / 64, 64.0)

# Points closer to a line than this are on it, since rates are rounded.
IN_LINE = 1e-12

# Inches of a figure with two panels.
FIGURE_SIZE = (9.0, 3.8)


@dataclass(frozen=True)
class MarginPath:
    """Numbers of support vectors of models with different margins.

    Attributes
    ----------
    kappas : ndarray of shape (n_kappas,)
        Margins of the negative class; the margin of the positive class is 1.
    n_negative, n_positive : ndarray of shape (n_kappas,)
        Support vectors of the negative and of the positive class.
    """

    kappas: Vector
    n_negative: NDArray[np.int64]
    n_positive: NDArray[np.int64]

    @property
    def ratio(self) -> Vector:
        """Negative support vectors for each positive one; infinite where there is no positive one."""
        with np.errstate(divide="ignore"):
            return self.n_negative / self.n_positive


def margin_path(estimator: Any, X: Any, y: Any, *, kappas: Any, **fit_params: Any) -> MarginPath:
    """Fit a clone of the estimator for each kappa and count its support vectors.

    Parameters
    ----------
    estimator : estimator with a parameter `kappa`
        Such as `CostSensitiveSVC`. If its kappa is ``"tied"``, fp_cost = 1 / kappa is set instead, so that the
        negative slope grows as the margin shrinks.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Training samples.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    kappas : array-like of shape (n_kappas,)
        Positive margins of the negative class, in any order.
    **fit_params : dict
        Further arguments of each fit, for example `sample_weight`.

    Returns
    -------
    MarginPath

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from cssvm import CostSensitiveSVC
    >>> from study.paths import margin_path
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
            f"{type(estimator).__name__} has no parameter kappa. Pass an estimator that has, such as CostSensitiveSVC."
        )
    tied = isinstance(parameters["kappa"], str)
    counts = []
    for kappa in margins.tolist():
        model = clone(estimator).set_params(**({"fp_cost": 1 / kappa} if tied else {"kappa": kappa}))
        model.fit(X, y, **fit_params)
        positive = _positive_index(model)
        counts.append((model.n_support_[1 - positive], model.n_support_[positive]))
    n_negative, n_positive = np.transpose(counts)
    return MarginPath(margins, n_negative, n_positive)


def plot_margin_path(path: MarginPath, axes: Any = None) -> Any:
    """Draw the numbers of support vectors of both classes, and their ratio, over kappa.

    kappa decreases to the right on a binary logarithmic axis. At fixed slopes kappa alone acts like a factor
    2 / (1 + kappa) on C, so the counts move little: kappa -> 0 is a doubled C. With ``kappa="tied"`` the growing
    negative slope reduces the number of negative support vectors, until none of them is at its bound.

    Parameters
    ----------
    path : MarginPath
        Returned by `margin_path`.
    axes : array of two matplotlib Axes, default=None
        Where to draw counts and ratio; None creates a figure.

    Returns
    -------
    ndarray of two matplotlib Axes
    """
    if axes is None:
        _, axes = pyplot().subplots(1, 2, figsize=FIGURE_SIZE, layout="constrained")
    axes = np.asarray(axes, dtype=object).ravel()
    if axes.size != 2:
        raise ValueError(f"axes must hold two axes, for counts and ratio; got {axes.size}.")
    counts, ratio = axes
    order = np.argsort(-path.kappas)
    kappas = path.kappas[order]
    style: dict[str, Any] = {"marker": "o", "markersize": 4}
    counts.plot(kappas, path.n_negative[order], color=VERMILION, linestyle="--", label="negative", **style)
    counts.plot(kappas, path.n_positive[order], color=BLUE, label="positive", **style)
    counts.set(ylabel="support vectors")
    ratio.plot(kappas, path.ratio[order], color=GREEN, **style)
    ratio.axhline(1.0, color=GREY, linewidth=0.8)
    ratio.set(ylabel="negative for each positive support vector")
    for axis in axes:
        axis.set_xscale("log", base=2)
        axis.xaxis.set_inverted(True)
        axis.set_ylim(bottom=0)
        axis.set_xlabel("margin κ of the negative class")
    legend_above_curves(counts, ncols=2)
    return axes


@dataclass(frozen=True)
class CostPath:
    """Models for a range of cost ratios, with the error rates of each on samples it was not trained on.

    Attributes
    ----------
    ratios : ndarray of shape (n_ratios,)
        fn_cost / fp_cost, ascending.
    fpr, tpr : ndarray of shape (n_ratios,)
        False and true positive rate of the predictions of each model on the validation samples, pooled over the folds.
    on_hull : ndarray of shape (n_ratios,), bool
        Whether a point is a vertex of the upper convex hull of all points with (0, 0) and (1, 1). Only these
        can be the best choice.
    prior : float
        Share of the positive class among the samples.
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
        """Expected cost of a prediction of each model: ``prior fn_cost (1 - tpr) + (1 - prior) fp_cost fpr``."""
        prior = self.prior if prior is None else prior
        return prior * fn_cost * (1.0 - self.tpr) + (1.0 - prior) * fp_cost * self.fpr

    def best(self, *, fn_cost: float, fp_cost: float, prior: float | None = None) -> int:
        """The model with the smallest expected cost; of equals the one trained for the ratio nearest to the costs'."""
        risk = self.risk(fn_cost=fn_cost, fp_cost=fp_cost, prior=prior)
        equal = np.flatnonzero(risk <= risk.min() * (1 + np.finfo(float).eps))
        return int(equal[np.argmin(np.abs(np.log(self.ratios[equal]) - np.log(fn_cost / fp_cost)))])

    def estimator(self, index: int) -> CostSensitiveSVC:
        """The model of that index, to be fitted, with the slopes sqrt(ratio) and 1 / sqrt(ratio)."""
        ratio = float(self.ratios[index])
        return CostSensitiveSVC(**self.params, fn_cost=ratio**0.5, fp_cost=ratio**-0.5)


def cost_path(
    estimator: CostSensitiveSVC, X: Any, y: Any, *, ratios: Any = 21, cv: Any = None, sample_weight: Any = None
) -> CostPath:
    """Fit a model for each cost ratio and measure where on the ROC plane it operates.

    A threshold moved along the scores of one model gives the operating points of one compromise between the classes.
    Here every point is a model trained for its own ratio.

    Parameters
    ----------
    estimator : CostSensitiveSVC
        Its C, kernel, gamma, kappa and pos_label are used; its costs are not.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    ratios : int or array-like of float, default=21
        fn_cost / fp_cost to train for, or a number of automatic ones from 1/64 to 64.
    cv : int, splitter or iterable of splits, default=None
        As in scikit-learn; None means five stratified folds.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each sample.

    Returns
    -------
    CostPath

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from cssvm import CostSensitiveSVC
    >>> from study.paths import cost_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = cost_path(CostSensitiveSVC(C=0.5, pos_label=0), scale(X), y, ratios=[0.1, 1.0, 10.0, 100.0])
    >>> chosen = path.best(fn_cost=50, fp_cost=1)  # a missed tumour costs as much as fifty false alarms
    >>> bool(path.tpr[chosen] >= path.tpr[1])
    True
    """
    values = _ratios(ratios)
    if isinstance(estimator.kappa, str):
        raise ValueError(f"kappa of the estimator must be a number for a cost path; got kappa={estimator.kappa!r}.")
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    # One kernel for all ratios and folds: that of a fit on all samples.
    largest = clone(estimator).set_params(fn_cost=float(values[-1]), fp_cost=1.0).fit(X, y, sample_weight=weights)
    params = estimator.get_params() | {"gamma": largest.gamma_}
    del params["fn_cost"], params["fp_cost"]
    X, y = np.asarray(X) if isinstance(X, list) else X, np.asarray(y)
    positive = y == largest.classes_[_positive_index(largest)]
    empty = np.zeros(len(values))
    path = CostPath(values, empty, empty, empty > 0, float(weights[positive].sum() / weights.sum()), params)

    false_positives, true_positives, n_negative, n_positive = empty.copy(), empty.copy(), 0.0, 0.0
    for train, valid in check_cv(cv, y, classifier=True).split(X, y):
        negative_weight, positive_weight = (np.where(rows, weights, 0.0)[valid] for rows in (~positive, positive))
        n_negative, n_positive = n_negative + negative_weight.sum(), n_positive + positive_weight.sum()
        for index in range(len(values)):
            model = path.estimator(index).fit(X[train], y[train], sample_weight=weights[train])
            predicted = model.predict(X[valid]) == model.classes_[_positive_index(model)]
            false_positives[index] += predicted @ negative_weight
            true_positives[index] += predicted @ positive_weight
    fpr, tpr = false_positives / n_negative, true_positives / n_positive
    return CostPath(values, fpr, tpr, on_upper_hull(fpr, tpr), path.prior, params)


def plot_cost_path(
    path: CostPath,
    *,
    fn_cost: float | None = None,
    fp_cost: float = 1.0,
    prior: float | None = None,
    ax: Any = None,
) -> Any:
    """Draw one point for each cost ratio, the upper convex hull of all, and the best model for the given costs.

    Points off the hull are never the best choice, whatever the costs: some mixture of two others is better.

    Parameters
    ----------
    path : CostPath
        Returned by `cost_path`.
    fn_cost, fp_cost : float
        Costs to choose a model for; without `fn_cost` none is marked.
    prior : float, default=None
        Share of the positive class where the model will be used; None: its share among the training samples.
    ax : matplotlib Axes, default=None
        Where to draw; None creates a figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = axis_or_new(ax)
    vertices = np.flatnonzero(path.on_hull)
    vertices = vertices[np.lexsort((path.tpr[vertices], path.fpr[vertices]))]
    hull_x = np.concatenate([[0.0], path.fpr[vertices], [1.0]])
    hull_y = np.concatenate([[0.0], path.tpr[vertices], [1.0]])
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
    ax.plot(hull_x, hull_y, color=BLUE, linewidth=1.2, label="convex hull")
    points = ax.scatter(
        path.fpr, path.tpr, c=np.log2(path.ratios), cmap="cividis", edgecolors="white", linewidths=0.5, zorder=3
    )
    if fn_cost is not None:
        chosen = path.best(fn_cost=fn_cost, fp_cost=fp_cost, prior=prior)
        ax.plot(
            path.fpr[chosen],
            path.tpr[chosen],
            "o",
            markersize=13,
            markerfacecolor="none",
            markeredgecolor=VERMILION,
            markeredgewidth=2,
            label=f"best for these costs (trained for {path.ratios[chosen]:.3g} : 1)",
            zorder=4,
        )
    ax.figure.colorbar(points, ax=ax, label="log2 of fn_cost / fp_cost trained for")
    ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    ax.set_aspect("equal")
    ax.legend(loc="lower right", fontsize=9, frameon=False)
    return ax


def on_upper_hull(fpr: Vector, tpr: Vector) -> NDArray[np.bool_]:
    """Whether each point (n_points,) is a vertex of the upper convex hull of all, (0, 0) and (1, 1).

    Every copy of a vertex is one, also those of (0, 0) and (1, 1). A point on the line between two vertices is not.
    """
    points = list(zip(fpr.tolist(), tpr.tolist(), strict=True))
    hull: list[tuple[float, float]] = []
    for x, y in sorted({*points, (0.0, 0.0), (1.0, 1.0)}):
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2:]
            if (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) < -IN_LINE:  # the path turns right at the last vertex
                break
            hull.pop()
        hull.append((x, y))
    return np.array([point in hull for point in points])


def _ratios(ratios: Any) -> Vector:
    """The ratios to train for, ascending, each once."""
    if isinstance(ratios, int) and ratios > 0:
        return np.geomspace(*RATIO_RANGE, ratios)
    try:
        values = np.unique(np.asarray(ratios, dtype=np.float64))
    except ValueError:
        values = np.empty(0)
    if np.ndim(ratios) != 1 or values.size == 0 or not ((values > 0) & np.isfinite(values)).all():
        raise ValueError(f"ratios must be a positive integer or a list of positive finite numbers; got {ratios!r}.")
    return values


def _positive_index(model: Any) -> int:
    """Which of the two classes of a fitted model is the positive one."""
    return 1 if model.pos_label is None else int(model.classes_[1] == model.pos_label)
