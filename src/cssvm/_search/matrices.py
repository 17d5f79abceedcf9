"""Memory for the kernel matrices of tasks, each kept until its room is needed for another task."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._core.folds import Fold
from .._core.types import RowNumbers
from .._kernels import Kernel, SharedValues
from .._solvers.dual import Workspace

# Validation rows at a time, where their kernel values are not kept.
BAND = 256


class TaskMatrices:
    """Kernel values of one task: among its training rows, and of its validation rows with them.

    `keeps` says whether those of the validation rows are worth their memory: they are if the task will be gone on with.
    """

    def __init__(self, n_rows: int, dtype: Any, *, keeps: bool):
        self.dtype, self.keeps = np.dtype(dtype), keeps
        self._room = Workspace(n_rows, dtype)
        self._valid = np.empty((0, 0), dtype)  # kept from task to task: fresh memory is slow to touch
        self.begin(None)

    def begin(self, owner: Any) -> None:
        """Forget the last task."""
        self.owner = owner
        self._rows: RowNumbers | None = None
        self._has_valid = False

    def training(self, shared: SharedValues, kernel: Kernel, rows: RowNumbers) -> np.ndarray:
        """The kernel matrix of these training rows, computed unless it is here."""
        matrix = self._room.matrix(len(rows))
        if self._rows is None or not np.array_equal(self._rows, rows):
            self._rows = None
            shared.update_block(matrix, kernel, rows, rows)
            self._rows = rows
        return matrix

    def products(self, shared: SharedValues, kernel: Kernel, fold: Fold, coefs: np.ndarray) -> np.ndarray:
        """K[valid][:, train] @ coefs, (n_valid, n_machines) float64."""
        out = np.empty((len(fold.valid), coefs.shape[1]))
        for i, block in self._validation(shared, kernel, fold):
            out[i : i + BAND] = block.astype(np.float64) @ coefs
        return out

    def _validation(self, shared: SharedValues, kernel: Kernel, fold: Fold) -> Iterator[tuple[int, np.ndarray]]:
        """K[valid][:, train] in bands, each with the number of its first row."""
        n_valid, n_train = len(fold.valid), len(fold.train)
        if self._valid.shape[1] != n_train or len(self._valid) < (n_valid if self.keeps else BAND):
            self._valid = np.empty((n_valid if self.keeps else BAND, n_train), self.dtype)
        if self.keeps and not self._has_valid:
            shared.update_block(self._valid, kernel, fold.valid, fold.train)
            self._has_valid = True
        for i in range(0, n_valid, BAND):
            part = fold.valid[i : i + BAND]
            if self.keeps:
                yield i, self._valid[i : i + len(part)]
            else:
                shared.update_block(self._valid, kernel, part, fold.train)
                yield i, self._valid[: len(part)]


class MatrixStore:
    """Rooms for the matrices of `count` tasks, of up to `n_rows` training rows each."""

    def __init__(self, count: int, n_rows: int, dtype: Any, *, keeps: bool):
        self._free = [TaskMatrices(n_rows, dtype, keeps=keeps) for _ in range(count)]  # the last one left stands last
        self._lock = threading.Lock()

    @contextmanager
    def of(self, owner: Any) -> Iterator[TaskMatrices]:
        """A room that no other task has at the time: the one that holds this task's matrices, or the oldest."""
        with self._lock:
            place = next((k for k, room in enumerate(self._free) if room.owner == owner), 0)
            room = self._free.pop(place)
        if room.owner != owner:
            room.begin(owner)
        try:
            yield room
        finally:
            with self._lock:
                self._free.append(room)
