"""What there is and where it lies, as lists of records that print as tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from .._runtime.format import aligned_table
from ._cache import VARIABLE, cache_folder
from ._files import ChecksumError, accepted
from ._records import Dataset, File
from ._registry import DATASETS

Record = TypeVar("Record")

HERE, FETCHED, BY_HAND, REFUSED = "here", "can be fetched", "by hand", "refused"


class Table(list[Record], Generic[Record]):
    """A list of records that prints as a table, with a line below it."""

    def __init__(
        self, records: Sequence[Record], rows: Sequence[Sequence[str]], heading: Sequence[str], note: str
    ) -> None:
        super().__init__(records)
        self._rows, self._heading, self._note = [list(row) for row in rows], list(heading), note

    def __repr__(self) -> str:
        return f"{aligned_table(self._rows, self._heading)}\n{self._note}"


def list_datasets() -> Table[Dataset]:
    """All data sets that `load` knows, variants included.

    Returns
    -------
    datasets : list of Dataset
        It prints as a table. A record has, among others, ``name``, ``variant``, ``experiment``, ``n_rows``,
        ``n_features``, ``n_positives``, ``fn_cost``, ``fp_cost``, ``files`` with their checksums, ``source``,
        ``citation`` and ``licence``.

    Examples
    --------
    >>> from cssvm.datasets import list_datasets
    >>> print(list_datasets())  # doctest: +ELLIPSIS
    name                      type       rows  features  target                ratio      costs
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
    heading = ("name", "type", f"{'rows':>9}", "features", "target", "ratio", "costs")
    note = "CSA class costs known, CSU unknown, CSE costs per row, IDL imbalanced. Costs: miss : false alarm"
    return Table(entries, rows, heading, note)


@dataclass(frozen=True)
class Location:
    """Where a data set lies: its entry, its state (here, can be fetched, by hand, refused), and its files' bytes."""

    dataset: Dataset
    state: str
    n_bytes: int


def where(data_home: str | os.PathLike[str] | None = None) -> Table[Location]:
    """The cache folder, and which data sets are in it.

    Parameters
    ----------
    data_home : path-like, default=None
        The folder; None for ``$CSSVM_DATA`` or, without that, the cache of the operating system.

    Returns
    -------
    locations : list of Location
        One for each data set and variant. It prints as a table with the folder below. Checksums are compared.

    Examples
    --------
    >>> from cssvm.datasets import where
    >>> {location.state for location in where("an/empty/folder")} == {"can be fetched", "by hand"}
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
            path = accepted(file, folder)
        except ChecksumError:
            states.append(REFUSED)
            continue
        if path is None:
            states.append(_state_of_absent(file))
        else:
            states.append(HERE)
            n_bytes += path.stat().st_size
    return Location(dataset, max(states, key=(HERE, FETCHED, BY_HAND, REFUSED).index), n_bytes)


def _state_of_absent(file: File) -> str:
    return FETCHED if any(edition.urls for edition in file.editions) else BY_HAND
