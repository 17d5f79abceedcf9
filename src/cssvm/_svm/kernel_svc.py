"""Kernel support vector classifiers: from margins and upper bounds to the dual solver, and from its solution to scores.

f(x) = sum_j coef_j K(x, v_j) + bias,    coef_j = y_j a_j,    a_j > 0

with y_j = +1 for classes_[1]; which of the classes is positive enters only through margins and upper bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._core.margins_and_bounds import SCALE, signed_terms
from .._core.samples import Samples
from .._core.types import Vector
from .._kernels import DEFAULT_KERNEL, Expansion, Kernel, Linear, is_pairwise, kernel_class, make_kernel
from .._kernels.base import feature_moments
from .._solvers.dual import DualProblem, Solution, solve
from .base_svc import SCALING, STOPPED, BaseSVC, validate_samples

ROUNDING_SHARE = 0.1  # of tol, above which rounding errors are named as the reason
SAFE = (1e-100, 1e100)  # entries whose squares, and sums of many of them, are normal numbers
CONSTANT_ULPS = 8  # a standard deviation below so many units of rounding of the mean is that of a constant X

# Support vectors prepared for scoring, with what they were made of. They are not attributes: prediction must not change
# an estimator, and copies and files do not contain them.
_expansions: WeakKeyDictionary[KernelSVC, tuple[tuple[Any, ...], Expansion]] = WeakKeyDictionary()


@dataclass(frozen=True, kw_only=True)
class KernelSolution(Solution):
    """A solution with its support vectors: indices among the training samples, features and coefficients."""

    kernel: Kernel
    support: NDArray[np.int32]
    vectors: Any
    coef: Vector

    def scores(self, X: Any) -> Vector:
        """Scores f of the samples X, (n_samples,) float64."""
        return self.kernel.expand(X, self.support, self.vectors, self.coef) + self.bias


class KernelSVC(BaseSVC):
    """A kernel SVM; subclasses define the constructor."""

    def _solve(self, X: Any, samples: Samples, margins: Vector, upper_bounds: Vector) -> KernelSolution:
        """Solve the dual; support vectors are those of y = -1 first, then in the order of the samples."""
        gamma = resolve_gamma(self.gamma, self.kernel, X, samples.weights)
        kernel = make_kernel(self.kernel, gamma=gamma, degree=self.degree, coef0=self.coef0)
        kernel.check_training_matrix(X)
        y = self._positive_class.to_classes_sign(samples.signs)
        used = np.flatnonzero(upper_bounds > 0)
        if len(used) < len(y):
            X = kernel.select(X, used, used)
            y, margins, upper_bounds = y[used], margins[used], upper_bounds[used]

        gram = kernel.gram(X, upper_bounds=upper_bounds, tol=self.tol, cache_size=self.cache_size)
        problem = DualProblem(*signed_terms(y, margins, upper_bounds))
        solution = solve(gram, problem, tol=self.tol, max_iter=self.max_iter)

        support = np.flatnonzero(solution.beta)
        support = support[np.argsort(y[support], kind="stable")]
        vectors, coef = kernel.vectors(X, support), solution.beta[support]
        solution = replace(solution, bias=solution.bias - gram.intercept_offset(support, vectors, coef))
        own = used[support].astype(np.int32)
        return KernelSolution(**vars(solution), kernel=kernel, support=own, vectors=vectors, coef=coef)

    def _store(self, solution: KernelSolution, threshold: float = 0.0) -> None:
        """Set the fitted attributes, named as in `sklearn.svm.SVC`; the threshold is subtracted from the intercept."""
        super()._store(solution)
        self.support_ = solution.support
        self.support_vectors_ = solution.vectors
        self.n_support_ = np.array([np.sum(solution.coef < 0), np.sum(solution.coef > 0)], dtype=np.int32)
        self.dual_coef_ = solution.coef[np.newaxis, :]
        self.intercept_ = np.array([solution.bias - threshold])
        self.gamma_ = solution.kernel.gamma
        self._kernel = solution.kernel
        self._expansion_dtype = solution.kernel.expansion_dtype(solution.vectors, solution.coef)

    def _summary(self, solution: Any) -> str:
        return (
            f"{STOPPED[solution.status]} after {solution.n_iter} steps with violation {solution.violation:.2g}, "
            f"relative gap {solution.gap:.2g} and {len(solution.support)} support vectors"
        )

    def _advice(self, solution: Any) -> str:
        error = max(solution.rounding, solution.deviation)
        if error > ROUNDING_SHARE * self.tol:
            return f"Rounding errors of up to {error:.1g} in decision values are too large for tol: {SCALING}."
        return f"Convergence was too slow: {SCALING}."

    @property
    def coef_(self) -> Vector:
        """Weights w of the linear kernel, (1, n_features): f(x) = <w, x> + intercept."""
        check_is_fitted(self)
        if not isinstance(self._kernel, Linear):
            raise AttributeError(f'coef_ is only defined for kernel="linear"; this {type(self).__name__} has another')
        return self._kernel.weights(self.support_vectors_, self.dual_coef_[0])[np.newaxis, :]

    def _scores(self, X: Any) -> Vector:
        return self._expansion()(validate_samples(self, X, pairwise=self._kernel.pairwise)) + self.intercept_[0]

    def _expansion(self) -> Expansion:
        """The sum over the support vectors, prepared in the first prediction and kept for later ones."""
        source = (self._kernel, self.support_, self.support_vectors_, self.dual_coef_, self._expansion_dtype)
        known, expansion = _expansions.get(self, ((), None))
        if expansion is None or any(ours is not theirs for ours, theirs in zip(source, known, strict=True)):
            kernel, support, vectors, coef, dtype = source
            expansion = kernel.expansion(support, vectors, coef[0], dtype)
            _expansions[self] = source, expansion
        return expansion

    def __sklearn_tags__(self) -> Any:
        return with_kernel_tags(super().__sklearn_tags__(), self.kernel)


def with_kernel_tags(tags: Any, kernel: Any) -> Any:
    """scikit-learn's tags of an estimator with this kernel: X is a kernel matrix, or may be sparse."""
    tags.input_tags.pairwise = is_pairwise(kernel)
    tags.input_tags.sparse = not tags.input_tags.pairwise
    return tags


