"""What all support vector classifiers share: validation of parameters and X, the steps of `fit`, the report."""

from __future__ import annotations

import reprlib
import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d, validate_data

from .._core.alignment import align_to_samples
from .._core.classifier import BinaryClassifier, resolve_cost, unchanged_on_failure
from .._core.margins_and_bounds import WeightedCostTotals, is_tied, margins_and_upper_bounds, resolve_C
from .._core.samples import Samples, check_both_classes
from .._core.types import Status, Vector
from .._core.validation import CHECKS as COMMON_CHECKS
from .._core.validation import Check, check_parameters, is_integer, is_one_of
from .._kernels import DEFAULT_KERNEL, KERNEL_NAMES, is_pairwise

UNUSABLE_GAP = 0.1  # relative duality gap above which a model that did not converge should not be used
SCALING = "scale the features (for example with StandardScaler), lower C or raise tol"
STOPPED = {
    Status.CONVERGED: "converged",
    Status.ITERATION_LIMIT: "iteration limit",
    Status.STALLED: "stalled",
}

CHECKS: dict[str, Check] = COMMON_CHECKS | {
    "kernel": (
        lambda v: callable(v) or is_one_of(v, KERNEL_NAMES),
        f"a callable or one of {list(KERNEL_NAMES)}",
        f'kernel="{DEFAULT_KERNEL}"',
    ),
    "n_components": (lambda v: is_integer(v) and v > 0, "a positive integer", "n_components=300"),
}


