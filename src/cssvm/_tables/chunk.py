"""Some rows of a table, and how their entries are read: the one place that knows what a number and a gap look like.

    blanks around an entry do not count
    a number   digits with sign, decimal point and exponent, as 12, -0.5 or 1e-3; it must be finite
    a gap      an empty entry, or a null of a typed column; among numbers also NA, N/A, NaN, null, None and ?
    a word     anything else; the empty word is the gap

Text files hold entries as they were written. Typed columns (Parquet, data frames) are turned into the same, each value
by itself: a whole number up to 2**53 has no decimal point (1e10 is 10000000000), booleans are True and False.
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
EXACT = 2.0**53  # up to which float64 holds every whole number
MISSING_VALUES = ("", "NA", "N/A", "n/a", "na", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "none", "?")


class TableError(ValueError):
    """A table that cannot be used, or not as asked; the message says what to change."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of a table.

    source : what the table is called in messages; rows : the named columns; typed : whether these have types, or are
    text throughout; first : the number of the first row, from 1; sparse : (n_rows, n_features) CSR, the features of
    LIBSVM text, which are no named columns; places : (n_rows,) the numbers of the rows in the table, if some between
    them were left out.
    """

    source: str
    rows: pa.Table
    typed: bool = True
    first: int = 1
    sparse: Any = None
    places: RowNumbers | None = None

    def __len__(self) -> int:
        return self.rows.num_rows

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self.rows.column_names

    def require(self, names: Sequence[str], fix: str = "") -> None:
        """Raise unless all these columns are there; `fix` ends the message."""
        missing = [name for name in names if name not in self.names]
        if missing:
            raise TableError(missing_columns_message(self.source, missing, self.names) + fix)

    def is_text(self, name: str) -> bool:
        """Whether a column holds words, or what a text file holds."""
        import pyarrow as pa  # one of its older versions knows no views

        kind = self.rows.schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        return str(kind) in ("string", "large_string", "string_view", "null")

    def entries(self, name: str) -> pa.ChunkedArray:
        """A column of text without the blanks around its entries, "" for a null."""
        import pyarrow as pa
        import pyarrow.compute as pc

        return pc.fill_null(pc.utf8_trim_whitespace(self.rows[name].cast(pa.large_string())), "")

    def numbers(self, name: str) -> Vector:
        """A column as (n_rows,) float64, nan for gaps."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self.rows[name]
        if self.is_text(name):
            column = self.entries(name)
            column = pc.if_else(pc.is_in(column, value_set=pa.array(MISSING_VALUES, column.type)), None, column)
        elif not is_numeric(column.type):
            raise TableError(f"column {name!r} of {self.source} holds {column.type}, not numbers. {NO_NUMBERS}")
        try:
            values = np.asarray(column.cast(pa.float64(), safe=False), dtype=np.float64)
        except pa.ArrowInvalid:
            spelled = self.is_number_text(column)
            known = (
                float(entry) if entry and is_one else np.nan
                for entry, is_one in zip(column.to_pylist(), spelled, strict=True)
            )
            values = np.fromiter(known, np.float64, len(column))
        wrong = np.flatnonzero(np.isinf(values) | (np.isnan(values) & ~np.asarray(column.is_null(nan_is_null=True))))
        if len(wrong):
            raise TableError(
                f"column {name!r} of {self.source} must hold finite numbers; got {column[int(wrong[0])].as_py()!r} in "
                f"{self.where(wrong)}. Correct the entry, or leave it empty."
            )
        return values

    @staticmethod
    def is_number_text(entries: pa.ChunkedArray) -> Mask:
        """Which entries of a text column are numbers, or null."""
        import pyarrow.compute as pc

        return np.asarray(pc.fill_null(pc.match_substring_regex(entries, NUMBER), True))

    def strings(self, name: str) -> NDArray[np.object_]:
        """A column as (n_rows,) words, "" for gaps."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self.rows[name]
        if self.is_text(name):
            return self.entries(name).to_numpy(zero_copy_only=False)
        if pa.types.is_boolean(column.type):
            column = pc.if_else(column, "True", "False")
        elif pa.types.is_floating(column.type):
            values = np.asarray(column.cast(pa.float64()), dtype=np.float64)
            whole = np.flatnonzero(is_whole(values))
            words = np.asarray(column.cast(pa.string()).to_pandas(), dtype=object)
            words[whole] = [str(int(value)) for value in values[whole]]
            words[np.isnan(values)] = ""
            return words
        elif not is_numeric(column.type):
            raise TableError(f"column {name!r} of {self.source} holds {column.type}, not words. {NO_NUMBERS}")
        return np.asarray(pc.fill_null(column.cast(pa.string()), ""), dtype=object)

    def where(self, rows: RowNumbers) -> str:
        """The first of these rows of the chunk, by its number in the table, and how many they are."""
        row = self.first + int(rows[0]) if self.places is None else int(self.places[rows[0]])
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
            places=self.first + chosen if self.places is None else self.places[chosen],
        )


def iter_chunks(rows: pa.Table, source: str, n_rows: int, *, typed: bool) -> Iterator[Chunk]:
    """The rows of a table, at most `n_rows` at a time."""
    for start in range(0, rows.num_rows, n_rows):
        yield Chunk(source, rows.slice(start, n_rows), typed)


def to_integers(values: Vector) -> NDArray[Any]:
    """Numbers (n,) as int64 if all of them are whole and float64 holds each exactly, else as they are."""
    return values.astype(np.int64) if is_whole(values).all() else values


def is_whole(values: Vector) -> Mask:
    """Which numbers (n,) are whole and held exactly by float64."""
    return (np.abs(values) <= EXACT) & (values == np.floor(values))


NO_NUMBERS = "Leave it out, or turn it into numbers first, such as days since a date."


def is_numeric(kind: Any) -> bool:
    """Whether a type of Arrow is of numbers or booleans."""
    import pyarrow as pa

    of = pa.types
    return of.is_integer(kind) or of.is_floating(kind) or of.is_boolean(kind) or of.is_decimal(kind) or of.is_null(kind)


def format_names(names: Sequence[Any], at_most: int = 8) -> str:
    """Names for a message, the first few of many."""
    shown = ", ".join(repr(name) for name in names[:at_most])
    return shown + (f" and {len(names) - at_most:,} more" if len(names) > at_most else "")


def missing_columns_message(source: str, missing: Sequence[str], names: Sequence[str]) -> str:
    """The message that a table lacks columns, with what the first of them may have been meant to be."""
    return f"{source} has no column {format_names(missing)}; its columns are {format_names(names)}." + did_you_mean(
        missing[0], names
    )


def did_you_mean(given: str, names: Sequence[str]) -> str:
    """A question that ends a message, if one of the names is close to what was given."""
    lower = {name.lower(): name for name in names}
    close = get_close_matches(given.lower(), lower, 1)
    return f" Did you mean {lower[close[0]]!r}?" if close else ""


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse a table without columns, or with two of one name."""
    repeated = [column for column, times in Counter(names).items() if times > 1]
    if repeated:
        raise TableError(
            f"{source} has more than one column {format_names(repeated)}. Give every column a name of its own."
        )
    if not names:
        raise TableError(f"{source} has no columns.")
