"""`feature_map_gap`: how far a linear machine behind a feature map may be from the machine of the kernel itself.

The map z approximates a kernel, K(x, x') ~ z(x)'z(x'). The dual variables beta of the linear machine have the upper bounds and
the sum that the dual of the kernel machine asks for, so that with f(x) = sum_i beta_i K(x, x_i) and the best bias b

    t p'beta - 1/2 t^2 beta'K beta    <=    optimum    <=    1/2 beta'K beta + sum_i c_i max(0, m_i - y_i (f(x_i) + b))

for every t that keeps t beta in its upper bounds. The function of a Nystroem map is itself one of the kernel's,
sum_j a_j K(x, v_j) over its components v, of squared norm a'K(v, v)a, so its own objective is an upper bound as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._core.classifier import resolve_cost
from .._core.costs import margins_and_upper_bounds
from .._core.types import Vector
from .._core.validation import align_to_samples
from .._kernels import KERNELS, Kernel, kernel_class, make_kernel
from .._kernels.functions import Poly, Rbf
from .._solvers.dual.certificate import relative_gap
from .._solvers.linear import LinearFunction, recover_dual
from .._solvers.objectives import optimal_intercept
from .feature_map import KernelFunction
from .inputs import resolve_gamma, validate_transformed
from .linear_svc import CostSensitiveLinearSVC

ALIASES = {"polynomial": Poly.name}  # of scikit-learn
RANK_SHARE = 1e-9  # of the largest eigenvalue of the components, below which one is not known to seven digits
SAME_PROBLEM = 1e-6  # relative, what the objective may differ by from that of the fit


class FeatureMapGap(NamedTuple):
    """What is certain of the kernel machine that a feature map approximates; `feature_map_gap` makes it.

    Attributes
    ----------
    primal_objective, dual_objective : float
        Bounds between which the optimum of the kernel machine lies.
    gap : float
        Their difference relative to the larger one: at most so much is lost by the map, and by the bounds.
    map_objective : float
        The objective of the machine behind the map, in its own features.
    """

    primal_objective: float
    dual_objective: float
    gap: float
    map_objective: float

    def combined(self, other: FeatureMapGap) -> FeatureMapGap:
        """The better bounds of two maps of one kernel, fitted to one problem; `map_objective` is this one's."""
        primal = min(self.primal_objective, other.primal_objective)
        dual = max(self.dual_objective, other.dual_objective)
        return FeatureMapGap(primal, dual, relative_gap(primal, dual), self.map_objective)


