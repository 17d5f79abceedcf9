"""The biased-penalty SVM: costs scale the penalties, both classes keep the margin 1."""

from __future__ import annotations

from typing import Any

from .._core.classifier import unchanged_on_failure
from .kernel_svc import KernelSVC


class BiasedPenaltySVC(KernelSVC):
    """Support vector classifier with biased penalties (BP-SVM).

    With y = +1 for the target class, f(x) = sum_j y_j a_j K(x, x_j) + b minimises::

        1/2 |w|^2 + C sum over y_i = +1 of s_i fn_cost_i max(0, 1 - f(x_i))
                  + C sum over y_i = -1 of s_i fp_cost_i max(0, 1 + f(x_i))

    This is `CostSensitiveSVC` with kappa = 1, and `sklearn.svm.SVC` with the costs as sample weights: costs
    act where the classes overlap, while on separable data and with a large C the boundary stays half-way
    between the classes.

    Parameters
    ----------
    C : "scale" or float, default="scale"
        Weight of the loss relative to the penalty. ``"scale"`` is 1 / the weighted mean cost of a sample, so that the
        unit of the costs has no effect; it is 1 if all costs are 1.
    fn_cost : float, default=1.0
        Cost of a false negative: slope of the loss of the positive class. Costs of single samples are passed to `fit`.
    fp_cost : float, default=1.0
        Cost of a false positive: slope of the loss of the negative class. Costs of single samples are passed to `fit`.
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

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from cssvm import BiasedPenaltySVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> for fn_cost in (1.0, 20.0):
    ...     model = make_pipeline(StandardScaler(), BiasedPenaltySVC(fn_cost=fn_cost, pos_label=0)).fit(X, y)
    ...     missed_tumours = ((model.predict(X) == 1) & (y == 0)).sum()
    ...     print(fn_cost, missed_tumours)
    1.0 7
    20.0 1
    """

    def fit(
        self, X: Any, y: Any, *, fn_cost: Any = None, fp_cost: Any = None, sample_weight: Any = None
    ) -> BiasedPenaltySVC:
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
        sample_weight : float or array-like of shape (n_samples,), default=None
            Sample weights. If None, all weights are 1.

        Returns
        -------
        BiasedPenaltySVC
            The estimator itself.
        """
        with unchanged_on_failure(self):
            X, sample = self._read(X, y, fn_cost, fp_cost, sample_weight)
            machine = self._solve(X, sample, *self._margins_and_upper_bounds(sample, sample.weighted_costs))
            self._store(machine)
            self._report([machine])
        return self
