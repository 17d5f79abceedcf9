"""Kernels: one class each, the registry, rows of the Gram matrix within a byte budget, values that a search shares."""

from .base import Expansion, Kernel
from .functions import (
    DEFAULT_KERNEL,
    KERNEL_NAMES,
    KERNELS,
    LINEAR_KERNEL,
    Linear,
    is_pairwise,
    kernel_class,
    make_kernel,
)
from .gram import GramRows, SharedValues
from .tiles import error_allowed, float32_suffices

__all__ = [
    "DEFAULT_KERNEL",
    "KERNELS",
    "KERNEL_NAMES",
    "LINEAR_KERNEL",
    "Expansion",
    "GramRows",
    "Kernel",
    "Linear",
    "SharedValues",
    "error_allowed",
    "float32_suffices",
    "is_pairwise",
    "kernel_class",
    "make_kernel",
]
