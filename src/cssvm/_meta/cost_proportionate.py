"""Costing: learners that know nothing of costs, trained on rows drawn in proportion to them (`draws.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._core.classifier import unchanged_on_failure
from .._core.positive_class import DEFAULT_THRESHOLDS
from .._core.samples import Samples
from .._core.types import RowNumbers, Vector
from .._core.validation import align_to_samples
from .draws import REJECTION, SAMPLINGS, WITHOUT, draw_rows, draw_size
from .members import SOFT, EnsembleClassifier, draw_weights, respond
from .routing import ESTIMATOR

MAJORITY = 0.5  # of the votes
HALF = 0.5  # of the rows


class CostProportionateClassifier(EnsembleClassifier):
    """Learners trained on rows that are drawn in proportion to what an error on them costs.

    Costing, of Zadrozny, Langford and Abe [1]_: if (x, y, cost) has the distribution D, then the rate of errors under::

        D'(x, y, cost) = cost D(x, y, cost) / E[cost]

    is the expected cost under D, divided by E[cost]. A learner that makes few errors on rows drawn from D' therefore
    makes cheap ones on rows of D. Each of `n_estimators` learners gets a draw of its own; their probabilities, scores
    or votes are averaged.

    Parameters
    ----------
    estimator : estimator instance
        The binary classifier, with `predict_proba` or `decision_function`. It is cloned, not changed.
    fn_cost : float, default=1.0
        Cost of a false negative: a missed row of the target class. One value for each row goes to `fit`.
    fp_cost : float, default=1.0
        Cost of a false positive: a false alarm. One value for each row likewise.
    sampling : {"rejection", "with_replacement", "without_replacement"}, default="rejection"
        ``"rejection"`` keeps each row with the chance cost / largest cost, so that a draw holds about n mean cost /
        largest cost rows, none of them twice. ``"with_replacement"`` and ``"without_replacement"`` draw a given number
        of rows; in the former the costly ones come several times, which invites overfitting, in the latter their share
        is smaller than their cost's.
    max_samples : int, float or None, default=None
        Rows of a draw, or their share of all rows with a cost; None: as many as there are with replacement, half of
        them without. Rejection chooses by itself and takes none.
    n_estimators : int, default=10
        Number of learners, t in [1]_.
    voting : {"soft", "hard"}, default="soft"
        ``"soft"`` averages probabilities, or scores of learners that have none; ``"hard"`` counts votes, as [1]_ does.
    pos_label : label, default=None
        The positive class, which `fn_cost` refers to. If None, ``classes_[1]``. Required if the labels are strings and
        ``fn_cost != fp_cost``. It does not change the sign of `decision_function`, which is positive for
        ``classes_[1]``.
    n_jobs : int, default=None
        Learners trained and asked at a time, as in scikit-learn. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws and of the learners.

    Attributes
    ----------
    estimators_ : list of estimators
        The trained learners.
    estimators_samples_ : list of ndarrays
        The row numbers that each of them was trained on.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`, where the estimator tells.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has names and the estimator tells.

    Notes
    -----
    There is no `predict_proba`: probabilities of the learners are those of D', in which a row counts by its cost.

    `sample_weight` goes to the learners if their `fit` takes it, else into the draws. A draw with one class only is
    made again. imbalanced-learn's samplers draw by class, not by the cost of a row.

    The comparators of the paper's KDD98 table, with ``fit(X, y, fn_cost=..., fp_cost=...)``::

        CostProportionateClassifier(CostSensitiveSVC(), n_estimators=200)                               # BB-SVM
        CostProportionateClassifier(DecisionTreeClassifier(min_samples_leaf=20), n_estimators=200)      # BB-C4.5
        CostProportionateClassifier(BiasedPenaltySVC(), sampling="with_replacement", n_estimators=1)    # Res-ED-BP

    The tree stands in for C4.5. A learner that is to see the costs of the drawn rows as well requests them:
    ``BiasedPenaltySVC().set_fit_request(fn_cost=True, fp_cost=True)``, with metadata routing; they count twice then.

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
        """Draw the rows and train the learners; a failed fit leaves this classifier as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, in any form the estimator takes.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost : float or array-like of shape (n_samples,), default=None
            Cost of missing each row of the target class; other entries are ignored. None: the constructor's.
        fp_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false alarm on each row of the other class, the rest ignored. None: the constructor's.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Sample weights. If None, all weights are 1.

        Returns
        -------
        CostProportionateClassifier
            The classifier itself.
        """
        with unchanged_on_failure(self):
            self._check_members()
            self._check_sampling()
            X, y = indexable(X, y)
            given = align_to_samples(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
            sample = self._read_sample(column_or_1d(y, warn=True), **given)
            given = {name: value for name, value in given.items() if value is not None}
            if sample_weight is not None:
                given["sample_weight"] = sample.weights
            metadata = self._metadata_for(ESTIMATOR, given, warn_unused=False)
            seeds = self._seeds()
            draws = self._draws(sample, sample.cost * draw_weights(sample.weights, metadata), seeds)
            self.estimators_ = self._train_members(X, sample.labels, draws, seeds, metadata)
            self.estimators_samples_, self._n_rows = draws, len(sample)
        return self

    def _check_sampling(self) -> None:
        """Refuse a sampling that there is not, and a number of rows where rejection finds it."""
        name = type(self).__name__
        if self.sampling not in SAMPLINGS:
            raise ValueError(f"sampling of {name} must be one of {list(SAMPLINGS)}; got sampling={self.sampling!r}.")
        if self.max_samples is None:
            return
        if self.sampling == REJECTION:
            raise ValueError(
                f'max_samples of {name} must be None with sampling="{REJECTION}", which keeps as many rows as the '
                f"costs say; got max_samples={self.max_samples!r}. Use another sampling for a given number."
            )
        draw_size(self.max_samples, 1, whose=name)

    def _draws(self, sample: Samples, weighted_costs: Vector, seeds: list[int]) -> list[RowNumbers]:
        """The rows of each member."""
        name, n_rows = type(self).__name__, int(np.count_nonzero(weighted_costs))
        if self.sampling == REJECTION:
            return draw_rows(REJECTION, weighted_costs, sample.positive, seeds, whose=name)
        given = (HALF if self.sampling == WITHOUT else 1.0) if self.max_samples is None else self.max_samples
        size = draw_size(given, n_rows, whose=name)
        if self.sampling == WITHOUT and size >= n_rows:
            raise ValueError(
                f"max_samples of {name} must be below the number of rows with a cost, {n_rows}, with "
                f'sampling="{WITHOUT}", as a draw of all rows does not know their costs; got max_samples={given!r}.'
            )
        return draw_rows(self.sampling, weighted_costs, sample.positive, seeds, size=size, whose=name)

    @property
    def _trained_learner(self) -> Any:
        return self.estimators_[0]

    def decision_function(self, X: Any) -> Vector:
        """The mean probability or share of votes less 1/2, or the mean score, positive for ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        responses = Parallel(n_jobs=self.n_jobs)(
            delayed(respond)(member, self._method, self._columns(X, rows))
            for member, rows in zip(self.estimators_, self.estimators_samples_, strict=True)
        )
        mean = np.mean([self._for_target(response) for response in responses], axis=0)
        return self._positive_class.to_classes_sign(mean - DEFAULT_THRESHOLDS.get(self._method, MAJORITY))
