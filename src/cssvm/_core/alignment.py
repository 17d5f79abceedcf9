"""Values for rows that come from elsewhere: a pandas Series belongs to rows by its index, never by its order.

Costs, weights and groups are columns of a table, and are found by label whatever the order of the rows. Predictions are
mostly made in the order of the rows: see `predictions_in_order`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .types import is_number


def align_to_samples(X: Any, y: Any = None, **values: Any) -> dict[str, Any]:
    """Values for the rows of X and y by name, a pandas Series of them in the order of the rows, by its index.

    The rows have the index of y, or of X if y has none. All else but a Series is in the order of the rows already.
    """
    return {name: _in_order(name, value, X, y) if is_series(value) else value for name, value in values.items()}


def _in_order(name: str, value: Any, X: Any, y: Any) -> Any:
    own = [rows.index for rows in (y, X) if is_series(rows)]
    if not own:
        return at_index(name, value, None)
    if len(own) == 2 and not own[0].equals(own[1]):
        raise ValueError(
            f"{name} is a pandas Series, which belongs to rows by its index, but X and y have different indexes. Give "
            f"them the same one, or pass {name}.to_numpy() in the order of the rows."
        )
    return at_index(name, value, own[0])


def is_series(value: Any) -> bool:
    """A pandas Series or frame, told without importing pandas; a list has an `index` as well, but no `iloc`."""
    return hasattr(value, "index") and hasattr(value, "iloc")


def matched(name: str, value: Any, n_rows: int, index: Any) -> Any:
    """A number or None as it is; one value for each row as (n_rows,), a Series matched to `index`."""
    if value is None or is_number(value):
        return value
    values = at_index(name, value, index)
    if values.shape != (n_rows,):
        raise ValueError(
            f"{name} must be a number or hold one value for each row of y_true, shape ({n_rows},); got shape "
            f"{values.shape}. In a cross-validation pass a pandas Series with the index of y, or route {name} as "
            "metadata."
        )
    return values


def at_index(name: str, value: Any, index: Any) -> NDArray[Any]:
    """Values as an array; those of a Series in the order of `index`, the one of the rows.

    Rows without an index, None, are numbered: a Series with any other labels is refused, as its order may be another.
    """
    values = np.asarray(value)
    if not is_series(value):
        return values
    if index is not None:
        return values[_rows_of(name, value.index, index)]
    if not _numbered(value.index):
        label = value.index[:1].tolist()[0]
        raise ValueError(
            f"{name} is a pandas Series with labels such as {label!r}, but the rows have no index by which to find its "
            f"values. Pass {name}.to_numpy() if it is in the order of the rows, or X and y with their index."
        )
    return values


def predictions_in_order(name: str, value: Any, index: Any) -> NDArray[Any]:
    """Decisions or scores as an array in the order of the rows, whose index is `index`; None if they have none.

    A Series is matched by label, as `at_index` does, but for one that is numbered 0, 1, 2, ... as
    ``pd.Series(model.predict(X))`` is: where the rows have other labels it is in their order. Where the rows have the same
    labels in another order, nothing tells which of the two is meant, and it is rejected.
    """
    if index is None or not is_series(value) or value.index.equals(index):
        return at_index(name, value, index)
    among_rows = value.index.isin(index).all()
    reordered = among_rows and len(value) == len(index) and value.index.is_unique
    if reordered and (_numbered(value.index) or _numbered(index)):
        raise ValueError(
            f"{name} is a pandas Series with the labels of y_true in another order, one of them numbered 0, 1, 2, ..., "
            f"so that its values may be meant by label or by position. Pass {name}.to_numpy() if it is in the order of "
            f"y_true, or {name}.loc[y_true.index] if it is to be found by its labels."
        )
    return np.asarray(value) if _numbered(value.index) and not among_rows else at_index(name, value, index)


def _numbered(index: Any) -> bool:
    return np.array_equal(index, np.arange(len(index)))


def _rows_of(name: str, given: Any, wanted: Any) -> Any:
    """Where the labels of the index `wanted` are in the index `given`."""
    if given.equals(wanted):
        return slice(None)
    rows = given.get_indexer(wanted) if given.is_unique else np.full(len(wanted), -1)
    if (rows >= 0).all():
        return rows
    label = wanted[[np.argmax(rows < 0)]].tolist()[0]
    raise ValueError(
        f"{name} must have exactly one value for each label in the index of the rows; got none, or several, for "
        f"{label!r} ({(rows < 0).sum()} such rows). Pass the Series of all rows with unique "
        f"labels, or an array in the order of the rows: {name}.to_numpy()."
    )
