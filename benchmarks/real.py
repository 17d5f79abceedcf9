"""Samples of real data sets from `cssvm.datasets`, which must have been downloaded before.

    german       1,000 x 24    bad against good risk, standardised
    ijcnn1      49,990 x 22    +1 against -1, not scaled; training file
    covertype  581,012 x 54    type 4 against the rest, standardised
    mnist       60,000 x 784   digit 5 against the rest, in [0, 1]; training file

Samples are in a stratified random order, so that the first n are a random sample of the data set.
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


def data_folder(requested: Path | None) -> Path | None:
    """The requested folder, that of the environment variable, or the one next to the repository if it exists."""
    if requested is not None:
        return requested
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named)
    return NEXT_TO_THE_REPOSITORY if NEXT_TO_THE_REPOSITORY.is_dir() else None


def standardised(X: np.ndarray) -> np.ndarray:
    return standardise(X, like=X)


def unchanged(X: np.ndarray) -> np.ndarray:
    return X


def pixels(X: np.ndarray) -> np.ndarray:
    return X / 255.0


@dataclass(frozen=True)
class Source:
    """A data set of `cssvm.datasets`: its part, the field to stratify by, and the scaling.

    With `raw`, columns of numbers and strings of the raw table are encoded here.
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
        """Why the data is not available, or None."""
        if folder is None:
            return f"no folder of real data: give --data or set {FOLDER_VARIABLE}"
        try:
            fetch(self.name, subset=self.subset, data_home=folder, download=False)
        except (MissingDatasetError, ChecksumError) as error:
            return str(error)
        return None


def with_means(X: np.ndarray) -> np.ndarray:
    """Missing numbers replaced by the mean of their column."""
    return np.column_stack([column_features(X[:, column]) for column in range(X.shape[1])]) if np.isnan(X).any() else X


def column_features(column: np.ndarray) -> np.ndarray:
    """Numbers (n, 1) with missing ones replaced by the mean, or indicators of categories (n, n_categories)."""
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
    "ijcnn1": Source("ijcnn", subset="train", scale=unchanged),
    "covertype": Source("covertype", stratify="cover_type"),
    "mnist": Source("mnist", subset="train", stratify="digit", scale=pixels),
}

# Data sets of small comparisons; of large ones a sample is used.
SMALL = {
    "heart": Source("heart"),
    "german": SOURCES["german"],
    "wdbc": Source("breast_cancer_diagnostic"),
    "wbc": Source("breast_cancer_original"),
    "pima": Source("diabetes"),
    "echocardiogram": Source("echocardiogram"),
    "liver": Source("liver"),
    "sonar": Source("sonar"),
    "tic-tac-toe": Source("tic_tac_toe"),
    "wpbc": Source("breast_cancer_prognostic"),
    "hepatitis": Source("hepatitis"),
    "haberman": Source("survival"),
    "webspam": Source("webspam", stratify="label", scale=unchanged),
    "kdd98": Source("kdd98", raw=True),
    "kdd99": Source("kdd99", subset="test", raw=True),
    "isolet": Source("isolet", stratify="letter"),
} | {name: SOURCES[name] for name in ("ijcnn1", "covertype", "mnist")}
