"""What errors on the rows of a table cost: a number, a column, or a multiple of a column (``0.6*amount``).

One rule for all verbs: a cost is at least 0 on every row, or missing where it does not count. It counts where a wrong
decision would cost it, and on every row that a model decides on by its costs, as labels are not known then.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.types import Mask, Vector, is_number
from .chunk import Chunk, TableError, did_you_mean, format_names

DECIDED_BY = "and decisions are made by the costs of each row"
MAY_BE_EMPTY = "or leave them empty where neither a decision nor an error on the row would cost them"
MULTIPLE = re.compile(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*\*\s*(.+?)\s*")


@dataclass(frozen=True)
class CostSpec:
    """factor * column, or the factor alone where the column is None; `name` is the cost's, for messages."""

    name: str
    factor: float
    column: str | None = None

    @classmethod
    def parse(cls, name: str, given: Any, columns: Sequence[str]) -> CostSpec:
        """A number, or text that is one, that names one of these columns, or that is ``number*column``."""
        text = str(given)
        number = float(given) if is_number(given) else _number(text)
        if number is not None:
            if isinstance(given, str) and text in columns:
                raise TableError(
                    f"{name} {text} is a number and also a column of the table. Write 1*{text} for the column or "
                    f"+{text} for the number, or rename the column."
                )
            if not 0.0 <= number < math.inf:
                raise TableError(f"{name} must be a finite number of at least 0; got {text}.")
            return cls(name, number)
        if text in columns:
            return cls(name, 1.0, text)
        found = MULTIPLE.fullmatch(text)
        if found and found[2] in columns and (number := _number(found[1])) is not None:
            return cls(name, number, found[2])
        raise TableError(
            f"{name} must be a number, a column of the table, or number*column; got {text!r}, and the columns are "
            f"{format_names(columns)}.{did_you_mean(column_in(text), columns)}"
        )

    def values(self, rows: Chunk) -> Any:
        """The cost of these rows: a number, or (n_rows,) float64 with nan for gaps."""
        if self.column is None:
            return self.factor
        return self.factor * read_non_negative(rows, self.column, self.name, MAY_BE_EMPTY)

    def check_known(self, rows: Chunk, cost: Any, counts: Mask, why: str) -> None:
        """Refuse gaps in a cost of these rows, (n_rows,), where it counts; `why` it does."""
        if self.column is not None:
            check_not_missing(rows, self.column, cost, counts, self.name, why)

    @property
    def text(self) -> float | str:
        """As `parse` would take it."""
        if self.column is None:
            return self.factor
        factor = repr(self.factor).removesuffix(".0")  # all digits: later evaluations read it again
        return self.column if self.factor == 1.0 and _number(self.column) is None else f"{factor}*{self.column}"


def column_in(text: str) -> str:
    """The column in a text that is a column or ``number*column``."""
    found = MULTIPLE.fullmatch(text)
    return found[2] if found else text


def check_required_costs(prices: Mapping[str, CostSpec], rows: Chunk, costs: Mapping[str, Any], positive: Mask) -> None:
    """Refuse gaps of a miss on rows of the target, (n_rows,) bool, and of a false alarm on the others."""
    for name, counts, whose in (("fn_cost", positive, "of the target"), ("fp_cost", ~positive, "of the other class")):
        prices[name].check_known(rows, costs[name], counts, f"where it counts, on rows {whose}")


def read_weight_column(rows: Chunk, column: str) -> Vector:
    """The weights of these rows, (n_rows,)."""
    weights = read_non_negative(rows, column, "weight", "or leave out the rows")
    check_not_missing(rows, column, weights, np.ones(len(rows), dtype=bool), "weight", "and every row must have one")
    return weights


def read_non_negative(rows: Chunk, column: str, what: str, otherwise: str) -> Vector:
    """A column of numbers of at least 0, (n_rows,) with nan for gaps; `what` they are, and what else can be done."""
    values = rows.numbers(column)
    wrong = np.flatnonzero(values < 0)
    if len(wrong):
        raise TableError(
            f"column {column!r} of {rows.source}, the {what}, must not be negative; got {values[wrong[0]]:g} in "
            f"{rows.where(wrong)}. Correct the entries, {otherwise}."
        )
    return values


def check_not_missing(rows: Chunk, column: str, values: Vector, counts: Mask, what: str, why: str) -> None:
    """Refuse gaps among values (n_rows,) where they count."""
    gaps = np.flatnonzero(np.isnan(values) & counts)
    if len(gaps):
        raise TableError(
            f"column {column!r} of {rows.source}, the {what}, is empty in {rows.where(gaps)}, {why}. Fill in the "
            "entries, or leave out the rows."
        )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