class _Problem(NamedTuple):
    """Rows that cost something as the kernel sees them, X, and in the features of the map, Z; p = y m and upper bounds."""

    X: Any
    Z: Any
    linear: Vector
    upper_bounds: Vector

    def loss(self, f: Vector) -> float:
        """Of scores (n,) with the best bias."""
        kinks, positive = self.linear - f, self.linear > 0
        above = kinks - optimal_intercept(
            kinks, np.where(positive, 0.0, -self.upper_bounds), self.upper_bounds * positive
        )
        return float(self.upper_bounds @ np.maximum(np.where(positive, above, -above), 0.0))


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
    """How far a linear SVM behind a feature map may be from the SVM of the kernel that the map approximates.

    The optimum of the kernel machine is never computed, only bounds of it: one pass over the kernel values of all rows
    with the support vectors. If `gap` is small, more components or an exact fit would change little. If it is not, the
    map is too coarse for this kernel, or the bounds are: with many rows the upper one of random features and the lower
    one of a Nystroem map are far off. Those of two maps of one kernel may be put together:
    ``feature_map_gap(nystroem, X, y).combined(feature_map_gap(sampler, X, y))``.

    Parameters
    ----------
    model : Pipeline or CostSensitiveLinearSVCCV
        Fitted; its last step is a `CostSensitiveLinearSVC`, the one before it the feature map. A search has its
        transformer before the machine that it found.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows that it was fitted on.
    y : array-like of shape (n_samples,)
        Their labels.
    kernel : str or callable, default=None
        The kernel that the map stands for, as in `CostSensitiveSVC`. None asks the map, which scikit-learn's
        `Nystroem`, `RBFSampler` and `PolynomialCountSketch` can tell.
    gamma, degree, coef0 : default="scale", 3, 0.0
        Parameters of `kernel`, where that is given.
    fn_cost, fp_cost, kappa, sample_weight : float or array-like of shape (n_samples,), default=None
        What was given to `fit`. A search with ``decision="bayes"`` trains with costs of its own, which are taken
        instead of `fn_cost` and `fp_cost`.

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
    sample = svm._read_scored_sample(y, **given)
    kappa = resolve_cost(svm, "kappa", align_to_samples(X, y, kappa=kappa)["kappa"])
    margins, upper_bounds = margins_and_upper_bounds(
        sample.positive, sample.weighted_costs, C=svm.C_, kappa=kappa, fp_cost=sample.fp_cost
    )
    rows = upper_bounds > 0
    for step in first:
        X = step.transform(X)
    Z = validate_transformed(feature_map.transform(X), feature_map)
    X = validate_transformed(X, first[-1] if first else feature_map)
    own = kernel is None
    if own:
        exact = _kernel_of(feature_map, X.shape[1])
    else:
        gamma = resolve_gamma(gamma, kernel, X, sample.weights)
        exact = make_kernel(kernel, gamma=gamma, degree=degree, coef0=coef0)
    _check_kernel(exact)
    linear = svm._positive_class.as_f(sample.signs) * margins
    return _bounds(
        svm, feature_map if own else None, exact, _Problem(X[rows], Z[rows], linear[rows], upper_bounds[rows])
    )


def _bounds(svm: CostSensitiveLinearSVC, feature_map: Any, kernel: Kernel, problem: _Problem) -> FeatureMapGap:
    """The bounds at the dual variables of the linear machine; `feature_map` is None if it may be of another kernel."""
    w, upper_bounds = svm.coef_[0], problem.upper_bounds
    own_loss = problem.loss(problem.Z @ w)
    map_objective = float(0.5 * w @ w + own_loss)
    if not abs(map_objective - svm.primal_objective_) <= (SAME_PROBLEM + svm.dual_gap_) * svm.primal_objective_:
        raise ValueError(
            f"X, y, costs and weights must be those that model was fitted on; with these its objective is "
            f"{map_objective:.6g}, in its fit it was {svm.primal_objective_:.6g}. Pass the training rows, and to "
            "feature_map_gap what was passed to fit."
        )
    beta = recover_dual(
        problem.Z, problem.linear, upper_bounds, LinearFunction(w, float(svm.intercept_[0])), tol=svm.tol
    )
    support = np.flatnonzero(beta)
    coef = beta[support]
    f = kernel.expand(problem.X, support, kernel.vectors(problem.X, support), coef, np.float64)
    gain, square = float(beta @ problem.linear), float(beta @ f)
    longest = float((upper_bounds[support] / np.abs(coef)).min(initial=np.inf))
    best = min(longest, gain / square) if square > 0.0 and gain > 0.0 else 0.0
    primals = [0.5 * t**2 * square + problem.loss(t * f) for t in {0.0, best, 1.0}]
    if isinstance(feature_map, Nystroem):
        primals.append(_own_objective(feature_map, w, kernel, problem))
    primal, dual = min(primals), best * gain - 0.5 * best**2 * square
    return FeatureMapGap(primal, dual, relative_gap(primal, dual), map_objective)


def _own_objective(feature_map: Nystroem, w: Vector, kernel: Kernel, problem: _Problem) -> float:
    """That of the function of a Nystroem map with weights w, in the directions whose norm is known to some digits."""
    vectors = validate_transformed(feature_map.components_, feature_map)
    values, directions = np.linalg.eigh(kernel.matrix(vectors, vectors))
    along = directions.T @ (feature_map.normalization_.T @ w)
    along[values < RANK_SHARE * values[-1]] = 0.0
    f = kernel.expand(problem.X, np.arange(len(values)), vectors, directions @ along, np.float64)
    return 0.5 * float(values @ along**2) + problem.loss(f)


def _steps_of(model: Any) -> list[Any]:
    """The steps of a model one by one, a feature map and a linear machine at their end."""
    steps = list(_flat(model))
    if len(steps) < 2 or not isinstance(steps[-1], CostSensitiveLinearSVC):
        raise ValueError(
            "model must be a fitted Pipeline that ends in a feature map and a CostSensitiveLinearSVC, or a search with "
            f"such a transformer; got {type(model).__name__}."
        )
    check_is_fitted(steps[-1])
    return steps


def _flat(model: Any) -> Iterator[Any]:
    """The steps of pipelines, also of those within, and of a search; what does nothing is left out."""
    if isinstance(model, Pipeline):
        for _, step in model.steps:
            yield from _flat(step)
    elif hasattr(model, "best_estimator_"):
        yield from _flat(model.transformer_)
        yield model.best_estimator_
    elif not (model is None or model == "passthrough"):
        yield model


def _kernel_of(feature_map: Any, n_features: int) -> Kernel:
    """The kernel that a map of scikit-learn's approximates, with the defaults of scikit-learn's kernels."""
    if isinstance(feature_map, RBFSampler):
        return Rbf(gamma=float(feature_map._gamma))
    if isinstance(feature_map, PolynomialCountSketch):
        return Poly(gamma=float(feature_map.gamma), degree=feature_map.degree, coef0=float(feature_map.coef0))
    if isinstance(feature_map, Nystroem):
        if isinstance(feature_map.kernel, KernelFunction):
            return feature_map.kernel.kernel
        name = ALIASES.get(feature_map.kernel, feature_map.kernel) if isinstance(feature_map.kernel, str) else None
        if name in KERNELS:
            given = {key: getattr(feature_map, key) for key in kernel_class(name).parameters}
            usual = {"gamma": 1.0 / n_features, "degree": 3, "coef0": 1.0}
            return make_kernel(name, **{key: usual[key] if each is None else each for key, each in given.items()})
    raise ValueError(
        f"kernel must be given for the feature map {type(feature_map).__name__}, which does not tell its own. Pass for "
        'example kernel="rbf", gamma=0.1.'
    )


def _check_kernel(kernel: Kernel) -> None:
    if kernel.pairwise or not (kernel.positive_definite or kernel.name not in KERNELS):
        raise ValueError(
            f'kernel must be positive definite and a function of rows; got kernel="{kernel.name}", for which there are '
            "no bounds."
        )
