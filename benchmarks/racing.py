"""What racing saves and what it costs: `python -m benchmarks.racing`.

On every small data set the full grid and the race are searched with the same folds, turn and turn about, and the
shorter time of each counts. The winner of the race is judged by its score in the full grid: by how many standard errors
of the best point there, over the folds, it is behind that point. At most one is allowed. A miss costs as much as the
classes differ in size, so that both count the same.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.real import data_folder
from benchmarks.search import JOBS, labelled_rows
from benchmarks.small import SMALL
from benchmarks.tables import Column, table
from cssvm import CostSensitiveSVCCV

ROWS = 2_000  # at most, of each set
LIMIT = 1.0  # standard errors that the winner may be behind
GENERATED = "generated"
COLUMNS: tuple[Column, ...] = (
    ("set", 15), ("rows", 6), ("full, s", 8), ("racing, s", 10), ("ratio", 6), ("points", 10), ("full best", 10),
    ("winner", 9), ("behind, SE", 11), ("ok", 4),
)  # fmt: skip


def fold_scores(search: CostSensitiveSVCCV) -> np.ndarray:
    """(n_points, n_folds), NaN where a point was not trained."""
    return np.column_stack([search.cv_results_[f"split{fold}_test_score"] for fold in range(search.n_splits_)])


def standard_errors_behind(values: np.ndarray, best: int, winner: int) -> float:
    """By how many standard errors of the best point's mean the winner is behind it; values (n_points, n_folds)."""
    lost = values[best].mean() - values[winner].mean()
    error = values[best].std(ddof=1) / np.sqrt(values.shape[1])
    return 0.0 if lost == 0 else float(lost / error) if error > 0 else np.inf


def compare(name: str, X: np.ndarray, y: np.ndarray, *, seed: int, repeats: int, n_values: int) -> list[str]:
    """One row of the table."""
    miss = float(np.sum(y == 0) / np.sum(y == 1))
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    settings = {"Cs": n_values, "gammas": n_values, "fn_cost": miss, "cv": folds, "n_jobs": JOBS}
    taken: dict[bool, list[float]] = {False: [], True: []}
    found = {}
    for _ in range(repeats):
        for racing, times in taken.items():
            start = time.perf_counter()
            found[racing] = CostSensitiveSVCCV(**settings, racing=racing).fit(X, y)
            times.append(time.perf_counter() - start)
    full, race = min(taken[False]), min(taken[True])
    values, best, winner = fold_scores(found[False]), found[False].best_index_, found[True].best_index_
    n_trained = int((~np.isnan(fold_scores(found[True]))).all(axis=1).sum())
    behind = standard_errors_behind(values, best, winner)
    return [
        *(name, f"{len(y):,}", f"{full:.2f}", f"{race:.2f}", f"{race / full:.2f}", f"{n_trained} of {len(values)}"),
        *(f"{values[best].mean():.4f}", f"{values[winner].mean():.4f}", f"{behind:.2f}"),
        "yes" if behind <= LIMIT else "NO",
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.racing", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="of real data, as benchmarks/real.py says")
    parser.add_argument("--sets", nargs="+", choices=[GENERATED, *SMALL], default=[GENERATED, *SMALL], metavar="SET")
    parser.add_argument("--seed", type=int, default=0, help="of the folds and of the rows taken")
    parser.add_argument("--repeats", type=int, default=2, metavar="N")
    parser.add_argument("--quick", action="store_true", help="one tiny problem: shows that it runs, not how fast")
    options = parser.parse_args(arguments)
    if options.quick:
        options.sets, options.repeats = [GENERATED], 1
    folder = data_folder(options.data)
    compared = {"seed": options.seed, "repeats": options.repeats, "n_values": 3 if options.quick else 10}
    rows = []
    warnings.simplefilter("ignore")
    CostSensitiveSVCCV(Cs=3, gammas=3, racing=True).fit(*labelled_rows(200))  # compiled
    for name in options.sets:
        if name == GENERATED:
            rows.append(compare(name, *labelled_rows(200 if options.quick else ROWS), **compared))
        elif folder is not None and SMALL[name].missing(folder) is None:
            rows.append(compare(name, *SMALL[name].read(folder, ROWS, options.seed), **compared))
    print("\n".join(table(COLUMNS, rows)))
    print(f"\nbehind: the winner's score in the full grid below its best, in standard errors; limit {LIMIT:g}.")


if __name__ == "__main__":
    main()
