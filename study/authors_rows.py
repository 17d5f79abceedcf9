"""Numbers of errors behind the test risks of the authors' log, and whether any threshold on our scores gives them.

A risk of six digits on 200 test samples determines the numbers of false negatives and false positives. With LIBSVM's
default tolerance of 0.001, with which the log was made, scores differ from those of the exact solution by about as much
as the range of the scores of BM, and so the order of the samples differs too.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from cssvm._core.margins_and_bounds import margins_and_upper_bounds
from cssvm.datasets import load

from .authors import FN_COST, FP_COST, GAMMA, LOG, normalised_risk
from .pages import Table, number

DEFAULT_TOLERANCE, EXACT = 1e-3, 1e-8  # of LIBSVM
LAST_DIGIT = 5e-7  # of a risk in the log


def errors_behind(risk: float, n_positive: int, n_negative: int, prior: float) -> list[tuple[int, int]]:
    """All numbers of false negatives and false positives that give this risk, to its last digit."""
    weighted_costs = np.array([prior * FN_COST, (1.0 - prior) * FP_COST])
    per_fn, per_fp = weighted_costs / weighted_costs.sum() / [n_positive, n_negative]
    found = per_fn * np.arange(n_positive + 1)[:, np.newaxis] + per_fp * np.arange(n_negative + 1)
    return [(int(fn), int(fp)) for fn, fp in np.argwhere(np.abs(found - risk) <= LAST_DIGIT)]


def libsvm_scores(method: str, X: Any, y: NDArray[Any], X_new: Any, tol: float) -> NDArray[np.float64]:
    """Scores for the positive class by LIBSVM at the parameters of the log; the first sample is of its first class.

    CS is a weighted SVM f' with upper bounds divided by s = (1 + kappa) / 2: f = s f' + (1 - kappa) / 2.
    """
    params = {"fn_cost": 1.0, "fp_cost": 1.0, "kappa": 1.0} | LOG[method].params
    kappa = params["kappa"]
    share = (1.0 + kappa) / 2.0
    weighted_costs = np.where(y == 1, float(params["fn_cost"]), float(params["fp_cost"]))
    _, upper_bounds = margins_and_upper_bounds(y == 1, weighted_costs, C=params["C"] / share, kappa=kappa)
    weights = {0: float(upper_bounds[y == 1][0]), 1: float(upper_bounds[y == 0][0])}
    model = SVC(C=1.0, gamma=GAMMA, class_weight=weights, tol=tol).fit(X, np.where(y == 1, 0, 1))
    return -share * model.decision_function(X_new) + (1.0 - kappa) / 2.0


def authors_rows_table(*, data_home: str | os.PathLike[str] | None = None) -> Table:
    """The errors behind the test risks of the log, and the thresholds that give them, or the nearest risks."""
    found = load("german_credit_authors", data_home=data_home, download=data_home is None)
    train = found.split == "train"
    X, y, prior = np.asarray(found.data), found.target, float(found.target[train].mean())
    truth, rows = y[~train], []
    for method, logged in LOG.items():
        behind = errors_behind(logged.test, int(truth.sum()), int((truth == 0).sum()), prior)
        cells = [
            f"{method}-SVM",
            number(logged.test, 6),
            " or ".join(f"{fn} missed, {fp} false alarms" for fn, fp in behind),
        ]
        for tol in (DEFAULT_TOLERANCE, EXACT):
            scores = libsvm_scores(method, X[train], y[train], X[~train], tol)
            risks = {t: normalised_risk(truth, scores >= t, prior) for t in scores.tolist()}
            nearest = min(risks, key=lambda t: abs(risks[t] - logged.test))
            reached = abs(risks[nearest] - logged.test) <= LAST_DIGIT
            cells.append(f"yes, from f = {nearest:.4f} on" if reached else f"no, nearest {risks[nearest]:.6f}")
        rows.append([*cells, f"{-logged.shift:.2f}"])
    head = ["method", "test risk, log", "errors", "LIBSVM, tolerance 0.001", "exact", "threshold, log"]
    note = "Whether any threshold on the scores of the 200 test samples gives the risk of the log, to its six digits."
    return Table("authors-rows", "The errors behind the authors' log", head, rows, note)
