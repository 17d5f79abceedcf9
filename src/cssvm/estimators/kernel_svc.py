"""What the three SVM estimators share: parameters, the steps of `fit`, scoring and scikit-learn's tags.

`fit` is four verbs in every subclass: `_validate`, translate costs to margins and boxes, `_solve`, `_store`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._types import Vector
from ..costs import row_weights
from ..dual import Status
from ..kernels import Kernel
from .bandwidth import resolve_gamma
from .inputs import new_data, target_index, training_data
from .machine import PRECOMPUTED, Machine, kernel_sum, train
from .parameters import check_parameters

STOPPED = {
    Status.CONVERGED: "converged",
    Status.ITERATION_LIMIT: "iteration limit",
    Status.STALLED: "stalled",
}


@contextmanager
def unchanged_on_failure(estimator: BaseEstimator) -> Iterator[None]:
    """Leave the estimator exactly as it was when the block raises anything, Ctrl-C included."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class KernelSVC(ClassifierMixin, BaseEstimator):
    """A binary kernel SVM whose subclasses choose margins and boxes.

    min over w, b:  1/2 |w|^2 + C sum_i s_i cost_i max(0, m_i - y_i f(x_i))
    """

    def __init__(
        self,
        C: float,
        *,
        fn_cost: float,
        fp_cost: float,
        kernel: Any,
        gamma: Any,
        degree: int,
        coef0: float,
        pos_label: Any,
        tol: float,
        max_iter: int,
        cache_size: Any,
        verbose: int,
    ) -> None:
        self.C = C
        self.fn_cost = fn_cost
        self.fp_cost = fp_cost
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.pos_label = pos_label
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.verbose = verbose

    def _validate(self, X: Any, y: Any) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        """X, the signs (+1: classes_[1]) and the targets (+1: pos_label) of its rows."""
        check_parameters(self)
        X, self.classes_, index = training_data(self, X, y, precomputed=self.kernel == PRECOMPUTED)
        signs = 2 * index - 1
        targets = signs if target_index(self, self.classes_, self.pos_label) == 1 else -signs
        return X, signs, targets

    def _solve(self, X: Any, signs: NDArray[Any], margins: Vector, boxes: Vector, sample_weight: Any = None) -> Machine:
        """The machine for these margins and boxes, gamma taken from the weighted rows of X."""
        gamma = resolve_gamma(self.gamma, self.kernel, X, row_weights(sample_weight, len(signs)))
        return train(
            X,
            signs,
            margins,
            boxes,
            kernel=Kernel(self.kernel, gamma=gamma, degree=self.degree, coef0=self.coef0),
            tol=self.tol,
            max_iter=self.max_iter,
            cache_size=self.cache_size,
        )

    def _store(self, machine: Machine, threshold: float = 0.0) -> None:
        """Set the fitted attributes, named as in `sklearn.svm.SVC`; the threshold goes into the intercept."""
        solution = machine.solution
        self.support_ = machine.support
        self.support_vectors_ = machine.vectors
        self.n_support_ = np.array([np.sum(machine.coef < 0), np.sum(machine.coef > 0)], dtype=np.int32)
        self.dual_coef_ = machine.coef[np.newaxis, :]
        self.intercept_ = np.array([solution.bias - threshold])
        self.gamma_ = machine.kernel.gamma
        self.n_iter_ = max(1, int(solution.n_iter))
        self.fit_status_ = solution.status
        self.primal_objective_ = float(solution.primal_objective)
        self.dual_objective_ = float(solution.dual_objective)
        self.dual_gap_ = float(solution.gap)
        self._kernel = machine.kernel

    def _report(self, machines: Sequence[Machine]) -> None:
        """Warn once if any machine did not converge; print on request a line or two about the last one."""
        name = type(self).__name__
        failed = [m.solution for m in machines if m.solution.status != Status.CONVERGED]
        if failed:
            worst = max(failed, key=lambda solution: solution.violation)
            warnings.warn(
                f"{name} did not converge: {STOPPED[worst.status]} after {worst.n_iter} steps with violation "
                f"{worst.violation:.2g} (tol={self.tol:g}) and relative gap {worst.gap:.2g}. Raise max_iter, "
                "scale the features (for example with StandardScaler), lower C or raise tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        solution = machines[-1].solution
        if self.verbose >= 1:
            print(
                f"{name}: {STOPPED[solution.status]} after {solution.n_iter} steps, violation "
                f"{solution.violation:.2g}, relative gap {solution.gap:.2g}, "
                f"{len(machines[-1].support)} support vectors, {sum(solution.profile.values()):.3f} s"
            )
        if self.verbose >= 2:
            print(f"{name}: " + ", ".join(f"{phase} {time:.3f} s" for phase, time in solution.profile.items()))

    def decision_function(self, X: Any) -> Vector:
        """Score f of each row of X, positive for ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the kernel between X and the training rows, (n_samples, n_training).

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = new_data(self, X, precomputed=self._kernel.name == PRECOMPUTED)
        f = kernel_sum(self._kernel, X, self.support_, self.support_vectors_, self.dual_coef_[0])
        return f + self.intercept_[0]

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X: ``classes_[1]`` where the decision function is positive.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        above = self.decision_function(X) > 0
        return self.classes_[above.astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != PRECOMPUTED
        tags.input_tags.pairwise = self.kernel == PRECOMPUTED
        tags.classifier_tags.multi_class = False
        return tags
