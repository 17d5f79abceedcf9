"""Files that are there either as a whole or not at all: written under a temporary name next to it, then renamed.

A link stays, and the file that it leads to is replaced. What is there and no file, a pipe or a device, is written to.
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of these the system names no file
NAME_KEPT = 40  # characters of a name that the file next to it has too; a system may allow 255 bytes in all


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` when the block ends well and vanishes when it does not.

    An OSError of writing names `path`, not the file next to it; one of anything else in the block is left alone.
    """
    if is_special_file(path):
        with io.BufferedWriter(_Output(path, path)) as file:
            yield file
        return
    place = path.resolve()
    temporary = str(temporary_path(place))
    replaced = place.stat().st_mode & 0o777 if place.exists() else None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(temporary, flags, 0o666 if replaced is None else replaced)  # the system applies the umask
        with io.BufferedWriter(_Output(handle, path)) as file:
            yield file
            file.flush()
            with _naming(path):
                os.fsync(file.fileno())
        if replaced is not None:
            os.chmod(temporary, replaced)
        with _naming(path):
            os.replace(temporary, place)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename == temporary:
            raise _about(path, error) from error
        raise


def check_writable(path: Path, **inputs: Any) -> None:
    """Raise OSError if `path` cannot be written, before the work whose result it is to hold.

    inputs : files that the result is made from, by what they are; one that it would take the place of is refused.
    """
    for what, name in inputs.items():
        if isinstance(name, str | Path) and Path(name).exists() and path.exists() and path.samefile(name):
            raise ValueError(f"{path} is the {what}, which the output would replace. Give another file with --out.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file.")
    if is_special_file(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(f"{path} cannot be written: no permission to write to it.")
        return
    folder = path.resolve().parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {folder}.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{path} cannot be written: no permission to write to {folder}.")


def is_special_file(path: Path) -> bool:
    """Whether something is there that is neither a file nor a folder: a pipe or a device, perhaps behind a link.

    A link that leads to itself raises OSError.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def temporary_path(place: Path) -> Path:
    """A new hidden name in the same folder."""
    return place.with_name(f".{place.name[:NAME_KEPT]}.{secrets.token_hex(8)}")


class _Output(io.FileIO):
    """A file, or an open one, whose errors of writing name the file that was asked for."""

    def __init__(self, file: Any, asked_for: Path):
        super().__init__(file, "wb")
        self._asked_for = asked_for

    def write(self, content: Any) -> int:
        """Write some of the bytes; returns how many."""
        with _naming(self._asked_for):
            return os.write(self.fileno(), content)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """An OSError that names no file is about this one; a reader that has gone is none."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None and not isinstance(error, BrokenPipeError):
            raise _about(path, error) from error
        raise


def _about(path: Path, error: OSError) -> OSError:
    """The same error of another file."""
    return type(error)(error.errno, error.strerror, str(path))
