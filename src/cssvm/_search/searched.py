"""What a fitted search does with new rows: scores, decisions, probabilities, and what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._core.alignment import align_to_samples
from .._core.classifier import BinaryClassifier
from .._core.decision import COSTS
from .._core.folds import Fold
from .._core.samples import Samples
from .._core.types import Vector
from .._kernels import is_pairwise
from .._svm.inputs import new_data, raw_data, transformed_data
from ..metrics._thresholds import score_tie
from .decision import BAYES, ByProbability, Decision, check_decision, make_decision, tie_of_folds
from .scoring import make_scoring


def _refitted(estimator: SearchedClassifier) -> bool:
    if not estimator.refit:
        raise AttributeError(
            f"this {type(estimator).__name__} was made with refit=False and has no model to predict with. "
            f"Pass refit=True, or fit {type(estimator).__name__.removesuffix('CV')}(**best_params_)."
        )
    return True


def _has_probabilities(estimator: SearchedClassifier) -> bool:
    if _refitted(estimator) and not estimator.decides_by_costs:
        raise AttributeError('this search has no probabilities; pass decision="bayes" for them.')
    return True


class Decided(NamedTuple):
    """Labels of rows, scores for the target, and its probabilities if there are any: (n,) each."""

    labels: NDArray[Any]
    scores: Vector
    probabilities: Vector | None


class SearchedClassifier(BinaryClassifier):
    """A classifier whose final model, `best_estimator_`, and decision were found by a search."""

    fn_cost: float
    fp_cost: float
    kernel: Any
    scoring: Any
    decision: str
    transformer: Any
    refit: bool
    tol: float
    best_estimator_: Any
    transformer_: Any
    _decision: Decision

    def _learn_decision(self, scores: Sequence[Vector], folds: Sequence[Fold], sample: Samples) -> None:
        """What the final model decides by, from scores for the target of the rows that each fold holds out."""
        rows = np.concatenate([fold.valid for fold in folds])
        pooled = np.concatenate(scores)
        times = np.bincount(rows, minlength=len(sample))
        with np.errstate(invalid="ignore"):
            mean = np.bincount(rows, pooled, minlength=len(sample)) / times
        self.held_out_scores_ = self._positive_class.as_f(mean)
        tie = float(tie_of_folds(scores, score_tie(self.tol)))
        self._decision = make_decision(self._decision_name, pooled, sample.take(rows), tie)
        self._mean_costs = sample.mean_costs()
        self.threshold_ = self._positive_class.as_f(self._decision.threshold) + 0.0  # no -0.0

    @property
    def _decision_name(self) -> str:
        return check_decision(self.decision, self.scoring)

    @property
    def decides_by_costs(self) -> bool:
        """Whether `predict` takes the costs of the rows it decides on."""
        return self._decision_name == BAYES

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Coefficients of the final model, for ``kernel="linear"`` alone, of the features as it sees them."""
        check_is_fitted(self)
        return self.best_estimator_.coef_

    def _scores(self, X: Any) -> Vector:
        """Scores of the final model for the target."""
        check_is_fitted(self)
        transformer = getattr(self, "transformer_", None)  # the parameter may have been set since
        if transformer is None:
            X = new_data(self, X, pairwise=is_pairwise(self.kernel))
        else:
            X = transformed_data(transformer.transform(raw_data(self, X, reset=False)), transformer)
        return self._positive_class.oriented(self.best_estimator_.decision_function(X))

    @available_if(_refitted)
    def decision_function(self, X: Any) -> Vector:
        """How far each row of X is from where the decision turns, positive for ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the kernel between X and the training rows, (n_samples, n_training). With a
            transformer whatever that takes.

        Returns
        -------
        ndarray of shape (n_samples,)
            The score of the final model less `threshold_`; for ``decision="bayes"`` the probability of the target less
            fp_cost / (fn_cost + fp_cost), with the mean costs of the training rows if these have their own.
        """
        check_is_fitted(self)
        return self._positive_class.as_f(self._decision_values(X, *self._mean_costs))

    def _decision_values(self, X: Any, fn_cost: Any, fp_cost: Any) -> Vector:
        """Positive where the target is decided for."""
        scores = self._scores(X)
        return self._decision.gain(scores, fn_cost, fp_cost)

    @available_if(_refitted)
    def predict(self, X: Any, *, fn_cost: Any = None, fp_cost: Any = None) -> NDArray[Any]:
        """The class of each row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
            For ``decision="bayes"`` only: what each row costs if it is missed, and if it is a false alarm. None takes
            those of `fit`, if they were numbers.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.decide(X, fn_cost=fn_cost, fp_cost=fp_cost).labels

    @available_if(_refitted)
    def decide(self, X: Any, *, fn_cost: Any = None, fp_cost: Any = None) -> Decided:
        """The class of each row of X, with its score and its probability, for the price of one of them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
            As for `predict`.

        Returns
        -------
        Decided
            Named tuple ``(labels, scores, probabilities)``: what `predict`, `positive_class_scores` and, for the target,
            `predict_proba` return, (n_samples,) each; the last is None unless ``decision="bayes"``.
        """
        check_is_fitted(self)
        given = align_to_samples(X, fn_cost=fn_cost, fp_cost=fp_cost)
        if not isinstance(self._decision, ByProbability):
            if fn_cost is not None or fp_cost is not None:
                raise ValueError(
                    f'predict takes no costs with decision="{self._decision_name}", where one '
                    'threshold holds for all rows. Use decision="bayes" for costs of new rows.'
                )
            scores = self._decision_values(X, *self._mean_costs)
            return Decided(self._positive_class.labels(self._positive_class.accepted(scores)), scores, None)
        costs = self._costs("predict", given)
        self._positive_class.require_pos_label(**costs)
        f = self._scores(X)
        accepted = self._positive_class.accepted(self._decision.gain(f, **costs))
        scores = self._decision.gain(f, *self._mean_costs)
        return Decided(self._positive_class.labels(accepted), scores, self._decision.probabilities(f))

    def _costs(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        """The costs of new rows: those given, or the ones of the classes that `fit` had."""
        costs = {name: self._fit_costs[name] if given[name] is None else given[name] for name in COSTS}
        missing = [name for name, cost in costs.items() if cost is None]
        if missing:
            raise ValueError(
                f"{method} needs {missing[0]} of these rows, as fit was given one for each row: pass "
                f"{missing[0]}=..., for each of them or what it is on average (in the shell "
                f"--{missing[0].replace('_', '-')} COLUMN)."
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
        assert isinstance(self._decision, ByProbability)
        return self._positive_class.columns(self._decision.probabilities(self._scores(X)))

    @available_if(_refitted)
    def score(self, X: Any, y: Any, *, fn_cost: Any = None, fp_cost: Any = None, sample_weight: Any = None) -> float:
        """The value of the final model on other rows, by the `scoring` of the search; greater is better.

        That is not the accuracy: for ``scoring="risk"`` it is minus the mean cost of a row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.
        y : array-like of shape (n_samples,)
            Labels.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
            What errors on these rows cost; None takes those of `fit`, if they were numbers.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of each row; None means 1.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        given = align_to_samples(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
        sample = self._read_scored_sample(y, sample_weight=given.pop("sample_weight"), **self._costs("score", given))
        values, counted = self._decision_values(X, sample.fn_cost, sample.fp_cost), sample.counted_rows
        scoring = make_scoring(self.scoring, X, sample, self._decision_name)
        return float(scoring.evaluate(values[np.newaxis, counted], counted)[0])
