"""The KKT system of a Newton step, with a border, on Cholesky factors that are computed on all threads.

With V the moving variables and the changes of all others given, the changes d of V level the gradient on V:

    (K_VV + ridge I) d + b 1 = residual - K_V,others change_others,      sum of all changes = 0

V differs little from one step to the next, so the matrix of some members F is factorised once, and the variables that V
has in addition to F (A) or lacks of it (B) border the system, together with b:

    K_FF d_F + U u = r,   U = [K_FA  1  E_B],   u = (d_A, b, multipliers of d_B = change_B)

Each column of U costs one solution with the factor. A member whose place in the working set another variable has taken
is held at 0. Matrices are factorised in panels of `TILE` columns, whatever the number of threads, so that the factor
does not depend on it, which LAPACK does not promise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import LinAlgError, blas, lapack

from ..._core.types import Mask, RowNumbers, Vector
from ..._runtime import threads
from ..._runtime.sums import update_gathered

TILE = 256
COLUMNS_AT_ONCE = 1024  # of a product: its result stays in the cache until it is subtracted
SIDES_AT_ONCE = 64  # right-hand sides per task
GATHERED_ROWS = 256  # per task
# Work, in units of 1 / m^2 of what a new column of the border takes.
FACTORISING = 2 / 3  # times m^3
SOLVING = 3.0  # times the cube of the border: in float64, on one thread
BORDERING = 3e6  # in any case
CLOSE_SHARE = 0.1  # of members that a border may have for a factor of earlier variables to be trusted


class BorderedKKT:
    """K_FF + ridge I, factorised in `dtype`, for members F (m,), ascending; LinAlgError if not positive definite."""

    def __init__(self, kernel: np.ndarray, members: RowNumbers, ridge: float, dtype: DTypeLike):
        self.kernel, self.members, self.ridge = kernel, members, ridge
        self._is_gone = np.zeros(len(members), bool)  # members whose place another variable has taken
        self._is_member = np.zeros(len(kernel), bool)
        self._is_member[members] = True
        matrix = _block(kernel, members, members).astype(dtype, copy=False)
        matrix.flat[:: len(matrix) + 1] += np.asarray(ridge, dtype)
        self._factor = Factor(matrix)
        # Rows L^-1 u of 1 and all borders so far, and which row each variable has if added, each member if held.
        self._rows = self._factor.lower_solved(np.ones((1, len(members))))
        self._row_of_added = np.full(len(kernel), -1)
        self._row_of_held = np.full(len(members), -1)

    def replace(self, places: RowNumbers) -> None:
        """Mark the places at which the kernel now has the values of other variables."""
        is_new = np.zeros(len(self.kernel), bool)
        is_new[places] = True
        self._is_gone |= is_new[self.members]
        self._is_member[places] = False
        self._row_of_added[places] = -1

    def is_refactorising_cheaper(self, moving: Mask) -> bool:
        """Whether factorising the matrix of the `moving` variables, (n,) bool, is less work than bordering this one."""
        added, held = self._border_of(moving)
        m, n_border = len(self.members), len(added) + len(held)
        if len(self._rows) > m:  # many of variables that are gone: they take as much memory as the factor
            return True
        n_new = np.count_nonzero(self._row_of_added[added] < 0) + np.count_nonzero(self._row_of_held[held] < 0)
        refactorised = FACTORISING * np.count_nonzero(moving) ** 3
        bordered = BORDERING + m * (m * n_new + n_border**2) + SOLVING * n_border**3
        return n_border > 0 and bool(refactorised < bordered)

    def is_close_to(self, moving: Mask) -> bool:
        """Whether the border of the `moving` variables is small, so that it adds little rounding."""
        added, held = self._border_of(moving)
        return len(added) + len(held) <= CLOSE_SHARE * len(self.members)

    def _border_of(self, moving: Mask) -> tuple[RowNumbers, RowNumbers]:
        """The variables that are added, and the numbers of the members that are held."""
        added = np.flatnonzero(moving & ~self._is_member)
        return added, np.flatnonzero(self._is_gone | ~moving[self.members])

    def update_change(self, change: Vector, residual: Vector, moving: Mask) -> None:
        """Write the changes of the `moving` variables into `change` (n,), which holds those of all others."""
        added, held = self._border_of(moving)
        others = np.flatnonzero(np.where(moving | self._is_member, 0.0, change))
        target, total = residual[self.members], -float(change[others].sum())
        if len(others):
            target = target - _block(self.kernel, self.members, others) @ change[others]
        y = self._factor.lower_solved(target[np.newaxis])[0]
        if not len(added) and not len(held):
            ones = self._rows[0]
            change[self.members] = self._factor.upper_solved(y - ((ones @ y - total) / (ones @ ones)) * ones)
            return
        own = np.where(self._is_gone[held], 0.0, change[self.members[held]])
        border = self._border(added, held)
        kkt = -(border @ border.T).astype(np.float64)
        side = np.concatenate([residual[added], [total], own]) - border @ y
        a = len(added)
        if a:
            kkt[:a, :a] += _block(self.kernel, added, added) + self.ridge * np.eye(a)
            kkt[:a, a] += 1.0
            kkt[a, :a] += 1.0
            side[:a] -= _block(self.kernel, added, others) @ change[others]
        u = np.linalg.solve(kkt, side)
        found = self._factor.upper_solved(y - u.astype(y.dtype) @ border)
        inside = np.flatnonzero(~self._is_gone & moving[self.members])
        change[self.members[inside]] = found[inside]
        change[added] = u[:a]

    def _border(self, added: RowNumbers, held: RowNumbers) -> np.ndarray:
        """Rows L^-1 u for the columns u of U, (a + 1 + b, m)."""
        new_added, new_held = added[self._row_of_added[added] < 0], held[self._row_of_held[held] < 0]
        if len(new_added) or len(new_held):
            sides = np.zeros((len(new_added) + len(new_held), len(self.members)))
            sides[: len(new_added)] = _block(self.kernel, new_added, self.members)
            sides[len(new_added) + np.arange(len(new_held)), new_held] = 1.0
            numbers = len(self._rows) + np.arange(len(sides))
            self._row_of_added[new_added], self._row_of_held[new_held] = np.split(numbers, [len(new_added)])
            self._rows = np.concatenate([self._rows, self._factor.lower_solved(sides)])
        return self._rows[np.concatenate([self._row_of_added[added], [0], self._row_of_held[held]])]


def _block(kernel: np.ndarray, rows: RowNumbers, columns: RowNumbers) -> np.ndarray:
    """K[rows][:, columns]; a small one by NumPy, so that a small fit need not compile a loop for it."""
    if len(rows) <= GATHERED_ROWS:
        return kernel[np.ix_(rows, columns)]
    block = np.empty((len(rows), len(columns)), kernel.dtype)
    parts = [slice(i, i + GATHERED_ROWS) for i in range(0, len(rows), GATHERED_ROWS)]
    threads.run(update_gathered, [(block[part], kernel, rows[part], columns) for part in parts])
    return block


class Factor:
    """L with `matrix` (m, m) = L L', C-ordered, overwritten; raises LinAlgError where it is not positive definite."""

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
