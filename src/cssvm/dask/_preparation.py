"""From raw columns to features, by parts of scikit-learn that are fitted from sums: in tasks, and later in `to_local`.

The columns of frames are prepared by the rule of `cssvm._preprocessing`, but numbers are scaled only if `scale` is True.
A feature map comes last, fitted on about `MAP_ROWS` rows that are evenly spaced in each partition. Nothing is done to
columns of numbers without gaps if `scale` is False. Frames that are scaled may have gaps later, also where training had
none; arrays may not.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from .._core.types import RowNumbers, Vector
from .._preprocessing import MISSING, column_preprocessor
from .._solvers.linear.rows import FAR, DenseRows, Tile, far_centre, tile_rows
from ._survey import NUMBER, UNKNOWN, WORDS, Survey, plain_frame

SLAB_BYTES = 1 << 22  # of features made at a time; scikit-learn's steps need as much again, each


class Preparation:
    """Fitted steps from rows to features, and what is taken from features that are far from zero.

    steps : by name, fitted; names, kinds : of the raw columns
    """

    def __init__(self, found: Survey, names: Any, *, scale: bool, feature_map: Any):
        self.names, self.kinds = names, found.kinds
        self.steps: list[tuple[str, Any]] = []
        columns = _columns(found, names, scale=scale, mapped=feature_map is not None)
        if columns is not None:
            self.steps.append(("columns", columns))
        mean, deviation = found.mean, np.sqrt(found.spread / max(found.n_rows, 1))
        self.n_features, self.centre = len(found.mean), np.where(np.abs(mean) > FAR * deviation, mean, 0.0)
        if columns is not None:
            self.n_features = len(columns.get_feature_names_out())
            self.centre = np.zeros(self.n_features)
        if feature_map is not None:
            rows = self.transform(found.rows)
            self.steps.append(("map", clone(feature_map).fit(rows)))
            Z = self.transform(found.rows)
            self.n_features = Z.shape[1]
            self.centre = far_centre(Z.sum(axis=0), np.square(Z).sum(axis=0), len(Z))

    def rows(self, X: Any) -> Any:
        """Rows of features, made when they are asked for."""
        if self.names is not None:
            X = plain_frame(X, self.names, self.kinds)
        elif not self.steps and X.dtype in (np.float64, np.float32):
            return DenseRows(np.ascontiguousarray(X)).centred(self.centre)
        return PreparedRows(X, self, self.centre)

    def transform(self, X: Any) -> np.ndarray:
        """Features (n, n_features) of plain rows, C-ordered, float64 or float32."""
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


def _columns(found: Survey, names: Any, *, scale: bool, mapped: bool) -> Any:
    """What fills, scales and encodes, and finds columns by name for a map, fitted; None if there is nothing to do."""
    words, numbers = np.flatnonzero(found.kinds == WORDS), np.flatnonzero(found.kinds == NUMBER)
    with_gaps = numbers[found.gaps[numbers] > 0]
    if names is None or not (scale or mapped or len(words) or len(with_gaps) or (found.kinds == UNKNOWN).any()):
        return _scaler(found, numbers, names) if scale else None
    empty = [names[k] for k in np.flatnonzero(found.kinds == UNKNOWN)]
    if empty:
        warnings.warn(f"columns without any entry are left out: {empty}.", UserWarning, stacklevel=5)
    return _column_transformer(found, np.asarray(names, dtype=object), words, numbers, with_gaps, scale=scale)


def _column_transformer(
    found: Survey, names: Any, words: RowNumbers, numbers: RowNumbers, with_gaps: RowNumbers, *, scale: bool
) -> Any:
    import pandas as pd

    own = {k: sorted(found.words[k] | ({MISSING} if found.gaps[k] else set())) for k in words.tolist()}
    transformer = column_preprocessor(
        list(names[numbers]),
        list(names[words]),
        known=[np.array(categories, dtype=object) for categories in own.values()],
        scale=scale,
        sparse=False,
    )
    # Two rows for scikit-learn to fit on; what is learned from rows is replaced by what all rows say.
    rows = {names[k]: [0.0, np.nan if k in with_gaps else 1.0] for k in numbers}
    rows |= {names[k]: categories[:1] * 2 for k, categories in own.items()}
    transformer.fit(pd.DataFrame(rows))
    if len(numbers):
        filled = transformer.named_transformers_["numbers"]
        filled["fill"].statistics_ = found.mean[numbers].copy()
        if scale:
            filled.steps[1] = ("scale", _scaler(found, numbers, None))
    return transformer


def _scaler(found: Survey, numbers: RowNumbers, names: Any) -> Any:
    """A fitted StandardScaler; gaps count as the mean, with which they are filled."""
    scaler = StandardScaler()
    scaler.mean_, scaler.var_ = found.mean[numbers].copy(), found.spread[numbers] / found.n_rows
    # as scikit-learn has it: a variance of rounding errors is none
    rounding = found.n_rows * np.finfo(float).eps
    constant = scaler.var_ <= rounding * scaler.var_ + (rounding * scaler.mean_) ** 2
    scaler.scale_ = np.where(constant, 1.0, np.sqrt(np.where(constant, 1.0, scaler.var_)))
    scaler.n_features_in_, scaler.n_samples_seen_ = len(numbers), found.n_rows
    if names is not None:
        scaler.feature_names_in_ = np.asarray(names, dtype=object)
    return scaler


class PreparedRows:
    """Rows whose features are made a slab at a time, whenever they are asked for: `Rows`.

    Slabs are whole tiles, so that tiles are those of the same features in memory.
    """

    def __init__(self, X: Any, preparation: Preparation, centre: Vector):
        self.n, self.n_features = len(X), preparation.n_features
        self._X, self._preparation, self._centre = X, preparation, centre

    def centred(self, centre: Vector) -> PreparedRows:
        """As `Rows` says."""
        return PreparedRows(self._X, self._preparation, centre)

    def take(self, chosen: RowNumbers) -> DenseRows:
        """As `Rows` says."""
        some = PreparedRows(_at(self._X, chosen), self._preparation, self._centre)
        slabs = [values for _, values in some._slabs()]
        values = np.concatenate(slabs) if slabs else np.empty((0, self.n_features))
        return DenseRows(values).centred(self._centre)

    def tiles(self) -> Iterator[tuple[slice, Tile]]:
        """As `Rows` says."""
        for first, values in self._slabs():
            for part, tile in DenseRows(values).centred(self._centre).tiles():
                yield slice(first + part.start, first + part.stop), tile

    def moments(self) -> tuple[Vector, Vector]:
        """As `Rows` says."""
        total, squares = np.zeros((2, self.n_features))
        for _, values in self._slabs():
            own = DenseRows(values).moments()
            total, squares = total + own[0], squares + own[1]
        return total, squares

    def _slabs(self) -> Iterator[tuple[int, np.ndarray]]:
        step = tile_rows(self.n_features)
        step *= max(1, SLAB_BYTES // (8 * max(1, self.n_features) * step))
        for first in range(0, self.n, step):
            yield first, self._preparation.transform(_at(self._X, slice(first, first + step)))


def _at(X: Any, rows: Any) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
