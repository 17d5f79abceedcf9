"""The cost-sensitive SVM: a slope for each kind of error and a margin for each class, or for each example."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from .._core.alignment import align_to_samples
from .._core.classifier import resolve_cost, unchanged_on_failure
from .._core.costs import SCALE, is_tied
from .._kernels import DEFAULT_KERNEL
from .kernel_svc import KernelSVC


class CostSensitiveSVC(KernelSVC):
    """Cost-sensitive support vector classifier (CS-SVM).

    With y = +1 for the target class, f(x) = sum_j y_j a_j K(x, x_j) + b minimises::

        1/2 |w|^2 + C sum over y_i = +1 of s_i fn_cost_i max(0, 1       - f(x_i))
                  + C sum over y_i = -1 of s_i fp_cost_i max(0, kappa_i + f(x_i))

    The ratio of the slopes sets the decision rule, P(y = +1 | x) > fp_cost / (fn_cost + fp_cost) in the limit
    of much data; kappa sets the margin of the negative class relative to the positive one, also where the
    classes are separable. ``**paper_costs(C1, C_minus1)`` gives the setting with the slope tied to the
    margin.

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
        The weights w of a linear kernel, f(x) = <w, x> + b; other kernels have none.
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
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string column names.

    Notes
    -----
    Rows with zero weight or zero cost are left out of the training problem: a weight of 0 is the removal of
    the row, an integer weight its repetition. For probabilities use
    `sklearn.calibration.CalibratedClassifierCV`, for more than two classes
    `sklearn.multiclass.OneVsRestClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from cssvm import CostSensitiveSVC, paper_costs
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> y = ["good", "good", "bad", "bad"]
    >>> model = CostSensitiveSVC(C=1e3, kernel="linear", pos_label="bad", **paper_costs(4, 2)).fit(X, y)
    >>> model.predict([[-0.6], [0.0], [3.0]]).tolist()
    ['good', 'bad', 'bad']

    The boundary lies three times as far from the class that costs more to miss:

    >>> boundary = -model.intercept_[0] / (model.dual_coef_ @ model.support_vectors_).item()
    >>> print(round(boundary, 3))
    -0.5

    A cost for each row, here what a missed bad loan loses; entries of the other class are ignored:

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
        self.kappa = kappa

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        fn_cost: Any = None,
        fp_cost: Any = None,
        kappa: Any = None,
        sample_weight: Any = None,
    ) -> CostSensitiveSVC:
        """Train on X and y; a failed fit leaves the estimator as it was.

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
        kappa : float, "tied" or array-like of shape (n_samples,), default=None
            Margin of each sample of the negative class; other entries are ignored. If None, the value passed to the
            constructor is used.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Sample weights. If None, all weights are 1.

        Returns
        -------
        CostSensitiveSVC
            The estimator itself.
        """
        with unchanged_on_failure(self):
            kappa = resolve_cost(self, "kappa", align_to_samples(X, y, kappa=kappa)["kappa"])
            X, sample = self._read(X, y, fn_cost, fp_cost, sample_weight)
            margin = sample.fp_cost if is_tied(kappa) else kappa  # 1 / fp_cost is 1 where fp_cost is
            if np.ndim(margin) or margin != 1.0:
                sample.target.require_pos_label_for(f"kappa={reprlib.repr(kappa)}")
            machine = self._solve(X, sample, *self._margins_and_upper_bounds(sample, sample.weighted_costs, kappa))
            self._store(machine)
            self._report([machine])
        return self
