"""Any classifier with predictions of least cost, by Bayes' rule or by a tuned threshold.

    bayes:   positive if p(x_i) fn_cost_i > (1 - p(x_i)) fp_cost_i,    p calibrated, costs those of the new samples
    tuned:   positive if score(x_i) > threshold,    the threshold of least cost on held-out training samples

p and the score are those of the positive class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._core.alignment import align_to_samples
from .._core.classifier import resolve_cost, unchanged_on_failure
from .._core.decision import ONE_MARGIN, check_decision_costs, relative_saving, threshold_of_least_cost
from .._core.folds import make_splits
from .._core.margins_and_bounds import check_nonzero_weights, check_sample_weight
from .._core.positive_class import finite_response
from .._core.samples import Samples, check_both_classes, has_both_classes
from .._core.types import Mask, Vector
from .._core.validation import check_parameters, option
from .base import CALIBRATIONS, ESTIMATOR, PROBABILITIES, CalibratingClassifier

BAYES, TUNED = METHODS = ("bayes", "tuned")


def _has_probabilities(classifier: CostThresholdClassifier) -> bool:
    if classifier.method == BAYES:
        return classifier._will_have_probabilities
    return classifier.method == TUNED and hasattr(classifier.estimator, PROBABILITIES)


class CostThresholdClassifier(CalibratingClassifier):
    """Predictions of least cost from the scores or probabilities of any binary classifier.

    With p(x) the probability of the positive class, ``method="bayes"`` predicts it if::

        p(x_i) fn_cost_i > (1 - p(x_i)) fp_cost_i

    with costs that may be passed to `predict` per sample. ``method="tuned"`` predicts it if the score exceeds
    the threshold that minimises, over samples scored by a model that has not seen them::

        sum over false negatives of s_i fn_cost_i  +  sum over false positives of s_i fp_cost_i.

    Parameters
    ----------
    estimator : estimator instance
        A binary classifier with `predict_proba` or `decision_function`, which is cloned.
    fn_cost, fp_cost : float, default=1.0
        Costs of a false negative and of a false positive. Costs per sample go to `predict` (``"bayes"``) or `fit`
        (``"tuned"``).
    method : {"bayes", "tuned"}, default="bayes"
        ``"bayes"`` needs probabilities; ``"tuned"`` needs only a ranking and the costs of the training samples.
    calibration : {"sigmoid", "isotonic"} or None, default="sigmoid"
        How ``"bayes"`` calibrates the estimator, by `sklearn.calibration.CalibratedClassifierCV`. If None, its own
        `predict_proba` is used.
    cv : int, splitter or iterable of splits, default=None
        Folds for the calibration or the held-out scores: an integer means stratified folds of shuffled samples, None
        five of them. For time-ordered data, pass ``TimeSeriesSplit``.
    pos_label : label, default=None
        The positive class, which `fn_cost` refers to. If None, ``classes_[1]``. Required if the labels are strings and
        ``fn_cost != fp_cost``.
    n_jobs : int, default=None
        Folds fitted at a time, as in scikit-learn.

    Attributes
    ----------
    estimator_ : estimator
        The classifier fitted on all samples; with calibration the fitted `CalibratedClassifierCV`.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    threshold_ : float
        On the probability or score of the positive class. ``"bayes"``: fp_cost / (fn_cost + fp_cost). ``"tuned"``:
        half-way between two held-out scores, or 1 beyond the extreme ones if one prediction for all costs least.
    thresholds_ : ndarray of shape (n_folds,)
        The threshold of least cost on each fold alone, nan if errors on a class cost nothing in it; empty for
        ``"bayes"``.
    threshold_spread_ : float
        Standard deviation of `thresholds_`: how well the data determine the threshold. 0 for ``"bayes"``.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number and names of the features seen in `fit`, if the estimator has them.

    Notes
    -----
    Unlike here, `predict` of scikit-learn's `FixedThresholdClassifier` and `TunedThresholdClassifierCV` takes no costs.

    `sample_weight` goes to the estimator if its `fit` takes it, and to the calibration or the costs in any case. With
    metadata routing the estimator also gets what it requests of `fn_cost` and `fp_cost`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cssvm import CostThresholdClassifier
    >>> X, y = make_classification(1000, weights=[0.9], flip_y=0.1, random_state=0)
    >>> model = CostThresholdClassifier(LogisticRegression(), fn_cost=9.0).fit(X, y)
    >>> print(model.threshold_, model.predict(X[:4]))
    0.1 [0 0 0 0]
    >>> print(model.predict(X[:4], fn_cost=[10.0, 1000.0, 10.0, 1000.0], fp_cost=5.0))
    [0 1 0 1]
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
        """Fit the estimator and set the threshold; if this fails, the classifier stays as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples, in any form the estimator takes.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
            ``"tuned"`` only: cost of a false negative on each positive sample, and of a false positive on each negative
            sample; other entries are ignored. If None, the constructor's value is used.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Sample weights. If None, all are 1.
        groups : array-like of shape (n_samples,), default=None
            Samples that belong together, such as those of one customer, are held out together.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            X, y = indexable(X, y)
            given = align_to_samples(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight, groups=groups)
            groups = given.pop("groups")
            y = column_or_1d(y, warn=True)
            _, positive = self._read_labels(y)
            if sample_weight is not None:
                given["sample_weight"] = check_sample_weight(given["sample_weight"], len(positive))
                check_nonzero_weights(given["sample_weight"])
            given = {name: value for name, value in given.items() if value is not None}
            fit = self._fit_bayes if self.method == BAYES else self._fit_tuned
            fit(X, y, positive, given, groups)
            found = self.thresholds_[~np.isnan(self.thresholds_)]
            undetermined = np.nan if self.thresholds_.size else 0.0
            self.threshold_spread_ = float(np.std(found)) if found.size else undetermined
        return self

    def _fit_bayes(self, X: Any, y: NDArray[Any], positive: Mask, given: dict[str, Any], groups: Any) -> None:
        """Fit probabilities; costs given to `fit` must be requested by the estimator."""
        self._positive_class.require_pos_label(fn_cost=self.fn_cost, fp_cost=self.fp_cost)
        fn_cost, fp_cost = self._decision_costs(None, None, len(positive))
        metadata = self._metadata_for(ESTIMATOR, given)
        unused = sorted(given.keys() - {name.rpartition("__")[2] for name in metadata} - {"sample_weight"})
        if unused:
            raise ValueError(
                f"{unused[0]} given to fit does not enter the predictions of {type(self).__name__} with "
                f'method="bayes". Pass it to predict: predict(X, {unused[0]}=...), or use method="tuned".'
            )
        weight = given.get("sample_weight")
        self.estimator_, _ = self._fit_probabilities(
            X, y, self._positive_class, positive, metadata, sample_weight=weight, groups=groups
        )
        self._response = PROBABILITIES
        self.threshold_, self.thresholds_ = float(fp_cost / (fn_cost + fp_cost)), np.empty(0)

    def _fit_tuned(self, X: Any, y: NDArray[Any], positive: Mask, given: dict[str, Any], groups: Any) -> None:
        """Tune the threshold on pooled held-out scores by the costs given to `fit`, then fit the estimator."""
        costs = {name: resolve_cost(self, name, given.get(name)) for name in ("fn_cost", "fp_cost")}
        samples = Samples.from_mask(self._positive_class, positive, **costs, sample_weight=given.get("sample_weight"))
        samples.check_totals()
        folds = make_splits(self.cv, X, y, positive=positive, weights=samples.weights, groups=groups)
        for fold in folds:
            part = f"the training samples of each fold of cv={self.cv!r}"
            check_both_classes(positive[fold.train], part, "Use fewer or stratified folds.")
        metadata = self._metadata_for(ESTIMATOR, given)
        self._response = PROBABILITIES if hasattr(self.estimator, PROBABILITIES) else "decision_function"
        held_out = self._out_of_fold(X, y, folds, self._response, metadata)
        numbers, responses = held_out.pooled()
        pooled = samples.take(numbers)
        check_both_classes(pooled.positive, f"the held-out samples of cv={self.cv!r}", "Use fewer folds.")
        self.estimator_ = clone(self.estimator).fit(X, y, **self._routed(metadata))
        self.threshold_ = self._least_cost_threshold(pooled, responses)
        self.thresholds_ = np.array(
            [self._least_cost_threshold(samples.take(fold), own) for fold, own in zip(*held_out, strict=True)]
        )

    def _least_cost_threshold(self, samples: Samples, response: NDArray[Any]) -> float:
        """The threshold of least cost on these samples, finite also at the ends; nan if one class has no cost."""
        if not has_both_classes(samples.positive[samples.weighted_costs > 0]):
            return np.nan
        scores = self._positive_class.to_positive_sign(response)
        # One prediction for all samples is meant for new ones too, whose scores may lie beyond those seen.
        return threshold_of_least_cost(
            scores, samples.positive, samples.weighted_costs, prefer="highest", beyond=ONE_MARGIN
        )

    @property
    def decides_by_costs(self) -> bool:
        """Whether `predict` takes the costs of the samples."""
        return self.method == BAYES

    @property
    def trains_by_costs(self) -> bool:
        """Whether `fit` takes the costs of the samples."""
        return self.method != BAYES

    def _check_parameters(self) -> None:
        """Raise if the method, the calibration or the estimator is invalid."""
        check_parameters(self, {"method": option("method", METHODS)})
        self._check_calibration()
        self._check_estimator()
        if self.method == BAYES and not self._will_have_probabilities:
            raise ValueError(
                f'estimator of {type(self).__name__} must have predict_proba with method="bayes" and calibration=None; '
                f'got {type(self.estimator).__name__}. Pass calibration="sigmoid", or method="tuned".'
            )

    def predict(self, X: Any, *, fn_cost: Any = None, fp_cost: Any = None) -> NDArray[Any]:
        """Predict the class of least expected cost for each sample, ``classes_[0]`` if both cost the same.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples to classify.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
            ``"bayes"`` only: the costs of each sample. If None, the constructor's value is used.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        gain = self._gain(X, fn_cost, fp_cost)
        return self._positive_class.labels(self._positive_class.predicted_positive(gain))

    def decision_function(self, X: Any) -> Vector:
        """Score of the positive class minus `threshold_`, (n_samples,), turned to be positive for ``classes_[1]``."""
        gain = self._gain(X, None, None)  # raises unless fitted
        return self._positive_class.to_classes_sign(gain)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities (n_samples, 2) of the two classes, those of `estimator_`; the costs do not enter."""
        return super().predict_proba(X)

    def _gain(self, X: Any, fn_cost: Any, fp_cost: Any) -> Vector:
        """Score of the positive class minus the threshold, which differs by sample if the costs do."""
        check_is_fitted(self)
        score = self._positive_class.to_positive_sign(finite_response(self.estimator_, self._response, X))
        given = align_to_samples(X, fn_cost=fn_cost, fp_cost=fp_cost)
        if self.method == BAYES:
            fn, fp = self._decision_costs(given["fn_cost"], given["fp_cost"], len(score))
            self._positive_class.require_pos_label(fn_cost=fn, fp_cost=fp)
            return relative_saving(score, fn, fp)
        if not (fn_cost is None and fp_cost is None):
            raise ValueError(
                f'predict of {type(self).__name__} takes no costs with method="tuned", whose threshold holds for all '
                'samples and was set in fit. Use method="bayes" for costs of new samples.'
            )
        return score - self.threshold_

    def _decision_costs(self, fn_cost: Any, fp_cost: Any, n_samples: int) -> tuple[Vector, Vector]:
        """Costs of samples of unknown label: the given ones, or the constructor's, which are numbers."""
        own = self._cost_of_new_samples
        return check_decision_costs(own("fn_cost", fn_cost), own("fp_cost", fp_cost), n_samples)
