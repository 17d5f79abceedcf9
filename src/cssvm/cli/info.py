"""``cssvm info``: the card of a model file."""

from __future__ import annotations

import json

import typer

from .options import Json, Model
from .speaking import print_table, shown, spoken


@spoken
def info(model: Model, as_json: Json = False) -> None:
    """Show what a model file holds, without loading the model.

    \b
    cssvm info loans.skops
    """
    from ..deploy import load_card

    card = load_card(model)
    if as_json:
        typer.echo(card.to_json())
        return
    content = json.loads(card.to_json())
    columns, measures, notes = (content.pop(name) for name in ("columns", "measures", "notes"))
    lines = [(name.replace("_", " "), _line(value)) for name, value in content.items() if value not in (None, {}, [])]
    lines += [(name, _measure(found)) for name, found in measures.items()]
    lines += [("note", note) for note in notes]
    print_table(("", ""), lines)
    words = [(each["name"], each["kind"], ", ".join(each["categories"] or [])) for each in columns]
    print_table(("column", "kind", "categories"), words)


def _line(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items() if each is not None)
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _measure(found: dict[str, float | None]) -> str:
    value, low, high = (found[name] for name in ("value", "low", "high"))
    return "-" if value is None or low is None or high is None else f"{shown(value)} [{shown(low)}, {shown(high)}]"
