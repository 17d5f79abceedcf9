"""One SVM in four formulations
============================

Run with ``python examples/four_formulations.py``.

Each sample has a label y_i = +1 or -1, a margin m_i and an upper bound c_i. The kernel matrix is K = Psi' Psi, where
the column Psi_i of Psi holds the features of sample i. These problems have the same optimum (fig. comm of the paper)::

    w       min over w, b      1/2 |w|^2 + sum_i c_i max(0, m_i - y_i (Psi_i'w + b))
    beta    min over beta, b   1/2 beta'K beta + sum_i c_i max(0, m_i - y_i (K_i'beta + b))
    alpha   max over alpha     sum_i m_i alpha_i - 1/2 alpha'Y K Y alpha,            0 <= alpha_i <= c_i,  y'alpha = 0
    z       max over z         sum_i y_i m_i g_i - 1/2 z'K^-1 z,   g = K^-1 z,       0 <= y_i g_i <= c_i,  1'g = 0

and their solutions are related by::

    w = Psi beta        beta = Y alpha        g = beta        z = K beta = f - b

Each problem is solved by a general solver; the last line of the table is the SVM that this library trains. Needs cvxpy,
which the extra `test` installs.
"""

from typing import NamedTuple

import cvxpy as cp
import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel

from cssvm import CostSensitiveSVC, paper_costs

PRECISION = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


class Problem(NamedTuple):
    """The data of all four: K (n, n) positive definite, y of -1 and +1, margins and upper bounds, (n,) each."""

    K: np.ndarray
    y: np.ndarray
    margins: np.ndarray
    upper_bounds: np.ndarray

    @property
    def features(self) -> np.ndarray:
        """Psi, upper triangular: column i holds the features of sample i."""
        return cholesky(self.K)


class Found(NamedTuple):
    """The optimal value, the solution in the variables of the formulation, and the scores f of the samples."""

    value: float
    solution: np.ndarray
    scores: np.ndarray


def in_w(problem: Problem) -> Found:
    """Maximum margin separation (eq. csprimal, in the features of the kernel)."""
    w, b = cp.Variable(len(problem.y)), cp.Variable()
    f = problem.features.T @ w + b
    value = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + _loss(problem, f))).solve(**PRECISION)
    return Found(value, w.value, f.value)


def in_beta(problem: Problem) -> Found:
    """Regularised risk in the coefficients of the kernel expansion (eq. regriskSVM)."""
    beta, b = cp.Variable(len(problem.y)), cp.Variable()
    f = problem.K @ beta + b
    norm = cp.quad_form(beta, cp.psd_wrap(problem.K))
    value = cp.Problem(cp.Minimize(norm / 2 + _loss(problem, f))).solve(**PRECISION)
    return Found(value, beta.value, f.value)


def in_alpha(problem: Problem) -> Found:
    """The Lagrange dual (eq. csdual0 to csdual2)."""
    K, y, margins, upper_bounds = problem
    alpha = cp.Variable(len(y))
    balance = y @ alpha == 0
    norm = cp.quad_form(alpha, cp.psd_wrap(np.outer(y, y) * K))
    goal = cp.Maximize(margins @ alpha - norm / 2)
    value = cp.Problem(goal, [balance, alpha >= 0, alpha <= upper_bounds]).solve(**PRECISION)
    beta = y * alpha.value
    return Found(value, alpha.value, K @ beta + _bias(problem, beta))


def in_z(problem: Problem) -> Found:
    """The Fenchel dual, in the scores without the bias (eq. regriskdual1)."""
    _, y, margins, upper_bounds = problem
    root = solve_triangular(problem.features.T, np.eye(len(y)), lower=True)  # K^-1 = root' root
    z = cp.Variable(len(y))
    g = root.T @ (root @ z)
    goal = cp.Maximize((y * margins) @ g - cp.sum_squares(root @ z) / 2)
    inside = [cp.multiply(y, g) >= 0, cp.multiply(y, g) <= upper_bounds, cp.sum(g) == 0]
    value = cp.Problem(goal, inside).solve(**PRECISION)
    return Found(value, z.value, z.value + _bias(problem, g.value))


FORMULATIONS = {"w": in_w, "beta": in_beta, "alpha": in_alpha, "z": in_z}


def _loss(problem: Problem, f: cp.Expression) -> cp.Expression:
    return problem.upper_bounds @ cp.pos(problem.margins - cp.multiply(problem.y, f))


def _bias(problem: Problem, beta: np.ndarray) -> float:
    """The b that minimises the loss of the scores K beta + b: it is at the kink of one of the samples."""
    K, y, margins, upper_bounds = problem
    kinks = y * margins - K @ beta
    losses = [upper_bounds @ np.maximum(0.0, margins - y * (K @ beta + kink)) for kink in kinks]
    return float(kinks[np.argmin(losses)])


def example(n_samples: int = 60, C: float = 0.5) -> Problem:
    """The cost-sensitive SVM of the paper with C1 = 4, C_{-1} = 2, on two classes that overlap."""
    X, labels = make_classification(n_samples, 4, flip_y=0.1, class_sep=0.7, random_state=0)
    fn_cost, fp_cost, kappa = paper_costs(4, 2).values()
    y = np.where(labels == 1, 1.0, -1.0)
    return Problem(rbf_kernel(X, gamma=2.0), y, np.where(y > 0, 1.0, kappa), C * np.where(y > 0, fn_cost, fp_cost))


def main() -> None:
    problem = example()
    found = {name: solve(problem) for name, solve in FORMULATIONS.items()}
    reference = found["beta"]
    print("problem   optimum       largest difference of scores from beta")
    for name, each in found.items():
        print(f"{name:8}  {each.value:.8f}  {np.abs(each.scores - reference.scores).max():.1e}")
    model = CostSensitiveSVC(1.0, kernel="precomputed", tol=1e-8)
    model.fit(problem.K, problem.y, fn_cost=problem.upper_bounds, fp_cost=problem.upper_bounds, kappa=problem.margins)
    difference = np.abs(model.decision_function(problem.K) - reference.scores).max()
    print(f"cssvm     {model.dual_objective_:.8f}  {difference:.1e}")
    beta, b = reference.solution, np.mean(reference.scores - problem.K @ reference.solution)
    print("\nrelation                              largest difference")
    for claim, left, right in (
        ("w = Psi beta", found["w"].solution, problem.features @ beta),
        ("beta = Y alpha", beta, problem.y * found["alpha"].solution),
        ("z = K beta", found["z"].solution, problem.K @ beta),
        ("z = f - b", found["z"].solution, reference.scores - b),
        ("g = K^-1 z = beta", np.linalg.solve(problem.K, found["z"].solution), beta),
    ):
        print(f"{claim:38}{np.abs(left - right).max():.1e}")


# sphinx_gallery_thumbnail_path = "pictures/four_formulations.png"
if __name__ == "__main__":
    main()
