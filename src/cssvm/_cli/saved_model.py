"""``cssvm info | predict | evaluate | report``: a model file, alone or with a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .._runtime.format import aligned_table, format_counts, format_interval, format_number
from . import options as of
from .command import command, counting_rows, print_json, print_text, printable_cells, say

if TYPE_CHECKING:
    from ..deploy import Column, ModelCard

MISSING = "(missing)"  # the empty string among categories
NOT_IN_JSON = ("evaluation", "target")
IN_JSON_ONLY = ("cost per row", "act on nobody", "act on everybody", "TP-0.9 area loss", "TN-0.9 area loss")


@command("cssvm info loans.skops")
def info(model: of.Model, as_json: of.Json = False) -> None:
    """Show the card of a model file, without loading the model."""
    from ..deploy import load_card

    card = load_card(model)
    if as_json:
        typer.echo(card.to_json())
        return
    versions = ", ".join(f"{name} {version}" for name, version in card.versions.items())
    print_facts([*card_facts(card), ("trained", card.trained), ("versions", versions)])
    if card.measures:
        rows = [
            (name, format_number(each["value"]), format_interval(each["low"], each["high"]))
            for name, each in card.measures.items()
        ]
        typer.echo()
        typer.echo(aligned_table(printable_cells(rows), ("", "", "interval"), "<>"))
    if card.columns:
        typer.echo()
        print_facts([_column_facts(column) for column in card.columns], ("column", "kind", "categories"))


def print_facts(rows: list[tuple[str, ...]], head: tuple[str, ...] = ()) -> None:
    """Print names and facts about them in 80 columns."""
    typer.echo(aligned_table(printable_cells(rows), head, width=80))


def _column_facts(column: Column, at_most: int = 12) -> tuple[str, str, str]:
    categories = [category or MISSING for category in column.categories or []]
    more = f" and {len(categories) - at_most:,} more" if len(categories) > at_most else ""
    return column.name, column.kind, ", ".join(categories[:at_most]) + more


def card_facts(card: ModelCard) -> list[tuple[str, ...]]:
    """Names and values of the main facts of a card."""
    found, gap = card.parameters, card.certificate.get("gap")
    n_numeric = sum(column.kind == "number" for column in card.columns)
    chosen = [f"{name} {format_number(found[name])}" for name in ("C", "gamma") if isinstance(found.get(name), float)]
    chosen += [f"{name} {found[name]}" for name in ("kernel", "decision") if found.get(name) is not None]
    column = f" in column {card.target!r}" if card.target else ""
    currency = f", in {card.currency}" if card.currency else ""
    facts: list[tuple[str, ...]] = [
        ("positive class", f"{card.pos_label!r} of {card.classes!r}{column}"),
        ("costs", f"{_cost(card, 'fn_cost')} if missed, {_cost(card, 'fp_cost')} for a false alarm{currency}"),
        ("columns", f"{n_numeric} numeric, {len(card.columns) - n_numeric} categorical"),
        ("model", ", ".join([str(found.get("estimator", "")), *chosen])),
    ]
    if card.n_rows and card.n_positives is not None:
        share = f"{card.n_positives:,} positive ({card.n_positives / card.n_rows:.1%})"
        facts.insert(0, ("rows", f"{card.n_rows:,}, {share}"))
    if gap is not None:
        facts.append(("certificate", f"{card.certificate.get('status')}, duality gap {gap:.1g}"))
    return [*facts, *(("note", note) for note in card.notes)]


def _cost(card: ModelCard, name: str) -> str:
    """A cost of the card; a model that takes costs and has no number was given one for each row."""
    cost = getattr(card, name)
    if cost is None:
        return "a cost for each row" if name in card.parameters else "unknown"
    return str(cost)


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
