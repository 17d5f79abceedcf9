"""``cssvm info``: the card of a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from .._runtime.format import aligned_table, format_interval, format_number
from . import options as of
from .command import command, printable_cells

if TYPE_CHECKING:
    from ..deploy import Column, ModelCard

MISSING = "(missing)"  # the empty string among categories


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
