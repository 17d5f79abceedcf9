"""What the SVM estimators share: parameters, the steps of `fit`, scoring and scikit-learn's tags.

`fit` is four verbs in every subclass: `_read`, translate costs to margins and upper bounds, `_solve`, `_store`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._core.alignment import align_to_samples
from .._core.classifier import BinaryClassifier
from .._core.costs import SCALE, WeightedCostTotals, margins_and_upper_bounds, resolve_C
from .._core.samples import Samples
from .._core.types import Vector
from .._kernels import DEFAULT_KERNEL, Expansion, Kernel, Linear, is_pairwise, make_kernel
from .._solvers.dual import Solution, Status
from .bandwidth import resolve_gamma
from .inputs import new_data, training_data
from .machine import Machine, train
from .parameters import check_parameters

ROUNDING_SHARE = 0.1  # of tol, past which rounding is named as the reason
UNUSABLE_GAP = 0.1  # relative, past which a model that did not converge is not what was asked for
# What fitted estimators prepare to score rows, with what it was made of. Kept beside them, not in them: prediction
# changes no estimator, and copies and files hold none of it.
_expansions: WeakKeyDictionary[KernelSVC, tuple[tuple[Any, ...], Expansion]] = WeakKeyDictionary()

STOPPED = {
    Status.CONVERGED: "converged",
    Status.ITERATION_LIMIT: "iteration limit",
    Status.STALLED: "stalled",
}


class KernelSVC(BinaryClassifier):
    """A binary kernel SVM whose subclasses choose margins and upper bounds.

    min over w, b:  1/2 |w|^2 + C sum_i s_i cost_i max(0, m_i - y_i f(x_i))
    """

    def __init__(
        self,
        C: Any = SCALE,
        *,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
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
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.pos_label = pos_label
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.verbose = verbose

    def _read(self, X: Any, y: Any, fn_cost: Any, fp_cost: Any, sample_weight: Any) -> tuple[Any, Samples]:
        """Check parameters and data; X and its rows."""
        check_parameters(self)
        given = align_to_samples(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
        X, y = training_data(self, X, y, pairwise=is_pairwise(self.kernel))
        return X, self._read_sample(y, **given)

    def _margins_and_upper_bounds(
        self, sample: Samples, weighted_costs: Vector, kappa: Any = 1.0
    ) -> tuple[Vector, Vector]:
        """Margins and upper bounds of rows with these weighted costs, by the C that they make of it."""
        self.C_ = resolve_C(self.C, WeightedCostTotals.of(sample.weights, weighted_costs))
        return margins_and_upper_bounds(sample.positive, weighted_costs, C=self.C_, kappa=kappa, fp_cost=sample.fp_cost)

    def _solve(
        self, X: Any, sample: Samples, margins: Vector, upper_bounds: Vector, kernel: Kernel | None = None
    ) -> Machine:
        """The machine for these margins and upper bounds; the kernel of the constructor takes gamma from the rows of X."""
        if kernel is None:
            gamma = resolve_gamma(self.gamma, self.kernel, X, sample.weights)
            kernel = make_kernel(self.kernel, gamma=gamma, degree=self.degree, coef0=self.coef0)
        return train(
            X,
            self._positive_class.as_f(sample.signs),
            margins,
            upper_bounds,
            kernel=kernel,
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
        self.intercept_ = np.array([machine.bias - threshold])
        self.gamma_ = machine.kernel.gamma
        self.n_iter_ = max(1, int(solution.n_iter))
        self.fit_status_ = solution.status
        self.primal_objective_ = float(solution.primal_objective)
        self.dual_objective_ = float(solution.dual_objective)
        self.dual_gap_ = float(solution.gap)
        self._kernel = machine.kernel
        self._expansion_dtype = machine.kernel.expansion_dtype(machine.vectors, machine.coef)

    def _report(self, machines: Sequence[Machine]) -> None:
        """Warn once if any machine did not converge; print on request a line or two about the last one."""
        name = type(self).__name__
        failed = [m.solution for m in machines if m.solution.status != Status.CONVERGED]
        if failed:
            worst = max(failed, key=lambda solution: solution.violation)
            warnings.warn(
                f"{name} did not converge: {STOPPED[worst.status]} after {worst.n_iter} steps with violation "
                f"{worst.violation:.2g} (tol={self.tol:g}) and relative gap {worst.gap:.2g}. "
                + ("Do not rely on this model. " if worst.gap > UNUSABLE_GAP else "")
                + _advice(worst, self.tol),
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

    @property
    def coef_(self) -> Vector:
        """The weights w of a linear kernel, (1, n_features): f(x) = <w, x> + intercept."""
        check_is_fitted(self)
        if not isinstance(self._kernel, Linear):
            raise AttributeError(f'coef_ is there for kernel="linear" only; this {type(self).__name__} has another')
        return self._kernel.weights(self.support_vectors_, self.dual_coef_[0])[np.newaxis, :]

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
        X = new_data(self, X, pairwise=self._kernel.pairwise)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._expansion()(X) + self.intercept_[0]
        check_scores(scores)
        return scores

    def _expansion(self) -> Expansion:
        """The sum over the support vectors, which are prepared for the first rows and kept so for later ones."""
        of = (self._kernel, self.support_, self.support_vectors_, self.dual_coef_, self._expansion_dtype)
        known, expansion = _expansions.get(self, ((), None))
        if expansion is None or any(ours is not theirs for ours, theirs in zip(of, known, strict=True)):
            kernel, support, vectors, coef, dtype = of
            expansion = kernel.expansion(support, vectors, coef[0], dtype)
            _expansions[self] = of, expansion
        return expansion

    def __sklearn_tags__(self) -> Any:
        return with_kernel_tags(super().__sklearn_tags__(), self.kernel)


def _advice(solution: Solution, tol: float) -> str:
    """What to do about a fit that did not converge."""
    scale = "scale the features (for example with StandardScaler), lower C or raise tol"
    if solution.status == Status.ITERATION_LIMIT:
        return f"Raise max_iter, {scale}."
    if max(solution.rounding, solution.deviation) > ROUNDING_SHARE * tol:
        size = max(solution.rounding, solution.deviation)
        return f"Rounding errors of up to {size:.1g} in decision values are too large for tol: {scale}."
    return f"It got ahead too slowly: {scale}."


def check_scores(scores: Vector) -> None:
    """Refuse scores that are not finite, which new rows much larger than those of the fit can have."""
    if not np.isfinite(scores).all():
        row = np.argmin(np.isfinite(scores))
        raise ValueError(
            f"decision values of X must be finite; got {scores[row]} in row {row}, whose entries are too large for "
            "this kernel. Scale the features as for the fit, or drop the row."
        )


def with_kernel_tags(tags: Any, kernel: Any) -> Any:
    """scikit-learn's tags of an estimator with this kernel: whether X is a kernel matrix, else rows may be sparse."""
    tags.input_tags.pairwise = is_pairwise(kernel)
    tags.input_tags.sparse = not tags.input_tags.pairwise
    return tags
