"""Values of samples in pandas objects, matched to the samples by index.

A pandas Series belongs to samples by its index, never by its order: costs, weights and groups are columns of a table.
Predictions are mostly made in the order of the samples (`align_predictions`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_pandas(value: Any) -> bool:
    """Whether this is a pandas Series or frame, found out without importing pandas; a list has no `iloc`."""
    return hasattr(value, "index") and hasattr(value, "iloc")


def align_to_samples(X: Any, y: Any = None, **values: Any) -> dict[str, Any]:
    """Values for the samples of X and y; those of a pandas Series in the order of the index of y, or else of X."""
    return {
        name: _align_to_index_of(name, value, X, y) if is_pandas(value) else value for name, value in values.items()
    }


def _align_to_index_of(name: str, value: Any, X: Any, y: Any) -> Any:
    indexes = [each.index for each in (y, X) if is_pandas(each)]
    if not indexes:
        return align_series(name, value, None)
    if len(indexes) == 2 and not indexes[0].equals(indexes[1]):
        raise ValueError(
            f"{name} is a pandas Series, which is aligned by its index, but X and y have different indexes. Give them "
            f"the same one, or pass {name}.to_numpy() in the order of the samples."
        )
    return align_series(name, value, indexes[0])


def align_series(name: str, value: Any, index: Any) -> NDArray[Any]:
    """Values as an array, those of a Series in the order of `index`; if None, its labels must be 0, 1, 2, ..."""
    values = np.asarray(value)
    if not is_pandas(value):
        return values
    if index is not None:
        return values[_positions(name, value.index, index)]
    if not _is_numbered(value.index):
        label = value.index[:1].tolist()[0]
        raise ValueError(
            f"{name} is a pandas Series with labels such as {label!r}, but the samples have no index by which to find "
            f"its values. Pass {name}.to_numpy() if it is in the order of the samples, or X and y with their index."
        )
    return values


def align_predictions(name: str, value: Any, index: Any) -> NDArray[Any]:
    """Predictions or scores as an array in the order of the samples, whose index is `index` or None.

    A Series is aligned by label, unless it is numbered 0, 1, 2, ... as ``pd.Series(model.predict(X))`` is, and the
    samples have other labels. If they have the same ones in another order, it is ambiguous, and it raises.
    """
    if index is None or not is_pandas(value) or value.index.equals(index):
        return align_series(name, value, index)
    contained = value.index.isin(index).all()
    reordered = contained and len(value) == len(index) and value.index.is_unique
    if reordered and (_is_numbered(value.index) or _is_numbered(index)):
        raise ValueError(
            f"{name} is a pandas Series with the labels of y_true in another order, one of them numbered 0, 1, 2, ...: "
            f"pass {name}.to_numpy() if it is in the order of y_true, or {name}.loc[y_true.index] to match labels."
        )
    return np.asarray(value) if _is_numbered(value.index) and not contained else align_series(name, value, index)


def _is_numbered(index: Any) -> bool:
    return np.array_equal(index, np.arange(len(index)))


def _positions(name: str, given: Any, wanted: Any) -> Any:
    """The positions of the labels of the index `wanted` in the index `given`."""
    if given.equals(wanted):
        return slice(None)
    positions = given.get_indexer(wanted) if given.is_unique else np.full(len(wanted), -1)
    if (positions >= 0).all():
        return positions
    label = wanted[[np.argmax(positions < 0)]].tolist()[0]
    raise ValueError(
        f"{name} must have exactly one value for each label in the index of the samples; got none, or several, for "
        f"{label!r} ({(positions < 0).sum()} in all). Pass all values with unique labels, or {name}.to_numpy()."
    )
