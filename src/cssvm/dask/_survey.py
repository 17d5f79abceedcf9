"""One pass over all rows: labels, and of each column its kind, mean, variance, missing values and categories.

Kinds are those of `cssvm._preprocessing`. Means and variances of the known entries are combined without cancellation
(Chan, Golub and LeVeque, 1983). Samples of weight 0 are left out; others count once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._core.margins_and_bounds import check_sample_weight
from .._core.types import RowNumbers, Vector
from .._preprocessing import CATEGORY, as_text, column_kind
from ._partitions import Reader

UNKNOWN, NUMBER, CATEGORICAL = 0, 1, 2  # kinds of columns; unknown : all entries are missing so far
KIND_NAMES = ("", "numbers", "categories")
MOST_LABELS = 20  # of a partition, sent to the client: more than two are rejected there
MOST_CATEGORIES = 1000  # of a column, each of which becomes a feature


class LabelCounts(NamedTuple):
    """Labels (k,), and on how many rows of each: of all, and of those where fn_cost and fp_cost are known and not 0.

    counts : (k, 3)
    """

    labels: NDArray[Any]
    counts: NDArray[np.int64]

    @classmethod
    def from_rows(cls, labels: NDArray[Any], counts: NDArray[np.int64]) -> LabelCounts:
        """Sum the counts (n, 3) of equal labels (n,)."""
        codes, found = pd.factorize(labels)
        total = np.zeros((len(found), 3), dtype=np.int64)
        np.add.at(total, codes, counts)
        return cls(np.asarray(found), total)

    def plus(self, other: LabelCounts) -> LabelCounts:
        """Return the counts of the partitions of both."""
        if not len(self.labels) or not len(other.labels):
            return self if len(self.labels) else other
        return LabelCounts.from_rows(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


@dataclass
class Survey:
    """What was found in some partitions; the vectors have one entry for each column.

    n_rows : rows of positive weight
    labels : of all rows
    kinds, missing, mean, spread : kind, number of missing entries; mean of the others, sum of squared distances from it
    categories : by the number of the column
    rows : some of the rows, evenly spaced
    """

    n_rows: int
    labels: LabelCounts
    kinds: NDArray[Any]
    missing: NDArray[Any]
    mean: Vector
    spread: Vector
    categories: dict[int, set[str]]
    rows: Any = None


def survey(frame: Any, *separate: Any, reader: Reader, n_keep: int) -> Survey:
    """Return the survey of one partition; n_keep : how many rows to keep."""
    X, values = reader.everything(frame, *separate)
    labels = _read_labels(values, reader)
    counted = check_sample_weight(values["sample_weight"], len(values["y"])) > 0.0
    if not counted.all():
        X = X[counted]
    kinds, missing = np.zeros((2, X.shape[1]), dtype=np.int64)
    mean, spread = np.zeros((2, X.shape[1]))
    found = Survey(len(X), labels, kinds, missing, mean, spread, {})
    if reader.names is None:
        _add_array(found, X, np.flatnonzero(counted))
    else:
        _add_columns(found, X, reader.names)
    if n_keep:
        chosen = evenly_spaced(len(X), min(n_keep, len(X)))
        found.rows = X[chosen] if reader.names is None else plain_frame(X.iloc[chosen], reader.names, found.kinds)
    return found


def combine(one: Survey, other: Survey, names: tuple[str, ...]) -> Survey:
    """Return the survey of the partitions of both; the kinds of a column must agree."""
    if one.kinds.shape != other.kinds.shape:
        raise ValueError(f"X must have {len(one.kinds)} columns, as before; got {len(other.kinds)}.")
    clash = (one.kinds != other.kinds) & (one.kinds != UNKNOWN) & (other.kinds != UNKNOWN)
    if clash.any():
        k = int(np.argmax(clash))
        raise ValueError(
            f"column {names[k]!r} holds {KIND_NAMES[other.kinds[k]]}, but {KIND_NAMES[one.kinds[k]]} in partitions "
            "before. Give it one type in all of them."
        )
    n_one, n_other = one.n_rows - one.missing, other.n_rows - other.missing
    share = n_other / np.maximum(n_one + n_other, 1)
    step = other.mean - one.mean
    categories = {
        k: one.categories.get(k, set()) | other.categories.get(k, set()) for k in one.categories | other.categories
    }
    for k, own in categories.items():
        _check_categories(own, names[k])
    return Survey(
        n_rows=one.n_rows + other.n_rows,
        labels=one.labels.plus(other.labels),
        kinds=np.maximum(one.kinds, other.kinds),
        missing=one.missing + other.missing,
        mean=one.mean + share * step,
        spread=one.spread + other.spread + n_one * share * step**2,
        categories=categories,
    )


def evenly_spaced(n: int, n_chosen: int) -> RowNumbers:
    """Return the numbers of about `n_chosen` of n rows."""
    return np.unique(np.linspace(0, n - 1, n_chosen).astype(np.intp))


def plain_frame(frame: Any, names: Any, kinds: NDArray[Any]) -> Any:
    """Return numbers as float64 with NaN for missing values, categories as strings with "" for them."""
    if all(kind == NUMBER and frame[name].dtype == np.float64 for name, kind in zip(names, kinds, strict=True)):
        return frame  # without a copy
    return pd.DataFrame(
        {
            name: as_text(frame[name]) if kind == CATEGORICAL else _numbers(frame[name])
            for name, kind in zip(names, kinds, strict=True)
            if kind != UNKNOWN
        },
        index=frame.index,
    )


def _read_labels(values: dict[str, Any], reader: Reader) -> LabelCounts:
    """Count the labels of a partition; those beyond `MOST_LABELS` are left out."""
    y = values["y"]
    n_missing = int(pd.isna(y).sum())
    if n_missing:
        owner = f"column {reader.columns['y']!r} (y)" if "y" in reader.columns else "y"
        raise ValueError(f"{owner} contains missing values: {n_missing:,} labels are missing. Drop these rows.")
    counts = np.zeros((len(y), 3), dtype=np.int64)
    counts[:, 0] = 1
    for k, name in enumerate(("fn_cost", "fp_cost"), start=1):
        if np.ndim(values[name]):
            counts[:, k] = np.nan_to_num(np.asarray(values[name], dtype=np.float64)) != 0.0
    found = LabelCounts.from_rows(np.asarray(y), counts)
    return LabelCounts(*(each[:MOST_LABELS] for each in found))


def _add_array(found: Survey, X: np.ndarray, numbers: RowNumbers) -> None:
    """Survey an array (n, n_features), whose rows have these numbers in the partition."""
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers; got entries of type {X.dtype}.")
    wrong = ~np.isfinite(X)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"X contains {X[row, column]} in row {numbers[row]} of the partition, column {column} ({wrong.sum()} such "
            "entries). Fill these entries or drop the rows; missing values of a dataframe are filled."
        )
    found.kinds[:] = NUMBER
    if len(X):
        found.mean = X.mean(axis=0, dtype=np.float64)
        found.spread = np.square(X - found.mean).sum(axis=0)


def _add_columns(found: Survey, frame: Any, names: tuple[str, ...]) -> None:
    for k, name in enumerate(names):
        column = frame[name]
        known = column.notna().to_numpy()
        found.missing[k] = len(known) - known.sum()
        if not known.any():
            continue
        if column_kind(column) == CATEGORY:
            found.kinds[k] = CATEGORICAL
            found.categories[k] = set(as_text(column[known].drop_duplicates()))
            _check_categories(found.categories[k], name)
            continue
        values = _numbers(column)[known]
        if not np.isfinite(values).all():
            raise ValueError(f"column {name!r} contains infinity. Clip these entries, or leave them empty.")
        found.kinds[k], found.mean[k] = NUMBER, values.mean()
        found.spread[k] = np.square(values - found.mean[k]).sum()


def _check_categories(categories: set[str], name: str) -> None:
    if len(categories) > MOST_CATEGORIES:
        raise ValueError(
            f"column {name!r} must have at most {MOST_CATEGORIES} categories; got {len(categories)} or more, such as "
            f"{min(categories)!r}. Leave identifiers out of the features."
        )


def _numbers(column: Any) -> Vector:
    """Return a column as float64 with NaN for missing values."""
    if column.dtype == np.float64:
        return column.to_numpy()
    return column.to_numpy(dtype=np.float64, na_value=np.nan)
