"""The base class of all classifiers here: two classes, prediction by the sign of f, costs per class or sample."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import type_of_target

from .margins_and_bounds import is_tied
from .positive_class import PositiveClass, format_labels
from .samples import Samples, one_dimensional
from .types import Mask
from .validation import is_missing, is_number


class BinaryClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of two classes whose `decision_function` is positive for ``classes_[1]``."""

    classes_: NDArray[Any]
    _positive_class: PositiveClass  # set in fit
    _fit_costs: dict[str, float | None]  # set in fit

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample: ``classes_[1]`` where the decision function is positive.

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
        """Set `classes_` and the positive class, and return it with the mask of the positive samples."""
        self.classes_, index = two_classes(y, owner=type(self).__name__)
        self._positive_class = PositiveClass.from_labels(
            self.classes_, getattr(self, "pos_label", None), owner=f"pos_label of {type(self).__name__}"
        )
        return self._positive_class, index == self._positive_class.index

    def _read_sample(self, y: NDArray[Any], *, fn_cost: Any, fp_cost: Any, sample_weight: Any) -> Samples:
        """The samples with their costs, those given to `fit` or else the constructor's."""
        sample = self._sample(*self._read_labels(y), fn_cost, fp_cost, sample_weight)
        self._fit_costs = fit_costs(fn_cost=sample.fn_cost, fp_cost=sample.fp_cost)
        return sample

    def _read_scored_sample(self, y: Any, *, fn_cost: Any, fp_cost: Any, sample_weight: Any) -> Samples:
        """Samples to score with the fitted classifier, whose labels it must have seen in `fit`."""
        labels = one_dimensional("y", y)
        unknown = ~np.isin(labels, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y must hold the classes {format_labels(self.classes_)} that {type(self).__name__} was fitted on; got "
                f"{labels[np.argmax(unknown)]!r} in sample {np.argmax(unknown)} ({unknown.sum()} in all)."
            )
        return self._sample(self._positive_class, labels == self._positive_class.label, fn_cost, fp_cost, sample_weight)

    def _sample(
        self, positive_class: PositiveClass, positive: Mask, fn_cost: Any, fp_cost: Any, sample_weight: Any
    ) -> Samples:
        """Samples with their costs, those given or else the constructor's."""
        sample = Samples.from_mask(
            positive_class,
            positive,
            fn_cost=resolve_cost(self, "fn_cost", fn_cost),
            fp_cost=resolve_cost(self, "fp_cost", fp_cost),
            sample_weight=sample_weight,
        )
        sample.check_totals()
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


def two_classes(y: NDArray[Any], *, owner: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The sorted classes (2,) and the class index of each sample (n_samples,); raises unless there are two."""
    missing = sum(map(is_missing, y.tolist())) if y.dtype == object else 0
    missing = int(np.isnan(y).sum()) if y.dtype.kind == "f" else missing
    if missing:
        raise ValueError(f"Input y contains NaN: {missing} labels of {owner} are missing. Drop these samples.")
    if y.dtype == object and len({isinstance(label, str) for label in y.tolist()}) > 1:
        raise ValueError(
            f"y of {owner} must hold labels of one type; got strings and other labels, such as "
            f"{reprlib.repr(list(dict.fromkeys(y.tolist())))}. Turn all of them into strings, or into numbers."
        )
    whole = y.dtype.kind in "biu"  # scikit-learn's test takes a tenth of a small fit
    kind = "multiclass" if whole else type_of_target(y, input_name="y", raise_unknown=True)
    if kind.startswith("continuous"):
        raise ValueError(
            f"Unknown label type: {kind}. y of {owner} must hold the labels of two classes; got numbers such "
            f"as {y[y != np.round(y)][0]}. Turn them into classes first, for example y = (amount > 0), and "
            "pass the amounts as fn_cost or fp_cost."
        )
    classes, index = np.unique(y, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}: y has "
            f"{len(classes)} classes, {format_labels(classes)}. For more than two classes use "
            f"sklearn.multiclass.OneVsRestClassifier({owner}(...))."
        )
    if len(classes) < 2:
        raise ValueError(
            f"y must hold two classes; got one class only, {format_labels(classes)}. "
            "Add samples of the other class, or stratify the split."
        )
    return classes, index


def fit_costs(**costs: Any) -> dict[str, float | None]:
    """Costs of a fit by name, as stored on the model: None if they are per sample."""
    return {name: float(cost) if is_number(cost) else None for name, cost in costs.items()}


def resolve_cost(estimator: BaseEstimator, name: str, given: Any) -> Any:
    """The cost given to `fit`, or the constructor's: a number, as clones in a cross-validation get other samples."""
    if given is not None:
        return given
    value = getattr(estimator, name)
    if not (is_number(value) or (name == "kappa" and is_tied(value))):
        expected = 'a number or "tied"' if name == "kappa" else "a number"
        raise ValueError(
            f"{name} of {type(estimator).__name__} must be {expected}; got {name}={reprlib.repr(value)}. "
            f"Pass one value per sample to fit instead: fit(X, y, {name}=...)."
        )
    return value
