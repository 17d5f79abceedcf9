"""Which columns of a table a model reads, and as what: decided once, from the training table, and kept in its card.

    text       number if every entry but gaps is one and none begins with a needless zero (01234 is a code);
               category otherwise; a column of at least nine tenths numbers is refused, since a slip is more likely,
               and so is one of numbers with commas
    typed      number for numbers; category for words and truth values; dates and lists are refused

Left out, and said so: a column without any entry, and a category in which more than half of the rows have a word of
their own, and more than 50 (an identifier or free text), unless it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..deploy import Column
from ..deploy.card import CATEGORY, NUMBER
from .chunk import GAPS, LEADING_ZERO, Chunk, TableError, listed

MOSTLY = 0.9
SHARE_OF_OWN_WORDS, FEW_WORDS = 0.5, 50


@dataclass(frozen=True)
class Chosen:
    """The columns a model reads, and why others are left out, by name."""

    columns: list[Column]
    left_out: dict[str, str]


def choose_columns(table: Chunk, *, without: Sequence[str], category: Sequence[str]) -> Chosen:
    """The columns to learn from: all but `without`; those of `category` are categories whatever they hold."""
    table.require([*category, *(name for name in without)])
    if table.sparse is not None:
        return Chosen([Column(str(k + 1), NUMBER, "float64") for k in range(table.sparse.shape[1])], {})
    columns, left_out = [], {}
    for name in table.names:
        if name in without:
            continue
        found = _column(table, name, asked=name in category)
        if isinstance(found, Column):
            columns.append(found)
        else:
            left_out[name] = found
    if not columns:
        reasons = "".join(f"; {name!r} was left out: {reason}" for name, reason in left_out.items())
        raise TableError(f"{table.source} has no column to learn from beside {listed(without)}{reasons}.")
    return Chosen(columns, left_out)


def _column(table: Chunk, name: str, *, asked: bool) -> Column | str:
    """The column as it is to be read, or why it is left out."""
    kind = CATEGORY if asked else kind_of(table, name)
    if kind == NUMBER:
        values = table.numbers(name)
        return "it has no entries" if np.isnan(values).all() else Column(name, NUMBER, _dtype(table, name, kind))
    words = np.unique(table.words(name))
    if words.tolist() == [""]:
        return "it has no entries"
    if not asked and len(words) > max(FEW_WORDS, SHARE_OF_OWN_WORDS * len(table)):
        return f"{len(words):,} different words in {len(table):,} rows"
    return Column(name, CATEGORY, _dtype(table, name, kind), words.tolist())


def kind_of(table: Chunk, name: str) -> str:
    """Whether a column holds numbers or categories."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if table.typed:
        return CATEGORY if table.is_text(name) or pa.types.is_boolean(table.rows.schema.field(name).type) else NUMBER
    entries = table.entries(name)
    known = entries.filter(pc.invert(pc.is_in(entries, value_set=pa.array(GAPS, entries.type))))
    if len(known) == 0:
        return NUMBER
    if pc.any(pc.match_substring_regex(known, LEADING_ZERO)).as_py():
        return CATEGORY
    numeric = Chunk.spells_number(known)
    if numeric.all():
        return NUMBER
    if Chunk.spells_number(pc.replace_substring(known, ",", ".")).mean() >= MOSTLY > numeric.mean():
        wrong = known[int(np.argmin(numeric))].as_py()
        raise TableError(
            f"column {name!r} of {table.source} holds numbers with commas, such as {wrong!r}. Write them with a "
            "decimal point and nothing between thousands, or say that the column is a category."
        )
    if numeric.mean() >= MOSTLY:
        wrong = known[int(np.argmin(numeric))].as_py()
        rows = np.flatnonzero(np.asarray(pc.equal(entries, wrong)))
        raise TableError(
            f"column {name!r} of {table.source} holds numbers but for {(~numeric).sum():,} of {len(known):,} entries, "
            f"such as {wrong!r} in {table.where(rows[:1])}. Correct them, leave them empty, or say that the column "
            "is a category."
        )
    return CATEGORY


def _dtype(table: Chunk, name: str, kind: str) -> str:
    """The type that a column had in the training table, as NumPy or pandas call it."""
    if table.is_text(name):
        return "float64" if kind == NUMBER else "str"
    of: Any = table.rows.schema.field(name).type
    return str(np.dtype(of.to_pandas_dtype()))
