"""The memory budget of kernel values, and returning free memory to the system."""

from __future__ import annotations

import contextlib
import ctypes
import os
from typing import Any

MEGABYTE = 1 << 20
SMALL_BUDGET = 64 * MEGABYTE


def memory_budget(cache_size: Any, wanted: int) -> int:
    """Bytes for kernel values: `cache_size` in megabytes, or "auto" for half of the memory available.

    If little is `wanted`, the system is not asked.
    """
    if cache_size != "auto":
        return int(cache_size * MEGABYTE)
    return SMALL_BUDGET if wanted <= SMALL_BUDGET else available_bytes() // 2


def available_bytes() -> int:
    """Memory that this process may still take: available to the system, or allowed by its control group."""
    limits = []
    try:
        with open("/proc/meminfo") as lines:
            limits += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
        with open("/sys/fs/cgroup/memory.max") as limit, open("/sys/fs/cgroup/memory.current") as current:
            limits.append(int(limit.read()) - int(current.read()))
    except (OSError, ValueError):  # no such file on this system, or no limit set ("max")
        pass
    if not limits and hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
        limits.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return max(SMALL_BUDGET, min(limits, default=1024 * MEGABYTE))


def give_back() -> None:
    """Return free memory to the system, which glibc does not always do by itself."""
    with contextlib.suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)
