"""The kernels, one class each, and the registry that everything else reads.

A kernel's function is written once, as a scalar function that Numba compiles into a loop over tiles and NumPy applies
to arrays: ``function(x)`` of x = -gamma * distance, which rounding may leave above 0, or ``function(x, degree)`` of
x = gamma * product + coef0. All that its loop is compiled from is in this file: Numba keeps compiled code on disk
and looks at the file of the loop alone to see whether it is out of date.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numba import types
from numba.extending import overload, register_jitable

from .._runtime import threads
from .._runtime.compiler import OPTIONS, bits_of_float64, float32_from_bits, float64_from_bits, fmax, fmin, njit
from .base import ComputedKernel, Expansion, Kernel
from .gram import CachedGram, GramRows, MatrixGram, SharedTerm, SharedValues, row_budget
from .pairwise import InnerProduct, L1Distance, SquaredDistance, far_centre
from .tiles import KERNEL_ERROR

_f = np.float32
# Cody-Waite: exp(x) = 2^k exp(r), r = x - k log 2 with log 2 split in two so that k * HIGH is exact.
_LOG2E_32, _HIGH_32, _LOW_32 = _f(1.4426950408889634), _f(0.693359375), _f(-2.12194440e-4)
_HIGH_64, _LOW_64 = 6.93145751953125e-1, 1.42860682030941723212e-6
_P0, _P1, _P2, _P3, _P4, _P5 = (  # minimax polynomial of (exp(r) - 1 - r) / r^2 on |r| <= log(2)/2 (Cephes expf)
    _f(1.9875691500e-4), _f(1.3981999507e-3), _f(8.3334519073e-3),
    _f(4.1665795894e-2), _f(1.6666665459e-1), _f(5.0000001201e-1),
)  # fmt: skip
# exp of less is taken to be exp of these, 2e-19 and 1e-100, far below the rounding errors of sums with k(x, x) = 1.
# Their products are normal numbers still: a factorisation that meets smaller ones takes forty times as long.
_SMALLEST_32, _SMALLEST_64 = _f(-43.0), -230.0
_ROUNDER = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer that sits in the low bits


def exp_nonpositive(x: Any) -> Any:
    """exp(min(x, 0)) with a relative error below 1e-6 (float32, 0.6 ns) or 2e-15 (float64, 1.9 ns)."""
    return np.exp(np.minimum(x, 0))


def _exp_float32(x):  # type: ignore[no-untyped-def]
    x = fmin(fmax(x, _SMALLEST_32), _f(0.0))
    k = np.int32(x * _LOG2E_32 - _f(0.5))  # truncation towards zero rounds a negative number minus 1/2 to nearest
    whole = _f(k)
    r = (x - whole * _HIGH_32) - whole * _LOW_32
    y = ((((_P0 * r + _P1) * r + _P2) * r + _P3) * r + _P4) * r + _P5
    return (y * r * r + r + _f(1.0)) * float32_from_bits((k + np.int32(127)) << np.int32(23))


def _exp_float64(x):  # type: ignore[no-untyped-def]
    x = fmin(fmax(x, _SMALLEST_64), 0.0)
    shifted = x * 1.4426950408889634 + _ROUNDER
    whole = shifted - _ROUNDER
    r = (x - whole * _HIGH_64) - whole * _LOW_64
    y = 1 / 6227020800.0  # Taylor to r^13: |r| <= 0.35 leaves 4e-17
    y = y * r + 1 / 479001600.0
    y = y * r + 1 / 39916800.0
    y = y * r + 1 / 3628800.0
    y = y * r + 1 / 362880.0
    y = y * r + 1 / 40320.0
    y = y * r + 1 / 5040.0
    y = y * r + 1 / 720.0
    y = y * r + 1 / 120.0
    y = y * r + 1 / 24.0
    y = y * r + 1 / 6.0
    y = y * r + 0.5
    y = y * r + 1.0
    y = y * r + 1.0
    return y * float64_from_bits((bits_of_float64(shifted) + 1023) << 52)


@overload(exp_nonpositive, jit_options=OPTIONS)
def _exp_nonpositive(x):  # type: ignore[no-untyped-def]
    return _exp_float32 if x == types.float32 else _exp_float64


def at_most(x: Any, limit: Any) -> Any:
    """min(x, limit), of the type of x."""
    return np.minimum(x, limit)


@overload(at_most, jit_options=OPTIONS)
def _at_most(x, limit):  # type: ignore[no-untyped-def]
    kind = np.float32 if x == types.float32 else np.float64
    return lambda x, limit: fmin(x, kind(limit))


def distance_loop(function: Callable[[Any], Any]) -> Callable[..., None]:
    """out[top + i, start + j] = function(scale * values[i, j] - left[i] - right[j]), compiled.

    The argument is computed in the precision of `values`, the function in that of `out`.
    """

    @njit
    def update(values, left, right, scale, out, top, start):  # type: ignore[no-untyped-def]
        kind = out.dtype.type
        factor = values.dtype.type(scale)
        for i in range(values.shape[0]):
            source, shift = values[i], left[i]
            target = out[top + i, start : start + values.shape[1]]
            for j in range(source.shape[0]):
                target[j] = function(kind(factor * source[j] - (shift + right[j])))

    return update


def product_loop(function: Callable[[Any, Any], Any]) -> Callable[..., None]:
    """out[top + i, start + j] = function(scale * values[i, j] + coef0, degree), compiled, computed in float64."""

    @njit
    def update(values, scale, coef0, degree, out, top, start):  # type: ignore[no-untyped-def]
        for i in range(values.shape[0]):
            source = values[i]
            target = out[top + i, start : start + values.shape[1]]
            for j in range(source.shape[0]):
                target[j] = function(scale * source[j] + coef0, degree)

    return update


EXPAND_VALUES = 1 << 22  # kernel values of a callable at a time
SYMMETRY_ROWS = 512  # compared at a time in the symmetry check, to keep its memory small


class DistanceKernel(ComputedKernel):
    """function(-gamma * distance), at most 1."""

    parameters = ("gamma",)
    tolerates_rounding = True
    positive_definite = True
    function: ClassVar[Any]  # x -> k
    _loop: ClassVar[Any]

    def __init_subclass__(cls) -> None:
        cls._loop = staticmethod(distance_loop(cls.function))

    def update_tile(self, values: Any, left: Any, right: Any, factor: float, out: Any, top: int, start: int) -> None:
        self._loop(values, left, right, -self.gamma * factor, out, top, start)

    def from_term(self, values: np.ndarray) -> np.ndarray:
        return self.function(-self.gamma * values)


class ProductKernel(ComputedKernel):
    """function(gamma * product + coef0, degree)."""

    term = InnerProduct()
    remedy = ", or lower gamma"
    function: ClassVar[Any]  # (x, degree) -> k
    _loop: ClassVar[Any]

    def __init_subclass__(cls) -> None:
        cls._loop = staticmethod(product_loop(cls.function))

    def update_tile(self, values: Any, left: Any, right: Any, factor: float, out: Any, top: int, start: int) -> None:
        self._loop(values, float(self.gamma), float(self.coef0), int(self.degree), out, top, start)

    def from_term(self, values: np.ndarray) -> np.ndarray:
        return self.function(self.gamma * values + self.coef0, int(self.degree))

    def bound(self, size: float) -> float:
        """The largest argument of the function."""
        return self.gamma * size + abs(self.coef0)


@register_jitable
def _power(x, degree):  # type: ignore[no-untyped-def]
    power = x * 0.0 + 1.0
    while degree > 0:  # by its binary digits: a degree of a billion takes thirty steps
        if degree % 2 == 1:
            power = power * x
        degree //= 2
        if degree > 0:
            x = x * x
    return power


@register_jitable
def _tanh(x, degree):  # type: ignore[no-untyped-def]
    return np.tanh(x)


# Whole numbers in float32: products with float32 stay float32, and with float64 float64.
_ONE, _THREE, _SIX, _TEN = map(np.float32, (1, 3, 6, 10))
_FAR = np.float32(490_000)  # s^2 past which k is zero; larger ones would outgrow the smallest exp(-s) there is


@register_jitable
def _matern32(x):  # type: ignore[no-untyped-def]
    s = np.sqrt(at_most(_SIX * np.abs(x), _FAR))
    return (_ONE + s) * exp_nonpositive(-s)


@register_jitable
def _matern52(x):  # type: ignore[no-untyped-def]
    s = np.sqrt(at_most(_TEN * np.abs(x), _FAR))
    return (_ONE + s + s * s / _THREE) * exp_nonpositive(-s)


NO_SUM = 1e-12  # of |coef|, below which a sum of coefficients is a zero that was rounded


class Linear(ComputedKernel):
    """<x, z>, which is the term itself: values are copied, and nothing is compiled."""

    name = "linear"
    term = InnerProduct()
    positive_definite = True
    is_linear = True

    def rank(self, n_features: int) -> int:
        return n_features

    def expansion(self, support: np.ndarray, vectors: Any, coef: np.ndarray, dtype: Any = None) -> Expansion:
        with threads.single_threaded_blas():
            weights = self.weights(vectors, coef)
        return threads.single_threaded_blas()(lambda X: np.asarray(X @ weights, dtype=np.float64).ravel())

    def weights(self, vectors: Any, coef: np.ndarray) -> np.ndarray:
        """The weights w = sum_j coef_j v_j, (d,) float64, computed relative to a centre where digits would cancel."""
        if not len(coef):
            return np.zeros(vectors.shape[1])
        centre, total = far_centre(vectors), coef.sum()
        weights = np.asarray(coef @ (vectors if centre is None else vectors - centre), dtype=np.float64)
        if centre is not None and abs(total) > NO_SUM * np.abs(coef).sum():
            weights += total * centre
        return weights

    def shared(self, X: Any, dtype: Any, allowed: float = KERNEL_ERROR) -> SharedValues:
        """The products of all pairs of samples relative to a centre, which changes the intercept only."""
        self.check_finite(X)
        centre = far_centre(X)
        return SharedTerm.from_samples(self.term, X if centre is None else X - centre, dtype)

    def update_tile(self, values: Any, left: Any, right: Any, factor: float, out: Any, top: int, start: int) -> None:
        out[top : top + values.shape[0], start : start + values.shape[1]] = values

    def from_term(self, values: np.ndarray) -> np.ndarray:
        return values

    def bound(self, size: float) -> float:
        return size


MAX_COUNTED = 16  # features or degrees; with more of both, monomials outnumber any rows


class Poly(ProductKernel):
    """(gamma <x, z> + coef0) ** degree."""

    name = "poly"
    parameters = ("gamma", "degree", "coef0")
    positive_definite = True
    function = staticmethod(_power)
    remedy = ", or lower gamma or degree"

    def rank(self, n_features: int) -> int:
        """The number of monomials of at most this degree."""
        few = min(n_features, int(self.degree)) <= MAX_COUNTED
        return comb(n_features + int(self.degree), n_features) if few else sys.maxsize

    def bound(self, size: float) -> float:
        """The power of the largest argument, or 1."""
        return max(1.0, float(np.float64(super().bound(size)) ** self.degree))


class Rbf(DistanceKernel):
    """exp(-gamma |x - z|_2^2)."""

    name = "rbf"
    term = SquaredDistance()
    function = staticmethod(exp_nonpositive)


class Sigmoid(ProductKernel):
    """tanh(gamma <x, z> + coef0)."""

    name = "sigmoid"
    parameters = ("gamma", "coef0")
    function = staticmethod(_tanh)


class Laplacian(DistanceKernel):
    """exp(-gamma |x - z|_1)."""

    name = "laplacian"
    term = L1Distance()
    function = staticmethod(exp_nonpositive)


class Matern32(DistanceKernel):
    """(1 + s) exp(-s), s = sqrt(6 gamma) |x - z|_2: nu = 3/2, length scale 1 / sqrt(2 gamma) as for the limit, rbf."""

    name = "matern32"
    term = SquaredDistance()
    lipschitz = 3.0
    function = staticmethod(_matern32)


class Matern52(DistanceKernel):
    """(1 + s + s^2 / 3) exp(-s), s = sqrt(10 gamma) |x - z|_2: nu = 5/2, scaled like `Matern32`."""

    name = "matern52"
    term = SquaredDistance()
    lipschitz = 5 / 3
    function = staticmethod(_matern52)


class Precomputed(Kernel):
    """X is the kernel matrix itself, (n, n) in training and (n_new, n) for new samples."""

    name = "precomputed"
    pairwise = True

    @classmethod
    def select(cls, X: Any, rows: Any, columns: Any) -> Any:
        return X[np.ix_(rows, columns)]

    @classmethod
    def vectors(cls, X: Any, used: Any) -> Any:
        return np.empty((0, 0), dtype=X.dtype)

    @classmethod
    def check_training_matrix(cls, X: Any) -> None:
        """Raise ValueError if X is not square and, up to the rounding of its dtype, symmetric."""
        n_rows, n_columns = X.shape
        if n_rows != n_columns:
            raise ValueError(
                f'X must be a square kernel matrix with kernel="{cls.name}"; got shape {X.shape}. '
                "Pass K(X, X) of shape (n_samples, n_samples) to fit, and K(X_new, X) to predict."
            )
        allowed = np.sqrt(np.finfo(X.dtype).eps) * np.abs(X).max()
        for start in range(0, n_rows, SYMMETRY_ROWS):
            block = slice(start, start + SYMMETRY_ROWS)
            difference = np.abs(X[block] - X[:, block].T)
            if difference.max() > allowed:
                i, j = np.unravel_index(difference.argmax(), difference.shape)
                raise ValueError(
                    f'X must be a symmetric kernel matrix with kernel="{cls.name}"; got '
                    f"X[{start + i}, {j}]={X[start + i, j]:g} and X[{j}, {start + i}]={X[j, start + i]:g}. "
                    "Pass K(X, X), or (X + X.T) / 2 if the difference is noise."
                )

    def gram(self, X: Any, *, upper_bounds: np.ndarray, tol: float, cache_size: Any = "auto") -> GramRows:
        return MatrixGram(_symmetric(_dense(X)))

    def expansion(self, support: np.ndarray, vectors: Any, coef: np.ndarray, dtype: Any = None) -> Expansion:
        return lambda X: np.asarray(X[:, support] @ coef, dtype=np.float64).ravel()

    def matrix(self, A: Any, B: Any) -> np.ndarray:
        raise TypeError("X is a kernel matrix: kernel values between other samples cannot be computed")

    def shared(self, X: Any, dtype: Any, allowed: float = 0.0) -> SharedValues:
        return SharedValues(_symmetric(X), dtype)


@dataclass(frozen=True, kw_only=True)
class CallableKernel(Kernel):
    """A function ``(A, B) -> (len(A), len(B))`` matrix, dense or sparse, called from the calling thread only."""

    function: Callable[[Any, Any], Any]

    name = "callable"

    def matrix(self, A: Any, B: Any) -> np.ndarray:
        block = np.asarray(_dense(self.function(A, B)), dtype=np.float64)
        if block.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"kernel returned an array of shape {block.shape} for {A.shape[0]} samples against {B.shape[0]}; "
                "a callable kernel must return the (len(A), len(B)) matrix of kernel values"
            )
        if not np.isfinite(block).all():
            raise ValueError(
                f"kernel returned {block[~np.isfinite(block)][0]} among {block.shape[0]} x {block.shape[1]} values; a "
                "callable kernel must return finite numbers. Scale the features, or correct the function."
            )
        return block

    def gram(self, X: Any, *, upper_bounds: np.ndarray, tol: float, cache_size: Any = "auto") -> GramRows:
        return CachedGram(CallableGram(self, X), row_budget(cache_size, X.shape[0]))

    def expansion(self, support: np.ndarray, vectors: Any, coef: np.ndarray, dtype: Any = None) -> Expansion:
        step = max(1, EXPAND_VALUES // max(1, len(coef)))

        def sums(X: Any) -> np.ndarray:
            total = np.zeros(X.shape[0])
            for i in range(0, X.shape[0] if len(coef) else 0, step):
                total[i : i + step] = self.matrix(X[i : i + step], vectors) @ coef
            return total

        return sums

    def shared(self, X: Any, dtype: Any, allowed: float = 0.0) -> SharedValues:
        return SharedValues(self.matrix(X, X), dtype)


class CallableGram:
    """Kernel values of a callable, as the source of a `CachedGram`; they have no independent reference."""

    dtype = np.dtype(np.float64)

    def __init__(self, kernel: CallableKernel, X: Any):
        self.kernel, self.X, self.rank, self.errors = kernel, X, X.shape[0], np.zeros(X.shape[0])
        self.diagonal = kernel.diagonal_of(X)

    def update_block(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        out[: len(left), : len(right)] = self.reference_values(left, right)

    def reference_values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """K[left][:, right], by the same code."""
        return self.kernel.matrix(self.X[left], self.X[right])


def _symmetric(matrix: Any) -> Any:
    """The matrix made exactly symmetric: the solver treats K_ij and K_ji as one number."""
    return matrix if np.array_equal(matrix, matrix.T) else (matrix + matrix.T) / 2


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if sp.issparse(matrix) else matrix


KERNELS: dict[str, type[Kernel]] = {
    kernel.name: kernel for kernel in (Linear, Poly, Rbf, Sigmoid, Laplacian, Matern32, Matern52, Precomputed)
}
KERNEL_NAMES = tuple(KERNELS)
DEFAULT_KERNEL = Rbf.name
LINEAR_KERNEL = Linear.name


def kernel_class(kernel: Any) -> type[Kernel]:
    """The class of a kernel given by name or as a callable."""
    return CallableKernel if callable(kernel) else KERNELS[kernel]


def make_kernel(kernel: Any, **parameters: Any) -> Kernel:
    """The kernel given by name or as a callable, with those of the parameters that it has."""
    kind = kernel_class(kernel)
    own = {name: value for name, value in parameters.items() if name in kind.parameters}
    return CallableKernel(function=kernel) if callable(kernel) else kind(**own)


def is_pairwise(kernel: Any) -> bool:
    """Whether X is a kernel matrix; False also for anything that is not a kernel."""
    return isinstance(kernel, str) and kernel in KERNELS and KERNELS[kernel].pairwise
