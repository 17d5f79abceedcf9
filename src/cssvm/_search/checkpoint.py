"""The values of a search in a file, so that an interrupted search continues where it stopped.

The file is replaced as a whole after each task, so that it is never half-written. It holds an entry for each
fingerprint of all that values depend on: several searches may share it, such as those of the folds of a nested
cross-validation.
"""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.types import Vector
from .._runtime.files import atomic_write, check_writable

VALUES, DONE = "values", "is_done"  # the arrays of an entry; its fingerprint stands in front


class Checkpoint:
    """`values` (n_points, n_folds), NaN where not known, and `is_done` (n_kernels, n_folds), bool, of each task."""

    def __init__(self, path: Any, fingerprint: str, shape: tuple[int, int], n_kernels: int):
        self.path = None if path is None else Path(path)
        self.values = np.full(shape, np.nan)
        self.is_done = np.zeros((n_kernels, shape[1]), dtype=bool)
        self._names = f"{fingerprint}.{VALUES}", f"{fingerprint}.{DONE}"
        self._failed = False
        if self.path is not None:
            check_writable(self.path)
            entries = _read(self.path)
            if self._names[0] in entries:
                self.values, self.is_done = (entries[name] for name in self._names)

    def record(self, kernel: int, fold: int, values: Vector) -> None:
        """Enter the values of a task that is done, and save."""
        known = ~np.isnan(values)
        self.values[known, fold] = values[known]
        self.is_done[kernel, fold] = True
        if self.path is not None:
            self._save(self.path)

    def _save(self, path: Path) -> None:
        """Write this entry and those of others; if that fails, the search continues without it."""
        try:
            entries = _read(path) | dict(zip(self._names, (self.values, self.is_done), strict=True))
            with atomic_write(path) as file:
                np.savez(file, **entries)  # type: ignore[arg-type]
        except (OSError, ValueError) as error:
            if not self._failed:
                warnings.warn(
                    f"The checkpoint cannot be written: {error}. The search continues; what is done from now on may "
                    "not be kept.",
                    UserWarning,
                    stacklevel=2,
                )
            self._failed = True


def _read(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of all entries; none if there is no file."""
    try:
        saved = np.load(path, allow_pickle=False)
        if isinstance(saved, np.ndarray):
            raise ValueError("it holds a single array")
        with saved:
            entries = dict(saved)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"checkpoint={str(path)!r} is not a saved search: {error}. Delete it, or name another file."
        ) from error
    if not all(name.endswith((f".{VALUES}", f".{DONE}")) for name in entries):
        raise ValueError(
            f"checkpoint={str(path)!r} is not a saved search of this version: it holds {next(iter(entries))!r}. Delete "
            "it, or name another file."
        )
    return entries
