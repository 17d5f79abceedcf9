"""Feature maps that approximate a kernel, and how far a linear SVM on their features may be from the kernel SVM.

The dual variables beta of the linear SVM are feasible in the dual problem of the kernel SVM too. So with
f(x) = sum_i beta_i K(x, x_i), the best intercept b and every t for which t beta stays within its bounds

    t p'beta - 1/2 t^2 beta'K beta    <=    optimum    <=    1/2 beta'K beta + sum_i c_i max(0, m_i - y_i (f(x_i) + b))

The decision function of a Nystroem map is sum_j a_j K(x, v_j) over its components v, of squared norm a'K(v, v)a, so its
objective is an upper bound as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import Kernel as PairwiseFunction
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.metrics.pairwise import kernel_metrics
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._core.alignment import align_to_samples
from .._core.classifier import resolve_cost
from .._core.margins_and_bounds import margins_and_upper_bounds
from .._core.sklearn_compat import rbf_sampler_gamma
from .._core.types import Vector
from .._kernels import KERNELS, Kernel, kernel_class, make_kernel
from .._kernels.functions import Poly, Rbf
from .._solvers.certificate import least_hinge_loss, relative_gap
from .._solvers.linear import LinearFunction, recover_dual
from .base_svc import validate_transformed
from .kernel_svc import resolve_gamma
from .linear_svc import CostSensitiveLinearSVC

RANK_SHARE = 1e-9  # eigenvalues of the components below this share of the largest are not known to seven digits
SAME_PROBLEM = 1e-6  # relative difference up to which the objective is that of the fit


class KernelFunction(PairwiseFunction):
    """A kernel of this library in the form that scikit-learn's pairwise functions call, dense or sparse."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        return self.kernel.matrix(X, X if Y is None else Y)

    def diag(self, X: Any) -> np.ndarray:
        return self.kernel.matrix(X, X).diagonal()

    def is_stationary(self) -> bool:
        return False  # not used here


def nystroem(kernel: Kernel, n_components: int, random_state: Any) -> Nystroem:
    """An unfitted Nystroem map; kernels that scikit-learn has are given to it by name, with their parameters."""
    if kernel.name in kernel_metrics():
        own = {name: getattr(kernel, name) for name in kernel.parameters}
        return Nystroem(kernel.name, **own, n_components=n_components, random_state=random_state)
    return Nystroem(KernelFunction(kernel), n_components=n_components, random_state=random_state)


class FeatureMapGap(NamedTuple):
    """Bounds of the kernel SVM that a feature map approximates, computed by `feature_map_gap`.

    Attributes
    ----------
    primal_objective, dual_objective : float
        Bounds of the optimum of the kernel SVM.
    gap : float
        Their difference relative to the larger one.
    map_objective : float
        The objective of the linear SVM on the features of the map.
    """

    primal_objective: float
    dual_objective: float
    gap: float
    map_objective: float

    def combined(self, other: FeatureMapGap) -> FeatureMapGap:
        """The better bounds of two maps of one kernel, fitted to the same problem; `map_objective` is this one's."""
        primal = min(self.primal_objective, other.primal_objective)
        dual = max(self.dual_objective, other.dual_objective)
        return FeatureMapGap(primal, dual, relative_gap(primal, dual), self.map_objective)


