"""The solvers to compare: each fits and predicts a case and returns its dual coefficients.

The package of a peer is imported in its own process only (see `worker.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.sparse as sp

from benchmarks.cases import FP_COST, TOL, Case

# Kernel cache of LIBSVM in MB, large enough not to limit it.
CACHE_MB = 1000


class Solver(Protocol):
    def fit(self, X: Any, y: np.ndarray) -> None: ...

    def predict(self, X: Any) -> np.ndarray: ...

    def dual(self) -> tuple[np.ndarray, np.ndarray]:
        """Indices of the support vectors and beta_i = y_i a_i, positive for label 1."""

    def relative_gap(self) -> float | None:
        """The duality gap that the solver reports, or None."""


class EstimatorSolver:
    """Any classifier with scikit-learn's `support_` and `dual_coef_`."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: np.ndarray) -> None:
        self.estimator.fit(X, y)

    def predict(self, X: Any) -> np.ndarray:
        return self.estimator.predict(X)

    def dual(self) -> tuple[np.ndarray, np.ndarray]:
        coef = self.estimator.dual_coef_
        if sp.issparse(coef):
            coef = coef.toarray()
        return np.asarray(self.estimator.support_), np.asarray(coef, np.float64).ravel()

    def relative_gap(self) -> float | None:
        gap = getattr(self.estimator, "dual_gap_", None)
        return None if gap is None else float(gap)


class LibsvmSolver:
    """LIBSVM through its own Python binding; converting the arrays counts as part of fit and predict."""

    KERNELS: ClassVar = {"linear": 0, "rbf": 2}

    def __init__(self, case: Case) -> None:
        self.options = (
            f"-s 0 -t {self.KERNELS[case.kernel]} -c {case.C} -g {case.gamma!r} -e {TOL} -m {CACHE_MB} "
            f"-w1 {case.fn_cost} -w0 {FP_COST} -q"
        )

    def fit(self, X: Any, y: np.ndarray) -> None:
        from libsvm.svmutil import svm_train

        self.model = svm_train(y.astype(float), X, self.options)

    def predict(self, X: Any) -> np.ndarray:
        from libsvm.svmutil import svm_predict

        labels, _, _ = svm_predict([], X, self.model, "-q")
        return np.asarray(labels)

    def dual(self) -> tuple[np.ndarray, np.ndarray]:
        beta = np.array(self.model.get_sv_coef(), dtype=np.float64).ravel()
        # In LIBSVM the label of the first sample is positive.
        sign = 1.0 if self.model.get_labels()[0] == 1 else -1.0
        return np.array(self.model.get_sv_indices()) - 1, sign * beta

    def relative_gap(self) -> None:
        return None


def build_cssvm(case: Case) -> Solver:
    from cssvm import CostSensitiveSVC

    return EstimatorSolver(
        CostSensitiveSVC(
            C=case.C,
            fn_cost=case.fn_cost,
            fp_cost=FP_COST,
            kernel=case.kernel,
            gamma=case.gamma,
            tol=TOL,
            cache_size="auto" if case.cache_mb is None else case.cache_mb,
        )
    )


def svc_parameters(case: Case) -> dict[str, Any]:
    return dict(
        C=case.C,
        kernel=case.kernel,
        gamma=case.gamma,
        class_weight={0: FP_COST, 1: case.fn_cost},
        tol=TOL,
        cache_size=CACHE_MB,
    )


def build_sklearn(case: Case) -> Solver:
    from sklearn.svm import SVC

    return EstimatorSolver(SVC(**svc_parameters(case)))


def build_sklearnex(case: Case) -> Solver:
    from sklearnex.svm import SVC

    return EstimatorSolver(SVC(**svc_parameters(case)))


@dataclass(frozen=True)
class Peer:
    """A solver by name; `warm_up_rows` are sizes of fits that compile and load everything it needs."""

    name: str
    module: str
    build: Callable[[Case], Solver]
    warm_up_rows: tuple[int, ...] = (2_000,)

    def installed(self) -> bool:
        return find_spec(self.module) is not None


REFERENCE = "cssvm"
PEERS = {
    peer.name: peer
    for peer in (
        # It compiles on demand, with different code for small, medium (up to 4,096 samples) and large problems.
        Peer(REFERENCE, "cssvm", build_cssvm, warm_up_rows=(500, 2_000, 8_000)),
        Peer("sklearn", "sklearn", build_sklearn),
        Peer("sklearnex", "sklearnex", build_sklearnex),
        # The same solver as scikit-learn's, with another interface.
        Peer("libsvm", "libsvm", LibsvmSolver),
    )
}
