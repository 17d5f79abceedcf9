"""Readers of KDD Cup 1998, donations to a charity: whom to send a letter that costs 68 cents.

A letter to somebody who gives `amount` earns amount - 0.68, one to anybody else loses 0.68, no letter earns nothing. So
in costs of errors, relative to the right decision,

    fn_cost = amount - 0.68 for a donor (0 where the amount is smaller),    fp_cost = 0.68.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._core.types import Vector
from ._files import ChecksumError, import_optional, open_unpacked
from ._registry import Subset

LETTER = 0.68

# Of the learning file, all donors and part of the others are in `donor_raw_data`.
N_OTHERS, N_OTHERS_SAMPLED = 90_569, 14_529


def read_donors(paths: dict[str, Path], subset: Subset | None, *, categorical: str) -> dict[str, Any]:
    """19,372 rows with amounts, and the weights that restore the share of donors."""
    pandas = import_optional("pandas", "Reading kdd98")
    codes = categorical.split()
    with open_unpacked(paths["donors"]) as stream:
        table = pandas.read_csv(
            stream, dtype=dict.fromkeys((*codes, "CONTROL_NUMBER"), "str"), keep_default_na=False, na_values=[""]
        )
    target, amounts = table.pop("TARGET_B").to_numpy(), table.pop("TARGET_D").fillna(0.0).to_numpy()
    numbers = table.pop("CONTROL_NUMBER").to_numpy().astype(np.int64)
    weight = N_OTHERS / N_OTHERS_SAMPLED
    fields = _fields(_with_types(table, codes), target, amounts, numbers)
    return fields | {"sample_weight": np.where(target == 1, 1.0, weight)}


def read_categorical(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """Categorical columns of all 95,412 rows of the learning file, with amounts; two files in the same order."""
    pandas = import_optional("pandas", "Reading kdd98")
    with open_unpacked(paths["features"]) as stream:
        table = pandas.read_csv(stream, index_col=0, dtype="str", keep_default_na=False)
    with open_unpacked(paths["amounts"]) as stream:
        answers = pandas.read_csv(stream)
    features = _with_types(table.reset_index(drop=True), list(table.columns))
    return _fields(features, answers["TARGET_B"].to_numpy(), answers["TARGET_D"].to_numpy(), None)


def read_validation(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """The answers to the validation file, without features."""
    answers = _read_answers(paths["answers"])
    return _fields(None, answers["TARGET_B"], answers["TARGET_D"], answers["CONTROLN"])


def read_full(paths: dict[str, Path], subset: Subset | None, *, categorical: str) -> dict[str, Any]:
    """The learning file, then the validation file with its answers, matched by control number."""
    pandas = import_optional("pandas", "Reading kdd98")
    codes = categorical.split()
    tables = {part: _read_cup(paths[part], codes, pandas) for part in ("train", "test") if part in paths}
    if "test" in tables:
        answers = _read_answers(paths["answers"])
        place = {number: row for row, number in enumerate(answers["CONTROLN"].tolist())}
        rows = [place.get(number, -1) for number in tables["test"]["CONTROLN"].tolist()]
        if -1 in rows or len(set(rows)) != len(place):
            raise ChecksumError(f"{paths['answers']} does not answer the rows of {paths['test']}, one for one")
        tables["test"]["TARGET_B"], tables["test"]["TARGET_D"] = answers["TARGET_B"][rows], answers["TARGET_D"][rows]
    is_number = pandas.api.types.is_numeric_dtype
    nominal = {name for table in tables.values() for name in table.columns if not is_number(table[name])}
    for table in tables.values():  # categorical also where one file happens to have only numbers
        for name in nominal.intersection(table.columns):
            if is_number(table[name]):
                table[name] = table[name].map(lambda value: "" if np.isnan(value) else f"{value:g}")
    table = pandas.concat(tables.values(), ignore_index=True)
    target, amounts = table.pop("TARGET_B").to_numpy(), table.pop("TARGET_D").to_numpy()
    numbers = table.pop("CONTROLN").to_numpy()
    return _fields(_with_types(table, list(nominal)), target, amounts, numbers) | {
        "split": np.repeat(list(tables), [len(part) for part in tables.values()])
    }


def _read_cup(path: Path, codes: list[str], pandas: Any) -> Any:
    """cup98LRN or cup98VAL: blanks and lone points are missing, ZIP codes may end in a dash."""
    with open_unpacked(path) as stream:
        table = pandas.read_csv(
            stream,
            dtype=dict.fromkeys(codes, "str"),
            keep_default_na=False,
            na_values=["", " ", "."],
            skipinitialspace=True,
            low_memory=False,
        )
    table["ZIP"] = table["ZIP"].str.rstrip("-")
    return table


def _with_types(table: Any, categorical: list[str]) -> Any:
    """Categories, of which a blank is one, and float64 numbers, missing ones as NaN."""
    for name in table.columns:
        if name in categorical:
            table[name] = table[name].fillna("").str.strip().astype("category")
        else:
            table[name] = table[name].astype(np.float64)
    return table.copy()  # one block: filled column by column it is many


def _read_answers(path: Path) -> dict[str, np.ndarray]:
    """valtargt.txt: control numbers, whether they gave, and how much."""
    with open_unpacked(path) as stream:
        head = stream.readline().decode("ascii").strip().split(",")
        values = np.loadtxt(stream, delimiter=",", ndmin=2)
    found = dict(zip(head, values.T, strict=True))
    return {
        "CONTROLN": found["CONTROLN"].astype(np.int64),
        "TARGET_B": found["TARGET_B"].astype(np.int64),
        "TARGET_D": found["TARGET_D"],
    }


def _fields(features: Any, target: np.ndarray, amounts: Vector, numbers: np.ndarray | None) -> dict[str, Any]:
    """The fields that all variants have."""
    amounts = amounts.astype(np.float64)
    return {
        "data": features,
        "target": target.astype(np.int64),
        "fn_cost": np.where(target == 1, np.maximum(amounts - LETTER, 0.0), 0.0),
        "fp_cost": LETTER,
        "frame": features,
        "feature_names": [] if features is None else list(features.columns),
        "amounts": amounts,
        "control_number": numbers,
    }