class CostSensitiveSVC(KernelSVC):
    """Cost-sensitive support vector classifier (CS-SVM).

    With y = +1 for the positive class, f(x) = sum_j y_j a_j K(x, x_j) + b minimises::

        1/2 |w|^2 + C sum over y_i = +1 of s_i fn_cost_i max(0, 1       - f(x_i))
                  + C sum over y_i = -1 of s_i fp_cost_i max(0, kappa_i + f(x_i))

    The ratio of the slopes determines the decision rule, P(y = +1 | x) > fp_cost / (fn_cost + fp_cost) in the limit of
    many samples; the margin kappa also has an effect if the classes are separable. ``**paper_costs(C1, C_minus1)`` ties
    the margin to the slope.

    Parameters
    ----------
    C : "scale" or float, default="scale"
        Weight of the loss relative to the penalty. ``"scale"`` is 1 / the weighted mean cost of a sample, so that the
        unit of the costs has no effect; it is 1 if all costs are 1.
    fn_cost, fp_cost : float, default=1.0
        Cost of a false negative and of a false positive: slopes of the loss of the positive and of the negative class.
        Costs of single samples are passed to `fit`.
    kappa : float or "tied", default=1.0
        Margin of the negative class; that of the positive class is 1. ``"tied"`` means 1 / fp_cost for each sample; the
        unit of the costs then has an effect.
    kernel : str or callable, default="rbf"
        One of ``"linear"``, ``"rbf"``, ``"poly"``, ``"sigmoid"``, ``"laplacian"``, ``"matern32"``, ``"matern52"``,
        ``"precomputed"``, or a callable that maps two matrices to their kernel matrix. With ``"precomputed"`` X is the
        kernel matrix.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, as in ``exp(-gamma |x - z|^2)`` for ``"rbf"``; ignored by kernels without one. ``"scale"``
        is 1 / (n_features * X.var()), the variance weighted with `sample_weight`; ``"auto"`` is 1 / n_features.
    degree : int, default=3
        Degree of the polynomial kernel; ignored by other kernels.
    coef0 : float, default=0.0
        Constant term of the polynomial and the sigmoid kernel; ignored by other kernels.
    pos_label : label, default=None
        The positive class, which `fn_cost` refers to. If None, ``classes_[1]``. Required if the labels are strings and
        ``fn_cost != fp_cost``. It does not change the sign of `decision_function`, which is positive for
        ``classes_[1]``.
    tol : float, default=1e-3
        Tolerance for stopping: the largest KKT violation, in units of the decision function.
    max_iter : int, default=-1
        Maximum number of steps of the solver; -1 means no limit.
    cache_size : "auto" or float, default="auto"
        Memory for kernel values in megabytes; ``"auto"`` uses a share of the available memory.
    verbose : int, default=0
        1 prints a summary of the fit, 2 also the time of each phase.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    support_ : ndarray of shape (n_SV,), int32
        Indices of the support vectors, those of ``classes_[0]`` first.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        The support vectors; empty for a precomputed kernel.
    n_support_ : ndarray of shape (2,), int32
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (1, n_SV)
        Coefficients of the support vectors, positive for ``classes_[1]``.
    coef_ : ndarray of shape (1, n_features)
        The weights w, f(x) = <w, x> + b; only for the linear kernel.
    intercept_ : ndarray of shape (1,)
        The constant b.
    C_ : float
        The C that was used.
    gamma_ : float
        The gamma that was used; 1.0 for a kernel without one.
    n_iter_ : int
        Number of steps of the solver.
    fit_status_ : Status
        0 converged, 1 iteration limit reached, 2 stalled.
    primal_objective_, dual_objective_, dual_gap_ : float
        The objectives reached and the relative duality gap. With kernel values in float64, up to 1,500 samples, the
        gap bounds the distance to the optimum; above, where they are in float32, it is an estimate.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen in `fit`, and their names if X has string column names.

    Notes
    -----
    Samples with zero weight or zero cost are left out of the training problem: a weight of 0 removes a sample, an
    integer weight repeats it. For probabilities use `sklearn.calibration.CalibratedClassifierCV`, for more than two
    classes `sklearn.multiclass.OneVsRestClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from cssvm import CostSensitiveSVC, paper_costs
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> y = ["good", "good", "bad", "bad"]
    >>> model = CostSensitiveSVC(C=1e3, kernel="linear", pos_label="bad", **paper_costs(4, 2)).fit(X, y)
    >>> model.predict([[-0.6], [0.0], [3.0]]).tolist()
    ['good', 'bad', 'bad']

    The boundary is three times as far from the class whose errors are more costly:

    >>> print((-model.intercept_ / model.coef_[0]).round(3))
    [-0.5]

    A cost for each sample, here the loss from a bad loan that is granted; entries of the other class are ignored:

    >>> loss = [np.nan, np.nan, 900.0, 150.0]
    >>> model = CostSensitiveSVC(1.0, pos_label="bad").fit(X, y, fn_cost=loss)
    >>> model.predict(X).tolist()
    ['good', 'good', 'bad', 'bad']
    """

    def __init__(
        self,
        C: Any = SCALE,
        *,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        kappa: Any = 1.0,
        kernel: Any = DEFAULT_KERNEL,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        pos_label: Any = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        cache_size: Any = "auto",
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.fn_cost = fn_cost
        self.fp_cost = fp_cost
        self.kappa = kappa
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.pos_label = pos_label
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.verbose = verbose


class BiasedPenaltySVC(CostSensitiveSVC):
    """Support vector classifier with biased penalties (BP-SVM): `CostSensitiveSVC` with ``kappa=1``, its default.

    The name is that of the literature. With kappa = 1 the costs act as sample weights of `sklearn.svm.SVC`.

    Examples
    --------
    >>> from cssvm import BiasedPenaltySVC
    >>> BiasedPenaltySVC(fn_cost=4.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).predict([[1.5]])
    array([1])
    """


def resolve_gamma(gamma: Any, kernel: Any, X: Any, weights: Vector) -> float:
    """The value of gamma, a positive float; 1.0 for kernels without this parameter."""
    if "gamma" not in kernel_class(kernel).parameters:
        return 1.0
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    # A power of two scales X to entries of about 1 where their squares would over- or underflow.
    largest, unit = float(np.abs(X.data if sp.issparse(X) else X).max(initial=0.0)), 1.0
    if largest > 0 and not SAFE[0] < largest < SAFE[1]:
        unit = float(2.0 ** -np.clip(np.ceil(np.log2(largest)), -1022, 1022))
    variance = weighted_variance(X if unit == 1 else X * unit, weights)
    if not variance > 0:
        return 1.0
    with np.errstate(over="ignore", under="ignore"):
        scale = float(np.float64(unit) / (X.shape[1] * variance) * unit)
    if not 0 < scale < np.inf:
        raise ValueError(
            f'gamma="scale" is 1 / (n_features * X.var()), which overflows; got entries of X as large as '
            f"{1 / unit:.3g}. Scale the features, for example with StandardScaler, or pass gamma as a number."
        )
    return scale


def weighted_variance(X: Any, weights: Vector) -> float:
    """Variance of all entries of X, dense or CSR, under weights (n_samples,); 0.0 for a constant X."""
    mean, variance = feature_moments(X, weights)
    total = float(variance.mean() + mean.var())  # within features, and between their means
    return total if total > (CONSTANT_ULPS * np.finfo(np.float64).eps * mean.mean()) ** 2 else 0.0
