"""Readers of tables, LIBSVM files, sparse text, images and spoken letters.

A reader gets verified files by role, the subset, and the options of its data set, and returns fields of the `Bunch`:
``data`` and ``target`` at least. It fits nothing on rows.
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

    columns : names of all columns of the file, in order; label : the column of the class; positive : its value for the
    positive class; excluded : columns that are not features; categories : if any, those of all features, each of which
    becomes an indicator.
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
    """A pandas DataFrame of the columns; None without pandas, as the numbers do not need it."""
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
