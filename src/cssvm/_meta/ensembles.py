"""Estimators fitted on draws of the samples, and costing, which averages them.

With weighted costs s_1, ..., s_n, at least 0, a draw has

    with_replacement       k samples: sample i with probability s_i / sum of s, each time
    without_replacement    k different samples, one after the other: i with probability s_i / sum of s over those left
    rejection              each sample at most once, kept with probability s_i / max of s

Only rejection gives independent samples of the distribution that is proportional to the weighted costs; the second
gives other shares, the first the same sample several times. Every draw has a seed of its own, so that results do not
depend on `n_jobs`. A draw of one class only is repeated, as few estimators can be fitted on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .._core.classifier import unchanged_on_failure
from .._core.positive_class import DEFAULT_THRESHOLDS, finite_response
from .._core.samples import Samples, has_both_classes
from .._core.sklearn_compat import LARGEST_SEED
from .._core.types import Mask, RowNumbers, Vector
from .._core.validation import CHECKS, check_parameters, is_integer, is_number, option
from .base import ESTIMATOR, PROBABILITIES, WrappedClassifier, takes_weights

SOFT, HARD = "soft", "hard"
VOTES = "predict"
MAJORITY = 0.5  # of the votes
HALF = 0.5  # of the samples

WITH, WITHOUT, REJECTION = "with_replacement", "without_replacement", "rejection"
SAMPLINGS = (REJECTION, WITH, WITHOUT)

ATTEMPTS = 100  # at a draw with both classes: less than one in a million draws fails if one in seven succeeds


def draw_samples(
    sampling: str, weighted_costs: Vector, positive: Mask, seeds: Iterable[int], *, size: int | None = None, owner: str
) -> list[RowNumbers]:
    """Sample numbers of a draw for each seed; size : k, not for rejection; whose : the name in errors."""
    chances = weighted_costs / weighted_costs.max() if sampling == REJECTION else weighted_costs / weighted_costs.sum()
    return [_draw_both_classes(sampling, chances, positive, seed, size, owner) for seed in seeds]


def _draw_both_classes(
    sampling: str, chances: Vector, positive: Mask, seed: int, size: int | None, owner: str
) -> RowNumbers:
    """The sorted sample numbers of the first draw of this seed that holds samples of both classes."""
    rng = np.random.default_rng(seed)
    for _ in range(ATTEMPTS):
        if sampling == REJECTION:  # a uniform number in [0, 1) is below a chance of 1, never below one of 0
            draw = np.flatnonzero(rng.random(len(chances)) < chances)
        else:
            draw = np.sort(rng.choice(len(chances), size, replace=sampling == WITH, p=chances))
        if has_both_classes(positive[draw]):
            return draw
    share = chances[positive].sum() / chances.sum()
    raise ValueError(
        f"draws of {owner} must hold samples of both classes; got {ATTEMPTS} draws of one class only. "
        f"Positive samples have {share:.2g} of the weighted costs, and a draw holds about "
        f"{chances.sum() if size is None else size:.3g} samples. Cap the largest costs or weights"
        + (f', or use sampling="{WITH}".' if sampling == REJECTION else ", or draw more samples.")
    )


def draw_size(max_samples: Any, n_samples: int, *, owner: str) -> int:
    """Samples of a draw: their number, or their share of all samples."""
    if is_integer(max_samples) and max_samples >= 1:
        return int(max_samples)
    if is_number(max_samples) and not is_integer(max_samples) and 0.0 < max_samples <= 1.0:
        return max(1, round(float(max_samples) * n_samples))
    raise ValueError(
        f"max_samples of {owner} must be a number of samples, at least 1, or a share of them, above 0 and at most 1.0; "
        f"got max_samples={max_samples!r}. Pass for example max_samples=0.5."
    )


class EnsembleClassifier(WrappedClassifier):
    """A wrapper that fits its estimator on several draws of the samples."""

    n_estimators: int
    voting: str
    random_state: Any
    _n_samples: int  # of the training samples, set in fit

    def _check_members(self) -> None:
        """Raise if the estimator, the number of members or the voting is invalid."""
        self._check_estimator()
        check_parameters(self, {"n_estimators": CHECKS["n_estimators"], "voting": option("voting", (SOFT, HARD))})

    def _seeds(self, n_more: int = 0) -> list[int]:
        """A seed for each member, and some more."""
        generator = check_random_state(self.random_state)
        return generator.randint(LARGEST_SEED, size=self.n_estimators + n_more).tolist()

    @property
    def _method(self) -> str:
        """The method of the members: `predict_proba`, or `decision_function` if they have none; or `predict`."""
        if self.voting == HARD:
            return VOTES
        return PROBABILITIES if hasattr(self.estimator, PROBABILITIES) else "decision_function"

    def _vote(self, response: NDArray[Any]) -> Vector:
        """A member's probability of the positive class, score for it, or vote of 0 or 1; (n,) float64."""
        if self._method == VOTES:
            return (response == self._positive_class.label).astype(np.float64)
        return self._positive_class.to_positive_sign(response)

    def _columns(self, X: Any, numbers: RowNumbers) -> Any:
        """X, or of a kernel matrix between new and all training samples the columns of some."""
        if not self._pairwise:
            return X
        if X.shape[1] != self._n_samples:
            raise ValueError(
                f"X must be the kernel matrix between new samples and the {self._n_samples} training samples of "
                f"{type(self).__name__}; got shape {X.shape}."
            )
        return X[:, numbers]

    @property
    def _pairwise(self) -> bool:
        return get_tags(self.estimator).input_tags.pairwise

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in `fit`."""
        return self._n_samples if self._pairwise else self._fitted_estimator.n_features_in_


def draw_weights(weights: Vector, metadata: dict[str, Any]) -> Vector:
    """Weights of the draws: 0 leaves a sample out; the rest counts unless the estimator takes weights."""
    return (weights > 0).astype(np.float64) if takes_weights(metadata) else weights


def respond(member: Any, method: str, X: Any) -> NDArray[Any]:
    """The labels, probabilities or scores that a member gives to samples; numbers are finite."""
    return np.asarray(member.predict(X)) if method == VOTES else finite_response(member, method, X)


class CostProportionateClassifier(EnsembleClassifier):
    """Estimators fitted on samples that are drawn with probability proportional to the cost of an error on them.

    Costing, of Zadrozny, Langford and Abe [1]_: if (x, y, cost) has the distribution D, then the error rate under::

        D'(x, y, cost) = cost D(x, y, cost) / E[cost]

    is the expected cost under D, divided by E[cost]. Each of `n_estimators` estimators gets a draw from D' of its own;
    their probabilities, scores or votes are averaged.

    Parameters
    ----------
    estimator : estimator instance
        A binary classifier with `predict_proba` or `decision_function`, which is cloned.
    fn_cost, fp_cost : float, default=1.0
        Costs of a false negative and of a false positive. Costs per sample go to `fit`.
    sampling : {"rejection", "with_replacement", "without_replacement"}, default="rejection"
        ``"rejection"`` keeps each sample with probability cost / largest cost, at most once. The others draw a given
        number of samples: with replacement, costly samples are drawn repeatedly, which invites overfitting; without,
        their share is smaller than that of their costs.
    max_samples : int, float or None, default=None
        Number of samples of a draw, or their share of the samples with a cost. If None, all with replacement, half of
        them without. Must be None for rejection.
    n_estimators : int, default=10
        Number of estimators.
    voting : {"soft", "hard"}, default="soft"
        ``"soft"`` averages probabilities, or scores of estimators that have none; ``"hard"`` counts votes, as in [1]_.
    pos_label : label, default=None
        The positive class, which `fn_cost` refers to. If None, ``classes_[1]``. Required if the labels are strings and
        ``fn_cost != fp_cost``.
    n_jobs : int, default=None
        Estimators fitted and evaluated at a time, as in scikit-learn. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws and of the estimators.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted estimators.
    estimators_samples_ : list of ndarrays
        The sample numbers that each of them was fitted on.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number and names of the features seen in `fit`, if the estimator has them.

    Notes
    -----
    There is no `predict_proba`: probabilities of the estimators are those of D'. `sample_weight` goes to the estimators
    if their `fit` takes it, else into the draws. A draw with one class only is repeated.

    The comparators of the paper's KDD98 table, with ``fit(X, y, fn_cost=..., fp_cost=...)``::

        CostProportionateClassifier(CostSensitiveSVC(), n_estimators=200)                               # BB-SVM
        CostProportionateClassifier(DecisionTreeClassifier(min_samples_leaf=20), n_estimators=200)      # BB-C4.5
        CostProportionateClassifier(BiasedPenaltySVC(), sampling="with_replacement", n_estimators=1)    # Res-ED-BP

    The tree stands in for C4.5. With metadata routing an estimator may also request the costs of the drawn samples.

    References
    ----------
    .. [1] B. Zadrozny, J. Langford, N. Abe: Cost-sensitive learning by cost-proportionate example weighting. ICDM 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from cssvm import CostProportionateClassifier
    >>> from cssvm.metrics import cost_risk
    >>> X, y = make_classification(1000, weights=[0.9], flip_y=0.1, random_state=0)
    >>> amount = 5 + np.random.default_rng(0).exponential(10, 1000)
    >>> blind = KNeighborsClassifier().fit(X, y)
    >>> model = CostProportionateClassifier(KNeighborsClassifier(), random_state=0).fit(X, y, fn_cost=amount)
    >>> cost_risk(y, model.predict(X), fn_cost=amount) < cost_risk(y, blind.predict(X), fn_cost=amount)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        sampling: str = REJECTION,
        max_samples: Any = None,
        n_estimators: int = 10,
        voting: str = SOFT,
        pos_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.fn_cost = fn_cost
        self.fp_cost = fp_cost
        self.sampling = sampling
        self.max_samples = max_samples
        self.n_estimators = n_estimators
        self.voting = voting
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, *, fn_cost: Any = None, fp_cost: Any = None, sample_weight: Any = None
    ) -> CostProportionateClassifier:
        """Draw the samples and fit the estimators; if this fails, the classifier stays as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples, in any form the estimator takes.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false negative on each positive sample, and of a false positive on each negative sample; other
            entries are ignored. If None, the constructor's value is used.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Sample weights. If None, all are 1.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            self._check_members()
            self._check_sampling()
            X, sample, given = self._read_fit(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
            metadata = self._metadata_for(ESTIMATOR, given, warn_unused=False)
            seeds = self._seeds()
            draws = self._draws(sample, sample.cost * draw_weights(sample.weights, metadata), seeds)
            self.estimators_ = self._fit_members(X, sample.labels, draws, seeds, metadata)
            self.estimators_samples_, self._n_samples = draws, len(sample)
        return self

    def _check_sampling(self) -> None:
        """Raise if `sampling` is invalid, or `max_samples` is given for rejection."""
        name = type(self).__name__
        check_parameters(self, {"sampling": option("sampling", SAMPLINGS)})
        if self.max_samples is None:
            return
        if self.sampling == REJECTION:
            raise ValueError(
                f'max_samples of {name} must be None with sampling="{REJECTION}", which keeps as many samples as the '
                f"costs say; got max_samples={self.max_samples!r}. Use another sampling for a given number."
            )
        draw_size(self.max_samples, 1, owner=name)

    def _draws(self, sample: Samples, weighted_costs: Vector, seeds: list[int]) -> list[RowNumbers]:
        """The samples of each member."""
        name, n_samples = type(self).__name__, int(np.count_nonzero(weighted_costs))
        if self.sampling == REJECTION:
            return draw_samples(REJECTION, weighted_costs, sample.positive, seeds, owner=name)
        given = (HALF if self.sampling == WITHOUT else 1.0) if self.max_samples is None else self.max_samples
        size = draw_size(given, n_samples, owner=name)
        if self.sampling == WITHOUT and size >= n_samples:
            raise ValueError(
                f"max_samples of {name} must be below the number of samples with a cost, {n_samples}, with "
                f'sampling="{WITHOUT}", as a draw of all samples ignores their costs; got max_samples={given!r}.'
            )
        return draw_samples(self.sampling, weighted_costs, sample.positive, seeds, size=size, owner=name)

    @property
    def _fitted_estimator(self) -> Any:
        return self.estimators_[0]

    def decision_function(self, X: Any) -> Vector:
        """Mean probability or share of votes less 1/2, or mean score, (n_samples,), positive for ``classes_[1]``."""
        check_is_fitted(self)
        responses = Parallel(n_jobs=self.n_jobs)(
            delayed(respond)(member, self._method, self._columns(X, numbers))
            for member, numbers in zip(self.estimators_, self.estimators_samples_, strict=True)
        )
        mean = np.mean([self._vote(response) for response in responses], axis=0)
        return self._positive_class.to_classes_sign(mean - DEFAULT_THRESHOLDS.get(self._method, MAJORITY))
