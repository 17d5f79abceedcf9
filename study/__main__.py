"""``python -m study``: run the paper's study, or resume it, and write its tables and figures."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from . import Progress, Results, Study, reproduce
from .summary import paper_tables


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m study", description=__doc__)
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        default="reproduction",
        help="folder for results, tables and figures; an interrupted study in it is resumed (default: %(default)s)",
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small data sets and few folds: minutes (the default)")
    size.add_argument("--full", action="store_true", help="all data sets and all folds: hours")
    size.add_argument("--config", metavar="FILE", help="read the study from this TOML file")
    parser.add_argument(
        "--sets", metavar="NAME", action="append", default=[], help="run only this data set (repeatable)"
    )
    parser.add_argument(
        "--tables",
        metavar="LABEL",
        action="append",
        default=[],
        help=f"run only the data sets of this table of the paper: {', '.join(sets_by_table())} (repeatable)",
    )
    parser.add_argument("--no-figures", action="store_true", help="do not draw the figures")
    parser.add_argument("--home", metavar="FOLDER", help="folder of the data sets (default: $CSSVM_DATA)")
    parser.add_argument("--jobs", metavar="N", type=int, default=-1, help="number of processes; -1: one per core")
    parser.add_argument("--quiet", action="store_true", help="print no progress")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    chosen = parser.parse_args(arguments)
    unknown = [label for label in chosen.tables if label.lower() not in sets_by_table()]
    if unknown:
        parser.error(f"there is no table {unknown[0]!r}; the paper has {', '.join(sets_by_table())}")
    return chosen


def sets_by_table() -> dict[str, list[str]]:
    """The data sets of each table of the paper, by its label in lower case."""
    tables = {label.removeprefix("tab:").lower(): sets for label, (_, _, sets) in paper_tables().items()}
    return tables | {"income": ["kdd98"]}


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    chosen = parse_arguments(arguments)
    sets = [*chosen.sets, *(name for label in chosen.tables for name in sets_by_table()[label.lower()])]
    options: dict[str, Any] = {} if chosen.quiet else {"report": Progress(lambda line: print(line, file=sys.stderr))}
    try:
        results = reproduce(
            chosen.out,
            study=Study.read(Path(chosen.config)) if chosen.config else "full" if chosen.full else "quick",
            sets=list(dict.fromkeys(sets)) or None,
            figures=not chosen.no_figures,
            data_home=chosen.home,
            n_jobs=chosen.jobs,
            **options,
        )
    except (ValueError, OSError) as error:
        sys.exit(f"python -m study: {error}")
    except KeyboardInterrupt:
        sys.exit(f"python -m study: interrupted; the same command resumes the study in {chosen.out}")
    if chosen.json:
        print_json(results)
    else:
        print(Path(chosen.out) / "index.html")


def print_json(results: Results) -> None:
    """Print every value as JSON."""
    found = [
        {"dataset": dataset, "method": method, "measure": measure, "values": list(values.values())}
        for (dataset, method, measure), values in results.values.items()
    ]
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
