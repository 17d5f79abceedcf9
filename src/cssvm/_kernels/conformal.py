"""A kernel magnified near given rows: conformal transformations of its feature space, one after the other.

    K(x, z) = d(x) k(x, z) d(z),    d(x) = product over rounds r of D_r(x)
    D_r(x)  = sum over centres v of weight_v exp(-|phi_r(x) - phi_r(v)|^2 / width_v)

k is the kernel before all rounds and phi_r are the features of the kernel K_r before round r, so that
|phi_r(x) - phi_r(v)|^2 = K_r(x, x) + K_r(v, v) - 2 K_r(x, v). Angles between features stay as they are; lengths grow
near the centres and shrink elsewhere. The weights of a round are in such a unit that the mean of K(x, x) over the
training rows stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._core.types import RowNumbers, Vector
from .base import Expansion, Kernel
from .providers import GramRows, ScaledRows
from .shared import SharedMatrix, SharedValues

BLOCK_VALUES = 1 << 22  # kernel values at a time


@dataclass(frozen=True)
class Magnification:
    """One round: where, how far and how much.

    support : (m,) row numbers of the centres in the training X; vectors : these rows, as the kernel keeps them
    scaling : (m,) d before the round, at the centres; own : (m,) K_r(v, v); widths, weights : (m,)
    """

    support: RowNumbers
    vectors: Any
    scaling: Vector
    own: Vector
    widths: Vector
    weights: Vector

    def of(self, scaling: Vector, own: Vector, values: np.ndarray) -> Vector:
        """D_r (n,) of rows with d (n,) before the round, k(x, x) (n,), and k(x, v) (n, m) in `values`."""
        squares = squared_distances(scaling**2 * own, self.own, np.multiply.outer(scaling, self.scaling) * values)
        return np.exp(-squares / self.widths) @ self.weights


@dataclass(frozen=True, kw_only=True)
class Conformal(Kernel):
    """The kernel of the formula that opens this module.

    training : (n,) d of the training rows; norms : gives k(x, x) of the rows of an X.
    """

    base: Kernel
    norms: Callable[[Any], Vector]
    training: Vector
    rounds: tuple[Magnification, ...] = ()

    name = "conformal"

    @classmethod
    def of(cls, base: Kernel, X: Any, rows: RowNumbers) -> Conformal:
        """The kernel as it is, trained on these rows of X."""
        return cls(base=base, norms=base.norms_from(X, rows), training=np.ones(X.shape[0]), gamma=base.gamma)

    def magnified(
        self, X: Any, centres: RowNumbers, *, widths: Vector, weights: Vector, row_weights: Vector
    ) -> Conformal:
        """One more round on the training rows X, with these of them as centres.

        row_weights : (n,), by which the mean of K(x, x) is taken.
        """
        scaling, own = self.training, self.norms(X)
        before = scaling**2 * own
        vectors = self.base.vectors(X, centres)
        last = Magnification(centres, vectors, scaling[centres], before[centres], widths, weights / weights.sum())
        last_of_rows = np.empty(len(scaling))
        for part in _parts(len(scaling), len(centres)):
            values = self.base.between(X[part], centres, vectors)
            last_of_rows[part] = last.of(scaling[part], own[part], values)
        mean = [np.average(np.abs(of_rows), weights=row_weights) for of_rows in (before, last_of_rows**2 * before)]
        unit = np.sqrt(mean[0] / mean[1]) if mean[1] > 0 else 1.0
        last = replace(last, weights=unit * last.weights)
        return replace(self, training=scaling * unit * last_of_rows, rounds=(*self.rounds, last))

    def squared_distances(self, X: Any, left: RowNumbers, right: RowNumbers) -> np.ndarray:
        """|phi(x) - phi(z)|^2 of the training rows `left` and `right`, (len(left), len(right)) float64."""
        own = [self.training[rows] ** 2 * self.norms(X[rows]) for rows in (left, right)]
        values = self.base.between(X[left], right, self.base.vectors(X, right))
        return squared_distances(own[0], own[1], np.multiply.outer(self.training[left], self.training[right]) * values)

    def scaling(self, X: Any) -> Vector:
        """The d of the rows of any X, (len(X),) float64."""
        scaling, own = np.ones(X.shape[0]), self.norms(X)
        for last in self.rounds:
            for part in _parts(X.shape[0], len(last.support)):
                values = self.base.between(X[part], last.support, last.vectors)
                scaling[part] *= last.of(scaling[part], own[part], values)
        return scaling

    @property
    def pairwise(self) -> bool:  # type: ignore[override]
        """Whether X is the matrix of the kernel before all rounds."""
        return self.base.pairwise

    def select(self, X: Any, rows: Any, columns: Any) -> Any:  # type: ignore[override]
        """As the kernel before all rounds."""
        return self.base.select(X, rows, columns)

    def vectors(self, X: Any, used: Any) -> Any:  # type: ignore[override]
        """As the kernel before all rounds."""
        return self.base.vectors(X, used)

    def check_training_matrix(self, X: Any) -> None:  # type: ignore[override]
        """As the kernel before all rounds."""
        self.base.check_training_matrix(X)

    def on(self, rows: RowNumbers) -> Conformal:
        """With d of these training rows only."""
        return replace(self, training=self.training[rows])

    def rows(self, X: Any, *, upper_bounds: np.ndarray, tol: float, cache_size: Any = "auto") -> GramRows:
        """Rows of the kernel before all rounds, scaled."""
        largest = upper_bounds * self.training * self.training.max()  # what rounding errors of k are multiplied by
        own = self.base.value_rows(X, upper_bounds=largest, tol=tol, cache_size=cache_size)
        return ScaledRows(own, self.training)

    def expansion_dtype(self, vectors: Any, coef: np.ndarray) -> Any:
        """Float64: scores are multiplied by d, whose size at new rows is not known."""
        return np.float64

    def expansion(self, support: np.ndarray, vectors: Any, coef: np.ndarray, dtype: Any = None) -> Expansion:
        """Sums of the kernel before all rounds, scaled."""
        own = self.base.expansion(support, vectors, coef * self.training[support], self.expansion_dtype(vectors, coef))
        return lambda X: self.scaling(X) * own(X)

    def matrix(self, A: Any, B: Any) -> np.ndarray:
        """All values of the kernel before all rounds, scaled."""
        return np.multiply.outer(self.scaling(A), self.scaling(B)) * self.base.matrix(A, B)

    def shared(self, X: Any, dtype: Any, allowed: float = 0.0) -> SharedValues:
        """All kernel values."""
        return SharedMatrix(self.matrix(X, X), dtype)


def squared_distances(left: Vector, right: Vector, values: np.ndarray) -> np.ndarray:
    """K(x, x) + K(z, z) - 2 K(x, z), at least 0: rounding errors, and kernels without features, may leave less."""
    return np.maximum(left[:, np.newaxis] + right - 2.0 * values, 0.0)


def _parts(n_rows: int, n_columns: int) -> list[slice]:
    """Slices of rows whose kernel values with so many others are computed at a time."""
    step = max(1, BLOCK_VALUES // max(1, n_columns))
    return [slice(i, i + step) for i in range(0, n_rows, step)]
