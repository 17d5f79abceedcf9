"""Atomic writes: a file is written under a temporary name in the same folder, then renamed.

Of a symbolic link the target is replaced. Pipes and devices are written to directly.
"""

from __future__ import annotations

import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

NAME_KEPT = 40  # characters of a name that the temporary file has too; a system may allow 255 bytes in all


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which replaces `path` if the block succeeds and is removed if it raises.

    An OSError of writing names `path`, not the temporary file; any other error is unchanged.
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

    inputs : files that the result is made from, by their role; raises ValueError if `path` is one of them.
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
    """Whether `path` is a pipe or a device, perhaps behind a link; a link to itself raises OSError."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def temporary_path(place: Path) -> Path:
    """A new hidden name in the same folder."""
    return place.with_name(f".{place.name[:NAME_KEPT]}.{secrets.token_hex(8)}")


class _Output(io.FileIO):
    """A file, or an open one, whose errors of writing name the file that was requested."""

    def __init__(self, file: Any, asked_for: Path):
        super().__init__(file, "wb")
        self._asked_for = asked_for

    def write(self, content: Any) -> int:
        """Write some of the bytes; returns how many."""
        with _naming(self._asked_for):
            return os.write(self.fileno(), content)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Add `path` to an OSError without a file name, except for a broken pipe."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None and not isinstance(error, BrokenPipeError):
            raise _about(path, error) from error
        raise


def _about(path: Path, error: OSError) -> OSError:
    """The same error of another file."""
    return type(error)(error.errno, error.strerror, str(path))
