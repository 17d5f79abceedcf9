"""The cost-sensitive SVM with a linear decision function, for hundreds of thousands of samples, sparse or dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.margins_and_bounds import SCALE
from .._core.samples import Samples
from .._core.types import Vector
from .._solvers.linear import COORDINATE, LinearSolution, linear_scores, solve_linear
from .base_svc import SCALING, STOPPED, BaseSVC, validate_samples


class CostSensitiveLinearSVC(BaseSVC):
    """Cost-sensitive support vector classifier with a linear decision function, for many samples.

    With y = +1 for the positive class, f(x) = w'x + b minimises ::

        1/2 |w|^2 + C sum over y_i = +1 of s_i fn_cost_i max(0, 1       - f(x_i))
                  + C sum over y_i = -1 of s_i fp_cost_i max(0, kappa_i + f(x_i))

    the problem of ``CostSensitiveSVC(kernel="linear")``, with time and memory linear in the number of samples rather
    than quadratic. The intercept b is not regularised.

    Parameters
    ----------
    C, fn_cost, fp_cost, kappa, pos_label
        As in `CostSensitiveSVC`.
    tol : float, default=1e-6
        Tolerance for stopping: the relative duality gap.
    max_iter : int, default=-1
        Maximum number of iterations of the solver; -1 means no limit.
    verbose : int, default=0
        1 prints a summary of the fit.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The weights w, positive towards ``classes_[1]``.
    intercept_ : ndarray of shape (1,)
        The constant b.
    solver_ : str
        The method: ``"interior-point"``; with more features than samples ``"rotated interior-point"``; with thousands
        of both ``"coordinate descent"``, which may need long to reach a small gap if C is large.
    n_iter_ : int
        Number of iterations of the solver; for ``"coordinate descent"``, of passes over the samples.
    classes_, C_, fit_status_, primal_objective_, dual_objective_, dual_gap_, n_features_in_, feature_names_in_
        As in `CostSensitiveSVC`.

    Notes
    -----
    Scale the features first, since the penalty depends on their units. Weights act as in `CostSensitiveSVC`.

    With a feature map it approximates a kernel SVM for many samples: ``make_pipeline(Nystroem(n_components=300),
    CostSensitiveLinearSVC())``.

    Examples
    --------
    >>> import numpy as np
    >>> from cssvm import CostSensitiveLinearSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(10_000, 5))
    >>> fraud = X[:, 0] + X[:, 1] + rng.normal(size=10_000) > 3
    >>> amount = rng.lognormal(4, 1, 10_000)
    >>> model = CostSensitiveLinearSVC(fp_cost=5.0).fit(X, fraud, fn_cost=amount)
    >>> bool(model.dual_gap_ <= 1e-6)
    True
    >>> model.coef_.shape
    (1, 5)
    """

    def __init__(
        self,
        C: Any = SCALE,
        *,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        kappa: Any = 1.0,
        pos_label: Any = None,
        tol: float = 1e-6,
        max_iter: int = -1,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.fn_cost = fn_cost
        self.fp_cost = fp_cost
        self.kappa = kappa
        self.pos_label = pos_label
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _solve(self, X: Any, samples: Samples, margins: Vector, upper_bounds: Vector) -> LinearSolution:
        linear = self._positive_class.to_classes_sign(samples.signs) * margins
        used = upper_bounds > 0
        if not used.all():
            X, linear, upper_bounds = X[used], linear[used], upper_bounds[used]
        solution, self.solver_ = solve_linear(X, linear, upper_bounds, tol=self.tol, max_iter=self.max_iter)
        return solution

    def _store(self, solution: LinearSolution) -> None:
        super()._store(solution)
        self.coef_ = solution.coef[np.newaxis, :]
        self.intercept_ = np.array([solution.bias])

    def _summary(self, solution: Any) -> str:
        steps = f"{solution.n_iter} iterations of the {self.solver_} method"
        return f"{STOPPED[solution.status]} after {steps} with relative gap {solution.gap:.2g}"

    def _advice(self, solution: Any) -> str:
        if self.solver_ == COORDINATE:
            return f'Convergence was too slow: {SCALING}, or use CostSensitiveSVC(kernel="linear").'
        return f"Rounding errors prevent a smaller gap: {SCALING}."

    def _scores(self, X: Any) -> Vector:
        return linear_scores(validate_samples(self, X), self.coef_[0], self.intercept_[0])
