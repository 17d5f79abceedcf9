"""The methods of the paper. Each selects and trains on the training samples and is scored on the test samples.

All have an RBF kernel and the same grids. In the stages of the paper:

    CI      the standard SVM, C and gamma by the measure, threshold zero
    BM      the same SVM with the threshold of least cost on pooled held-out scores
    BP      gamma of BM; C and C1 by the measure: upper bounds C C1 and C
    CS      gamma of BM; C, C1 and kappa by the measure: upper bounds C C1 and C / kappa, margins 1 and kappa,
            1 / kappa <= C1. Where costs are known C1 is their ratio, or 1 if that is less
    BP+     gamma of BM; the weighted SVMs of which CS is a shift: upper bounds C C1 / s and C / (kappa s),
            s = (1 + kappa) / 2

For measures of decisions (risk, cost) the threshold is chosen on held-out scores, as in the paper. Measures of the
ranking need no threshold; for them CI is BM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from .configuration import Grids
from .protocol import PaperSearch, Split, test_score

DECISION_MEASURES = ("risk", "cost")  # the others measure the ranking
ALL_MEASURES = ("risk", "tp_auc", "tn_auc", "cost")


class Task(NamedTuple):
    """The input of a method: samples, measure, grids, and the details of the methods that it needs, by name."""

    split: Split
    measure: str
    grids: Grids
    before: dict[str, dict[str, Any]]


class Method(NamedTuple):
    """A function that runs a method, its measures, and the methods whose details it needs."""

    run: Callable[[Task], tuple[float, dict[str, Any]]]
    measures: tuple[str, ...] = ALL_MEASURES
    needs: tuple[str, ...] = ()


def scoring_of(measure: str) -> str:
    """The `scoring` by which points of a grid are selected."""
    return "min_risk" if measure in DECISION_MEASURES else measure


def search(task: Task, *, refit: bool, **axes: Any) -> PaperSearch:
    """The paper's grid search over these axes."""
    split = task.split
    scored: dict[str, Any] = {"fn_cost": split.fn_cost, "fp_cost": split.fp_cost, "scoring": scoring_of(task.measure)}
    found = PaperSearch(**axes, **scored, cv=split.folds, refit=refit)
    return found.fit(split.X_train[split.search], split.y_train[split.search], sample_weight=split.search_weights)


def best_point(task: Task, grids: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The axes of the best point of several grids, each a single value, with the score."""
    best: dict[str, Any] = {}
    for axes in grids:
        found = search(task, refit=False, **axes)
        if not best or found.best_score_ > best["score"]:
            chosen = found.best_params_
            names = {"Cs": "C", "gammas": "gamma", "fn_costs": "fn_cost", "fp_costs": "fp_cost", "kappas": "kappa"}
            best = {axis: [chosen[name]] for axis, name in names.items()} | {"score": float(found.best_score_)}
    return best


def train_and_score(task: Task, point: dict[str, Any], *, at_zero: bool = False) -> tuple[float, dict[str, Any]]:
    """Train a point on the training samples; return the measure on the test samples and the details."""
    split = task.split
    axes = {name: values for name, values in point.items() if name != "score"}
    model = search(task, refit=True, **axes)  # for its threshold, from held-out scores
    svm = model.best_estimator_
    if len(split.search) < len(split.y_train):
        tol = svm.tol if split.tol is None else split.tol
        svm = svm.set_params(tol=tol).fit(split.X_train, split.y_train, sample_weight=split.weights)
    scores = svm.decision_function(split.X_test)
    threshold = 0.0 if at_zero or task.measure not in DECISION_MEASURES else float(model.threshold_)
    value = test_score(task.measure, split, scores, scores > threshold)
    chosen = {name: values[0] for name, values in axes.items()}
    detail = chosen | {
        "score": point["score"],
        "threshold": threshold,
        "gap": float(svm.dual_gap_),
        "vectors": int(svm.n_support_.sum()),
    }
    return value, detail | split.facts


def boundary_movement(task: Task) -> tuple[float, dict[str, Any]]:
    """BM, which also chooses gamma for all other methods."""
    grids = task.grids
    point = best_point(task, [{"Cs": grids.Cs, "gammas": grids.gammas, "fn_costs": [1.0], "fp_costs": [1.0]}])
    return train_and_score(task, point)


def cost_insensitive(task: Task) -> tuple[float, dict[str, Any]]:
    """CI: the SVM of BM without its threshold."""
    before = task.before["BM"]
    point = {"Cs": [before["Cs"]], "gammas": [before["gammas"]], "fn_costs": [1.0], "fp_costs": [1.0]}
    return train_and_score(task, point | {"score": before["score"]}, at_zero=True)


def biased_penalty(task: Task) -> tuple[float, dict[str, Any]]:
    """BP."""
    grids, gamma = task.grids, task.before["BM"]["gammas"]
    axes = {"Cs": grids.Cs, "gammas": [gamma], "fn_costs": grids.C1s, "fp_costs": [1.0]}
    return train_and_score(task, best_point(task, [axes]))


def slopes_of(task: Task, kappa: float) -> list[float]:
    """The values of C1 with 1 / kappa <= C1: the ratio of the costs where they are known, at least 1."""
    split = task.split
    C1s = [max(1.0, split.fn_cost / split.fp_cost)] if split.known_costs else task.grids.C1s
    return [C1 for C1 in C1s if C1 * kappa >= 1.0 - 1e-12]


def cost_sensitive(task: Task) -> tuple[float, dict[str, Any]]:
    """CS: one grid for each kappa, since slope and margin of the negative class are tied."""
    gamma = task.before["BM"]["gammas"]
    axes = [
        {"Cs": task.grids.Cs, "gammas": [gamma], "fn_costs": C1s, "fp_costs": [1.0 / kappa], "kappas": [kappa]}
        for kappa in task.grids.kappas
        if (C1s := slopes_of(task, kappa))
    ]
    return train_and_score(task, best_point(task, axes))


def effective_penalty(task: Task) -> tuple[float, dict[str, Any]]:
    """BP+: the same SVMs as CS, without its shift."""
    gamma = task.before["BM"]["gammas"]
    axes = [
        {
            "Cs": [2.0 * C / (1.0 + kappa) for C in task.grids.Cs],
            "gammas": [gamma],
            "fn_costs": C1s,
            "fp_costs": [1.0 / kappa],
        }
        for kappa in task.grids.kappas
        if (C1s := slopes_of(task, kappa))
    ]
    return train_and_score(task, best_point(task, axes))


METHODS: dict[str, Method] = {
    "BM": Method(boundary_movement),
    "CI": Method(cost_insensitive, DECISION_MEASURES, needs=("BM",)),
    "BP": Method(biased_penalty, needs=("BM",)),
    "CS": Method(cost_sensitive, needs=("BM",)),
    "BP+": Method(effective_penalty, ("risk", "tp_auc", "tn_auc"), needs=("BM",)),
}


def rounded(value: float) -> float:
    """A result with ten decimals; further digits differ between computers."""
    return float(np.round(value, 10))
