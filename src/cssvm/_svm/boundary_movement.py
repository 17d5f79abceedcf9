"""The standard SVM with the threshold of least cost."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._core.alignment import align_to_samples
from .._core.classifier import unchanged_on_failure
from .._core.decision import ONE_MARGIN, score_tie, threshold_of_least_cost
from .._core.folds import Fold, check_groups, fit_on, make_splits
from .._core.margins_and_bounds import SCALE
from .._core.samples import Samples, check_both_classes
from .._core.sklearn_compat import take_rows
from .._core.types import Status, Vector
from .._kernels import DEFAULT_KERNEL
from .base_svc import SCALING
from .kernel_svc import CostSensitiveSVC, KernelSVC

FOLD_FIX = "Use fewer or stratified folds, or cv=None."
TRAINING = ("C", "kernel", "gamma", "degree", "coef0", "tol", "max_iter", "cache_size")  # parameters without the costs


class BoundaryMovementSVC(KernelSVC):
    """Standard support vector classifier with a moved threshold (BM-SVM).

    The costs are not used in training: f(x) = sum_j y_j a_j K(x, x_j) + b minimises::

        1/2 |w|^2 + C sum_i s_i max(0, 1 - y_i f(x_i))

    and the decision function is f(x) - t, with the threshold t that minimises the cost of the decisions::

        sum over false negatives of s_i fn_cost_i  +  sum over false positives of s_i fp_cost_i.

    Parameters
    ----------
    C : "scale" or float, default="scale"
        Weight of the loss relative to the penalty. ``"scale"`` is 1, since the costs are not used in training.
    fn_cost, fp_cost : float, default=1.0
        Cost of a false negative and of a false positive. Costs of single samples are passed to `fit`.
    cv : int, splitter or iterable of splits, default=None
        Cross-validation whose pooled out-of-fold scores determine the threshold; an integer is the number of stratified
        folds of shuffled samples. If None, the scores of the training samples are used. For time-ordered data, pass
        ``TimeSeriesSplit``.
    kernel, gamma, degree, coef0, pos_label, tol, max_iter, cache_size, verbose
        As in `CostSensitiveSVC`.

    Attributes
    ----------
    threshold_ : float
        The threshold t, which `intercept_` includes. It is the mean of two neighbouring scores, or lies 1 beyond the
        extreme ones; of thresholds of equal cost the one nearest to zero. Scores that differ by at most `tol`, or 1e-3
        if that is larger, are not separated.
    intercept_ : ndarray of shape (1,)
        The constant b - t.
    classes_, support_, support_vectors_, n_support_, dual_coef_, coef_, C_, gamma_, n_iter_, fit_status_, \
primal_objective_, dual_objective_, dual_gap_, n_features_in_, feature_names_in_
        As in `CostSensitiveSVC`.

    Notes
    -----
    An integer weight repeats a sample if `cv` is None, or if the splits keep its copies together. Samples of weight
    zero are neither trained on nor scored. `groups` are only used if `cv` is not None.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from cssvm import BoundaryMovementSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> for fn_cost in (5.0, 20.0):
    ...     svc = BoundaryMovementSVC(fn_cost=fn_cost, cv=5, pos_label=0)
    ...     model = make_pipeline(StandardScaler(), svc).fit(X, y)
    ...     print(f"{svc.threshold_:.1f}, {((model.predict(X) == 1) & (y == 0)).sum()} false negatives")
    0.4, 4 false negatives
    1.0, 1 false negatives
    """

    def __init__(
        self,
        C: Any = SCALE,
        *,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        cv: Any = None,
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
        self.cv = cv
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.pos_label = pos_label
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.verbose = verbose

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        *,
        fn_cost: Any = None,
        fp_cost: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> BoundaryMovementSVC:
        """Fit the model and its threshold; if this fails, the estimator stays as it was.

        Parameters
        ----------
        X, y, fn_cost, fp_cost, sample_weight
            As in `CostSensitiveSVC.fit`.
        groups : array-like of shape (n_samples,), default=None
            Group labels; a group is never split across folds.

        Returns
        -------
        BoundaryMovementSVC
            The fitted estimator.
        """
        with unchanged_on_failure(self):
            groups = align_to_samples(X, y, groups=groups)["groups"]
            X, samples = self._validate(X, y, fn_cost, fp_cost, sample_weight)
            groups = check_groups(groups, len(samples))
            solution = self._solve(X, samples, *self._translate(samples, samples.weights))
            scored, scores, n_failed = samples, solution.scores(X), 0
            if self.cv is not None:
                scored, scores, n_failed = self._out_of_fold(X, samples, groups)
            # The threshold is sought for the positive class, then turned to the sign of classes_[1].
            threshold = threshold_of_least_cost(
                self._positive_class.to_positive_sign(scores),
                scored.positive,
                scored.weighted_costs,
                prefer="nearest_zero",
                beyond=ONE_MARGIN,
                tie=score_tie(self.tol),
            )
            self.threshold_ = self._positive_class.to_classes_sign(threshold)
            self._store(solution, self.threshold_)
            self._report(solution)
            if n_failed and solution.status == Status.CONVERGED:
                warnings.warn(
                    f"{type(self).__name__} did not converge in {n_failed} folds of cv={self.cv!r}, so that threshold_ "
                    f"is less accurate. Raise max_iter, {SCALING}.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
        return self

    def _out_of_fold(self, X: Any, samples: Samples, groups: Any) -> tuple[Samples, Vector, int]:
        """The held-out samples of all folds, their scores, and the number of folds that did not converge.

        Samples of weight 0 are neither trained on nor scored.
        """
        used = samples.weights > 0
        given = {"positive": samples.positive, "weights": samples.weights, "groups": groups}
        splits = make_splits(self.cv, X, samples.labels, **given)
        held_out = np.concatenate([fold.valid[used[fold.valid]] for fold in splits])
        check_both_classes(samples.positive[held_out], f"the held-out samples of cv={self.cv!r}", FOLD_FIX)
        folds = [Fold(*(part[used[part]] for part in fold)) for fold in splits if used[fold.valid].any()]
        weights, scores, n_failed = {"sample_weight": samples.weights}, [], 0
        for fold in folds:
            where = f"the training samples of each fold of cv={self.cv!r}"
            check_both_classes(samples.positive[fold.train], where, FOLD_FIX)
            model = CostSensitiveSVC(**{name: getattr(self, name) for name in TRAINING})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                fit_on(model, X, samples.labels, fold.train, weights)
            scores.append(model.decision_function(take_rows(model, X, samples.labels, fold.valid, fold.train)[0]))
            n_failed += model.fit_status_ != Status.CONVERGED
        return samples.take(held_out), np.concatenate(scores), n_failed
