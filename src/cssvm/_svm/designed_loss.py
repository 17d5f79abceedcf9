"""Training with any loss of `cssvm.losses`: L-BFGS for the smooth ones, the exact dual solver for hinges."""

from __future__ import annotations

import reprlib
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._core.alignment import align_to_samples
from .._core.classifier import BinaryClassifier, unchanged_on_failure
from .._core.samples import Samples, check_both_classes
from .._core.types import Vector
from .._core.validation import POSITIVE_C, Check
from .._kernels import DEFAULT_KERNEL, KERNELS, LINEAR_KERNEL, kernel_class, make_kernel
from .._solvers.linear import minimise_smooth
from ..losses import HingeLoss, LogisticLoss, Loss
from .base_svc import SCALING, validate_parameters, validate_samples
from .feature_map import nystroem
from .kernel_svc import CostSensitiveSVC, resolve_gamma

FEATURE_KERNELS = [name for name, kernel in KERNELS.items() if kernel.positive_definite]

OWN_CHECKS: dict[str, Check] = {
    "C": POSITIVE_C,
    "kernel": (
        lambda v: isinstance(v, str) and v in FEATURE_KERNELS,
        f"one of {FEATURE_KERNELS}",
        f'kernel="{DEFAULT_KERNEL}"',
    ),
}


