"""Where files of data sets lie, and how they come there.

The folder is the argument `data_home`, or the environment variable ``CSSVM_DATA``, or the operating system's cache.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

from ._files import MissingDatasetError, accepted
from ._optional import optional
from ._records import Dataset, Edition, File, Subset

VARIABLE = "CSSVM_DATA"

TIMEOUT = 60  # seconds without a byte

# For files whose size is not on record; the largest of them has some 37 MB.
MAX_DOWNLOAD = 100 << 20


def cache_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """The folder that data sets are looked for in and fetched to.

    Parameters
    ----------
    data_home : path-like, default=None
        The folder; None for ``$CSSVM_DATA`` or, without that, the cache of the operating system.

    Returns
    -------
    folder : Path
        It may not exist yet.

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
    pooch = optional("pooch", f"The default cache folder (no data_home, and {VARIABLE} not set)")
    return Path(pooch.os_cache("cssvm"))


def needed_files(dataset: Dataset, subset: Subset | None) -> list[File]:
    """The files of a data set that hold a part of it, or all."""
    return [file for file in dataset.files if subset is None or file.subset in (None, subset)]


def obtain(dataset: Dataset, folder: Path, *, subset: Subset | None, download: bool) -> dict[str, Path]:
    """Checked files of a data set by role, fetched if they are not in the folder and `download` is true."""
    return {file.role: _obtain(file, dataset, folder, download) for file in needed_files(dataset, subset)}


def _obtain(file: File, dataset: Dataset, folder: Path, download: bool) -> Path:
    found = accepted(file, folder)
    if found is not None:
        return found
    failures: list[str] = []
    for edition in file.editions if download else ():
        for url in edition.urls:
            try:
                return _retrieve(url, edition, folder)
            except (OSError, ValueError) as error:  # the errors of requests are OSErrors, a wrong checksum a ValueError
                failures.append(f"{url} ({' '.join(str(error).split())})")
    raise MissingDatasetError(_advice(file, dataset, folder, download, failures))


def _retrieve(url: str, edition: Edition, folder: Path) -> Path:
    """Download an edition to its place, which it reaches only if it has the right checksum."""
    pooch = optional("pooch", "Fetching a data set")
    limit = MAX_DOWNLOAD if edition.n_bytes is None else edition.n_bytes
    path = folder / edition.path

    def download(url: str, output_file: str, caller: Any) -> None:
        with open(output_file, "wb") as file:
            pooch.HTTPDownloader(timeout=TIMEOUT)(url, _LimitedFile(file, limit), caller)

    pooch.retrieve(url, f"sha256:{edition.sha256}", fname=path.name, path=path.parent, downloader=download)
    return path


class _LimitedFile:
    """What a download is written to, as long as it is no longer than it should be."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._file, self._limit, self._n_written = file, limit, 0

    def write(self, chunk: bytes) -> int:
        self._n_written += len(chunk)
        if self._n_written > self._limit:
            raise ValueError(f"more than the {self._limit:,} bytes expected")
        return self._file.write(chunk)

    def flush(self) -> None:
        self._file.flush()


def _advice(file: File, dataset: Dataset, folder: Path, download: bool, failures: list[str]) -> str:
    """What is missing, what was tried, and the manual way."""
    places = " or ".join(dict.fromkeys(str(folder / edition.path) for edition in file.editions))
    urls = [url for edition in file.editions for url in edition.urls]
    lines = [f"The data set {dataset.label} needs {places}, which is not there."]
    if failures:
        lines.append("Fetching failed: " + "; ".join(failures) + ".")
    elif not urls:
        lines.append("No public address of these bytes is known.")
    elif not download:
        lines.append("Fetching was not asked for (download=False).")
    by_hand = file.by_hand or (f"download {urls[0]}" if urls else f"see {dataset.source}")
    lines.append(f"By hand: {by_hand}, and put it there; or name another folder with data_home= or {VARIABLE}.")
    return " ".join(lines)
