"""Training with any loss of `cssvm.losses`: L-BFGS for the smooth ones, the exact dual solver for hinges.

    min over w, b:   1/2 |w|^2 + C sum_i s_i loss(y_i, f(x_i)),    f(x) = w'phi(x) + b

y_i = +1 is the target class, s_i the sample weight, phi(x) = x or Nystroem features of a kernel.
"""

from __future__ import annotations

import reprlib
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._core.classifier import BinaryClassifier, unchanged_on_failure
from .._core.samples import Samples, check_both_classes
from .._core.types import Vector
from .._core.validation import align_to_samples
from .._kernels import DEFAULT_KERNEL, KERNELS, LINEAR_KERNEL, kernel_class, make_kernel
from .._solvers.linear import minimise_smooth
from ..losses import DUAL, GRADIENT, LogisticLoss, Loss
from .feature_map import nystroem
from .inputs import CHECKS, POSITIVE_C, Check, check_parameters, resolve_gamma, validate_X, validate_X_y
from .kernel_svc import CostSensitiveSVC

# Positive definite kernels.
FEATURE_KERNELS = [name for name, kernel in KERNELS.items() if kernel.positive_definite]

# The checks of the parameters shared with the SVMs, and of those that differ.
PARAMETER_CHECKS: dict[str, Check] = {
    **CHECKS,
    "C": POSITIVE_C,
    "kernel": (
        lambda v: isinstance(v, str) and v in FEATURE_KERNELS,
        f"one of {FEATURE_KERNELS}",
        f'kernel="{DEFAULT_KERNEL}"',
    ),
}


def _has_probabilities(classifier: DesignedLossClassifier) -> bool:
    """Whether the link of the loss has an inverse; that of a hinge is a step."""
    try:
        classifier._resolved_loss().inverse_link(0.0)
    except (NotImplementedError, ValueError):
        return False
    return True


