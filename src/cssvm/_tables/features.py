"""Rows of a table as a model reads them, by the columns of its card, and the preparation that its search is given.

Data frames are prepared by the rule of `cssvm._preprocessing`, learnt from the training rows of each fold; the
categories are those of the whole training table, so that all folds have the same columns for them. Each feature of
LIBSVM text is divided by its largest absolute value, so that zeros stay zeros.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..deploy import Column
from ..deploy._card import CATEGORY, NUMBER
from .chunk import Chunk, TableError, listed


@dataclass
class Oddities:
    """What was met in rows that training has not seen, by column: gaps in numbers that were filled, and new words."""

    gaps: Counter[str] = field(default_factory=Counter)
    new_words: Counter[str] = field(default_factory=Counter)


def read_features(rows: Chunk, columns: Sequence[Column], oddities: Oddities | None = None) -> Any:
    """The features of these rows: a data frame, or the CSR matrix of LIBSVM text.

    A column that is missing is refused, others than `columns` are not read, and `oddities` counts the rest.
    """
    import pandas as pd

    names = [column.name for column in columns]
    if rows.sparse is not None:
        return _as_wide(rows, names)
    rows.require(names, " Give the columns that the model was trained on.")
    oddities = Oddities() if oddities is None else oddities
    read: dict[str, Any] = {}
    for column in columns:
        if column.kind == NUMBER:
            read[column.name] = rows.numbers(column.name)
            oddities.gaps[column.name] += int(np.isnan(read[column.name]).sum())
        else:
            read[column.name] = rows.words(column.name)
            if column.categories is not None:
                new = pd.Index(column.categories).get_indexer(read[column.name]) < 0
                gaps = new & (read[column.name] == "")
                oddities.new_words[column.name] += int((new & ~gaps).sum())
                oddities.gaps[column.name] += int(gaps.sum())
    return pd.DataFrame(read, columns=names)


def _as_wide(rows: Chunk, names: list[str]) -> Any:
    """Sparse features as many as the model has; indices beyond are not read."""
    if names != [str(k + 1) for k in range(len(names))]:
        raise TableError(
            f"{rows.source} is LIBSVM text, whose features have numbers; the model reads the columns {listed(names)}."
        )
    features = rows.sparse.copy()
    features.resize(len(rows), len(names))
    return features


def preparation(columns: Sequence[Column], features: Any) -> Any:
    """The transformer in front of the SVM, not fitted, for the features of the training table."""
    from sklearn.preprocessing import MaxAbsScaler

    from .._preprocessing import column_preprocessor

    if not hasattr(features, "columns"):
        return MaxAbsScaler().set_output(transform="default")  # sparse, whatever set_config says
    categories = [column for column in columns if column.kind == CATEGORY]
    return column_preprocessor(
        [column.name for column in columns if column.kind == NUMBER],
        [column.name for column in categories],
        known=[np.array(column.categories, dtype=object) for column in categories],
    )
