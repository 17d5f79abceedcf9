"""`BaseSVCSearchCV`: searches a grid on folds, trains the best point on all samples, and predicts with it."""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._core.alignment import align_to_samples
from .._core.classifier import BinaryClassifier, unchanged_on_failure
from .._core.decision import COSTS, score_tie
from .._core.folds import Fold, OutOfFold
from .._core.samples import Samples
from .._core.types import Vector
from .._core.validation import check_parameters, is_number
from .._kernels import LINEAR_KERNEL, is_pairwise, kernel_class
from .._runtime.progress import SearchInterruptedWarning
from .._runtime.threads import in_this_process
from .._svm.base_svc import CHECKS, validate_raw, validate_samples, validate_transformed
from .final_decision import (
    BAYES,
    LEAST_ODDS_RATIO,
    THRESHOLD,
    ZERO,
    BayesRule,
    ThresholdRule,
    check_decision,
    pooled_threshold,
    tie_of_folds,
    with_balanced_costs,
)
from .fold_data import FoldFeatures, make_folds
from .grid import AXIS_VALUE, GridAxes
from .grid_search import GridSearch, SearchResult, make_results
from .scoring import make_scoring
from .workers import FitPlan, Worker

FEW = 10  # a class with fewer samples does not tell one point from another

# Of the final model's fitted attributes, those that describe the X and y given to the search, and one it has itself.
OWN_ATTRIBUTES = ("classes_", "n_features_in_", "feature_names_in_", "coef_")


def _has_probabilities(estimator: BaseSVCSearchCV) -> bool:
    if not estimator.decides_by_costs:
        raise AttributeError('this search has no probabilities; pass decision="bayes" for them.')
    return True


