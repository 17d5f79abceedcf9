"""Files that are there either as a whole or not at all: written beside their place, then put into it.

A link stays, and the file that it leads to is replaced. What is there and no file, a pipe or a device, is written to.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

NAME_KEPT = 100  # characters of a name that the file beside it has too; a system may allow 255 in all
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # these name no file


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` when the block ends well and vanishes when it does not.

    An OSError names `path`, not the file beside it.
    """
    if is_no_file(path):
        with _naming(path), path.open("wb") as file:
            yield file
        return
    place = path.resolve()
    try:
        handle, beside = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:NAME_KEPT]}.")
    except OSError as error:
        raise _about(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, _mode(place))
        os.replace(beside, place)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(beside)
        if isinstance(error, OSError) and (error.filename == beside or error.errno in DISK_FULL):
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
    if is_no_file(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(f"{path} cannot be written: no permission to write to it.")
        return
    folder = path.resolve().parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {folder}.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{path} cannot be written: no permission to write to {folder}.")


def is_no_file(path: Path) -> bool:
    """Whether something is there that is neither a file nor a folder: a pipe or a device, perhaps behind a link."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """An OSError that names no file is about this one; a reader that has gone is none."""
    try:
        yield
    except OSError as error:
        if error.filename is None and not isinstance(error, BrokenPipeError):
            raise _about(path, error) from error
        raise


def _about(path: Path, error: OSError) -> OSError:
    """The same error of another file."""
    return type(error)(error.errno, error.strerror, str(path))


def _mode(path: Path) -> int:
    """Permissions of the file that is replaced, or those that a new file gets here."""
    return path.stat().st_mode & 0o777 if path.exists() else new_mode(0o666)


def new_mode(wanted: int) -> int:
    """The permissions that something new gets here, of those wanted."""
    umask = os.umask(0)
    os.umask(umask)
    return wanted & ~umask
