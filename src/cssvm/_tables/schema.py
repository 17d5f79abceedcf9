"""The schema of a table: which columns a model reads, and as what; decided on the training table, kept in the card.

docs/cli.md states the rules. Few strings among numbers are more likely errors than categories, so many different ones
are rejected; dates, identifiers, free text and constant columns get a note.
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

from .._core.types import Mask
from .._core.validation import is_number
from ..deploy import Column
from ..deploy._card import CATEGORY, NUMBER
from .chunk import (
    EXACT,
    LEADING_ZERO,
    MISSING_VALUES,
    Chunk,
    TableError,
    format_names,
    is_integer,
    is_number_text,
    to_integers,
)

MOSTLY = 0.9
SHARE_OF_OWN, FEW_CATEGORIES = 0.5, 50
DATE = r"^([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4})([ T].*)?$"
ENTRIES_SHOWN = 5


@dataclass(frozen=True)
class Schema:
    """The columns that a model reads, why others are left out, by name, and notes on columns that are read."""

    columns: list[Column]
    left_out: dict[str, str]
    notes: list[str] = field(default_factory=list)


def infer_schema(table: Chunk, *, without: Sequence[str], category: Sequence[str]) -> Schema:
    """The schema of all columns but `without`; those of `category` are categories whatever they hold."""
    table.require([*category, *without])
    if table.sparse is not None:
        return Schema([Column(str(k + 1), NUMBER, "float64") for k in range(table.sparse.shape[1])], {})
    columns, left_out, notes = [], {}, []
    for name in table.names:
        if name in without:
            continue
        requested = name in category
        kind, note = (CATEGORY, "") if requested else _kind_and_note(table, name)
        column = _column(table, name, kind, requested=requested)
        if isinstance(column, str):
            left_out[name] = column
            continue
        columns.append(column)
        notes += [note] if note else []
        notes += _notes(table, column, requested=requested)
    if not columns:
        reasons = "".join(f"; {name!r} was left out: {reason}" for name, reason in left_out.items())
        raise TableError(f"{table.source} has no column to use as a feature but {format_names(without)}{reasons}.")
    return Schema(columns, left_out, notes)


def _notes(table: Chunk, column: Column, *, requested: bool) -> list[str]:
    """Notes on a column of dates, many categories, one entry, or a different integer on each row."""
    what, drop = f"column {column.name!r}", f"drop it with --drop {quote(column.name)}"
    entries = [] if requested else [entry for entry in column.categories or [] if entry]
    values = np.asarray(column.categories) if column.kind == CATEGORY else table.numbers(column.name)
    n_values, n_rows = len(np.unique(values)), len(table)
    if len(entries) > 2 and np.mean([re.match(DATE, entry) is not None for entry in entries]) >= MOSTLY:
        return [f"{what} looks like a date: {len(entries):,} categories; {drop}, or give days as numbers"]
    if len(entries) > FEW_CATEGORIES:
        return [f"{what} has {len(entries):,} categories in {n_rows:,} rows; if it is an identifier, {drop}"]
    if n_values == 1 < n_rows:
        return [f"{what} has the same entry on every row, from which nothing is learned; {drop}"]
    if column.kind == NUMBER and n_values == n_rows > FEW_CATEGORIES and is_integer(values).all():
        return [f"{what} has a different integer on every row; if it is an identifier, {drop}"]
    return []


def _column(table: Chunk, name: str, kind: str, *, requested: bool) -> Column | str:
    """The column as it is to be read, or why it is left out."""
    categories = None
    if kind == NUMBER:
        empty = bool(np.isnan(table.numbers(name)).all())
    else:
        categories = np.unique(table.strings(name)).tolist()
        empty = categories == [""]
    if empty:
        return "it has no entries"
    if categories and not requested and len(categories) > max(FEW_CATEGORIES, SHARE_OF_OWN * len(table)):
        return f"{len(categories):,} different strings in {len(table):,} rows"
    dtype: Any = "float64" if kind == NUMBER else "str"
    if not table.is_text(name):
        dtype = np.dtype(table.rows.schema.field(name).type.to_pandas_dtype())
    return Column(name, kind, str(dtype), categories)


def _kind_and_note(table: Chunk, name: str) -> tuple[str, str]:
    """Whether a column holds numbers or categories, and a note if it holds both."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not table.is_text(name):
        return CATEGORY if pa.types.is_boolean(table.rows.schema.field(name).type) else NUMBER, ""
    entries = table.stripped(name)
    known = np.asarray(pc.invert(pc.is_in(entries, value_set=pa.array(MISSING_VALUES, entries.type))))
    if not known.any():
        return CATEGORY if table.typed else NUMBER, ""
    numeric = is_number_text(entries)
    share = numeric[known].mean()
    if pc.any(pc.match_substring_regex(entries, LEADING_ZERO)).as_py():
        return CATEGORY, ""
    if share == 1.0:
        return CATEGORY if table.typed else NUMBER, ""
    what, wrong = f"column {name!r} of {table.source}", known & ~numeric
    if is_number_text(pc.replace_substring(entries, ",", "."))[known].mean() >= MOSTLY > share:
        raise TableError(
            f"{what} holds numbers with commas, such as {_format_entries(table, entries, wrong, 1)}. Write them with a "
            f"decimal point and nothing between thousands, or make the column a category (--category {quote(name)})."
        )
    if share < MOSTLY:
        return CATEGORY, ""
    shown = _format_entries(table, entries, wrong, ENTRIES_SHOWN)
    not_numbers = f"{wrong.sum():,} of {known.sum():,} entries are not numbers: {shown}"
    if len(pc.unique(entries.filter(pa.array(known)))) > FEW_CATEGORIES:
        raise TableError(
            f"{what} holds numbers, but {not_numbers}. Correct them, leave them empty, drop the column "
            f"(--drop {quote(name)}), or make it a category (--category {quote(name)})."
        )
    return CATEGORY, f"column {name!r} is read as a category: {not_numbers}"


