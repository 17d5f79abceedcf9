"""The data sets and the states of their files, as lists of records that print as tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from .._runtime.format import aligned_table
from ._files import VARIABLE, ChecksumError, cache_folder, find_verified
from ._registry import DATASETS, Dataset

Record = TypeVar("Record")

# From the best state of a file to the worst.
AVAILABLE, DOWNLOADABLE, MANUAL, WRONG = STATES = ("available", "downloadable", "manual download", "wrong checksum")


class Table(list[Record], Generic[Record]):
    """A list of records that prints as a table with a note below."""

    def __init__(
        self, records: Sequence[Record], rows: Sequence[Sequence[str]], heading: Sequence[str], note: str
    ) -> None:
        super().__init__(records)
        self._rows, self._heading, self._note = [list(row) for row in rows], list(heading), note

    def __repr__(self) -> str:
        return f"{aligned_table(self._rows, self._heading)}\n{self._note}"


def list_datasets() -> Table[Dataset]:
    """List the data sets that `load` reads, with all variants.

    Returns
    -------
    datasets : list of Dataset
        It prints as a table. The attributes of a `Dataset` include ``name``, ``variant``, ``experiment``, ``n_rows``,
        ``n_features``, ``n_positives``, ``fn_cost``, ``fp_cost``, ``files`` with their checksums, ``source``,
        ``citation`` and ``licence``.

    Examples
    --------
    >>> from cssvm.datasets import list_datasets
    >>> print(list_datasets())  # doctest: +ELLIPSIS
    name                      type       rows  features  positive class        ratio      costs
    german_credit             CSA       1,000        24  bad                   1 : 2.33   5 : 1
    ...
    >>> [entry.name for entry in list_datasets() if entry.experiment == "CSE"][0]
    'kdd98'
    """
    entries = [entry for variants in DATASETS.values() for entry in variants]
    rows = [
        (
            *(entry.label, entry.experiment, f"{entry.n_rows:>9,}", f"{entry.n_features:>8,}"),
            *(entry.target_names[1], entry.ratio, entry.costs),
        )
        for entry in entries
    ]
    heading = ("name", "type", f"{'rows':>9}", "features", "positive class", "ratio", "costs")
    note = "CSA class costs known, CSU unknown, CSE costs per row, IDL imbalanced. Costs: fn_cost : fp_cost"
    return Table(entries, rows, heading, note)


@dataclass(frozen=True)
class Location:
    """A data set, the state of its files (one of `STATES`) and the bytes of those that are available."""

    dataset: Dataset
    state: str
    n_bytes: int


def where(data_home: str | os.PathLike[str] | None = None) -> Table[Location]:
    """List which data sets are available, with the folder that is searched.

    Parameters
    ----------
    data_home : path-like, default=None
        The folder of data sets. If None, ``$CSSVM_DATA`` or, if that is not set, the cache of the operating system.

    Returns
    -------
    locations : list of Location
        One for each data set and variant, with ``dataset``, ``state`` and ``n_bytes``. It prints as a table with the
        folder below. Checksums are compared, which takes a while for large files.

    Examples
    --------
    >>> from cssvm.datasets import where
    >>> {location.state for location in where("an/empty/folder")} == {"downloadable", "manual download"}
    True
    """
    folder = cache_folder(data_home)
    locations = [locate(entry, folder) for variants in DATASETS.values() for entry in variants]
    rows = [(each.dataset.label, each.state, f"{each.n_bytes:>12,}" if each.n_bytes else "") for each in locations]
    chosen_by = "data_home" if data_home is not None else VARIABLE if os.environ.get(VARIABLE) else "the default"
    return Table(locations, rows, ("name", "state", f"{'bytes':>12}"), f"folder: {folder} ({chosen_by})")


def locate(dataset: Dataset, folder: Path) -> Location:
    """The state of a data set: the worst of its files'."""
    states, n_bytes = [], 0
    for file in dataset.files:
        try:
            path = find_verified(file, folder)
        except ChecksumError:
            states.append(WRONG)
            continue
        if path is None:
            states.append(DOWNLOADABLE if file.urls else MANUAL)
        else:
            states.append(AVAILABLE)
            n_bytes += path.stat().st_size
    return Location(dataset, max(states, key=STATES.index), n_bytes)
