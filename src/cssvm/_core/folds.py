"""Folds for cross-validation, and out-of-fold values: what models return for samples that they have not seen.

An integer means stratified folds of *shuffled* samples, always shuffled in the same way, as tables often come in order.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils.parallel import Parallel, delayed

from .sklearn_compat import take_rows
from .types import Mask, RowNumbers, Vector
from .validation import is_missing, is_number, take_samples

DEFAULT_FOLDS = 5
SEED = 0  # of the shuffle


class Fold(NamedTuple):
    """Sample numbers, sorted: those to train on, and those held out."""

    train: RowNumbers
    valid: RowNumbers


class OutOfFold(NamedTuple):
    """Sample numbers (n_held_out,) and values (n_held_out, ...) of each fold, by a model trained on the others."""

    samples: list[RowNumbers]
    values: list[NDArray[Any]]

    def pooled(self) -> tuple[RowNumbers, NDArray[Any]]:
        """Sample numbers and values of all folds together; a sample may occur several times, or never."""
        return np.concatenate(self.samples), np.concatenate(self.values)

    def mean(self, n_samples: int) -> Vector:
        """The mean value of each sample over the folds that hold it out, (n_samples,); nan where none does."""
        samples, values = self.pooled()
        times = np.bincount(samples, minlength=n_samples)
        total = np.bincount(samples, weights=values, minlength=n_samples)
        return np.divide(total, times, out=np.full(n_samples, np.nan), where=times > 0)


def fit_on(estimator: Any, X: Any, y: Any, samples: RowNumbers, metadata: dict[str, Any]) -> Any:
    """Fit the estimator itself on some samples; metadata : arguments of `fit`, numbers or one value per sample."""
    X_own, y_own = take_rows(estimator, X, y, samples)
    return estimator.fit(X_own, y_own, **{name: take_samples(value, samples) for name, value in metadata.items()})


def out_of_fold(
    estimators: Iterable[Any],
    X: Any,
    y: Any,
    folds: Sequence[Fold],
    method: str,
    *,
    metadata: dict[str, Any],
    n_jobs: int | None = None,
) -> OutOfFold:
    """Fit one unfitted estimator per fold on its training samples, and call `method` on those that it holds out.

    `cross_val_predict` would replace the user's labels by 0 and 1.
    """

    def respond(estimator: Any, fold: Fold) -> NDArray[Any]:
        X_valid, _ = take_rows(estimator, X, y, fold.valid, fold.train)
        return np.asarray(getattr(fit_on(estimator, X, y, fold.train, metadata), method)(X_valid))

    values = Parallel(n_jobs=n_jobs)(
        delayed(respond)(estimator, fold) for estimator, fold in zip(estimators, folds, strict=True)
    )
    return OutOfFold([fold.valid for fold in folds], values)


def make_splits(
    cv: Any, X: Any, y: Any, *, positive: Mask, weights: Vector | None = None, groups: Any = None
) -> list[Fold]:
    """The folds of `cv`: an integer, None for 5, a splitter or an iterable of splits.

    Folds made here for a number leave out samples of weight zero and never split groups.
    """
    groups = check_groups(groups, len(positive))
    if cv is None or is_number(cv):
        counted = np.arange(len(positive)) if weights is None else np.flatnonzero(weights > 0)
        own = None if groups is None else groups[counted]
        splitter = _shuffled(DEFAULT_FOLDS if cv is None else cv, positive[counted], own)
        splits = splitter.split(counted, np.asarray(y)[counted], own)
        return [Fold(counted[train], counted[valid]) for train, valid in splits]
    splits = list(check_cv(cv, y, classifier=True).split(X, y, groups))
    if not splits:
        raise ValueError(f"cv must yield at least one split; got none from cv={cv!r}. Pass for example cv=5.")
    return [Fold(*(_row_numbers(part, len(positive), number) for part in parts)) for number, parts in enumerate(splits)]


def separate_missing_groups(groups: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Groups (n,), as numbers if some are missing or empty, each a group of its own, and how many these are."""
    if groups.dtype.kind in "iub":
        return groups, 0
    missing = np.array([is_missing(entry) or entry == "" for entry in groups.tolist()], dtype=bool)
    n_missing = int(np.count_nonzero(missing))
    codes = np.empty(len(groups), dtype=np.intp)
    try:
        known, codes[~missing] = np.unique(groups[~missing], return_inverse=True)
    except TypeError as error:  # they cannot be sorted
        one, other = list({type(entry): entry for entry in groups[~missing].tolist()}.values())[:2]
        raise ValueError(
            f"groups must all be numbers or all be strings; got {one!r} and {other!r}. Pass strings for all of them."
        ) from error
    if not n_missing:
        return groups, 0
    codes[missing] = len(known) + np.arange(n_missing)
    return codes, n_missing


