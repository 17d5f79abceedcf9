"""The values of a search on disk, so that an interrupted one goes on where it stopped.

The file is written anew after each task, as a temporary file that then replaces it, so that it is never half-written.
It holds a fingerprint of all that the values depend on, and is refused by a search with another one.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .._types import Vector

# The address of a function in memory differs from process to process.
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class Checkpoint:
    """Values (n_points, n_folds), NaN where not known yet, and which tasks are done (n_kernels, n_folds)."""

    def __init__(self, path: Any, fingerprint: str, shape: tuple[int, int], n_kernels: int):
        self.path = None if path is None else Path(path)
        self.fingerprint = fingerprint
        self.values = np.full(shape, np.nan)
        self.done = np.zeros((n_kernels, shape[1]), dtype=bool)
        if self.path is not None and self.path.exists():
            self._load(self.path)

    def record(self, kernel: int, fold: int, values: Vector) -> None:
        """Enter the values of a task, and save."""
        known = ~np.isnan(values)
        self.values[known, fold] = values[known]
        self.done[kernel, fold] = True
        if self.path is not None:
            self._save(self.path)

    def _save(self, path: Path) -> None:
        beside = path.with_name(path.name + ".part")
        with open(beside, "wb") as file:
            np.savez(file, fingerprint=self.fingerprint, values=self.values, done=self.done)
        os.replace(beside, path)

    def _load(self, path: Path) -> None:
        try:
            with np.load(path, allow_pickle=False) as saved:
                fingerprint, values, done = str(saved["fingerprint"]), saved["values"], saved["done"]
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise ValueError(
                f"checkpoint={str(path)!r} is not a saved search: {error}. Delete it, or name another file."
            ) from error
        if fingerprint != self.fingerprint:
            raise ValueError(
                f"checkpoint={str(path)!r} belongs to another search: the data, the folds, the grid or the scoring "
                "differ. Delete it to start afresh, or name another file."
            )
        self.values, self.done = values, done


def fingerprint(parts: Iterable[Any]) -> str:
    """A digest of arrays, sparse matrices and anything with a telling repr."""
    digest = hashlib.sha256()
    for part in parts:
        if sparse.issparse(part):
            for array in (part.data, part.indices, part.indptr):
                digest.update(np.ascontiguousarray(array).tobytes())
        elif isinstance(part, np.ndarray) and part.dtype != object:
            digest.update(f"{part.dtype}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        else:
            digest.update(ADDRESS.sub("", repr(part)).encode())
    return digest.hexdigest()
