"""Readers of tables, LIBSVM files, sparse text, images, spoken letters, and the KDD Cups of 1998 and 1999.

A reader gets verified files by role, the subset, and the options of its data set, and returns fields of the `Bunch`:
``data`` and ``target`` at least. It fits nothing on rows. The costs of the cups are derived:

1998, donations to a charity: a letter to somebody who gives `amount` earns amount - 0.68, one to anybody else loses
0.68, no letter earns nothing. So in costs of errors, relative to the right decision,

    fn_cost = amount - 0.68 for a donor (0 where the amount is smaller),    fp_cost = 0.68.

1999, intrusion detection: the cup scored answers by a matrix C, rows true and columns predicted (Elkan 1999). Both
errors of a detector of "attack" are averaged over the classes of attack with their shares s_k in the training file:

    an attack passed as normal        sum_k s_k C[k, normal]  = fp_cost, as normal is the paper's positive class
    normal traffic called an attack   sum_k s_k C[normal, k]  = fn_cost
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize

from .._core.types import Vector
from ._files import ChecksumError, check_archive, import_optional, open_unpacked
from ._registry import Subset

Paths = dict[str, Path]

MISSING = ("?", ".", "")
N_SIAM_LABELS = 22

# SHA-256 of the sorted rows; a row is the 617 values times 10,000, the letter and whether it is of isolet5, all as
# little-endian int16.
ISOLET_ROWS = "cd6a1ec5b6d7e9b338c48a998b1ed0379409364e49a420e5ca53a132be536513"

LETTER = 0.68

# Of the learning file, all donors and part of the others are in `donor_raw_data`.
N_OTHERS, N_OTHERS_SAMPLED = 90_569, 14_529

CLASSES = ("normal", "probe", "dos", "u2r", "r2l")

# Rows: the true class, columns: the predicted one, in the order of CLASSES.
COST_MATRIX = ((0, 1, 2, 2, 2), (1, 0, 2, 2, 2), (2, 1, 0, 2, 2), (3, 2, 2, 0, 2), (4, 2, 2, 2, 0))


def read_table(
    paths: Paths,
    subset: Subset | None,
    *,
    columns: str,
    label: str,
    positive: str,
    excluded: str = "",
    categories: str = "",
    delimiter: str = ",",
) -> dict[str, Any]:
    """A text table in one file; missing numbers are NaN, rows without a label are left out.

    positive : value of the column `label` for the positive class; categories : if any, those of all features, each of
    which becomes an indicator.
    """
    (path,) = paths.values()
    table = split_cells(path, columns, delimiter)
    labels = table.pop(label)
    known = ~np.isin(labels, MISSING)
    features = {name: cells[known] for name, cells in table.items() if name not in excluded.split()}
    if categories:
        encoded = {
            f"{name}={category}": (cells == category).astype(np.float64)
            for name, cells in features.items()
            for category in categories.split()
        }
        raw: dict[str, Any] = {name: cells.tolist() for name, cells in features.items()}
    else:
        raw = encoded = {name: as_numbers(cells) for name, cells in features.items()}
    return {
        "data": np.ascontiguousarray(np.column_stack(list(encoded.values()))),
        "target": (labels[known] == positive).astype(np.int64),
        "feature_names": list(encoded),
        "frame": _frame(raw),
    }


def split_cells(path: Path, columns: str, delimiter: str) -> dict[str, np.ndarray]:
    """Stripped cells of each column, (n_rows,) str."""
    names = columns.split()
    with open_unpacked(path) as stream:
        lines = stream.read().decode("ascii").splitlines()
    separator = None if delimiter == " " else delimiter
    rows = [[cell.strip() for cell in line.split(separator)] for line in lines if line.strip()]
    widths = {len(row) for row in rows}
    if widths != {len(names)}:
        raise ChecksumError(f"{path} has rows of {sorted(widths)} cells, expected {len(names)}")
    return dict(zip(names, np.array(rows).T, strict=True))


def as_numbers(cells: np.ndarray) -> Vector:
    """Cells as numbers, (n_rows,) float64, missing ones as NaN."""
    return np.where(np.isin(cells, MISSING), "nan", cells).astype(np.float64)


def _frame(columns: dict[str, Any]) -> Any:
    """A pandas DataFrame of the columns; None without pandas."""
    try:
        import pandas as pd
    except ImportError:
        return None
    return pd.DataFrame(columns)


def read_german(
    paths: Paths, subset: Subset | None, *, columns: str, numeric_columns: str, encoded_columns: str
) -> dict[str, Any]:
    """German credit: numbers from one file, the raw columns from the other, whose rows are the same."""
    found = read_table(
        {"numeric": paths["numeric"]}, None, columns=encoded_columns, label="class", positive="2", delimiter=" "
    )
    cells = split_cells(paths["raw"], columns, " ")
    del cells["class"]
    raw = {
        name: as_numbers(values) if name in numeric_columns.split() else values.tolist()
        for name, values in cells.items()
    }
    return found | {"frame": _frame(raw)}


def read_libsvm(paths: Paths, subset: Subset | None, *, n_features: int, feature_names: str = "") -> dict[str, Any]:
    """LIBSVM text as dense rows, the training file before the test file."""
    blocks, labels = [], []
    for path in paths.values():
        with open_unpacked(path) as stream:
            X, y = load_svmlight_file(stream, n_features=n_features, zero_based=False)
        blocks.append(X.toarray())
        labels.append(y)
    return {
        "data": np.vstack(blocks),
        "target": (np.concatenate(labels) > 0).astype(np.int64),
        "feature_names": feature_names.split() or [f"x{k}" for k in range(1, n_features + 1)],
        "split": np.repeat(list(paths), [len(y) for y in labels]),
    }


def read_webspam(paths: Paths, subset: Subset | None) -> dict[str, Any]:
    """Indices run from 0 with an empty column 0, so that column j is LIBSVM's index j."""
    with open_unpacked(paths["pages"]) as stream:
        X, labels = load_svmlight_file(stream, n_features=255, zero_based=True)
    X = sp.csr_array(X[:, 1:])
    X.eliminate_zeros()
    return {
        "data": X,
        "target": (labels == 0).astype(np.int64),
        "feature_names": [f"x{k}" for k in range(1, 255)],
        "label": np.where(labels == 0, -1, 1),
    }


