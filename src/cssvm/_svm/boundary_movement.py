"""Boundary movement: the standard SVM, its threshold moved to where the decisions cost least."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.alignment import align_to_samples
from .._core.classifier import unchanged_on_failure
from .._core.costs import SCALE
from .._core.folds import make_splits, read_groups
from .._core.samples import Samples, check_both_classes
from .._core.types import Vector
from .._kernels import DEFAULT_KERNEL, kernel_class
from ..metrics._thresholds import ONE_MARGIN, score_tie, threshold_of_least_cost
from .kernel_svc import KernelSVC
from .machine import Machine

FOLD_FIX = "Use fewer or stratified folds, or cv=None."


class BoundaryMovementSVC(KernelSVC):
    """Standard support vector classifier with a moved threshold (BM-SVM).

    The costs do not enter the training: f(x) = sum_j y_j a_j K(x, x_j) + b minimises::

        1/2 |w|^2 + C sum_i s_i max(0, 1 - y_i f(x_i))

    and the decision function is f(x) - t with the t that minimises the cost of the decisions on scored rows::

        sum over missed rows of s_i fn_cost_i  +  sum over false alarms of s_i fp_cost_i.

    Parameters
    ----------
    C : "scale" or float, default="scale"
        Weight of the loss relative to the penalty. ``"scale"`` is 1, as costs do not enter the training.
    fn_cost : float, default=1.0
        Cost of a false negative: a missed row of the target class. One value for each row goes to `fit`.
    fp_cost : float, default=1.0
        Cost of a false positive: a false alarm. One value for each row goes to `fit`.
    cv : int, splitter or iterable of splits, default=None
        Where the scores come from that choose the threshold. None: the training rows themselves. Otherwise
        the pooled scores of held-out rows, each from a machine trained on the other folds; an integer means
        stratified folds of shuffled rows. Rows in time want ``TimeSeriesSplit``.
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
    threshold_ : float
        The t subtracted from f; it is contained in `intercept_`. It is half-way between two neighbouring
        scores, or 1 beyond the extreme ones. Among thresholds of equal cost the nearest to zero is taken.
        Scores that differ by no more than `tol`, or 1e-3 if that is larger, are not told apart.
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
        The weights w of a linear kernel, f(x) = <w, x> + b; other kernels have none.
    intercept_ : ndarray of shape (1,)
        The constant b - t.
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
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string column names.

    Notes
    -----
    An integer weight means repeated rows with ``cv=None``, and with given splits that keep the copies of a
    row together; folds made here split rows, so copies may end up in different folds. Rows with zero weight
    are neither trained on nor scored. `groups` have no effect with ``cv=None``, which holds out no rows.

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
    ...     missed_tumours = ((model.predict(X) == 1) & (y == 0)).sum()
    ...     print(f"{fn_cost:4.0f} threshold {svc.threshold_:.1f}, {missed_tumours} missed")
       5 threshold 0.4, 4 missed
      20 threshold 1.0, 1 missed
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
        self.cv = cv

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        fn_cost: Any = None,
        fp_cost: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> BoundaryMovementSVC:
        """Train on X and y and move the threshold; a failed fit leaves the estimator as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; for ``kernel="precomputed"`` the symmetric kernel matrix (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false negative for each sample of the positive class; other entries are ignored. If None, the
            value passed to the constructor is used.
        fp_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false positive for each sample of the negative class; other entries are ignored. If None, the
            value passed to the constructor is used.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Sample weights. If None, all weights are 1.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as those of one customer, and are held out together.

        Returns
        -------
        BoundaryMovementSVC
            The estimator itself.
        """
        with unchanged_on_failure(self):
            groups = align_to_samples(X, y, groups=groups)["groups"]
            X, sample = self._read(X, y, fn_cost, fp_cost, sample_weight)
            groups = read_groups(groups, len(sample))
            machine = self._train_standard(X, sample)
            folds: list[Machine] = []
            scored, scores = sample, machine.scores(X)
            if self.cv is not None:
                folds, scored, scores = self._held_out_scores(X, sample, groups)
            # The threshold is sought for the target class, then turned to the side of classes_[1].
            threshold = threshold_of_least_cost(
                self._positive_class.oriented(scores),
                scored.positive,
                scored.weighted_costs,
                prefer="nearest_zero",
                beyond=ONE_MARGIN,
                tie=score_tie(self.tol),
            )
            self.threshold_ = self._positive_class.as_f(threshold)
            self._store(machine, self.threshold_)
            self._report([*folds, machine])
        return self

    def _train_standard(self, X: Any, sample: Samples) -> Machine:
        """The standard SVM: equal costs, both margins 1."""
        return self._solve(X, sample, *self._margins_and_upper_bounds(sample, sample.weights))

    def _held_out_scores(self, X: Any, sample: Samples, groups: Any) -> tuple[list[Machine], Samples, Vector]:
        """The machine of each fold, and the rows it did not see with their scores, pooled over the folds."""
        kernel = kernel_class(self.kernel)
        machines, held_out, scores = [], [], []
        folds = make_splits(self.cv, X, sample.labels, positive=sample.positive, weights=sample.weights, groups=groups)
        for fold in folds:
            seen, unseen = (rows[sample.weights[rows] > 0] for rows in fold)
            training = sample.take(seen)
            check_both_classes(training.positive, f"the training rows of each fold of cv={self.cv!r}", FOLD_FIX)
            machines.append(self._train_standard(kernel.select(X, seen, seen), training))
            held_out.append(unseen)
            scores.append(machines[-1].scores(kernel.select(X, unseen, seen)))
        scored = sample.take(np.concatenate(held_out))
        check_both_classes(scored.positive, f"the held-out rows of cv={self.cv!r}", FOLD_FIX)
        return machines, scored, np.concatenate(scores)
