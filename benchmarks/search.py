"""Time the search against GridSearchCV over scikit-learn's SVC: `python -m benchmarks.search`.

Both have the same samples, folds, grid and costs, and two processes or threads; both train a final model. Every case is
warmed up; times are medians over the rounds. The table also has the largest difference of scores. With
`--liquidsvm PATH`, the Python of an environment with liquidSVM, that is timed as well: RBF, 5 folds, its own grid of
10 x 10, 2 threads, final model included. liquidSVM has to be patched for current Python versions, and needs two idle
cores.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks import report
from cssvm import CostSensitiveSVCCV
from cssvm._runtime.format import aligned_table
from cssvm.metrics import cost_risk

FN_COST = 4.0
FEATURES = 20
FOLDS = StratifiedKFold(5)
JOBS = 2
CACHE_MB = 1000
# In units of 1 / the number of features, for standardised features.
GAMMAS = np.geomspace(1 / 32, 8, 10) / (2 * FEATURES)
CS = np.geomspace(2.0**-5, 2.0**10, 10) / FN_COST
FN_COSTS = [1.0, 2.0, 4.0, 8.0]
KAPPAS = [1.0, 0.5, 0.25, 0.125, 0.0625]
GOAL = 15.0  # times as fast as GridSearchCV
LIQUIDSVM = """
import sys, time
import numpy as np
import liquidSVM
saved = np.load(sys.argv[1])
X, y = saved["X"], np.where(saved["y"] == 1, 1.0, -1.0)
times = []
for _ in range(1 + int(sys.argv[2])):
    start = time.perf_counter()
    liquidSVM.mcSVM(X, y, threads=int(sys.argv[3]), display=0, folds=5)
    times.append(time.perf_counter() - start)
print(float(np.median(times[1:])))
"""
GRID_LIMIT = 4_000  # samples beyond which GridSearchCV takes most of an hour
PAPER_LIMIT = 1.2  # of the time of the grid without kappa
HEAD = (
    "rows",
    "grid",
    "cssvm, s",
    "GridSearchCV, s",
    "ratio",
    "score difference",
    "liquidSVM, s",
    "ratio",
)


def labelled_samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n, FEATURES, n_informative=10, n_redundant=2, flip_y=0.05, class_sep=0.8, random_state=0)
    return StandardScaler().fit_transform(X), y


def seconds(call) -> tuple[float, object]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def timed(call, repeats: int) -> tuple[float, object]:
    """Median time after a first call that compiles and touches memory, and the last result."""
    call()
    runs = [seconds(call) for _ in range(repeats)]
    return median(run[0] for run in runs), runs[-1][1]


def search(X, y, **settings):
    return CostSensitiveSVCCV(fn_cost=FN_COST, cv=FOLDS, n_jobs=JOBS, **settings).fit(X, y)


def grid_search(X, y, Cs, gammas):
    scoring = make_scorer(cost_risk, greater_is_better=False, fn_cost=FN_COST)
    model = SVC(class_weight={1: FN_COST}, cache_size=CACHE_MB)
    return GridSearchCV(model, {"C": Cs, "gamma": gammas}, scoring=scoring, cv=FOLDS, n_jobs=JOBS).fit(X, y)


def liquidsvm_seconds(python: Path, X, y, repeats: int) -> float:
    """Median time of liquidSVM's search in the environment of that python."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/rows.npz", X=X, y=y)
        command = [str(python), "-c", LIQUIDSVM, f"{folder}/rows.npz", str(repeats), str(JOBS)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def compare(n: int, Cs: np.ndarray, gammas: np.ndarray, repeats: int, liquidsvm: Path | None) -> dict[str, Any]:
    """The record of one size: our search, GridSearchCV if n is not too large, and liquidSVM if available."""
    X, y = labelled_samples(n)
    ours, full = timed(lambda: search(X, y, Cs=Cs, gammas=gammas), repeats)
    record: dict[str, Any] = {"n": n, "n_gammas": len(gammas), "n_Cs": len(Cs), "full": ours}
    if n <= GRID_LIMIT:
        grid_search(X, y, Cs[:1], gammas[:1])  # starts its processes
        record["grid_search"], reference = seconds(lambda: grid_search(X, y, Cs, gammas))
        difference = np.abs(full.cv_results_["mean_test_score"] - reference.cv_results_["mean_test_score"]).max()
        record["difference"] = float(difference)
    if liquidsvm is not None:
        record["liquidsvm"] = liquidsvm_seconds(liquidsvm, X, y, repeats)
    return record


def shown(record: dict[str, Any], key: str, form: str, over: str | None = None) -> str:
    """A number of a record, or its ratio to another one; empty if it was not measured."""
    if key not in record:
        return ""
    return format(record[key] / (record[over] if over else 1), form)


def cells(record: dict[str, Any]) -> list[str]:
    """One row of the table."""
    return [
        *(f"{record['n']:,}", f"{record['n_gammas']} gammas x {record['n_Cs']} Cs", shown(record, "full", ".2f")),
        *(shown(record, "grid_search", ".1f"), shown(record, "grid_search", ".1f", over="full")),
        *(shown(record, "difference", ".1e"), shown(record, "liquidsvm", ".2f")),
        shown(record, "liquidsvm", ".1f", over="full"),
    ]


def paper_grids(n: int, repeats: int) -> str:
    """The paper's grids at one gamma: C x C1 for biased penalties, C x C1 x kappa for the cost-sensitive SVM."""
    X, y = labelled_samples(n)
    common = {"Cs": CS, "gammas": [GAMMAS[4]], "fn_costs": FN_COSTS}
    search(X, y, **common)
    runs = []  # alternately, since the difference is smaller than the noise
    for _ in range(2 * repeats + 1):
        without, _ = seconds(lambda: search(X, y, **common))
        having, found = seconds(lambda: search(X, y, **common, kappas=KAPPAS))
        runs.append((without, having))
    flat, deep = np.median(runs, axis=0)
    verdict = "ok" if deep <= PAPER_LIMIT * flat else "miss"
    return (
        f"{n:,} rows, one gamma: C x C1 ({len(CS)} x {len(FN_COSTS)}) {flat:.2f} s, with {len(KAPPAS)} kappas "
        f"({len(found.cv_results_['params'])} points) {deep:.2f} s: {deep / flat:.2f} (limit {PAPER_LIMIT:g}) {verdict}"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks search", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 4_000, 8_000], metavar="N")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--liquidsvm", type=Path, metavar="PATH", help="Python of an environment with liquidSVM")
    parser.add_argument("--json", type=Path, metavar="PATH", help="file for the results")
    parser.add_argument("--quick", action="store_true", help="tiny problems, to test that it runs")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rows, options.repeats = [200], 1
    gammas, Cs = (GAMMAS[::3], CS[::3]) if options.quick else (GAMMAS, CS)
    records = [compare(n, Cs, gammas, options.repeats, options.liquidsvm) for n in options.rows]
    print(aligned_table([cells(record) for record in records], HEAD, "<>"))
    print(f"\nratio: time of GridSearchCV over that of the full grid, goal {GOAL:g} at 1,000 and 4,000 samples;")
    print("time of liquidSVM over that of the full grid. Final model included.")
    print(paper_grids(min(options.rows), options.repeats))
    if options.json is not None:
        document = report.describe_run() | {"repeats": options.repeats, "cases": records}
        options.json.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
