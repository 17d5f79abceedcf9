"""Predictions of models for samples that they were not trained on, and baselines to compare them with."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .._core.decision import COSTS, costs_for_predict, predict_with_costs
from .._core.folds import Fold
from .._core.nested import final_step
from .._core.positive_class import check_same_positive_class, format_labels, with_pos_label
from .._core.samples import Samples
from .._core.sklearn_compat import take_rows
from .._core.types import Mask, RowNumbers, Vector
from .._core.validation import take_samples
from .._meta import CostThresholdClassifier
from .._runtime.progress import Silent, interrupts
from .._runtime.threads import in_this_process
from ..metrics._risk import minimum_risk
from ..metrics._scored import ScoredSamples
from .action_scores import ActionScores, action_scores
from .metadata_routing import for_fit
from .result import BLIND, RESERVED, ROW_COSTS, FoldPredictions


def cross_val_predictions(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    sample: Samples,
    folds: Sequence[Fold],
    metadata: dict[str, Any],
    *,
    scored: str | None,
    shown: Silent,
) -> dict[str, list[FoldPredictions]]:
    """Predictions of clones of each model for the samples held out by each fold, with scores for the model `scored`."""
    named_models = {name: with_pos_label(model, sample.positive_class) for name, model in models.items()}
    calls = [
        delayed(_predict_fold)(model, X, y, sample, fold, metadata, scored=name == scored)
        for name, model in named_models.items()
        for fold in folds
    ]
    found: dict[str, list[FoldPredictions]] = {name: [] for name in models}
    names = [name for name in models for _ in folds]
    for name, predictions in zip(names, Parallel(batch_size=1, return_as="generator")(calls), strict=True):
        found[name].append(predictions)
        shown.advance(1)
    return found


def _predict_fold(
    model: Any, X: Any, y: Any, sample: Samples, fold: Fold, metadata: dict[str, Any], *, scored: bool
) -> FoldPredictions:
    """Fit a clone on the training samples of a fold and predict those that it holds out."""
    train, held_out = fold
    X_train, y_train = take_rows(model, X, y, train)
    X_new, _ = take_rows(model, X, y, held_out, train)
    each = clone(model)
    with in_this_process(), interrupts(raised=True):
        each.fit(X_train, y_train, **for_fit(each, _at(metadata, train)))
        acted, scores = _predict(each, X_new, sample.take(held_out), _at(metadata, held_out), scored)
    return FoldPredictions(held_out, acted, scores, each, len(train))


def prefit_predictions(
    model: Any, X: Any, sample: Samples, metadata: dict[str, Any], *, scored: bool
) -> list[FoldPredictions]:
    """Predictions of a fitted model for all samples."""
    check_is_fitted(model)
    check_same_positive_class(model, sample.positive_class)
    known = getattr(model, "classes_", sample.positive_class.classes)
    if not np.isin(sample.positive_class.classes, known).all():
        raise ValueError(
            f"y must hold the classes {format_labels(np.asarray(known))} that {type(model).__name__} was fitted on; "
            f"got {format_labels(sample.positive_class.classes)}."
        )
    acted, scores = _predict(model, X, sample, metadata, scored)
    return [FoldPredictions(np.arange(len(sample)), acted, scores, model)]


def _predict(
    fitted: Any, X: Any, sample: Samples, metadata: dict[str, Any], scored: bool
) -> tuple[Mask, ActionScores | None]:
    """Whether a fitted model acts on each sample, by its costs if `predict` takes them, and its scores for acting."""
    positive_class, labels = sample.positive_class, np.asarray(predict_with_costs(fitted, X, metadata))
    unknown = ~np.isin(labels, positive_class.classes)
    if unknown.any():
        raise ValueError(
            f"{type(fitted).__name__} must predict one of the classes {format_labels(positive_class.classes)}; it "
            f"predicted {labels[unknown][:1].tolist()[0]!r}. Pass a classifier."
        )
    acted, own = labels == positive_class.label, {"fn_cost": sample.fn_cost, "fp_cost": sample.fp_cost}
    return acted, action_scores(fitted, X, acted, positive_class, **own) if scored else None


def fewest_errors(scores: Vector, sample: Samples) -> list[FoldPredictions]:
    """Predictions by the threshold on the scores that makes the fewest errors on these samples."""
    equal_costs = replace(sample, cost=np.ones(len(sample)), fn_cost=1.0, fp_cost=1.0)
    threshold = minimum_risk(ScoredSamples.from_samples(equal_costs, scores)).threshold
    return [FoldPredictions(np.arange(len(sample)), scores >= threshold)]


def warn_cost_leakage(models: Iterable[Any], costs: dict[str, Any], positive: Mask) -> None:
    """Warn if a cost that is known for one class only is passed to `predict`, which reveals the class."""
    taken = {name for model in models for name in costs_for_predict(model)}
    for name, others in (("fn_cost", ~positive), ("fp_cost", positive)):
        cost = np.asarray(costs.get(name, 1.0), dtype=np.float64)
        if name in taken and cost.ndim and not np.nan_to_num(cost[others]).any():
            warnings.warn(
                f"{name} is 0 or missing for every sample of the class it does not apply to, and the model uses it to "
                "predict: this reveals the class, so the estimates are too low. Pass what an error on each sample "
                "would cost whatever its class; if amounts are known for positives only, use DirectCostClassifier.",
                UserWarning,
                stacklevel=3,
            )


def _at(metadata: dict[str, Any], rows: RowNumbers) -> dict[str, Any]:
    return {name: take_samples(value, rows) for name, value in metadata.items()}


def baselines(model: Any, costs: dict[str, Any]) -> dict[str, Any]:
    """A standard SVC and, for a model that decides by the costs of each sample, a logistic regression that does so.

    Both follow the model's preprocessing, also where that is inside a wrapper or a search.
    """
    pairwise = get_tags(model).input_tags.pairwise
    standard = SVC(kernel=final_step(_unwrapped(model)).kernel) if pairwise else SVC()
    found = {BLIND: _after_preprocessing(model, standard)}
    by_rows = any(np.ndim(costs.get(name, 1.0)) for name in COSTS) and len(costs_for_predict(model)) == len(COSTS)
    if by_rows and not pairwise:
        logistic = _after_preprocessing(model, LogisticRegression(max_iter=1000))
        found[ROW_COSTS] = CostThresholdClassifier(logistic, calibration=None)
    return found


def _unwrapped(model: Any) -> Any:
    """The estimator inside wrappers and searches, as far as a pipeline."""
    while not hasattr(model, "steps") and hasattr(getattr(model, "estimator", None), "fit"):
        model = model.estimator
    return model


def _after_preprocessing(model: Any, classifier: Any) -> Any:
    """The model with another classifier in place of its own."""
    model = _unwrapped(model)
    if hasattr(model, "steps"):
        return clone(model).set_params(**{model.steps[-1][0]: classifier})
    own = getattr(model, "transformer", None)
    return classifier if own is None else make_pipeline(clone(own), classifier)


def named(models: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Models by the names given, or by those of their classes, numbered where one occurs several times."""
    if isinstance(models, Mapping):
        taken = [name for name in models if name in RESERVED]
        if taken:
            raise ValueError(
                f"compare must not use the names {list(RESERVED)}; got {taken[0]!r}. Give this model another name."
            )
        return dict(models)
    found: dict[str, Any] = {}
    for each in models:
        name = base = type(final_step(each)).__name__
        number = 1
        while name in found:
            number += 1
            name = f"{base} {number}"
        found[name] = each
    return found
