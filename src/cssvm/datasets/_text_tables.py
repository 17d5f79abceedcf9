"""Small tables of text: cells to numbers, words to indicators with a vocabulary that is fixed beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._core.types import Vector
from ._files import ChecksumError, unpacked
from ._optional import frame_of
from ._records import Subset

MISSING = ("?", ".", "")


def columns(names: str) -> tuple[str, ...]:
    """Names with blanks between them."""
    return tuple(names.split())


@dataclass(frozen=True)
class TextTable:
    """How a text table is read.

    columns : names of all columns of the file, in order; label : the one that is the class, rows without it are left
    out; positive : its value for the target class; left_out : columns that are no features; words : vocabulary of each
    symbolic feature, which becomes one indicator for each word; delimiter : None for blanks.
    """

    columns: tuple[str, ...]
    label: str
    positive: str
    left_out: tuple[str, ...] = ()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    delimiter: str | None = ","

    def read(self, paths: dict[str, Path], subset: Subset | None = None) -> dict[str, Any]:
        """The table of the only file; missing numbers are NaN."""
        (path,) = paths.values()
        table = self.cells(path)
        labels = table.pop(self.label)
        known = ~np.isin(labels, MISSING)
        features = {name: cells[known] for name, cells in table.items() if name not in self.left_out}
        encoded: dict[str, Vector] = {}
        raw: dict[str, Any] = {}
        for name, cells in features.items():
            if name in self.words:
                raw[name] = cells.tolist()
                encoded |= indicators(name, cells, self.words[name])
            else:
                raw[name] = encoded[name] = numbers(cells)
        return {
            "data": np.ascontiguousarray(np.column_stack(list(encoded.values()))),
            "target": (labels[known] == self.positive).astype(np.int64),
            "feature_names": list(encoded),
            "frame": frame_of(raw),
        }

    def cells(self, path: Path) -> dict[str, np.ndarray]:
        """Stripped cells of each column, (n_rows,) str."""
        with unpacked(path) as stream:
            lines = stream.read().decode("ascii").splitlines()
        rows = [[cell.strip() for cell in line.split(self.delimiter)] for line in lines if line.strip()]
        widths = {len(row) for row in rows}
        if widths != {len(self.columns)}:
            raise ChecksumError(f"{path} has rows of {sorted(widths)} cells, expected {len(self.columns)}")
        return dict(zip(self.columns, np.array(rows).T, strict=True))


def numbers(cells: np.ndarray) -> Vector:
    """Cells as numbers, (n_rows,) float64, missing ones as NaN."""
    return np.where(np.isin(cells, MISSING), "nan", cells).astype(np.float64)


def indicators(name: str, cells: np.ndarray, vocabulary: tuple[str, ...]) -> dict[str, Vector]:
    """One column ``name=word`` for each word, (n_rows,) float64; a word that is not in the vocabulary has no 1."""
    return {f"{name}={word}": (cells == word).astype(np.float64) for word in vocabulary}
