"""Time the search against GridSearchCV over scikit-learn's SVC: `python -m benchmarks.search`.

Both get the same rows, folds, grid and costs, and two processes or threads; both train a final model. Every case is
warmed up, the median over the rounds counts, and the largest difference between the two tables of scores stands beside
the times. liquidSVM's figures are printed, not measured: it was timed on the same data on such a machine (RBF,
5 folds, its own grid of 10 x 10, 2 threads, final model included), but does not import on current Python unrepaired.
"""

import argparse
import time
from statistics import median

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.tables import Column, table
from cssvm import CostSensitiveSVCCV
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
TARGET = 15.0  # times as fast as GridSearchCV
LIQUIDSVM_SECONDS = {1_000: 0.9, 5_000: 11.6, 10_000: 36.0}
GRID_LIMIT = 5_000  # rows past which GridSearchCV takes the better part of an hour
PAPER_LIMIT = 1.2  # of the time of the grid without kappa
COLUMNS: tuple[Column, ...] = (
    ("rows", 8), ("grid", 22), ("cssvm, s", 10), ("GridSearchCV, s", 16), ("ratio", 7), ("liquidSVM, s", 13),
    ("score difference", 17),
)  # fmt: skip


def labelled_rows(n: int) -> tuple[np.ndarray, np.ndarray]:
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


def compare(n: int, Cs: np.ndarray, gammas: np.ndarray, repeats: int) -> list[str]:
    """One row of the table: ours, GridSearchCV's where it is affordable, and liquidSVM's figure."""
    X, y = labelled_rows(n)
    ours, found = timed(lambda: search(X, y, Cs=Cs, gammas=gammas), repeats)
    cells = [f"{n:,}", f"{len(gammas)} gammas x {len(Cs)} Cs", f"{ours:.2f}", "", "", "", ""]
    if n <= GRID_LIMIT:
        grid_search(X, y, Cs[:1], gammas[:1])  # starts its processes
        theirs, reference = seconds(lambda: grid_search(X, y, Cs, gammas))
        difference = np.abs(found.cv_results_["mean_test_score"] - reference.cv_results_["mean_test_score"]).max()
        cells[3:5] = f"{theirs:.1f}", f"{theirs / ours:.1f}"
        cells[6] = f"{difference:.1e}"
    if n in LIQUIDSVM_SECONDS:
        cells[5] = f"{LIQUIDSVM_SECONDS[n]:g}"
    return cells


def paper_grids(n: int, repeats: int) -> str:
    """The paper's grids at one gamma: C x C1 for biased penalties, C x C1 x kappa for the cost-sensitive SVM."""
    X, y = labelled_rows(n)
    common = {"Cs": CS, "gammas": [GAMMAS[4]], "fn_costs": FN_COSTS}
    search(X, y, **common)
    runs = []  # turn and turn about: the two differ by less than a busy moment
    for _ in range(2 * repeats + 1):
        without, _ = seconds(lambda: search(X, y, **common))
        having, found = seconds(lambda: search(X, y, **common, kappas=KAPPAS))
        runs.append((without, having))
    flat, deep = np.median(runs, axis=0)
    verdict = "met" if deep <= PAPER_LIMIT * flat else "MISSED"
    return (
        f"{n:,} rows, one gamma: C x C1 ({len(CS)} x {len(FN_COSTS)}) {flat:.2f} s, with {len(KAPPAS)} kappas "
        f"({len(found.cv_results_['params'])} points) {deep:.2f} s: {deep / flat:.2f} (limit {PAPER_LIMIT:g}) {verdict}"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 5_000, 10_000], metavar="N")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--quick", action="store_true", help="tiny problems: shows that it runs, not how fast")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rows, options.repeats = [200], 1
    gammas, Cs = (GAMMAS[::3], CS[::3]) if options.quick else (GAMMAS, CS)
    rows = [compare(n, Cs, gammas, options.repeats) for n in options.rows]
    print("\n".join(table(COLUMNS, rows)))
    print(f"\nratio: target {TARGET:g} at 1,000 and 5,000 rows. No racing; final model included.")
    print(paper_grids(min(options.rows), options.repeats))


if __name__ == "__main__":
    main()
