"""Parts of a matrix in memory, copied row by row."""

from __future__ import annotations

from .compiler import njit


@njit
def update_gathered(out, matrix, left, right):  # type: ignore[no-untyped-def]
    """out[i, j] = matrix[left[i], right[j]]."""
    for i in range(len(left)):
        source, target = matrix[left[i]], out[i]
        for j in range(len(right)):
            target[j] = source[right[j]]
