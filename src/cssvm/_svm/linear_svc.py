"""The cost-sensitive SVM for linear functions: rows by the hundred thousand, sparse or dense, with a certificate."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._core.alignment import align_to_samples
from .._core.classifier import BinaryClassifier, resolve_cost, unchanged_on_failure
from .._core.costs import SCALE, WeightedCostTotals, margins_and_upper_bounds, resolve_C
from .._core.samples import Samples, check_both_classes
from .._core.types import Status, Vector
from .._solvers.linear import COORDINATE, INTERIOR, ROTATED, LinearSolution, linear_scores, solve_linear
from .inputs import new_data, training_data
from .kernel_svc import STOPPED, UNUSABLE_GAP, check_scores
from .parameters import CHECKS, check_parameters

SCALING = "scale the features (for example with StandardScaler), lower C or raise tol."
RAISE_LIMIT = f"Raise max_iter, {SCALING}"
ADVICE = {method: f"Rounding errors are in the way of more: {SCALING}" for method in (INTERIOR, ROTATED)} | {
    COORDINATE: f'It got ahead too slowly: {SCALING} CostSensitiveSVC(kernel="linear") is another way to solve it.'
}
PARAMETER_CHECKS = {name: CHECKS[name] for name in ("C", "tol", "max_iter", "verbose")}


class CostSensitiveLinearSVC(BinaryClassifier):
    """Cost-sensitive support vector classifier with a linear function, for many rows.

    With y = +1 for the target class, f(x) = w'x + b minimises ::

        1/2 |w|^2 + C sum over y_i = +1 of s_i fn_cost_i max(0, 1       - f(x_i))
                  + C sum over y_i = -1 of s_i fp_cost_i max(0, kappa_i + f(x_i))

    the problem of ``CostSensitiveSVC(kernel="linear")``, in time and memory that grow with the number of rows and not
    with its square. The bias b is not regularised.

    Parameters
    ----------
    C : "scale" or float, default="scale"
        Weight of the loss relative to the penalty. ``"scale"`` is 1 / the weighted mean cost of a sample, so that the
        unit of the costs has no effect; it is 1 if all costs are 1.
    fn_cost : float, default=1.0
        Cost of a false negative: slope of the loss of the positive class. Costs of single samples are passed to `fit`.
    fp_cost : float, default=1.0
        Cost of a false positive: slope of the loss of the negative class. Costs of single samples are passed to `fit`.
    kappa : float or "tied", default=1.0
        Margin of the negative class; that of the positive class is 1. ``"tied"`` means 1 / fp_cost for each sample; the
        unit of the costs then has an effect.
    pos_label : label, default=None
        The positive class, which `fn_cost` refers to. If None, ``classes_[1]``. Required if the labels are strings and
        ``fn_cost != fp_cost``. It does not change the sign of `decision_function`, which is positive for
        ``classes_[1]``.
    tol : float, default=1e-6
        Tolerance for stopping: the relative duality gap.
    max_iter : int, default=-1
        Maximum number of iterations of the solver; -1 means no limit.
    verbose : int, default=0
        1 prints a summary of the fit.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    coef_ : ndarray of shape (1, n_features)
        The weights w, positive towards ``classes_[1]``.
    intercept_ : ndarray of shape (1,)
        The constant b.
    C_ : float
        The C that was used.
    solver_ : str
        How it was solved: ``"interior-point"``; with more features than rows ``"rotated interior-point"``; with
        thousands of both ``"coordinate descent"``, which may take long to a small gap where C is large.
    n_iter_ : int
        Iterations of the solver; sweeps over the rows for ``"coordinate descent"``.
    fit_status_ : Status
        0 converged, 1 iteration limit reached, 2 stalled.
    primal_objective_, dual_objective_, dual_gap_ : float
        The certificate: both objectives and their relative gap.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string column names.

    Notes
    -----
    Rows with zero weight or zero cost are left out of the training problem: a weight of 0 is the removal of the row, an
    integer weight its repetition. Scale the features first: w is regularised in their units.

    A feature map in front makes it a kernel machine for many rows, approximately:
    ``make_pipeline(Nystroem(n_components=300), CostSensitiveLinearSVC())``.

    Examples
    --------
    >>> import numpy as np
    >>> from cssvm import CostSensitiveLinearSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(10_000, 5))
    >>> fraud = X[:, 0] + X[:, 1] + rng.normal(size=10_000) > 3
    >>> amount = rng.lognormal(4, 1, 10_000)
    >>> model = CostSensitiveLinearSVC(fp_cost=5.0).fit(X, fraud, fn_cost=amount)
    >>> bool(model.dual_gap_ <= 1e-6)
    True
    >>> model.coef_.shape
    (1, 5)
    """

    def __init__(
        self,
        C: Any = SCALE,
        *,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        kappa: Any = 1.0,
        pos_label: Any = None,
        tol: float = 1e-6,
        max_iter: int = -1,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.fn_cost = fn_cost
        self.fp_cost = fp_cost
        self.kappa = kappa
        self.pos_label = pos_label
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        fn_cost: Any = None,
        fp_cost: Any = None,
        kappa: Any = None,
        sample_weight: Any = None,
    ) -> CostSensitiveLinearSVC:
        """Train on X and y; a failed fit leaves the estimator as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false negative for each sample of the positive class; other entries are ignored. If None, the
            value passed to the constructor is used.
        fp_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false positive for each sample of the negative class; other entries are ignored. If None, the
            value passed to the constructor is used.
        kappa : float, "tied" or array-like of shape (n_samples,), default=None
            Margin of each sample of the negative class; other entries are ignored. If None, the value passed to the
            constructor is used.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Sample weights. If None, all weights are 1.

        Returns
        -------
        CostSensitiveLinearSVC
            The estimator itself.
        """
        with unchanged_on_failure(self):
            check_parameters(self, PARAMETER_CHECKS)
            kappa = resolve_cost(self, "kappa", align_to_samples(X, y, kappa=kappa)["kappa"])
            given = align_to_samples(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
            X, y = training_data(self, X, y, pairwise=False)
            sample = self._read_sample(y, **given)
            solution, self.solver_ = self._solve(X, sample, kappa)
            self._store(solution)
            self._report(solution)
        return self

    def _solve(self, X: Any, sample: Samples, kappa: Any) -> tuple[LinearSolution, str]:
        """The optimum for these costs and margins, turned to the sign of f; rows with an empty upper bound are left out."""
        self.C_ = resolve_C(self.C, WeightedCostTotals.of(sample.weights, sample.weighted_costs))
        margins, upper_bounds = margins_and_upper_bounds(
            sample.positive, sample.weighted_costs, C=self.C_, kappa=kappa, fp_cost=sample.fp_cost
        )
        linear = self._positive_class.as_f(sample.signs) * margins
        counted = upper_bounds > 0
        check_both_classes(
            sample.positive[counted],
            "the rows with a positive sample_weight and cost",
            "Give rows of the other class a positive sample_weight and a positive fn_cost or fp_cost.",
        )
        if not counted.all():
            X, linear, upper_bounds = X[counted], linear[counted], upper_bounds[counted]
        return solve_linear(X, linear, upper_bounds, tol=self.tol, max_iter=self.max_iter)

    def _store(self, solution: LinearSolution) -> None:
        """Set the fitted attributes."""
        self.coef_ = solution.coef[np.newaxis, :]
        self.intercept_ = np.array([solution.bias])
        self.n_iter_ = max(1, solution.n_iter)
        self.fit_status_ = solution.status
        self.primal_objective_ = solution.primal_objective
        self.dual_objective_ = solution.dual_objective
        self.dual_gap_ = solution.gap

    def _report(self, solution: LinearSolution) -> None:
        """Warn if the solver did not converge; print a line on request."""
        name, ended = type(self).__name__, f"{STOPPED[solution.status]} after {solution.n_iter} iterations"
        if solution.status != Status.CONVERGED:
            warnings.warn(
                f"{name} did not converge: {ended} of the {self.solver_} method with relative gap {solution.gap:.2g} "
                f"(tol={self.tol:g}). "
                + ("Do not rely on this model. " if solution.gap > UNUSABLE_GAP else "")
                + (RAISE_LIMIT if solution.status == Status.ITERATION_LIMIT else ADVICE[self.solver_]),
                ConvergenceWarning,
                stacklevel=3,
            )
        if self.verbose >= 1:
            print(
                f"{name}: {ended} of the {self.solver_} method, relative gap {solution.gap:.2g}, primal objective "
                f"{solution.primal_objective:.6g}"
            )

    def decision_function(self, X: Any) -> Vector:
        """Score f of each row of X, positive for ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = new_data(self, X, pairwise=False)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = linear_scores(X, self.coef_[0], self.intercept_[0])
        check_scores(scores)
        return scores
