"""``cssvm info``: the card of a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from . import options as of
from .command import command
from .showing import ends, facts_of, print_facts, print_table, shown

if TYPE_CHECKING:
    from ..deploy import Column

GAP = "(gap)"  # the empty word


@command("cssvm info loans.skops")
def info(model: of.Model, as_json: of.Json = False) -> None:
    """Show what a model file holds, without loading the model."""
    from ..deploy import load_card

    card = load_card(model)
    if as_json:
        typer.echo(card.to_json())
        return
    versions = ", ".join(f"{name} {version}" for name, version in card.versions.items())
    print_facts([*facts_of(card), ("trained", card.trained), ("versions", versions)])
    if card.measures:
        typer.echo()
        lines = [(name, shown(each["value"]), ends(each["low"], each["high"])) for name, each in card.measures.items()]
        print_table(("", "", "interval"), lines)
    if card.columns:
        typer.echo()
        print_facts([_described(column) for column in card.columns], ("column", "kind", "words"))


def _described(column: Column, at_most: int = 12) -> tuple[str, str, str]:
    words = [word or GAP for word in column.categories or []]
    more = f" and {len(words) - at_most:,} more" if len(words) > at_most else ""
    return column.name, column.kind, ", ".join(words[:at_most]) + more
