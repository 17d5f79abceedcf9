"""Decisions by probability times amount, where the amount of a new row is not known and is estimated (`amounts.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._core.classifier import unchanged_on_failure
from .._core.decision import check_decision_costs, expected_saving
from .._core.positive_class import finite_response
from .._core.samples import Samples
from .._core.types import Vector
from .._core.validation import align_to_samples, sample_values
from .amounts import AMOUNTS, EstimatingClassifier
from .probabilities import CALIBRATIONS, PROBABILITIES, CalibratingClassifier
from .routing import ESTIMATOR


class DirectCostClassifier(EstimatingClassifier, CalibratingClassifier):
    """Decisions of least expected cost where what a miss costs has to be estimated as well as the probability.

    The direct cost-sensitive decision of Zadrozny and Elkan [1]_: with p(x) the calibrated probability of the target,
    and amount(x) what a regressor, trained on rows of the target, expects a miss to cost, it decides for that if::

        p(x_i) amount(x_i) >= (1 - p(x_i)) fp_cost_i.

    An amount that is known when deciding takes the place of the estimate: ``predict(X, fn_cost=amount)``. Where all of
    them are known, `CostThresholdClassifier` makes the same decisions and needs no regressor.

    Parameters
    ----------
    estimator : estimator instance
        The binary classifier, with `predict_proba` or `decision_function`. It is cloned, not changed.
    amount_estimator : estimator instance
        The regressor of the amounts, trained on the rows of the target. It is cloned, not changed. What it predicts
        below 0 counts as 0.
    fn_cost : float, default=1.0
        What missing any row of the target costs, if `fit` is given no amounts.
    fp_cost : float, default=1.0
        Cost of a false positive: a false alarm. One value for each row goes to `predict`.
    selection_correction : bool, default=True
        Whether the regressor gets the probability of the target as a further feature, the last one, named
        "target_probability" in a data frame: rows of the target are no random sample of all rows [1]_ [2]_. In training
        it comes from models that have not seen the row. A column transformer must let it pass.
    calibration : {"sigmoid", "isotonic"} or None, default="sigmoid"
        How the estimator is calibrated, by `sklearn.calibration.CalibratedClassifierCV`. None takes the estimator's
        own `predict_proba`.
    cv : int, splitter or iterable of splits, default=None
        Folds for the calibration and the correction; an integer means stratified folds of shuffled rows, None five of
        them. Rows in time want ``TimeSeriesSplit``.
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
    amount_estimator_ : estimator
        The regressor, trained on the rows of the target.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`, where the estimator tells.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has names and the estimator tells.

    Notes
    -----
    Amounts count as unknown when deciding: `evaluate` and the scorers hand those of the rows to `fit` and to the sum,
    never to `predict`, to which they would give the answer away where only rows of the target have an amount.

    `sample_weight` goes to both learners if their `fit` takes it, and to the calibration in any case.

    References
    ----------
    .. [1] B. Zadrozny, C. Elkan: Learning and making decisions when costs and probabilities are both unknown. KDD 2001.
    .. [2] J. Heckman: Samples selection bias as a specification error. Econometrica 47 (1979).

    Examples
    --------
    Letters cost 0.68; who gives, and how much, is known of an earlier mailing:

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

    An amount that is known, for the second row only:

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
        """Train both learners; a failed fit leaves this classifier as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, in any form that both learners take.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost : float or array-like of shape (n_samples,), default=None
            The amounts: what missing each row of the target costs; other entries are ignored. None: the constructor's.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Sample weights. If None, all weights are 1.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as those of one customer, and are held out together.

        Returns
        -------
        DirectCostClassifier
            The classifier itself.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            X, y = indexable(X, y)
            given = align_to_samples(X, y, fn_cost=fn_cost, sample_weight=sample_weight, groups=groups)
            sample = self._read_sample(
                column_or_1d(y, warn=True),
                fn_cost=given["fn_cost"],
                fp_cost=None,
                sample_weight=given["sample_weight"],
            )
            self._learn(X, sample, given)
        return self

    def _learn(self, X: Any, sample: Samples, given: dict[str, Any]) -> None:
        """Train the classifier, then the regressor with its held-out probabilities."""
        groups = given.pop("groups")
        given = {name: value for name, value in given.items() if value is not None}
        weight = {"sample_weight": sample.weights} if "sample_weight" in given else {}
        fitted = self._fit_probabilities(
            X,
            sample.labels,
            sample.positive_class,
            sample.positive,
            self._metadata_for(ESTIMATOR, given | weight),
            groups=groups,
            held_out=self.selection_correction,
            **weight,
        )
        self._amounts = self._learn_amounts(
            X,
            sample.cost,
            np.flatnonzero(sample.positive & (sample.weights > 0)),
            fitted.held_out,
            self._metadata_for(AMOUNTS, given | weight),
        )
        self.estimator_, self.amount_estimator_ = fitted.estimator, self._amounts.regressor

    @property
    def decides_by_costs(self) -> tuple[str, ...]:
        """Of the costs of rows, those that count as known when deciding: not the amounts."""
        return ("fp_cost",)

    def _check_parameters(self) -> None:
        """Refuse a calibration or learners that cannot be used."""
        self._check_calibration()
        self._check_estimator()
        self._check_amount_estimator()
        self._cost_of_new_rows("fp_cost", None)
        if not self._will_have_probabilities:
            raise ValueError(
                f"estimator of {type(self).__name__} must have predict_proba with calibration=None; got "
                f'{type(self.estimator).__name__}. Pass calibration="sigmoid".'
            )

    def predict(self, X: Any, *, fn_cost: Any = None, fp_cost: Any = None) -> NDArray[Any]:
        """The class of each row of X whose expected cost is least; ``classes_[0]`` where both cost the same.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to classify.
        fn_cost : float or array-like of shape (n_samples,), default=None
            The amounts that are known, nan where one is not: there, and for None everywhere, it is estimated.
        fp_cost : float or array-like of shape (n_samples,), default=None
            What each row costs if it is a false alarm. None: the constructor's.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        saving = self._saving(X, **align_to_samples(X, fn_cost=fn_cost, fp_cost=fp_cost))
        return self._positive_class.labels(self._positive_class.predicted_positive(saving))

    def decision_function(self, X: Any) -> Vector:
        """What deciding for the target is expected to save, p amount - (1 - p) fp_cost, in the unit of the costs.

        Its sign is turned so that positive means ``classes_[1]``. The amounts are estimated.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        saving = self._saving(X, None, None)
        return self._positive_class.to_classes_sign(saving)

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

    def predict_amount(self, X: Any) -> Vector:
        """What a miss of each row is estimated to cost, if it is of the target class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to estimate the amounts of.

        Returns
        -------
        ndarray of shape (n_samples,)
            At least 0.
        """
        check_is_fitted(self)
        return self._amounts.of(X, self._probability(X))

    def _probability(self, X: Any) -> Vector:
        """Probability of the target, (n,)."""
        check_is_fitted(self)
        return self._positive_class.to_positive_sign(finite_response(self.estimator_, PROBABILITIES, X))

    def _saving(self, X: Any, fn_cost: Any, fp_cost: Any) -> Vector:
        """How much less acting on each row is expected to cost than leaving it, with what is known of the amounts."""
        probability = self._probability(X)
        n_rows = len(probability)
        fn = np.broadcast_to(sample_values("fn_cost", np.nan if fn_cost is None else fn_cost, n_rows), n_rows)
        unknown = np.isnan(fn)
        # What was given is checked; an estimate of 0 beside an fp_cost of 0 is no mistake of the user's.
        fn, fp = check_decision_costs(np.where(unknown, 1.0, fn), self._cost_of_new_rows("fp_cost", fp_cost), n_rows)
        if unknown.any():
            fn = np.where(unknown, self._amounts.of(X, probability), fn)
        if fn_cost is not None or fp_cost is not None:
            self._positive_class.require_pos_label(fn_cost=fn, fp_cost=fp)
        free = (fn == 0) & (fp == 0)  # not acted on, as in `relative_saving`
        return np.where(free, -np.finfo(np.float64).tiny, expected_saving(probability, fn, fp))
