"""Update the tables of the committed results in the documents: `python -m benchmarks.document`.

A table is between a line `<!-- NAME: python -m benchmarks.document -->` and the next `<!-- end -->`. A test checks that
the documents are up to date.
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
README_CASES = (
    "5k-20", "4k-12-C100", "20k-20", "20k-20-C100", "10k-200", "sparse-rbf", "ijcnn1", "covertype-50k", "100k-50",
)  # fmt: skip


def load_results(name: str) -> dict[str, Any]:
    return json.loads((RESULTS / f"{name}.json").read_text())


def markdown_table(rows: list[list[str]], head: list[str]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def significant(value: float | None) -> str:
    """A number with two significant digits, and all digits before the decimal point."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 10 else f"{value:#.2g}"


def size(record: dict[str, Any]) -> str:
    C = "" if record["C"] == 1 else f", C = {record['C']:g}"
    return f"{record['n']:,} x {record['d']:,}{C}"


def ratio(record: dict[str, Any], name: str, verb: str = "fit") -> str:
    """Time of a peer divided by that of cssvm; `~` where it is extrapolated."""
    peer = next((peer for peer in record["peers"] if peer["peer"] == name), None)
    if peer is None or peer[f"{verb}_ratio"] is None:
        return ""
    about = "~" if verb == "fit" and peer["extrapolated"] else ""
    return f"{about}{peer[f'{verb}_ratio']:.1f}"


def fit_row(record: dict[str, Any]) -> list[str]:
    ours = reference(record) or {}
    gap = f"{ours['relative_gap']:.0e}"
    return [record["name"], size(record), significant(ours["fit_at_n"]), gap, *(ratio(record, p) for p in PEERS)]


def readme_fits() -> str:
    """The table of the README."""
    records = {record["name"]: record for record in load_results("fits")["cases"]}
    rows = [[*fit_row(records[name])[1:3], *(ratio(records[name], p) for p in PEERS)] for name in README_CASES]
    return markdown_table(rows, ["rows x features", "cssvm, s", "scikit-learn", "intelex"])


def all_fits() -> str:
    """All cases, with growth and memory; predictions of large cases."""
    rows = []
    for record in [*load_results("fits")["cases"], *load_results("long")["cases"]]:
        ours = reference(record) or {}
        name, shape, seconds, gap, *ratios = fit_row(record)
        rows.append([name, shape, seconds, gap, significant(ours["growth"]), significant(ours["peak_mb"]), *ratios])
        if record["n_predict"] >= record["n"] > 10_000:
            shape = f"{record['n_predict']:,} rows, {ours['n_support']:,} vectors"
            seconds = significant(ours["predict_median"])
            rows.append(["its prediction", shape, seconds, "", "", "", *(ratio(record, p, "predict") for p in PEERS)])
    return markdown_table(
        rows, ["case", "rows x features", "cssvm, s", "gap", "growth", "memory, MB", "scikit-learn", "intelex"]
    )


def first_results() -> str:
    """Times to the first result."""
    rows = [[record["name"], f"{record['seconds']:.2g}"] for record in load_results("fits")["first"]]
    return markdown_table(rows, ["first", "s"])


def searches() -> str:
    """The search compared with others."""
    header = ["rows", "cssvm, s", "GridSearchCV, s", "ratio", "liquidSVM, s", "ratio"]
    rows = [
        [
            *(f"{record['n']:,}", significant(record["full"]), significant(record.get("grid_search"))),
            *(shown(record, "grid_search", ".1f", "full"), significant(record.get("liquidsvm"))),
            shown(record, "liquidsvm", ".1f", "full"),
        ]
        for record in load_results("search")["cases"]
    ]
    return markdown_table(rows, header)


def nested_sets() -> str:
    """Costs in nested cross-validation by data set."""
    records = load_results("nested")["cases"]
    names = list(records[0]["costs"])
    rows = [
        [each["name"], f"{each['fn_cost']:g} : 1", *(f"{each['costs'][name]:.3f}" for name in names)]
        for each in records
    ]
    return markdown_table(rows, ["set", "costs", *names])


def nested_means() -> str:
    """Costs in nested cross-validation relative to the search, averaged over data sets."""
    records = load_results("nested")["cases"]
    rows = []
    for method, (mean, error) in nested.relative(records).items():
        cheaper, costlier = nested.counts(records, method)
        rows.append([method, f"{mean:+.1%}", f"{error:.1%}", f"{cheaper} / {costlier}"])
    head = ["method", "mean cost, relative to the search's", "standard error over sets", "cheaper / costlier"]
    return markdown_table(rows, head)


def linear_svms() -> str:
    """Linear solvers: seconds to reach the optimum up to a tolerance, or the distance that was reached."""
    rows = []
    for record in load_results("linear")["cases"]:
        for solver in record["solvers"]:
            last = min(run["excess"] for run in solver["runs"])
            longest = max(run["seconds"] for run in solver["runs"])
            times = [solver[f"seconds_to_{distance}"] for distance in ("0.001", "0.0001")]
            shown_times = ["not" if seconds is None else significant(seconds) for seconds in times]
            reached = f"{last:.0e} within {significant(longest)} s" if times[-1] is None else ""
            memory = significant(max((run["peak_mb"] or 0.0) for run in solver["runs"]))
            shape = f"{record['name']}, {record['n']:,} x {record['d']}"
            rows.append([shape, solver["solver"], *shown_times, reached, memory])
        search = record["search"]
        name = f"CostSensitiveLinearSVCCV, {search['n_models']} SVMs and the final one"
        rows.append([rows[-1][0], name, f"{significant(search['seconds'])} in all", "", "", ""])
    return markdown_table(rows, ["problem", "solver", "s to 10⁻³", "s to 10⁻⁴", "else", "memory, MB"])


def passes() -> str:
    """The time of passes over the data."""
    rows = [
        [
            f"{record['name']}, {record['d']} features",
            *(significant(record["passes"][k]) for k in ("look", "iteration")),
        ]
        for record in load_results("linear")["cases"]
    ]
    return markdown_table(rows, ["rows in memory, 2 cores", "p, a look at 10⁶ rows, s", "q, an iteration on them, s"])


def cluster_times() -> str:
    """The linear SVM on a cluster of this machine, compared with the fit in one process."""
    records: dict[tuple[int, int], dict[int, dict[str, Any]]] = {}
    for record in load_results("cluster")["times"]["cases"]:
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
    return markdown_table(rows, [*head, "peak of a worker, MB"])


def cluster_rounds() -> str:
    """The rounds of the memory test."""
    run = load_results("cluster")["memory"]["cases"]
    rows = []
    for own in run["rounds"]:
        all_rows = own["blocks"] == own["rounds"] * run["partitions"]
        each = own["seconds"] / own["rounds"]
        rate = significant(each / (run["rows"] / 1e6)) if all_rows else ""
        sent = f"{own['bytes'] / own['blocks']:,.0f}"
        rows.append([own["name"], f"{own['rounds']}", f"{own['blocks']:,}", sent, significant(each), rate])
    return markdown_table(rows, ["question", "rounds", "answers", "bytes of each", "s a round", "s for 10⁶ rows"])


TABLES: dict[str, Callable[[], str]] = {
    "nested sets": nested_sets,
    "nested means": nested_means,
    "some fits": readme_fits,
    "all fits": all_fits,
    "first results": first_results,
    "searches": searches,
    "linear SVMs": linear_svms,
    "passes": passes,
    "cluster times": cluster_times,
    "cluster rounds": cluster_rounds,
}


def update_tables(text: str) -> str:
    """The text with every table replaced."""
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
        document.write_text(update_tables(text))
        written = [name for name in TABLES if f"<!-- {name}:" in text]
        print(f"{document.relative_to(ROOT)}: {', '.join(written) or 'no tables'}")


if __name__ == "__main__":
    main()
