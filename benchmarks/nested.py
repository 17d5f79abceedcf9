"""Costs of the search and of other methods in nested cross-validation: `python -m benchmarks.nested`.

The data sets are small and real, with costs of 5 : 1 and 10 : 1. Every outer fold has its own search, with the same
inner folds for all methods, and predicts the held-out samples. The last lines are costs relative to the search with its
default decision: the mean over data sets and costs, with its standard error over data sets.

    search                  CostSensitiveSVCCV with its default decision: points scored by the cost of their predictions
    threshold, bayes        CostSensitiveSVCCV with these decisions
    grid-searched SVC       GridSearchCV(SVC(class_weight=costs)), scored by the cost
    tuned threshold         SVC without costs, grid-searched by the area under the ROC curve, then that one point in
                            TunedThresholdClassifierCV
    SMOTE                   SMOTE and SVC, grid-searched by the cost; each fold is resampled once for the whole grid
"""

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid, StratifiedKFold, TunedThresholdClassifierCV
from sklearn.svm import SVC

from benchmarks import report
from benchmarks.real import SMALL, data_folder
from cssvm import CostSensitiveSVCCV
from cssvm._runtime.format import aligned_table
from cssvm.metrics import cost_risk, cost_risk_scorer

try:  # before any scorer is created, since it adds a method to scikit-learn's metadata requests
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import Pipeline
except ImportError:
    SMOTE = Pipeline = None

ROWS = 1_000  # largest number of samples of a data set
COSTS = (5.0, 10.0)
OUTER, INNER = 5, 5
BASE = "search"
EQUAL = 1e-12  # costs per sample closer than this are equal


def folds(seed: int) -> StratifiedKFold:
    return StratifiedKFold(INNER, shuffle=True, random_state=seed)


def grid(X: np.ndarray, fn_cost: float, y: np.ndarray) -> dict[str, list[float]]:
    """The C and gamma that the search tries: eight of each, in its units."""
    mean = float(np.mean(np.where(y == 1, fn_cost, 1.0)))
    distance = 2.0 * float(X.var(axis=0).sum())
    values = {"C": np.geomspace(2**-5, 2**10, 8) / mean, "gamma": np.geomspace(1 / 32, 8, 8) / distance}
    return {name: own.tolist() for name, own in values.items()}


def best_ranking(X: np.ndarray, y: np.ndarray, seed: int) -> SVC:
    """SVC without costs, at the C and gamma of the largest area under the ROC curve on the folds."""
    found = GridSearchCV(SVC(), grid(X, 1.0, y), scoring="roc_auc", cv=folds(seed), refit=False).fit(X, y)
    return SVC(**found.best_params_)


def methods(X: np.ndarray, y: np.ndarray, fn_cost: float, seed: int, ranking: SVC) -> dict[str, Any]:
    """An unfitted model for each method."""
    cv, names, scorer = folds(seed), grid(X, fn_cost, y), cost_risk_scorer(fn_cost=fn_cost)
    own = {"Cs": 8, "gammas": 8, "fn_cost": fn_cost, "cv": cv, "n_jobs": 1}
    found: dict[str, Any] = {
        BASE: CostSensitiveSVCCV(**own),
        "threshold": CostSensitiveSVCCV(**own, decision="threshold"),
        "bayes": CostSensitiveSVCCV(**own, decision="bayes"),
        "grid-searched SVC": GridSearchCV(SVC(class_weight={1: fn_cost}), names, scoring=scorer, cv=cv),
        "tuned threshold": TunedThresholdClassifierCV(ranking, scoring=scorer, cv=cv),
    }
    return found if SMOTE is None else found | {"SMOTE": _smote(X, y, fn_cost, names, seed)}


def _smote(X: np.ndarray, y: np.ndarray, fn_cost: float, names: dict[str, Any], seed: int) -> Any:
    """SMOTE and SVC at the point of least cost on the folds."""
    neighbours = max(1, min(5, int(min(np.bincount(y)) * (1 - 1 / INNER)) - 1))
    smote, points = SMOTE(k_neighbors=neighbours, random_state=seed), list(ParameterGrid(names))
    costs = np.zeros(len(points))
    for train, held_out in folds(seed).split(X, y):
        resampled = clone(smote).fit_resample(X[train], y[train])
        predictions = (SVC(**point).fit(*resampled).predict(X[held_out]) for point in points)
        costs += [cost_risk(y[held_out], each, fn_cost=fn_cost) for each in predictions]
    return Pipeline([("smote", smote), ("svc", SVC(**points[int(np.argmin(costs))]))])


