"""Write the tables of the committed runs into the documents that have them: `python -m benchmarks.document`.

A table stands between a line `<!-- NAME: python -m benchmarks.document -->` and the next `<!-- end -->`. A test holds
the documents to the committed runs.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import nested
from benchmarks.search import shown
from benchmarks.tables import reference

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
DOCUMENTS = tuple(
    ROOT / name
    for name in (
        "README.md",
        "benchmarks/README.md",
        "docs/adr/0010-a-thousand-million-samples.md",
        "docs/dask.md",
        "docs/large_data.md",
        "docs/search.md",
    )
)
END = "<!-- end -->"
PEERS = ("sklearn", "sklearnex")
SHOWN_FIRST = (  # in the README
    "5k-20", "4k-12-C100", "20k-20", "20k-20-C100", "10k-200", "sparse-rbf", "ijcnn1", "covertype-50k", "100k-50",
)  # fmt: skip


def run_of(name: str) -> dict[str, Any]:
    return json.loads((RESULTS / f"{name}.json").read_text())


def markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def significant(value: float | None) -> str:
    """A number with two digits that count, or all of those before the point."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 10 else f"{value:#.2g}"


def size(record: dict[str, Any]) -> str:
    C = "" if record["C"] == 1 else f", C = {record['C']:g}"
    return f"{record['n']:,} x {record['d']:,}{C}"


def ratio(record: dict[str, Any], name: str, verb: str = "fit") -> str:
    """Time of a peer over cssvm's; `~` where the time is extrapolated from fewer rows."""
    peer = next((peer for peer in record["peers"] if peer["peer"] == name), None)
    if peer is None or peer[f"{verb}_ratio"] is None:
        return ""
    about = "~" if verb == "fit" and peer["extrapolated"] else ""
    return f"{about}{peer[f'{verb}_ratio']:.1f}"


def fit_row(record: dict[str, Any]) -> list[str]:
    ours = reference(record) or {}
    gap = f"{ours['relative_gap']:.0e}"
    return [record["name"], size(record), significant(ours["fit_at_n"]), gap, *(ratio(record, p) for p in PEERS)]


def shown_first() -> str:
    """The README's table: fits of some cases."""
    records = {record["name"]: record for record in run_of("fits")["cases"]}
    rows = [[*fit_row(records[name])[1:3], *(ratio(records[name], p) for p in PEERS)] for name in SHOWN_FIRST]
    return markdown(["rows x features", "cssvm, s", "scikit-learn", "intelex"], rows)


def all_fits() -> str:
    """All cases, with growth and memory, and prediction of as many rows."""
    rows = []
    for record in [*run_of("fits")["cases"], *run_of("long")["cases"]]:
        ours = reference(record) or {}
        name, shape, seconds, gap, *ratios = fit_row(record)
        rows.append([name, shape, seconds, gap, significant(ours["growth"]), significant(ours["peak_mb"]), *ratios])
        if record["n_predict"] >= record["n"] > 10_000:
            shape = f"{record['n_predict']:,} rows, {ours['n_support']:,} vectors"
            seconds = significant(ours["predict_median"])
            rows.append(["its prediction", shape, seconds, "", "", "", *(ratio(record, p, "predict") for p in PEERS)])
    return markdown(
        ["case", "rows x features", "cssvm, s", "gap", "growth", "memory, MB", "scikit-learn", "intelex"], rows
    )


def first_results() -> str:
    """Times to the first result."""
    rows = [[record["name"], f"{record['seconds']:.2g}"] for record in run_of("fits")["first"]]
    return markdown(["first", "s"], rows)


def searches() -> str:
    """The search and its peers."""
    header = ["rows", "cssvm, s", "GridSearchCV, s", "ratio", "liquidSVM, s", "ratio"]
    rows = [
        [
            *(f"{record['n']:,}", significant(record["full"]), significant(record.get("grid_search"))),
            *(shown(record, "grid_search", ".1f", "full"), significant(record.get("liquidsvm"))),
            shown(record, "liquidsvm", ".1f", "full"),
        ]
        for record in run_of("search")["cases"]
    ]
    return markdown(header, rows)


def nested_sets() -> str:
    """The nested comparison, set by set."""
    records = run_of("nested")["cases"]
    names = list(records[0]["costs"])
    rows = [
        [each["name"], f"{each['fn_cost']:g} : 1", *(f"{each['costs'][name]:.3f}" for name in names)]
        for each in records
    ]
    return markdown(["set", "costs", *names], rows)


def nested_means() -> str:
    """The nested comparison over all sets, in relation to the search as it comes."""
    records = run_of("nested")["cases"]
    rows = []
    for method, (mean, error) in nested.relative(records).items():
        cheaper, costlier = nested.counts(records, method)
        rows.append([method, f"{mean:+.1%}", f"{error:.1%}", f"{cheaper} / {costlier}"])
    head = ["method", "mean cost, relative to the search's", "standard error over sets", "cheaper / costlier"]
    return markdown(head, rows)


def linear_svms() -> str:
    """The linear SVM next to others: seconds to be near the optimum, or how far the last attempt was."""
    rows = []
    for record in run_of("linear")["cases"]:
        for solver in record["solvers"]:
            last = min(run["above"] for run in solver["runs"])
            longest = max(run["seconds"] for run in solver["runs"])
            times = [solver[f"seconds_to_{distance}"] for distance in ("0.001", "0.0001")]
            shown_times = ["not" if seconds is None else significant(seconds) for seconds in times]
            reached = f"{last:.0e} within {significant(longest)} s" if times[-1] is None else ""
            memory = significant(max((run["peak_mb"] or 0.0) for run in solver["runs"]))
            shape = f"{record['name']}, {record['n']:,} x {record['d']}"
            rows.append([shape, solver["solver"], *shown_times, reached, memory])
        search = record["search"]
        name = f"CostSensitiveLinearSVCCV, {search['n_machines']} SVMs and the final one"
        rows.append([rows[-1][0], name, f"{significant(search['seconds'])} in all", "", "", ""])
    return markdown(["problem", "solver", "s to 10⁻³", "s to 10⁻⁴", "else", "memory, MB"], rows)


def passes() -> str:
    """The time of passes over rows."""
    rows = [
        [
            f"{record['name']}, {record['d']} features",
            *(significant(record["passes"][k]) for k in ("look", "iteration")),
        ]
        for record in run_of("linear")["cases"]
    ]
    return markdown(["rows in memory, 2 cores", "p, a look at 10⁶ rows, s", "q, an iteration on them, s"], rows)


def cluster_times() -> str:
    """The linear SVM on a cluster of this machine, next to the same fit in one process."""
    records: dict[tuple[int, int], dict[int, dict[str, Any]]] = {}
    for record in run_of("cluster")["times"]["cases"]:
        records.setdefault((record["rows"], record["features"]), {})[record["workers"]] = record
    rows = []
    for (n, d), own in records.items():
        one, two = own[1], own[2]
        seconds = [significant(each["seconds"]) for each in (one, two)]
        ratios = [f"{each['seconds'] / each['local_seconds']:.1f}" for each in (one, two)]
        peak = significant(max(max(each["peaks_mb"]) for each in (one, two)))
        size_mb, here = significant(one["data_mb"]), significant(one["local_seconds"])
        rows.append([f"{n:,} x {d}", size_mb, here, *seconds, " / ".join(ratios), peak])
    head = ["rows x features", "data, MB", "one process, s", "1 worker, s", "2 workers, s", "times as long"]
    return markdown([*head, "peak of a worker, MB"], rows)


def cluster_rounds() -> str:
    """The rounds of the memory test with its two workers."""
    run = run_of("cluster")["memory"]["cases"]
    rows = []
    for own in run["rounds"]:
        all_rows = own["blocks"] == own["rounds"] * run["partitions"]
        each = own["seconds"] / own["rounds"]
        rate = significant(each / (run["rows"] / 1e6)) if all_rows else ""
        sent = f"{own['bytes'] / own['blocks']:,.0f}"
        rows.append([own["name"], f"{own['rounds']}", f"{own['blocks']:,}", sent, significant(each), rate])
    return markdown(["question", "rounds", "answers", "bytes of each", "s a round", "s for 10⁶ rows"], rows)


TABLES: dict[str, Callable[[], str]] = {
    "nested sets": nested_sets,
    "nested means": nested_means,
    "some fits": shown_first,
    "all fits": all_fits,
    "first results": first_results,
    "searches": searches,
    "linear SVMs": linear_svms,
    "passes": passes,
    "cluster times": cluster_times,
    "cluster rounds": cluster_rounds,
}


def filled(text: str) -> str:
    """The text with every table between its marks written again."""
    for name, table in TABLES.items():
        mark = f"<!-- {name}: python -m benchmarks.document -->"
        if mark in text:
            before, after = text.split(mark, 1)
            text = f"{before}{mark}\n{table()}\n{END}{after.split(END, 1)[1]}"
    return text


def main(arguments: list[str] | None = None) -> None:
    argparse.ArgumentParser(prog="python -m benchmarks document", description=__doc__).parse_args(arguments)
    for document in DOCUMENTS:
        text = document.read_text()
        document.write_text(filled(text))
        written = [name for name in TABLES if f"<!-- {name}:" in text]
        print(f"{document.relative_to(ROOT)}: {', '.join(written) or 'no marks, nothing written'}")


if __name__ == "__main__":
    main()
