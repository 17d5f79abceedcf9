"""The folds of a search, checked before any work is done, and the X of each of them.

A transformer is used as in a `Pipeline`: `fit_transform` of the training samples, `transform` of others, which may
differ, as those of `TargetEncoder` do. Samples of weight zero are as if removed.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from .._core.folds import Fold, make_splits
from .._core.samples import Samples, check_both_classes
from .._core.sklearn_compat import safe_indexing
from .._core.types import RowNumbers
from .._svm.base_svc import validate_transformed


class FoldFeatures:
    """X, a transformer that is fitted with the labels `y` or None, and the `counted` samples of positive weight."""

    def __init__(self, X: Any, y: NDArray[Any], transformer: Any = None, counted: RowNumbers | None = None):
        self.X, self.y, self.transformer = X, y, transformer
        self.counted = np.arange(len(y)) if counted is None else counted

    @property
    def same_for_all_folds(self) -> bool:
        """Whether there is one X."""
        return self.transformer is None

    @cached_property
    def whole(self) -> tuple[Any, Any]:
        """X as the final model sees it, and the transformer fitted on all samples of positive weight."""
        if self.transformer is None:
            return self.X, None
        X, fitted = self._fit_transform(self.counted)
        if len(self.counted) == len(self.y):
            return X, fitted
        place = np.zeros(len(self.y), dtype=np.intp)  # samples of weight zero repeat another one, as they do not count
        place[self.counted] = np.arange(len(self.counted))
        return X[place], fitted

    def of_fold(self, fold: Fold) -> tuple[Any, Fold]:
        """X as the models of a fold see it, and the places in it of the fold's training and validation samples."""
        if self.transformer is None:
            return self.X, fold
        X_train, fitted = self._fit_transform(fold.train)
        X_valid = validate_transformed(fitted.transform(safe_indexing(self.X, fold.valid)), fitted)
        both = [X_train, X_valid]
        X = sp.vstack(both, format="csr") if any(sp.issparse(part) for part in both) else np.concatenate(both)
        places = np.arange(len(fold.train) + len(fold.valid))
        return X, Fold(places[: len(fold.train)], places[len(fold.train) :])

    def _fit_transform(self, samples: RowNumbers) -> tuple[Any, Any]:
        fitted, X, y = clone(self.transformer), safe_indexing(self.X, samples), self.y[samples]
        values = fitted.fit_transform(X, y) if hasattr(fitted, "fit_transform") else fitted.fit(X, y).transform(X)
        return validate_transformed(values, fitted), fitted


def make_folds(
    cv: Any, X: Any, samples: Samples, *, ranking: bool, groups: Any = None, decision: str | None = None
) -> list[Fold]:
    """The folds of `cv`, without samples of weight zero.

    `ranking` measures need both classes among the validation samples of each fold, a `decision` that is learned from
    those of all folds needs both among these.
    """
    splits = make_splits(cv, X, samples.labels, positive=samples.positive, weights=samples.weights, groups=groups)
    folds = []
    for number, parts in enumerate(splits):
        fold = Fold(*(part[samples.weights[part] > 0] for part in parts))
        _check_fold(fold, number, samples, ranking=ranking)
        folds.append(fold)
    if decision is not None:
        held_out = samples.positive[np.concatenate([fold.valid for fold in folds])]
        fix = f'decision="{decision}" is learned from them: use other folds, or decision="zero".'
        check_both_classes(held_out, "the held-out samples of all folds", fix)
    return folds


def _check_fold(fold: Fold, number: int, samples: Samples, *, ranking: bool) -> None:
    trained = fold.train[samples.weighted_costs[fold.train] > 0]  # those that cost nothing are not trained on
    for part, rows, needs_both in (("training", trained, True), ("validation", fold.valid, ranking)):
        present = np.unique(samples.positive[rows])
        if len(rows) and (len(present) == 2 or not needs_both):
            continue
        found = f"the {'positive' if present[0] else 'negative'} class only" if len(rows) else "no weight"
        reason = ", which this scoring cannot rank" if part == "validation" and len(rows) else ""
        raise ValueError(
            f"the {part} samples of fold {number} have {found}{reason}. Use fewer or stratified folds, for example "
            "cv=StratifiedKFold(5, shuffle=True)."
        )
