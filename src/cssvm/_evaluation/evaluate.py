"""`evaluate`: what the decisions of a model cost, compared with baselines and other models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import column_or_1d

from .._core.alignment import align_to_samples
from .._core.classifier import two_classes
from .._core.cost_matrix import OUTCOMES, decision_costs
from .._core.decision import COSTS
from .._core.folds import Fold, check_groups, make_splits
from .._core.positive_class import (
    RESPONSE_METHODS,
    PositiveClass,
    PositiveClassScores,
    positive_class_scores,
    stated_pos_label,
)
from .._core.samples import Samples
from .._meta.base import takes_weights
from .._runtime.progress import progress
from ..metrics._bootstrap import check_request
from ..metrics._scored import ScoredSamples
from .action_scores import GIVEN, ActionScores, scores_of_predictions
from .cross_val import (
    baselines,
    cross_val_predictions,
    fewest_errors,
    named,
    prefit_predictions,
    warn_cost_leakage,
)
from .metadata_routing import for_fit, taker_of_costs
from .result import FEWEST_ERRORS, MODEL, Evaluation, FoldPredictions

PREFIT = "prefit"
OWN_ESTIMATES = ("risk", "min_risk")  # scorings of a search whose value is minus a cost per sample


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    fn_cost: Any = None,
    fp_cost: Any = None,
    tp_cost: Any = 0.0,
    tn_cost: Any = 0.0,
    sample_weight: Any = None,
    groups: Any = None,
    pos_label: Any = None,
    cv: Any = 5,
    compare: Mapping[str, Any] | Sequence[Any] = (),
    blind: bool = True,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
    currency: str = "",
    verbose: int = 0,
) -> Evaluation:
    """Estimate by cross-validation what the decisions of a model cost, compared with baselines and other models.

    Each fold trains a clone and predicts the samples held out. Costs are passed to `fit` and `predict` and counted in
    the table. A search is run again in each fold (nested cross-validation), so the estimate includes the cost of
    choosing parameters. Fits run one after the other, each on all cores, or in parallel inside
    ``joblib.parallel_config`` with another backend, with the same results.

    Parameters
    ----------
    model : classifier
        Any classifier of scikit-learn's API, such as a pipeline, a search or a wrapper; it is cloned.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Samples, in any form the model accepts.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
        Cost of a false negative and of a false positive, for all samples or for each. If None, the model's own costs
        are used, or 1 if it has none; 0 if `tp_cost` or `tn_cost` is given.
    tp_cost, tn_cost : float or array-like of shape (n_samples,), default=0.0
        Cost of a true positive and of a true negative; negative for an income. Models train and decide by the
        differences (`decision_costs`), the table counts all four.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each sample, used in training if the model supports it, and in the table; models trained without it
        are listed in `notes`. Samples of weight 0 are removed from all folds.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample. Samples of a group are held out together, and drawn together for the intervals. A sample
        whose group is missing or empty is a group of its own, with a warning.
    pos_label : label, default=None
        The positive class. If None, the model's own positive class is used, or the larger label if it has none. A
        model with another positive class is rejected.
    cv : int, splitter, iterable of splits or "prefit", default=5
        An integer is a number of stratified, shuffled folds; use ``TimeSeriesSplit`` for samples in order of time. With
        ``"prefit"`` the fitted models predict all samples, which they must not have been trained on; the cost-blind SVC
        is replaced by the threshold on the model's scores that makes the fewest errors on these samples.
    compare : dict of names and models, or list of models, default=()
        Further models to compare with.
    blind : bool, default=True
        Whether to compare with a standard SVC without costs after the same preprocessing and, if the model decides by
        the costs of each sample, with a logistic regression that does so too. A baseline that cannot be trained on
        these samples is left out, with a note.
    n_resamples : int, default=1000
        Number of bootstrap resamples for the intervals.
    confidence : float, default=0.95
        Confidence level of the intervals.
    random_state : int, RandomState instance or None, default=0
        Seed of the resampling.
    currency : str, default=""
        Unit of the costs, shown in the table.
    verbose : int, default=0
        If 1, show a progress bar.

    Returns
    -------
    Evaluation
        It prints as a table. Intervals are bootstrap percentiles over samples, or groups. They are too narrow where few
        of these make up most of the cost: for log-normal costs with sigma = 1, intervals of 95 % cover about 80 % with
        100 samples and 90 % with 300.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from cssvm import CostSensitiveSVCCV, evaluate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = CostSensitiveSVCCV(Cs=4, gammas=4, pos_label=0, transformer=StandardScaler())
    >>> found = evaluate(search, X, y, fn_cost=10.0, fp_cost=1.0)
    >>> found.model.cost.value < found["act on everybody"].cost.value
    True
    """
    check_request(n_resamples, confidence)
    outcomes = {"tp_cost": tp_cost, "fp_cost": fp_cost, "tn_cost": tn_cost, "fn_cost": fn_cost}
    given = align_to_samples(X, y, **outcomes, sample_weight=sample_weight, groups=groups)
    labels = column_or_1d(y, warn=True)
    groups = check_groups(given.pop("groups"), len(labels))
    outcomes, decisive, passed_on = _costs(model, given)
    classes, index = two_classes(labels, owner="evaluate")
    positive_class = PositiveClass.from_labels(classes, stated_pos_label(model) if pos_label is None else pos_label)
    weights, positive = given["sample_weight"], index == positive_class.index
    sample = Samples.from_mask(positive_class, positive, **decisive, sample_weight=weights)
    sample.check_totals()
    metadata = passed_on | ({} if weights is None else {"sample_weight": sample.weights})
    metadata |= {} if groups is None else {"groups": groups}
    models, estimates = {MODEL: model} | named(compare), []
    warn_cost_leakage(models.values(), passed_on, sample.positive)
    notes: list[str] = []
    if isinstance(cv, str) and cv == PREFIT:
        found = {name: prefit_predictions(m, X, sample, metadata, scored=name == MODEL) for name, m in models.items()}
        if blind and any(hasattr(model, response) for response in RESPONSE_METHODS):
            scores = positive_class_scores(model, X, pos_label=positive_class.label).values
            found[FEWEST_ERRORS] = fewest_errors(scores, sample)
    else:
        splits = make_splits(cv, X, labels, positive=sample.positive, weights=sample.weights, groups=groups)
        folds = _without_weight_zero(splits, sample)
        found, notes = _cross_validate(models, X, labels, sample, folds, metadata, blind=blind, verbose=verbose)
        if not _right_decisions_cost(given):
            estimates = [-fold.model.best_score_ for fold in found[MODEL] if _estimates_decisions(fold.model)]
    return Evaluation.from_predictions(
        found,
        sample,
        outcomes,
        groups=groups,
        own_estimate=float(np.mean(estimates)) if estimates else np.nan,
        n_resamples=n_resamples,
        confidence=confidence,
        random_state=random_state,
        currency=currency,
        notes=notes,
    )


def evaluate_predictions(
    y_true: Any,
    y_pred: Any,
    y_score: Any = None,
    *,
    fn_cost: Any = 1.0,
    fp_cost: Any = 1.0,
    tp_cost: Any = 0.0,
    tn_cost: Any = 0.0,
    pos_label: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    compare: Mapping[str, Any] | None = None,
    **options: Any,
) -> Evaluation:
    """Compare predictions made elsewhere with the baselines and other predictions; see `Report.from_predictions`."""
    outcomes = {"tp_cost": tp_cost, "fp_cost": fp_cost, "tn_cost": tn_cost, "fn_cost": fn_cost}
    given = align_to_samples(None, y_true, **outcomes, sample_weight=sample_weight, groups=groups)
    outcomes = {name: given[name] for name in OUTCOMES}
    oriented = isinstance(y_score, PositiveClassScores)
    label = y_score.positive_class if oriented and pos_label is None else pos_label
    sample = Samples.from_labels(
        y_true, y_pred, pos_label=label, sample_weight=given["sample_weight"], **dict(decision_costs(**outcomes))
    )
    sample.check_both_classes_weighted("a comparison of predictions")
    predicted = {MODEL: y_pred} | named(compare or {})
    acted = {name: sample.predicted_positive(labels) for name, labels in predicted.items()}
    if y_score is None:
        scores = scores_of_predictions(acted[MODEL])
    else:
        values = sample.scores(y_score.values if oriented else y_score).astype(np.float64)
        scores = ActionScores(values, np.nan, GIVEN)
        if not oriented:
            ScoredSamples.from_samples(sample, values).warn_below_chance()
    rows = np.arange(len(sample))
    return Evaluation.from_predictions(
        {name: [FoldPredictions(rows, each, scores if name == MODEL else None)] for name, each in acted.items()},
        sample,
        outcomes,
        groups=check_groups(given["groups"], len(sample)),
        **options,
    )


def _right_decisions_cost(given: dict[str, Any]) -> bool:
    return any(np.ndim(given[name]) or given[name] != 0.0 for name in ("tp_cost", "tn_cost"))


def _costs(model: Any, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """All four costs, `fn_cost` and `fp_cost` to decide by, and those of the two that are passed to the models.

    given : None for costs that were not; the model's own, or 1, take their place.
    """
    if _right_decisions_cost(given):
        outcomes = {name: 0.0 if given[name] is None else given[name] for name in OUTCOMES}
        decisive = dict(decision_costs(**outcomes))
        return outcomes, decisive, decisive
    taker = taker_of_costs(model)
    own = {name: getattr(taker, name, 1.0) if given[name] is None else given[name] for name in COSTS}
    passed_on = {name: given[name] for name in COSTS if given[name] is not None}
    return {"tp_cost": 0.0, "tn_cost": 0.0} | own, own, passed_on


def _estimates_decisions(fitted: Any) -> bool:
    """Whether the score of a fitted search estimates the cost of its decisions.

    That of a search that decides by the costs of each sample is left out: its probabilities are fitted to the scores
    that they are judged by.
    """
    return getattr(fitted, "scoring", None) in OWN_ESTIMATES and not getattr(fitted, "decides_by_costs", True)


def _without_weight_zero(splits: list[Fold], sample: Samples) -> list[Fold]:
    """The folds without samples of weight 0; a fold that holds out no others is dropped."""
    if sample.weights.all():
        return splits
    folds = [Fold(*(rows[sample.weights[rows] > 0] for rows in parts)) for parts in splits]
    if not any(len(fold.valid) for fold in folds):
        raise ValueError(
            "cv must hold out samples of positive weight; got weight 0 for all of them. Use other folds or weights."
        )
    return [fold for fold in folds if len(fold.valid)]


def _cross_validate(
    models: dict[str, Any],
    X: Any,
    y: Any,
    sample: Samples,
    folds: list[Fold],
    metadata: dict[str, Any],
    *,
    blind: bool,
    verbose: int,
) -> tuple[dict[str, list[FoldPredictions]], list[str]]:
    """Predictions of each model, and of the baselines that can be trained on these samples, with notes."""
    notes, others = [], baselines(models[MODEL], metadata) if blind else {}
    with progress(verbose, (len(models) + len(others)) * len(folds), "evaluate", "fits") as shown:
        found = cross_val_predictions(models, X, y, sample, folds, metadata, scored=MODEL, shown=shown)
        for name, other in others.items():
            try:
                found |= cross_val_predictions({name: other}, X, y, sample, folds, metadata, scored=None, shown=shown)
            except (TypeError, ValueError) as error:  # missing values or strings that only the model itself accepts
                notes.append(f"No {name}, which cannot be trained on these samples: {str(error).splitlines()[0]}")
    return found, notes + _notes_on_weights({name: (models | others)[name] for name in found}, sample, metadata)


def _notes_on_weights(models: dict[str, Any], sample: Samples, metadata: dict[str, Any]) -> list[str]:
    """The models that are trained without the weights, unless these are 0 and 1 only."""
    if (sample.weights[sample.nonzero_weights()] == 1.0).all():
        return []
    unweighted = [name for name, model in models.items() if not takes_weights(for_fit(clone(model), metadata))]
    return [f"{name} is trained without sample_weight, which does not reach its fit." for name in unweighted]
