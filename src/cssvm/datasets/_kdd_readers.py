"""Readers of the KDD Cups of 1998 and 1999, whose costs have to be derived.

1998, donations to a charity: whom to send a letter that costs 68 cents. A letter to somebody who gives `amount` earns
amount - 0.68, one to anybody else loses 0.68, no letter earns nothing. So in costs of errors, relative to the right
decision,

    fn_cost = amount - 0.68 for a donor (0 where the amount is smaller),    fp_cost = 0.68.

1999, intrusion detection: the cup scored answers by a matrix C, rows true and columns predicted (Elkan 1999). A
detector that predicts only "normal" or "attack" does not name a class of attack; so both errors are averaged over the
classes of attack with their shares s_k among the attacks of the training file:

    an attack passed as normal        sum_k s_k C[k, normal]  = fp_cost, as normal is the paper's positive class
    normal traffic called an attack   sum_k s_k C[normal, k]  = fn_cost

and right answers cost nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.types import Vector
from ._files import ChecksumError, import_optional, open_unpacked
from ._registry import Subset

LETTER = 0.68

# Of the learning file, all donors and part of the others are in `donor_raw_data`.
N_OTHERS, N_OTHERS_SAMPLED = 90_569, 14_529

CLASSES = ("normal", "probe", "dos", "u2r", "r2l")

# Rows: the true class, columns: the predicted one, in the order of CLASSES.
COST_MATRIX = ((0, 1, 2, 2, 2), (1, 0, 2, 2, 2), (2, 1, 0, 2, 2), (3, 2, 2, 0, 2), (4, 2, 2, 2, 0))

# Rows of each class in the training file, kddcup.data_10_percent.
TRAINING_ROWS = (97_278, 4_107, 391_458, 52, 1_126)


def read_kdd98_donors(paths: dict[str, Path], subset: Subset | None, *, categorical: str) -> dict[str, Any]:
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
    fields = _kdd98_fields(_with_types(table, codes), target, amounts, numbers)
    return fields | {"sample_weight": np.where(target == 1, 1.0, weight)}


def read_kdd98_categorical(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """Categorical columns of all 95,412 rows of the learning file, with amounts; two files in the same order."""
    pandas = import_optional("pandas", "Reading kdd98")
    with open_unpacked(paths["features"]) as stream:
        table = pandas.read_csv(stream, index_col=0, dtype="str", keep_default_na=False)
    with open_unpacked(paths["amounts"]) as stream:
        answers = pandas.read_csv(stream)
    features = _with_types(table.reset_index(drop=True), list(table.columns))
    return _kdd98_fields(features, answers["TARGET_B"].to_numpy(), answers["TARGET_D"].to_numpy(), None)


def read_kdd98_validation(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """The answers to the validation file, without features."""
    answers = _read_answers(paths["answers"])
    return _kdd98_fields(None, answers["TARGET_B"], answers["TARGET_D"], answers["CONTROLN"])


def read_kdd98_full(paths: dict[str, Path], subset: Subset | None, *, categorical: str) -> dict[str, Any]:
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
    return _kdd98_fields(_with_types(table, list(nominal)), target, amounts, numbers) | {
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


def _kdd98_fields(features: Any, target: np.ndarray, amounts: Vector, numbers: np.ndarray | None) -> dict[str, Any]:
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


def collapsed_costs(matrix: Any = COST_MATRIX, rows: Any = TRAINING_ROWS) -> tuple[float, float]:
    """``fn_cost, fp_cost`` of class 0 against the rest: the formula above.

    matrix : (n_classes, n_classes), true by predicted; rows : (n_classes,), how often each class occurs.
    """
    C, counts = np.asarray(matrix, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    shares = counts[1:] / counts[1:].sum()
    return float(shares @ C[0, 1:]), float(shares @ C[1:, 0])


def read_kdd99(
    paths: dict[str, Path],
    subset: Subset | None,
    *,
    columns: str,
    categories: dict[str, str],
    attacks: dict[str, str],
) -> dict[str, Any]:
    """Rows of the training file, then of the test file.

    columns : names, the label last; categories : those of each categorical column; attacks : the labels of each class.
    """
    pandas = import_optional("pandas", "Reading kdd99")
    vocabularies = {name: text.split() for name, text in categories.items()}
    parts = {part: _read_part(path, columns.split(), vocabularies, pandas) for part, path in paths.items()}
    for name in (*vocabularies, "label"):
        found = {category for part in parts.values() for category in part[name].cat.categories}
        known = vocabularies.get(name, [])
        for part in parts.values():
            part[name] = part[name].cat.set_categories([*known, *sorted(found - set(known))])
    table = pandas.concat(parts.values(), ignore_index=True)
    label = table.pop("label").cat
    names = np.array([name.rstrip(".") for name in label.categories])
    category_of = {"normal": 0}
    category_of |= {name: CLASSES.index(kind) for kind, text in attacks.items() for name in text.split()}
    if unknown := sorted(set(names) - set(category_of)):
        raise ChecksumError(f"kdd99 has the labels {', '.join(unknown)}, which are not the cup's")
    data, feature_names = _encoded(table, vocabularies)
    return {
        "data": data,
        "target": (names == "normal").astype(np.int64)[label.codes],
        "feature_names": feature_names,
        "frame": table,
        "split": np.repeat(list(parts), [len(part) for part in parts.values()]),
        "labels": names[label.codes],
        "category": np.array([category_of[name] for name in names])[label.codes],
        "categories": list(CLASSES),
        "cost_matrix": np.array(COST_MATRIX, dtype=np.float64),
    }


def _read_part(path: Path, columns: list[str], vocabularies: dict[str, list[str]], pandas: Any) -> Any:
    """One file, (n_rows, 42): strings are categories, rates float64, counts int32."""
    types = {name: "float64" if name.endswith("_rate") else "int32" for name in columns}
    types |= dict.fromkeys((*vocabularies, "label"), "category")
    with open_unpacked(path) as stream:
        return pandas.read_csv(stream, header=None, names=columns, dtype=types, keep_default_na=False)


def _encoded(table: Any, vocabularies: dict[str, list[str]]) -> tuple[sp.csr_array, list[str]]:
    """Numbers and an indicator for each category, CSR float64, with the names of the columns."""
    names: list[str] = []
    blocks: list[tuple[np.ndarray, Vector]] = []
    for name in table.columns:
        if name in vocabularies:
            codes = table[name].cat.codes.to_numpy()
            for code, category in enumerate(vocabularies[name]):
                rows = np.flatnonzero(codes == code)
                names.append(f"{name}={category}")
                blocks.append((rows, np.ones(len(rows))))
        else:
            values = table[name].to_numpy()
            rows = np.flatnonzero(values)
            names.append(name)
            blocks.append((rows, values[rows].astype(np.float64)))
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows, _ in blocks])])
    indices = np.concatenate([rows for rows, _ in blocks]).astype(np.int32)
    values = np.concatenate([value for _, value in blocks])
    return sp.csc_array((values, indices, starts), shape=(len(table), len(names))).tocsr(), names
