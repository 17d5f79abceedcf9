"""The biased-penalty SVM: costs scale the penalties, both classes keep the margin 1."""

from __future__ import annotations

from typing import Any

from .._core.classifier import unchanged_on_failure
from .kernel_svc import KernelSVC
from .parameters import lists_kernels


@lists_kernels
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
        Weight of the loss against the norm of w. ``"scale"`` is 1 / the mean cost of a row, weighted, so that the
        currency of the costs makes no difference; for costs of 1 it is 1.
    fn_cost : float, default=1.0
        Cost of a false negative: slope of the loss of the target class. One value for each row goes to `fit`.
    fp_cost : float, default=1.0
        Cost of a false positive: slope of the loss of the other class. One value for each row goes to `fit`.
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
    support_ : ndarray of shape (n_SV,), int32
        Rows of X that are support vectors, those of ``classes_[0]`` first.
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
            Cost of missing each row of the target class; other entries are ignored. None takes the constructor's.
        fp_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false alarm on each row of the other class, the rest ignored. None takes the constructor's.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of each row; None means 1.

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
