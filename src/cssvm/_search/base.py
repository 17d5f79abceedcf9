"""`BaseSVCSearchCV`: searches a grid on folds, trains the best point on all samples, and predicts with it."""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._core.classifier import BinaryClassifier, unchanged_on_failure
from .._core.decision import score_tie
from .._core.folds import Fold
from .._core.prediction_costs import COSTS
from .._core.samples import Samples
from .._core.types import Vector, is_number
from .._core.validation import align_to_samples
from .._kernels import is_pairwise, kernel_class
from .._runtime.interrupts import SearchInterruptedWarning
from .._runtime.threads import in_this_process
from .._svm.inputs import CHECKS, check_parameters, validate_raw, validate_transformed, validate_X, validate_X_y
from .axes import Axes
from .decision import (
    BAYES,
    LEAST_ODDS_RATIO,
    ByProbability,
    Decision,
    balanced,
    check_decision,
    make_decision,
    tie_of_folds,
)
from .engine import MakeWorker
from .features import Features
from .folds import make_folds
from .growth import OF_POINT
from .outcome import Outcome
from .process import Search
from .results import results_table
from .scoring import make_scoring

# A class with fewer samples than this does not tell one point from another.
FEW = 10

# Of the final model's fitted attributes, those that describe the X and y given to the search, and one it has itself.
OWN_ATTRIBUTES = ("classes_", "n_features_in_", "feature_names_in_", "coef_")


def _refitted(estimator: BaseSVCSearchCV) -> bool:
    if not estimator.refit:
        raise AttributeError(
            f"this {type(estimator).__name__} was made with refit=False and has no model to predict with. "
            f"Pass refit=True, or fit {type(estimator).__name__.removesuffix('CV')}(**best_params_)."
        )
    return True


def _has_probabilities(estimator: BaseSVCSearchCV) -> bool:
    if _refitted(estimator) and not estimator.decides_by_costs:
        raise AttributeError('this search has no probabilities; pass decision="bayes" for them.')
    return True


class Decided(NamedTuple):
    """Labels of rows, scores for the target, and its probabilities if there are any: (n,) each."""

    labels: NDArray[Any]
    scores: Vector
    probabilities: Vector | None


