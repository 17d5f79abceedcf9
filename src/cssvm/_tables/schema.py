"""Which columns of a table a model reads, and as what: decided once, from the training table, and kept in its card.

    CSV        number if every entry but gaps is one and none begins with a needless zero (01234 is a code);
               category otherwise
    typed      number for numbers; category for strings, booleans and categoricals of pandas; dates and lists are
               refused
    mixed      text of which at least nine tenths are numbers, but not all: category if it has at most 50 different
               entries, with a note; refused otherwise, since a slip is more likely, and so are numbers with commas

Left out, with a note: a column without any entry, and a category in which more than half of the rows have a string of
their own, and more than 50 (an identifier or free text), unless it is asked for. Kept, with a note: a category that
looks like a date, one of more than 50 strings, a whole number that is another one on each of more than 50 rows, and a
column with the same entry on every row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.types import Mask, is_number
from ..deploy import Column
from ..deploy._card import CATEGORY, NUMBER
from .chunk import EXACT, LEADING_ZERO, MISSING_VALUES, Chunk, TableError, format_names, is_whole, to_integers

MOSTLY = 0.9
SHARE_OF_OWN_WORDS, FEW_WORDS = 0.5, 50
DATE = r"^([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4})([ T].*)?$"
ENTRIES_SHOWN = 5


@dataclass(frozen=True)
class Schema:
    """The columns a model reads, why others are left out, by name, and what is odd about those that are read."""

    columns: list[Column]
    left_out: dict[str, str]
    notes: list[str] = field(default_factory=list)


def infer_schema(table: Chunk, *, without: Sequence[str], category: Sequence[str]) -> Schema:
    """The columns to learn from: all but `without`; those of `category` are categories whatever they hold."""
    table.require([*category, *(name for name in without)])
    if table.sparse is not None:
        return Schema([Column(str(k + 1), NUMBER, "float64") for k in range(table.sparse.shape[1])], {})
    columns, left_out, notes = [], {}, []
    for name in table.names:
        if name in without:
            continue
        kind, note = (CATEGORY, "") if name in category else _kind_and_note(table, name)
        found = _column(table, name, kind, asked=name in category)
        if isinstance(found, Column):
            columns.append(found)
            notes += [note] if note else []
            notes += [] if name in category else _notes_on_categories(found, len(table))
            notes += _notes_on_entries(table, found)
        else:
            left_out[name] = found
    if not columns:
        reasons = "".join(f"; {name!r} was left out: {reason}" for name, reason in left_out.items())
        raise TableError(f"{table.source} has no column to learn from beside {format_names(without)}{reasons}.")
    return Schema(columns, left_out, notes)


def _notes_on_categories(column: Column, n_rows: int) -> list[str]:
    """What to consider about a category with many strings, or with dates."""
    words = [word for word in column.categories or [] if word]
    drop = f"drop it with --drop {quote(column.name)}"
    if len(words) > 2 and np.mean([re.match(DATE, word) is not None for word in words]) >= MOSTLY:
        return [f"column {column.name!r} looks like a date: {len(words):,} categories; {drop}, or give days as numbers"]
    if len(words) > FEW_WORDS:
        return [
            f"column {column.name!r} has {len(words):,} categories in {n_rows:,} rows; if it is an identifier, {drop}"
        ]
    return []


def _notes_on_entries(table: Chunk, column: Column) -> list[str]:
    """What to consider about a column with one entry on all rows, or with another whole number on each."""
    drop = f"drop it with --drop {quote(column.name)}"
    values = np.asarray(column.categories) if column.kind == CATEGORY else table.numbers(column.name)
    n_values, n_rows = len(np.unique(values)), len(table)
    if n_values == 1 < n_rows:
        return [f"column {column.name!r} has the same entry on every row, from which nothing is learned; {drop}"]
    if column.kind == NUMBER and n_values == n_rows > FEW_WORDS and is_whole(values).all():
        return [f"column {column.name!r} has another whole number on every row; if it is an identifier, {drop}"]
    return []


def _column(table: Chunk, name: str, kind: str, *, asked: bool) -> Column | str:
    """The column as it is to be read, or why it is left out."""
    if kind == NUMBER:
        values = table.numbers(name)
        return "it has no entries" if np.isnan(values).all() else Column(name, NUMBER, _dtype(table, name, kind))
    words = np.unique(table.strings(name))
    if words.tolist() == [""]:
        return "it has no entries"
    if not asked and len(words) > max(FEW_WORDS, SHARE_OF_OWN_WORDS * len(table)):
        return f"{len(words):,} different words in {len(table):,} rows"
    return Column(name, CATEGORY, _dtype(table, name, kind), words.tolist())


def infer_kind(table: Chunk, name: str) -> str:
    """Whether a column holds numbers or categories."""
    return _kind_and_note(table, name)[0]


def _kind_and_note(table: Chunk, name: str) -> tuple[str, str]:
    """Whether a column holds numbers or categories, and a note if it holds both."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not table.is_text(name):
        return CATEGORY if pa.types.is_boolean(table.rows.schema.field(name).type) else NUMBER, ""
    entries = table.entries(name)
    known = np.asarray(pc.invert(pc.is_in(entries, value_set=pa.array(MISSING_VALUES, entries.type))))
    if not known.any():
        return CATEGORY if table.typed else NUMBER, ""
    numeric = Chunk.is_number_text(entries)
    share = numeric[known].mean()
    if pc.any(pc.match_substring_regex(entries, LEADING_ZERO)).as_py():
        return CATEGORY, ""
    if share == 1.0:
        return CATEGORY if table.typed else NUMBER, ""
    if Chunk.is_number_text(pc.replace_substring(entries, ",", "."))[known].mean() >= MOSTLY > share:
        raise TableError(
            f"column {name!r} of {table.source} holds numbers with commas, such as "
            f"{_shown(table, entries, known & ~numeric, 1)}. Write them with a decimal point and nothing between "
            f"thousands, or make the column a category (--category {quote(name)})."
        )
    if share < MOSTLY:
        return CATEGORY, ""
    wrong = known & ~numeric
    what = f"{wrong.sum():,} of {known.sum():,} entries are not numbers: {_shown(table, entries, wrong, ENTRIES_SHOWN)}"
    if len(pc.unique(entries.filter(pa.array(known)))) > FEW_WORDS:
        raise TableError(
            f"column {name!r} of {table.source} holds numbers, but {what}. Correct them, leave them empty, drop the "
            f"column (--drop {quote(name)}), or make it a category (--category {quote(name)})."
        )
    return CATEGORY, f"column {name!r} is read as a category: {what}"


