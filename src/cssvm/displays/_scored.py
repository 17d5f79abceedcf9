"""Class methods of displays of scored samples: from an estimator, from predictions or from cross-validation results.

    estimator, X, y   ->  labels and scores  ->  checked samples  ->  numbers  ->  display  ->  plot
    cv_results, X, y                         ->  checked folds    ->  numbers  ->  display  ->  plot

A display computes its numbers in `_from_samples` and, if it shows folds, in `_from_folds`. The keyword-only arguments
of these, and those of `plot`, are the options of the public class methods.
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from .._core.alignment import align_to_samples
from .._core.decision import per_sample_costs, predict_with_costs
from .._core.positive_class import positive_class_scores
from .._core.samples import Samples
from .._core.sklearn_compat import safe_indexing
from ..metrics._scored import ScoredSamples
from ..metrics._threshold_costs import BOTH_ERRORS

# Arguments of `_from_samples` and `plot` that the class methods state themselves.
STATED = ("name", "ax", "own_threshold")


class ScoredFolds(NamedTuple):
    """The validation samples of each fold, scored by the estimator of the fold, and those of all folds together."""

    folds: list[ScoredSamples]
    pooled: ScoredSamples

    def check_both_classes(self) -> None:
        """Raise if a fold lacks a class."""
        for fold in self.folds:
            fold.samples.check_both_classes_weighted(BOTH_ERRORS)


class ScoredDisplayMixin:
    """Class methods of displays of scored samples."""

    _shows_predictions: ClassVar[bool] = False  # of the estimator, and its own threshold

    # _from_samples(scored: ScoredSamples, *, name, **options) -> Self, not drawn yet.
    _from_samples: ClassVar[Any]
    plot: ClassVar[Any]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        fn_cost: float | ArrayLike = 1.0,
        fp_cost: float | ArrayLike = 1.0,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        response_method: str = "auto",
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Score X with a fitted classifier, draw the display and return it.

        Parameters
        ----------
        estimator : estimator
            A fitted binary classifier with `decision_function` or `predict_proba`.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples to score, which the estimator was not trained on.
        y : array-like of shape (n_samples,)
            Labels of the samples.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
            As in `cost_risk`. If one of them is given for each sample, they are passed to `predict` if it takes them.
        pos_label : label, default=None
            The positive class. If None, the estimator's own `pos_label` if it has one, otherwise ``classes_[1]``.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights. If None, all weights are 1.
        response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
            Method that returns the scores; "auto" prefers `decision_function`.
        name : str, default=None
            Name in the legend. If None, the class name of the estimator.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **options : dict
            The options of the class, see its other parameters, and the arguments of `plot`.
        """
        computing, drawing = cls._split(options, "from_estimator", cls._from_samples)
        scores = positive_class_scores(estimator, X, pos_label=pos_label, response_method=response_method)
        y_pred = None
        if cls._shows_predictions:
            costs = align_to_samples(X, y, fn_cost=fn_cost, fp_cost=fp_cost)
            y_pred = np.asarray(predict_with_costs(estimator, X, per_sample_costs(costs)))
            computing["own_threshold"] = scores.own_threshold
        scored = ScoredSamples.from_labels(
            y, scores, y_pred=y_pred, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight, in_double=True
        )
        name = type(estimator).__name__ if name is None else name
        return cls._from_samples(scored, name=name, **computing).plot(ax=ax, **drawing)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        fn_cost: float | ArrayLike = 1.0,
        fp_cost: float | ArrayLike = 1.0,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the display of given scores and return it.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of the samples.
        y_score : array-like of shape (n_samples,)
            Scores, higher for the positive class, or what `positive_class_scores` returns.
        fn_cost, fp_cost, sample_weight, ax
            As in `from_estimator`.
        pos_label : label, default=None
            The positive class. If None, the larger of the two labels.
        name : str, default=None
            Name in the legend.
        **options : dict
            The options of the class, see its other parameters, and the arguments of `plot`.
        """
        own = ("own_threshold",) if cls._shows_predictions else ()
        computing, drawing = cls._split(options, "from_predictions", cls._from_samples, also=own)
        scored = ScoredSamples.from_labels(
            y_true,
            y_score,
            fn_cost=fn_cost,
            fp_cost=fp_cost,
            pos_label=pos_label,
            sample_weight=sample_weight,
            in_double=True,
        )
        return cls._from_samples(scored, name=name, **computing).plot(ax=ax, **drawing)

    @classmethod
    def _split(
        cls, options: dict[str, Any], method: str, compute: Any, *, also: tuple[str, ...] = ()
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The options for computing and those of `plot`; raise a TypeError for names that are neither."""
        computing = {*_option_names(compute), *also}
        drawing = set(_option_names(cls.plot))
        unknown = [name for name in options if name not in computing | drawing]
        if unknown:
            raise TypeError(
                f"{cls.__name__}.{method}() got an unexpected option {unknown[0]!r}; its options are "
                f"{', '.join(sorted(computing | drawing))}."
            )
        return (
            {name: value for name, value in options.items() if name in computing},
            {name: value for name, value in options.items() if name in drawing},
        )