class BaseSVC(BinaryClassifier):
    """A support vector classifier.

    min over w, b:  1/2 |w|^2 + C sum_i s_i cost_i max(0, m_i - y_i f(x_i))
    """

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        fn_cost: Any = None,
        fp_cost: Any = None,
        kappa: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        """Fit the model; if this fails, the estimator stays as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples; for ``kernel="precomputed"`` the symmetric kernel matrix (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false negative of each sample of the positive class, and of a false positive of each sample of the
            negative class; other entries are ignored. If None, the constructor's value is used.
        kappa : float, "tied" or array-like of shape (n_samples,), default=None
            Margin of each sample of the negative class, likewise.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Sample weights. If None, all weights are 1.

        Returns
        -------
        object
            The fitted estimator.
        """
        with unchanged_on_failure(self):
            kappa = resolve_cost(self, "kappa", align_to_samples(X, y, kappa=kappa)["kappa"])
            X, samples = self._validate(X, y, fn_cost, fp_cost, sample_weight)
            margin = samples.fp_cost if is_tied(kappa) else kappa  # 1 / fp_cost is 1 where fp_cost is
            if np.ndim(margin) or margin != 1.0:
                samples.positive_class.require_pos_label_for(f"kappa={reprlib.repr(kappa)}")
            solution = self._solve(X, samples, *self._translate(samples, samples.weighted_costs, kappa))
            self._store(solution)
            self._report(solution)
        return self

    def _validate(self, X: Any, y: Any, fn_cost: Any, fp_cost: Any, sample_weight: Any) -> tuple[Any, Samples]:
        """Check parameters and data; X and its samples with labels, weights and costs."""
        validate_parameters(self)
        given = align_to_samples(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
        X, y = validate_samples(self, X, y, pairwise=is_pairwise(getattr(self, "kernel", None)))
        return X, self._read_sample(y, **given)

    def _translate(self, samples: Samples, weighted_costs: Vector, kappa: Any = 1.0) -> tuple[Vector, Vector]:
        """Margins and upper bounds of samples with these weighted costs, which also resolve C="scale"."""
        self.C_ = resolve_C(self.C, WeightedCostTotals.from_samples(samples.weights, weighted_costs))
        margins, upper_bounds = margins_and_upper_bounds(
            samples.positive, weighted_costs, C=self.C_, kappa=kappa, fp_cost=samples.fp_cost
        )
        check_both_classes(
            samples.positive[upper_bounds > 0],
            "the samples with a positive sample_weight and cost",
            "Give samples of the other class a positive sample_weight and a positive fn_cost or fp_cost.",
        )
        return margins, upper_bounds

    @abstractmethod
    def _solve(self, X: Any, samples: Samples, margins: Vector, upper_bounds: Vector) -> Any: ...

    def _store(self, solution: Any) -> None:
        """Set the fitted attributes that describe how the problem was solved."""
        self.n_iter_ = max(1, int(solution.n_iter))
        self.fit_status_ = solution.status
        self.primal_objective_ = float(solution.primal_objective)
        self.dual_objective_ = float(solution.dual_objective)
        self.dual_gap_ = float(solution.gap)

    def _report(self, solution: Any) -> None:
        """Warn if the problem was not solved to `tol`; print a summary if verbose."""
        name, summary = type(self).__name__, self._summary(solution)
        if solution.status != Status.CONVERGED:
            limited = solution.status == Status.ITERATION_LIMIT
            warnings.warn(
                f"{name} did not converge: {summary} (tol={self.tol:g}). "
                + ("Do not use this model. " if solution.gap > UNUSABLE_GAP else "")
                + (f"Raise max_iter, {SCALING}." if limited else self._advice(solution)),
                ConvergenceWarning,
                stacklevel=3,
            )
        if self.verbose >= 1:
            print(f"{name}: {summary}, primal objective {solution.primal_objective:.6g}")
        if self.verbose >= 2 and hasattr(solution, "profile"):
            print(f"{name}: " + ", ".join(f"{phase} {time:.3f} s" for phase, time in solution.profile.items()))

    def decision_function(self, X: Any) -> Vector:
        """Score f of each sample, positive for ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the kernel between X and the training samples, (n_samples, n_training).

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._scores(X)
        if not np.isfinite(scores).all():
            row = np.argmin(np.isfinite(scores))
            raise ValueError(
                f"decision values of X must be finite; got {scores[row]} in sample {row}, whose entries are too large "
                "for this kernel. Scale the features as for the fit, or drop the sample."
            )
        return scores

    @abstractmethod
    def _scores(self, X: Any) -> Vector:
        """Validate X; its scores, which may overflow."""

    @abstractmethod
    def _summary(self, solution: Any) -> str:
        """How the solver stopped, after how many steps and how far from the optimum."""

    @abstractmethod
    def _advice(self, solution: Any) -> str:
        """What to do about a solver that stalled."""


def validate_parameters(estimator: BaseEstimator, **own_checks: Check) -> None:
    """Check the constructor parameters of an estimator: those in `CHECKS` that it has, and its own."""
    check_parameters(estimator, {name: each for name, each in CHECKS.items() if hasattr(estimator, name)} | own_checks)


def validate_samples(estimator: BaseEstimator, X: Any, *y: Any, pairwise: bool = False) -> Any:
    """X as C-contiguous or CSR float64/float32 with the features seen in `fit`; with y, in `fit`, X and y."""
    if not y and _is_valid(estimator, X):
        return X
    for name, values in zip(("X", "y"), (X, *y), strict=False):
        if np.ma.is_masked(values):
            raise ValueError(
                f"{name} must not be masked; got {int(np.ma.getmaskarray(values).sum())} masked entries. Fill them, or "
                "drop these samples."
            )
    if sp.issparse(X) and X.format == "csr" and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    accepted = False if pairwise else "csr"
    try:
        return validate_data(
            estimator, X, *y, reset=bool(y), dtype=[np.float64, np.float32], order="C", accept_sparse=accepted
        )
    except ValueError as error:
        if "X contains infinity" not in str(error):
            raise
        raise ValueError(f"{error} Clip these entries, scale the features or drop the samples first.") from error


def _is_valid(estimator: BaseEstimator, X: Any) -> bool:
    """Whether all checks would pass and change nothing: they take longer than scoring a single sample."""
    return (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and X.flags.c_contiguous
        and not hasattr(estimator, "feature_names_in_")
        and bool(np.isfinite(X).all())
    )


def validate_raw(estimator: BaseEstimator, X: Any, *y: Any) -> Any:
    """X as it is, for a transformer, with the features seen in `fit`; with y, in `fit`, X and y as an array."""
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    validate_data(estimator, X, reset=bool(y), skip_check_array=True)
    if not y:
        return X
    check_consistent_length(X, *y)
    return X, column_or_1d(*y, warn=True)


def validate_transformed(values: Any, transformer: Any) -> Any:
    """The output of a transformer as C-contiguous or CSR float64/float32."""
    try:
        return check_array(values, dtype=[np.float64, np.float32], order="C", accept_sparse="csr")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"transformer must turn X into finite numbers; the output of {type(transformer).__name__} is invalid: "
            f"{error}. Add steps that encode strings and impute missing values, for example OneHotEncoder and "
            "SimpleImputer."
        ) from error
