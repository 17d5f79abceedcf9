"""``cssvm reproduce``: the paper's study, run or gone on with, as tables and figures."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options as of
from .speaking import print_json, say, spoken

LABELS = "risk, tp-ucd, tn-ucd, tp-idl, tn-idl or income"
Folder = Annotated[
    str,
    typer.Option(
        "--out", metavar="FOLDER", help="For results, tables and figures. A study that was stopped there goes on."
    ),
]
Full = Annotated[
    bool, typer.Option("--full/--quick", help="Everything, some hours; or small sets and few folds, minutes.")
]
Configuration = Annotated[str | None, typer.Option("--config", metavar="FILE", help="A study of your own, in TOML.")]
Sets = Annotated[
    list[str] | None,
    typer.Option("--sets", metavar="NAME", help="Only this set, as in `cssvm datasets list`. Several times."),
]
Tables = Annotated[
    list[str] | None,
    typer.Option(
        "--tables", metavar="LABEL", help=f"Only the sets of this table of the paper: {LABELS}. Several times."
    ),
]
Figures = Annotated[bool, typer.Option(help="Whether to draw the figures.")]
Jobs = Annotated[int, typer.Option(metavar="N", help="Processes; -1 for one on each core.")]


@spoken("cssvm reproduce --quick --out reproduction")
def reproduce(
    out: Folder = "reproduction",
    full: Full = False,
    config: Configuration = None,
    sets: Sets = None,
    tables: Tables = None,
    figures: Figures = True,
    home: of.Home = None,
    jobs: Jobs = -1,
    quiet: of.Quiet = False,
    as_json: of.Json = False,
) -> None:
    """Run the paper's experimental study, or go on with one that was stopped, and write its tables and figures."""
    from pathlib import Path

    from study import Progress, Study
    from study import reproduce as run

    study = Study.read(Path(config)) if config else "full" if full else "quick"
    chosen = [*(sets or []), *_sets_of(tables or [])]
    report = (lambda *_: None) if quiet else Progress(say)
    found = run(out, study=study, sets=chosen or None, figures=figures, data_home=home, n_jobs=jobs, report=report)
    if as_json:
        print_json(
            [
                {"dataset": dataset, "method": method, "measure": measure, "values": list(values.values())}
                for (dataset, method, measure), values in found.values.items()
            ]
        )
    else:
        typer.echo(str(Path(out) / "index.html"))


def _sets_of(labels: list[str]) -> list[str]:
    """The sets of the paper's tables with these labels: ``risk``, ``tp-idl`` and so on."""
    from study.summary import paper_tables

    known = {label.removeprefix("tab:").lower(): sets for label, (_, _, sets) in paper_tables().items()}
    known["income"] = ["kdd98"]
    unknown = [label for label in labels if label.lower() not in known]
    if unknown:
        raise ValueError(f"There is no table {unknown[0]!r}; the paper has {', '.join(known)}.")
    return list(dict.fromkeys(name for label in labels for name in known[label.lower()]))
