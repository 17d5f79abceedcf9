"""The folds: pairs of training and validation rows, checked before any work is done."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv

from .._types import RowNumbers, Vector, is_number
from ..sample import Sample

DEFAULT_FOLDS = 5


class Fold(NamedTuple):
    """Row numbers, sorted; rows of weight zero are in neither."""

    train: RowNumbers
    valid: RowNumbers


def make_folds(cv: Any, X: Any, sample: Sample, *, ranking: bool) -> list[Fold]:
    """The folds of `cv`; `ranking` measures need both classes among the validation rows as well."""
    y = sample.labels
    if cv is None:
        cv = DEFAULT_FOLDS
    if is_number(cv):
        cv = _affordable(cv, sample)
    splits = list(check_cv(cv, y, classifier=True).split(X, y))
    if not splits:
        raise ValueError(f"cv must yield at least one split; got none from cv={cv!r}. Pass for example cv=5.")
    folds = []
    for number, parts in enumerate(splits):
        fold = Fold(*(_counted(part, sample.weights) for part in parts))
        _check_fold(fold, number, sample, ranking=ranking)
        folds.append(fold)
    return folds


def _counted(part: Any, weights: Vector) -> RowNumbers:
    rows = np.asarray(part)
    rows = np.flatnonzero(rows) if rows.dtype == bool else np.sort(rows.astype(np.intp))
    return rows[weights[rows] > 0]


def _affordable(cv: Any, sample: Sample) -> int:
    """`cv`, or as many stratified folds as the rarer class has rows, with a warning."""
    if cv != int(cv) or cv < 2:
        raise ValueError(f"cv must be an integer of at least 2, a splitter or an iterable of splits; got cv={cv!r}.")
    counted = sample.positive[sample.weights > 0]
    rarest = int(min(np.sum(counted), np.sum(~counted)))
    if rarest < 2:
        raise ValueError(
            f"every class needs at least 2 rows of positive weight for cross-validation; the rarer one has {rarest}. "
            "Add rows, or pass splits that keep it in every training part."
        )
    if rarest < cv:
        warnings.warn(
            f"The rarer class has {rarest} rows, fewer than cv={cv}: {rarest} stratified folds are used, so that each "
            "holds one of them.",
            UserWarning,
            stacklevel=4,
        )
    return min(int(cv), rarest)


def _check_fold(fold: Fold, number: int, sample: Sample, *, ranking: bool) -> None:
    trained = fold.train[sample.stakes[fold.train] > 0]  # rows that cost nothing are left out of the training
    for part, rows, needed in (("training", trained, True), ("validation", fold.valid, ranking)):
        present = np.unique(sample.positive[rows])
        if len(rows) == 0 or (needed and len(present) < 2):
            found = "no rows" if len(rows) == 0 else f"rows of the {'target' if present[0] else 'other'} class only"
            why = "" if part == "training" else ", which this scoring cannot rank"
            raise ValueError(
                f"the {part} rows of fold {number} hold {found}{why}. Use fewer or stratified folds, "
                "for example cv=StratifiedKFold(5, shuffle=True)."
            )
