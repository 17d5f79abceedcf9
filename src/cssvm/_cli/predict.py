"""``cssvm predict``: decisions on new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from . import options as of
from .command import command, counting_rows, print_json, say
from .showing import counted, shown

if TYPE_CHECKING:
    from .._tables import PredictedTable


@command("cssvm predict loans.skops new.csv --keep customer --out decisions.csv")
def predict(
    model: of.Model,
    data: of.Data,
    out: of.DecisionFile = "-",
    fn_cost: of.NewCost = None,
    fp_cost: of.NewCost = None,
    keep: of.Keep = None,
    allow_formulas: of.AllowFormulas = False,
    scheduler: of.Scheduler = None,
    as_json: of.Json = False,
    quiet: of.Quiet = False,
) -> None:
    """Decide on the rows of a table, of any size.

    Writes for every row the label, the score and, if the model has probabilities, the probability of the target and
    the expected costs of acting and of leaving the row alone. Columns are read as the model's card says; one that is
    missing is refused, others are not read. With --scheduler the workers of a Dask cluster read DATA, which is Parquet,
    and write the folder of --out, if it is one.
    """
    if as_json and out == "-":
        raise typer.BadParameter("give a file: --json is on the standard output already", param_hint="--out")
    from .._tables import predict_table

    with counting_rows(quiet) as progress:
        found = predict_table(
            *(model, data, out),
            fn_cost=fn_cost,
            fp_cost=fp_cost,
            keep=keep or (),
            allow_formulas=allow_formulas,
            scheduler=scheduler,
            progress=progress,
        )
    if as_json:
        print_json({"out": out, **vars(found)})
    elif not quiet:
        _summarise(found)


def _summarise(found: PredictedTable) -> None:
    cost = "" if found.expected_cost is None else f", expected cost {shown(found.expected_cost)} {found.currency}"
    say(f"{found.n_rows:,} rows, {found.n_targets:,} to act on ({found.n_targets / found.n_rows:.1%}){cost}")
    if found.n_free:
        say(f"not acted on, as both of their costs are 0: {found.n_free:,} rows")
    if gaps := counted(found.gaps):
        say(f"gaps filled: {gaps}")
    if new_words := counted(found.new_words):
        say(f"words not seen in training: {new_words}")
    if found.not_read:
        say(f"columns not read: {', '.join(found.not_read)}")
