"""Kernel boundary alignment: train, magnify the feature space near the boundary, most on the rarer side, train again.

One round, from a machine f with support vectors SV+ and SV- of the two classes in the features phi of its kernel:

    tau_k^2  = mean of |phi(x_k) - phi(x_s)|^2 over the support vectors x_s of the other class with
               |phi(x_k) - phi(x_s)|^2 <= M_k, the mean of the smallest and the largest of these distances
    width_k  = width * tau_k^2 * |SV-| / |SV+|  for x_k in SV+,     width * tau_k^2 * |SV+| / |SV-|  for x_k in SV-
    D(x)     = sum over support vectors of exp(-|phi(x) - phi(x_k)|^2 / width_k)
    K(x, z) <- D(x) K(x, z) D(z)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.classifier import unchanged_on_failure
from .._core.costs import SCALE
from .._core.types import RowNumbers, Vector, is_integer, is_number
from .._kernels import DEFAULT_KERNEL, Conformal
from .kernel_svc import KernelSVC
from .machine import Machine
from .parameters import Check, check_parameters, lists_kernels

BLOCK_VALUES = 1 << 22  # distances at a time
# Of the largest width: support vectors of both classes may lie on top of each other.
SMALLEST_WIDTH = 1e-12

OWN_CHECKS: dict[str, Check] = {
    "max_alignments": (lambda v: is_integer(v) and v >= 1, "a positive integer", "max_alignments=10"),
    "width": (lambda v: is_number(v) and 0 < v < np.inf, "a positive finite number", "width=1.0"),
}


@lists_kernels
class KernelBoundaryAlignmentSVC(KernelSVC):
    """Support vector classifier with kernel boundary alignment (KBA), for classes of very different size.

    A first SVM shows where the boundary is. Its kernel is then transformed so that the feature space is magnified near
    the support vectors, further around those of the class that has fewer, and the SVM is trained again::

        K(x, z) <- D(x) K(x, z) D(z),    D(x) = sum over support vectors x_k of exp(-|phi(x) - phi(x_k)|^2 / width_k)

    with width_k = ``width`` * tau_k^2 * (support vectors of the other class / those of the class of x_k), where tau_k^2
    is the mean squared distance from x_k to the nearer support vectors of the other class, all distances in the
    feature space of the kernel before the round. Costs scale the penalties, as in `BiasedPenaltySVC`, which is the
    machine of round 0.

    Parameters
    ----------
    C : "scale" or float, default="scale"
        Weight of the loss against the norm of w. ``"scale"`` is 1 / the mean cost of a row, weighted, so that the
        currency of the costs makes no difference; for costs of 1 it is 1.
    fn_cost : float, default=1.0
        Cost of a false negative: slope of the loss of the target class. One value for each row goes to `fit`.
    fp_cost : float, default=1.0
        Cost of a false positive: slope of the loss of the other class. One value for each row goes to `fit`.
    max_alignments : int, default=10
        Rounds at most. The first is always kept; a later one that raises the balanced error on the training rows is
        undone, and ends the fit.
    width : float, default=1.0
        Factor of all widths: how far around a support vector the feature space is magnified.
    kernel : str or callable, default="rbf"
        A name from `cssvm._kernels.KERNEL_NAMES`, or a callable that maps two matrices to their kernel matrix. With
        ``"precomputed"`` X is the kernel matrix.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels that have one, as in ``exp(-gamma |x - z|^2)`` for ``"rbf"``. ``"scale"`` is
        1 / (n_features * variance of all entries of X), the variance weighted with `sample_weight`; ``"auto"`` is
        1 / n_features.
    degree : int, default=3
        Degree of a polynomial kernel.
    coef0 : float, default=0.0
        Constant term of the kernels that have one.
    pos_label : label, default=None
        The target class, the one that `fn_cost` is about; None means ``classes_[1]``. The sign of
        `decision_function` does not depend on it: positive always means ``classes_[1]``.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of f, at which the solver stops.
    max_iter : int, default=-1
        Limit on the solver's steps; -1 means none.
    cache_size : "auto" or float, default="auto"
        Memory for kernel values, in megabytes; ``"auto"`` takes a share of what is available.
    verbose : int, default=0
        1 prints a summary of the fit, 2 also where the time went.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    n_alignments_ : int
        Rounds of the kernel that is used.
    balanced_errors_ : ndarray of shape (n_alignments + 1,)
        Balanced error on the training rows, that of the first SVM and after each round: the mean over both classes of
        the share of their cost that lies on rows decided wrongly.
    support_ : ndarray of shape (n_SV,), int32
        Rows of X that are support vectors, those of ``classes_[0]`` first.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        The support vectors; empty for a precomputed kernel.
    n_support_ : ndarray of shape (2,), int32
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (1, n_SV)
        Coefficients of the support vectors, positive for ``classes_[1]``.
    intercept_ : ndarray of shape (1,)
        The constant b.
    C_ : float
        The C used.
    gamma_ : float
        The gamma used; 1.0 for a kernel without one.
    n_iter_ : int
        Steps of the solver.
    fit_status_ : Status
        0 converged, 1 iteration limit reached, 2 stalled.
    primal_objective_, dual_objective_, dual_gap_ : float
        The objectives reached and the relative duality gap. With kernel values in float64, up to 1,500 samples, the
        gap bounds the distance to the optimum; above, where they are in float32, it is an estimate.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has names.

    Notes
    -----
    After Wu and Chang [1]_ [2]_. Their description leaves open, and this is what is done here:

    - *The factors of the widths* are said to be of the order of ``|SV-| / |SV+|`` and ``|SV+| / |SV-|``: taken as
      they are, times `width`.
    - *The nearer support vectors* are those up to the mean of the smallest and the largest squared distance; both are
      taken among support vectors of the other class, so that there always is one.
    - *The unit of D* is such that the mean of K(x, x) over the training rows, weighted, stays what it was. Otherwise D
      grows with the number of support vectors, and every round would act like a larger C.
    - *Support vectors* are the rows on or within their margin, y f(x) <= 1 up to `tol`, each with its `sample_weight`.
      So copies of a row count the same, whichever of them the solver has given a coefficient.
    - *The error that ends the rounds* is balanced: with rare targets the plain error is smallest where all are missed.
      A round that leaves it as it is is kept, since the training rows may all be decided rightly long before the
      boundary is where it should be.

    With ``kernel="precomputed"`` new rows come without their k(x, x). It is that of the training rows if all of these
    have the same, as for ``"rbf"``; otherwise the smallest value that fits, which is the true one where training rows
    outnumber features. Each round takes about the time of a fit, and predictions compute kernel values with the support
    vectors of every round.

    What is gained depends on the rows: much where a few targets stand for whole regions, as below; on real tables we
    have seen differences of either sign, of a hundredth or two of balanced accuracy. Compare it with `BiasedPenaltySVC`
    by cross-validation before you use it.

    References
    ----------
    .. [1] G. Wu and E. Y. Chang, "Adaptive feature-space conformal transformation for imbalanced-data learning",
       ICML 2003, 816-823.
    .. [2] G. Wu and E. Y. Chang, "KBA: kernel boundary alignment considering imbalanced data distribution", IEEE
       Transactions on Knowledge and Data Engineering 17(6), 2005, 786-795.

    Examples
    --------
    A board of 4 x 4 fields with 20 rows on the dark ones and 2,000 on the others, which cost the same in total:

    >>> import numpy as np
    >>> from sklearn.metrics import balanced_accuracy_score
    >>> from cssvm import BiasedPenaltySVC, KernelBoundaryAlignmentSVC
    >>> X = np.random.default_rng(0).uniform(0, 4, (8000, 2))
    >>> y = np.floor(X).sum(axis=1) % 2
    >>> rows = np.r_[np.flatnonzero(y == 1)[:20], np.flatnonzero(y == 0)[:2000]]
    >>> fresh = np.setdiff1d(np.arange(len(y)), rows)
    >>> for estimator in (BiasedPenaltySVC, KernelBoundaryAlignmentSVC):
    ...     model = estimator(1.0, fn_cost=100.0, gamma=4.0).fit(X[rows], y[rows])
    ...     print(estimator.__name__, round(balanced_accuracy_score(y[fresh], model.predict(X[fresh])), 2))
    BiasedPenaltySVC 0.72
    KernelBoundaryAlignmentSVC 0.83
    """

    def __init__(
        self,
        C: Any = SCALE,
        *,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        max_alignments: int = 10,
        width: float = 1.0,
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
        super().__init__(
            C,
            fn_cost=fn_cost,
            fp_cost=fp_cost,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            pos_label=pos_label,
            tol=tol,
            max_iter=max_iter,
            cache_size=cache_size,
            verbose=verbose,
        )
        self.max_alignments = max_alignments
        self.width = width

    def fit(
        self, X: Any, y: Any, *, fn_cost: Any = None, fp_cost: Any = None, sample_weight: Any = None
    ) -> KernelBoundaryAlignmentSVC:
        """Train on X and y; a failed fit leaves the estimator as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; for ``kernel="precomputed"`` the symmetric kernel matrix (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost : float or array-like of shape (n_samples,), default=None
            Cost of missing each row of the target class; other entries are ignored. None takes the constructor's.
        fp_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false alarm on each row of the other class, the rest ignored. None takes the constructor's.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of each row; None means 1.

        Returns
        -------
        KernelBoundaryAlignmentSVC
            The estimator itself.
        """
        with unchanged_on_failure(self):
            check_parameters(self, OWN_CHECKS)
            X, sample = self._read(X, y, fn_cost, fp_cost, sample_weight)
            margins, upper_bounds = self._margins_and_upper_bounds(sample, sample.weighted_costs)
            rows = TrainingRows(X, self._positive_class.as_f(sample.signs), margins, upper_bounds, sample.weights)
            machine = self._solve(X, sample, margins, upper_bounds)
            kernel = Conformal.of(machine.kernel, X, rows.counted)
            machines, errors = [machine], [rows.balanced_error(machine)]
            while len(machines) <= self.max_alignments:
                kernel = rows.aligned(kernel, machines[-1], self.width, self.tol)
                machine = self._solve(X, sample, margins, upper_bounds, kernel)
                error = rows.balanced_error(machine)
                if len(machines) > 1 and error > errors[-1]:
                    break
                machines, errors = [*machines, machine], [*errors, error]
            self.n_alignments_, self.balanced_errors_ = len(machines) - 1, np.array(errors)
            self._store(machines[-1])
            self._report(machines)
        return self


@dataclass(frozen=True)
class TrainingRows:
    """X, and of each row the sign of f (+1 for classes_[1]), the margin, the upper bound and the sample weight, (n,) each."""

    X: Any
    signs: NDArray[Any]
    margins: Vector
    upper_bounds: Vector
    weights: Vector

    @property
    def counted(self) -> RowNumbers:
        """The rows that were trained on."""
        return np.flatnonzero(self.upper_bounds > 0)

    def scores(self, machine: Machine) -> Vector:
        """Score f of the rows that were trained on, from the gradient G = y m - (f - b) of the solution."""
        linear = (self.signs * self.margins)[self.counted]
        return linear - machine.solution.gradient + machine.solution.bias

    def balanced_error(self, machine: Machine) -> float:
        """Mean over both classes of the share of their upper bounds on rows decided wrongly."""
        above, upper_bounds = self.signs[self.counted] > 0, self.upper_bounds[self.counted]
        wrong = upper_bounds * ((self.scores(machine) > 0) != above)
        return float(sum(wrong[side].sum() / upper_bounds[side].sum() for side in (above, ~above)) / 2)

    def support_vectors(self, machine: Machine, tol: float) -> tuple[RowNumbers, RowNumbers]:
        """Rows of either class on or within their margin, up to `tol`, or with a coefficient."""
        signs, margins = self.signs[self.counted], self.margins[self.counted]
        support = (signs * self.scores(machine) <= margins + tol) | (machine.solution.beta != 0)
        return self.counted[support & (signs > 0)], self.counted[support & (signs < 0)]

    def aligned(self, kernel: Conformal, machine: Machine, width: float, tol: float) -> Conformal:
        """The kernel after one round, by the formulas that open this module."""
        sides = self.support_vectors(machine, tol)
        totals = [self.weights[side].sum() for side in sides]
        widths = [
            width * (totals[1 - i] / totals[i]) * self.neighbourhoods(kernel, sides[i], sides[1 - i]) for i in (0, 1)
        ]
        both = np.concatenate(widths)
        smallest = max(SMALLEST_WIDTH * both.max(), np.finfo(np.float64).tiny)
        centres = np.concatenate(sides)
        return kernel.magnified(
            self.X,
            centres,
            widths=np.maximum(both, smallest),
            weights=self.weights[centres],
            row_weights=np.where(self.upper_bounds > 0, self.weights, 0.0),
        )

    def neighbourhoods(self, kernel: Conformal, side: RowNumbers, other: RowNumbers) -> Vector:
        """tau_k^2 of the support vectors `side` of one class among those of the other, (len(side),) float64."""
        mean = np.empty(len(side))
        step = max(1, BLOCK_VALUES // len(other))
        for i in range(0, len(side), step):
            squares = kernel.squared_distances(self.X, side[i : i + step], other)
            limit = (squares.min(axis=1) + squares.max(axis=1)) / 2
            near = (squares <= limit[:, np.newaxis]) * self.weights[other]
            mean[i : i + step] = (near * squares).sum(axis=1) / near.sum(axis=1)
        return mean
