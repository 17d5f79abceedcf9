"""The labels of a table: numbers where all entries are numbers, else words; and which label a text means.

Text that spells a number too large to be held exactly is a word; such a number of a typed column is refused later on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.types import Mask, is_number
from ..deploy._card import NUMBER
from .chunk import EXACT, Chunk, TableError, listed, whole_numbers
from .kinds import kind_of


def read_labels(rows: Chunk, name: str, *, numeric: bool) -> tuple[NDArray[Any], Mask]:
    """The labels (n_rows,) of a column, whole numbers as integers, and which rows have one."""
    if not numeric:
        words = rows.words(name)
        return words, words != ""
    numbers = rows.numbers(name)
    known = ~np.isnan(numbers)
    return whole_numbers(np.where(known, numbers, 0.0)), known


def labels_are_numbers(rows: Chunk, name: str) -> bool:
    """Whether the labels of a training table are numbers."""
    if kind_of(rows, name) != NUMBER:
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
            f"model are {listed(labels)}."
        )
    return classes[index], known


def label_meant(given: Any, labels: Sequence[Any], column: str) -> Any:
    """The one of these labels that a text or a label stands for; blanks around a text do not count."""
    given = given.strip() if isinstance(given, str) else given
    for label in labels:
        if given == label or str(given) == str(label) or (is_number(label) and _as_number(given) == label):
            return label
    raise TableError(
        f"the target label {given!r} does not occur in the column {column!r}; its labels are {listed(list(labels))}."
    )


def _as_number(given: Any) -> float | None:
    try:
        return float(given)
    except (TypeError, ValueError):
        return None
