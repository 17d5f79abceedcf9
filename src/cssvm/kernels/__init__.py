"""Kernels: functions, blocks of values, rows of the Gram matrix within a byte budget."""

from .functions import KERNEL_NAMES, Kernel
from .rows import expand, float32_suffices, kernel_rows, memory_budget
from .shared import SharedValues

__all__ = [
    "KERNEL_NAMES",
    "Kernel",
    "SharedValues",
    "expand",
    "float32_suffices",
    "kernel_rows",
    "memory_budget",
]
