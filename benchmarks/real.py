"""Rows of real data sets, read from a folder of the user's; nothing is downloaded and nothing written.

    german_credit/german.data-numeric       1,000 x 24    bad risk against good, standardised
    ijcnn1/ijcnn1.trn.bz2                  49,990 x 22    +1 against -1, as it is
    covertype/covtype.csv.gz              581,012 x 54    type 4 against the rest, standardised
    mnist/train-{images,labels}-idx*.gz    60,000 x 784   digit 5 against the rest, in [0, 1]

Rows come in a stratified random order, so that the first n of them are a sample of the whole.
"""

import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from benchmarks.rows import standardise, stratified_order

FOLDER_VARIABLE = "CSSVM_DATA"
BESIDE_THE_REPOSITORY = Path(__file__).resolve().parents[2] / "shared" / "data"

Reader = Callable[[Path, int, int], tuple[np.ndarray, np.ndarray]]


def data_folder(asked_for: Path | None) -> Path | None:
    """The folder asked for, or the environment's, or the one beside the repository if there is one."""
    if asked_for is not None:
        return asked_for
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named)
    return BESIDE_THE_REPOSITORY if BESIDE_THE_REPOSITORY.is_dir() else None


def read_german(folder: Path, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(folder / "german_credit/german.data-numeric")
    labels = table[:, -1]
    rows = stratified_order(labels, seed)[:n]
    X = table[rows, :-1]
    return standardise(X, like=X), (labels[rows] == 2).astype(int)


def read_ijcnn1(folder: Path, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, labels = load_svmlight_file(str(folder / "ijcnn1/ijcnn1.trn.bz2"), n_features=22)
    rows = stratified_order(labels, seed)[:n]
    return X[rows].toarray(), (labels[rows] > 0).astype(int)


def read_covertype(folder: Path, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The label is each line's last character: lines are chosen by it, and only those chosen are parsed."""
    text = gzip.decompress((folder / "covertype/covtype.csv.gz").read_bytes()).decode()
    _, *lines = text.splitlines()
    labels = np.array([int(line[-1]) for line in lines])
    rows = stratified_order(labels, seed)[:n]
    X = np.loadtxt([lines[row] for row in rows], delimiter=",")[:, :-1]
    return standardise(X, like=X), (labels[rows] == 4).astype(int)


def read_idx(path: Path, header_bytes: int) -> np.ndarray:
    return np.frombuffer(gzip.decompress(path.read_bytes()), dtype=np.uint8, offset=header_bytes)


def read_mnist(folder: Path, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    labels = read_idx(folder / "mnist/train-labels-idx1-ubyte.gz", 8)
    images = read_idx(folder / "mnist/train-images-idx3-ubyte.gz", 16).reshape(len(labels), -1)
    rows = stratified_order(labels, seed)[:n]
    return images[rows] / 255.0, (labels[rows] == 5).astype(int)


@dataclass(frozen=True)
class Source:
    read: Reader
    files: tuple[str, ...]

    def missing(self, folder: Path | None) -> str | None:
        """Why the rows cannot be read, or None if they can."""
        if folder is None:
            return f"no folder of real data: give --data or set {FOLDER_VARIABLE}"
        absent = [name for name in self.files if not (folder / name).is_file()]
        return f"{folder} has no {', '.join(absent)}" if absent else None


SOURCES = {
    "german": Source(read_german, ("german_credit/german.data-numeric",)),
    "ijcnn1": Source(read_ijcnn1, ("ijcnn1/ijcnn1.trn.bz2",)),
    "covertype": Source(read_covertype, ("covertype/covtype.csv.gz",)),
    "mnist": Source(read_mnist, ("mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz")),
}
