"""Current and peak memory of this process on Linux; None elsewhere."""

import contextlib
import ctypes
import gc
from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")
RESET_PEAK = "5"


def status_bytes(field: str) -> int | None:
    """A line of /proc/self/status: VmRSS, resident now, or VmHWM, the most that has been resident."""
    try:
        lines = STATUS.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":")), None)


def settle() -> int | None:
    """Return free memory to the system, and return the bytes that are left."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)
    return status_bytes("VmRSS")


def reset_peak() -> bool:
    """Reset the peak to the current memory, and return whether that worked."""
    try:
        CLEAR_REFS.write_text(RESET_PEAK)
    except OSError:
        return False
    return True


def peak() -> int | None:
    return status_bytes("VmHWM")
