"""Which class is the target, and which sign that is: the one place that decides.

Two conventions meet in this library. In all that concerns costs, +1 is the *target*: the class that `pos_label` names,
the one whose miss costs `fn_cost`. In all that concerns f, +1 is ``classes_[1]``, as everywhere in scikit-learn. They
differ where the target is ``classes_[0]``, and `side` translates:

    side = +1 if the target is classes_[1], -1 otherwise
    score for the target = side * f          f = side * score for the target
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .nested import deciding_estimator, iter_nested_estimators
from .types import Mask, Vector

RESPONSES = ("decision_function", "predict_proba")

# Where `predict` itself decides for the target, by kind of score.
OWN_THRESHOLD = {"decision_function": 0.0, "predict_proba": 0.5}


@dataclass(frozen=True, eq=False)
class PositiveClass:
    """Two classes, and which of them is the target.

    classes : (2,) labels, in the order of ``classes_``; index : 0 or 1, that of the target in it; named : whether the
    user has said so, or it is the larger label by default.
    """

    classes: NDArray[Any]
    index: int
    named: bool = True

    @classmethod
    def among(cls, classes: NDArray[Any], pos_label: Any, *, whose: str = "pos_label") -> PositiveClass:
        """The class `pos_label`; None means the last. `whose` names the parameter in the error message."""
        if pos_label is None:
            return cls(classes, 1, named=False)
        labels = classes.tolist()
        if pos_label not in labels:
            raise ValueError(
                f"{whose} must be one of the classes {listed(classes)} of y, or None for {labels[1]!r}; "
                f"got pos_label={pos_label!r}."
            )
        return cls(classes, labels.index(pos_label))

    @property
    def label(self) -> Any:
        """Label of the target class."""
        return self.classes[self.index]

    @property
    def plain(self) -> Any:
        """The label of the target as a Python object."""
        return plain(self.label)

    @property
    def shown(self) -> str:
        """The label of the target as the user would write it."""
        return repr(self.plain)

    @property
    def other(self) -> Any:
        """Label of the other class."""
        return self.classes[1 - self.index]

    def require_pos_label(self, **costs: Any) -> None:
        """Refuse costs that differ where labels are words and nobody has said which of them is the target."""
        numbers = {name: cost for name, cost in costs.items() if np.ndim(cost) == 0}
        if len(numbers) == len(costs) and all(cost == numbers[name] for name in numbers for cost in numbers.values()):
            return
        given = [f"{name}={cost}" if name in numbers else f"one {name} for each row" for name, cost in costs.items()]
        self.require_pos_label_for(", ".join(given))

    def require_pos_label_for(self, given: str) -> None:
        """Refuse what treats the classes differently, in words, where nobody has said which word is the target."""
        if self.named or not all(map(is_string, self.classes.tolist())):
            return
        first, second = map(plain, self.classes)
        raise ValueError(
            f"pos_label must be given where labels are words and costs differ: y holds {first!r} and {second!r}, with "
            f"{given}. Pass pos_label={first!r} if fn_cost is what missing {first!r} costs, or pos_label={second!r}."
        )

    @property
    def side(self) -> int:
        """The sign of f that means the target."""
        return 1 if self.index == 1 else -1

    def labels(self, positive: Mask) -> NDArray[Any]:
        """The label of each row, given which of them are of the target class."""
        return self.classes[np.where(positive, self.index, 1 - self.index)]

    def oriented(self, response: NDArray[Any]) -> Vector:
        """The response of a classifier, turned so that higher means the target.

        response : decision values (n_samples,), positive for classes_[1], or probabilities (n_samples, 2).
        """
        return response[:, self.index] if response.ndim == 2 else self.side * response

    def as_f(self, scores: Any) -> Any:
        """Scores for the target, signs of it or a threshold on them, turned so that positive means classes_[1]."""
        return self.side * scores

    def columns(self, probability: Vector) -> NDArray[np.float64]:
        """Probabilities of the target (n,) as those of both classes, (n, 2) in the order of `classes`."""
        both = (1 - probability, probability) if self.index == 1 else (probability, 1 - probability)
        return np.column_stack(both)

    def accepted(self, scores: NDArray[Any]) -> Mask:
        """The decisions of `predict` by scores for the target: f > 0 is classes_[1], so f = 0 is classes_[0]."""
        return scores > 0 if self.index == 1 else scores >= 0


class PositiveClassScores(NamedTuple):
    """Scores of the rows of X, oriented so that a higher one speaks for the target class.

    values : (n_samples,) float64; target : which class that is; own_threshold : where `predict` decides for it, nan if
    that is not known.
    """

    values: Vector
    target: PositiveClass
    own_threshold: float

    @property
    def pos_label(self) -> Any:
        """Label of the target class."""
        return self.target.label


def positive_class_scores(
    estimator: Any, X: Any, *, pos_label: Any = None, response_method: str = "auto"
) -> PositiveClassScores:
    """Scores of a fitted classifier for the target class, whichever of ``classes_`` that is.

    The sign of `decision_function` is that of ``classes_[1]``. Metrics want scores that are higher for the target:
    ``min_cost_risk(y, positive_class_scores(model, X), fn_cost=5)`` gives them those, and tells them which class it is.

    Parameters
    ----------
    estimator : classifier
        Fitted, of two classes, with `decision_function` or `predict_proba`; also a pipeline or a search.
    X : array-like, sparse matrix or data frame
        Rows to score.
    pos_label : label, default=None
        The target; None takes the estimator's own `pos_label`, then ``classes_[1]``.
    response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
        Where scores come from; ``"auto"`` takes the first that there is, and of scikit-learn's threshold classifiers
        the one that they cut.

    Returns
    -------
    PositiveClassScores
        Named tuple ``(values, target, own_threshold)``; `pos_label` is the label of the target.

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
    target = PositiveClass.among(classes, own_pos_label(estimator) if pos_label is None else pos_label)
    method, own_threshold = own_cut(estimator, target, response_method)
    response = finite_response(estimator, method, X)
    return PositiveClassScores(target.oriented(response), target, own_threshold)


