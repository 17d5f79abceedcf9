"""What the fields of a card must hold, so that whoever reads a card need not ask again.

A file can be altered and sealed anew, by a slip as well as by intent: its card is not believed before it is checked.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Field(NamedTuple):
    """What a field holds, in words, and whether a value is that."""

    what: str
    holds: Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _or_none(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or holds(value)


def _all_text(values: Any) -> bool:
    return isinstance(values, list) and all(map(_is_text, values))


def _is_label(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)


def _are_classes(values: Any) -> bool:
    return isinstance(values, list) and len(values) in (0, 2) and all(map(_is_label, values))


def _are_versions(value: Any) -> bool:
    return isinstance(value, dict) and _all_text(list(value.values()))


def _is_certificate(value: Any) -> bool:
    known = {"primal": _is_number, "dual": _is_number, "gap": _is_number, "status": _is_text}
    return isinstance(value, dict) and all(_or_none(holds)(value.get(name)) for name, holds in known.items())


def _are_measures(value: Any) -> bool:
    ends = ("value", "low", "high")
    return isinstance(value, dict) and all(
        isinstance(each, dict) and each.keys() >= {*ends} and all(_or_none(_is_number)(each[end]) for end in ends)
        for each in value.values()
    )


TEXT, TEXT_OR_NONE = Field("text", _is_text), Field("text or null", _or_none(_is_text))
COUNT = Field("a number of rows or null", _or_none(_is_count))
COST = Field("a number, text or null", _or_none(lambda value: _is_text(value) or _is_number(value)))
WORDS = Field("a list of words", _all_text)

OF_CARD: Mapping[str, Field] = {
    "task": TEXT,
    "target": TEXT_OR_NONE,
    "classes": Field("a list of two labels", _are_classes),
    "pos_label": Field("a label or null", _or_none(_is_label)),
    "fn_cost": COST,
    "fp_cost": COST,
    "currency": TEXT_OR_NONE,
    "columns": Field("a list of columns", lambda value: isinstance(value, list)),
    "n_rows": COUNT,
    "n_targets": COUNT,
    "trained": TEXT,
    "versions": Field("texts by name", _are_versions),
    "certificate": Field("primal, dual, gap and status by name", _is_certificate),
    "parameters": Field("values by name", lambda value: isinstance(value, dict)),
    "measures": Field("by name a value, a low and a high end, numbers or null", _are_measures),
    "notes": WORDS,
}
OF_COLUMN: Mapping[str, Field] = {
    "name": TEXT,
    "kind": TEXT,
    "dtype": TEXT,
    "categories": Field("a list of words or null", _or_none(_all_text)),
}


def check_fields(content: Any, known: Mapping[str, Field], whose: str) -> None:
    """Raise ValueError unless `content` has no other fields than the known ones, and each holds what it must."""
    if not isinstance(content, dict):
        raise ValueError(f"{whose} must be values by name; got {reprlib.repr(content)}")
    unknown = sorted(content.keys() - known.keys())
    if unknown:
        raise ValueError(f"unknown fields {unknown}")
    for name, value in content.items():
        if not known[name].holds(value):
            raise ValueError(f"{name} of {whose} must be {known[name].what}; got {reprlib.repr(value)}")


def check_card(content: Any) -> None:
    """Raise ValueError unless this is the content of a card."""
    check_fields(content, OF_CARD, "the card")
    for number, column in enumerate(content.get("columns", []), start=1):
        check_fields(column, OF_COLUMN, f"column {number}")
    label, classes = content.get("pos_label"), content.get("classes", [])
    if label is not None and label not in classes:
        raise ValueError(f"pos_label of the card must be one of its classes {classes!r}; got {reprlib.repr(label)}")
