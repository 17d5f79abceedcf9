"""What a case is made of, generated or real: rows, labels, rows to predict; and what both kinds do to them."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Data:
    """X (n, d) float64, dense or CSR; y (n,) in {0, 1}, 1 being positive; X_new (n_predict, d) like X."""

    X: Any
    y: np.ndarray
    X_new: Any

    def head(self, n: int) -> "Data":
        """The same with the first n rows to train on: a smaller sample of the same problem."""
        return self if n == len(self.y) else Data(self.X[:n], self.y[:n], self.X_new)


def stratified_order(labels: np.ndarray, seed: int) -> np.ndarray:
    """A random order of all rows, (n,) int, in which every beginning has nearly the shares of the whole.

    The i-th of the m rows of a label gets the place (i + 1/2) / m between 0 and 1.
    """
    rng = np.random.default_rng(seed)
    places = np.empty(len(labels))
    for label in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == label))
        places[members] = (np.arange(len(members)) + 0.5) / len(members)
    return np.argsort(places, kind="stable")


def standardise(X: np.ndarray, like: np.ndarray) -> np.ndarray:
    """X less the mean of `like`, over its standard deviation; constant features become zero."""
    scale = like.std(axis=0)
    return np.ascontiguousarray((X - like.mean(axis=0)) / np.where(scale > 0, scale, 1.0))
