"""Data sets by name: listed, located, downloaded, and loaded with their target, costs and origin."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from .._runtime.format import aligned_table
from . import _readers
from ._files import VARIABLE, ChecksumError, MissingDatasetError, cache_folder, find_files, find_verified
from ._registry import DATASETS, EXPERIMENTS, Dataset, Subset, find_dataset

WIDTH = 88  # of DESCR

READERS: dict[str, Callable[..., dict[str, Any]]] = {
    name.removeprefix("read_"): reader for name, reader in vars(_readers).items() if name.startswith("read_")
}

# From the best state of a file to the worst.
AVAILABLE, DOWNLOADABLE, MANUAL, WRONG = STATES = ("available", "downloadable", "manual download", "wrong checksum")


def load(
    name: str,
    *,
    variant: str | None = None,
    subset: Subset | None = None,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> Bunch:
    """Load a data set of the paper's Table 1.

    Missing files are downloaded; a file is read only if it has the expected checksum. Nothing is fitted on the samples:
    missing numbers are NaN, scales are the original ones. Use `make_preprocessor` for a transformer in a pipeline.

    Parameters
    ----------
    name : str
        One of the names that `list_datasets` shows.

    variant : str, default=None
        The variant of a data set that has several (``kdd98``, ``kdd99``, ``isolet``). If None, the first that
        `list_datasets` shows, or another one with the same rows if only its files are in the folder.

    subset : {"train", "test"}, default=None
        Read only this part of a data set with an official split. If None, read all rows.

    data_home : path-like, default=None
        The folder of data sets, as in `cache_folder`.

    download : bool, default=True
        Whether to download missing files.

    Returns
    -------
    bunch : Bunch
        data : (n_samples, n_features)
            Numbers, dense or CSR; a DataFrame if categories cannot be encoded without fitting (``kdd98``).
        target : (n_samples,) int64
            1 for the positive class, as in the paper, and 0 for the negative class.
        fn_cost, fp_cost : float, (n_samples,) float64 or None
            Costs of false negatives and false positives, if they are known.
        frame : DataFrame or None
            The features as they are in the file, strings included; None for large data sets of numbers, and if pandas
            is not installed.
        feature_names, target_names : list of str
            Names of the columns of ``data``, and of target 0 and target 1.
        split : (n_samples,) str or None
            ``"train"`` or ``"test"`` if there is an official split.
        groups : (n_samples,) int or None
            Groups of samples that belong together, such as those of the same speakers.
        amounts, sample_weight : (n_samples,) float64 or None
            Donations of ``kdd98``, and the weights that restore its prior.
        name, variant, experiment, source, citation, licence, DESCR : str
            Origin and description. `experiment` is CSA, CSU, CSE or IDL, as in the paper.

        Some data sets have further fields, which DESCR lists.

    Raises
    ------
    MissingDatasetError
        If files are missing and cannot be downloaded. The message says how to get them.
    ChecksumError
        If a file in the folder does not have the expected content.

    Examples
    --------
    >>> from cssvm.datasets import load
    >>> credit = load("german_credit")  # doctest: +SKIP
    >>> credit.data.shape, credit.target.sum(), credit.fn_cost, credit.fp_cost  # doctest: +SKIP
    ((1000, 24), 300, 5.0, 1.0)
    """
    dataset, paths = _find(name, variant, subset, data_home, download)
    return make_bunch(dataset, READERS[dataset.reader](paths, subset, **dataset.options))


def fetch(
    name: str,
    *,
    variant: str | None = None,
    subset: Subset | None = None,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> list[Path]:
    """Download the missing files of a data set, and verify the checksums of all of them.

    Parameters
    ----------
    name, variant, subset, data_home, download
        As in `load`.

    Returns
    -------
    paths : list of Path
        The files.

    Examples
    --------
    >>> from cssvm.datasets import fetch
    >>> fetch("survival")  # doctest: +SKIP
    [PosixPath('/home/me/.cache/cssvm/haberman/haberman.data')]
    """
    _, paths = _find(name, variant, subset, data_home, download)
    return list(paths.values())


def _find(
    name: str, variant: str | None, subset: Subset | None, data_home: Any, download: bool
) -> tuple[Dataset, dict[str, Path]]:
    """The data set and its files by role; a substitute if no variant is asked for and only its files are there."""
    dataset, folder = find_dataset(name, variant), cache_folder(data_home)
    if subset not in (None, "train", "test"):
        raise ValueError(f"subset must be 'train', 'test' or None, got {subset!r}")
    if subset is not None and not dataset.has_split:
        raise ValueError(f"{dataset.label} has no official split: leave out subset={subset!r}, and split it yourself")
    try:
        return dataset, find_files(dataset, folder, subset=subset, download=download)
    except MissingDatasetError:
        for other in DATASETS[name] if variant is None else ():
            if other.substitute:
                with suppress(MissingDatasetError):
                    return other, find_files(other, folder, subset=subset, download=False)
        raise


def make_bunch(dataset: Dataset, fields: dict[str, Any]) -> Bunch:
    """The fields of a reader, with those of the registry and None for the others."""
    optional = ("data", "target", "frame", "feature_names", "split", "groups", "amounts", "sample_weight")
    registered = ("name", "experiment", "fn_cost", "fp_cost", "source", "citation", "licence")
    common = dict.fromkeys(optional) | {name: getattr(dataset, name) for name in registered}
    common |= {"target_names": list(dataset.target_names), "variant": dataset.variant or None}
    found = common | fields
    X: Any = found["data"]
    if sp.issparse(X):  # scikit-learn's SVMs accept 32-bit indices only
        indices, indptr = (each.astype(np.int32, copy=False) for each in (X.indices, X.indptr))
        found["data"] = sp.csr_array((X.data, indices, indptr), shape=X.shape)
    return Bunch(**found, DESCR=describe(dataset))


def describe(dataset: Dataset) -> str:
    """The text of ``DESCR``."""
    facts = (
        f"{dataset.n_rows:,} rows, {dataset.n_features:,} features. Positive class: {dataset.target_names[1]}, "
        f"{dataset.n_positives:,} rows ({dataset.ratio}). Experiment {dataset.experiment}: "
        f"{EXPERIMENTS[dataset.experiment]}."
    )
    if dataset.fn_cost is not None and dataset.fp_cost is not None:
        facts += f" A false negative costs {dataset.fn_cost:.6g}, a false positive {dataset.fp_cost:.6g}."
    if dataset.paper is not None:
        facts += f" Table 1 of the paper: {dataset.paper[0]:,} rows, {dataset.paper[1]:,} features."
    files = [
        f"    {version.path}  SHA-256 {version.sha256 or 'none: checked by content'}"
        for file in dataset.files
        for version in file.versions
    ]
    paragraphs = [
        facts,
        *dataset.notes.split("\n\n"),
        f"Source: {dataset.source}",
        f"Citation: {dataset.citation}",
        f"Licence: {dataset.licence}",
    ]
    heading = f"{dataset.label}: {dataset.title}"
    body = [  # indented tables are kept as they are
        paragraph if paragraph.startswith("    ") else textwrap.fill(paragraph, WIDTH, break_long_words=False)
        for paragraph in paragraphs
    ]
    return "\n\n".join([f"{heading}\n{'-' * len(heading)}", *body, "Files:\n" + "\n".join(files)])


class Table(list[Any]):
    """A list of records that prints as a table with a note below."""

    def __init__(
        self, records: Sequence[Any], rows: Sequence[Sequence[str]], heading: Sequence[str], note: str
    ) -> None:
        super().__init__(records)
        self._rows, self._heading, self._note = [list(row) for row in rows], list(heading), note

    def __repr__(self) -> str:
        return f"{aligned_table(self._rows, self._heading)}\n{self._note}"


def list_datasets() -> Table:
    """List the data sets that `load` reads, with all variants.

    Returns
    -------
    datasets : list of Dataset
        It prints as a table. The attributes of a `Dataset` include its size, costs, files and origin.

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


def where(data_home: str | os.PathLike[str] | None = None) -> Table:
    """List which data sets are available, with the folder that is searched.

    Parameters
    ----------
    data_home : path-like, default=None
        The folder of data sets, as in `cache_folder`.

    Returns
    -------
    locations : list of Location
        One for each data set and variant, with ``dataset``, ``state`` and ``n_bytes``. Checksums are compared, which
        takes a while for large files.

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
