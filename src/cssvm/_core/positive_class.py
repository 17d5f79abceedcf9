"""Which of two classes is the positive one, and which sign of a score stands for it.

For costs, +1 is the *positive class*: the class that `pos_label` names, whose false negatives cost `fn_cost`. For f, +1
is ``classes_[1]``, as in scikit-learn. They differ where the positive class is ``classes_[0]``, and `sign` translates:

    sign = +1 if the positive class is classes_[1], -1 otherwise
    score for the positive class = sign * f          f = sign * score for the positive class
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .nested import deciding_estimator, iter_nested_estimators
from .types import Mask, Vector

RESPONSE_METHODS = ("decision_function", "predict_proba")

# The score above which `predict` returns the positive class, by method.
DEFAULT_THRESHOLDS = {"decision_function": 0.0, "predict_proba": 0.5}


@dataclass(frozen=True, eq=False)
class PositiveClass:
    """Two classes (2,), the index of the positive one, and whether the user has named it."""

    classes: NDArray[Any]
    index: int
    named: bool = True

    @classmethod
    def from_labels(cls, classes: NDArray[Any], pos_label: Any, *, owner: str = "pos_label") -> PositiveClass:
        """The class `pos_label`, by default the last; `whose` names the parameter in the error message."""
        if pos_label is None:
            return cls(classes, 1, named=False)
        labels = classes.tolist()
        if pos_label not in labels:
            raise ValueError(
                f"{owner} must be one of the classes {format_labels(classes)} of y, or None for {labels[1]!r}; "
                f"got pos_label={pos_label!r}."
            )
        return cls(classes, labels.index(pos_label))

    @property
    def label(self) -> Any:
        """Label of the positive class."""
        return self.classes[self.index]

    @property
    def other(self) -> Any:
        """Label of the negative class."""
        return self.classes[1 - self.index]

    @property
    def label_repr(self) -> str:
        """The label of the positive class as the user would write it."""
        return repr(to_python(self.label))

    def require_pos_label(self, **costs: Any) -> None:
        """Raise if costs differ, labels are strings and the user has not named the positive class."""
        numbers = {name: cost for name, cost in costs.items() if np.ndim(cost) == 0}
        if len(numbers) == len(costs) and all(cost == numbers[name] for name in numbers for cost in numbers.values()):
            return
        given = [f"{name}={cost}" if name in numbers else f"one {name} per sample" for name, cost in costs.items()]
        self.require_pos_label_for(", ".join(given))

    def require_pos_label_for(self, given: str) -> None:
        """Raise if labels are strings and the positive class is not named; `given` is what makes the classes differ."""
        if self.named or not all(map(is_string, self.classes.tolist())):
            return
        first, second = map(to_python, self.classes)
        raise ValueError(
            f"pos_label is required if labels are strings and costs differ: y holds {first!r} and {second!r}, with "
            f"{given}. Pass pos_label={first!r} if fn_cost is the cost of missing {first!r}, or pos_label={second!r}."
        )

    @property
    def sign(self) -> int:
        """The sign of f that stands for the positive class."""
        return 1 if self.index == 1 else -1

    def labels(self, positive: Mask) -> NDArray[Any]:
        """The label of each sample, given which of them are positive."""
        return self.classes[np.where(positive, self.index, 1 - self.index)]

    def to_positive_sign(self, response: NDArray[Any]) -> Vector:
        """Decision values (n,) or probabilities (n, 2) as scores for the positive class, (n,)."""
        return response[:, self.index] if response.ndim == 2 else self.sign * response

    def to_classes_sign(self, scores: Any) -> Any:
        """Scores for the positive class, or thresholds, turned so that positive means ``classes_[1]``."""
        return self.sign * scores

    def probability_columns(self, probability: Vector) -> NDArray[np.float64]:
        """Probabilities (n, 2) of both classes, given those of the positive class (n,)."""
        both = (1 - probability, probability) if self.index == 1 else (probability, 1 - probability)
        return np.column_stack(both)

    def predicted_positive(self, scores: NDArray[Any]) -> Mask:
        """The predictions for scores of the positive class; f = 0 is ``classes_[0]``."""
        return scores > 0 if self.index == 1 else scores >= 0


class PositiveClassScores(NamedTuple):
    """Scores (n_samples,) that are higher for the positive class, and the score at which `predict` changes to it.

    `own_threshold` is nan if it is not known.
    """

    values: Vector
    positive_class: PositiveClass
    own_threshold: float

    @property
    def pos_label(self) -> Any:
        """Label of the positive class."""
        return self.positive_class.label


def positive_class_scores(
    estimator: Any, X: Any, *, pos_label: Any = None, response_method: str = "auto"
) -> PositiveClassScores:
    """Scores of a fitted classifier for the positive class, whichever of ``classes_`` that is.

    Metrics take them in place of an array: ``min_cost_risk(y, positive_class_scores(model, X), fn_cost=5)``.

    Parameters
    ----------
    estimator : classifier
        A fitted binary classifier, pipeline or search with `decision_function` or `predict_proba`.
    X : array-like, sparse matrix or data frame
        Samples to score.
    pos_label : label, default=None
        The positive class. If None, the estimator's own `pos_label`, or else ``classes_[1]``.
    response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
        The method that returns the scores; ``"auto"`` is the first that the estimator has, or that by which a threshold
        classifier of scikit-learn decides.

    Returns
    -------
    PositiveClassScores
        Named tuple ``(values, positive_class, own_threshold)``, also with `pos_label`.

    Examples
    --------
    >>> from cssvm import CostSensitiveSVC
    >>> from cssvm.metrics import min_cost_risk, positive_class_scores
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["bad", "bad", "good", "good"]
    >>> model = CostSensitiveSVC(fn_cost=5.0, pos_label="bad").fit(X, y)
    >>> min_cost_risk(y, positive_class_scores(model, X), fn_cost=5.0).risk
    0.0
    """
    from sklearn.utils.validation import check_is_fitted  # importing this module needs no scikit-learn

    check_is_fitted(estimator)
    classes = np.asarray(getattr(estimator, "classes_", ()))
    if classes.shape != (2,):
        raise ValueError(
            f"{type(estimator).__name__} must be a classifier of two classes; got classes_={classes.tolist()}. "
            "Pass a fitted binary classifier."
        )
    pos_label = stated_pos_label(estimator) if pos_label is None else pos_label
    positive_class = PositiveClass.from_labels(classes, pos_label)
    method, own_threshold = response_and_threshold(estimator, positive_class, response_method)
    response = finite_response(estimator, method, X)
    return PositiveClassScores(positive_class.to_positive_sign(response), positive_class, own_threshold)


def response_and_threshold(
    estimator: Any, positive_class: PositiveClass, response_method: str = "auto"
) -> tuple[str, float]:
    """The method that returns the scores of a fitted classifier, and the score at which `predict` turns positive.

    For scikit-learn's threshold classifiers, which have their own, it is nan if the method is not theirs.
    """
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

    inner = deciding_estimator(estimator)
    if not isinstance(inner, FixedThresholdClassifier | TunedThresholdClassifierCV):
        method = find_response_method(estimator, response_method)
        return method, DEFAULT_THRESHOLDS[method]
    methods = RESPONSE_METHODS[::-1] if inner.response_method == "auto" else [inner.response_method]
    own = next(method for method in methods if hasattr(inner, method))
    method = own if response_method == "auto" else find_response_method(estimator, response_method)
    if method != own:
        return method, np.nan
    threshold = inner.best_threshold_ if hasattr(inner, "best_threshold_") else inner.threshold
    threshold = DEFAULT_THRESHOLDS[method] if threshold == "auto" else float(threshold)
    label = getattr(inner, "pos_label", None)
    if positive_class.index == (1 if label is None else positive_class.classes.tolist().index(label)):
        return method, threshold
    return method, 1.0 - threshold if method == "predict_proba" else -threshold


def finite_response(estimator: Any, method: str, X: Any) -> Vector:
    """What this method of a classifier returns for X, float64, which must be finite."""
    response = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    if not np.isfinite(response).all():
        raise ValueError(
            f"{method} of {type(estimator).__name__} must return finite numbers; got "
            f"{response[~np.isfinite(response)][0]}. Scale the features, or use another classifier."
        )
    return response


def find_response_method(estimator: Any, response_method: str = "auto") -> str:
    """The method to call: the requested one, or for "auto" the first of `RESPONSE_METHODS` that the estimator has."""
    if response_method not in ("auto", *RESPONSE_METHODS):
        raise ValueError(f"response_method must be 'auto' or one of {RESPONSE_METHODS}; got {response_method!r}.")
    methods = RESPONSE_METHODS if response_method == "auto" else (response_method,)
    for method in methods:
        if hasattr(estimator, method):
            return method
    raise ValueError(
        f"{type(estimator).__name__} has no {' or '.join(methods)}, so it gives no scores. "
        "Pass a classifier that has, or your own scores."
    )


def stated_pos_label(estimator: Any) -> Any:
    """The `pos_label` of an estimator or of what is inside it, down to the first that has costs; None if not given."""
    stating = _stating_pos_label(estimator)
    return None if stating is None else stating.pos_label


def with_pos_label(estimator: Any, positive_class: PositiveClass) -> Any:
    """A clone of a classifier with this positive class, if it was named; raises if the classifier has another."""
    from sklearn.base import clone

    if stated_pos_label(estimator) is not None:
        check_same_positive_class(estimator, positive_class)
        return clone(estimator)
    model = clone(estimator)
    names = [name for name in model.get_params() if name.rpartition("__")[2] == "pos_label"]
    return model.set_params(**dict.fromkeys(names if positive_class.named else [], to_python(positive_class.label)))


def check_same_positive_class(estimator: Any, positive_class: PositiveClass) -> None:
    """Raise if a classifier has been or will be trained for another positive class, named or by default."""
    stating = _stating_pos_label(estimator)
    if stating is None:
        return
    name = type(stating).__name__
    own = PositiveClass.from_labels(positive_class.classes, stating.pos_label, owner=f"pos_label of {name}")
    if own.index != positive_class.index:
        raise ValueError(
            f"The positive class of {name} is {own.label_repr}, as its pos_label={stating.pos_label!r}, but costs are "
            f"counted for {positive_class.label_repr}. Pass pos_label={own.label_repr}, or give the classifier "
            f"pos_label={positive_class.label_repr}."
        )


def _stating_pos_label(estimator: Any) -> Any:
    """The outermost classifier that has a `pos_label`, or has costs of its own; None if there is none."""
    for each in iter_nested_estimators(estimator):
        if getattr(each, "pos_label", None) is not None or (hasattr(each, "fn_cost") and hasattr(each, "pos_label")):
            return each
    return None


def to_python(label: Any) -> Any:
    """A label as a Python object, as the user would write it."""
    return label.item() if isinstance(label, np.generic) else label


def is_string(label: Any) -> bool:
    """Whether a label is a string, whose order says nothing."""
    return isinstance(label, str | bytes)


def format_labels(classes: NDArray[Any], at_most: int = 10) -> str:
    """Labels for a message, the first few of many."""
    labels = [repr(label) for label in classes[:at_most].tolist()]
    return "[" + ", ".join(labels) + (", ..." if len(classes) > at_most else "") + "]"
