"""Decisions by probability times amount, where the amount of a new sample is not known and is estimated.

    predict positive if p(x) amount(x) > (1 - p(x)) fp_cost,    amount(x) = E[fn_cost | x, positive class]

The amount is a regression on the positive samples, which are not a random sample: who is likely to give may also give
more, or less. The correction of Zadrozny and Elkan (2001), after Heckman (1979), is amount(x) = r(x, p(x)), where p(x)
is in training the probability by a model that has not seen the sample, and that is not close to 1 on all of them.
"""

from __future__ import annotations

import reprlib
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from .._core.alignment import align_to_samples, is_pandas
from .._core.classifier import unchanged_on_failure
from .._core.decision import check_decision_costs, expected_saving
from .._core.positive_class import finite_response
from .._core.samples import Samples
from .._core.sklearn_compat import safe_indexing
from .._core.types import Vector
from .._core.validation import sample_values, take_samples
from .base import CALIBRATIONS, ESTIMATOR, PROBABILITIES, CalibratingClassifier, WrappedClassifier

AMOUNTS = "amount_estimator"
PROBABILITY_FEATURE = "positive_probability"


class Amounts(NamedTuple):
    """A fitted regressor of amounts; corrected : whether it has the probability among its features."""

    regressor: Any
    corrected: bool

    def estimate(self, X: Any, probability: Vector) -> Vector:
        """The estimated amount of each sample, (n,) float64, at least 0."""
        X = with_probability(X, probability) if self.corrected else X
        amounts = np.asarray(self.regressor.predict(X), dtype=np.float64).reshape(len(probability))
        if not np.isfinite(amounts).all():
            raise ValueError(
                f"predict of {type(self.regressor).__name__}, the {AMOUNTS}, must return finite amounts; got "
                f"{amounts[~np.isfinite(amounts)][0]}. Scale the features, or use another regressor."
            )
        return np.maximum(amounts, 0.0)  # a straight line may go below


class EstimatingClassifier(WrappedClassifier):
    """A wrapper with a regressor, `amount_estimator`."""

    _wrapped = ("estimator", AMOUNTS)
    amount_estimator: Any

    def _check_amount_estimator(self) -> None:
        """Raise if it is not a regressor, or the classifier takes a kernel matrix, which has no further features."""
        name = type(self).__name__
        given = self.amount_estimator
        if isinstance(given, type) or not hasattr(given, "fit") or not is_regressor(given):
            raise ValueError(
                f"{AMOUNTS} of {name} must be a regressor; got {AMOUNTS}={reprlib.repr(given)}. Pass "
                "for example LinearRegression()."
            )
        if get_tags(self.estimator).input_tags.pairwise:
            raise ValueError(
                f"estimator of {name} must take features, as the {AMOUNTS} does, not a kernel matrix; got "
                f"{reprlib.repr(self.estimator)}. Use its kernel by name."
            )

    def _fit_amounts(self, X: Any, samples: Samples, probability: Vector | None, metadata: dict[str, Any]) -> Amounts:
        """Fit the regressor with its metadata on the positive samples; no `probability` (n,) means no correction."""
        numbers = np.flatnonzero(samples.positive & (samples.weights > 0))
        if probability is not None:
            numbers = numbers[np.isfinite(probability[numbers])]
        if not len(numbers):
            raise ValueError(
                f"{AMOUNTS} of {type(self).__name__} needs positive samples, with positive weight, that a fold holds "
                "out; got none. Use stratified folds, or selection_correction=False."
            )
        own = {name: take_samples(value, numbers) for name, value in self._routed(metadata, AMOUNTS).items()}
        X_own = safe_indexing(X, numbers)
        if probability is not None:
            X_own = with_probability(X_own, probability[numbers])
        return Amounts(clone(self.amount_estimator).fit(X_own, samples.cost[numbers], **own), probability is not None)


def with_probability(X: Any, probability: Vector) -> Any:
    """X with the probability of the positive class as last feature, in a frame a column "positive_probability"."""
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_array(probability[:, np.newaxis])], format="csr")
    names = list(getattr(X, "columns", ()))
    if PROBABILITY_FEATURE in names:
        raise ValueError(
            f"X must have no column {PROBABILITY_FEATURE!r}, which is added for the {AMOUNTS}; got one. Rename it."
        )
    if names and all(isinstance(name, str) for name in names):
        if is_pandas(X):
            return X.assign(**{PROBABILITY_FEATURE: probability})
        if hasattr(X, "with_columns"):
            import polars as pl  # the frame is one of it

            return X.with_columns(pl.Series(PROBABILITY_FEATURE, probability))
    return np.column_stack([np.asarray(X), probability])