def read_siam(paths: Paths, subset: Subset | None, *, labels: list[int]) -> dict[str, Any]:
    """Reports whose labels, numbered from 0, are exactly these, against the rest; rows of Euclidean length 1."""
    tables = [_sparse_arff(path) for path in paths.values()]
    table = sp.vstack([rows for rows, _ in tables], format="csr")
    names = tables[0][1]
    found = table[:, -N_SIAM_LABELS:].toarray().astype(bool)
    target = (found == np.isin(np.arange(N_SIAM_LABELS), labels)).all(axis=1)
    return {
        "data": normalize(table[:, :-N_SIAM_LABELS]),
        "target": target.astype(np.int64),
        "feature_names": names[:-N_SIAM_LABELS],
        "split": np.repeat(list(paths), [rows.shape[0] for rows, _ in tables]),
        "labels": found,
    }


def _sparse_arff(path: Path) -> tuple[sp.csr_array, list[str]]:
    """CSR rows and attribute names; binary attributes as ``{3 1,17 1}``, the numbers of those that are 1."""
    with open_unpacked(path) as stream:
        head, body = stream.read().decode("ascii").split("@data", 1)
    names = [line.split()[1] for line in head.splitlines() if line.startswith("@attribute")]
    lines = [line.strip().strip("{}") for line in body.splitlines() if line.strip()]
    rows = [[int(cell.split()[0]) for cell in line.split(",") if cell] for line in lines]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    indices = np.concatenate(rows).astype(np.int32)
    return sp.csr_array((np.ones(len(indices)), indices, starts), shape=(len(rows), len(names))), names


def read_covertype(paths: Paths, subset: Subset | None, *, feature_names: str) -> dict[str, Any]:
    """With or without a header line; values are integers of at most four digits, exact in float32."""
    pandas = import_optional("pandas", "Reading covertype")
    with open_unpacked(paths["table"]) as stream:
        first = stream.peek(1)[:1]  # type: ignore[attr-defined]
        table = pandas.read_csv(stream, header=None, skiprows=int(not first.isdigit()), dtype=np.int16).to_numpy()
    return {
        "data": table[:, :-1].astype(np.float32, order="C"),
        "target": (table[:, -1] == 4).astype(np.int64),
        "feature_names": feature_names.split(),
        "cover_type": table[:, -1].astype(np.int64),
    }


def read_mnist(paths: Paths, subset: Subset | None) -> dict[str, Any]:
    """Pixels 0 to 255, exact in float32."""
    parts = [part for part in ("train", "test") if f"{part} images" in paths]
    images = [_idx(paths[f"{part} images"], 3) for part in parts]
    digits = [_idx(paths[f"{part} labels"], 1) for part in parts]
    digit = np.concatenate(digits).astype(np.int64)
    return {
        "data": np.concatenate(images).reshape(len(digit), -1).astype(np.float32),
        "target": (digit == 5).astype(np.int64),
        "feature_names": [f"pixel_{row}_{column}" for row in range(28) for column in range(28)],
        "split": np.repeat(parts, [len(part) for part in digits]),
        "digit": digit,
    }