class DesignedLossClassifier(BinaryClassifier):
    """Linear or kernel classifier trained with a loss from `cssvm.losses`.

    With y = +1 for the positive class, f(x) = w'phi(x) + b minimises::

        1/2 |w|^2 + C sum_i s_i loss(y_i, f(x_i)),    phi(x) = x or Nystroem features of a kernel,

    and the positive class is predicted where f > 0. In the limit of many samples this is the rule of least expected
    cost, P(y = +1 | x) above the threshold of the loss.

    Parameters
    ----------
    loss : Loss, default=None
        A smooth loss, such as one made by `design_loss`, or a `HingeLoss` with one slope and one margin per class. If
        None, ``LogisticLoss()``.
    C : float, default=1.0
        Weight of the loss relative to the penalty.
    kernel : str, default="linear"
        A positive definite kernel: ``"linear"``, ``"poly"``, ``"rbf"``, ``"laplacian"``, ``"matern32"`` or
        ``"matern52"``. With a smooth loss, kernels other than the linear one are approximated with Nystroem features.
    gamma, degree, coef0
        As in `CostSensitiveSVC`.
    n_components : int, default=300
        Number of Nystroem features, at most the number of samples. Ignored for the linear kernel and for a hinge.
    pos_label : label, default=None
        The positive class, y = +1 in the loss. If None, ``classes_[1]``. Required if the labels are strings and the
        costs of the loss differ.
    tol : float, default=1e-6
        Tolerance for stopping: for a smooth loss, the largest gradient component, in scaled coordinates, of the mean
        loss plus penalty; for a hinge, the largest KKT violation, in units of the decision function.
    max_iter : int, default=1000
        Maximum number of iterations of L-BFGS; -1 means no limit. Ignored for a hinge.
    random_state : int, RandomState or None, default=None
        Draws the samples that span the Nystroem features.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (1, n_components), or None
        The weights w, positive for ``classes_[1]``; None for a hinge with a kernel other than the linear one.
    intercept_ : ndarray of shape (1,)
        The constant b, positive for ``classes_[1]``.
    objective_ : float
        The minimum that was reached.
    n_iter_ : int
        Number of iterations of L-BFGS, or of steps of the dual solver.
    loss_ : Loss
        The loss that was used.
    feature_map_ : Nystroem or None
        The fitted feature map; None for the linear kernel and for a hinge.
    svc_ : CostSensitiveSVC or None
        The model that solved the dual problem of a hinge; None for a smooth loss.
    classes_, n_features_in_, feature_names_in_
        As in `CostSensitiveSVC`.

    Notes
    -----
    A hinge with slopes d, a and margins m, n of the positive and the negative class is the problem of
    `CostSensitiveSVC` in f / m: ``C / m``, ``fn_cost=d``, ``fp_cost=a`` and ``kappa=n / m``, its objective multiplied
    by m^2.

    An integer weight repeats a sample and a weight of zero removes it, except that the samples that span the Nystroem
    features are drawn whatever their weight. The minimum is global if the loss is convex; designed losses need not be.

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
    ...     print(((model.predict(X) == 1) & (y == 0)).sum(), "false negatives")
    5 false negatives
    0 false negatives
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

    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> DesignedLossClassifier:
        """Fit the model; if this fails, the estimator stays as it was.

        Parameters
        ----------
        X, y, sample_weight
            As in `CostSensitiveSVC.fit`.

        Returns
        -------
        DesignedLossClassifier
            The fitted estimator.
        """
        with unchanged_on_failure(self):
            validate_parameters(self, **OWN_CHECKS)
            self.loss_: Any = self._resolved_loss()
            given = align_to_samples(X, y, sample_weight=sample_weight)
            X, y = validate_samples(self, X, y)
            positive_class, positive = self._read_labels(y)
            positive_class.require_pos_label(fn_cost=self.loss_.costs[0], fp_cost=self.loss_.costs[1])
            samples = Samples.from_mask(positive_class, positive, **given)
            samples.check_totals()
            used = samples.nonzero_samples
            samples = samples.take(used)
            check_both_classes(
                samples.positive,
                "the samples with a positive sample_weight",
                "Give samples of the other class a positive sample_weight.",
            )
            fit = self._fit_hinge if isinstance(self.loss_, HingeLoss) else self._fit_smooth
            fit(X[used], samples)
        return self

    def _fit_smooth(self, X: Any, samples: Samples) -> None:
        """Minimise over w and b with L-BFGS, on Nystroem features of a kernel that is not linear."""
        features, self.feature_map_ = X.astype(np.float64, copy=False), None
        if not kernel_class(self.kernel).is_linear:
            gamma = resolve_gamma(self.gamma, self.kernel, features, samples.weights)
            kernel = make_kernel(self.kernel, gamma=gamma, degree=self.degree, coef0=self.coef0)
            self.feature_map_ = nystroem(kernel, min(self.n_components, X.shape[0]), self.random_state)
            features = self.feature_map_.fit_transform(features)
        solution = minimise_smooth(
            self.loss_, features, samples.signs, samples.weights, C=self.C, tol=self.tol, max_iter=self.max_iter
        )
        self.svc_: CostSensitiveSVC | None = None
        self.coef_: Any = self._positive_class.to_classes_sign(solution.coef[np.newaxis, :])
        self.intercept_ = np.array([self._positive_class.to_classes_sign(solution.bias)])
        self.objective_ = solution.objective
        self.n_iter_ = solution.n_iter
        if not solution.converged:
            warnings.warn(
                f"{type(self).__name__} did not converge: L-BFGS stopped after {solution.n_iter} iterations with slope "
                f"{solution.slope:.2g} (tol={self.tol:g}): {solution.message}. Raise max_iter, {SCALING}.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _fit_hinge(self, X: Any, samples: Samples) -> None:
        """Solve the dual in f / pos_margin, in which the margin of the positive class is 1."""
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
        self.svc_ = svc.fit(X, samples.labels, sample_weight=samples.weights)
        self.feature_map_ = None
        self.coef_ = loss.pos_margin * svc.coef_ if kernel_class(self.kernel).is_linear else None
        self.intercept_ = loss.pos_margin * svc.intercept_
        self.objective_ = loss.pos_margin**2 * svc.primal_objective_
        self.n_iter_ = svc.n_iter_

    def _resolved_loss(self) -> Loss:
        """The loss, if it can be minimised here."""
        loss, name = LogisticLoss() if self.loss is None else self.loss, type(self).__name__
        if not isinstance(loss, Loss):
            raise ValueError(
                f"loss of {name} must be a Loss from cssvm.losses; got loss={reprlib.repr(loss)}. "
                "Pass for example loss=LogisticLoss(C1=4.0), or make one with design_loss."
            )
        if np.ndim(loss.threshold) or (isinstance(loss, HingeLoss) and np.ndim(loss.pos_margin + loss.neg_margin)):
            raise ValueError(
                f"loss of {name} must have one slope and one margin per class; got {type(loss).__name__} with one "
                "value per sample. Pass these to CostSensitiveSVC instead: fit(X, y, fn_cost=..., fp_cost=..., "
                "kappa=...)."
            )
        if not (loss.smooth or isinstance(loss, HingeLoss)):
            raise ValueError(
                f"loss of {name} must be smooth or a hinge; got loss={reprlib.repr(loss)}, which cannot be minimised "
                "by gradients. Pass a surrogate with the same costs, for example LogisticLoss(C1, C_minus1)."
            )
        return loss

    def decision_function(self, X: Any) -> Vector:
        """Score f of each sample, positive for ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples to score.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_samples(self, X)
        if self.svc_ is not None:
            return self.loss_.pos_margin * self.svc_.decision_function(X)
        features = X if self.feature_map_ is None else self.feature_map_.transform(X.astype(np.float64, copy=False))
        return features @ self.coef_[0] + self.intercept_[0]

    @available_if(lambda self: getattr(self.loss, "invertible", self.loss is None))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the two classes, by the inverse link of the loss.

        Only available if the link is invertible. That of a hinge is not; use `CalibratedClassifierCV` instead.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns in the order of `classes_`.
        """
        f = self.decision_function(X)
        eta = self.loss_.inverse_link(self._positive_class.to_positive_sign(f))
        return self._positive_class.probability_columns(eta)
