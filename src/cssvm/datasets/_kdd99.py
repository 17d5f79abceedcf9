"""Reader of KDD Cup 1999, intrusion detection: five classes with a cost matrix, collapsed to normal and attack.

The cup scored answers by the matrix C, rows true and columns predicted (Elkan 1999). A detector that predicts only
"normal" or "attack" does not name a class of attack; so both errors are averaged over the classes of attack with their
shares s_k among the attacks of the training file:

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

CATEGORIES = ("normal", "probe", "dos", "u2r", "r2l")

# Rows: the true class, columns: the predicted one, in the order of CATEGORIES.
COST_MATRIX = ((0, 1, 2, 2, 2), (1, 0, 2, 2, 2), (2, 1, 0, 2, 2), (3, 2, 2, 0, 2), (4, 2, 2, 2, 0))

# Rows of each class in the training file, kddcup.data_10_percent.
TRAINING_ROWS = (97_278, 4_107, 391_458, 52, 1_126)


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
    category_of |= {name: CATEGORIES.index(kind) for kind, text in attacks.items() for name in text.split()}
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
        "categories": list(CATEGORIES),
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
