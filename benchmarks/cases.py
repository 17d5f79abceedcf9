"""The problems: seeded Gaussian clusters, standardised, RBF kernel with gamma = 1/d, costs 4 : 1."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.datasets import make_classification

FN_COST = 4.0
FP_COST = 1.0
TOL = 1e-3
N_PREDICT = 2_000
# `--quick` divides n and the rows to predict by this: it checks that everything runs, it measures nothing.
QUICK_DIVISOR = 10
# Large enough to reach a solver's blocked and threaded paths, small enough to take well under a second.
N_WARM_UP = 2_000


@dataclass(frozen=True)
class Case:
    name: str
    n: int
    d: int
    C: float
    n_predict: int = N_PREDICT
    seed: int = 0

    @property
    def gamma(self) -> float:
        return 1.0 / self.d

    def quick(self) -> "Case":
        return replace(self, n=self.n // QUICK_DIVISOR, n_predict=self.n_predict // QUICK_DIVISOR)

    def warm_up(self) -> "Case":
        """A small problem of the same kind, drawn with another seed."""
        n = min(self.n, N_WARM_UP)
        return replace(self, name=self.name + " warm-up", n=n, n_predict=n, seed=self.seed + 1)


CASES = {
    case.name: case
    for case in (
        Case("5k-20", n=5_000, d=20, C=1.0),
        Case("20k-20", n=20_000, d=20, C=1.0),
        Case("10k-200", n=10_000, d=200, C=1.0),
        Case("20k-20-C100", n=20_000, d=20, C=100.0),
    )
}


def generate(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training rows (n, d) float64, labels (n,) in {0, 1}, 1 being the target, and rows to predict."""
    X, y = make_classification(
        n_samples=case.n + case.n_predict,
        n_features=case.d,
        n_informative=case.d // 2,
        n_redundant=case.d // 10,
        n_clusters_per_class=4,
        class_sep=1.0,
        flip_y=0.05,
        random_state=case.seed,
    )
    X_train, y_train = X[: case.n], y[: case.n]
    center, scale = X_train.mean(axis=0), X_train.std(axis=0)
    return (
        np.ascontiguousarray((X_train - center) / scale),
        y_train,
        np.ascontiguousarray((X[case.n :] - center) / scale),
    )


def boxes(case: Case, y: np.ndarray) -> np.ndarray:
    """Upper bounds c_i of a_i, (n,) float64: C * fn_cost for the target, C * fp_cost for the rest."""
    return case.C * np.where(y == 1, FN_COST, FP_COST)
