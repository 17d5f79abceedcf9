"""Cholesky factors on all threads.

The matrix is walked in panels of `TILE` columns: factorise the tile on the diagonal, multiply the tiles below it by its
inverse, take their products from the rest. Tiles depend on the size of the matrix alone, so the factor is the same for
any number of threads, which LAPACK on several threads does not promise.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, blas, lapack

from ..._runtime import threads

TILE = 256
COLUMNS_AT_ONCE = 1024  # of a product: its result stays in the cache until it is subtracted
SIDES_AT_ONCE = 64  # right-hand sides per task


class Factor:
    """L with matrix = L L'.

    matrix : (m, m) C-ordered float32 or float64, of which the lower triangle is read and overwritten. Raises
    LinAlgError where it is not positive definite.
    """

    def __init__(self, matrix: np.ndarray):
        single = matrix.dtype == np.float32
        self._potrf, self._trtri = (lapack.spotrf, lapack.strtri) if single else (lapack.dpotrf, lapack.dtrtri)
        self._trsm, self._trsv = (blas.strsm, blas.strsv) if single else (blas.dtrsm, blas.dtrsv)
        self.dtype = matrix.dtype
        self._upper = matrix.T  # Fortran's order: LAPACK sees L' in the upper triangle, and nothing is copied
        if len(matrix) <= 2 * TILE:
            _, info = self._potrf(self._upper, lower=0, clean=0, overwrite_a=1)
            _check(info)
        else:
            for k in range(0, len(matrix), TILE):
                self._update_panel(matrix, k, min(len(matrix), k + TILE))

    def _update_panel(self, matrix: np.ndarray, first: int, last: int) -> None:
        """Factorise the columns from `first` to `last`, and take their part from the columns after them."""
        corner, info = self._potrf(matrix[first:last, first:last].T, lower=0, clean=1)
        _check(info)
        inverse, _ = self._trtri(corner, lower=0)
        matrix[first:last, first:last] = corner.T
        rows = [(i, min(len(matrix), i + TILE)) for i in range(last, len(matrix), TILE)]

        def scale(begin: int, end: int) -> None:
            matrix[begin:end, first:last] = matrix[begin:end, first:last] @ inverse

        def reduce(begin: int, end: int) -> None:
            panel = matrix[begin:end, first:last]
            for column in range(last, end, COLUMNS_AT_ONCE):
                stop = min(end, column + COLUMNS_AT_ONCE)
                matrix[begin:end, column:stop] -= panel @ matrix[column:stop, first:last].T

        threads.run(scale, rows)
        threads.run(reduce, rows[::-1])  # the longest first

    def lower_solved(self, sides: np.ndarray) -> np.ndarray:
        """L^-1 s for each row s of `sides` (k, m), in the factor's precision."""
        out = np.array(sides, self.dtype, order="C")
        if len(out) == 1:
            out[0] = self._trsv(self._upper, out[0], lower=0, trans=1)
            return out
        parts = [(out[i : i + SIDES_AT_ONCE].T,) for i in range(0, len(out), SIDES_AT_ONCE)]
        threads.run(lambda part: self._trsm(1.0, self._upper, part, lower=0, trans_a=1, overwrite_b=1), parts)
        return out

    def upper_solved(self, side: np.ndarray) -> np.ndarray:
        """L'^-1 side, (m,) in the factor's precision."""
        return self._trsv(self._upper, side, lower=0)


def _check(info: int) -> None:
    if info:
        raise LinAlgError("the matrix is not positive definite")
