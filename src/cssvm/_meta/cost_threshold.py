"""Any classifier turned into decisions that cost least, by Bayes' rule or by a tuned threshold (`rules.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._core.classifier import unchanged_on_failure
from .._core.costs import check_nonzero_weights, check_sample_weight
from .._core.positive_class import finite_response
from .._core.types import Vector
from .._core.validation import align_to_samples
from .probabilities import CALIBRATIONS, CalibratingClassifier
from .rules import RULES, Rule

BAYES = "bayes"


def _has_probabilities(classifier: CostThresholdClassifier) -> bool:
    return classifier.method in RULES and classifier._rule().has_probabilities


class CostThresholdClassifier(CalibratingClassifier):
    """Decisions of least cost from the scores or probabilities of any binary classifier.

    With p(x) the probability of the target class, ``method="bayes"`` decides for it if::

        p(x_i) fn_cost_i > (1 - p(x_i)) fp_cost_i

    with costs that may be given for each row to `predict`. ``method="tuned"`` decides for it if the score exceeds
    the threshold that minimises, over rows scored by a model that has not seen them::

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
        Folds for the calibration or for the held-out scores; an integer means stratified folds of shuffled rows,
        None five of them. Rows in time want ``TimeSeriesSplit``.
    pos_label : label, default=None
        The positive class, which `fn_cost` refers to. If None, ``classes_[1]``. Required if the labels are strings and
        ``fn_cost != fp_cost``. It does not change the sign of `decision_function`, which is positive for
        ``classes_[1]``.
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
    feature_names_in_ : ndarray of shape (n_features,)
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
    0.18 +- 0.08
    """

    def __init__(
        self,
        estimator: Any,
        *,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        method: str = BAYES,
        calibration: str | None = CALIBRATIONS[0],
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
        self,
        X: Any,
        y: Any,
        *,
        fn_cost: Any = None,
        fp_cost: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
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
            Sample weights. If None, all weights are 1.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as those of one customer, and are held out together.

        Returns
        -------
        CostThresholdClassifier
            The classifier itself.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            X, y = indexable(X, y)
            given = align_to_samples(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
            groups = align_to_samples(X, y, groups=groups)["groups"]
            y = column_or_1d(y, warn=True)
            target, positive = self._read_labels(y)
            if sample_weight is not None:
                given["sample_weight"] = check_sample_weight(given["sample_weight"], len(positive))
                check_nonzero_weights(given["sample_weight"])
            given = {name: value for name, value in given.items() if value is not None}
            fitted = self._rule().fit(X, y, target, positive, given, groups)
            self.estimator_, self._response, self.threshold_, self.thresholds_ = fitted
            found = self.thresholds_[~np.isnan(self.thresholds_)]
            undetermined = np.nan if self.thresholds_.size else 0.0
            self.threshold_spread_ = float(np.std(found)) if found.size else undetermined
        return self

    @property
    def decides_by_costs(self) -> bool:
        """Whether `predict` takes the costs of the rows it decides on."""
        return self.method == BAYES

    @property
    def trains_by_costs(self) -> bool:
        """Whether `fit` takes the costs of the rows it learns from."""
        return self.method != BAYES

    def _rule(self) -> Rule:
        return RULES[self.method](self)

    def _check_parameters(self) -> None:
        """Refuse a method, a calibration or an estimator that cannot be used."""
        name = type(self).__name__
        if self.method not in RULES:
            allowed = " or ".join(f'"{method}"' for method in RULES)
            raise ValueError(f"method of {name} must be {allowed}; got method={self.method!r}.")
        self._check_calibration()
        self._check_estimator()
        if self.method == BAYES and not self._rule().has_probabilities:
            raise ValueError(
                f'estimator of {name} must have predict_proba with method="bayes" and calibration=None; got '
                f'{type(self.estimator).__name__}. Pass calibration="sigmoid", or method="tuned".'
            )

    def predict(self, X: Any, *, fn_cost: Any = None, fp_cost: Any = None) -> NDArray[Any]:
        """The class of each row of X whose expected cost is least; ``classes_[0]`` where both cost the same.

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
        return self._positive_class.labels(self._positive_class.predicted_positive(gain))

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
        return self._positive_class.to_classes_sign(gain)

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
        """The target's score minus the threshold, which varies by row if the costs do."""
        check_is_fitted(self)
        score = self._positive_class.to_positive_sign(finite_response(self.estimator_, self._response, X))
        return self._rule().gain(score, **align_to_samples(X, fn_cost=fn_cost, fp_cost=fp_cost))
