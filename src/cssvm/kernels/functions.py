"""The kernels, one class each, and the registry that everything else reads.

A kernel states what it is a function of, its parameters, whether it is bounded and positive definite, and the function
itself, written once as a scalar function that Numba compiles into a loop over tiles and NumPy applies to arrays:

- kernels of a distance: ``function(x)`` of x = -gamma * distance, which rounding may leave slightly above 0;
- kernels of the inner product: ``function(x, degree)`` of x = gamma * product + coef0.

To add a kernel, write its function and its class below, and enter the class in `KERNELS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numba.extending import register_jitable

from ..runtime.compiler import njit
from .base import ComputedKernel, Kernel
from .given import Called, Precomputed
from .loops import exp_nonpositive
from .relations import InnerProduct, L1Distance, SquaredDistance


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


class DistanceKernel(ComputedKernel):
    """function(-gamma * distance), at most 1."""

    parameters = ("gamma",)
    bounded = True
    positive_definite = True
    function: ClassVar[Any]  # x -> k
    _loop: ClassVar[Any]

    def __init_subclass__(cls) -> None:
        cls._loop = staticmethod(distance_loop(cls.function))

    def update_tile(
        self, values: np.ndarray, left: np.ndarray, right: np.ndarray, out: np.ndarray, top: int, start: int
    ) -> None:
        """Sizes come multiplied by gamma."""
        self._loop(values, left, right, -self.gamma * self.relation.factor, out, top, start)

    def update_from_relation(self, values: np.ndarray, out: np.ndarray, top: int) -> None:
        """The values are all of the distance: there are no sizes to add."""
        none = np.zeros(max(values.shape), values.dtype)
        self._loop(values, none, none, -self.gamma, out, top, 0)

    def of_relation(self, values: np.ndarray) -> np.ndarray:
        """By NumPy."""
        return self.function(-self.gamma * values)


class ProductKernel(ComputedKernel):
    """function(gamma * product + coef0, degree)."""

    relation = InnerProduct()
    function: ClassVar[Any]  # (x, degree) -> k
    _loop: ClassVar[Any]

    def __init_subclass__(cls) -> None:
        cls._loop = staticmethod(product_loop(cls.function))

    def update_tile(
        self, values: np.ndarray, left: np.ndarray, right: np.ndarray, out: np.ndarray, top: int, start: int
    ) -> None:
        """Sizes do not matter."""
        self._loop(values, float(self.gamma), float(self.coef0), int(self.degree), out, top, start)

    def update_from_relation(self, values: np.ndarray, out: np.ndarray, top: int) -> None:
        """The values of tiles are the products themselves."""
        self.update_tile(values, values, values, out, top, 0)

    def of_relation(self, values: np.ndarray) -> np.ndarray:
        """By NumPy."""
        return self.function(self.gamma * values + self.coef0, int(self.degree))


@register_jitable
def _identity(x, degree):  # type: ignore[no-untyped-def]
    return x


@register_jitable
def _power(x, degree):  # type: ignore[no-untyped-def]
    power = x * 0.0 + 1.0
    for _ in range(degree):
        power *= x
    return power


@register_jitable
def _tanh(x, degree):  # type: ignore[no-untyped-def]
    return np.tanh(x)


# Whole numbers in float32: products with float32 stay float32, and with float64 float64.
_ONE, _THREE, _SIX, _TEN = map(np.float32, (1, 3, 6, 10))


@register_jitable
def _matern32(x):  # type: ignore[no-untyped-def]
    s = np.sqrt(_SIX * np.abs(x))
    return (_ONE + s) * exp_nonpositive(-s)


@register_jitable
def _matern52(x):  # type: ignore[no-untyped-def]
    s = np.sqrt(_TEN * np.abs(x))
    return (_ONE + s + s * s / _THREE) * exp_nonpositive(-s)


class Linear(ProductKernel):
    """<x, z>."""

    name = "linear"
    positive_definite = True
    is_linear = True
    function = staticmethod(_identity)


class Poly(ProductKernel):
    """(gamma <x, z> + coef0) ** degree."""

    name = "poly"
    parameters = ("gamma", "degree", "coef0")
    positive_definite = True
    function = staticmethod(_power)


class Rbf(DistanceKernel):
    """exp(-gamma |x - z|_2^2)."""

    name = "rbf"
    relation = SquaredDistance()
    function = staticmethod(exp_nonpositive)


class Sigmoid(ProductKernel):
    """tanh(gamma <x, z> + coef0)."""

    name = "sigmoid"
    parameters = ("gamma", "coef0")
    bounded = True
    function = staticmethod(_tanh)


class Laplacian(DistanceKernel):
    """exp(-gamma |x - z|_1)."""

    name = "laplacian"
    relation = L1Distance()
    function = staticmethod(exp_nonpositive)


class Matern32(DistanceKernel):
    """(1 + s) exp(-s), s = sqrt(6 gamma) |x - z|_2: the Matern kernel of nu = 3/2 and length scale 1 / sqrt(2 gamma).

    With that scale gamma means what it means for rbf, which is the limit of Matern kernels as nu grows.
    """

    name = "matern32"
    relation = SquaredDistance()
    steepness = 3.0
    function = staticmethod(_matern32)


class Matern52(DistanceKernel):
    """(1 + s + s^2 / 3) exp(-s), s = sqrt(10 gamma) |x - z|_2: the one of nu = 5/2, scaled like `Matern32`."""

    name = "matern52"
    relation = SquaredDistance()
    steepness = 5 / 3
    function = staticmethod(_matern52)


KERNELS: dict[str, type[Kernel]] = {
    kernel.name: kernel for kernel in (Linear, Poly, Rbf, Sigmoid, Laplacian, Matern32, Matern52, Precomputed)
}
KERNEL_NAMES = tuple(KERNELS)
DEFAULT_KERNEL = Rbf.name
LINEAR_KERNEL = Linear.name


def kernel_class(kernel: Any) -> type[Kernel]:
    """The class of a kernel given by name or as a callable."""
    return Called if callable(kernel) else KERNELS[kernel]


def make_kernel(kernel: Any, **parameters: Any) -> Kernel:
    """The kernel given by name or as a callable; of the parameters, those that it has."""
    kind = kernel_class(kernel)
    own = {name: value for name, value in parameters.items() if name in kind.parameters}
    return Called(function=kernel) if callable(kernel) else kind(**own)


def is_pairwise(kernel: Any) -> bool:
    """Whether X is a kernel matrix; False also for what is no kernel."""
    return isinstance(kernel, str) and kernel in KERNELS and KERNELS[kernel].pairwise
