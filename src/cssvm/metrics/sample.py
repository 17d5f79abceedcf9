"""The rows a metric looks at: which of them are the target, what each weighs and what the user gave for each.

Sign convention: +1 is the target class (`pos_label`), the one that `fn_cost` is about; a row is accepted, that is
taken for the target, if its score is at or above the threshold.

Rows of weight zero are absent. A value for each row may be a pandas Series; it is matched to the index of y_true,
so that the folds of a cross-validation find their own values.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import Mask, Vector, is_number
from ..costs import example_costs, row_weights


@dataclass(frozen=True)
class Sample:
    """y_true and sample_weight, checked.

    target : (n_counted,) bool, weight : (n_counted,) float64, of the rows of positive weight;
    signs : (n_samples,) in {-1, +1}, counted : (n_samples,) bool or slice, of all rows.
    """

    target: Mask
    weight: Vector
    signs: NDArray[Any]
    counted: Any
    labels: tuple[Any, Any]
    index: Any

    @classmethod
    def read(cls, y_true: Any, *, pos_label: Any, sample_weight: Any) -> Sample:
        """Check the labels and the weights of the rows."""
        labels = _one_dimensional("y_true", y_true)
        if len(labels) == 0:
            raise ValueError("y_true must hold at least one row; got none. Pass the labels of the rows to evaluate.")
        target, other = _target_and_other(labels, pos_label)
        signs = np.where(target, 1, -1)
        index = y_true.index if _is_series(y_true) else None
        weight = row_weights(_matched("sample_weight", sample_weight, len(labels), index), len(labels))
        positive = weight > 0
        counted = slice(None) if positive.all() else positive
        return cls(target[counted], weight[counted], signs, counted, (pos_label, other), index)

    def decisions(self, y_pred: Any) -> Mask:
        """Whether each counted row was taken for the target."""
        labels = self._paired("y_pred", y_pred)
        accepted = _equals(labels, self.labels[0])
        refused = labels[~accepted]
        if len(refused):
            other = refused[0] if self.labels[1] is None else self.labels[1]
            strange = ~_equals(refused, other)
            if strange.any():
                raise ValueError(
                    f"y_pred must hold the labels of y_true, {self.labels[0]!r} (pos_label) or {other!r}; "
                    f"got {refused[np.argmax(strange)]!r}. Pass decisions with these labels, not scores."
                )
        return accepted[self.counted]

    def scores(self, y_score: Any) -> NDArray[Any]:
        """The score of each counted row, in the floating type it came in (float64 for integers)."""
        scores = self._paired("y_score", y_score)
        if not np.issubdtype(scores.dtype, np.floating):
            try:
                scores = scores.astype(np.float64)
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"y_score must hold numbers; got {reprlib.repr(scores[0])}. "
                    "Pass the output of decision_function or predict_proba."
                ) from error
        wrong = ~np.isfinite(scores)
        if wrong.any():
            raise ValueError(
                f"y_score must be finite; got {scores[np.argmax(wrong)]} in row {np.argmax(wrong)} "
                f"({wrong.sum()} such rows). Drop these rows, or give them a finite score."
            )
        return scores[self.counted]

    def costs(self, fn_cost: Any, fp_cost: Any) -> Vector:
        """What a wrong decision costs on each counted row, without its weight."""
        # Checked on all rows: a resample that misses every row with a positive cost is no mistake of the user's.
        cost = example_costs(
            self.signs, fn_cost=self.column("fn_cost", fn_cost), fp_cost=self.column("fp_cost", fp_cost)
        )
        return cost[self.counted]

    def column(self, name: str, value: Any) -> Any:
        """A number or None as it is, or one value for each row of y_true as (n_samples,)."""
        return _matched(name, value, len(self.signs), self.index)

    def check_both_classes(self, what: str) -> None:
        """Refuse a sample in which a class is missing, or has no weight."""
        if self.target.any() and not self.target.all():
            return
        missing = "the other class" if self.target.any() else f"pos_label={self.labels[0]!r}"
        raise ValueError(
            f"y_true must hold rows of both classes, with positive weight, for {what}; got none of {missing}. "
            "Evaluate on more rows, use stratified folds, or correct pos_label."
        )

    def _paired(self, name: str, value: Any) -> NDArray[Any]:
        values = _one_dimensional(name, value)
        if len(values) != len(self.signs):
            raise ValueError(
                f"{name} must hold one value for each row of y_true, shape ({len(self.signs)},); "
                f"got shape {values.shape}. Pass the predictions of the same rows."
            )
        return values


def _one_dimensional(name: str, value: Any) -> NDArray[Any]:
    values = np.asarray(value)
    if values.ndim != 1:
        hint = "the column of pos_label" if name == "y_score" else "one label for each row"
        raise ValueError(f"{name} must be one-dimensional; got shape {values.shape}. Pass {hint}.")
    return values


def _equals(labels: NDArray[Any], label: Any) -> Mask:
    return np.broadcast_to(np.asarray(labels == label, dtype=bool), labels.shape)


def _target_and_other(labels: NDArray[Any], pos_label: Any) -> tuple[Mask, Any]:
    """Where y_true is pos_label, and the other label; None if there is no other.

    Comparing with the first other label takes one pass, where `np.unique` would sort all of them.
    """
    same_kind = isinstance(labels[0], str) == isinstance(pos_label, str)
    target = _equals(labels, pos_label)
    others = labels[~target]
    if same_kind and (len(others) == 0 or _equals(others, others[0]).all()):
        return target, others[0] if len(others) else None
    found = list(dict.fromkeys(labels.tolist()))
    if target.any():
        problem = f"y_true must hold two labels, pos_label={pos_label!r} and one other"
        fix = "Drop missing labels, and evaluate one class against the rest for more than two classes."
    else:
        problem = f"pos_label={pos_label!r} must be one of the labels in y_true"
        fix = f"Pass the label of the class that is dear to miss, for example pos_label={found[0]!r}."
    raise ValueError(f"{problem}; got labels {reprlib.repr(found)}. {fix}")


def _is_series(value: Any) -> bool:
    """A pandas Series, told without importing pandas; a list has an `index` as well, but no `iloc`."""
    return hasattr(value, "index") and hasattr(value, "iloc")


def _matched(name: str, value: Any, n_rows: int, index: Any) -> Any:
    """A number or None as it is; one value for each row as (n_rows,), a Series matched to `index`."""
    if value is None or is_number(value):
        return value
    values = np.asarray(value)
    if _is_series(value) and index is not None:
        values = values[_rows_of(name, value.index, index)]
    if values.shape != (n_rows,):
        raise ValueError(
            f"{name} must be a number or hold one value for each row of y_true, shape ({n_rows},); got shape "
            f"{values.shape}. In a cross-validation pass a pandas Series with the index of y, or route {name} as "
            "metadata."
        )
    return values


def _rows_of(name: str, given: Any, wanted: Any) -> Any:
    """Where the labels of the index `wanted` are in the index `given`."""
    if given.equals(wanted):
        return slice(None)
    rows = given.get_indexer(wanted) if given.is_unique else np.full(len(wanted), -1)
    if (rows >= 0).all():
        return rows
    # A Series numbered 0, 1, ... that was made for these very rows has no labels of its own.
    if len(given) == len(wanted) and np.array_equal(given, np.arange(len(given))):
        return slice(None)
    raise ValueError(
        f"{name} must have exactly one value for each label in the index of y_true; got none, or several, for "
        f"{wanted[np.argmax(rows < 0)]!r} ({(rows < 0).sum()} such rows). Pass the Series of all rows with unique "
        f"labels, or an array in the order of y_true: {name}.to_numpy()."
    )
