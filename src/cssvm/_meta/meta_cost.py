"""MetaCost: training samples get the label of least expected cost, and a single classifier is fitted on those."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import check_is_fitted

from .._core.classifier import unchanged_on_failure
from .._core.decision import check_both_costs, expected_saving
from .._core.folds import Fold
from .._core.positive_class import DEFAULT_THRESHOLDS, find_response_method, finite_response
from .._core.samples import Samples, has_both_classes
from .._core.types import Mask, RowNumbers, Vector
from .base import ESTIMATOR, PROBABILITIES
from .direct_cost import AMOUNTS, EstimatingClassifier
from .ensembles import SOFT, WITH, EnsembleClassifier, draw_samples, draw_size, draw_weights


class MetaCostClassifier(EnsembleClassifier, EstimatingClassifier):
    """A single classifier fitted on labels of least expected cost under bagged probabilities.

    MetaCost, of Domingos [1]_, for costs of the classes and of each sample. With p(x) the mean probability of the
    positive class over models fitted on bootstrap resamples, sample i is labelled positive if::

        p(x_i) fn_cost_i >= (1 - p(x_i)) fp_cost_i

    and the estimator is fitted on all samples with these labels. New samples need no costs.

    Parameters
    ----------
    estimator : estimator instance
        A binary classifier with `predict_proba` or `decision_function`, which is cloned.
    amount_estimator : estimator instance or None, default=None
        A regressor that estimates `fn_cost` of all samples from the positive ones, for amounts that are not known for
        negative samples, as in [2]_. It gets the probability of the positive class as a further feature, as in
        `DirectCostClassifier`.
    fn_cost, fp_cost : float, default=1.0
        Costs of a false negative and of a false positive. Costs per sample go to `fit`.
    n_estimators : int, default=50
        Number of resamples.
    max_samples : int or float, default=1.0
        Number of samples drawn with replacement, or their share of all samples.
    voting : {"soft", "hard"}, default="soft"
        ``"soft"`` averages the probabilities of the models, ``"hard"`` counts their votes.
    out_of_bag : bool, default=True
        Whether the probability of a sample comes only from models whose resample does not hold it. With False, an
        estimator that fits its samples exactly changes no label.
    pos_label : label, default=None
        The positive class, which `fn_cost` refers to. If None, ``classes_[1]``. Required if the labels are strings and
        ``fn_cost != fp_cost``.
    n_jobs : int, default=None
        Estimators fitted at a time, as in scikit-learn. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws and of the estimators.

    Attributes
    ----------
    estimator_ : estimator
        The estimator fitted on the new labels; a `DummyClassifier` if these are all the same.
    positive_probability_ : ndarray of shape (n_samples,)
        Probability of the positive class of each training sample.
    relabelled_ : ndarray of shape (n_samples,)
        The new labels of the training samples.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number and names of the features seen in `fit`, if the estimator has them.

    Notes
    -----
    There is no `predict_proba`: probabilities of the estimator are those of the new labels. Samples on which neither
    prediction costs anything are left out of the last training. A sample that every resample holds has its probability
    from all models. `sample_weight` goes to the estimator if its `fit` takes it, else into the draws.

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
        """Choose labels and fit the estimator on them; if this fails, the classifier stays as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples, in any form the estimator takes.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
            Costs of a false negative and of a false positive on each sample, whichever class it is of; with an
            `amount_estimator`, fn_cost is read on positive samples only. If None, the constructor's value is used.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Sample weights. If None, all are 1.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            X, samples, given = self._read_fit(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
            self._fit_relabelled(X, samples, given)
        return self

    def _fit_relabelled(self, X: Any, sample: Samples, given: dict[str, Any]) -> None:
        """Choose labels by bagged probabilities, and fit the estimator on them."""
        fn_cost, fp_cost = self._costs_of_samples(sample)
        metadata = self._metadata_for(ESTIMATOR, given)
        *seeds, last_seed = self._seeds(1)
        probability = self._bagged_probability(X, sample, seeds, metadata)
        if self.amount_estimator is not None:
            own = self._metadata_for(AMOUNTS, given)
            fn_cost = self._fit_amounts(X, sample, probability, own).estimate(X, probability)
        relabelled = sample.positive_class.predicted_positive(expected_saving(probability, fn_cost, fp_cost))
        matter = np.flatnonzero(np.broadcast_to(fn_cost + fp_cost > 0, len(sample)) & (sample.weights > 0))
        self.positive_probability_, self.relabelled_ = probability, sample.positive_class.labels(relabelled)
        self.estimator_ = self._retrained(X, sample, relabelled, matter, last_seed, metadata)
        self._fitted_on, self._n_samples = matter, len(sample)

    def _costs_of_samples(self, sample: Samples) -> tuple[Any, Any]:
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
                    f"{name} must be the cost of each sample whichever class it is of; got 0 on all samples of "
                    f"the class that has no {name}, which reveals the labels. Pass the cost of such an error"
                    + (f", or estimate it with {AMOUNTS}=." if name == "fn_cost" else ".")
                )
        return fn_cost, fp_cost

    def _bagged_probability(self, X: Any, sample: Samples, seeds: list[int], metadata: dict[str, Any]) -> Vector:
        """Probability of the positive class, (n,), averaged over models of resamples."""
        weighted_costs = draw_weights(sample.weights, metadata)
        size = draw_size(self.max_samples, int(np.count_nonzero(weighted_costs)), owner=type(self).__name__)
        draws = draw_samples(WITH, weighted_costs, sample.positive, seeds, size=size, owner=type(self).__name__)
        folds = [Fold(*parts) for parts in zip(draws, self._held_out(draws, len(sample)), strict=True)]
        found = self._out_of_fold(X, sample.labels, folds, self._method, metadata, seeds)
        return found._replace(values=[self._vote(response) for response in found.values]).mean(len(sample))

    def _held_out(self, draws: list[RowNumbers], n_samples: int) -> list[RowNumbers]:
        """The samples that the model of each resample predicts."""
        if not self.out_of_bag:
            return [np.arange(n_samples)] * len(draws)
        unseen = np.ones((len(draws), n_samples), dtype=bool)
        for own, draw in zip(unseen, draws, strict=True):
            own[draw] = False
        always_seen = ~unseen.any(axis=0)
        if always_seen.any():
            warnings.warn(
                f"{np.count_nonzero(always_seen)} samples are in all {len(draws)} resamples of {type(self).__name__} "
                "and get their probability from models that have seen them. Use a larger n_estimators.",
                stacklevel=5,
            )
        return [np.flatnonzero(own | always_seen) for own in unseen]

    def _retrained(
        self, X: Any, sample: Samples, relabelled: Mask, numbers: RowNumbers, seed: int, metadata: dict[str, Any]
    ) -> Any:
        """The estimator fitted on the new labels of these samples, or a constant if these are all the same."""
        if has_both_classes(relabelled[numbers]):
            labels = sample.positive_class.labels(relabelled)
            return self._fit_members(X, labels, [numbers], [seed], metadata)[0]
        (label,) = self.relabelled_[numbers[:1]].tolist()
        warnings.warn(
            f"{type(self).__name__} predicts {label!r} for every sample: this is expected to cost less on every "
            "training sample.",
            stacklevel=4,
        )
        return DummyClassifier(strategy="constant", constant=label).fit(X, sample.labels)

    def _check_parameters(self) -> None:
        """Raise if a parameter or an estimator is invalid."""
        self._check_members()
        name = type(self).__name__
        draw_size(self.max_samples, 1, owner=name)
        if self.amount_estimator is not None:
            self._check_amount_estimator()
        if self.voting == SOFT and not hasattr(self.estimator, PROBABILITIES):
            raise ValueError(
                f'estimator of {name} must have predict_proba with voting="{SOFT}"; got '
                f'{type(self.estimator).__name__}. Pass voting="hard", or CalibratedClassifierCV(estimator).'
            )

    def decision_function(self, X: Any) -> Vector:
        """The score of `estimator_`, or its probability less 1/2, (n_samples,), positive for ``classes_[1]``."""
        check_is_fitted(self)
        method = find_response_method(self.estimator_)
        response = finite_response(self.estimator_, method, self._columns(X, self._fitted_on))
        score = self._positive_class.to_positive_sign(response)
        return self._positive_class.to_classes_sign(score - DEFAULT_THRESHOLDS[method])
