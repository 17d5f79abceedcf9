"""Any classifier turned into decisions that cost least, by Bayes' rule or by a tuned threshold.

    method="bayes":   target if p(x_i) fn_cost_i >= (1 - p(x_i)) fp_cost_i,    p calibrated, costs those of the new rows
    method="tuned":   target if score(x_i) >= threshold,    the threshold that costs least on held-out training rows

p and the score are those of the target class; the sign of `decision_function` is that of classes_[1].
"""

from __future__ import annotations

import reprlib
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from .._types import Vector
from ..costs import example_costs, row_weights
from ..metrics.thresholds import ONE_MARGIN, threshold_of_least_cost
from .inputs import target_index, two_classes
from .kernel_svc import unchanged_on_failure
from .machine import check_both_classes
from .parameters import given_cost

BAYES, TUNED = "bayes", "tuned"
CALIBRATIONS = ("sigmoid", "isotonic")


def _has_probabilities(classifier: CostThresholdClassifier) -> bool:
    calibrated = classifier.method == BAYES and classifier.calibration is not None
    return calibrated or hasattr(classifier.estimator, "predict_proba")


class CostThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Decisions of least cost from the scores or probabilities of any binary classifier.

    With p(x) the probability of the target class, ``method="bayes"`` decides for it if

        p(x_i) fn_cost_i >= (1 - p(x_i)) fp_cost_i

    with costs that may be given for each row to `predict`. ``method="tuned"`` decides for it if the score reaches
    the threshold that minimises, over rows scored by a model that has not seen them,

        sum over missed rows of s_i fn_cost_i  +  sum over false alarms of s_i fp_cost_i.

    Parameters
    ----------
    estimator : estimator instance
        The binary classifier, with `predict_proba` or `decision_function`. It is cloned, not changed.
    fn_cost : float, default=1.0
        Cost of a false negative: a missed row of the target class. One value for each row goes to `predict`
        (``"bayes"``) or `fit` (``"tuned"``).
    fp_cost : float, default=1.0
        Cost of a false positive: a false alarm. One value for each row likewise.
    method : {"bayes", "tuned"}, default="bayes"
        ``"bayes"`` trusts the probabilities and follows the costs of each new row; ``"tuned"`` needs a ranking
        only, and the costs of the training rows.
    calibration : {"sigmoid", "isotonic"} or None, default="sigmoid"
        How ``"bayes"`` calibrates the estimator, by `sklearn.calibration.CalibratedClassifierCV`. None takes the
        estimator's own `predict_proba`. Ignored by ``"tuned"``.
    cv : int, splitter or iterable of splits, default=None
        Folds for the calibration or for the held-out scores; an integer means stratified folds, None five of
        them. For ``"tuned"`` each row must be held out exactly once.
    pos_label : label, default=None
        The target class, the one that `fn_cost` is about; None means ``classes_[1]``. The sign of
        `decision_function` does not depend on it: positive always means ``classes_[1]``.
    n_jobs : int, default=None
        Folds fitted at a time, as in scikit-learn.

    Attributes
    ----------
    estimator_ : estimator
        The classifier trained on all rows; with calibration the fitted `CalibratedClassifierCV`.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    threshold_ : float
        On the probability or score of the target class. ``"bayes"``: fp_cost / (fn_cost + fp_cost) of the
        constructor's costs. ``"tuned"``: half-way between two neighbouring held-out scores, or 1 beyond the
        extreme ones where one decision for all rows costs least.
    thresholds_ : ndarray of shape (n_folds,)
        The threshold that each fold's held-out rows alone would have chosen, nan for a fold in which one of the
        classes has nothing to lose; empty for ``"bayes"``.
    threshold_spread_ : float
        Standard deviation of `thresholds_` over the folds that have one: how well the data determine the
        threshold. 0 for ``"bayes"``, where the costs set it.
    n_features_in_ : int
        Number of features seen in `fit`, where the estimator tells.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has names and the estimator tells.

    Notes
    -----
    scikit-learn's `FixedThresholdClassifier` and `TunedThresholdClassifierCV` have one threshold for all rows:
    their `predict` takes no costs. The latter averages interpolated scores of the folds and keeps no threshold of
    a single fold, so its spread is not seen.

    `sample_weight` goes to the estimator's `fit` if that takes it, and to the calibration or the costs in any
    case. With metadata routing the estimator also gets what it requests of `fn_cost` and `fp_cost`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cssvm import CostThresholdClassifier
    >>> X, y = make_classification(1000, weights=[0.9], flip_y=0.1, random_state=0)
    >>> model = CostThresholdClassifier(LogisticRegression(), fn_cost=9.0).fit(X, y)
    >>> print(model.threshold_, model.predict(X[:4]))
    0.1 [0 0 0 0]

    What is at stake in each new row; a false alarm costs 5:

    >>> print(model.predict(X[:4], fn_cost=[10.0, 1000.0, 10.0, 1000.0], fp_cost=5.0))
    [0 1 0 1]

    A tuned threshold, and how much it varies between the folds:

    >>> tuned = CostThresholdClassifier(LogisticRegression(), fn_cost=9.0, method="tuned").fit(X, y)
    >>> print(f"{tuned.threshold_:.2f} +- {tuned.threshold_spread_:.2f}")
    0.23 +- 0.09
    """

    def __init__(
        self,
        estimator: Any,
        *,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        method: str = BAYES,
        calibration: str | None = "sigmoid",
        cv: Any = None,
        pos_label: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.fn_cost = fn_cost
        self.fp_cost = fp_cost
        self.method = method
        self.calibration = calibration
        self.cv = cv
        self.pos_label = pos_label
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any, *, fn_cost: Any = None, fp_cost: Any = None, sample_weight: Any = None
    ) -> CostThresholdClassifier:
        """Train the estimator and set the threshold; a failed fit leaves this classifier as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, in any form the estimator takes.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost : float or array-like of shape (n_samples,), default=None
            ``"tuned"`` only: cost of missing each row of the target class; other entries are ignored. None: the
            constructor's.
        fp_cost : float or array-like of shape (n_samples,), default=None
            ``"tuned"`` only: cost of a false alarm on each row of the other class, the rest ignored. None: the
            constructor's.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of each row; None means 1.

        Returns
        -------
        CostThresholdClassifier
            The classifier itself.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            X, y = indexable(X, y)
            y = column_or_1d(y, warn=True)
            self.classes_, index = two_classes(self, y)
            self._target = target_index(self, self.classes_, self.pos_label)
            targets = np.where(index == self._target, 1, -1)
            if sample_weight is not None:
                sample_weight = row_weights(sample_weight, len(targets))
            given = {"fn_cost": fn_cost, "fp_cost": fp_cost, "sample_weight": sample_weight}
            given = {name: value for name, value in given.items() if value is not None}
            if self.method == BAYES:
                self._fit_bayes(X, y, given)
            else:
                self._fit_tuned(X, y, targets, given)
        return self

    def _fit_bayes(self, X: Any, y: Any, given: dict[str, Any]) -> None:
        """Probabilities, calibrated unless told otherwise; the costs alone set the threshold."""
        fn_cost, fp_cost = self._decision_costs(None, None, n_samples=len(y))
        wanted = self._wanted(given)
        unused = sorted(given.keys() - wanted.keys() - {"sample_weight"})
        if unused:
            raise ValueError(
                f'{unused[0]} given to fit does not enter the decisions of {type(self).__name__} with method="bayes". '
                f'Pass it to predict: predict(X, {unused[0]}=...), or use method="tuned".'
            )
        if self.calibration is None:
            self.estimator_ = self._train(X, y, wanted)
        else:
            calibrated = CalibratedClassifierCV(
                clone(self.estimator), method=self.calibration, cv=self.cv, n_jobs=self.n_jobs
            )
            # The calibration is weighted even if the estimator is not.
            self.estimator_ = calibrated.fit(X, y, **{**wanted, "sample_weight": given.get("sample_weight")})
        self.threshold_ = float(fp_cost / (fn_cost + fp_cost))
        self.thresholds_ = np.empty(0)
        self.threshold_spread_ = 0.0

    def _fit_tuned(self, X: Any, y: Any, targets: NDArray[Any], given: dict[str, Any]) -> None:
        """The threshold from pooled held-out scores, and from those of each fold; the estimator from all rows."""
        cost = example_costs(
            targets,
            fn_cost=given_cost(self, "fn_cost", given.get("fn_cost")),
            fp_cost=given_cost(self, "fp_cost", given.get("fp_cost")),
            sample_weight=given.get("sample_weight"),
        )
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y))
        for seen, _ in folds:
            check_both_classes(
                targets, seen, f"the training rows of each fold of cv={self.cv!r}", "Use fewer or stratified folds."
            )
        wanted = self._wanted(given)
        response = "predict_proba" if hasattr(self.estimator, "predict_proba") else "decision_function"
        held_out = cross_val_predict(self.estimator, X, y, cv=folds, method=response, params=wanted, n_jobs=self.n_jobs)
        scores = self._of_target(held_out)
        self.threshold_ = _least_cost_threshold(targets, scores, cost)
        self.thresholds_ = np.array([_least_cost_threshold(targets[r], scores[r], cost[r]) for _, r in folds])
        found = self.thresholds_[~np.isnan(self.thresholds_)]
        self.threshold_spread_ = float(np.std(found)) if found.size else np.nan
        self.estimator_ = self._train(X, y, wanted)

    def _wanted(self, given: dict[str, Any]) -> dict[str, Any]:
        """What the estimator's `fit` takes of the metadata given to this one's, by the names given here."""
        if get_config()["enable_metadata_routing"]:
            process_routing(self, "fit", **given)  # refuses what the estimator takes but has not been told to
            names = get_routing_for_object(self.estimator).consumes("fit", given.keys())
            return {name: given[name] for name in names}
        if "sample_weight" not in given:
            return {}
        if has_fit_parameter(self.estimator, "sample_weight"):
            return {"sample_weight": given["sample_weight"]}
        if self.method == TUNED or self.calibration is None:  # CalibratedClassifierCV has a warning of its own
            warnings.warn(
                f"fit of {type(self.estimator).__name__} takes no sample_weight: the weights count for the threshold "
                "only. Enable metadata routing and request sample_weight where it is to be used.",
                stacklevel=4,
            )
        return {}

    def _train(self, X: Any, y: Any, wanted: dict[str, Any]) -> Any:
        """The estimator trained on all rows, with the metadata under its own names."""
        if get_config()["enable_metadata_routing"]:
            wanted = process_routing(self, "fit", **wanted).estimator.fit
        return clone(self.estimator).fit(X, y, **wanted)

    def _check_parameters(self) -> None:
        """Refuse a method, a calibration or an estimator that cannot be used."""
        name = type(self).__name__
        if self.method not in (BAYES, TUNED):
            raise ValueError(f'method of {name} must be "{BAYES}" or "{TUNED}"; got method={self.method!r}.')
        if self.calibration is not None and self.calibration not in CALIBRATIONS:
            raise ValueError(
                f"calibration of {name} must be one of {list(CALIBRATIONS)} or None for the estimator's own "
                f"probabilities; got calibration={self.calibration!r}."
            )
        if not hasattr(self.estimator, "fit") or not (
            hasattr(self.estimator, "predict_proba") or hasattr(self.estimator, "decision_function")
        ):
            raise ValueError(
                f"estimator of {name} must have fit, and predict_proba or decision_function; got "
                f"estimator={reprlib.repr(self.estimator)}. Pass an instance of a binary classifier."
            )
        if not _has_probabilities(self) and self.method == BAYES:
            raise ValueError(
                f'estimator of {name} must have predict_proba with method="bayes" and calibration=None; got '
                f'{type(self.estimator).__name__}. Pass calibration="sigmoid", or method="tuned".'
            )

    def predict(self, X: Any, *, fn_cost: Any = None, fp_cost: Any = None) -> NDArray[Any]:
        """The class of each row of X whose expected cost is least; the target where both cost the same.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to classify.
        fn_cost : float or array-like of shape (n_samples,), default=None
            ``"bayes"`` only: what each row costs if it is of the target class and missed. None: the
            constructor's.
        fp_cost : float or array-like of shape (n_samples,), default=None
            ``"bayes"`` only: what each row costs if it is a false alarm. None: the constructor's.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        gain = self._gain(X, fn_cost, fp_cost)
        return self.classes_[np.where(gain >= 0, self._target, 1 - self._target)]

    def decision_function(self, X: Any) -> Vector:
        """Score of the target minus `threshold_`, its sign turned so that positive means ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        gain = self._gain(X, None, None)
        return gain if self._target == 1 else -gain

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the two classes, those of `estimator_`; the costs do not enter.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns in the order of `classes_`.
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def _gain(self, X: Any, fn_cost: Any, fp_cost: Any) -> Vector:
        """What speaks for the target: its score minus the threshold, of each row if the costs are."""
        check_is_fitted(self)
        if self.method == TUNED and not (fn_cost is None and fp_cost is None):
            raise ValueError(
                f'predict of {type(self).__name__} takes no costs with method="tuned", whose threshold holds for all '
                'rows and was set in fit. Use method="bayes" for costs of new rows.'
            )
        if hasattr(self.estimator_, "predict_proba"):
            score = self._of_target(self.estimator_.predict_proba(X))
        else:
            score = self._of_target(self.estimator_.decision_function(X))
        if self.method == TUNED:
            return score - self.threshold_
        fn, fp = self._decision_costs(fn_cost, fp_cost, n_samples=len(score))
        # p - fp / (fn + fp), in the form of the rule: no rounding of the threshold moves a tie.
        return (score * fn - (1 - score) * fp) / (fn + fp)

    def _of_target(self, response: NDArray[Any]) -> Vector:
        """The target's column of probabilities (n_samples, 2), or decision values (n_samples,) in its direction."""
        if response.ndim == 2:
            return response[:, self._target]
        return response if self._target == 1 else -response

    def _decision_costs(self, fn_cost: Any, fp_cost: Any, *, n_samples: int) -> tuple[Any, Any]:
        """Costs of decisions on rows of unknown label: the given or the constructor's, checked on all rows."""
        costs = []
        for name, given in (("fn_cost", fn_cost), ("fp_cost", fp_cost)):
            value = np.asarray(getattr(self, name) if given is None else given, dtype=np.float64)
            if value.shape not in ((), (n_samples,)) or (given is None and value.ndim):
                raise ValueError(
                    f"{name} must be a number, or given to predict with one value for each row of X, shape "
                    f"({n_samples},); got shape {value.shape}. Pass predict(X, {name}=...) with an entry for each row."
                )
            wrong = ~(np.isfinite(value) & (value >= 0))
            if wrong.any():
                raise ValueError(
                    f"{name} must be finite and non-negative on every row, as the labels are not known; got "
                    f"{name}={value[wrong][0]:g} ({wrong.sum()} such rows). Correct these values, or drop the rows."
                )
            costs.append(value)
        nothing = np.broadcast_to((costs[0] == 0) & (costs[1] == 0), n_samples)
        if nothing.any():
            raise ValueError(
                f"fn_cost and fp_cost must not both be 0; got this in row {np.argmax(nothing)} ({nothing.sum()} such "
                "rows), where either decision costs nothing. Drop the rows, or give one of the costs a value."
            )
        return costs[0], costs[1]

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in `fit`."""
        return self.estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features seen in `fit`."""
        return self.estimator_.feature_names_in_

    def get_metadata_routing(self) -> MetadataRouter:
        """Requests of this classifier and of the estimator, as scikit-learn's metadata routing asks for them.

        Returns
        -------
        MetadataRouter
            The routing of `fit`, `predict` and `score`.
        """
        to_estimator = MethodMapping().add(caller="fit", callee="fit")
        return (
            MetadataRouter(owner=self).add_self_request(self).add(estimator=self.estimator, method_mapping=to_estimator)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.pairwise = inner.pairwise
        tags.classifier_tags.multi_class = False
        return tags


def _least_cost_threshold(targets: NDArray[Any], scores: Vector, cost: Vector) -> float:
    """The threshold of least cost on these rows, finite also if it separates none; nan if one class has no cost."""
    if len(np.unique(targets[cost > 0])) < 2:
        return np.nan
    # One decision for all rows is meant for new rows too, whose scores may lie beyond those seen.
    return threshold_of_least_cost(scores, targets > 0, cost, prefer="highest", beyond=ONE_MARGIN)
