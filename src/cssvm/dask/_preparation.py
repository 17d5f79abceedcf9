"""From raw columns to features: transformers of scikit-learn with the statistics of a survey.

Columns of data frames are preprocessed by the rule of `cssvm._preprocessing`, but numbers are scaled only if `scale` is
True. A feature map comes last. Nothing is done to columns of numbers without missing values if `scale` is False.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from .._core.types import RowNumbers, Vector
from .._kernels.pairwise import far_mean
from .._preprocessing import MISSING, fitted_preprocessor, fitted_scaler
from .._solvers.linear.rows import DenseRows, DenseTile, centre_from_sums, tile_rows
from ._survey import CATEGORICAL, NUMBER, UNKNOWN, Survey, plain_frame

MAP_ROWS = 10_000  # to fit a feature map on
SPARE = 4  # times the rows that each partition would give if all had as many
SLAB_BYTES = 1 << 22  # of features made at a time; the steps of scikit-learn need as much again, each


class Preparation:
    """Fitted steps from rows to features, and the centre of features that are far from zero.

    steps : by name, fitted; names, kinds : of the raw columns
    """

    def __init__(self, found: Survey, names: Any, *, scale: bool, feature_map: Any):
        self.names, self.kinds = names, found.kinds
        self.steps: list[tuple[str, Any]] = []
        columns = _fitted_columns(found, names, scale=scale, mapped=feature_map is not None)
        if columns is None:
            deviation = np.sqrt(found.spread / max(found.n_rows, 1))
            self.n_features = len(found.mean)
            self.centre = far_mean(found.mean, deviation)
        else:
            self.steps.append(("columns", columns))
            self.n_features = len(columns.get_feature_names_out())
            self.centre = np.zeros(self.n_features)
        if feature_map is not None:
            self.steps.append(("map", clone(feature_map).fit(self.transform(found.rows))))
            Z = self.transform(found.rows)
            self.n_features = Z.shape[1]
            self.centre = centre_from_sums(Z.sum(axis=0), np.square(Z).sum(axis=0), len(Z))

    def rows(self, X: Any) -> Any:
        """Return the rows of features, which are computed when they are needed."""
        if self.names is not None:
            X = plain_frame(X, self.names, self.kinds)
        elif not self.steps and X.dtype in (np.float64, np.float32):
            return DenseRows(np.ascontiguousarray(X)).centred(self.centre)
        return PreparedRows(X, self, self.centre)

    def transform(self, X: Any) -> np.ndarray:
        """Return the features (n, n_features) of plain rows, C-ordered, float64 or float32."""
        for name, step in self.steps:
            X = step.transform(X)
            if name == "map" and hasattr(X, "toarray"):
                X = X.toarray()
        X = np.asarray(X)
        X = np.ascontiguousarray(X, dtype=X.dtype if X.dtype in (np.float64, np.float32) else np.float64)
        if not np.isfinite(X).all():
            raise ValueError(
                "feature_map and scaling must give finite numbers; got others. Check the map, or the rows."
            )
        return X


def _fitted_columns(found: Survey, names: Any, *, scale: bool, mapped: bool) -> Any:
    """Return the fitted transformer of columns, which also selects them by name for a map; None if none is needed."""
    numbers, categorical = (np.flatnonzero(found.kinds == kind) for kind in (NUMBER, CATEGORICAL))
    has_missing, variance = found.missing[numbers] > 0, found.spread[numbers] / max(found.n_rows, 1)
    plain = not (mapped or len(categorical) or has_missing.any() or (found.kinds == UNKNOWN).any())
    if names is None or (plain and not scale):
        return fitted_scaler(found.n_rows, found.mean, variance) if scale else None
    empty = [names[k] for k in np.flatnonzero(found.kinds == UNKNOWN)]
    if empty:
        warnings.warn(f"columns without any entry are left out: {empty}.", UserWarning, stacklevel=5)
    categories = {
        names[k]: sorted(found.categories[k] | ({MISSING} if found.missing[k] else set())) for k in categorical.tolist()
    }
    scaler = fitted_scaler(found.n_rows, found.mean[numbers], variance)
    return fitted_preprocessor([names[k] for k in numbers], scaler, has_missing, categories, scale=scale)


class PreparedRows:
    """Rows whose features are computed a slab at a time, whenever they are needed: `Rows`; slabs are whole tiles."""

    def __init__(self, X: Any, preparation: Preparation, centre: Vector):
        self.n, self.n_features = len(X), preparation.n_features
        self._X, self._preparation, self._centre = X, preparation, centre

    def centred(self, centre: Vector) -> PreparedRows:
        return PreparedRows(self._X, self._preparation, centre)

    def take(self, chosen: RowNumbers) -> DenseRows:
        some = PreparedRows(rows_at(self._X, chosen), self._preparation, self._centre)
        slabs = [values for _, values in some._slabs()]
        values = np.concatenate(slabs) if slabs else np.empty((0, self.n_features))
        return DenseRows(values).centred(self._centre)

    def tiles(self) -> Iterator[tuple[slice, DenseTile]]:
        for first, values in self._slabs():
            for part, tile in DenseRows(values).centred(self._centre).tiles():
                yield slice(first + part.start, first + part.stop), tile

    def _slabs(self) -> Iterator[tuple[int, np.ndarray]]:
        step = tile_rows(self.n_features)
        step *= max(1, SLAB_BYTES // (8 * max(1, self.n_features) * step))
        for first in range(0, self.n, step):
            yield first, self._preparation.transform(rows_at(self._X, slice(first, first + step)))


def rows_at(X: Any, rows: Any) -> Any:
    """Return rows of an array or of a data frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
