"""What racing saves and what it costs: `python -m benchmarks.racing`.

On every small data set the full grid and the race are searched with the same folds, turn and turn about, and the
shorter time of each counts. The winner of the race is judged by its score in the full grid: by how many standard errors
of the best point there, over the folds, it is behind that point. At most one is allowed. A miss costs as much as the
classes differ in size, so that both count the same.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks import report
from benchmarks.real import data_folder
from benchmarks.search import JOBS, labelled_rows, n_trained, standard_errors_behind
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


def compare(name: str, X: np.ndarray, y: np.ndarray, *, seed: int, repeats: int, n_values: int) -> dict[str, Any]:
    """The record of one set."""
    miss = float(np.sum(y == 0) / np.sum(y == 1))
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    settings = {"Cs": n_values, "gammas": n_values, "fn_cost": miss, "cv": folds, "n_jobs": JOBS, "grow": False}
    taken: dict[bool, list[float]] = {False: [], True: []}
    found = {}
    for _ in range(repeats):
        for racing, times in taken.items():
            start = time.perf_counter()
            found[racing] = CostSensitiveSVCCV(**settings, racing=racing).fit(X, y)
            times.append(time.perf_counter() - start)
    full, race = found[False], found[True]
    return {
        "name": name, "n": len(y), "full": min(taken[False]), "race": min(taken[True]),
        "n_points": n_trained(full), "n_trained": n_trained(race), "behind": standard_errors_behind(full, race),
        "best": full.best_score_, "winner": full.cv_results_["mean_test_score"][race.best_index_],
    }  # fmt: skip


def cells(record: dict[str, Any]) -> list[str]:
    """One row of the table."""
    return [
        *(record["name"], f"{record['n']:,}", f"{record['full']:.2f}", f"{record['race']:.2f}"),
        *(f"{record['race'] / record['full']:.2f}", f"{record['n_trained']} of {record['n_points']}"),
        *(f"{record['best']:.4f}", f"{record['winner']:.4f}", f"{record['behind']:.2f}"),
        "yes" if record["behind"] <= LIMIT else "NO",
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.racing", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="of real data, as docs/datasets.md says")
    parser.add_argument("--sets", nargs="+", choices=[GENERATED, *SMALL], default=[GENERATED, *SMALL], metavar="SET")
    parser.add_argument("--seed", type=int, default=0, help="of the folds and of the rows taken")
    parser.add_argument("--repeats", type=int, default=2, metavar="N")
    parser.add_argument("--json", type=Path, metavar="PATH", help="where to write the results")
    parser.add_argument("--quick", action="store_true", help="one tiny problem: shows that it runs, not how fast")
    options = parser.parse_args(arguments)
    if options.quick:
        options.sets, options.repeats = [GENERATED], 1
    folder = data_folder(options.data)
    compared = {"seed": options.seed, "repeats": options.repeats, "n_values": 3 if options.quick else 10}
    records = []
    warnings.simplefilter("ignore")
    CostSensitiveSVCCV(Cs=3, gammas=3, racing=True).fit(*labelled_rows(200))  # compiled
    for name in options.sets:
        if name == GENERATED:
            records.append(compare(name, *labelled_rows(200 if options.quick else ROWS), **compared))
        elif folder is not None and SMALL[name].missing(folder) is None:
            records.append(compare(name, *SMALL[name].read(folder, ROWS, options.seed), **compared))
    print("\n".join(table(COLUMNS, [cells(record) for record in records])))
    print(f"\nbehind: the winner's score in the full grid below its best, in standard errors; limit {LIMIT:g}.")
    if options.json is not None:
        document = report.describe_run() | {"repeats": options.repeats, "seed": options.seed, "cases": records}
        options.json.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
