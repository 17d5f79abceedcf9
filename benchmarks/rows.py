"""The data of a case, generated or real, and its preprocessing."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Data:
    """X (n, d) float64, dense or CSR; y (n,) in {0, 1}, 1 for the positive class; X_new (n_predict, d) like X."""

    X: Any
    y: np.ndarray
    X_new: Any

    def head(self, n: int) -> "Data":
        """The data with the first n training samples."""
        return self if n == len(self.y) else Data(self.X[:n], self.y[:n], self.X_new)


def stratified_order(labels: np.ndarray, seed: int) -> np.ndarray:
    """A random order of all samples, (n,) int, in which every prefix has nearly the label shares of the whole.

    Samples are sorted by (i + 1/2) / m, for the i-th of the m samples of a label.
    """
    rng = np.random.default_rng(seed)
    places = np.empty(len(labels))
    for label in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == label))
        places[members] = (np.arange(len(members)) + 0.5) / len(members)
    return np.argsort(places, kind="stable")


def standardise(X: np.ndarray, like: np.ndarray) -> np.ndarray:
    """X standardised by the mean and deviation of `like`; constant features become zero."""
    scale = like.std(axis=0)
    return np.ascontiguousarray((X - like.mean(axis=0)) / np.where(scale > 0, scale, 1.0))
