"""What errors on the rows of a table cost: a number, a column, or a multiple of a column (``0.6*amount``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._types import is_number
from .chunk import Chunk, TableError, listed

MULTIPLE = re.compile(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*\*\s*(.+?)\s*")


@dataclass(frozen=True)
class Price:
    """factor * column, or the factor alone where the column is None; `name` is the cost's, for messages."""

    name: str
    factor: float
    column: str | None = None

    @classmethod
    def read(cls, name: str, given: Any, columns: Sequence[str]) -> Price:
        """A number, or text that is one, that names one of these columns, or that is ``number*column``."""
        if is_number(given):
            return cls(name, float(given))
        text = str(given)
        if (number := _number(text)) is not None:
            return cls(name, number)
        if text in columns:
            return cls(name, 1.0, text)
        found = MULTIPLE.fullmatch(text)
        if found and found[2] in columns and (number := _number(found[1])) is not None:
            return cls(name, number, found[2])
        raise TableError(
            f"{name} must be a number, a column of the table, or number*column; got {text!r}, and the columns are "
            f"{listed(columns)}."
        )

    def of(self, rows: Chunk) -> Any:
        """The cost of these rows: a number, or (n_rows,) float64 with nan for gaps."""
        return self.factor if self.column is None else self.factor * rows.numbers(self.column)

    @property
    def written(self) -> float | str:
        """As `read` would take it."""
        if self.column is None:
            return self.factor
        return self.column if self.factor == 1.0 else f"{self.factor:g}*{self.column}"


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