class FoldsDisplayMixin(ScoredDisplayMixin):
    """Class methods of displays that also show the folds of a cross-validation."""

    # How the legend calls the line that stands for all folds, after the class of the estimators.
    _name_of_folds: ClassVar[str]

    # _from_folds(scored: ScoredFolds, *, name, **options) -> Self, not drawn yet.
    _from_folds: ClassVar[Any]

    @classmethod
    def from_cv_results(
        cls,
        cv_results: dict[str, Any],
        X: Any,
        y: Any,
        *,
        fn_cost: float | ArrayLike = 1.0,
        fp_cost: float | ArrayLike = 1.0,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        response_method: str = "auto",
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a thin line for the validation samples of each fold, and one for all folds; return the display.

        Parameters
        ----------
        cv_results : dict
            What ``cross_validate(..., return_estimator=True, return_indices=True)`` returned.
        X, y : array-like
            The samples that were cross-validated, and their labels.
        fn_cost, fp_cost, pos_label, sample_weight, response_method, name, ax
            As in `from_estimator`.
        **options : dict
            The options of the class, see its other parameters, and the arguments of `plot`.
        """
        computing, drawing = cls._split(options, "from_cv_results", cls._from_folds)
        scored = score_folds(
            cv_results,
            X,
            y,
            fn_cost=fn_cost,
            fp_cost=fp_cost,
            pos_label=pos_label,
            sample_weight=sample_weight,
            response_method=response_method,
        )
        if name is None:
            name = f"{type(cv_results['estimator'][0]).__name__}, {cls._name_of_folds}"
        return cls._from_folds(scored, name=name, **computing).plot(ax=ax, **drawing)


def score_folds(
    cv_results: dict[str, Any],
    X: Any,
    y: Any,
    *,
    pos_label: Any = None,
    response_method: str = "auto",
    **given: Any,
) -> ScoredFolds:
    """Score the samples that each estimator was not trained on; by default for the first estimator's positive class.

    given : fn_cost, fp_cost and sample_weight, read for all samples at once.
    """
    missing = [key for key in ("estimator", "indices") if key not in cv_results]
    if missing:
        raise ValueError(
            f"cv_results must hold the estimators and the indices of the folds; it lacks {missing}. "
            "Call cross_validate(..., return_estimator=True, return_indices=True)."
        )
    parts, scores = cv_results["indices"]["test"], []
    for estimator, validation in zip(cv_results["estimator"], parts, strict=True):
        found = positive_class_scores(
            estimator, safe_indexing(X, validation), pos_label=pos_label, response_method=response_method
        )
        pos_label, positive_class = found.pos_label, found.positive_class
        scores.append(found.values)
    samples = Samples.from_labels(y, pos_label=positive_class, **given)
    folds = [samples.take(validation) for validation in parts]
    scored = [ScoredSamples.from_samples(fold, fold.scores(own)) for fold, own in zip(folds, scores, strict=True)]
    pooled = samples.take(np.concatenate(parts))
    return ScoredFolds(scored, ScoredSamples.from_samples(pooled, np.concatenate(scores)))


def _option_names(function: Any) -> list[str]:
    """Names of the arguments of a method of displays that are options of its public class methods."""
    parameters = inspect.signature(function).parameters
    return [name for name in list(parameters) if name not in (*STATED, "self", "scored")]
