"""Command line of the benchmarks: parse, run each case, print its table, write everything as JSON."""

import argparse
import json
from pathlib import Path

from benchmarks import report, timing
from benchmarks.cases import CASES
from benchmarks.peers import PEERS, REFERENCE

LATEST = Path(__file__).parent / "results" / "latest.json"
REPEATS = 3


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Time cssvm against other exact kernel SVM solvers."
    )
    parser.add_argument(
        "--cases",
        nargs="+",
        choices=CASES,
        default=list(CASES),
        metavar="NAME",
        help=f"which problems: {', '.join(CASES)} (default: all)",
    )
    parser.add_argument(
        "--peers",
        nargs="+",
        choices=PEERS,
        metavar="NAME",
        default=[p.name for p in PEERS.values() if p.default],
        help=f"which solvers: {', '.join(PEERS)}; {REFERENCE} always runs",
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=REPEATS,
        metavar="N",
        help=f"rounds per case (default {REPEATS}; at most {timing.LONG_FIT_ROUNDS} "
        f"when a fit takes over {timing.LONG_FIT_SECONDS:g} s)",
    )
    parser.add_argument("--quick", action="store_true", help="tiny problems: shows that it runs, not how fast")
    parser.add_argument("--json", type=Path, default=LATEST, metavar="PATH", help="where to write the results")
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, got {options.repeats}")
    return options


def installed_peers(asked_for: list[str]) -> list[str]:
    """cssvm first, then the peers asked for; those not installed are named and left out."""
    names = [REFERENCE, *(name for name in dict.fromkeys(asked_for) if name != REFERENCE)]
    for name in names:
        if not PEERS[name].installed():
            print(f"{name} is left out: the module {PEERS[name].module} is not installed (pip install -e '.[bench]')")
    return [name for name in names if PEERS[name].installed()]


def main(arguments: list[str] | None = None) -> None:
    options = parse_arguments(arguments)
    peer_names = installed_peers(options.peers)
    document = report.describe_run() | {"quick": options.quick, "repeats": options.repeats}
    machine = document["machine"]
    print(
        f"{machine['cpu']}, {machine['usable_cores']} cores; "
        + ", ".join(f"{name} {number}" for name, number in document["versions"].items())
    )

    if not options.quick:
        timing.touch_memory()
    for name in options.cases:
        case = CASES[name].quick() if options.quick else CASES[name]
        results = timing.run_case(case, peer_names, options.repeats)
        if results:
            print("\n" + report.case_table(case, results), flush=True)
            document["cases"].append(report.case_record(case, results))

    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(document, indent=2) + "\n")
    print(f"\n{report.LEGEND}\n\nwritten: {options.json}")


if __name__ == "__main__":
    main()
