"""Numbers, intervals, counts and tables as text; `_report/script.js` has the rules for numbers too."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence

DIGITS = 4
LEAST_PLAIN = 1e-6  # what is smaller is written with an exponent
MINUS, DASH = "\N{MINUS SIGN}", "\N{EN DASH}"


def format_number(value: float | None, digits: int = DIGITS, *, typographic: bool = False) -> str:
    """A number with so many significant digits and all whole ones, without zeros at the end; a dash for None and nan.

    typographic : with a minus sign and an en dash, for pages, in place of hyphens.
    """
    if value is None or math.isnan(value):
        return DASH if typographic else "-"
    if math.isinf(value):
        text = "\N{INFINITY}" if typographic else "inf"
        text = text if value > 0 else f"-{text}"
    elif value and abs(value) < LEAST_PLAIN:
        text = f"{value:.{digits - 1}e}"
    else:
        text = f"{value:,.{_decimals(value, digits)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        text = "0" if text == "-0" else text
    return text.replace("-", MINUS) if typographic else text


def _decimals(value: float, digits: int) -> int:
    """Digits after the point that make so many significant ones."""
    return max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0


def format_interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """``[low, high]``, by default with three digits, so that a table of them fits into 80 columns."""
    return f"[{format_number(low, digits)}, {format_number(high, digits)}]"


def format_estimate(value: float, low: float, high: float, digits: int = DIGITS) -> str:
    """``value [low, high]``, the ends with one digit less."""
    return f"{format_number(value, digits)} {format_interval(low, high, digits - 1)}"


def format_count(value: float) -> str:
    """A number of samples: whole where it is whole or large, else (a sum of weights) with one decimal."""
    whole = abs(value - round(value)) < 1e-9 * max(1.0, abs(value)) or abs(value) >= 1000
    return f"{value:,.0f}" if whole else f"{value:,.1f}"


def format_percent(share: float) -> str:
    """A share in per cent with three digits."""
    return f"{format_number(100.0 * share, 3)}\N{NO-BREAK SPACE}%".replace(",", "")


def format_counts(counts: Mapping[str, int]) -> str:
    """Names with their counts, without those that have none."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)


def printable(text: str) -> str:
    """The text without characters that a terminal would obey, such as those of a model file from elsewhere."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def aligned_table(
    rows: Iterable[Sequence[str]], head: Sequence[str] = (), align: str = "<", *, width: int | None = None
) -> str:
    """A table of texts in columns that are two blanks apart; line breaks in a heading make several lines of it.

    align : "<" or ">" for each column, the last one also for those that follow; width : the last column is wrapped
    so that lines have at most so many characters, if that leaves a third of them for it.
    """
    lines = [list(row) for row in rows]
    headings = [text.split("\n") for text in head]
    depth = max((len(heading) for heading in headings), default=0)
    above = [[heading[k] if k < len(heading) else "" for heading in headings] for k in range(depth)]
    lines = above + lines
    if not lines:
        return ""
    aligns = [align[min(k, len(align) - 1)] for k in range(len(lines[0]))]
    widths = [max(len(line[k]) for line in lines) for k in range(len(aligns))]
    if width is not None:
        widths[-1] = min(widths[-1], max(width - sum(widths[:-1]) - 2 * (len(widths) - 1), width // 3))
        lines = [part for line in lines for part in _wrapped(line, widths[-1])]
    return "\n".join(
        "  ".join(f"{cell:{how}{size}}" for cell, how, size in zip(line, aligns, widths, strict=True)).rstrip()
        for line in lines
    )


def _wrapped(line: list[str], width: int) -> Iterable[list[str]]:
    """The line, and lines below it for what does not fit into the last column."""
    first, *others = textwrap.wrap(line[-1], width) or [""]
    yield [*line[:-1], first]
    for text in others:
        yield [*[""] * (len(line) - 1), text]
