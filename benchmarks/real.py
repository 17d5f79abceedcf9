"""Rows of real data sets, from `cssvm.datasets`; nothing is downloaded and nothing written.

    german       1,000 x 24    bad risk against good, standardised
    ijcnn1      49,990 x 22    +1 against -1, as it is: the training rows
    covertype  581,012 x 54    type 4 against the rest, standardised
    mnist       60,000 x 784   digit 5 against the rest, in [0, 1]: the training rows

Rows come in a stratified random order, so that the first n of them are a sample of the whole.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.rows import standardise, stratified_order
from cssvm.datasets import ChecksumError, MissingDatasetError, fetch, load
from cssvm.datasets._files import VARIABLE as FOLDER_VARIABLE

NEXT_TO_THE_REPOSITORY = Path(__file__).resolve().parents[2] / "shared" / "data"

MISSING = ("?", ".", "")


def data_folder(asked_for: Path | None) -> Path | None:
    """The folder asked for, or the environment's, or the one next to the repository if there is one."""
    if asked_for is not None:
        return asked_for
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named)
    return NEXT_TO_THE_REPOSITORY if NEXT_TO_THE_REPOSITORY.is_dir() else None


def standardised(X: np.ndarray) -> np.ndarray:
    return standardise(X, like=X)


def as_it_is(X: np.ndarray) -> np.ndarray:
    return X


def pixels(X: np.ndarray) -> np.ndarray:
    return X / 255.0


@dataclass(frozen=True)
class Source:
    """A data set of `cssvm.datasets`: which part, which field keeps its shares in every beginning, which scale.

    With `raw` the features are the columns of the raw table, numbers and strings, in place of encoded ones.
    """

    name: str
    subset: Any = None
    stratify: str = "target"
    scale: Callable[[np.ndarray], np.ndarray] = standardised
    raw: bool = False

    def read(self, folder: Path, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Up to n rows, (n, d) float64, and 1 for the positive class, (n,)."""
        bunch = load(self.name, subset=self.subset, data_home=folder, download=False)
        rows = stratified_order(bunch[self.stratify], seed)[:n]
        if self.raw:
            table = bunch.frame.iloc[rows]
            X = np.column_stack([column_features(table[name].to_numpy()) for name in table.columns])
        else:
            chosen = bunch.data[rows]
            X = with_means((chosen.toarray() if sp.issparse(chosen) else chosen).astype(np.float64))
        return self.scale(X), bunch.target[rows]

    def missing(self, folder: Path | None) -> str | None:
        """Why the rows cannot be read, or None if they can."""
        if folder is None:
            return f"no folder of real data: give --data or set {FOLDER_VARIABLE}"
        try:
            fetch(self.name, subset=self.subset, data_home=folder, download=False)
        except (MissingDatasetError, ChecksumError) as error:
            return str(error)
        return None


def with_means(X: np.ndarray) -> np.ndarray:
    """Missing numbers at the mean of their column."""
    return np.column_stack([column_features(X[:, column]) for column in range(X.shape[1])]) if np.isnan(X).any() else X


def column_features(column: np.ndarray) -> np.ndarray:
    """A column of numbers (n, 1) with missing ones at the mean, or an indicator for each category (n, n_categories)."""
    if column.dtype.kind in "iuf":
        values = column.astype(np.float64)
    else:
        cells = column.astype(str)
        try:
            values = np.where(np.isin(cells, MISSING), "nan", cells).astype(np.float64)
        except ValueError:
            return (cells[:, np.newaxis] == np.unique(cells)).astype(np.float64)
    known = ~np.isnan(values)
    return np.where(known, values, values[known].mean() if known.any() else 0.0)[:, np.newaxis]


SOURCES = {
    "german": Source("german_credit"),
    "ijcnn1": Source("ijcnn", subset="train", scale=as_it_is),
    "covertype": Source("covertype", stratify="cover_type"),
    "mnist": Source("mnist", subset="train", stratify="digit", scale=pixels),
}
