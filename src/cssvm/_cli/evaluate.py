"""``cssvm evaluate`` and ``cssvm report``: a model on rows whose labels are known."""

from __future__ import annotations

from pathlib import Path

import typer

from .._runtime.format import aligned_table, format_interval, format_number
from . import options as of
from .command import command, counting_rows, print_json, print_text, say

NOT_IN_JSON = ("evaluation", "target")
IN_JSON_ONLY = ("cost per case", "act on nobody", "act on everybody", "TP-0.9 area loss", "TN-0.9 area loss")


@command("cssvm evaluate loans.skops labelled.csv")
def evaluate(
    model: of.Model,
    data: of.Data,
    target: of.KnownTarget = None,
    fn_cost: of.NewCost = None,
    fp_cost: of.NewCost = None,
    weight: of.Weight = None,
    resamples: of.Resamples = 1000,
    confidence: of.Confidence = 0.95,
    seed: of.Seed = 0,
    as_json: of.Json = False,
    quiet: of.Quiet = False,
) -> None:
    """Measure a model on labelled rows that it was not trained on.

    Prints what its decisions cost compared with acting on nobody and on everybody, savings, the cost at the best
    threshold, recall, precision and the area under the ROC curve, each with a bootstrap interval.
    """
    from .._tables import evaluate_table

    with counting_rows(quiet) as progress:
        found = evaluate_table(
            model,
            data,
            target=target,
            fn_cost=fn_cost,
            fp_cost=fp_cost,
            weight=weight,
            n_resamples=resamples,
            confidence=confidence,
            random_state=seed,
            progress=progress,
        )
    if as_json:
        own = found.evaluation
        costs = {"total": own.model.total, "confidence": confidence, "currency": own.currency}
        print_json({name: value for name, value in vars(found).items() if name not in NOT_IN_JSON} | costs)
        return
    print_text(f"{found.evaluation}\n")
    rows = [
        (name, format_number(each.value), format_interval(each.low, each.high))
        for name, each in found.measures.items()
        if name not in IN_JSON_ONLY
    ]
    typer.echo(aligned_table(rows, align="<>"))
    if found.n_unlabelled and not quiet:
        say(f"{found.n_unlabelled:,} rows without a label were left out")


@command("cssvm report loans.skops labelled.csv --out report.html")
def report(
    model: of.Model,
    data: of.Data,
    out: of.ReportFile = "report.html",
    target: of.KnownTarget = None,
    fn_cost: of.NewCost = None,
    fp_cost: of.NewCost = None,
    weight: of.Weight = None,
    title: of.Title = "",
    resamples: of.Resamples = 1000,
    confidence: of.Confidence = 0.95,
    seed: of.Seed = 0,
    as_json: of.Json = False,
    quiet: of.Quiet = False,
) -> None:
    """Write an HTML report on a model and labelled rows that it was not trained on.

    The report is one file that works offline; it shows costs, sliders for the costs, curves, thresholds and the
    certificate.
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
    print_text(str(found.evaluation))
    if not quiet:
        say(f"report written to {out}")