def _shown(table: Chunk, entries: Any, rows: Mask, at_most: int) -> str:
    """The first of these rows' (n,) entries that differ, with where they are."""
    values = [entries[int(row)].as_py() for row in np.flatnonzero(rows)[:1000]]
    first = {value: k for k, value in reversed(list(enumerate(values)))}
    chosen = sorted(first.items(), key=lambda each: each[1])
    places = np.flatnonzero(rows)
    shown = ", ".join(f"{value!r} in {table.where(places[k : k + 1])}" for value, k in chosen[:at_most])
    return shown + (" and others" if len(chosen) > at_most else "")


def _dtype(table: Chunk, name: str, kind: str) -> str:
    """The type that a column had in the training table, as NumPy or pandas call it."""
    if table.is_text(name):
        return "float64" if kind == NUMBER else "str"
    of: Any = table.rows.schema.field(name).type
    return str(np.dtype(of.to_pandas_dtype()))


@dataclass
class InputIssues:
    """Values that training has not seen, counted by column: missing ones, and unseen categories."""

    missing: Counter[str] = field(default_factory=Counter)
    unseen_categories: Counter[str] = field(default_factory=Counter)


def read_features(rows: Chunk, columns: Sequence[Column], issues: InputIssues | None = None) -> Any:
    """The features of these rows: a data frame, or the CSR matrix of LIBSVM text.

    A column that is missing is refused, others than `columns` are not read, and `issues` counts the rest.
    """
    import pandas as pd

    names = [column.name for column in columns]
    if rows.sparse is not None:
        return _as_wide(rows, names)
    rows.require(names, " Give the columns that the model was trained on.")
    issues = InputIssues() if issues is None else issues
    read: dict[str, Any] = {}
    for column in columns:
        if column.kind == NUMBER:
            read[column.name] = rows.numbers(column.name)
            issues.missing[column.name] += int(np.isnan(read[column.name]).sum())
        else:
            read[column.name] = rows.strings(column.name)
            if column.categories is not None:
                new = pd.Index(column.categories).get_indexer(read[column.name]) < 0
                gaps = new & (read[column.name] == "")
                issues.unseen_categories[column.name] += int((new & ~gaps).sum())
                issues.missing[column.name] += int(gaps.sum())
    return pd.DataFrame(read, columns=names)


def _as_wide(rows: Chunk, names: list[str]) -> Any:
    """Sparse features as many as the model has; indices beyond are not read."""
    if names != [str(k + 1) for k in range(len(names))]:
        raise TableError(
            f"{rows.source} is LIBSVM text, whose features have numbers as names; the model reads the columns "
            f"{format_names(names)}."
        )
    features = rows.sparse.copy()
    features.resize(len(rows), len(names))
    return features


def read_labels(rows: Chunk, name: str, *, numeric: bool) -> tuple[NDArray[Any], Mask]:
    """The labels (n_rows,) of a column, whole numbers as integers, and which rows have one."""
    if not numeric:
        words = rows.strings(name)
        return words, words != ""
    numbers = rows.numbers(name)
    known = ~np.isnan(numbers)
    return to_integers(np.where(known, numbers, 0.0)), known


def labels_are_numbers(rows: Chunk, name: str) -> bool:
    """Whether the labels of a training table are numbers."""
    if infer_kind(rows, name) != NUMBER:
        return False
    return not rows.is_text(name) or not (np.abs(rows.numbers(name)) > EXACT).any()


def known_labels(rows: Chunk, name: str, classes: NDArray[Any]) -> tuple[NDArray[Any], Mask]:
    """The labels (n_rows,) of a column, each one of these classes, and which rows have one."""
    labels = classes.tolist()
    found, known = read_labels(rows, name, numeric=all(is_number(label) for label in labels))
    place = {label if is_number(label) else str(label): k for k, label in enumerate(labels)}
    index = np.array([place.get(label, -1) for label in found.tolist()], dtype=np.intp)
    strange = np.flatnonzero(known & (index < 0))
    if len(strange):
        raise TableError(
            f"column {name!r} of {rows.source} holds {found[strange[0]]!r} in {rows.where(strange)}; the labels of the "
            f"model are {format_names(labels)}."
        )
    return classes[index], known


def label_meant(given: Any, labels: Sequence[Any], column: str) -> Any:
    """The one of these labels that a text or a label stands for; blanks around a text do not count."""
    given = given.strip() if isinstance(given, str) else given
    for label in labels:
        if given == label or str(given) == str(label) or (is_number(label) and _as_number(given) == label):
            return label
    raise TableError(
        f"the label {given!r} does not occur in the column {column!r}; its labels are {format_names(list(labels))}."
    )


def _as_number(given: Any) -> float | None:
    try:
        return float(given)
    except (TypeError, ValueError):
        return None
