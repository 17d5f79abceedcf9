"""The X of each fold: unchanged, or transformed by a transformer fitted on the training samples of the fold.

A transformer is used as in a `Pipeline`: training samples are what `fit_transform` returns, others what `transform`
returns. The two may differ, as those of `TargetEncoder` do. Samples of weight zero are as if removed.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from .._core.folds import Fold
from .._core.types import RowNumbers
from .._svm.inputs import validate_transformed


class Features:
    """X (n_samples, n_features), and a transformer that sees the labels `y` of the samples it is fitted on, or None.

    With a transformer X may be anything it takes; what it returns is checked. `counted` are the samples of positive
    weight.
    """

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
        X, fitted = self._fit_transformed(self.counted)
        if len(self.counted) == len(self.y):
            return X, fitted
        place = np.zeros(len(self.y), dtype=np.intp)  # samples of weight zero repeat another one, as they do not count
        place[self.counted] = np.arange(len(self.counted))
        return X[place], fitted

    def of_fold(self, fold: Fold) -> tuple[Any, Fold]:
        """X as the models of a fold see it, and the places in it of the fold's training and validation samples."""
        if self.transformer is None:
            return self.X, fold
        X_train, fitted = self._fit_transformed(fold.train)
        X_valid = validate_transformed(fitted.transform(_safe_indexing(self.X, fold.valid)), fitted)
        both = [X_train, X_valid]
        X = sp.vstack(both, format="csr") if any(sp.issparse(part) for part in both) else np.concatenate(both)
        places = np.arange(len(fold.train) + len(fold.valid))
        return X, Fold(places[: len(fold.train)], places[len(fold.train) :])

    def _fit_transformed(self, samples: RowNumbers) -> tuple[Any, Any]:
        fitted, X, y = clone(self.transformer), _safe_indexing(self.X, samples), self.y[samples]
        values = fitted.fit_transform(X, y) if hasattr(fitted, "fit_transform") else fitted.fit(X, y).transform(X)
        return validate_transformed(values, fitted), fitted