def check_groups(groups: Any, n_samples: int) -> NDArray[Any] | None:
    """The group of each sample, (n_samples,), or None; samples without a group are groups of their own."""
    if groups is None:
        return None
    found = np.asarray(groups)
    if found.shape != (n_samples,):
        raise ValueError(
            f"groups must hold one value for each sample, shape ({n_samples},); got shape {found.shape}. "
            "Pass what each sample belongs to, such as its customer."
        )
    found, n_alone = separate_missing_groups(found)
    if n_alone:
        warnings.warn(
            f"groups is missing or empty on {n_alone} of {n_samples} samples: each of them is a group of its own.",
            UserWarning,
            stacklevel=4,
        )
    return found


def _row_numbers(part: Any, n: int, number: int) -> RowNumbers:
    """Sorted sample numbers of a part of a split; negative ones count from the end, as in NumPy."""
    given = np.asarray(part)
    if given.dtype == bool and given.shape == (n,):
        return np.flatnonzero(given)
    right = given.ndim == 1 and given.dtype.kind in ("iu" if given.size else "iuf")
    strange = given[(given < -n) | (given >= n)] if right else given.ravel()
    if not right or strange.size:
        found = repr(strange.tolist()[0]) if given.ndim == 1 and given.dtype != bool else f"shape {given.shape}"
        raise ValueError(
            f"cv must yield sample numbers, integers from {-n} to {n - 1}, or masks of {n} booleans; got {found} in "
            f"split {number}. Correct the splits, or pass for example cv=5."
        )
    numbers = given.astype(np.intp)
    return np.sort(np.where(numbers < 0, numbers + n, numbers))


def _shuffled(cv: Any, positive: Mask, groups: Any) -> Any:
    """A splitter into `cv` folds; fewer, with a warning, if the rarer class is smaller."""
    if not np.isfinite(cv) or cv != int(cv) or cv < 2:
        raise ValueError(f"cv must be an integer of at least 2, a splitter or an iterable of splits; got cv={cv!r}.")
    rarest = int(min(np.sum(positive), np.sum(~positive)))
    if rarest < 2:
        raise ValueError(
            "every class needs at least 2 samples of positive weight for cross-validation; the rarer one has "
            f"{rarest}. Add samples, or pass splits that keep it in every training part."
        )
    if rarest < cv:
        warnings.warn(
            f"The rarer class has {rarest} samples, fewer than cv={cv}: {rarest} stratified folds are used, so that "
            "each holds one of them.",
            UserWarning,
            stacklevel=5,
        )
    n_folds = min(int(cv), rarest)
    n_groups = n_folds if groups is None else len(np.unique(groups))
    if n_groups < n_folds:
        raise ValueError(
            f"groups must be at least as many as the folds; got {n_groups} groups, fewer than {n_folds} folds. Pass "
            f"cv={n_groups}, or finer groups."
            if n_groups > 1
            else "groups must be at least 2 for cross-validation; got 1 group. Pass finer groups, or none."
        )
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    return kind(n_folds, shuffle=True, random_state=SEED)
