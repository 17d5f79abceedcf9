"""The linear system of a Newton step: changes of the moving variables that level their gradient.

With V the moving variables and the changes of all others known, the changes d of V have

    (K_VV + ridge I) d + b 1 = residual - K_V,others change_others,      sum of all changes = 0

V differs from round to round and within a round, by little. So the matrix of some members F is factorised once, and
what V has beside F (A) or lacks of it (B) borders the system, together with b:

    K_FF d_F + U u = r,   U = [K_FA  1  E_B],   u = (d_A, b, multipliers of d_B = change_B)

Each column of U costs one solution with the factor: much less than another factorisation as long as they are few.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from .._types import Mask, RowNumbers, Vector
from ..runtime import threads
from ..runtime.gather import update_gathered
from .cholesky import Factor

GATHERED_ROWS = 256  # per task
# Work, in units of 1 / m^2 of what a new column of the border takes.
FACTORISING = 2 / 3  # times m^3
BORDERING = 3e6  # in any case


class FreeSystem:
    """K_FF + ridge I, factorised in `dtype`; raises LinAlgError where it is not positive definite.

    kernel : (n, n or more); members F : (m,) row numbers, ascending.
    """

    def __init__(self, kernel: np.ndarray, members: RowNumbers, ridge: float, dtype: DTypeLike):
        self.kernel, self.members, self.ridge = kernel, members, ridge
        self._is_member = np.zeros(len(kernel), bool)
        self._is_member[members] = True
        self._factor = Factor(_shifted(_block(kernel, members, members), ridge, dtype))
        self._row_of = np.full(len(kernel), -1)  # of each variable that has been in the border
        self._rows = self._factor.lower_solved(np.ones((1, len(members))))  # rows L^-1 u of 1 and all borders so far

    def is_cheaper_anew(self, moving: Mask) -> bool:
        """Whether factorising the matrix of the `moving` variables, (n,) bool, is less work than bordering this one."""
        border = moving != self._is_member
        m, n_border = len(self.members), int(np.count_nonzero(border))
        n_new = int(np.count_nonzero(border & (self._row_of < 0)))
        anew = FACTORISING * np.count_nonzero(moving) ** 3
        return n_border > 0 and bool(anew < BORDERING + m * (m * n_new + n_border**2))

    def update_change(self, change: Vector, residual: Vector, moving: Mask) -> None:
        """Write the changes of the `moving` variables into `change` (n,), which has those of all others."""
        added = np.flatnonzero(moving & ~self._is_member)
        held = np.flatnonzero(self._is_member & ~moving)
        others = np.flatnonzero(np.where(moving | self._is_member, 0.0, change))
        target, total = residual[self.members], -float(change[others].sum())
        if len(others):
            target = target - _block(self.kernel, self.members, others) @ change[others]
        y = self._factor.lower_solved(target[np.newaxis])[0]
        if not len(added) and not len(held):
            ones = self._rows[0]
            change[self.members] = self._factor.upper_solved(y - ((ones @ y - total) / (ones @ ones)) * ones)
            return
        border, own = self._border(added, held), change[held]
        system = -(border @ border.T).astype(np.float64)
        side = np.concatenate([residual[added], [total], own]) - border @ y
        a = len(added)
        if a:
            system[:a, :a] += _block(self.kernel, added, added) + self.ridge * np.eye(a)
            system[:a, a] += 1.0
            system[a, :a] += 1.0
            side[:a] -= _block(self.kernel, added, others) @ change[others]
        u = np.linalg.solve(system, side)
        change[self.members] = self._factor.upper_solved(y - u.astype(y.dtype) @ border)
        change[added], change[held] = u[:a], own

    def _border(self, added: RowNumbers, held: RowNumbers) -> np.ndarray:
        """Rows L^-1 u for the columns u of U, (a + 1 + b, m)."""
        wanted = np.concatenate([added, held])
        fresh = wanted[self._row_of[wanted] < 0]
        if len(fresh):
            inside = self._is_member[fresh]
            sides = np.zeros((len(fresh), len(self.members)))
            sides[np.flatnonzero(inside), np.searchsorted(self.members, fresh[inside])] = 1.0
            sides[~inside] = _block(self.kernel, fresh[~inside], self.members)
            self._row_of[fresh] = len(self._rows) + np.arange(len(fresh))
            self._rows = np.concatenate([self._rows, self._factor.lower_solved(sides)])
        return self._rows[np.concatenate([self._row_of[added], [0], self._row_of[held]])]


def _block(kernel: np.ndarray, rows: RowNumbers, columns: RowNumbers) -> np.ndarray:
    """K[rows][:, columns]; a small one by NumPy, so that a small fit need not compile a loop for it."""
    if len(rows) <= GATHERED_ROWS:
        return kernel[np.ix_(rows, columns)]
    block = np.empty((len(rows), len(columns)), kernel.dtype)
    parts = [slice(i, i + GATHERED_ROWS) for i in range(0, len(rows), GATHERED_ROWS)]
    threads.run(update_gathered, [(block[part], kernel, rows[part], columns) for part in parts])
    return block


def _shifted(block: np.ndarray, ridge: float, dtype: DTypeLike) -> np.ndarray:
    """The block plus ridge I, in `dtype`; one of that type already is overwritten."""
    block = block.astype(dtype, copy=False)
    block.flat[:: len(block) + 1] += np.asarray(ridge, dtype)
    return block
