"""Some rows of a table and how their entries are read: the only definition of numbers and missing values.

    number     digits with sign, decimal point and exponent, such as 12, -0.5 or 1e-3; it must be finite
    missing    an empty entry, or a null of a typed column; among numbers also `MISSING_VALUES`
    string     anything else; whitespace around an entry is ignored

Entries of typed columns (Parquet, data frames) become the strings that a text file would hold, each by itself: an
integer up to 2**53 has no decimal point (1e10 is 10000000000), booleans are True and False.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._core.types import Mask, RowNumbers, Vector

if TYPE_CHECKING:
    import pyarrow as pa

NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
LEADING_ZERO = "^[+-]?0[0-9]"  # 01234 is a code, not the number 1234
EXACT = 2.0**53  # float64 holds every integer up to this
MISSING_VALUES = ("", "NA", "N/A", "n/a", "na", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "none", "?")
CONVERT = "Leave it out, or convert it to numbers first, such as days since a date."


class TableError(ValueError):
    """A table that cannot be used, or not as requested; the message says what to change."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of a table.

    source : name of the table in messages; typed : False if all columns are strings; first : number of the first row,
    from 1; sparse : the features of LIBSVM text; row_numbers : (n_rows,), if some rows in between were left out.
    """

    source: str
    rows: pa.Table
    typed: bool = True
    first: int = 1
    sparse: Any = None
    row_numbers: RowNumbers | None = None

    def __len__(self) -> int:
        return self.rows.num_rows

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self.rows.column_names

    def require(self, names: Sequence[str], fix: str = "") -> None:
        """Raise unless all these columns exist; `fix` ends the message."""
        missing = [name for name in names if name not in self.names]
        if missing:
            raise TableError(
                f"{self.source} has no column {format_names(missing)}; its columns are {format_names(self.names)}."
                f"{did_you_mean(missing[0], self.names)}{fix}"
            )

    def is_text(self, name: str) -> bool:
        """Whether a column holds strings."""
        import pyarrow as pa

        kind = self.rows.schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        return str(kind) in ("string", "large_string", "string_view", "null")  # old versions have no is_string_view

    def stripped(self, name: str) -> pa.ChunkedArray:
        """A column of strings without whitespace around them, "" for a null."""
        import pyarrow as pa
        import pyarrow.compute as pc

        return pc.fill_null(pc.utf8_trim_whitespace(self.rows[name].cast(pa.large_string())), "")

    def numbers(self, name: str) -> Vector:
        """A column as (n_rows,) float64, nan for missing values."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self.rows[name]
        if self.is_text(name):
            column = self.stripped(name)
            column = pc.if_else(pc.is_in(column, value_set=pa.array(MISSING_VALUES, column.type)), None, column)
        elif not is_numeric(column.type):
            raise TableError(f"column {name!r} of {self.source} holds {column.type}, not numbers. {CONVERT}")
        try:
            values = np.asarray(column.cast(pa.float64(), safe=False), dtype=np.float64)
        except pa.ArrowInvalid:
            known = (
                float(entry) if entry and valid else np.nan
                for entry, valid in zip(column.to_pylist(), is_number_text(column), strict=True)
            )
            values = np.fromiter(known, np.float64, len(column))
        wrong = np.flatnonzero(np.isinf(values) | (np.isnan(values) & ~np.asarray(column.is_null(nan_is_null=True))))
        if len(wrong):
            raise TableError(
                f"column {name!r} of {self.source} must hold finite numbers; got {column[int(wrong[0])].as_py()!r} in "
                f"{self.locate(wrong)}. Correct the entry, or leave it empty."
            )
        return values

    def strings(self, name: str) -> NDArray[np.object_]:
        """A column as (n_rows,) strings, "" for missing values."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self.rows[name]
        if self.is_text(name):
            return self.stripped(name).to_numpy(zero_copy_only=False)
        if pa.types.is_boolean(column.type):
            column = pc.if_else(column, "True", "False")
        elif pa.types.is_floating(column.type):
            values = np.asarray(column.cast(pa.float64()), dtype=np.float64)
            integers = np.flatnonzero(is_integer(values))
            strings = np.asarray(column.cast(pa.string()).to_pandas(), dtype=object)
            strings[integers] = [str(int(value)) for value in values[integers]]
            strings[np.isnan(values)] = ""
            return strings
        elif not is_numeric(column.type):
            raise TableError(f"column {name!r} of {self.source} holds {column.type}, not strings. {CONVERT}")
        return np.asarray(pc.fill_null(column.cast(pa.string()), ""), dtype=object)

    def locate(self, rows: RowNumbers) -> str:
        """Describe rows of the chunk: the number of the first in the table, and how many more there are."""
        row = self.first + int(rows[0]) if self.row_numbers is None else int(self.row_numbers[rows[0]])
        return f"row {row:,}" + (f" and {len(rows) - 1:,} more" if len(rows) > 1 else "")

    def take(self, kept: Mask) -> Chunk:
        """The rows of a mask, which keep their numbers."""
        import pyarrow as pa

        if kept.all():
            return self
        chosen = np.flatnonzero(kept)
        return replace(
            self,
            rows=self.rows.filter(pa.array(kept)),
            sparse=None if self.sparse is None else self.sparse[chosen],
            row_numbers=self.first + chosen if self.row_numbers is None else self.row_numbers[chosen],
        )


def iter_chunks(rows: pa.Table, source: str, n_rows: int, *, typed: bool) -> Iterator[Chunk]:
    """Yield the rows of a table, at most `n_rows` at a time."""
    for start in range(0, rows.num_rows, n_rows):
        yield Chunk(source, rows.slice(start, n_rows), typed)


def is_number_text(entries: pa.ChunkedArray) -> Mask:
    """Which strings are numbers, or null."""
    import pyarrow.compute as pc

    return np.asarray(pc.fill_null(pc.match_substring_regex(entries, NUMBER), True))


def is_integer(values: Vector) -> Mask:
    """Which numbers (n,) are integers that float64 holds exactly."""
    return (np.abs(values) <= EXACT) & (values == np.floor(values))


def to_integers(values: Vector) -> NDArray[Any]:
    """Numbers (n,) as int64 if all are integers that float64 holds exactly, else unchanged."""
    return values.astype(np.int64) if is_integer(values).all() else values


def is_numeric(kind: Any) -> bool:
    """Whether a type of Arrow is one of numbers or booleans."""
    import pyarrow as pa

    of = pa.types
    return of.is_integer(kind) or of.is_floating(kind) or of.is_boolean(kind) or of.is_decimal(kind) or of.is_null(kind)


def format_names(names: Sequence[Any], at_most: int = 8) -> str:
    """Names for a message, the first few of many."""
    shown = ", ".join(repr(name) for name in names[:at_most])
    return shown + (f" and {len(names) - at_most:,} more" if len(names) > at_most else "")


def did_you_mean(given: str, names: Sequence[str]) -> str:
    """A suggestion that ends a message, if one of the names is close to the one given."""
    lower = {name.lower(): name for name in names}
    close = get_close_matches(given.lower(), lower, 1)
    return f" Did you mean {lower[close[0]]!r}?" if close else ""


def check_names(names: Sequence[str], source: str) -> None:
    """Raise for a table without columns, or with two of the same name."""
    repeated = [column for column, times in Counter(names).items() if times > 1]
    if repeated:
        raise TableError(f"{source} has more than one column {format_names(repeated)}. Rename all but one of them.")
    if not names:
        raise TableError(f"{source} has no columns.")
