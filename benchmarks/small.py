"""Small real data sets, and parts of larger ones, read from a folder of the user's as in `benchmarks/real.py`.

Columns of numbers are standardised, their missing entries are the mean; columns of words become one indicator for each
word. Rows come in a stratified random order.
"""

import bz2
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from benchmarks.real import SOURCES as LARGE
from benchmarks.real import Source
from benchmarks.rows import standardise, stratified_order

MISSING = ("?", ".", "")


@dataclass(frozen=True)
class Table:
    """A text table: the column and the value that mark the target class, and columns that are no features.

    `delimiter` None means blanks; `n_head` lines come before the rows.
    """

    file: str
    label: int
    target: str
    left_out: tuple[int, ...] = ()
    delimiter: str | None = ","
    n_head: int = 0

    def read(self, folder: Path, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Up to n rows, (n, d) float64, and 1 for the target class, (n,)."""
        lines = [line for line in _text(folder / self.file).splitlines()[self.n_head :] if line.strip()]
        labels = np.array([line.split(self.delimiter)[self.label].strip() for line in lines])
        known = np.flatnonzero(~np.isin(labels, MISSING))
        y = (labels[known] == self.target).astype(int)
        rows = stratified_order(y, seed)[:n]
        cells = np.array([[cell.strip() for cell in lines[row].split(self.delimiter)] for row in known[rows]])
        left_out = {column % cells.shape[1] for column in (*self.left_out, self.label)}
        columns = [_features(cells[:, column]) for column in range(cells.shape[1]) if column not in left_out]
        X = np.column_stack(columns)
        return standardise(X, like=X), y[rows]


@dataclass(frozen=True)
class Sparse:
    """A file in the format of LIBSVM."""

    file: str
    target: float

    def read(self, folder: Path, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """As `Table.read`, without standardising."""
        X, labels = load_svmlight_file(str(folder / self.file), zero_based=True)
        rows = stratified_order(labels, seed)[:n]
        return X[rows].toarray(), (labels[rows] == self.target).astype(int)


@dataclass(frozen=True)
class Isolet:
    """Spoken letters, K against the rest."""

    file: str = "isolet/isolet_int16.derived.npz"
    target: int = 11

    def read(self, folder: Path, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """As `Table.read`."""
        saved = np.load(folder / self.file)
        rows = stratified_order(saved["y"], seed)[:n]
        X = saved["X_times_10000"][rows].astype(np.float64)
        return standardise(X, like=X), (saved["y"][rows] == self.target).astype(int)


def _text(path: Path) -> str:
    opened = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opened(path, "rt") as file:
        return file.read()


def _features(cells: np.ndarray) -> np.ndarray:
    """A column of numbers (n, 1) with missing ones at the mean, or an indicator for each word (n, n_words)."""
    known = ~np.isin(cells, MISSING)
    try:
        values = np.where(known, cells, "nan").astype(np.float64)
    except ValueError:
        return (cells[:, np.newaxis] == np.unique(cells)).astype(np.float64)
    return np.where(known, values, values[known].mean() if known.any() else 0.0)[:, np.newaxis]


FILES: dict[str, Table | Sparse | Isolet] = {
    "heart": Table("heart_statlog/heart.dat", -1, "2", delimiter=None),
    "german": Table("german_credit/german.data-numeric", -1, "2", delimiter=None),
    "wdbc": Table("wdbc/wdbc.data", 1, "M", left_out=(0,)),
    "wbc": Table("wbc_original/breast-cancer-wisconsin.data", -1, "4", left_out=(0,)),
    "pima": Table("pima_diabetes/pima-indians-diabetes.data", -1, "1"),
    "echocardiogram": Table("echocardiogram/echocardiogram.data", 1, "1", left_out=(0, 10, 12)),
    "liver": Table("liver_bupa/bupa.data", -1, "1"),
    "sonar": Table("sonar/sonar.all-data", -1, "M"),
    "tic-tac-toe": Table("tic_tac_toe/tic-tac-toe.data", -1, "negative"),
    "wpbc": Table("wpbc/wpbc.data", 1, "R", left_out=(0, 2)),
    "hepatitis": Table("hepatitis/hepatitis.data", 0, "1"),
    "haberman": Table("haberman/haberman.data", -1, "2"),
    "webspam": Sparse("webspam/webspam_wc_normalized_unigram.svm0.test", 0.0),
    "kdd98": Table("kdd98/donor_raw_data.csv.gz", 0, "1", left_out=(1, 2), n_head=1),
    "kdd99": Table("kdd99/corrected.gz", -1, "normal."),
    "isolet": Isolet(),
}

SMALL = {name: Source(kind.read, (kind.file,)) for name, kind in FILES.items()}
SMALL |= {name: LARGE[name] for name in ("ijcnn1", "covertype", "mnist")}
