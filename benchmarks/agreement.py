"""How far scores of this library are from those of others on the same problem: `python -m benchmarks.agreement`.

For each problem the largest difference of scores on the rows of training, and the relative gap of the certificate.
Clarabel, through cvxpy, solves the dual as a general quadratic program; scikit-learn's SVC is LIBSVM. Needs the extra
`test`.
"""

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from cssvm import CostSensitiveSVC, paper_costs

N, GAMMA, TOL = 200, 0.1, 1e-8
PRECISION = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def clarabel_scores(K: np.ndarray, y: np.ndarray, margins: np.ndarray, upper_bounds: np.ndarray) -> np.ndarray:
    """f of max over a of margins'a - 1/2 a'YKYa, 0 <= a <= upper bounds, y'a = 0; b is the one of the free rows."""
    import cvxpy as cp

    a = cp.Variable(len(y))
    balance = y @ a == 0
    goal = cp.Maximize(margins @ a - cp.quad_form(cp.multiply(y, a), cp.psd_wrap(K)) / 2)
    cp.Problem(goal, [balance, a >= 0, a <= upper_bounds]).solve(solver=cp.CLARABEL, **PRECISION)
    free = (a.value > 1e-6 * upper_bounds) & (a.value < (1 - 1e-6) * upper_bounds)
    kernel_part = K @ (y * a.value)
    return kernel_part + np.mean((y * margins - kernel_part)[free])


def differences() -> Iterator[tuple[str, str, float, float]]:
    """What was solved, who solved it as well, the largest difference of scores, the certificate's gap."""
    X, labels = make_classification(N, 6, weights=[0.7], flip_y=0.1, random_state=0)
    y, K = np.where(labels == 1, 1.0, -1.0), rbf_kernel(X, gamma=GAMMA)
    rows = np.random.default_rng(0).lognormal(0, 1, N)

    def ours(**given: Any) -> tuple[np.ndarray, float]:
        costs = {name: value for name, value in given.items() if np.ndim(value) == 0}
        of_rows = {name: value for name, value in given.items() if np.ndim(value) > 0}
        model = CostSensitiveSVC(1.0, gamma=GAMMA, tol=TOL, **costs).fit(X, labels, **of_rows)
        return model.decision_function(X), model.dual_gap_

    def compared(what: str, who: str, theirs: np.ndarray, **given: Any) -> tuple[str, str, float, float]:
        scores, gap = ours(**given)
        return what, who, float(np.abs(scores - theirs).max()), gap

    paper = paper_costs(4, 2)
    margins, slopes = np.where(y > 0, 1.0, paper["kappa"]), np.where(y > 0, paper["fn_cost"], paper["fp_cost"])
    yield compared("the paper's loss, C1 = 4, C-1 = 2", "Clarabel", clarabel_scores(K, y, margins, slopes), **paper)
    own = np.where(y > 0, 1.0, rows)
    yield compared(
        "a cost and a margin for each row",
        "Clarabel",
        clarabel_scores(K, y, own, rows),
        **{"fn_cost": rows, "fp_cost": rows, "kappa": rows},
    )
    svc = SVC(gamma=GAMMA, tol=TOL)
    weighted = svc.set_params(class_weight={0: 1.0, 1: 5.0}).fit(X, labels).decision_function(X)
    yield compared("costs of classes", "SVC(class_weight)", weighted, fn_cost=5.0)
    sampled = svc.set_params(class_weight=None).fit(X, labels, sample_weight=rows).decision_function(X)
    yield compared("costs of rows", "SVC, sample_weight", sampled, fn_cost=rows, fp_cost=rows)


def main(arguments: list[str] | None = None) -> None:
    argparse.ArgumentParser(prog="python -m benchmarks agreement", description=__doc__).parse_args(arguments)
    print(f"{'problem':36}{'also solved by':20}{'scores differ by':>18}{'gap':>10}")
    for what, who, difference, gap in differences():
        print(f"{what:36}{who:20}{difference:18.0e}{gap:10.0e}")


if __name__ == "__main__":
    main()
