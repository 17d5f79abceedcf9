"""``cssvm evaluate``: a model on rows whose labels are known."""

from __future__ import annotations

import typer

from . import options as of
from .command import command, counting_rows, print_json, say
from .showing import ends, print_table, shown


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
    """Measure a model on rows with labels, which it has not seen.

    Costs per case of the model and of the plain policies, what it saves, what the best threshold would have cost,
    shares of errors, and areas of the ROC curve, each with a bootstrap interval.
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
        print_json(vars(found))
        return
    lines = [(name, shown(each.value), ends(each.low, each.high)) for name, each in found.measures.items()]
    print_table(("", "", f"interval of {found.confidence:.0%}"), lines)
    typer.echo(
        f"{found.n_rows:,} rows, {found.n_targets:,} of the target, {found.n_acted:,} acted on; "
        f"{'total cost' if weight is None else 'weighted total cost'} {shown(found.total)} {found.currency}".rstrip()
    )
    if found.n_unlabelled and not quiet:
        say(f"{found.n_unlabelled:,} rows without a label were left out")
