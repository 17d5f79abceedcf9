"""``cssvm report``: a page about what a model's decisions are worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options as of
from .command import command, print_json, say
from .showing import print_costs

ReportFile = Annotated[str, typer.Option("--out", metavar="FILE", help="The HTML file to write.")]
Title = Annotated[str, typer.Option(metavar="TEXT", help="Heading of the page.")]


@command("cssvm report loans.skops labelled.csv --out report.html")
def report(
    model: of.Model,
    data: of.Data,
    out: ReportFile = "report.html",
    target: of.KnownTarget = None,
    fn_cost: of.NewCost = None,
    fp_cost: of.NewCost = None,
    weight: of.Weight = None,
    title: Title = "",
    resamples: of.Resamples = 1000,
    confidence: of.Confidence = 0.95,
    seed: of.Seed = 0,
    as_json: of.Json = False,
    quiet: of.Quiet = False,
) -> None:
    """Write a page about a model on rows with labels, which it has not seen.

    One HTML file that works offline: the money, sliders for the costs, curves, thresholds, the certificate.
    """
    from .._runtime.files import check_writable
    from .._tables import report_table

    check_writable(Path(out), model=model, data=data)
    found = report_table(
        model,
        data,
        target=target,
        fn_cost=fn_cost,
        fp_cost=fp_cost,
        weight=weight,
        title=title,
        n_resamples=resamples,
        confidence=confidence,
        random_state=seed,
    )
    found.save(out)
    if as_json:
        print_json({"out": out, "policies": [vars(policy) for policy in found.evaluation.policies]})
        return
    print_costs(found.evaluation)
    if not quiet:
        say(f"the report is in {out}")
