"""Costs of errors on the rows of a table: a number, a column, or a multiple of a column (``0.6*amount``).

A cost is non-negative, and may be missing where it is not used: `fn_cost` is used on positive rows and `fp_cost` on
negative ones, and both on every row for which a model decides by its costs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.types import Mask, Vector
from .._core.validation import is_number
from .chunk import Chunk, TableError, did_you_mean, format_names

DECIDED_BY = "and the model decides by the costs of each row"
MAY_BE_EMPTY = "or leave them empty where neither a decision nor an error uses the cost"
MULTIPLE = re.compile(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*\*\s*(.+?)\s*")


@dataclass(frozen=True)
class CostSpec:
    """factor * column, or the factor alone if the column is None; `name` is fn_cost or fp_cost."""

    name: str
    factor: float
    column: str | None = None

    @classmethod
    def parse(cls, name: str, given: Any, columns: Sequence[str]) -> CostSpec:
        """Parse a number, a string that is one, the name of one of these columns, or ``number*column``."""
        text = str(given)
        number = float(given) if is_number(given) else _to_number(text)
        if number is not None:
            if isinstance(given, str) and text in columns:
                raise TableError(
                    f"{name} {text} is a number and also a column of the table. Write 1*{text} for the column, or "
                    f"+{text} for the number."
                )
            if not 0.0 <= number < math.inf:
                raise TableError(f"{name} must be finite and non-negative; got {text}.")
            return cls(name, number)
        if text in columns:
            return cls(name, 1.0, text)
        found = MULTIPLE.fullmatch(text)
        if found and found[2] in columns and (number := _to_number(found[1])) is not None:
            return cls(name, number, found[2])
        raise TableError(
            f"{name} must be a number, a column of the table, or number*column; got {text!r}, and the columns are "
            f"{format_names(columns)}.{did_you_mean(column_in(text), columns)}"
        )

    def values(self, rows: Chunk) -> Any:
        """The cost of these rows: a number, or (n_rows,) float64 with nan for missing values."""
        if self.column is None:
            return self.factor
        return self.factor * _non_negative(rows, self.column, self.name, MAY_BE_EMPTY)

    def check_known(self, rows: Chunk, cost: Any, used: Mask, why: str) -> None:
        """Raise if the cost of these rows, (n_rows,), is missing where it is used; `why` it is."""
        if self.column is not None:
            _check_not_missing(rows, self.column, cost, used, self.name, why)

    @property
    def text(self) -> float | str:
        """The cost in a form that `parse` takes."""
        if self.column is None:
            return self.factor
        factor = repr(self.factor).removesuffix(".0")  # all digits: later evaluations parse it again
        return self.column if self.factor == 1.0 and _to_number(self.column) is None else f"{factor}*{self.column}"


def column_in(text: str) -> str:
    """The column in a text that is a column or ``number*column``."""
    found = MULTIPLE.fullmatch(text)
    return found[2] if found else text


def check_required_costs(specs: Mapping[str, CostSpec], rows: Chunk, costs: Mapping[str, Any], positive: Mask) -> None:
    """Raise if fn_cost is missing on positive rows, (n_rows,) bool, or fp_cost on negative ones."""
    for name, used, owner in (("fn_cost", positive, "positive"), ("fp_cost", ~positive, "other")):
        specs[name].check_known(rows, costs[name], used, f"where it is used, on rows of the {owner} class")


def read_weight_column(rows: Chunk, column: str) -> Vector:
    """The weights of these rows, (n_rows,)."""
    weights = _non_negative(rows, column, "weight", "or leave out the rows")
    _check_not_missing(rows, column, weights, np.ones(len(rows), dtype=bool), "weight", "and every row must have one")
    return weights


def _non_negative(rows: Chunk, column: str, what: str, otherwise: str) -> Vector:
    values = rows.numbers(column)
    wrong = np.flatnonzero(values < 0)
    if len(wrong):
        raise TableError(
            f"column {column!r} of {rows.source}, the {what}, must not be negative; got {values[wrong[0]]:g} in "
            f"{rows.locate(wrong)}. Correct the entries, {otherwise}."
        )
    return values


def _check_not_missing(rows: Chunk, column: str, values: Vector, used: Mask, what: str, why: str) -> None:
    missing = np.flatnonzero(np.isnan(values) & used)
    if len(missing):
        raise TableError(
            f"column {column!r} of {rows.source}, the {what}, is empty in {rows.locate(missing)}, {why}. Fill in the "
            "entries, or leave out the rows."
        )


def _to_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
