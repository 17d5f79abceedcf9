"""``cssvm predict``: decisions on new rows."""

from __future__ import annotations

import typer

from .._runtime.format import format_counts, format_number
from . import options as of
from .command import command, counting_rows, print_json, say


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
    """Predict the rows of a table of any size.

    Writes the label, the score and, if the model has probabilities, the probability of the positive class and the
    expected costs of acting on each row and of leaving it alone. Columns are read as in training; missing columns are
    rejected, others are not read. With --scheduler the workers of a Dask cluster read DATA, which must be Parquet, and
    write the folder of --out, if it is one.
    """
    if as_json and out == "-":
        raise typer.BadParameter("give a file: --json uses the standard output", param_hint="--out")
    from .._tables import predict_table

    with counting_rows(quiet) as progress:
        found = predict_table(
            model,
            data,
            out,
            fn_cost=fn_cost,
            fp_cost=fp_cost,
            keep=keep or (),
            allow_formulas=allow_formulas,
            scheduler=scheduler,
            progress=progress,
        )
    if as_json:
        print_json({"out": out, **vars(found)})
    if as_json or quiet:
        return
    cost = ""
    if found.expected_cost is not None:
        cost = f", expected cost {format_number(found.expected_cost)} {found.currency}".rstrip()
    say(f"{found.n_rows:,} rows, {found.n_positives:,} to act on ({found.n_positives / found.n_rows:.1%}){cost}")
    if found.n_free:
        say(f"rows not acted on because both of their costs are 0: {found.n_free:,}")
    if missing := format_counts(found.missing):
        say(f"missing values imputed: {missing}")
    if unseen := format_counts(found.unseen_categories):
        say(f"categories not seen in training: {unseen}")
    if found.not_read:
        say(f"columns not read: {', '.join(found.not_read)}")
