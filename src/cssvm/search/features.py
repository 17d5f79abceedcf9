"""The X of each fold: unchanged, or transformed by a transformer fitted on the training rows of the fold."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from .._types import RowNumbers
from ..estimators.inputs import transformed_data
from ..folds import Fold


class Features:
    """X (n_samples, n_features), and a transformer that sees the labels `y` of the rows it is fitted on, or None.

    With a transformer X may be anything it takes; what it returns is checked. `counted` are the rows of positive
    weight: no transformer is fitted on others.
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
        """X as the final model sees it, and the transformer fitted on all rows."""
        if self.transformer is None:
            return self.X, None
        if len(self.counted) == len(self.y):
            fitted = clone(self.transformer)
            return transformed_data(fitted.fit_transform(self.X, self.y), fitted), fitted
        fitted = self._fitted_on(self.counted)
        return transformed_data(fitted.transform(self.X), fitted), fitted

    def of_fold(self, fold: Fold) -> Any:
        """All rows of X as the machines of a fold see them."""
        if self.transformer is None:
            return self.X
        fitted = self._fitted_on(fold.train)
        return transformed_data(fitted.transform(self.X), fitted)

    def _fitted_on(self, rows: RowNumbers) -> Any:
        return clone(self.transformer).fit(_safe_indexing(self.X, rows), self.y[rows])
