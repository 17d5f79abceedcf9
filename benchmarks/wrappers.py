"""Times of the meta-estimators, and costs of their decisions: `python -m benchmarks.wrappers`.

Of generated transactions, one in ten is positive. A false positive costs 1, a false negative the amount, which depends
on some features of the label. Probabilities and mean amounts are known, so costs are expected costs of new samples; the
least possible cost of decisions by x alone is shown too. Amounts are available for training samples only.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from benchmarks import report
from cssvm import CostProportionateClassifier, CostSensitiveSVC, DirectCostClassifier, MetaCostClassifier
from cssvm._runtime.format import aligned_table

DIRECT_ROWS, ENSEMBLE_ROWS, SVM_ROWS = 100_000, 20_000, 20_000
NEW_ROWS = 20_000
N_FEATURES = 10
N_ESTIMATORS = 10
FP_COST = 1.0
LIMIT = 300.0  # seconds
HEAD = (
    "method",
    "estimator",
    "rows",
    "seconds",
    "limit",
    "",
    "cost",
    "bare cost",
    "least",
)


class Transactions(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    amount: np.ndarray
    p: np.ndarray
    mean_amount: np.ndarray

    def cost(self, acted: np.ndarray) -> float:
        """Expected cost per sample."""
        return float(np.mean(np.where(acted, (1 - self.p) * FP_COST, self.p * self.mean_amount)))


def transactions(n: int, seed: int) -> Transactions:
    rng = np.random.default_rng(seed)
    X, noise = rng.normal(size=(n, N_FEATURES)), rng.normal(size=n)
    score = X[:, 0] - X[:, 1] + X[:, 2] * X[:, 3] + 0.5 * X[:, 4] ** 2 - 3.3
    p = 1 / (1 + np.exp(-score))
    mean_amount = np.exp(1.5 + 0.4 * X[:, 1] + 0.2 * np.abs(X[:, 5]))
    amount = mean_amount * np.exp(0.3 * noise - 0.045)
    return Transactions(X, (rng.random(n) < p).astype(int), amount, p, mean_amount)


class Case(NamedTuple):
    method: str
    estimator: str
    rows: int
    make: Callable[[], Any]
    bare: Any


def cases() -> list[Case]:
    logistic, boosting = LogisticRegression(), HistGradientBoostingClassifier(random_state=0)
    tree, svm = DecisionTreeClassifier(min_samples_leaf=20, random_state=0), CostSensitiveSVC()

    def direct(estimator: Any, regressor: Any) -> Callable[[], Any]:
        return lambda: DirectCostClassifier(estimator, regressor, fp_cost=FP_COST, n_jobs=2)

    def costing(estimator: Any, **options: Any) -> Callable[[], Any]:
        options = {"n_estimators": N_ESTIMATORS, "fp_cost": FP_COST, "random_state": 0, "n_jobs": 2} | options
        return lambda: CostProportionateClassifier(estimator, **options)

    def metacost() -> Any:
        estimating = {"amount_estimator": LinearRegression(), "fp_cost": FP_COST}
        return MetaCostClassifier(tree, **estimating, random_state=0, n_jobs=2)

    bags = f"costing, {N_ESTIMATORS} estimators"
    return [
        Case("direct", "logistic, linear", DIRECT_ROWS, direct(logistic, LinearRegression()), logistic),
        Case(
            "direct",
            "boosting, boosting",
            DIRECT_ROWS,
            direct(boosting, HistGradientBoostingRegressor(loss="gamma", random_state=0)),
            boosting,
        ),
        Case("direct", "CostSensitiveSVC, linear", SVM_ROWS, direct(svm, LinearRegression()), svm),
        Case(bags, "logistic", ENSEMBLE_ROWS, costing(logistic), logistic),
        Case(bags, "tree", ENSEMBLE_ROWS, costing(tree), tree),
        Case(bags, "boosting", ENSEMBLE_ROWS, costing(boosting), boosting),
        Case(bags, "CostSensitiveSVC", SVM_ROWS, costing(svm), svm),
        Case(
            "sampling with replacement, once",
            "tree",
            ENSEMBLE_ROWS,
            costing(tree, sampling="with_replacement", n_estimators=1),
            tree,
        ),
        Case("MetaCost, 50 resamples", "tree, linear", ENSEMBLE_ROWS, metacost, tree),
    ]


def measure(case: Case, n: int, new: Transactions) -> dict[str, Any]:
    """Seconds of fit and prediction; costs of the method, of the bare estimator and of the true probabilities."""
    rows = transactions(n, seed=0)
    amounts = np.where(rows.y == 1, rows.amount, np.nan)
    start = time.perf_counter()
    predicted = case.make().fit(rows.X, rows.y, fn_cost=amounts).predict(new.X)
    seconds = time.perf_counter() - start
    bare = clone(case.bare).fit(rows.X, rows.y).predict(new.X)
    return {
        "method": case.method,
        "estimator": case.estimator,
        "rows": n,
        "seconds": seconds,
        "cost": new.cost(predicted == 1),
        "bare": new.cost(bare == 1),
        "least": new.cost(new.p * new.mean_amount >= (1 - new.p) * FP_COST),
    }


def line(record: dict[str, Any]) -> list[str]:
    verdict = "ok" if record["seconds"] <= LIMIT else "miss"
    return [
        record["method"],
        record["estimator"],
        f"{record['rows']:,}",
        f"{record['seconds']:.1f}",
        f"{LIMIT:g}",
        verdict,
        *(f"{record[name]:.4f}" for name in ("cost", "bare", "least")),
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks wrappers", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, metavar="N", help="largest number of samples of a case")
    parser.add_argument("--json", type=Path, metavar="PATH", help="file for the results")
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", ".* samples are in all", UserWarning)
    new, records = transactions(NEW_ROWS, seed=1), []
    CostSensitiveSVC().fit(new.X[:50], np.arange(50) % 2)  # compiles
    act_on_all, act_on_none = new.cost(np.ones(NEW_ROWS, bool)), new.cost(np.zeros(NEW_ROWS, bool))
    print(f"cost per sample ({NEW_ROWS:,} new samples); on nobody {act_on_none:.4f}, on everybody {act_on_all:.4f}\n")
    for case in cases():
        records.append(measure(case, min(case.rows, options.rows or case.rows), new))
    print(aligned_table([line(record) for record in records], HEAD, "<>"))
    if options.json is not None:
        options.json.write_text(json.dumps(report.describe_run() | {"cases": records}, indent=2) + "\n")


if __name__ == "__main__":
    main()
