"""What all classifiers of this library share: two classes, a decision by the sign of f, costs given once or per row."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import type_of_target

from .costs import is_tied
from .positive_class import PositiveClass, listed
from .samples import Samples, one_dimensional
from .types import Mask, is_number


class BinaryClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of two classes whose `decision_function` is positive for ``classes_[1]``."""

    classes_: NDArray[Any]
    _positive_class: PositiveClass  # set in fit
    _fit_costs: dict[str, float | None]  # set in fit

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X: ``classes_[1]`` where the decision function is positive.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        above = self.decision_function(X) > 0
        return self.classes_[above.astype(np.intp)]

    def _read_labels(self, y: NDArray[Any]) -> tuple[PositiveClass, Mask]:
        """Set `classes_` and the target; returns it, and which rows are of its class."""
        self.classes_, index = two_classes(y, whose=type(self).__name__)
        self._positive_class = PositiveClass.among(
            self.classes_, getattr(self, "pos_label", None), whose=f"pos_label of {type(self).__name__}"
        )
        return self._positive_class, index == self._positive_class.index

    def _read_sample(self, y: NDArray[Any], *, fn_cost: Any, fp_cost: Any, sample_weight: Any) -> Samples:
        """The rows with their costs, those given to `fit` or else the constructor's."""
        sample = self._sample(*self._read_labels(y), fn_cost, fp_cost, sample_weight)
        self._fit_costs = fit_costs(fn_cost=sample.fn_cost, fp_cost=sample.fp_cost)
        return sample

    def _read_scored_sample(self, y: Any, *, fn_cost: Any, fp_cost: Any, sample_weight: Any) -> Samples:
        """Rows to be scored by the fitted classifier, whose labels it must know."""
        labels = one_dimensional("y", y)
        unknown = ~np.isin(labels, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y must hold the classes {listed(self.classes_)} that {type(self).__name__} was fitted on; got "
                f"{labels[np.argmax(unknown)]!r} in row {np.argmax(unknown)} ({unknown.sum()} such rows)."
            )
        return self._sample(self._positive_class, labels == self._positive_class.label, fn_cost, fp_cost, sample_weight)

    def _sample(self, target: PositiveClass, positive: Mask, fn_cost: Any, fp_cost: Any, sample_weight: Any) -> Samples:
        """A whole sample with its costs, those given or else the constructor's."""
        sample = Samples.of(
            target,
            positive,
            fn_cost=resolve_cost(self, "fn_cost", fn_cost),
            fp_cost=resolve_cost(self, "fp_cost", fp_cost),
            sample_weight=sample_weight,
        )
        sample.check_whole()
        return sample

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


@contextmanager
def unchanged_on_failure(estimator: BaseEstimator) -> Iterator[None]:
    """Leave the estimator exactly as it was when the block raises anything, Ctrl-C included."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def _is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, or one of the missing values of pandas, told without importing it."""
    return label is None or type(label).__name__ in ("NAType", "NaTType") or (is_number(label) and label != label)


def two_classes(y: NDArray[Any], *, whose: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The sorted classes (2,) and each row's class index (n_samples,); any other number is refused."""
    missing = sum(map(_is_missing, y.tolist())) if y.dtype == object else 0
    if missing:
        raise ValueError(f"Input y contains NaN: {missing} labels of {whose} are missing. Drop these rows.")
    if y.dtype == object and len({isinstance(label, str) for label in y.tolist()}) > 1:
        raise ValueError(
            f"y of {whose} must hold labels of one type; got strings beside other labels, such as "
            f"{reprlib.repr(list(dict.fromkeys(y.tolist())))}. Turn all of them into strings, or into numbers."
        )
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise ValueError(f"Input y contains NaN: {np.isnan(y).sum()} labels of {whose} are missing. Drop these rows.")
    whole = y.dtype.kind in "biu"  # scikit-learn's test takes a tenth of a small fit
    kind = "multiclass" if whole else type_of_target(y, input_name="y", raise_unknown=True)
    if kind.startswith("continuous"):
        raise ValueError(
            f"Unknown label type: {kind}. y of {whose} must hold the labels of two classes; got numbers such "
            f"as {y[y != np.round(y)][0]}. Turn them into classes first, for example y = (amount > 0), and "
            "pass the amounts as fn_cost or fp_cost."
        )
    classes, index = np.unique(y, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}: y has "
            f"{len(classes)} classes, {listed(classes)}. For more than two classes use "
            f"sklearn.multiclass.OneVsRestClassifier({whose}(...))."
        )
    if len(classes) < 2:
        raise ValueError(
            f"y must hold two classes; got one class only, {listed(classes)}. "
            "Add rows of the other class, or stratify the split."
        )
    return classes, index


def fit_costs(**costs: Any) -> dict[str, float | None]:
    """Costs of a fit by name, to be remembered: None where there is one for each row."""
    return {name: float(cost) if is_number(cost) else None for name, cost in costs.items()}


def resolve_cost(estimator: BaseEstimator, name: str, given: Any) -> Any:
    """The cost given to `fit`, or the constructor's, which must be a number, as it applies to all rows.

    An array in the constructor is refused: clones in cross-validation would carry it to other rows.
    """
    if given is not None:
        return given
    value = getattr(estimator, name)
    if not (is_number(value) or (name == "kappa" and is_tied(value))):
        expected = 'a number or "tied"' if name == "kappa" else "a number"
        raise ValueError(
            f"{name} of {type(estimator).__name__} must be {expected}; got {name}={reprlib.repr(value)}. "
            f"Pass one value for each row to fit instead: fit(X, y, {name}=...)."
        )
    return value
