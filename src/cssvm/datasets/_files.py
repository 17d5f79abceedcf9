"""Files that can be trusted: compared with their checksum before they are opened, unpacked up to a limit only."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import zipfile
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO, cast

from ._records import Edition, File

# The largest file here, all of KDD 99, unpacks to 743 MB.
MAX_UNPACKED = 1 << 30


class MissingDatasetError(FileNotFoundError):
    """A data set is not in the cache and cannot be fetched; the message tells the manual way."""


class ChecksumError(ValueError):
    """A file is not the one it should be: changed, truncated, or an archive that must not be unpacked."""


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def accepted(file: File, folder: Path) -> Path | None:
    """The path of an edition of the file that is in the folder, or None if there is none at all.

    Raises
    ------
    ChecksumError
        If there are files of that name and none of them has the bytes on record.
    """
    complaints = []
    for edition in file.editions:
        path = folder / edition.path
        if path.is_file():
            complaint = difference(path, edition)
            if complaint is None:
                return path
            complaints.append(f"{path}: {complaint}")
    if complaints:
        raise ChecksumError(
            "Refusing a file that is not the one on record. "
            + "; ".join(complaints)
            + ". Delete it, and it is fetched again."
        )
    return None


def difference(path: Path, edition: Edition) -> str | None:
    """In what a file differs from an edition, or None if it does not."""
    n_bytes = path.stat().st_size
    if edition.n_bytes not in (None, n_bytes):
        return f"{n_bytes:,} bytes, expected {edition.n_bytes:,}"
    if edition.sha256 is None:
        return None
    digest = sha256_of(path)
    return None if digest == edition.sha256 else f"SHA-256 {digest}, expected {edition.sha256}"


class _Limited(io.RawIOBase):
    """A stream that ends in an error after `limit` bytes, whatever an archive's header promised."""

    def __init__(self, stream: BinaryIO, path: Path, limit: int) -> None:
        self._stream, self._path, self._limit, self._n_read = stream, path, limit, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        chunk = self._stream.read(len(buffer))
        self._n_read += len(chunk)
        if self._n_read > self._limit:
            raise ChecksumError(f"{self._path} unpacks to more than {self._limit:,} bytes; nothing here is so large")
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self._stream.close()
        super().close()


def unpacked(path: Path, limit: int = MAX_UNPACKED) -> BinaryIO:
    """A stream of a file's content: that of gzip and bzip2 files, of the only member of a zip archive, or as it is.

    Nothing is written, and no more than `limit` bytes are read.
    """
    if path.suffix == ".zip":
        check_archive(path, limit)
        archive = zipfile.ZipFile(path)
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) != 1:
            raise ChecksumError(f"{path} has {len(members)} members, expected one")
        stream = cast(BinaryIO, archive.open(members[0]))
    elif path.suffix == ".gz":
        stream = cast(BinaryIO, gzip.GzipFile(path))
    elif path.suffix == ".bz2":
        stream = cast(BinaryIO, bz2.BZ2File(path))
    else:
        stream = path.open("rb")
    return io.BufferedReader(_Limited(stream, path, limit), buffer_size=1 << 20)


def check_archive(path: Path, limit: int = MAX_UNPACKED) -> None:
    """Refuse a zip archive with a member outside its folder, or one that would unpack to more than `limit` bytes."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except zipfile.BadZipFile as error:
        raise ChecksumError(f"{path} is no zip archive: {error}") from error
    for member in members:
        posix, windows = PurePosixPath(member.filename), PureWindowsPath(member.filename)
        if posix.is_absolute() or windows.anchor or ".." in (*posix.parts, *windows.parts):
            raise ChecksumError(f"{path} has a member outside its folder: {member.filename!r}")
    total = sum(member.file_size for member in members)
    if total > limit:
        raise ChecksumError(f"{path} would unpack to {total:,} bytes, more than {limit:,}")