def feature_map_gap(
    model: Any,
    X: Any,
    y: Any,
    *,
    kernel: Any = None,
    gamma: Any = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    fn_cost: Any = None,
    fp_cost: Any = None,
    kappa: Any = None,
    sample_weight: Any = None,
) -> FeatureMapGap:
    """Bound how far a linear SVM on a feature map is from the SVM of the kernel that the map approximates.

    The kernel SVM is never trained. If `gap` is small, more components or an exact fit would change little. Otherwise
    the map or the bounds are too coarse; `FeatureMapGap.combined` has the better ones of two maps.

    Parameters
    ----------
    model : Pipeline or CostSensitiveLinearSVCCV
        Fitted model whose last step is a `CostSensitiveLinearSVC` after the feature map, or a search with a feature
        map as its transformer.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The training samples of the model.
    y : array-like of shape (n_samples,)
        Their labels.
    kernel : str or callable, default=None
        The kernel that the map approximates, as in `CostSensitiveSVC`. If None, it is taken from the map, which must be
        a `Nystroem`, `RBFSampler` or `PolynomialCountSketch` of scikit-learn.
    gamma, degree, coef0 : default="scale", 3, 0.0
        Parameters of `kernel`, if that is given.
    fn_cost, fp_cost, kappa, sample_weight : float or array-like of shape (n_samples,), default=None
        What was passed to `fit`. A search with ``decision="bayes"`` trains with costs of its own, which replace
        `fn_cost` and `fp_cost`.

    Returns
    -------
    FeatureMapGap
        Named tuple ``(primal_objective, dual_objective, gap, map_objective)``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.kernel_approximation import Nystroem
    >>> from sklearn.pipeline import make_pipeline
    >>> from cssvm import CostSensitiveLinearSVC, CostSensitiveSVC, feature_map_gap
    >>> X, y = make_classification(1000, 5, random_state=0)
    >>> coarse, fine = (
    ...     make_pipeline(Nystroem(gamma=0.1, n_components=n, random_state=0), CostSensitiveLinearSVC()).fit(X, y)
    ...     for n in (10, 200)
    ... )
    >>> feature_map_gap(fine, X, y).gap < 0.01 < feature_map_gap(coarse, X, y).gap
    True
    >>> found, exact = feature_map_gap(fine, X, y), CostSensitiveSVC(gamma=0.1, tol=1e-6).fit(X, y)
    >>> found.dual_objective < exact.primal_objective_ < found.primal_objective
    True
    """
    *first, feature_map, svm = _steps_of(model)
    given = align_to_samples(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
    if getattr(model, "decides_by_costs", False):
        given |= svm._fit_costs
    samples = svm._read_scored_sample(y, **given)
    margins, upper_bounds = margins_and_upper_bounds(
        samples.positive,
        samples.weighted_costs,
        C=svm.C_,
        kappa=resolve_cost(svm, "kappa", align_to_samples(X, y, kappa=kappa)["kappa"]),
        fp_cost=samples.fp_cost,
    )
    linear = svm._positive_class.to_classes_sign(samples.signs) * margins
    for step in first:
        X = step.transform(X)
    Z = validate_transformed(feature_map.transform(X), feature_map)
    X = validate_transformed(X, first[-1] if first else feature_map)
    used, is_own = upper_bounds > 0, kernel is None
    if is_own:
        exact = _kernel_of(feature_map, X.shape[1])
    else:
        gamma = resolve_gamma(gamma, kernel, X, samples.weights)
        exact = make_kernel(kernel, gamma=gamma, degree=degree, coef0=coef0)
    if exact.pairwise or not (exact.positive_definite or exact.name not in KERNELS):
        raise ValueError(
            f'kernel must be positive definite and a function of samples; got kernel="{exact.name}", for which there '
            "are no bounds."
        )
    problem = _Problem(exact, X[used], Z[used], linear[used], upper_bounds[used])
    return problem.bounds(svm, feature_map if is_own else None)


class _Problem(NamedTuple):
    """A kernel, samples X and their features Z (n, ...) of positive upper bound, and p = y m (n,)."""

    kernel: Kernel
    X: Any
    Z: Any
    linear: Vector
    upper_bounds: Vector

    def bounds(self, svm: CostSensitiveLinearSVC, feature_map: Any) -> FeatureMapGap:
        """The bounds by the dual variables of the linear SVM; `feature_map` is None if its kernel may be another."""
        w = svm.coef_[0]
        map_objective = float(0.5 * w @ w + self._loss(self.Z @ w))
        if not abs(map_objective - svm.primal_objective_) <= (SAME_PROBLEM + svm.dual_gap_) * svm.primal_objective_:
            raise ValueError(
                "X, y, costs and weights must be those that model was fitted on; with these its objective is "
                f"{map_objective:.6g}, in its fit it was {svm.primal_objective_:.6g}. Pass what was passed to fit."
            )
        solution = LinearFunction(w, float(svm.intercept_[0]))
        beta = recover_dual(self.Z, self.linear, self.upper_bounds, solution, tol=svm.tol)
        support = np.flatnonzero(beta)
        f = self._values(self.kernel.vectors(self.X, support), beta[support])
        gain, square = float(beta @ self.linear), float(beta @ f)
        longest = float((self.upper_bounds[support] / np.abs(beta[support])).min(initial=np.inf))
        t = min(longest, gain / square) if square > 0.0 and gain > 0.0 else 0.0
        primals = [0.5 * s**2 * square + self._loss(s * f) for s in {0.0, t, 1.0}]
        if isinstance(feature_map, Nystroem):
            primals.append(self._nystroem_objective(feature_map, w))
        primal, dual = min(primals), t * gain - 0.5 * t**2 * square
        return FeatureMapGap(primal, dual, relative_gap(primal, dual), map_objective)

    def _loss(self, f: Vector) -> float:
        """Hinge loss of the scores f (n,) with the best intercept."""
        kinks, positive = self.linear - f, self.linear > 0
        lower, upper = np.where(positive, 0.0, -self.upper_bounds), self.upper_bounds * positive
        return least_hinge_loss(kinks, lower, upper)[1]

    def _values(self, vectors: Any, coef: Vector) -> Vector:
        return self.kernel.expand(self.X, np.arange(len(coef)), vectors, coef, np.float64)

    def _nystroem_objective(self, feature_map: Nystroem, w: Vector) -> float:
        """The objective at the function of a Nystroem map, in the directions whose norm is known to some digits."""
        vectors = validate_transformed(feature_map.components_, feature_map)
        values, directions = np.linalg.eigh(self.kernel.matrix(vectors, vectors))
        along = directions.T @ (feature_map.normalization_.T @ w)
        along[values < RANK_SHARE * values[-1]] = 0.0
        return 0.5 * float(values @ along**2) + self._loss(self._values(vectors, directions @ along))


def _steps_of(model: Any) -> list[Any]:
    """The steps of a model, the last two a feature map and a linear SVM."""
    steps = list(_iter_steps(model))
    if len(steps) < 2 or not isinstance(steps[-1], CostSensitiveLinearSVC):
        raise ValueError(
            "model must be a fitted Pipeline that ends in a feature map and a CostSensitiveLinearSVC, or a search with "
            f"such a transformer; got {type(model).__name__}."
        )
    check_is_fitted(steps[-1])
    return steps


def _iter_steps(model: Any) -> Iterator[Any]:
    """The steps of pipelines, nested ones too, and of a search, without those that do nothing."""
    if isinstance(model, Pipeline):
        for _, step in model.steps:
            yield from _iter_steps(step)
    elif hasattr(model, "best_estimator_"):
        yield from _iter_steps(model.transformer_)
        yield model.best_estimator_
    elif not (model is None or model == "passthrough"):
        yield model


def _kernel_of(feature_map: Any, n_features: int) -> Kernel:
    """The kernel that a map of scikit-learn approximates, with the defaults of scikit-learn's kernels."""
    if isinstance(feature_map, RBFSampler):
        return Rbf(gamma=rbf_sampler_gamma(feature_map))
    if isinstance(feature_map, Nystroem) and isinstance(feature_map.kernel, KernelFunction):
        return feature_map.kernel.kernel
    name = Poly.name if isinstance(feature_map, PolynomialCountSketch) else getattr(feature_map, "kernel", None)
    name = Poly.name if name == "polynomial" else name  # scikit-learn has both names
    if not (isinstance(feature_map, Nystroem | PolynomialCountSketch) and isinstance(name, str) and name in KERNELS):
        raise ValueError(
            f"kernel must be given for the feature map {type(feature_map).__name__}, from which it does not follow. "
            'Pass for example kernel="rbf", gamma=0.1.'
        )
    usual = {"gamma": 1.0 / n_features, "degree": 3, "coef0": 1.0}
    own = {key: getattr(feature_map, key) for key in kernel_class(name).parameters}
    return make_kernel(name, **{key: usual[key] if value is None else value for key, value in own.items()})