class DirectCostClassifier(EstimatingClassifier, CalibratingClassifier):
    """Predictions of least expected cost where the cost of a false negative is estimated, like the probability.

    The direct cost-sensitive decision of Zadrozny and Elkan [1]_: with p(x) the calibrated probability of the positive
    class, and amount(x) the cost of a false negative by a regressor fitted on the positive samples, it predicts that
    class if::

        p(x_i) amount(x_i) > (1 - p(x_i)) fp_cost_i.

    A known amount replaces the estimate: ``predict(X, fn_cost=amount)``. Where all are known, use
    `CostThresholdClassifier`, which needs no regressor.

    Parameters
    ----------
    estimator : estimator instance
        A binary classifier with `predict_proba` or `decision_function`, which is cloned.
    amount_estimator : estimator instance
        A regressor, which is cloned. Amounts that it predicts below 0 count as 0.
    fn_cost : float, default=1.0
        Cost of a false negative, if `fit` is given no amounts.
    fp_cost : float, default=1.0
        Cost of a false positive. Costs per sample go to `predict`.
    selection_correction : bool, default=True
        Whether the regressor gets the probability of the positive class as a further feature, as the positive samples
        are not a random sample [1]_ [2]_: the last one, "positive_probability" in a data frame, which a column
        transformer must pass through.
    calibration : {"sigmoid", "isotonic"} or None, default="sigmoid"
        How the estimator is calibrated, by `sklearn.calibration.CalibratedClassifierCV`. If None, its own
        `predict_proba` is used.
    cv : int, splitter or iterable of splits, default=None
        Folds for the calibration and the correction: an integer means stratified folds of shuffled samples, None five
        of them. For time-ordered data, pass ``TimeSeriesSplit``.
    pos_label : label, default=None
        The positive class, which `fn_cost` refers to. If None, ``classes_[1]``. Required if the labels are strings and
        ``fn_cost != fp_cost``.
    n_jobs : int, default=None
        Folds fitted at a time, as in scikit-learn.

    Attributes
    ----------
    estimator_ : estimator
        The classifier fitted on all samples; with calibration the fitted `CalibratedClassifierCV`.
    amount_estimator_ : estimator
        The regressor, fitted on the positive samples.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number and names of the features seen in `fit`, if the estimator has them.

    Notes
    -----
    `evaluate` and the scorers never pass amounts to `predict`: if only positive samples have one, it reveals the class.
    `sample_weight` goes to both estimators if their `fit` takes it, and to the calibration in any case.

    References
    ----------
    .. [1] B. Zadrozny, C. Elkan: Learning and making decisions when costs and probabilities are both unknown. KDD 2001.
    .. [2] J. Heckman: Sample selection bias as a specification error. Econometrica 47 (1979).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression, LogisticRegression
    >>> from cssvm import DirectCostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> gives = rng.random(2000) < 1 / (1 + np.exp(3 - X[:, 0]))
    >>> gift = np.where(gives, 15 + 5 * X[:, 1] + rng.normal(size=2000), np.nan)
    >>> model = DirectCostClassifier(LogisticRegression(), LinearRegression(), fp_cost=0.68)
    >>> model.fit(X, gives, fn_cost=gift - 0.68).predict([[0.0, 0.0], [-1.0, -1.0], [-1.0, 2.0]])
    array([ True, False,  True])
    >>> model.predict_amount([[0.0, 0.0], [-1.0, -1.0], [-1.0, 2.0]]).round()
    array([14.,  9., 24.])
    >>> model.predict([[0.0, 0.0], [-1.0, -1.0], [-1.0, 2.0]], fn_cost=[np.nan, 100.0, np.nan])
    array([ True,  True,  True])
    """

    def __init__(
        self,
        estimator: Any,
        amount_estimator: Any,
        *,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        selection_correction: bool = True,
        calibration: str | None = CALIBRATIONS[0],
        cv: Any = None,
        pos_label: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.amount_estimator = amount_estimator
        self.fn_cost = fn_cost
        self.fp_cost = fp_cost
        self.selection_correction = selection_correction
        self.calibration = calibration
        self.cv = cv
        self.pos_label = pos_label
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any, *, fn_cost: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> DirectCostClassifier:
        """Fit both estimators; if this fails, the classifier stays as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples, in any form that both estimators take.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost : float or array-like of shape (n_samples,), default=None
            The amounts: the cost of a false negative on each positive sample; other entries are ignored. If None, the
            constructor's value is used.
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
            X, samples, given = self._read_fit(X, y, fn_cost=fn_cost, sample_weight=sample_weight, groups=groups)
            groups = given.pop("groups", None)
            self.estimator_, held_out = self._fit_probabilities(
                X,
                samples.labels,
                samples.positive_class,
                samples.positive,
                self._metadata_for(ESTIMATOR, given),
                sample_weight=given.get("sample_weight"),
                groups=groups,
                held_out=self.selection_correction,
            )
            self._amounts = self._fit_amounts(X, samples, held_out, self._metadata_for(AMOUNTS, given))
            self.amount_estimator_ = self._amounts.regressor
        return self

    @property
    def decides_by_costs(self) -> tuple[str, ...]:
        """The costs of samples that count as known when deciding: not the amounts."""
        return ("fp_cost",)

    def _check_parameters(self) -> None:
        """Raise if the calibration or an estimator is invalid."""
        self._check_calibration()
        self._check_estimator()
        self._check_amount_estimator()
        self._cost_of_new_samples("fp_cost", None)
        if not self._will_have_probabilities:
            raise ValueError(
                f"estimator of {type(self).__name__} must have predict_proba with calibration=None; got "
                f'{type(self.estimator).__name__}. Pass calibration="sigmoid".'
            )

    def predict(self, X: Any, *, fn_cost: Any = None, fp_cost: Any = None) -> NDArray[Any]:
        """Predict the class of least expected cost for each sample, ``classes_[0]`` if both cost the same.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples to classify.
        fn_cost : float or array-like of shape (n_samples,), default=None
            The amounts that are known; those that are nan, or all if None, are estimated.
        fp_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false positive on each sample. If None, the constructor's value is used.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        saving = self._saving(X, **align_to_samples(X, fn_cost=fn_cost, fp_cost=fp_cost))
        return self._positive_class.labels(self._positive_class.predicted_positive(saving))

    def decision_function(self, X: Any) -> Vector:
        """The expected saving p amount - (1 - p) fp_cost, (n_samples,), turned to be positive for ``classes_[1]``."""
        saving = self._saving(X, None, None)  # raises unless fitted
        return self._positive_class.to_classes_sign(saving)

    def predict_amount(self, X: Any) -> Vector:
        """Estimate the cost of a false negative on each sample, (n_samples,), at least 0, if it is positive."""
        check_is_fitted(self)
        return self._amounts.estimate(X, self._probability(X))

    def _probability(self, X: Any) -> Vector:
        """Probability of the positive class, (n,)."""
        check_is_fitted(self)
        return self._positive_class.to_positive_sign(finite_response(self.estimator_, PROBABILITIES, X))

    def _saving(self, X: Any, fn_cost: Any, fp_cost: Any) -> Vector:
        """Expected saving of predicting each sample positive, by the known or else the estimated amounts."""
        probability = self._probability(X)
        n = len(probability)
        fn = np.broadcast_to(sample_values("fn_cost", np.nan if fn_cost is None else fn_cost, n), n)
        unknown = np.isnan(fn)
        # Only what was given is checked: an estimate of 0 next to an fp_cost of 0 is not the user's mistake.
        fn, fp = check_decision_costs(np.where(unknown, 1.0, fn), self._cost_of_new_samples("fp_cost", fp_cost), n)
        if unknown.any():
            fn = np.where(unknown, self._amounts.estimate(X, probability), fn)
        if fn_cost is not None or fp_cost is not None:
            self._positive_class.require_pos_label(fn_cost=fn, fp_cost=fp)
        free = (fn == 0) & (fp == 0)  # not acted on, as in `relative_saving`
        return np.where(free, -np.finfo(np.float64).tiny, expected_saving(probability, fn, fp))
