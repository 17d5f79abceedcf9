"""Samples with labels, weights and costs, checked once: what estimators, metrics, search and displays share."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .alignment import align_predictions, is_pandas
from .margins_and_bounds import check_error_costs, check_nonzero_costs, check_nonzero_weights, check_sample_weight
from .positive_class import PositiveClass, format_labels, is_string, to_python
from .types import Mask, RowNumbers, Vector
from .validation import aligned_sample_values, sample_values, take_samples


@dataclass(frozen=True, eq=False)
class Samples:
    """n samples of two classes.

    positive_class : the two classes, and which of them is positive
    positive : (n,) bool, the samples of the positive class
    weights : (n,) float64
    cost : (n,) float64, what a wrong prediction of each sample costs, without its weight
    fn_cost, fp_cost : the costs given, a number for the class or (n,) float64
    index : the index of y, if it has one
    """

    positive_class: PositiveClass
    positive: Mask
    weights: Vector
    cost: Vector
    fn_cost: Any = 1.0
    fp_cost: Any = 1.0
    index: Any = None

    @classmethod
    def from_mask(
        cls,
        positive_class: PositiveClass,
        positive: Mask,
        *,
        fn_cost: Any = 1.0,
        fp_cost: Any = 1.0,
        sample_weight: Any = None,
        index: Any = None,
    ) -> Samples:
        """Check the weights and costs of samples of known classes, which may be a fold or a partition."""
        positive_class.require_pos_label(fn_cost=fn_cost, fp_cost=fp_cost)
        weights = check_sample_weight(sample_weight, len(positive))
        fn_cost = sample_values("fn_cost", fn_cost, len(positive))
        fp_cost = sample_values("fp_cost", fp_cost, len(positive))
        cost = check_error_costs(positive, fn_cost, fp_cost)
        return cls(positive_class, positive, weights, cost, fn_cost, fp_cost, index)

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        y_pred: Any = None,
        *,
        pos_label: Any = None,
        fn_cost: Any = 1.0,
        fp_cost: Any = 1.0,
        sample_weight: Any = None,
    ) -> Samples:
        """Check labels, weights and costs of all samples, aligned to the index of y_true; a single class is accepted.

        y_pred : predictions, in which the other label is found if `y_true` has only one; pos_label : a label, a
        `PositiveClass`, or None for the larger label.
        """
        labels = one_dimensional("y_true", y_true)
        if len(labels) == 0:
            raise ValueError("y_true must hold at least one sample; got none.")
        positive_class, positive = _find_positive(labels, y_pred, pos_label)
        index = y_true.index if is_pandas(y_true) else None
        given = {"fn_cost": fn_cost, "fp_cost": fp_cost, "sample_weight": sample_weight}
        own = {name: aligned_sample_values(name, value, len(labels), index) for name, value in given.items()}
        samples = cls.from_mask(positive_class, positive, **own, index=index)
        samples.check_totals()
        return samples

    def __len__(self) -> int:
        return len(self.positive)

    @property
    def signs(self) -> NDArray[np.int64]:
        """(n,) +1 for positive samples, -1 for negative ones."""
        return np.where(self.positive, 1, -1)

    @property
    def weighted_costs(self) -> Vector:
        """(n,) weight times cost."""
        return self.weights * self.cost

    @property
    def labels(self) -> NDArray[Any]:
        """(n,) labels."""
        return self.positive_class.labels(self.positive)

    @property
    def has_sample_costs(self) -> bool:
        """Whether a cost was given per sample rather than per class."""
        return np.ndim(self.fn_cost) > 0 or np.ndim(self.fp_cost) > 0

    @property
    def costs_differ(self) -> bool:
        """Whether samples of the same class have different costs."""
        return any(np.ptp(self.cost[own]) > 0 for own in (self.positive, ~self.positive) if own.any())

    def mean_costs(self) -> tuple[float, float]:
        """fn_cost and fp_cost as given for the classes, or their weighted means over the samples of each class."""
        means = [
            float(np.average(self.cost[own], weights=self.weights[own])) if np.ndim(cost) else float(cost)
            for cost, own in ((self.fn_cost, self.positive), (self.fp_cost, ~self.positive))
        ]
        return means[0], means[1]

    @property
    def total_fn_cost(self) -> float:
        """The weighted cost of missing every positive sample."""
        return float(self.weighted_costs[self.positive].sum())

    @property
    def total_fp_cost(self) -> float:
        """The weighted cost of a false positive on every negative sample."""
        return float(self.weighted_costs[~self.positive].sum())

    def nonzero_weights(self) -> Any:
        """The index of the samples of positive weight: a mask, or a slice if these are all."""
        return slice(None) if self.weights.all() else self.weights > 0

    @property
    def nonzero_samples(self) -> RowNumbers:
        """Sample numbers of the samples of positive weight."""
        return np.flatnonzero(self.weights > 0)

    def drop_zero_weights(self, values: NDArray[Any]) -> tuple[Samples, NDArray[Any]]:
        """The samples of positive weight with their `values` (..., n)."""
        counted = self.nonzero_weights()
        return (self, values) if isinstance(counted, slice) else (self.take(counted), values[..., counted])

    def with_cost_factors(self, fn_factor: float, fp_factor: float) -> Samples:
        """The same samples with other costs: the factor in place of a cost of a class, factor * cost per sample."""
        fn_cost = fn_factor if np.ndim(self.fn_cost) == 0 else fn_factor * self.fn_cost
        fp_cost = fp_factor if np.ndim(self.fp_cost) == 0 else fp_factor * self.fp_cost
        return replace(self, cost=check_error_costs(self.positive, fn_cost, fp_cost), fn_cost=fn_cost, fp_cost=fp_cost)

    def take(self, samples: Any) -> Samples:
        """Some of the samples: a slice, a mask or sample numbers."""
        return replace(
            self,
            positive=self.positive[samples],
            weights=self.weights[samples],
            cost=self.cost[samples],
            fn_cost=take_samples(self.fn_cost, samples),
            fp_cost=take_samples(self.fp_cost, samples),
            index=None if self.index is None else self.index[samples],
        )

    def check_totals(self) -> None:
        """Raise if no sample has a weight, or errors on all samples of a class cost nothing."""
        check_nonzero_costs(self.positive, self.cost)
        check_nonzero_weights(self.weights)

    def check_both_classes_weighted(self, what: str) -> None:
        """Raise if a class is missing or has no weight; `what` names the measure that needs both."""
        positive = self.positive[self.nonzero_weights()]
        if has_both_classes(positive):
            return
        missing = "the other class" if positive.any() else f"pos_label={self.positive_class.label_repr}"
        raise ValueError(
            f"y_true must hold samples of both classes, with positive weight, for {what}; got none of {missing}. "
            "Evaluate on more samples, use stratified folds, or correct pos_label."
        )

    def aligned(self, name: str, value: Any) -> Any:
        """A number or None as it is, or one value per sample as (n,) float64."""
        return aligned_sample_values(name, value, len(self), self.index)

    def predicted_positive(self, y_pred: Any) -> Mask:
        """Whether each sample was predicted positive, from predicted labels."""
        labels = self._aligned_predictions("y_pred", y_pred)
        known, label = self.positive_class.other, self.positive_class.label_repr
        # True == 1, also where 1 is not the positive class.
        given = [each for each in (self.positive_class.label, known) if each is not None]
        if isinstance(labels[0], bool | np.bool_) and not all(each in (0, 1) for each in given):
            raise ValueError(
                f"y_pred must hold the labels of y_true, such as {label}; got {bool(labels[0])}. "
                "Pass labels, for example np.where(predicted_positive, pos_label, other_label)."
            )
        predicted = _equals(labels, self.positive_class.label)
        rest = labels[~predicted]
        if len(rest):
            other = rest[:1].tolist()[0] if known is None else to_python(known)
            unknown = ~_equals(rest, other)
            if unknown.any():
                raise ValueError(
                    f"y_pred must hold the labels of y_true, {label} (pos_label) or {other!r}; got "
                    f"{to_python(rest[np.argmax(unknown)])!r}. Pass predicted labels, not scores."
                )
        return predicted

    def scores(self, y_score: Any) -> NDArray[Any]:
        """The score of each sample, in its own floating type (float64 for integers)."""
        scores = self._aligned_predictions("y_score", y_score)
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
                f"y_score must be finite; got {scores[np.argmax(wrong)]} in sample {np.argmax(wrong)} "
                f"({wrong.sum()} in all). Drop these samples, or give them a finite score."
            )
        return scores

    def _aligned_predictions(self, name: str, value: Any) -> NDArray[Any]:
        values = one_dimensional(name, align_predictions(name, value, self.index))
        if len(values) != len(self):
            raise ValueError(
                f"{name} must hold one value for each sample of y_true, shape ({len(self)},); "
                f"got shape {values.shape}. Pass the predictions of the same samples."
            )
        return values


def has_both_classes(positive: Mask) -> bool:
    """Whether there are samples of both classes."""
    return bool(positive.any() and not positive.all())


def check_both_classes(positive: Mask, part: str, fix: str) -> None:
    """Raise unless both classes are among the samples; `part` and `fix` complete the message."""
    if not has_both_classes(positive):
        raise ValueError(f"both classes must be present among {part}; got {len(positive)} samples of one class. {fix}")


def one_dimensional(name: str, value: Any) -> NDArray[Any]:
    """`value` as an array of one dimension."""
    values = np.asarray(value)
    if values.ndim != 1:
        hint = "the column of pos_label" if name == "y_score" else "one label for each sample"
        raise ValueError(f"{name} must be one-dimensional; got shape {values.shape}. Pass {hint}.")
    return values


def _equals(labels: NDArray[Any], label: Any) -> Mask:
    return np.broadcast_to(np.asarray(labels == label, dtype=bool), labels.shape)


def _find_positive(labels: NDArray[Any], y_pred: Any, pos_label: Any) -> tuple[PositiveClass, Mask]:
    """The positive class among one or two labels, and which samples are of it."""
    known = pos_label if isinstance(pos_label, PositiveClass) else None
    if known is not None:
        pos_label = known.label
    named = pos_label is not None if known is None else known.named
    if pos_label is None:
        pos_label = _larger_label(labels, y_pred)
    positive, other = _split_labels(labels, pos_label)
    if known is not None and known.other is not None:
        if other is not None and other != known.other:
            raise ValueError(
                f"y_true must hold the classes {format_labels(known.classes)} of the model; got {to_python(other)!r}."
            )
        other = known.other
    classes = np.empty(2, dtype=object)
    classes[:] = other, pos_label
    return PositiveClass(classes, 1, named), positive


def _larger_label(labels: NDArray[Any], y_pred: Any) -> Any:
    """The larger of two labels, of which predictions may hold the second; 1 if 0, -1 or booleans are the only one."""
    first = labels[0]
    others = labels[~_equals(labels, first)]
    if not len(others) and not is_string(first) and (first in (0, -1) or isinstance(first, bool | np.bool_)):
        return 1
    if not len(others) and y_pred is not None:
        predicted = one_dimensional("y_pred", y_pred)
        others = predicted[~_equals(predicted, first)]
    if not len(others):
        label = labels[:1].tolist()[0]
        raise ValueError(
            f"pos_label is required if y_true holds one class only; got the label {label!r} in all {len(labels)} "
            f"samples. Pass pos_label={label!r} if fn_cost is its cost, or the label of the other class."
        )
    second = others[0]
    if is_string(first) != is_string(second):
        return first  # raises in `_split_labels`
    return max(first, second)


def _split_labels(labels: NDArray[Any], pos_label: Any) -> tuple[Mask, Any]:
    """Where y_true is pos_label, and the other label or None; takes one pass, where `np.unique` would sort."""
    same_kind = is_string(labels[0]) == is_string(pos_label)
    positive = _equals(labels, pos_label)
    others = labels[~positive]
    if same_kind and (len(others) == 0 or _equals(others, others[0]).all()):
        return positive, others[0] if len(others) else None
    found = list(dict.fromkeys(labels.tolist()))
    if positive.any():
        problem = f"y_true must hold two labels, pos_label={pos_label!r} and one other"
        fix = "Drop missing labels, and evaluate one class against the rest for more than two classes."
    else:
        problem = f"pos_label={pos_label!r} must be one of the labels in y_true"
        fix = f"Pass the label of the class whose false negatives cost fn_cost, such as pos_label={found[0]!r}."
    raise ValueError(f"{problem}; got labels {reprlib.repr(found)}. {fix}")
