"""Kernels: functions, blocks of values, rows of the Gram matrix within a byte budget."""

from .functions import KERNEL_NAMES, Kernel
from .rows import expand, kernel_rows

__all__ = ["KERNEL_NAMES", "Kernel", "expand", "kernel_rows"]
