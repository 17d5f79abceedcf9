"""A run for people, printed from its document alone: one table per case, and a summary of all."""

from typing import Any

from benchmarks.peers import PEERS, REFERENCE
from benchmarks.report import INFEASIBLE, SAME_OPTIMUM

LEGEND = """\
fit s, predict ms  median over the rounds; ratio: that time divided by cssvm's, so above 1 cssvm is faster
ok, miss           whether a ratio reaches the target next to it, at an objective no worse than 1e-6
~                  the peer was given fewer rows; its time at n is carried on from there by its growth
growth             p where time grows as n^p: slope through fits of a quarter, half and all of its rows
MB                 most memory that a fit took over what data and libraries take
below              how far the dual objective, computed for all by one float64 function from the dual
                   coefficients, falls short of the best found with as many rows, relative
gap                cssvm's own certificate: relative difference of primal and dual objective"""

Record = dict[str, Any]
Column = tuple[str, int]  # heading, width; the first column is set left, the others right

CASE_COLUMNS: tuple[Column, ...] = (
    ("solver", 10),
    ("fit s", 9),
    ("ratio", 17),
    ("predict ms", 11),
    ("ratio", 16),
    ("growth", 7),
    ("MB", 7),
    ("support", 9),
    ("below", 7),
    ("gap", 7),
)
# A ratio with its target and verdict, `~0.75 >=1.5 miss`, and one without.
WIDE, NARROW = 17, 10


def number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def line(columns: tuple[Column, ...], cells: list[str]) -> str:
    first, *others = zip(cells, columns, strict=True)
    return f"{first[0]:<{first[1][1]}}" + "".join(f"{cell:>{width}}" for cell, (_, width) in others)


def table(columns: tuple[Column, ...], rows: list[list[str]]) -> list[str]:
    header = line(columns, [heading for heading, _ in columns])
    return [header, "-" * len(header), *(line(columns, row) for row in rows)]


def ratio_cell(peer: Record, verb: str) -> str:
    """For example `12.3 >=10 ok`; of a time that is carried on, `~12.3 >=10 ok`."""
    ratio = peer[f"{verb}_ratio"]
    if ratio is None:
        return "-"
    text = carried_on(peer, verb) + format(ratio, ".2f" if ratio < 10 else ".1f" if ratio < 100 else ".0f")
    if peer[f"{verb}_verdict"] is None:
        return text
    return f"{text} >={peer[f'{verb}_target']:g} {peer[f'{verb}_verdict']}"


def carried_on(peer: Record, verb: str) -> str:
    return "~" if verb == "fit" and peer["extrapolated"] else ""


def fit_cell(peer: Record) -> str:
    seconds = peer["fit_at_n"]
    return carried_on(peer, "fit") + format(seconds, ".4f" if seconds < 1 else ".2f" if seconds < 100 else ".0f")


def peer_row(peer: Record) -> list[str]:
    predict = peer["predict_median"]
    return [
        peer["peer"],
        fit_cell(peer),
        ratio_cell(peer, "fit"),
        number(None if predict is None else 1e3 * predict, ".1f"),
        ratio_cell(peer, "predict"),
        number(peer["growth"], ".2f"),
        number(peer["peak_mb"], ",.0f"),
        f"{peer['n_support']:,}",
        f"{peer['below_best']:.0e}",
        number(peer["relative_gap"], ".0e"),
    ]


def notes(record: Record) -> list[str]:
    """Notes below the table."""
    found = []
    for peer in record["peers"]:
        name = peer["peer"]
        if peer["extrapolated"]:
            found.append(
                f"~ {name} fitted {peer['rows']:,} rows in {peer['fit_median']:.2f} s, "
                f"{number(peer['fit_ratio_at_rows'], '.2f')} times what cssvm takes for as many"
            )
        if peer["infeasibility"] > INFEASIBLE:
            found.append(f"! {name} leaves its constraints by {peer['infeasibility']:.1e} of the largest upper bound")
        if (peer["reference_below_best"] or 0.0) > SAME_OPTIMUM and (name == REFERENCE or peer["extrapolated"]):
            found.append(
                f"! cssvm's objective with {peer['rows']:,} rows is {peer['reference_below_best']:.1e} below the best: "
                "no ratio counts"
            )
        limit = record["memory_limit_mb"]
        if name == REFERENCE and limit is not None and peer["peak_mb"] is not None:
            held = "within" if peer["peak_mb"] <= limit else "over"
            found.append(f"{'!' if held == 'over' else '='} cssvm's peak memory is {held} its limit of {limit:,} MB")
    return found


def case_table(record: Record) -> str:
    """The printed table of one case."""
    shape = "" if record["kernel"] == "linear" else f" gamma={record['gamma']:.4g}"
    rounds = max(len(peer["fit_seconds"]) for peer in record["peers"])
    title = (
        f"{record['name']}: n={record['n']:,} d={record['d']:,} {record['kernel']}{shape} C={record['C']:g} "
        f"fn_cost={record['fn_cost']:g}, {record['n_predict']:,} rows predicted, {rounds} round(s)"
    )
    objective = f"dual objective of cssvm: {reference(record)['dual_objective']:.10g}" if reference(record) else ""
    lines = [title, *([objective] if objective else [])]
    return "\n".join([*lines, *table(CASE_COLUMNS, [peer_row(peer) for peer in record["peers"]]), *notes(record)])


def reference(record: Record) -> Record | None:
    return next((peer for peer in record["peers"] if peer["peer"] == REFERENCE), None)


def summary_rows(record: Record, peer_names: list[str]) -> list[list[str]]:
    """cssvm's fit and the ratios to it; a second row for prediction where a target is set for it."""
    ours = reference(record)
    if ours is None:
        return []
    peers = {peer["peer"]: peer for peer in record["peers"]}
    size = f"{record['n']:,} x {record['d']:,}"

    def ratios(verb: str) -> list[str]:
        return [ratio_cell(peers[name], verb) if name in peers else "-" for name in peer_names]

    gap, growth = number(ours["relative_gap"], ".0e"), number(ours["growth"], ".2f")
    rows = [[record["name"], size, fit_cell(ours), gap, growth, *ratios("fit")]]
    if record["predict_targets"]:
        predicted = f"{record['n_predict']:,} rows"
        rows.append(["  prediction", predicted, f"{ours['predict_median']:.3f}", "", "", *ratios("predict")])
    return rows


def summary_table(records: list[Record]) -> str:
    """All cases, a line each."""
    present = {peer["peer"] for record in records for peer in record["peers"]}
    peer_names = [name for name in PEERS if name in present and name != REFERENCE]
    held_to_targets = {name for record in records for name in (*record["targets"], *record["predict_targets"])}
    columns = (
        ("case", 14),
        ("n x d", 15),
        ("cssvm s", 9),
        ("gap", 7),
        ("growth", 8),
        *((name, WIDE if name in held_to_targets else NARROW) for name in peer_names),
    )
    return "\n".join(table(columns, [row for record in records for row in summary_rows(record, peer_names)]))


def whole_run(document: Record) -> str:
    return "\n\n".join(
        [
            heading(document),
            *(case_table(record) for record in document["cases"]),
            summary_table(document["cases"]),
            LEGEND,
        ]
    )


def heading(document: Record) -> str:
    machine = document["machine"]
    return f"{machine['cpu']}, {machine['usable_cores']} cores; " + ", ".join(
        f"{name} {number}" for name, number in document["versions"].items()
    )