def _format_entries(table: Chunk, entries: Any, rows: Mask, at_most: int) -> str:
    """The first different entries (n,) of these rows, and where they are."""
    first: dict[str, int] = {}
    for row in np.flatnonzero(rows)[:1000]:
        first.setdefault(entries[int(row)].as_py(), row)
    shown = [f"{entry!r} in {table.locate(np.array([row]))}" for entry, row in [*first.items()][:at_most]]
    return ", ".join(shown) + (" and others" if len(first) > at_most else "")


@dataclass
class InputIssues:
    """Values that training has not seen, counted by column: missing ones, and unseen categories."""

    missing: Counter[str] = field(default_factory=Counter)
    unseen_categories: Counter[str] = field(default_factory=Counter)


def read_features(rows: Chunk, columns: Sequence[Column], issues: InputIssues | None = None) -> Any:
    """The features of these rows, a data frame or the CSR matrix of LIBSVM text; counts `issues`."""
    import pandas as pd

    names = [column.name for column in columns]
    if rows.sparse is not None:
        if names != [str(k + 1) for k in range(len(names))]:
            raise TableError(
                f"{rows.source} is LIBSVM text, whose features have numbers; the model reads the columns "
                f"{format_names(names)}."
            )
        features = rows.sparse.copy()
        features.resize(len(rows), len(names))  # features that the model does not have are not read
        return features
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
                unseen = pd.Index(column.categories).get_indexer(read[column.name]) < 0
                missing = unseen & (read[column.name] == "")
                issues.unseen_categories[column.name] += int((unseen & ~missing).sum())
                issues.missing[column.name] += int(missing.sum())
    return pd.DataFrame(read, columns=names)


def read_labels(rows: Chunk, name: str, *, numeric: bool) -> tuple[NDArray[Any], Mask]:
    """The labels (n_rows,) of a column, integers or strings, and which rows have one."""
    if not numeric:
        strings = rows.strings(name)
        return strings, strings != ""
    numbers = rows.numbers(name)
    known = ~np.isnan(numbers)
    return to_integers(np.where(known, numbers, 0.0)), known


def labels_are_numbers(rows: Chunk, name: str) -> bool:
    """Whether the labels of a training table are numbers; strings of integers too large for float64 stay strings."""
    if _kind_and_note(rows, name)[0] != NUMBER:
        return False
    return not rows.is_text(name) or not (np.abs(rows.numbers(name)) > EXACT).any()


def known_labels(rows: Chunk, name: str, classes: NDArray[Any]) -> tuple[NDArray[Any], Mask]:
    """The labels (n_rows,) of a column, each one of these classes, and which rows have one."""
    labels = classes.tolist()
    found, known = read_labels(rows, name, numeric=all(is_number(label) for label in labels))
    place = {label if is_number(label) else str(label): k for k, label in enumerate(labels)}
    index = np.array([place.get(label, -1) for label in found.tolist()], dtype=np.intp)
    unknown = np.flatnonzero(known & (index < 0))
    if len(unknown):
        raise TableError(
            f"column {name!r} of {rows.source} holds {found[unknown[0]]!r} in {rows.locate(unknown)}; the labels of "
            f"the model are {format_names(labels)}."
        )
    return classes[index], known


def match_label(given: Any, labels: Sequence[Any], column: str) -> Any:
    """The one of these labels that a string or a label denotes; whitespace around it is ignored."""
    given = given.strip() if isinstance(given, str) else given
    for label in labels:
        if given == label or str(given) == str(label) or (is_number(label) and _equals_number(given, label)):
            return label
    raise TableError(
        f"the label {given!r} does not occur in the column {column!r}; its labels are {format_names(list(labels))}."
    )


def _equals_number(given: Any, label: Any) -> bool:
    try:
        return float(given) == label
    except (TypeError, ValueError):
        return False
