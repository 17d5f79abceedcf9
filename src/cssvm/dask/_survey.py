"""One pass over all rows: labels, and of each column its kind, mean and variance, gaps and words; rows for a map.

Kinds are those of `cssvm._preprocessing`; columns of arrays are numbers without gaps. Means and variances are those of
the entries that are there, combined in the order of partitions without cancellation (Chan, Golub and LeVeque, 1983).
Rows of weight 0 are not there; others count once, as when a transformer is fitted on one machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.costs import check_sample_weight
from .._core.types import RowNumbers, Vector
from .._preprocessing import CATEGORY, as_text, column_kind
from ._partitions import Reader

UNKNOWN, NUMBER, WORDS = 0, 1, 2  # kinds of columns; unknown has gaps only, so far
MOST_LABELS = 20  # of a partition, sent to the client: more than two are refused there
MOST_WORDS = 1000  # of a column, each of which becomes a feature
MAP_ROWS = 10_000  # to fit a feature map on
SPARE = 4  # times the rows that a partition would give if all had as many


@dataclass
class Survey:
    """What was found in some partitions; the vectors have one entry for each column.

    n_rows : counted, of positive weight
    labels : those that occur
    kinds, known, mean, spread, gaps : kind, number of known entries, their mean, sum of squared distances from it, and
        number of gaps
    words : by the number of the column
    rows : some of the rows, evenly spaced
    """

    n_rows: int
    labels: NDArray[Any]
    kinds: NDArray[Any]
    known: NDArray[Any]
    mean: Vector
    spread: Vector
    gaps: NDArray[Any]
    words: dict[int, set[str]]
    rows: Any = None


def survey(frame: Any, *given: Any) -> Survey:
    """That of one partition, from the arguments of its task; the last two are the reader, and how many rows to keep."""
    *beside, reader, n_keep = given
    X, values = reader.both(frame, *beside)
    labels = _labels(values["y"])
    counted = check_sample_weight(values["sample_weight"], len(values["y"])) > 0.0
    if not counted.all():
        X = X[counted]
    found = _of_array(X, np.flatnonzero(counted)) if reader.names is None else _of_frame(X, reader)
    rows = None
    if n_keep:
        chosen = np.unique(np.linspace(0, len(X) - 1, min(n_keep, len(X))).astype(np.intp))
        rows = X[chosen] if reader.names is None else plain_frame(X.iloc[chosen], reader.names, found.kinds)
    return replace(found, labels=labels, rows=rows)


def combined(one: Survey, other: Survey, reader: Reader) -> Survey:
    """That of the partitions of both; the kinds of a column must agree."""
    if one.kinds.shape != other.kinds.shape:
        raise ValueError(f"X must have {len(one.kinds)} columns, as before; got {len(other.kinds)}.")
    clash = (one.kinds != other.kinds) & (one.kinds != UNKNOWN) & (other.kinds != UNKNOWN)
    if clash.any():
        name = (reader.names or ())[int(np.argmax(clash))]
        holds = ["", "numbers", "words"]
        k = int(np.argmax(clash))
        raise ValueError(
            f"column {name!r} holds {holds[other.kinds[k]]}, but {holds[one.kinds[k]]} in partitions before. Give it "
            "one type in all of them."
        )
    known = one.known + other.known
    share = other.known / np.maximum(known, 1)
    step = other.mean - one.mean
    words = {k: one.words.get(k, set()) | other.words.get(k, set()) for k in one.words | other.words}
    for k, own in words.items():
        _check_words(own, (reader.names or ())[k])
    labels = one.labels if len(other.labels) == 0 else np.concatenate([one.labels, other.labels])
    return Survey(
        one.n_rows + other.n_rows,
        labels if len(other.labels) == 0 else _labels(labels),
        np.maximum(one.kinds, other.kinds),
        known,
        one.mean + share * step,
        one.spread + other.spread + one.known * share * step**2,
        one.gaps + other.gaps,
        words,
    )


def plain_frame(frame: Any, names: Any, kinds: NDArray[Any]) -> Any:
    """The columns as float64 with NaN for gaps, or as text with "" for gaps, whatever their types were."""
    import pandas as pd

    if all(kind == NUMBER and frame[name].dtype == np.float64 for name, kind in zip(names, kinds, strict=True)):
        return frame  # without a copy
    return pd.DataFrame(
        {
            name: as_text(frame[name]) if kind == WORDS else _numbers(frame[name])
            for name, kind in zip(names, kinds, strict=True)
            if kind != UNKNOWN
        },
        index=frame.index,
    )


def _labels(y: NDArray[Any]) -> NDArray[Any]:
    """Some of the labels that occur, all if they are few."""
    import pandas as pd

    n_gaps = int(pd.isna(y).sum())
    if n_gaps:
        raise ValueError(f"y contains gaps: {n_gaps:,} labels are missing. Drop these rows.")
    return np.asarray(pd.unique(y))[:MOST_LABELS]


def _of_array(X: np.ndarray, numbers: RowNumbers) -> Survey:
    """Of the rows of these numbers in the partition."""
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers; got entries of type {X.dtype}.")
    wrong = ~np.isfinite(X)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"X contains {X[row, column]} in row {numbers[row]} of the partition, column {column} ({wrong.sum()} such "
            "entries). Fill these entries or drop the rows; gaps in a dataframe are filled."
        )
    n_features = X.shape[1]
    mean = X.mean(axis=0, dtype=np.float64) if len(X) else np.zeros(n_features)
    return Survey(
        len(X),
        np.empty(0),
        np.full(n_features, NUMBER),
        np.full(n_features, len(X)),
        mean,
        np.square(X - mean).sum(axis=0),
        np.zeros(n_features, dtype=np.int64),
        {},
    )


def _of_frame(frame: Any, reader: Reader) -> Survey:
    n_features = len(reader.names or ())
    kinds, n_known, gaps = np.zeros((3, n_features), dtype=np.int64)
    mean, spread = np.zeros((2, n_features))
    words = {}
    for k, name in enumerate(reader.names or ()):
        column = frame[name]
        known = column.notna().to_numpy()
        gaps[k] = len(known) - known.sum()
        if not known.any():
            continue
        kinds[k] = WORDS if column_kind(column) == CATEGORY else NUMBER
        if kinds[k] == WORDS:
            words[k] = set(as_text(column[known].drop_duplicates()))
            _check_words(words[k], name)
            continue
        values = _numbers(column)[known]
        if not np.isfinite(values).all():
            raise ValueError(f"column {name!r} contains infinity. Clip these entries, or leave them empty.")
        n_known[k], mean[k] = len(values), values.mean()
        spread[k] = np.square(values - mean[k]).sum()
    return Survey(len(frame), np.empty(0), kinds, n_known, mean, spread, gaps, words)


def _check_words(words: set[str], name: str) -> None:
    if len(words) > MOST_WORDS:
        raise ValueError(
            f"column {name!r} must have at most {MOST_WORDS} different words; got {len(words)} or more, such as "
            f"{min(words)!r}. Leave identifiers out of the features."
        )


def _numbers(column: Any) -> Vector:
    """Float64 with NaN for gaps."""
    if column.dtype == np.float64:
        return column.to_numpy()
    return column.to_numpy(dtype=np.float64, na_value=np.nan)
