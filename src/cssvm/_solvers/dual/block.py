"""The kernel values of a working set, kept while members come and go."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from ..._core.types import RowNumbers
from ..._runtime import threads
from ..._runtime.compiler import njit

PADDING = 16  # numbers past the end of each row: rows a power of two apart would compete for the same cache lines
ROWS = 128  # of the block per task: as many cache lines, each written to several times while it is close


def empty_block(n_rows: int, n_columns: int, dtype: DTypeLike) -> np.ndarray:
    """Room for (n_rows, n_columns) values in padded rows."""
    return np.empty((n_rows, n_columns + PADDING), dtype)


def update_border(block: np.ndarray, places: RowNumbers, values: np.ndarray) -> None:
    """Set the rows and the columns `places` of a symmetric block to `values`, one row for each place."""
    parts = range(0, len(block), ROWS)
    threads.run(_update_columns, [(block, places, values, i, min(i + ROWS, len(block))) for i in parts])
    block[places] = values


@njit
def _update_columns(block, places, values, first, last):  # type: ignore[no-untyped-def]
    for k in range(len(places)):
        source, column = values[k, first:last], block[first:last, places[k]]
        for i in range(len(source)):
            column[i] = source[i]
