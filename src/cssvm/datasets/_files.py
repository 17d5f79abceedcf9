"""The files of data sets: located, downloaded, verified by checksum and decompressed up to a limit."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import os
import zipfile
from importlib import import_module
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, BinaryIO, cast

from ._registry import Dataset, File, FileVersion, Subset

VARIABLE = "CSSVM_DATA"
TIMEOUT = 60  # seconds without a byte
MAX_DOWNLOAD = 100 << 20  # for files of unknown size; the largest of them has some 37 MB
MAX_UNPACKED = 1 << 30  # the largest file here, all of KDD 99, unpacks to 743 MB


class MissingDatasetError(FileNotFoundError):
    """A file of a data set is missing and cannot be downloaded; the message says how to get it."""


class ChecksumError(ValueError):
    """A file does not have the expected content: changed, truncated, or an archive that must not be unpacked."""


def import_optional(package: str, purpose: str) -> Any:
    """The package, or an error that says what needs it and how to install it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs {package}, which is not installed. Run `pip install cssvm[data]`."
        ) from error


def cache_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder that data sets are read from and downloaded to; it may not exist yet.

    Parameters
    ----------
    data_home : path-like, default=None
        The folder. If None, ``$CSSVM_DATA`` or, if that is not set, the cache of the operating system.

    Returns
    -------
    folder : Path

    Examples
    --------
    >>> from cssvm.datasets import cache_folder
    >>> cache_folder("some/folder").name
    'folder'
    """
    if data_home is not None:
        return Path(data_home).expanduser()
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser()
    pooch = import_optional("pooch", f"The default cache folder (no data_home, and {VARIABLE} not set)")
    return Path(pooch.os_cache("cssvm"))


def find_verified(file: File, folder: Path) -> Path | None:
    """The path of a version of the file in the folder; None if there is none, ChecksumError if all are wrong."""
    mismatches = []
    for version in file.versions:
        path = folder / version.path
        if path.is_file():
            mismatch = checksum_mismatch(path, version)
            if mismatch is None:
                return path
            mismatches.append(f"{path}: {mismatch}")
    if mismatches:
        raise ChecksumError(
            f"The file does not have the expected content. {'; '.join(mismatches)}. Delete it to download it again."
        )
    return None


def checksum_mismatch(path: Path, version: FileVersion) -> str | None:
    """How a file differs from a version in size or SHA-256; None if it does not."""
    size = path.stat().st_size
    if version.size not in (None, size):
        return f"{size:,} bytes, expected {version.size:,}"
    if version.sha256 is None:
        return None
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return None if digest == version.sha256 else f"SHA-256 {digest}, expected {version.sha256}"


def find_files(dataset: Dataset, folder: Path, *, subset: Subset | None, download: bool) -> dict[str, Path]:
    """Verified files of a data set, or of one subset, by role; missing ones are downloaded if `download` is True."""
    needed = [file for file in dataset.files if subset is None or file.subset in (None, subset)]
    return {file.role: _find_or_download(file, dataset, folder, download) for file in needed}


def _find_or_download(file: File, dataset: Dataset, folder: Path, download: bool) -> Path:
    found = find_verified(file, folder)
    if found is not None:
        return found
    failures: list[str] = []
    for version in file.versions if download else ():
        for url in version.urls:
            try:
                return _download(url, version, folder)
            except (OSError, ValueError) as error:  # the errors of requests are OSErrors, a wrong checksum a ValueError
                failures.append(f"{url} ({' '.join(str(error).split())})")
    raise MissingDatasetError(_how_to_get(file, dataset, folder, download, failures))


def _download(url: str, version: FileVersion, folder: Path) -> Path:
    """Download a version; the file appears in the folder only if it has the right checksum."""
    pooch = import_optional("pooch", "Downloading a data set")
    limit = MAX_DOWNLOAD if version.size is None else version.size
    path = folder / version.path

    def write(url: str, output_file: str, caller: Any) -> None:
        with open(output_file, "wb") as file:
            pooch.HTTPDownloader(timeout=TIMEOUT)(url, _LimitedFile(file, limit), caller)

    pooch.retrieve(url, f"sha256:{version.sha256}", fname=path.name, path=path.parent, downloader=write)
    return path


class _LimitedFile:
    """A file for a download that may not exceed `limit` bytes."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._file, self._limit, self._n_written = file, limit, 0

    def write(self, chunk: bytes) -> int:
        self._n_written += len(chunk)
        if self._n_written > self._limit:
            raise ValueError(f"more than the {self._limit:,} bytes expected")
        return self._file.write(chunk)

    def flush(self) -> None:
        self._file.flush()


def _how_to_get(file: File, dataset: Dataset, folder: Path, download: bool, failures: list[str]) -> str:
    """The message for a missing file: what was tried, and how to get it."""
    places = " or ".join(dict.fromkeys(str(folder / version.path) for version in file.versions))
    lines = [f"The data set {dataset.label} needs {places}, which does not exist."]
    if failures:
        lines.append("Downloading failed: " + "; ".join(failures) + ".")
    elif not file.urls:
        lines.append("It cannot be downloaded automatically.")
    elif not download:
        lines.append("It was not downloaded (download=False).")
    manual = file.instructions or (f"download {file.urls[0]}" if file.urls else f"see {dataset.source}")
    lines.append(f"To get it: {manual}, and put it there; or give another folder by data_home= or {VARIABLE}.")
    return " ".join(lines)


class _LimitedReader(io.RawIOBase):
    """A stream that raises ChecksumError after `limit` bytes, whatever the header of the archive states."""

    def __init__(self, stream: BinaryIO, path: Path, limit: int) -> None:
        self._stream, self._path, self._limit, self._n_read = stream, path, limit, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        chunk = self._stream.read(len(buffer))
        self._n_read += len(chunk)
        if self._n_read > self._limit:
            raise ChecksumError(f"{self._path} unpacks to more than {self._limit:,} bytes; no data set is so large")
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self._stream.close()
        super().close()


def open_unpacked(path: Path, limit: int = MAX_UNPACKED) -> BinaryIO:
    """A stream of the content of a gzip or bzip2 file, of the only member of a zip archive, or of a plain file.

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
    return io.BufferedReader(_LimitedReader(stream, path, limit), buffer_size=1 << 20)


def check_archive(path: Path, limit: int = MAX_UNPACKED) -> None:
    """Raise ChecksumError for a zip archive with a member outside its folder, or of more than `limit` bytes."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except zipfile.BadZipFile as error:
        raise ChecksumError(f"{path} is not a zip archive: {error}") from error
    for member in members:
        posix, windows = PurePosixPath(member.filename), PureWindowsPath(member.filename)
        if posix.is_absolute() or windows.anchor or ".." in (*posix.parts, *windows.parts):
            raise ChecksumError(f"{path} has a member outside its folder: {member.filename!r}")
    total = sum(member.file_size for member in members)
    if total > limit:
        raise ChecksumError(f"{path} would unpack to {total:,} bytes, more than {limit:,}")
