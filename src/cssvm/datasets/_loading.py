"""`load` and `fetch`: a data set by name, verified, with its target, costs and origin."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from . import _kdd_readers, _readers
from ._files import MissingDatasetError, cache_folder, find_files
from ._registry import DATASETS, EXPERIMENTS, Dataset, Subset, find_dataset

WIDTH = 88  # of DESCR

READERS: dict[str, Callable[..., dict[str, Any]]] = {
    name.removeprefix("read_"): reader
    for module in (_readers, _kdd_readers)
    for name, reader in vars(module).items()
    if name.startswith("read_")
}


def load(
    name: str,
    *,
    variant: str | None = None,
    subset: Subset | None = None,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> Bunch:
    """Load a data set of the paper's Table 1.

    Files are read from the folder of data sets, and downloaded to it if they are missing. A file is read only if it has
    the expected checksum. Nothing is fitted on the rows: missing numbers are NaN, scales are the original ones. Use
    `make_preprocessor` for a transformer in a pipeline.

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
        The folder of data sets. If None, ``$CSSVM_DATA`` or, if that is not set, the cache of the operating system.

    download : bool, default=True
        Whether to download missing files.

    Returns
    -------
    bunch : Bunch
        data : (n_samples, n_features)
            Numbers, dense or CSR; a DataFrame if categories cannot be encoded without fitting on rows (``kdd98``).
        target : (n_samples,) int64
            1 for the positive class, as in the paper, and 0 for the negative class.
        fn_cost, fp_cost : float, (n_samples,) float64 or None
            Costs of false negatives and false positives, if they are known.
        frame : DataFrame or None
            The features as they are in the file, strings included, without the label; None for large data sets of
            numbers, and if pandas is not installed.
        feature_names : list of str
            Names of the columns of ``data``.
        target_names : list of str
            Names of target 0 and target 1.
        split : (n_samples,) str or None
            ``"train"`` or ``"test"`` if there is an official split.
        groups : (n_samples,) int or None
            Groups of rows that belong together, such as those of the same speakers.
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

    See Also
    --------
    list_datasets : All data sets.
    make_preprocessor : Imputation, encoding and scaling, fitted within a pipeline.

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

    Raises
    ------
    MissingDatasetError, ChecksumError
        As in `load`.

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
    if sp.issparse(found["data"]):
        found["data"] = _with_int32_indices(found["data"])
    return Bunch(**found, DESCR=describe(dataset))


def _with_int32_indices(rows: Any) -> sp.csr_array:
    """CSR with 32-bit indices: scikit-learn's SVMs accept no others."""
    parts = rows.data, rows.indices.astype(np.int32, copy=False), rows.indptr.astype(np.int32, copy=False)
    return sp.csr_array(parts, shape=rows.shape)


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
