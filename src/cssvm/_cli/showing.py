"""How results look: numbers, intervals and tables in 80 columns, on the standard output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from .command import printable

if TYPE_CHECKING:
    from .._evaluation import Evaluation
    from ..deploy import ModelCard
    from ..metrics._policies import Interval

CELL = 1000  # characters


def shown(value: float | None, digits: int = 4) -> str:
    """A number in four digits, or in all that it has in front of the point."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def ends(low: float | None, high: float | None) -> str:
    """An interval, in three digits, so that a table of them fits into 80 columns."""
    return f"[{shown(low, 3)}, {shown(high, 3)}]"


def counted(counts: dict[str, int]) -> str:
    """Columns with their counts, without those that have none."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)


def print_table(head: tuple[str, ...], lines: Sequence[tuple[str, ...]]) -> None:
    """A table on the standard output: names on the left, numbers on the right of their columns."""
    _print_aligned(head, lines, "right")


def print_facts(lines: Sequence[tuple[str, ...]], head: tuple[str, ...] = ()) -> None:
    """Names and what there is to say of them, on the standard output."""
    _print_aligned(head, lines, "left")


def _print_aligned(head: tuple[str, ...], lines: Sequence[tuple[str, ...]], justify: Any) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=bool(head))
    for k, name in enumerate(head or [""] * len(lines[0])):
        table.add_column(Text(name), justify="left" if k == 0 else justify, header_style="dim", overflow="fold")
    for line in lines:
        table.add_row(*(Text(_cell(cell)) for cell in line))
    console = Console(highlight=False)
    with console.capture() as printed:
        console.print(table)
    typer.echo("\n".join(line.rstrip() for line in printed.get().splitlines()))


def _cell(text: str) -> str:
    """A cell that is harmless and not too long: a card may come from a stranger."""
    return printable(text if len(text) <= CELL else f"{text[:CELL]}...")


def facts_of(card: ModelCard) -> list[tuple[str, str]]:
    """What a card says in short, as names and values."""
    found, gap = card.parameters, card.certificate.get("gap")
    numbers = sum(column.kind == "number" for column in card.columns)
    chosen = [f"{name} {shown(found[name])}" for name in ("C", "gamma") if isinstance(found.get(name), float)]
    chosen += [f"{name} {found[name]}" for name in ("kernel", "decision") if found.get(name) is not None]
    facts = [
        ("target", f"{card.pos_label!r} of {card.classes!r}" + (f" in column {card.target!r}" if card.target else "")),
        (
            "costs",
            f"{_cost(card, 'fn_cost')} for a miss, {_cost(card, 'fp_cost')} for a false alarm" + _in(card.currency),
        ),
        ("columns", f"{numbers} of numbers, {len(card.columns) - numbers} of categories"),
        ("model", ", ".join([str(found.get("estimator", "")), *chosen])),
    ]
    if card.n_rows and card.n_targets is not None:
        share = f"{card.n_targets:,} of the target ({card.n_targets / card.n_rows:.1%})"
        facts.insert(0, ("rows", f"{card.n_rows:,}, {share}"))
    if gap is not None:
        facts.append(("certificate", f"{card.certificate.get('status')}, duality gap {gap:.1g}"))
    return [*facts, *(("note", note) for note in card.notes)]


def _cost(card: ModelCard, name: str) -> str:
    """A cost as the card has it; a model that takes costs and has no number was given one for each row."""
    cost = getattr(card, name)
    if cost is None:
        return "that of each row" if name in card.parameters else "not known"
    return str(cost)


def _in(currency: str | None) -> str:
    return f", in {currency}" if currency else ""


def _interval(found: Interval) -> str:
    return f"{shown(found.value)} {ends(found.low, found.high)}"


def print_costs(found: Evaluation) -> None:
    """What each policy costs, and how much more than the model."""
    unit = f" {found.currency}" if found.currency else ""
    lines = [
        (
            policy.name,
            _interval(policy.cost),
            "" if policy.difference is None else _interval(policy.difference),
            f"{policy.false_negatives:,.0f}",
            f"{policy.false_positives:,.0f}",
        )
        for policy in found.policies
    ]
    print_table(("", f"cost per case{unit}", "more than the model", "missed", "alarms"), lines)
    typer.echo(found.how_decided)