class DesignedLossClassifier(BinaryClassifier):
    """Linear or kernel classifier trained with a loss from `cssvm.losses`.

    With y = +1 for the target class, f(x) = w'phi(x) + b minimises::

        1/2 |w|^2 + C sum_i s_i loss(y_i, f(x_i))

    and the target is predicted where f > 0, which every loss of `cssvm.losses` makes the rule with the least
    expected cost, P(y = +1 | x) above the loss's threshold, in the limit of much data.

    Parameters
    ----------
    loss : Loss, default=None
        A smooth loss, provided or made by `design_loss`, or a `HingeLoss` with one slope and one margin for each
        class. None means ``LogisticLoss()``.
    C : float, default=1.0
        Weight of the loss relative to the penalty.
    kernel : str, default="linear"
        The name of a positive definite kernel, see `cssvm._kernels.KERNEL_NAMES`: ``"linear"`` takes the features as
        they are, the others are approximated with `n_components` Nystroem features for a smooth loss and exact for
        a hinge.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels that have one, as in `CostSensitiveSVC`.
    degree : int, default=3
        Degree of the polynomial kernel; ignored by other kernels.
    coef0 : float, default=0.0
        Constant term of the polynomial and the sigmoid kernel; ignored by other kernels.
    n_components : int, default=300
        Rows of X that span the Nystroem features, at most the number of rows. Ignored for the linear kernel and
        for a hinge.
    pos_label : label, default=None
        The target class, y = +1 in the loss; None means ``classes_[1]``. The sign of `decision_function` does not
        depend on it: positive always means ``classes_[1]``.
    tol : float, default=1e-6
        Smooth loss: largest slope, in any of the scaled coordinates, of the mean loss plus penalty at which L-BFGS
        stops. Hinge: largest violation of the optimality conditions, in units of f.
    max_iter : int, default=1000
        Limit on the iterations of L-BFGS; -1 means none. A hinge is solved without a limit.
    random_state : int, RandomState or None, default=None
        Chooses the rows that span the Nystroem features.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    coef_ : ndarray of shape (1, n_features) or (1, n_components), or None
        The weights w, positive towards ``classes_[1]``; None for a hinge with a kernel other than linear.
    intercept_ : ndarray of shape (1,)
        The constant b, positive towards ``classes_[1]``.
    objective_ : float
        The minimum that was reached.
    n_iter_ : int
        Iterations of L-BFGS, or steps of the dual solver.
    loss_ : Loss
        The loss used.
    feature_map_ : Nystroem or None
        The fitted feature map; None for the linear kernel and for a hinge.
    svc_ : CostSensitiveSVC or None
        The machine that solved the dual, with its certificate; None for a smooth loss.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string column names.

    Warns
    -----
    ConvergenceWarning
        When the solver stops before it reaches `tol`.

    Notes
    -----
    A hinge with slopes d, a and margins m, n of the target and the other class is the problem of
    `CostSensitiveSVC` in f / m: ``C / m``, ``fn_cost=d``, ``fp_cost=a`` and ``kappa=n / m``, its objective
    multiplied by m^2.

    An integer weight means repeated rows and a weight of zero a removed row, except that the Nystroem features
    are spanned by rows drawn whatever their weight. The minimum is the global one for a convex loss; a designed
    loss need not be convex, and then it is a local one.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from cssvm import DesignedLossClassifier
    >>> from cssvm.losses import LogisticLoss
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> for fn_cost in (1.0, 20.0):
    ...     classifier = DesignedLossClassifier(LogisticLoss(C1=fn_cost), pos_label=0)
    ...     model = make_pipeline(StandardScaler(), classifier).fit(X, y)
    ...     missed_tumours = ((model.predict(X) == 1) & (y == 0)).sum()
    ...     print(f"cost {fn_cost:2.0f}: {missed_tumours} missed")
    cost  1: 5 missed
    cost 20: 0 missed
    """

    def __init__(
        self,
        loss: Loss | None = None,
        C: float = 1.0,
        *,
        kernel: str = LINEAR_KERNEL,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        n_components: int = 300,
        pos_label: Any = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.pos_label = pos_label
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DesignedLossClassifier:
        """Train on X and y; a failed fit leaves the estimator as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Sample weights. If None, all weights are 1.

        Returns
        -------
        DesignedLossClassifier
            The estimator itself.
        """
        with unchanged_on_failure(self):
            check_parameters(self, PARAMETER_CHECKS)
            self.loss_ = self._resolved_loss()
            given = align_to_samples(X, y, sample_weight=sample_weight)
            X, y = validate_X_y(self, X, y, pairwise=False)
            target, positive = self._read_labels(y)
            target.require_pos_label(fn_cost=self.loss_.costs[0], fp_cost=self.loss_.costs[1])
            sample = Samples.of(target, positive, **given)
            sample.check_whole()
            rows = sample.counted_rows
            sample = sample.take(rows)
            check_both_classes(
                sample.positive,
                "the rows with a positive sample_weight",
                "Give rows of the other class a positive sample_weight.",
            )
            train = {GRADIENT: self._fit_smooth, DUAL: self._fit_hinge}
            train[self.loss_.solver](X[rows], sample)
        return self

    def _fit_smooth(self, X: Any, sample: Samples) -> None:
        """Minimise over w and b with L-BFGS."""
        solution = minimise_smooth(
            self.loss_,
            self._map_features(X, sample.weights),
            sample.signs,
            sample.weights,
            C=self.C,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self.svc_: CostSensitiveSVC | None = None
        self.coef_: Any = self._positive_class.as_f(solution.coef[np.newaxis, :])
        self.intercept_ = np.array([self._positive_class.as_f(solution.bias)])
        self.objective_ = solution.objective
        self.n_iter_ = solution.n_iter
        if not solution.converged:
            warnings.warn(
                f"{type(self).__name__} did not converge: L-BFGS stopped after {solution.n_iter} iterations with slope "
                f"{solution.slope:.2g} (tol={self.tol:g}): {solution.message}. Raise max_iter, lower C, "
                "scale the features (for example with StandardScaler) or raise tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _fit_hinge(self, X: Any, sample: Samples) -> None:
        """Solve the dual in f / pos_margin, where the margin of the target is the 1 of `CostSensitiveSVC`."""
        loss = self.loss_
        svc = CostSensitiveSVC(
            self.C / loss.pos_margin,
            fn_cost=loss.pos_slope,
            fp_cost=loss.neg_slope,
            kappa=loss.neg_margin / loss.pos_margin,
            kernel=self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            pos_label=self._positive_class.label,
            tol=self.tol / loss.pos_margin,
        )
        self.svc_ = svc.fit(X, sample.labels, sample_weight=sample.weights)
        self.feature_map_: Any = None
        linear = kernel_class(self.kernel).is_linear
        self.coef_ = loss.pos_margin * svc.coef_ if linear else None
        self.intercept_ = loss.pos_margin * svc.intercept_
        self.objective_ = loss.pos_margin**2 * svc.primal_objective_
        self.n_iter_ = svc.n_iter_

    def _map_features(self, X: Any, weights: Vector) -> Any:
        """phi(x) of each row of X as float64; fits the Nystroem map where there is one."""
        self.feature_map_ = None
        X = X.astype(np.float64, copy=False)
        if kernel_class(self.kernel).is_linear:
            return X
        gamma = resolve_gamma(self.gamma, self.kernel, X, weights)
        kernel = make_kernel(self.kernel, gamma=gamma, degree=self.degree, coef0=self.coef0)
        self.feature_map_ = nystroem(kernel, min(self.n_components, X.shape[0]), self.random_state)
        return self.feature_map_.fit_transform(X)

    def _resolved_loss(self) -> Any:
        """The loss to train with; one that has no training problem here is refused with the reason."""
        loss = LogisticLoss() if self.loss is None else self.loss
        if not isinstance(loss, Loss):
            raise ValueError(
                f"loss of {type(self).__name__} must be a Loss from cssvm.losses; got loss={reprlib.repr(loss)}. "
                "Pass for example loss=LogisticLoss(C1=4.0), or make one with design_loss."
            )
        if loss.has_row_values:
            raise ValueError(
                f"loss of {type(self).__name__} must have one slope and one margin for each class; got "
                f"{type(loss).__name__} with a value for each row. Pass these to CostSensitiveSVC instead: "
                "fit(X, y, fn_cost=..., fp_cost=..., kappa=...)."
            )
        if loss.solver is None:
            raise ValueError(
                f"loss of {type(self).__name__} must be smooth or a hinge; got loss={reprlib.repr(loss)}, which "
                "gives a solver no slope to follow. Pass a surrogate with the same costs, for example "
                "LogisticLoss(C1, C_minus1)."
            )
        return loss

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
        X = validate_X(self, X, pairwise=False)
        if self.svc_ is not None:
            return self.loss_.pos_margin * self.svc_.decision_function(X)
        features = X if self.feature_map_ is None else self.feature_map_.transform(X.astype(np.float64, copy=False))
        return features @ self.coef_[0] + self.intercept_[0]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the two classes: the inverse link of the loss at the score of the target.

        Only for a loss whose link has an inverse; for a hinge, whose link is a step, use `CalibratedClassifierCV`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns in the order of `classes_`.
        """
        f = self.decision_function(X)
        eta = self.loss_.inverse_link(self._positive_class.oriented(f))
        return self._positive_class.columns(eta)