def _warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that calls `fit`."""
    warnings.warn(message, category, stacklevel=5)


class Predictions(NamedTuple):
    """Predicted labels, scores for the positive class, and its probabilities if there are any: (n_samples,) each."""

    labels: NDArray[Any]
    scores: Vector
    probabilities: Vector | None


class BaseSVCSearchCV(BinaryClassifier):
    """Base class of the searches; a subclass says which models are trained."""

    gammas: Any = 1
    kernel: Any = LINEAR_KERNEL
    _decision: ThresholdRule | BayesRule  # set in fit
    _checked: ClassVar[tuple[str, ...]]  # parameters whose checks are in `CHECKS`

    def _make_worker(self, plan: FitPlan, n_threads: int) -> Worker:
        """How the models of the folds are trained, on up to that many threads."""
        raise NotImplementedError

    def _final_model(self) -> Any:
        """The estimator of the best point, to be fitted on all samples."""
        raise NotImplementedError

    def _axes(self, X: Any, samples: Samples) -> GridAxes:
        """The values to try, for X as the final model sees it and the costs that are trained with."""
        return GridAxes.from_search(self, X, samples)

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        fn_cost: Any = None,
        fp_cost: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Search, and train the best point on all samples; a failed fit leaves the estimator as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples; for ``kernel="precomputed"`` the symmetric kernel matrix (n_samples, n_samples). With a
            transformer whatever that takes: a data frame with missing values and strings, for example.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false negative of each sample of the positive class, and of a false positive of each sample of the
            negative class; other entries are ignored. If None, the constructor's value is used.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of each sample, in training and in scoring; None means 1.
        groups : array-like of shape (n_samples,), default=None
            Samples of a group, such as those of one customer, are held out together.

        Returns
        -------
        self
            The fitted search.
        """
        with unchanged_on_failure(self), in_this_process():
            self._fit(X, y, fn_cost, fp_cost, sample_weight, groups)
        return self

    def _fit(self, X: Any, y: Any, fn_cost: Any, fp_cost: Any, sample_weight: Any, groups: Any) -> None:
        X, samples, groups = self._read(X, y, fn_cost, fp_cost, sample_weight, groups)
        decision = check_decision(self.decision, self.scoring)
        scoring = make_scoring(self.scoring, X, samples, decision, score_tie(self.tol))
        ranking = scoring.ranking and not scoring.pooled
        training = with_balanced_costs(samples) if decision == BAYES else samples
        learned = None if decision == ZERO else decision
        folds = make_folds(self.cv, X, training, ranking=ranking, groups=groups, decision=learned)
        features = FoldFeatures(X, samples.labels, self.transformer, samples.nonzero_samples)
        axes = self._axes(features.whole[0], training)
        found = GridSearch(self, features, samples, training, folds, scoring, self._make_worker).run(axes)
        self.n_splits_, self.n_fits_, self.interrupted_ = len(folds), found.n_fits, found.interrupted
        self._warn(found, samples)
        self.cv_results_, self.best_index_ = make_results(found.points, found.values), found.best
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self._refit(found, folds, features, samples, training)

    def _read(
        self, X: Any, y: Any, fn_cost: Any, fp_cost: Any, sample_weight: Any, groups: Any
    ) -> tuple[Any, Samples, Any]:
        """Check parameters and data; X, its samples and their groups."""
        check_parameters(self, {name: CHECKS[name] for name in self._checked})
        if self.n_jobs is not None and (not is_number(self.n_jobs) or self.n_jobs % 1 != 0 or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None or an integer other than 0; got n_jobs={self.n_jobs!r}.")
        pairwise = is_pairwise(self.kernel)
        if pairwise and self.transformer is not None:
            raise ValueError(f'transformer must be None with kernel="{self.kernel}": a kernel matrix has no features.')
        given = align_to_samples(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
        groups = align_to_samples(X, y, groups=groups)["groups"]
        if self.transformer is None:
            X, y = validate_samples(self, X, y, pairwise=pairwise)
            kernel_class(self.kernel).check_training_matrix(X)
        else:
            X, y = validate_raw(self, X, y)
        samples = self._read_sample(y, **given)
        for name in ("fn_costs", "kappas"):
            if getattr(self, name) is not None:
                samples.positive_class.require_pos_label_for(f"{name}={reprlib.repr(getattr(self, name))}")
        return X, samples, groups

    def _refit(
        self, found: SearchResult, folds: Sequence[Fold], features: FoldFeatures, samples: Samples, training: Samples
    ) -> None:
        """Learn how to decide, train the best point on all samples, and show its fitted attributes as our own."""
        self._learn_decision(found.held_out_scores(self.best_index_), folds, samples)
        X, fitted = features.whole
        self.__dict__.pop("transformer_", None)  # that of an earlier fit
        if fitted is not None:
            self.transformer_ = fitted
        own = training.with_cost_factors(self.best_params_["fn_cost"], self.best_params_["fp_cost"])
        self.best_estimator_ = self._final_model().fit(
            X, training.labels, fn_cost=own.fn_cost, fp_cost=own.fp_cost, sample_weight=training.weights
        )
        for name, value in vars(self.best_estimator_).items():
            if name.endswith("_") and name not in OWN_ATTRIBUTES:
                setattr(self, name, value)

    def _learn_decision(self, scores: list[Vector], folds: Sequence[Fold], samples: Samples) -> None:
        """How the final model decides, from scores for the positive class of the samples that each fold holds out."""
        held_out = OutOfFold([fold.valid for fold in folds], scores)
        self.held_out_scores_ = self._positive_class.to_classes_sign(held_out.mean(len(samples)))
        rows, pooled = held_out.pooled()
        scored, tie = samples.take(rows), float(tie_of_folds(scores, score_tie(self.tol)))
        if self.decides_by_costs:
            self._decision = BayesRule(pooled, scored, tie)
        else:
            learned = self._decision_name == THRESHOLD
            self._decision = ThresholdRule(pooled_threshold(pooled, scored, tie) if learned else 0.0)
        self._mean_costs = samples.mean_costs()
        self.threshold_ = self._positive_class.to_classes_sign(self._decision.threshold) + 0.0  # no -0.0
        if isinstance(self._decision, BayesRule) and not self._decision.varies(pooled):
            warnings.warn(
                "The probabilities of the held-out samples hardly vary: their odds differ by less than "
                f"{LEAST_ODDS_RATIO - 1:.0%}, so that the costs alone decide. Scale the features (for example with "
                "transformer=StandardScaler()), or try other features, kernels, Cs and gammas.",
                UserWarning,
                stacklevel=5,
            )

    def _warn(self, found: SearchResult, samples: Samples) -> None:
        best = found.points[found.best]
        if found.interrupted:
            _warn_user(
                f"The search was interrupted: {found.n_complete} of {len(found.values)} points were scored on all "
                "folds; the best of them is used." + (" Call fit again to continue." if self.checkpoint else ""),
                SearchInterruptedWarning,
            )
        elif not found.n_complete:
            _warn_user(
                "No point has a score on all folds, so the first one is used: scoring returned NaN. Check the scorer, "
                "or use stratified folds."
            )
        if found.edge is not None:
            name = found.edge.name
            _warn_user(
                f"The best point lies at the edge of the grid, {name}={AXIS_VALUE[name](best):.3g}, after the grid was "
                f"extended in that direction. Pass {name}s that go further, or scale the features."
            )
        if found.n_failed:
            scale = "scale the features, for example with transformer=StandardScaler(), or "
            _warn_user(
                f"{found.n_failed} of the search's {found.n_fits * self.n_splits_} fits did not converge, so that "
                f"their scores are approximate. That matters if the best C, {best.params['C']:.3g}, is one of the "
                f"largest: then {scale * (self.transformer is None)}pass smaller Cs or a larger tol.",
                ConvergenceWarning,
            )
        positive = samples.positive[samples.nonzero_weights()]
        rarer = int(min(positive.sum(), (~positive).sum()))
        if len(found.points) > 1 and rarer < FEW:
            _warn_user(
                f"The rarer class has {rarer} samples, fewer than {FEW}: which parameters score best is mostly chance. "
                "Add samples of it, or set the parameters yourself and pass one value of each."
            )

    @property
    def _decision_name(self) -> str:
        return check_decision(self.decision, self.scoring)

    @property
    def decides_by_costs(self) -> bool:
        """Whether `predict` takes the costs of the samples it decides on."""
        return self._decision_name == BAYES

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Coefficients of the final model, for ``kernel="linear"`` alone, of the features as it sees them."""
        check_is_fitted(self)
        return self.best_estimator_.coef_

    def _scores(self, X: Any) -> Vector:
        """Scores of the final model for the positive class."""
        transformer = getattr(self, "transformer_", None)  # the parameter may have been set since
        if transformer is None:
            X = validate_samples(self, X, pairwise=is_pairwise(self.kernel))
        else:
            X = validate_transformed(transformer.transform(validate_raw(self, X)), transformer)
        return self._positive_class.to_positive_sign(self.best_estimator_.decision_function(X))

    def decision_function(self, X: Any) -> Vector:
        """Distance of each sample from where the prediction changes, positive for ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the kernel between X and the training samples, (n_samples, n_training). With a
            transformer whatever that takes.

        Returns
        -------
        ndarray of shape (n_samples,), float64
            f(x) less `threshold_`. For ``decision="bayes"`` the probability of the positive class less
            fp_cost / (fn_cost + fp_cost), with the mean costs of the training samples if these have their own.
        """
        check_is_fitted(self)
        return self._positive_class.to_classes_sign(self._decision.gain(self._scores(X), *self._mean_costs))

    def predict(self, X: Any, *, fn_cost: Any = None, fp_cost: Any = None) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
            For ``decision="bayes"`` only: the cost of a false negative and of a false positive on each sample. If None,
            those of `fit` are used, if they were numbers.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._predict_all(X, fn_cost=fn_cost, fp_cost=fp_cost).labels

    def _predict_all(self, X: Any, *, fn_cost: Any = None, fp_cost: Any = None) -> Predictions:
        """What `predict`, `positive_class_scores` and, for the positive class, `predict_proba` return, in one pass."""
        check_is_fitted(self)
        given = align_to_samples(X, fn_cost=fn_cost, fp_cost=fp_cost)
        if not isinstance(self._decision, BayesRule):
            if fn_cost is not None or fp_cost is not None:
                raise ValueError(
                    f'predict takes no costs with decision="{self._decision_name}", where one threshold holds for all '
                    'samples. Use decision="bayes" for costs of new samples.'
                )
            scores = self._decision.gain(self._scores(X), *self._mean_costs)
            return Predictions(
                self._positive_class.labels(self._positive_class.predicted_positive(scores)), scores, None
            )
        costs = self._costs("predict", given)
        self._positive_class.require_pos_label(**costs)
        f = self._scores(X)
        positive = self._positive_class.predicted_positive(self._decision.gain(f, **costs))
        scores = self._decision.gain(f, *self._mean_costs)
        return Predictions(self._positive_class.labels(positive), scores, self._decision.probabilities(f))

    def _costs(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        """The costs of new samples: those given, or the numbers that were passed to `fit`."""
        costs = {name: self._fit_costs[name] if given[name] is None else given[name] for name in COSTS}
        missing = [name for name, cost in costs.items() if cost is None]
        if missing:
            raise ValueError(
                f"{method} needs {missing[0]} of these samples, as fit was given one for each sample: pass {missing[0]}"
                f"=..., for each or their average (in the shell --{missing[0].replace('_', '-')} COLUMN)."
            )
        return costs

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the two classes, for ``decision="bayes"``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns in the order of `classes_`.
        """
        check_is_fitted(self)
        assert isinstance(self._decision, BayesRule)
        return self._positive_class.probability_columns(self._decision.probabilities(self._scores(X)))

    def score(self, X: Any, y: Any, *, fn_cost: Any = None, fp_cost: Any = None, sample_weight: Any = None) -> float:
        """Value of the final model on other samples, by the `scoring` of the search: not the accuracy.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.
        y : array-like of shape (n_samples,)
            Labels.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
            Costs of errors on these samples. If None, those of `fit` are used, if they were numbers.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of each sample; None means 1.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        given = align_to_samples(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
        samples = self._read_scored_sample(y, sample_weight=given.pop("sample_weight"), **self._costs("score", given))
        values = self._decision.gain(self._scores(X), samples.fn_cost, samples.fp_cost)
        counted = samples.nonzero_samples
        scoring = make_scoring(self.scoring, X, samples, self._decision_name)
        return float(scoring.evaluate(values[np.newaxis, counted], counted)[0])
