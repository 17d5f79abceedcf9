"""MetaCost: training samples get the label of least expected cost, and a single classifier is fitted on those."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._core.classifier import unchanged_on_failure
from .._core.decision import check_both_costs, expected_saving
from .._core.folds import Fold
from .._core.positive_class import DEFAULT_THRESHOLDS, find_response_method, finite_response
from .._core.samples import Samples, has_both_classes
from .._core.types import Mask, RowNumbers, Vector
from .._core.validation import align_to_samples
from .base import ESTIMATOR, PROBABILITIES
from .direct_cost import AMOUNTS, EstimatingClassifier
from .ensembles import SOFT, WITH, EnsembleClassifier, draw_rows, draw_size, draw_weights


class MetaCostClassifier(EnsembleClassifier, EstimatingClassifier):
    """A single classifier fitted on labels of least expected cost under bagged probabilities.

    MetaCost, of Domingos [1]_, for costs of the classes and of each sample. With p(x) the mean probability of the
    positive class over models fitted on resamples of the samples, sample i is labelled positive if::

        p(x_i) fn_cost_i >= (1 - p(x_i)) fp_cost_i

    and negative if not. Then the estimator is fitted on all samples with these labels; the models of the resamples are
    not kept. The result is a single model that decides by x alone: new samples need no costs.

    Parameters
    ----------
    estimator : estimator instance
        The binary classifier, with `predict_proba` or `decision_function`; L in [1]_. It is cloned, not changed.
    amount_estimator : estimator instance or None, default=None
        A regressor of `fn_cost`, fitted on the samples of the positive class, whose estimates take the place of
        `fn_cost` on all samples when labels are chosen: for amounts that are not known for samples of the negative
        class, as in [2]_. It gets the probability of the positive class as a further feature, as in
        `DirectCostClassifier`. None: `fn_cost` is known.
    fn_cost : float, default=1.0
        Cost of a false negative: a positive sample predicted negative. One value per sample goes to `fit`.
    fp_cost : float, default=1.0
        Cost of a false positive: a negative sample predicted positive. One value per sample likewise.
    n_estimators : int, default=50
        Number of resamples, m in [1]_.
    max_samples : int or float, default=1.0
        Samples of a resample, n in [1]_, or their share of all samples. They are drawn with replacement.
    voting : {"soft", "hard"}, default="soft"
        ``"soft"`` averages the probabilities of the models, ``"hard"`` counts their votes; p in [1]_: true or false.
    out_of_bag : bool, default=True
        Whether the probability of a sample comes only from models whose resample does not hold it; q in [1]_ is the
        opposite. With False, an estimator that fits its samples exactly leaves all labels as they are.
    pos_label : label, default=None
        The positive class, which `fn_cost` refers to. If None, ``classes_[1]``. Required if the labels are strings and
        ``fn_cost != fp_cost``. It does not change the sign of `decision_function`, which is positive for
        ``classes_[1]``.
    n_jobs : int, default=None
        Estimators fitted at a time, as in scikit-learn. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws and of the estimators.

    Attributes
    ----------
    estimator_ : estimator
        The estimator fitted on the new labels; a `DummyClassifier` if these are all the same.
    positive_probability_ : ndarray of shape (n_samples,)
        Probability of the positive class, of each training row.
    relabelled_ : ndarray of shape (n_samples,)
        The new labels of the training samples.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`, if the estimator has it.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and the estimator keeps them.

    Notes
    -----
    There is no `predict_proba`: probabilities of the estimator are those of the new labels.

    A sample on which neither prediction costs anything is left out of the last training. A sample that every resample
    holds has its probability from all models. A resample with one class only is drawn again.

    `sample_weight` goes to the estimator if its `fit` takes it, else into the draws of the resamples.

    References
    ----------
    .. [1] P. Domingos: MetaCost: a general method for making classifiers cost-sensitive. KDD 1999.
    .. [2] B. Zadrozny, C. Elkan: Learning and making decisions when costs and probabilities are both unknown. KDD 2001.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from cssvm import MetaCostClassifier
    >>> from cssvm.metrics import cost_risk
    >>> X, y = make_classification(1000, weights=[0.8], flip_y=0.1, class_sep=0.5, random_state=0)
    >>> tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    >>> model = MetaCostClassifier(tree, fn_cost=10.0, random_state=0).fit(X[:500], y[:500])
    >>> print(f"{y[:500].mean():.2f} {model.relabelled_.mean():.2f}")
    0.23 0.56
    >>> blind = tree.fit(X[:500], y[:500]).predict(X[500:])
    >>> cost_risk(y[500:], model.predict(X[500:]), fn_cost=10.0) < cost_risk(y[500:], blind, fn_cost=10.0)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        amount_estimator: Any = None,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        n_estimators: int = 50,
        max_samples: Any = 1.0,
        voting: str = SOFT,
        out_of_bag: bool = True,
        pos_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.amount_estimator = amount_estimator
        self.fn_cost = fn_cost
        self.fp_cost = fp_cost
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.voting = voting
        self.out_of_bag = out_of_bag
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, *, fn_cost: Any = None, fp_cost: Any = None, sample_weight: Any = None
    ) -> MetaCostClassifier:
        """Choose labels and fit the estimator on them; a failed fit leaves this classifier unchanged.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples, in any form the estimator takes.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false negative on each sample, whichever class it is of; with an `amount_estimator` read on
            positive samples only. If None, the value passed to the constructor is used.
        fp_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false positive on each sample, whichever class it is of. If None, the value passed to the
            constructor is used.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Sample weights. If None, all weights are 1.

        Returns
        -------
        MetaCostClassifier
            The classifier itself.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            X, y = indexable(X, y)
            given = align_to_samples(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
            sample = self._read_sample(column_or_1d(y, warn=True), **given)
            given = {name: value for name, value in given.items() if value is not None}
            if sample_weight is not None:
                given["sample_weight"] = sample.weights
            self._fit_relabelled(X, sample, given)
        return self

    def _fit_relabelled(self, X: Any, sample: Samples, given: dict[str, Any]) -> None:
        """Choose labels by bagged probabilities, and fit the estimator on them."""
        fn_cost, fp_cost = self._costs_of_rows(sample)
        metadata = self._metadata_for(ESTIMATOR, given)
        *seeds, last_seed = self._seeds(1)
        probability = self._bagged_probability(X, sample, seeds, metadata)
        if self.amount_estimator is not None:
            rows = np.flatnonzero(sample.positive & (sample.weights > 0))
            own = self._metadata_for(AMOUNTS, given)
            fn_cost = self._fit_amounts(X, sample.cost, rows, probability, own).estimate(X, probability)
        relabelled = sample.positive_class.predicted_positive(expected_saving(probability, fn_cost, fp_cost))
        matter = np.flatnonzero(np.broadcast_to(fn_cost + fp_cost > 0, len(sample)) & (sample.weights > 0))
        self.positive_probability_, self.relabelled_ = probability, sample.positive_class.labels(relabelled)
        self.estimator_ = self._retrained(X, sample, relabelled, matter, last_seed, metadata)
        self._rows, self._n_samples = matter, len(sample)

    def _costs_of_rows(self, sample: Samples) -> tuple[Any, Any]:
        """fn_cost and fp_cost of all samples, numbers or (n,); fn_cost as 1 where it is to be estimated."""
        known = self.amount_estimator is None
        fn_cost, fp_cost = check_both_costs(
            sample.fn_cost if known else 1.0,
            sample.fp_cost,
            len(sample),
            reason="as each may get either label",
            fix=f", or estimate unknown amounts with {AMOUNTS}=" if known else "",
        )
        for name, cost, others in (("fn_cost", fn_cost, ~sample.positive), ("fp_cost", fp_cost, sample.positive)):
            if np.ndim(cost) and not cost[others].any():
                raise ValueError(
                    f"{name} must be what each sample costs whichever class it is of; got 0 on all samples of the "
                    f"class that has no {name}, which reveals the labels. Pass what such a sample would cost"
                    + (f", or estimate it with {AMOUNTS}=." if name == "fn_cost" else ".")
                )
        return fn_cost, fp_cost

    def _bagged_probability(self, X: Any, sample: Samples, seeds: list[int], metadata: dict[str, Any]) -> Vector:
        """Probability of the positive class, (n,), averaged over models of resamples."""
        weighted_costs = draw_weights(sample.weights, metadata)
        size = draw_size(self.max_samples, int(np.count_nonzero(weighted_costs)), whose=type(self).__name__)
        draws = draw_rows(WITH, weighted_costs, sample.positive, seeds, size=size, whose=type(self).__name__)
        folds = [Fold(rows, asked) for rows, asked in zip(draws, self._asked(draws, len(sample)), strict=True)]
        found = self._out_of_fold(X, sample.labels, folds, self._method, metadata, seeds)
        return found._replace(values=[self._vote(response) for response in found.values]).mean(len(sample))

    def _asked(self, draws: list[RowNumbers], n_rows: int) -> list[RowNumbers]:
        """The samples that the model of each resample is asked about."""
        if not self.out_of_bag:
            return [np.arange(n_rows)] * len(draws)
        unseen = np.ones((len(draws), n_rows), dtype=bool)
        for own, rows in zip(unseen, draws, strict=True):
            own[rows] = False
        always_seen = ~unseen.any(axis=0)
        if always_seen.any():
            warnings.warn(
                f"{np.count_nonzero(always_seen)} samples are in all {len(draws)} resamples of {type(self).__name__} "
                "and get their probability from models that have seen them. Use a larger n_estimators.",
                stacklevel=5,
            )
        return [np.flatnonzero(own | always_seen) for own in unseen]

    def _retrained(
        self, X: Any, sample: Samples, relabelled: Mask, rows: RowNumbers, seed: int, metadata: dict[str, Any]
    ) -> Any:
        """The estimator fitted on the new labels of these samples, or a constant if these are all the same."""
        if has_both_classes(relabelled[rows]):
            labels = sample.positive_class.labels(relabelled)
            return self._fit_members(X, labels, [rows], [seed], metadata)[0]
        (label,) = self.relabelled_[rows[:1]].tolist()
        warnings.warn(
            f"{type(self).__name__} predicts {label!r} for every sample: with these costs that is expected to cost "
            "less on all training samples.",
            stacklevel=4,
        )
        return DummyClassifier(strategy="constant", constant=label).fit(X, sample.labels)

    def _check_parameters(self) -> None:
        """Raise if a parameter or an estimator is invalid."""
        self._check_members()
        name = type(self).__name__
        draw_size(self.max_samples, 1, whose=name)
        if self.amount_estimator is not None:
            self._check_amount_estimator()
        if self.voting == SOFT and not hasattr(self.estimator, PROBABILITIES):
            raise ValueError(
                f'estimator of {name} must have predict_proba with voting="{SOFT}"; got '
                f'{type(self.estimator).__name__}. Pass voting="hard", or CalibratedClassifierCV(estimator).'
            )

    def decision_function(self, X: Any) -> Vector:
        """The score of `estimator_`, or its probability less 1/2, positive for ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples to score.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        method = find_response_method(self.estimator_)
        score = self._positive_class.to_positive_sign(
            finite_response(self.estimator_, method, self._columns(X, self._rows))
        )
        return self._positive_class.to_classes_sign(score - DEFAULT_THRESHOLDS[method])