def _idx(path: Path, n_dimensions: int) -> np.ndarray:
    """An array of unsigned bytes in the idx format: a magic number, the shape, the values."""
    with open_unpacked(path) as stream:
        content = stream.read()
    header = np.frombuffer(content, dtype=">u4", count=1 + n_dimensions)
    if header[0] != 0x800 + n_dimensions:
        raise ChecksumError(f"{path} is not an idx file of bytes with {n_dimensions} dimensions")
    return np.frombuffer(content, dtype=np.uint8, offset=header.nbytes).reshape(header[1:].astype(int))


def read_isolet(paths: Paths, subset: Subset | None) -> dict[str, Any]:
    """The two text files of UCI, which have no known checksum: the checksum of their sorted rows is compared."""
    tables = []
    for path in paths.values():
        with open_unpacked(path) as stream:
            tables.append(np.loadtxt(stream, delimiter=",", ndmin=2))
    values = np.rint(np.vstack([table[:, :-1] for table in tables]) * 10_000).astype("<i2")
    letter = np.concatenate([table[:, -1] for table in tables]).astype("<i2")
    split = np.repeat(list(paths), [len(table) for table in tables])
    rows = np.column_stack([values, letter, (split == "test").astype("<i2")])
    if hashlib.sha256(b"".join(sorted(row.tobytes() for row in rows))).hexdigest() != ISOLET_ROWS:
        raise ChecksumError(f"{' and '.join(map(str, paths.values()))} do not hold the rows of ISOLET")
    return _isolet(values, letter, split, subset)


def read_isolet_grouped(paths: Paths, subset: Subset | None) -> dict[str, Any]:
    """The rows of all five groups of speakers, in one file."""
    check_archive(paths["letters"])
    with np.load(paths["letters"], allow_pickle=False) as saved:
        values, letter, group = saved["X_times_10000"], saved["y"], saved["group"]
    split = np.where(group == 5, "test", "train")
    chosen = slice(None) if subset is None else split == subset
    return _isolet(values, letter, split, subset) | {"groups": group[chosen].astype(np.int64)}


def _isolet(values: np.ndarray, letter: np.ndarray, split: np.ndarray, subset: Subset | None) -> dict[str, Any]:
    chosen = slice(None) if subset is None else split == subset
    return {
        "data": values[chosen] / 10_000.0,
        "target": (letter[chosen] == 11).astype(np.int64),
        "feature_names": [f"f{k}" for k in range(1, values.shape[1] + 1)],
        "split": split[chosen],
        "letter": letter[chosen].astype(np.int64),
    }


def read_kdd98_donors(paths: Paths, subset: Subset | None, *, categorical: str) -> dict[str, Any]:
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


def read_kdd98_categorical(paths: Paths, subset: Subset | None) -> dict[str, Any]:
    """Categorical columns of all 95,412 rows of the learning file, with amounts; two files in the same order."""
    pandas = import_optional("pandas", "Reading kdd98")
    with open_unpacked(paths["features"]) as stream:
        table = pandas.read_csv(stream, index_col=0, dtype="str", keep_default_na=False)
    with open_unpacked(paths["amounts"]) as stream:
        answers = pandas.read_csv(stream)
    features = _with_types(table.reset_index(drop=True), list(table.columns))
    return _kdd98_fields(features, answers["TARGET_B"].to_numpy(), answers["TARGET_D"].to_numpy(), None)


def read_kdd98_validation(paths: Paths, subset: Subset | None) -> dict[str, Any]:
    """The answers to the validation file, without features."""
    answers = _read_answers(paths["answers"])
    return _kdd98_fields(None, answers["TARGET_B"], answers["TARGET_D"], answers["CONTROLN"])


def read_kdd98_full(paths: Paths, subset: Subset | None, *, categorical: str) -> dict[str, Any]:
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
    return found | {name: found[name].astype(np.int64) for name in ("CONTROLN", "TARGET_B")}


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


def read_kdd99(
    paths: Paths,
    subset: Subset | None,
    *,
    columns: str,
    categories: dict[str, str],
    attacks: dict[str, str],
) -> dict[str, Any]:
    """Rows of the training file, then of the test file; the label is the last of the columns."""
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
