"""The tables of a run, made from its JSON record: one per case, and a summary."""

from typing import Any

from benchmarks.peers import PEERS, REFERENCE
from benchmarks.report import INFEASIBLE, SAME_OPTIMUM
from cssvm._runtime.format import aligned_table

LEGEND = """\
fit s, predict ms  median over the rounds; ratio: that time divided by the time of cssvm
ok, miss           whether a ratio reaches the goal next to it, at an objective within 1e-6 of the best
~                  extrapolated by its growth from a fit of fewer samples
growth             exponent p of time ~ n^p, fitted to a quarter, half and all of the samples
MB                 peak memory of a fit, without data and libraries
below              relative distance of the dual objective from the best one for as many samples; it is
                   computed in float64 from the dual coefficients of each solver
gap                relative duality gap that cssvm reports"""

Record = dict[str, Any]

CASE_HEAD = (
    "solver",
    "fit s",
    "ratio",
    "predict ms",
    "ratio",
    "growth",
    "MB",
    "support",
    "below",
    "gap",
)


def number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def ratio_cell(peer: Record, verb: str) -> str:
    """For example `12.3 >=10 ok`; `~12.3 >=10 ok` if it is extrapolated."""
    ratio = peer[f"{verb}_ratio"]
    if ratio is None:
        return "-"
    text = extrapolation_mark(peer, verb) + format(ratio, ".2f" if ratio < 10 else ".1f" if ratio < 100 else ".0f")
    if peer[f"{verb}_verdict"] is None:
        return text
    return f"{text} >={peer[f'{verb}_goal']:g} {peer[f'{verb}_verdict']}"


def extrapolation_mark(peer: Record, verb: str) -> str:
    return "~" if verb == "fit" and peer["extrapolated"] else ""


def fit_cell(peer: Record) -> str:
    seconds = peer["fit_at_n"]
    return extrapolation_mark(peer, "fit") + format(
        seconds, ".4f" if seconds < 1 else ".2f" if seconds < 100 else ".0f"
    )


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
                f"~ {name} fitted {peer['rows']:,} samples in {peer['fit_median']:.2f} s, "
                f"{number(peer['fit_ratio_at_rows'], '.2f')} times the time of cssvm for as many"
            )
        if peer["infeasibility"] > INFEASIBLE:
            found.append(f"! {name} violates its constraints by {peer['infeasibility']:.1e} of the largest upper bound")
        if (peer["reference_below_best"] or 0.0) > SAME_OPTIMUM and (name == REFERENCE or peer["extrapolated"]):
            found.append(
                f"! cssvm's objective with {peer['rows']:,} samples is "
                f"{peer['reference_below_best']:.1e} below the best: ratios are not comparable"
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
        f"fn_cost={record['fn_cost']:g}, {record['n_predict']:,} predicted, {rounds} round(s)"
    )
    objective = f"dual objective of cssvm: {reference(record)['dual_objective']:.10g}" if reference(record) else ""
    lines = [title, *([objective] if objective else [])]
    table = aligned_table([peer_row(peer) for peer in record["peers"]], CASE_HEAD, "<>")
    return "\n".join([*lines, table, *notes(record)])


def reference(record: Record) -> Record | None:
    return next((peer for peer in record["peers"] if peer["peer"] == REFERENCE), None)


def summary_rows(record: Record, peer_names: list[str]) -> list[list[str]]:
    """The fit of cssvm and the ratios; a second row for the prediction if it has a goal."""
    ours = reference(record)
    if ours is None:
        return []
    peers = {peer["peer"]: peer for peer in record["peers"]}
    size = f"{record['n']:,} x {record['d']:,}"

    def ratios(verb: str) -> list[str]:
        return [ratio_cell(peers[name], verb) if name in peers else "-" for name in peer_names]

    gap, growth = number(ours["relative_gap"], ".0e"), number(ours["growth"], ".2f")
    rows = [[record["name"], size, fit_cell(ours), gap, growth, *ratios("fit")]]
    if record["predict_goals"]:
        predicted = f"{record['n_predict']:,} rows"
        rows.append(["  prediction", predicted, f"{ours['predict_median']:.3f}", "", "", *ratios("predict")])
    return rows


def summary_table(records: list[Record]) -> str:
    """A line for each case."""
    present = {peer["peer"] for record in records for peer in record["peers"]}
    peer_names = [name for name in PEERS if name in present and name != REFERENCE]
    columns = ("case", "n x d", "cssvm s", "gap", "growth", *peer_names)
    return aligned_table([row for record in records for row in summary_rows(record, peer_names)], columns, "<>")


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
