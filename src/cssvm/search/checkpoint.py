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

import joblib
import numpy as np
from scipy import sparse

from .._types import Vector

# The address of a function in memory differs from process to process.
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class Checkpoint:
    """Values (n_points, n_folds), NaN where not known; `n_done` (n_kernels, n_folds) steps of C done by each task."""

    def __init__(self, path: Any, fingerprint: str, shape: tuple[int, int], n_kernels: int):
        self.path = None if path is None else Path(path)
        self.fingerprint = fingerprint
        self.values = np.full(shape, np.nan)
        self.n_done = np.zeros((n_kernels, shape[1]), dtype=np.int64)
        if self.path is not None and self.path.exists():
            self._load(self.path)

    def record(self, kernel: int, fold: int, values: Vector, n_done: int) -> None:
        """Enter the values of a task that has done its first `n_done` steps, and save."""
        known = ~np.isnan(values)
        self.values[known, fold] = values[known]
        self.n_done[kernel, fold] = n_done
        if self.path is not None:
            self._save(self.path)

    def _save(self, path: Path) -> None:
        beside = path.with_name(path.name + ".part")
        with open(beside, "wb") as file:
            np.savez(file, fingerprint=self.fingerprint, values=self.values, n_done=self.n_done)
        os.replace(beside, path)

    def _load(self, path: Path) -> None:
        try:
            with np.load(path, allow_pickle=False) as saved:
                fingerprint, values, n_done = str(saved["fingerprint"]), saved["values"], saved["n_done"]
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise ValueError(
                f"checkpoint={str(path)!r} is not a saved search: {error}. Delete it, or name another file."
            ) from error
        if fingerprint != self.fingerprint:
            raise ValueError(
                f"checkpoint={str(path)!r} belongs to another search: the data, the folds, the grid or the scoring "
                "differ. Delete it to start afresh, or name another file."
            )
        self.values, self.n_done = values, n_done


def fingerprint(parts: Iterable[Any]) -> str:
    """A digest of arrays, sparse matrices, data frames and anything with a telling repr."""
    digest = hashlib.sha256()
    for part in parts:
        if sparse.issparse(part):
            for array in (part.data, part.indices, part.indptr):
                digest.update(np.ascontiguousarray(array).tobytes())
        elif isinstance(part, np.ndarray) and part.dtype != object:
            digest.update(f"{part.dtype}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        elif isinstance(part, np.ndarray) or hasattr(part, "columns"):
            digest.update(joblib.hash(part).encode())
        else:
            digest.update(ADDRESS.sub("", repr(part)).encode())
    return digest.hexdigest()
