"""Command line of the benchmarks: `python -m benchmarks [NAME]`; without a name it times fits of kernel SVMs.

A run of fits prints a table for each case and writes all results as JSON.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from benchmarks import first, real, report, tables, timing
from benchmarks.cases import CASES, DEFAULT_GROUPS, GROUPS, Case, chosen, missing
from benchmarks.peers import PEERS, REFERENCE

LATEST = Path(__file__).parent / "results" / "latest.json"
REPEATS = 3
QUICK_REPEATS = 1
OTHERS = {
    "cluster": "the linear SVM on a Dask cluster of this machine",
    "document": "update the tables of committed results in the documents",
    "linear": "the linear SVM against LinearSVC and SGDClassifier",
    "measures": "the metrics on a million scores",
    "nested": "costs of decisions in nested cross-validation on small real data sets",
    "search": "the search against GridSearchCV over SVC",
    "serving": "predictions for single samples",
    "streaming": "time and memory of `cssvm predict` on a million rows",
    "tuning": "the tuning constants of the solvers on this machine",
    "wrappers": "the meta-estimators, and the cost of their decisions",
}


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks [NAME]",
        description="Time cssvm against other exact kernel SVM solvers.",
        epilog="Other benchmarks by NAME, each with --help:\n"
        + "\n".join(f"  {name:<10}  {summary}" for name, summary in OTHERS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--cases",
        nargs="+",
        choices=[*GROUPS, *CASES],
        default=list(DEFAULT_GROUPS),
        metavar="NAME",
        help=f"cases or groups of cases: groups ({', '.join(GROUPS)}), cases ({', '.join(CASES)}); "
        f"default: {' '.join(DEFAULT_GROUPS)}",
    )
    parser.add_argument(
        "--peers",
        nargs="+",
        choices=PEERS,
        metavar="NAME",
        help=f"solvers: {', '.join(PEERS)} (default: all that the case allows); {REFERENCE} always runs",
    )
    parser.add_argument(
        "--repeats",
        type=int,
        metavar="N",
        help=f"rounds per case (default {REPEATS}, {QUICK_REPEATS} with --quick; at most {timing.LONG_FIT_ROUNDS} "
        f"when a fit takes over {timing.LONG_FIT_SECONDS:g} s, 1 over {timing.VERY_LONG_FIT_SECONDS:g} s)",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help=f"folder of real data sets (default: ${real.FOLDER_VARIABLE}, or ../shared/data next to the repository)",
    )
    parser.add_argument("--quick", action="store_true", help="tiny problems, to test that it runs")
    parser.add_argument("--json", type=Path, default=LATEST, metavar="PATH", help="file for the results")
    parser.add_argument("--show", type=Path, metavar="PATH", help="only print the tables of an earlier run")
    options = parser.parse_args(arguments)
    if options.repeats is None:
        options.repeats = QUICK_REPEATS if options.quick else REPEATS
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, got {options.repeats}")
    return options


def installed_peers(requested: list[str]) -> list[str]:
    """cssvm, then the requested peers; prints the names of those that are not installed."""
    names = [REFERENCE, *(name for name in dict.fromkeys(requested) if name != REFERENCE)]
    for name in names:
        if not PEERS[name].installed():
            print(f"{name} is skipped: the module {PEERS[name].module} is not installed (pip install -e '.[bench]')")
    return [name for name in names if PEERS[name].installed()]


def cases_with_data(names: list[str], folder: Path | None) -> list[Case]:
    """The requested cases; prints the names of those without data."""
    found = []
    for case in chosen(names):
        reason = missing(case, folder)
        if reason is None:
            found.append(case)
        else:
            print(f"{case.name} is skipped: {reason}")
    return found


def run_cases(cases: list[Case], options: argparse.Namespace, folder: Path | None) -> Iterator[dict]:
    """The record of each case. Each case has its own processes; quick runs share them."""
    installed = installed_peers(list(PEERS) if options.peers is None else options.peers)
    with timing.start_workers(installed if options.quick else [], folder) as shared:
        for case in cases:
            names = [p for p in installed if options.peers is not None or case.peers is None or p in case.peers]
            if options.quick:
                case = case.quick()
                results = timing.run_case(case, shared, names, options.repeats, pause=0.0)
            else:
                with timing.start_workers([name for name in names if case.rows_for(name)], folder) as workers:
                    results = timing.run_case(case, workers, names, options.repeats)
            if results:
                yield report.case_record(case, results)


def run(options: argparse.Namespace) -> dict:
    """Run, print and save case by case, so that a long run can be interrupted."""
    folder = real.data_folder(options.data)
    cases = cases_with_data(options.cases, folder)
    if options.quick:
        # On a busy machine, spinning OpenMP threads turn milliseconds into seconds.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    else:
        timing.touch_memory()
    document = report.describe_run() | {"quick": options.quick, "repeats": options.repeats}
    print(tables.heading(document))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    if options.cases == list(DEFAULT_GROUPS) and not options.quick:
        document["first"] = first.measure()
        print("\n" + first.first_table(document["first"]), flush=True)
    for record in run_cases(cases, options, folder):
        print("\n" + tables.case_table(record), flush=True)
        document["cases"].append(record)
        options.json.write_text(json.dumps(document, indent=2) + "\n")
    return document


def main(arguments: list[str] | None = None) -> None:
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] in OTHERS:
        import_module(f"benchmarks.{arguments[0]}").main(arguments[1:])
        return
    options = parse_arguments(arguments)
    if options.show is not None:
        print(tables.whole_run(json.loads(options.show.read_text())))
        return
    document = run(options)
    if document["cases"]:
        print(f"\n{tables.summary_table(document['cases'])}\n\n{tables.LEGEND}\n\nThe results are in {options.json}")


if __name__ == "__main__":
    main()
