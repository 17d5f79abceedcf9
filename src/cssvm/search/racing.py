"""Racing: points that cannot win any more are not trained on the remaining folds.

After at least `MIN_FOLDS` folds a point is dropped if the differences D_k of its scores from the leader's, fold by
fold, have mean(D) < -`Z` std(D) / sqrt(folds): it is worse by more than the folds vary.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MIN_FOLDS = 3
Z = 3.0  # standard errors; with so few folds fewer would be chance


class Race:
    """Which points are still in; `values` (n_points, n_folds) is filled in by others."""

    def __init__(self, values: NDArray[np.float64], *, enabled: bool):
        self.values, self.enabled = values, enabled
        self.dropped = np.zeros(len(values), dtype=bool)

    def alive(self, point: int) -> bool:
        """Whether this point is still in."""
        return not self.dropped[point]

    def update(self) -> None:
        """Drop points after the folds that all remaining points have been scored on."""
        if not self.enabled:
            return
        staying = np.flatnonzero(~self.dropped)
        common = np.flatnonzero(~np.isnan(self.values[staying]).any(axis=0))
        if len(common) < MIN_FOLDS:
            return
        values = self.values[np.ix_(staying, common)]
        difference = values - values[np.argmax(values.mean(axis=1))]
        error = difference.std(axis=1, ddof=1) / np.sqrt(len(common))
        self.dropped[staying] = difference.mean(axis=1) < -Z * error