class BaseSVCSearchCV(BinaryClassifier):
    """Base class of the searches; a subclass says which models are trained, and at which points."""

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
            X = validate_X(self, X, pairwise=is_pairwise(self.kernel))
        else:
            X = validate_transformed(transformer.transform(validate_raw(self, X, reset=False)), transformer)
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
            Sample weights. If None, all weights are 1.

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

    cv: Any
    n_jobs: int | None
    checkpoint: Any
    grow: bool
    stages: bool
    # Parameters whose checks are in `CHECKS`.
    _checked: ClassVar[tuple[str, ...]]

    @property
    def _make_worker(self) -> MakeWorker | None:
        """How the machines of a fold are trained; None for kernel machines."""
        return None

    def _final_model(self) -> Any:
        """The estimator of the best point, to be fitted on all rows."""
        raise NotImplementedError

    def _select(self, X: Any, y: Any, fn_cost: Any, fp_cost: Any, sample_weight: Any, groups: Any) -> None:
        """Search, and train the best point on all rows; a failure leaves the estimator as it was."""
        with unchanged_on_failure(self), in_this_process():
            X, sample, groups = self._read(X, y, fn_cost, fp_cost, sample_weight, groups)
            decision = check_decision(self.decision, self.scoring)
            scoring = make_scoring(self.scoring, X, sample, decision, score_tie(self.tol))
            ranking = scoring.ranking and not scoring.pooled
            training = balanced(sample) if decision == BAYES else sample
            folds = make_folds(self.cv, X, training, ranking=ranking, groups=groups, decision=decision)
            features = Features(X, sample.labels, self.transformer, sample.counted_rows)
            axes = Axes.of(self, features.whole[0], training)
            search = Search(self, features, sample, training, folds, scoring, self._make_worker)
            if self.stages:
                axes, self.first_stage_ = search.with_first_kernel(axes)
            found = search.outcome(axes)
            self.n_splits_, self.n_fits_, self.interrupted_ = len(folds), found.n_machines, found.interrupted
            self._warn(found)
            if len(found.points) > 1:
                _warn_of_few(sample)
            self.cv_results_, self.best_index_ = results_table(found.points, found.values)
            self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
            self.best_params_ = self.cv_results_["params"][self.best_index_]
            if self.refit:
                scores = found.held_out_scores(self.best_index_)
                self._learn_decision(scores, folds, sample)
                self._warn_of_constant(scores)
                self._train_best(features, training)

    def _read(
        self, X: Any, y: Any, fn_cost: Any, fp_cost: Any, sample_weight: Any, groups: Any
    ) -> tuple[Any, Samples, Any]:
        """Check parameters and data; X, its rows and their groups."""
        check_parameters(self, {name: CHECKS[name] for name in self._checked})
        if self.n_jobs is not None and (not is_number(self.n_jobs) or self.n_jobs % 1 != 0 or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None or an integer other than 0; got n_jobs={self.n_jobs!r}.")
        pairwise = is_pairwise(self.kernel)
        if pairwise and self.transformer is not None:
            raise ValueError(f'transformer must be None with kernel="{self.kernel}": a kernel matrix has no features.')
        given = align_to_samples(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
        groups = align_to_samples(X, y, groups=groups)["groups"]
        if self.transformer is None:
            X, y = validate_X_y(self, X, y, pairwise=pairwise)
            kernel_class(self.kernel).check_training_matrix(X)
        else:
            X, y = validate_raw(self, X, y)
        sample = self._read_sample(y, **given)
        for name in ("fn_costs", "fp_costs", "kappas"):
            if getattr(self, name) is not None:
                sample.target.require_pos_label_for(f"{name}={reprlib.repr(getattr(self, name))}")
        return X, sample, groups

    def _warn(self, found: Outcome) -> None:
        if found.interrupted:
            warnings.warn(
                f"The search was interrupted: {found.n_complete} of {len(found.values)} points were scored on all "
                "folds; the best of them is used." + (" Call fit again to go on." if self.checkpoint else ""),
                SearchInterruptedWarning,
                stacklevel=4,
            )
        elif not found.n_complete:
            warnings.warn(
                "No point has a score on all folds, so the first one is used: scoring returned NaN. Check the scorer, "
                "or use stratified folds.",
                UserWarning,
                stacklevel=4,
            )
        if found.edge is not None:
            name, best = found.edge.name, found.points[found.best]
            warnings.warn(
                f"The best point lies at the edge of the grid, {name}={OF_POINT[name](best):.3g}"
                + (", after the grid has grown in that direction" if self.grow else "")
                + f". Pass {name}s of your own that go further, or scale the features.",
                UserWarning,
                stacklevel=4,
            )
        if found.n_failed:
            scale = "scale the features, for example with transformer=StandardScaler(), or "
            warnings.warn(
                f"{found.n_failed} of the search's {found.n_machines * self.n_splits_} fits did not converge, so that "
                "their scores are approximate. That matters if the best C, "
                f"{found.points[found.best].params['C']:.3g}, is one of the largest: then "
                f"{scale * (self.transformer is None)}pass smaller Cs or a larger tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _warn_of_constant(self, scores: Sequence[Vector]) -> None:
        """Warn of probabilities that do not vary."""
        if isinstance(self._decision, ByProbability) and not self._decision.varies(np.concatenate(scores)):
            warnings.warn(
                "The probabilities of the held-out samples hardly vary: their odds differ by less than "
                f"{LEAST_ODDS_RATIO - 1:.0%}, so that the costs alone decide. Try other features or kernels, scale the "
                "features (for example with transformer=StandardScaler()), or pass other Cs and gammas.",
                UserWarning,
                stacklevel=4,
            )

    def _train_best(self, features: Features, sample: Samples) -> None:
        """Train the best point on all rows, and show its fitted attributes as our own."""
        X, fitted = features.whole
        self.__dict__.pop("transformer_", None)  # that of an earlier fit
        if fitted is not None:
            self.transformer_ = fitted
        best = self._final_model()
        priced = sample.priced(self.best_params_["fn_cost"], self.best_params_["fp_cost"])
        self.best_estimator_ = best.fit(
            X, sample.labels, fn_cost=priced.fn_cost, fp_cost=priced.fp_cost, sample_weight=sample.weights
        )
        for name, value in vars(best).items():
            if name.endswith("_") and name not in OWN_ATTRIBUTES:
                setattr(self, name, value)


def _warn_of_few(sample: Samples) -> None:
    """Warn of a class with so few samples of positive weight that the selection is chance."""
    positive = sample.positive[sample.counted()]
    rarer = int(min(positive.sum(), (~positive).sum()))
    if rarer < FEW:
        warnings.warn(
            f"The rarer class has {rarer} samples, fewer than {FEW}: which parameters score best is mostly chance. Add "
            "samples of it, or set the parameters yourself and pass one value of each.",
            UserWarning,
            stacklevel=4,
        )
