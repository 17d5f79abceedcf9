"""Rows with labels, weights and costs, checked once: what estimators, metrics, search, wrappers and displays share.

`Samples` hold which samples are positive, what each weighs, and what a wrong prediction of it costs. A pandas Series of
values is aligned to the index of y (`validation.py`), so that the folds of a cross-validation find their own values.

`Samples.of` checks row by row, so that a fold or a partition can be made by itself. Checks that need the whole sample
are apart: `check_whole`, `check_both_classes_weighted` and `check_both_classes`. `Samples.read` is for what a
user passes as a whole sample.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .costs import check_error_costs, check_nonzero_costs, check_nonzero_weights, check_sample_weight
from .positive_class import PositiveClass, is_string, listed, plain
from .types import Mask, RowNumbers, Vector
from .validation import align_predictions, aligned_sample_values, is_pandas, sample_values


@dataclass(frozen=True, eq=False)
class Samples:
    """n rows of two classes.

    target : which class is the target
    positive : (n,) bool, the rows of it
    weights : (n,) float64
    cost : (n,) float64, what a wrong decision costs on each row, without its weight
    fn_cost, fp_cost : the costs given, a number for the class or (n,) float64 for the rows
    index : the index of y, if it has one
    """

    target: PositiveClass
    positive: Mask
    weights: Vector
    cost: Vector
    fn_cost: Any = 1.0
    fp_cost: Any = 1.0
    index: Any = None

    @classmethod
    def of(
        cls,
        target: PositiveClass,
        positive: Mask,
        *,
        fn_cost: Any = 1.0,
        fp_cost: Any = 1.0,
        sample_weight: Any = None,
        index: Any = None,
    ) -> Samples:
        """Check the weights and costs of rows whose classes are known."""
        target.require_pos_label(fn_cost=fn_cost, fp_cost=fp_cost)
        weights = check_sample_weight(sample_weight, len(positive))
        fn_cost, fp_cost = (
            sample_values("fn_cost", fn_cost, len(positive)),
            sample_values("fp_cost", fp_cost, len(positive)),
        )
        return cls(target, positive, weights, check_error_costs(positive, fn_cost, fp_cost), fn_cost, fp_cost, index)

    @classmethod
    def read(
        cls,
        y_true: Any,
        y_pred: Any = None,
        *,
        pos_label: Any = None,
        fn_cost: Any = 1.0,
        fp_cost: Any = 1.0,
        sample_weight: Any = None,
    ) -> Samples:
        """Check a whole sample: labels, weights and costs; a single class is accepted.

        y_pred : decisions, which tell the other class where `y_true` holds one only; pos_label : the target's label,
        a `PositiveClass`, or None for the larger label.
        """
        labels = one_dimensional("y_true", y_true)
        if len(labels) == 0:
            raise ValueError("y_true must hold at least one row; got none. Pass the labels of the rows to evaluate.")
        target, positive = _read_target(labels, y_pred, pos_label)
        index = y_true.index if is_pandas(y_true) else None
        given = {"fn_cost": fn_cost, "fp_cost": fp_cost, "sample_weight": sample_weight}
        own = {name: aligned_sample_values(name, value, len(labels), index) for name, value in given.items()}
        sample = cls.of(target, positive, **own, index=index)
        sample.check_whole()
        return sample

    def __len__(self) -> int:
        return len(self.positive)

    @property
    def signs(self) -> NDArray[np.int64]:
        """(n,) +1 for rows of the target, -1 for others."""
        return np.where(self.positive, 1, -1)

    @property
    def weighted_costs(self) -> Vector:
        """(n,) weight times cost."""
        return self.weights * self.cost

    @property
    def labels(self) -> NDArray[Any]:
        """(n,) labels."""
        return self.target.labels(self.positive)

    @property
    def has_row_costs(self) -> bool:
        """Whether a cost was given for each row rather than for each class."""
        return np.ndim(self.fn_cost) > 0 or np.ndim(self.fp_cost) > 0

    @property
    def costs_differ(self) -> bool:
        """Whether rows of the same class have different costs."""
        return any(np.ptp(self.cost[rows]) > 0 for rows in (self.positive, ~self.positive) if rows.any())

    def mean_costs(self) -> tuple[float, float]:
        """fn_cost and fp_cost: the numbers given for the classes, or the weighted means over the rows of each class."""
        of_rows = zip((self.fn_cost, self.fp_cost), (self.positive, ~self.positive), strict=True)
        means = [
            float(np.average(self.cost[rows], weights=self.weights[rows])) if np.ndim(cost) else float(cost)
            for cost, rows in of_rows
        ]
        return means[0], means[1]

    @property
    def miss_cost(self) -> float:
        """P_1 C_1 times the weight of all rows: what missing every row of the target costs."""
        return float(self.weighted_costs[self.positive].sum())

    @property
    def alarm_cost(self) -> float:
        """P_{-1} C_{-1} times the weight of all rows: what a false alarm on every row of the other class costs."""
        return float(self.weighted_costs[~self.positive].sum())

    def counted(self) -> Any:
        """What selects the rows of positive weight: a mask, or a slice if these are all rows."""
        return slice(None) if self.weights.all() else self.weights > 0

    def present(self, values: NDArray[Any]) -> tuple[Samples, NDArray[Any]]:
        """The rows of positive weight with their `values` (..., n): the others are absent from every metric."""
        counted = self.counted()
        return (self, values) if isinstance(counted, slice) else (self.take(counted), values[..., counted])

    @property
    def counted_rows(self) -> RowNumbers:
        """Row numbers of the rows of positive weight."""
        return np.flatnonzero(self.weights > 0)

    def priced(self, fn_slope: float, fp_slope: float) -> Samples:
        """The same rows with other costs: the slope for a cost of a class, slope * cost for a cost of each row."""
        fn_cost = fn_slope if np.ndim(self.fn_cost) == 0 else fn_slope * self.fn_cost
        fp_cost = fp_slope if np.ndim(self.fp_cost) == 0 else fp_slope * self.fp_cost
        return replace(self, cost=check_error_costs(self.positive, fn_cost, fp_cost), fn_cost=fn_cost, fp_cost=fp_cost)

    def take(self, rows: Any) -> Samples:
        """Some of the rows: a slice, a mask or row numbers."""
        return replace(
            self,
            positive=self.positive[rows],
            weights=self.weights[rows],
            cost=self.cost[rows],
            fn_cost=at_rows(self.fn_cost, rows),
            fp_cost=at_rows(self.fp_cost, rows),
            index=None if self.index is None else self.index[rows],
        )

    def check_whole(self) -> None:
        """Refuse a sample without any weight, or in which errors on all rows of a class cost nothing."""
        check_nonzero_costs(self.positive, self.cost)
        check_nonzero_weights(self.weights)

    def check_both_classes_weighted(self, what: str) -> None:
        """Raise if a class is missing or has no weight; `what` names the measure that needs both."""
        positive = self.positive[self.counted()]
        if both_classes(positive):
            return
        missing = "the other class" if positive.any() else f"pos_label={self.target.shown}"
        raise ValueError(
            f"y_true must hold rows of both classes, with positive weight, for {what}; got none of {missing}. "
            "Evaluate on more rows, use stratified folds, or correct pos_label."
        )

    def column(self, name: str, value: Any) -> Any:
        """A number or None as it is, or one value for each row as (n,)."""
        return aligned_sample_values(name, value, len(self), self.index)

    def decisions(self, y_pred: Any) -> Mask:
        """Whether each row was taken for the target."""
        labels = self._paired("y_pred", y_pred)
        self._check_truth_values(labels)
        accepted = _equals(labels, self.target.label)
        refused = labels[~accepted]
        if len(refused):
            other = refused[:1].tolist()[0] if self.target.other is None else plain(self.target.other)
            strange = ~_equals(refused, other)
            if strange.any():
                raise ValueError(
                    f"y_pred must hold the labels of y_true, {self.target.shown} (pos_label) or {other!r}; "
                    f"got {plain(refused[np.argmax(strange)])!r}. Pass decisions with these labels, not scores."
                )
        return accepted

    def scores(self, y_score: Any) -> NDArray[Any]:
        """The score of each row, in the floating type it came in (float64 for integers)."""
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
        return scores

    def _check_truth_values(self, labels: NDArray[Any]) -> None:
        """Refuse True and False for labels other than 1 and 0: True is 1 to Python, also where 1 is not the target."""
        known = [label for label in (self.target.label, self.target.other) if label is not None]
        if isinstance(labels[0], bool | np.bool_) and not all(label in (0, 1) for label in known):
            raise ValueError(
                f"y_pred must hold the labels of y_true, such as {self.target.shown}; got {bool(labels[0])}. Pass "
                "decisions with these labels, for example np.where(decided, target, other)."
            )

    def _paired(self, name: str, value: Any) -> NDArray[Any]:
        values = one_dimensional(name, align_predictions(name, value, self.index))
        if len(values) != len(self):
            raise ValueError(
                f"{name} must hold one value for each row of y_true, shape ({len(self)},); "
                f"got shape {values.shape}. Pass the predictions of the same rows."
            )
        return values


def both_classes(positive: Mask) -> bool:
    """Whether there are rows of both classes."""
    return bool(positive.any() and not positive.all())


def check_both_classes(positive: Mask, part: str, fix: str) -> None:
    """Raise unless both classes are among the rows; `part` and `fix` complete the message."""
    if not both_classes(positive):
        raise ValueError(f"both classes must be present among {part}; got {len(positive)} rows of one class. {fix}")


def one_dimensional(name: str, value: Any) -> NDArray[Any]:
    """`value` as an array of one dimension."""
    values = np.asarray(value)
    if values.ndim != 1:
        hint = "the column of pos_label" if name == "y_score" else "one label for each row"
        raise ValueError(f"{name} must be one-dimensional; got shape {values.shape}. Pass {hint}.")
    return values


def at_rows(value: Any, rows: Any) -> Any:
    """The entries of these rows; a number stands for all of them."""
    return value if np.ndim(value) == 0 else np.asarray(value)[rows]


def _equals(labels: NDArray[Any], label: Any) -> Mask:
    return np.broadcast_to(np.asarray(labels == label, dtype=bool), labels.shape)


def _read_target(labels: NDArray[Any], y_pred: Any, pos_label: Any) -> tuple[PositiveClass, Mask]:
    """The target among the labels of a sample, in which one class may be missing, and which rows are of it."""
    known = pos_label if isinstance(pos_label, PositiveClass) else None
    if known is not None:
        pos_label = known.label
    named = pos_label is not None if known is None else known.named
    if pos_label is None:
        pos_label = _larger_label(labels, y_pred)
    positive, other = _target_and_other(labels, pos_label)
    if known is not None and known.other is not None:
        if other is not None and other != known.other:
            raise ValueError(
                f"y_true must hold the classes {listed(known.classes)} of the model; got {plain(other)!r}."
            )
        other = known.other
    classes = np.empty(2, dtype=object)
    classes[:] = other, pos_label
    return PositiveClass(classes, 1, named), positive


def _larger_label(labels: NDArray[Any], y_pred: Any) -> Any:
    """The larger of two labels, of which the decisions may hold the second; of 0, -1 or truth values alone, 1."""
    first = labels[0]
    others = labels[~_equals(labels, first)]
    if not len(others) and not is_string(first) and (first in (0, -1) or isinstance(first, bool | np.bool_)):
        return 1
    if not len(others) and y_pred is not None:
        decided = one_dimensional("y_pred", y_pred)
        others = decided[~_equals(decided, first)]
    if not len(others):
        label = labels[:1].tolist()[0]
        raise ValueError(
            f"pos_label must be given where y_true holds one class only; got the label {label!r} in all {len(labels)} "
            f"rows. Pass pos_label={label!r} if it is the class that fn_cost is about, or the label of the other class."
        )
    second = others[0]
    if is_string(first) != is_string(second):
        return first  # refused below
    return max(first, second)


def _target_and_other(labels: NDArray[Any], pos_label: Any) -> tuple[Mask, Any]:
    """Where y_true is pos_label, and the other label; None if there is no other.

    Comparing with the first other label takes one pass, where `np.unique` would sort all of them.
    """
    same_kind = is_string(labels[0]) == is_string(pos_label)
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
        fix = f"Pass the label of the class that costs more to miss, for example pos_label={found[0]!r}."
    raise ValueError(f"{problem}; got labels {reprlib.repr(found)}. {fix}")
