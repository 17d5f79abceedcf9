"""`load`: a data set by name, checked, with its target, costs and origin."""

from __future__ import annotations

import os
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from ._cache import cache_folder, obtain
from ._files import MissingDatasetError
from ._records import EXPERIMENTS, Dataset, Subset
from ._registry import DATASETS, find

WIDTH = 88  # of DESCR


def load(
    name: str,
    *,
    variant: str | None = None,
    subset: Subset | None = None,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> Bunch:
    """Load a data set of the paper's Table 1.

    Files are taken from the cache folder if they are there, and fetched from their public home if not; either way only
    bytes with the checksum on record are read. Nothing that is fitted on rows is done to the data: missing numbers are
    NaN, scales are the original ones. `make_preprocessor` gives a transformer for a pipeline.

    Parameters
    ----------
    name : str
        One of the names that `list_datasets` shows.

    variant : str, default=None
        Of a set that exists in several forms (``kdd98``, ``kdd99``, ``isolet``); None for the first that
        `list_datasets` shows, or one of the same rows where only its files are in the folder.

    subset : {"train", "test"}, default=None
        Only these rows of a set with an official split, without reading the others; None for all rows.

    data_home : path-like, default=None
        The cache folder; None for ``$CSSVM_DATA`` or, without that, the cache of the operating system.

    download : bool, default=True
        Whether files that are not in the folder are fetched.

    Returns
    -------
    bunch : Bunch
        data : (n_samples, n_features)
            Numbers, dense or CSR; a DataFrame where words cannot be encoded without learning from rows (``kdd98``).
        target : (n_samples,) int64
            1 for the target class, the paper's, and 0 for the other.
        fn_cost, fp_cost : float, (n_samples,) float64 or None
            Costs of missing the target and of a false alarm, where they are known.
        frame : DataFrame or None
            The features as they come in the file, words included, without the label; None for large sets of numbers,
            and where pandas is not installed.
        feature_names : list of str
            Of the columns of ``data``.
        target_names : list of str
            Words for target 0 and target 1.
        split : (n_samples,) str or None
            ``"train"`` or ``"test"`` where a split is official.
        groups : (n_samples,) int or None
            Rows that belong together, such as those of the same speakers.
        amounts, sample_weight : (n_samples,) float64 or None
            Donations of ``kdd98``, and the weights that restore its prior.
        name, variant, experiment, source, citation, licence, DESCR : str
            What it is. `experiment` is CSA, CSU, CSE or IDL, as in the paper; DESCR says it all.

        Some sets have further fields; DESCR names them.

    Raises
    ------
    MissingDatasetError
        If files are missing and cannot be fetched. The message tells the manual way.
    ChecksumError
        If a file in the folder is not the one on record.

    See Also
    --------
    list_datasets : What there is.
    make_preprocessor : Missing values, categories and scales, fitted within a pipeline.

    Examples
    --------
    >>> from cssvm.datasets import load
    >>> credit = load("german_credit")  # doctest: +SKIP
    >>> credit.data.shape, credit.target.sum(), credit.fn_cost, credit.fp_cost  # doctest: +SKIP
    ((1000, 24), 300, 5.0, 1.0)
    """
    dataset, paths = _obtained(name, variant, subset, data_home, download)
    return as_bunch(dataset, dataset.read(paths, subset))


def fetch(
    name: str,
    *,
    variant: str | None = None,
    subset: Subset | None = None,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> list[Path]:
    """Make sure that the files of a data set are in the cache folder, and that they are the right ones.

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
    _, paths = _obtained(name, variant, subset, data_home, download)
    return list(paths.values())


def _obtained(
    name: str, variant: str | None, subset: Subset | None, data_home: Any, download: bool
) -> tuple[Dataset, dict[str, Path]]:
    """The entry and its files; without a variant the default, or one of the same rows if only that is in the folder."""
    dataset, folder = find(name, variant), cache_folder(data_home)
    _check_subset(dataset, subset)
    try:
        return dataset, obtain(dataset, folder, subset=subset, download=download)
    except MissingDatasetError:
        for other in DATASETS[name] if variant is None else ():
            if other.stands_in:
                with suppress(MissingDatasetError):
                    return other, obtain(other, folder, subset=subset, download=False)
        raise


def as_bunch(dataset: Dataset, fields: dict[str, Any]) -> Bunch:
    """What `load` returns, from the fields that a reader has found."""
    common = {
        "data": None,
        "target": None,
        "fn_cost": dataset.fn_cost,
        "fp_cost": dataset.fp_cost,
        "frame": None,
        "feature_names": None,
        "target_names": list(dataset.target_names),
        "split": None,
        "groups": None,
        "amounts": None,
        "sample_weight": None,
        "name": dataset.name,
        "variant": dataset.variant or None,
        "experiment": dataset.experiment,
        "source": dataset.source,
        "citation": dataset.citation,
        "licence": dataset.licence,
    }
    found = common | fields
    if sp.issparse(found["data"]):
        found["data"] = _with_short_indices(found["data"])
    return Bunch(**found, DESCR=describe(dataset))


def _with_short_indices(rows: Any) -> sp.csr_array:
    """CSR with 32-bit indices: scikit-learn's SVMs take no others."""
    parts = rows.data, rows.indices.astype(np.int32, copy=False), rows.indptr.astype(np.int32, copy=False)
    return sp.csr_array(parts, shape=rows.shape)


def describe(dataset: Dataset) -> str:
    """The text of ``DESCR``."""
    facts = (
        f"{dataset.n_rows:,} rows, {dataset.n_features:,} features. PositiveClass: {dataset.target_names[1]}, "
        f"{dataset.n_positives:,} rows ({dataset.ratio}). Experiment {dataset.experiment}: "
        f"{EXPERIMENTS[dataset.experiment]}."
    )
    if dataset.fn_cost is not None and dataset.fp_cost is not None:
        facts += f" Missing the target costs {dataset.fn_cost:.6g}, a false alarm {dataset.fp_cost:.6g}."
    if dataset.paper is not None:
        facts += f" Table 1 of the paper: {dataset.paper[0]:,} rows, {dataset.paper[1]:,} features."
    files = [
        f"    {edition.path}  SHA-256 {edition.sha256 or 'none: checked by content'}"
        for file in dataset.files
        for edition in file.editions
    ]
    paragraphs = [
        facts,
        *dataset.notes.split("\n\n"),
        f"Source: {dataset.source}",
        f"Citation: {dataset.citation}",
        f"Licence: {dataset.licence}",
    ]
    heading = f"{dataset.label}: {dataset.title}"
    body = [_filled(paragraph) for paragraph in paragraphs]
    return "\n\n".join([f"{heading}\n{'-' * len(heading)}", *body, "Files:\n" + "\n".join(files)])


def _filled(paragraph: str) -> str:
    """Text broken into lines; tables, which are indented, are left as they are."""
    return paragraph if paragraph.startswith("    ") else textwrap.fill(paragraph, WIDTH, break_long_words=False)


def _check_subset(dataset: Dataset, subset: Subset | None) -> None:
    if subset not in (None, "train", "test"):
        raise ValueError(f"subset must be 'train', 'test' or None, got {subset!r}")
    if subset is not None and not dataset.has_split:
        raise ValueError(f"{dataset.label} has no official split: leave out subset={subset!r}, and split it yourself")
