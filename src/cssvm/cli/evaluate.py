"""``cssvm evaluate``: a model on rows whose labels are known."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Data, Json, Model, NewCost, Quiet, Seed, Weight
from .speaking import counting_rows, print_json, print_table, say, shown, spoken


@spoken
def evaluate(
    model: Model,
    data: Data,
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of labels; as in training if not given.")
    ] = None,
    fn_cost: NewCost = None,
    fp_cost: NewCost = None,
    weight: Weight = None,
    resamples: Annotated[int, typer.Option(min=1, help="Resamples of the rows for the intervals.")] = 1000,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure a model on a table with labels, which it should not have been trained on.

    Costs per case of the model and of the plain policies, what it saves, what the best threshold would have cost, shares
    of errors, and areas of the ROC curve, each with a bootstrap interval.

    \b
    cssvm evaluate loans.skops labelled.csv
    """
    from ..tables import evaluate_table

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
    unit = f" {found.currency}" if found.currency else ""
    lines = [(name, shown(each.value), f"[{shown(each.low)}, {shown(each.high)}]") for name, each in found.measures.items()]
    print_table(("", "", f"interval of {found.confidence:.0%}"), lines)
    typer.echo(
        f"{found.n_rows:,} rows, {found.n_targets:,} of the target, {found.n_acted:,} acted on; "
        f"total cost {shown(found.total)}{unit}."
    )
    if found.n_unlabelled and not quiet:
        say(f"{found.n_unlabelled:,} rows without a label were left out")