def compare(name: str, X: np.ndarray, y: np.ndarray, seed: int) -> list[dict[str, Any]]:
    """For each pair of costs: cost per held-out sample of every method, and the cost that the search expected."""
    warnings.simplefilter("ignore")
    predicted: dict[float, dict[str, np.ndarray]] = {fn_cost: {} for fn_cost in COSTS}
    expected: dict[float, list[float]] = {fn_cost: [] for fn_cost in COSTS}
    for train, test in StratifiedKFold(OUTER, shuffle=True, random_state=seed).split(X, y):
        ranking = best_ranking(X[train], y[train], seed)
        for fn_cost, own in predicted.items():
            for method, model in methods(X[train], y[train], fn_cost, seed, ranking).items():
                model.fit(X[train], y[train])
                own.setdefault(method, np.zeros(len(y), int))[test] = model.predict(X[test])
                if method == BASE:
                    expected[fn_cost].append(-model.best_score_)
    return [
        {
            "name": name,
            "n": len(y),
            "fn_cost": fn_cost,
            "costs": {method: cost_risk(y, rows, fn_cost=fn_cost) for method, rows in own.items()},
            "expected": float(np.mean(expected[fn_cost])),
        }
        for fn_cost, own in predicted.items()
    ]


def relative(records: list[dict[str, Any]]) -> dict[str, tuple[float, float]]:
    """Mean cost of each method over that of the search, less 1, and its standard error over the sets."""
    found = {}
    for method in records[0]["costs"]:
        by_set: dict[str, list[float]] = {}
        for record in records:
            base = record["costs"][BASE]
            if base > 0:
                by_set.setdefault(record["name"], []).append(record["costs"][method] / base - 1)
        means = np.array([np.mean(own) for own in by_set.values()])
        found[method] = float(means.mean()), float(means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else 0.0
    return found


def counts(records: list[dict[str, Any]], method: str) -> tuple[int, int]:
    """On how many data sets and costs a method is cheaper than the search, and on how many it is costlier."""
    difference = np.array([record["costs"][method] - record["costs"][BASE] for record in records])
    return int(np.sum(difference < -EQUAL)), int(np.sum(difference > EQUAL))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks nested", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="folder of real data sets")
    parser.add_argument("--sets", nargs="+", choices=list(SMALL), default=list(SMALL), metavar="SET")
    parser.add_argument("--rows", type=int, default=ROWS, metavar="N", help="largest number of samples of a data set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, metavar="PATH", help="file for the results")
    options = parser.parse_args(arguments)
    folder = data_folder(options.data)
    if folder is None:
        parser.error("no folder of real data sets was found; pass one with --data")
    present = [name for name in options.sets if SMALL[name].missing(folder) is None]
    tasks = (
        delayed(compare)(name, *SMALL[name].read(folder, options.rows, options.seed), options.seed) for name in present
    )
    records: list[dict[str, Any]] = []
    for found in Parallel(n_jobs=-1, return_as="generator")(tasks):
        records += found
        for record in found:
            shown = {method: round(cost, 4) for method, cost in record["costs"].items()}
            print(record["name"], record["fn_cost"], shown, file=sys.stderr, flush=True)
    columns = ("set", "costs", *records[0]["costs"])
    lines = [
        [each["name"], f"{each['fn_cost']:g} : 1", *(f"{cost:.3f}" for cost in each["costs"].values())]
        for each in records
    ]
    print(aligned_table(lines, columns, "<>"))
    for method, (mean, error) in relative(records).items():
        print(f"{method:20} {mean:+.3f} (standard error {error:.3f})")
    optimism = np.mean([each["costs"][BASE] / each["expected"] for each in records if each["expected"] > 0])
    print(f"held-out cost of the search over its cross-validated cost: {optimism:.2f}")
    if options.json is not None:
        document = report.describe_run() | {"seed": options.seed, "rows": options.rows, "cases": records}
        options.json.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