def own_cut(estimator: Any, target: PositiveClass, response_method: str = "auto") -> tuple[str, float]:
    """The response of a fitted classifier that scores come from, and where `predict` turns to the target, on its scale.

    scikit-learn's threshold classifiers cut at a threshold of their own; on another response than theirs it is nan.
    """
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

    inner = deciding_estimator(estimator)
    if not isinstance(inner, FixedThresholdClassifier | TunedThresholdClassifierCV):
        method = response_of(estimator, response_method)
        return method, OWN_THRESHOLD[method]
    asked = RESPONSES[::-1] if inner.response_method == "auto" else [inner.response_method]
    own = next(method for method in asked if hasattr(inner, method))
    method = own if response_method == "auto" else response_of(estimator, response_method)
    if method != own:
        return method, np.nan
    threshold = inner.best_threshold_ if hasattr(inner, "best_threshold_") else inner.threshold
    threshold = OWN_THRESHOLD[method] if threshold == "auto" else float(threshold)
    label = getattr(inner, "pos_label", None)
    if target.index == (1 if label is None else target.classes.tolist().index(label)):
        return method, threshold
    return method, 1.0 - threshold if method == "predict_proba" else -threshold


def finite_response(estimator: Any, method: str, X: Any) -> Vector:
    """What this method of a classifier returns for X, float64; numbers that are not finite are refused."""
    response = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    if not np.isfinite(response).all():
        raise ValueError(
            f"{method} of {type(estimator).__name__} must return finite numbers; got "
            f"{response[~np.isfinite(response)][0]}. Scale the features, or use another classifier."
        )
    return response


def response_of(estimator: Any, response_method: str = "auto") -> str:
    """The method to call: the one asked for, or for "auto" the first of `RESPONSES` that the estimator has."""
    if response_method not in ("auto", *RESPONSES):
        raise ValueError(f"response_method must be 'auto' or one of {RESPONSES}; got {response_method!r}.")
    asked = RESPONSES if response_method == "auto" else (response_method,)
    for method in asked:
        if hasattr(estimator, method):
            return method
    raise ValueError(
        f"{type(estimator).__name__} has no {' or '.join(asked)}, so it gives no scores. "
        "Pass a classifier that has, or your own scores."
    )


def own_pos_label(estimator: Any) -> Any:
    """The target that an estimator states, or what it is around: a pipeline, a search, a calibration; else None.

    A classifier with costs of its own speaks for all that is inside it, also if it leaves `pos_label` out.
    """
    stating = _stating_target(estimator)
    return None if stating is None else stating.pos_label


def with_pos_label(estimator: Any, target: PositiveClass) -> Any:
    """A clone of a classifier whose target is this one, if it was named; one that states another is refused."""
    from sklearn.base import clone

    if own_pos_label(estimator) is not None:
        check_same_target(estimator, target)
        return clone(estimator)
    model = clone(estimator)
    states = [name for name in model.get_params() if name.rpartition("__")[2] == "pos_label"] if target.named else []
    return model.set_params(**dict.fromkeys(states, target.plain))


def check_same_target(estimator: Any, target: PositiveClass) -> None:
    """Refuse a classifier that has been or will be trained for another target, by name or because it has none."""
    stating = _stating_target(estimator)
    if stating is None:
        return
    own = PositiveClass.among(target.classes, stating.pos_label, whose=f"pos_label of {type(stating).__name__}")
    if own.index != target.index:
        raise ValueError(
            f"{type(stating).__name__} has the target {own.shown}, as its pos_label={stating.pos_label!r} says, but "
            f"costs are to be counted for {target.shown}. Pass pos_label={own.shown}, or give the classifier "
            f"pos_label={target.shown}."
        )


def _stating_target(estimator: Any) -> Any:
    """The outermost classifier that states a target, or that has costs of its own; None if there is none."""
    for each in iter_nested_estimators(estimator):
        if getattr(each, "pos_label", None) is not None or (hasattr(each, "fn_cost") and hasattr(each, "pos_label")):
            return each
    return None


def plain(label: Any) -> Any:
    """A label as a Python object, as the user would write it."""
    return label.item() if isinstance(label, np.generic) else label


def is_string(label: Any) -> bool:
    """Whether a label is text, whose order says nothing."""
    return isinstance(label, str | bytes)


def listed(classes: NDArray[Any], at_most: int = 10) -> str:
    """Labels for a message, the first few of many."""
    labels = [repr(label) for label in classes[:at_most].tolist()]
    return "[" + ", ".join(labels) + (", ..." if len(classes) > at_most else "") + "]"
