"""How models decide on rows that they have not seen: trained in folds, or as they are."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .._core.folds import Fold
from .._core.positive_class import check_same_target, listed, positive_class_scores, with_pos_label
from .._core.prediction_costs import COSTS, costs_for_predict, predict_with_costs
from .._core.samples import Samples
from .._core.types import Mask, RowNumbers, Vector
from .._core.validation import take_samples
from .._meta import CostThresholdClassifier
from .._runtime.interrupts import interrupts
from .._runtime.progress import Silent
from .._runtime.threads import in_this_process
from ..metrics._action import LESS_OWN, ActionScores, action_scores
from ..metrics._income import ActionCosts
from ..metrics._risk import minimum_risk
from ..metrics._scored import ScoredSamples
from .metadata import for_fit
from .result import BLIND, RESERVED, ROW_COSTS, HeldOutDecisions

OWN_ESTIMATES = ("risk", "min_risk")  # scorings whose value is minus a cost per case


class Decided(NamedTuple):
    """Decisions of one fitted model.

    rows : (n,) row numbers; acted : (n,) bool, whether it acts on each; model : fitted, on `n_trained` rows, 0 if that
    is not known; scores : for acting, None where nobody asked for them.
    """

    rows: RowNumbers
    acted: Mask
    model: Any
    n_trained: int
    scores: ActionScores | None


def decided_in_folds(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    sample: Samples,
    folds: Sequence[Fold],
    metadata: dict[str, Any],
    *,
    scored: str | None,
    shown: Silent,
) -> dict[str, list[Decided]]:
    """The decisions of clones of each model on the rows that each fold holds out; `shown` is told of each.

    Scores are kept of the model named `scored`. Fits are one after the other, each on all cores, unless
    ``joblib.parallel_config`` says otherwise: then they go to its backend, which may be a cluster.
    """
    named_models = {name: with_pos_label(model, sample.target) for name, model in models.items()}
    calls = [
        delayed(_decided_in_fold)(model, X, y, sample, fold, metadata, scored=name == scored)
        for name, model in named_models.items()
        for fold in folds
    ]
    found: dict[str, list[Decided]] = {name: [] for name in models}
    names = [name for name in models for _ in folds]
    for name, decided in zip(names, Parallel(batch_size=1, return_as="generator")(calls), strict=True):
        found[name].append(decided)
        shown.advance(1)
    return found


def _decided_in_fold(
    model: Any, X: Any, y: Any, sample: Samples, fold: Fold, metadata: dict[str, Any], *, scored: bool
) -> Decided:
    """The decisions of a clone, trained on the rows of a fold, on those that the fold holds out."""
    train, held_out = fold
    X_train, y_train = _safe_split(model, X, y, train)
    X_new, _ = _safe_split(model, X, y, held_out, train)
    each = clone(model)
    with in_this_process(), interrupts(raised=True):
        each.fit(X_train, y_train, **for_fit(each, _at(metadata, train)))
        acted, scores = _decide(each, X_new, sample.take(held_out), _at(metadata, held_out), scored)
    return Decided(held_out, acted, each, len(train), scores)


def decided_as_is(model: Any, X: Any, sample: Samples, metadata: dict[str, Any], *, scored: bool) -> list[Decided]:
    """The decisions of a fitted model on all rows."""
    check_is_fitted(model)
    check_same_target(model, sample.target)
    known = getattr(model, "classes_", sample.target.classes)
    if not np.isin(sample.target.classes, known).all():
        raise ValueError(
            f"y must hold the classes {listed(np.asarray(known))} that {type(model).__name__} was fitted on; got "
            f"{listed(sample.target.classes)}. Pass labels in the form they had in fit."
        )
    acted, scores = _decide(model, X, sample, metadata, scored)
    return [Decided(np.arange(len(sample)), acted, model, 0, scores)]


def _decide(
    fitted: Any, X: Any, sample: Samples, metadata: dict[str, Any], scored: bool
) -> tuple[Mask, ActionScores | None]:
    """Whether a fitted model acts on each row, by its costs if it takes them, and its scores for acting."""
    target, labels = sample.target, np.asarray(predict_with_costs(fitted, X, metadata))
    strange = ~np.isin(labels, target.classes)
    if strange.any():
        raise ValueError(
            f"{type(fitted).__name__} must decide for one of the classes {listed(target.classes)}; its predict "
            f"returned {labels[strange][:1].tolist()[0]!r}. Pass a classifier."
        )
    acted, own = labels == target.label, {"fn_cost": sample.fn_cost, "fp_cost": sample.fp_cost}
    return acted, action_scores(fitted, X, acted, target, **own) if scored else None


def shares_acted_on(decided: Sequence[Decided], n_rows: int) -> Vector:
    """How often each row was acted on when held out, as a share, (n,)."""
    times, acted = np.zeros(n_rows), np.zeros(n_rows)
    for part in decided:
        acted[part.rows] += part.acted
        times[part.rows] += 1.0
    return acted / np.maximum(times, 1.0)


def held_out_decisions(decided: Sequence[Decided], sample: Samples, money: ActionCosts) -> HeldOutDecisions:
    """What a model's decisions, with their scores, say of the rows that count."""
    rows = np.concatenate([part.rows for part in decided])
    shared = sample.weights / np.maximum(np.bincount(rows, minlength=len(sample)), 1)
    counted = shared[rows] > 0
    scores = [part.scores for part in decided if part.scores is not None]
    fold = np.repeat(np.arange(len(decided)), [len(part.rows) for part in decided])
    return HeldOutDecisions(
        sample=replace(sample, weights=shared).take(rows[counted]),
        money=money.take(rows[counted]),
        acted=np.concatenate([part.acted for part in decided])[counted],
        scores=_at_one_threshold(scores, counted),
        fold=fold[counted],
        models=[part.model for part in decided],
        n_trained=[part.n_trained for part in decided],
    )


def _at_one_threshold(parts: Sequence[ActionScores], counted: Mask) -> ActionScores:
    """The scores of all models, less the threshold of each where these differ; nan where one is not known."""
    own, joined = np.array([part.own_threshold for part in parts]), parts[0]
    values = [part.values for part in parts]
    if own.min() != own.max():
        joined = joined._replace(own_threshold=np.nan)
        if np.isfinite(own).all():
            values = [part.values - part.own_threshold for part in parts]
            joined = joined._replace(own_threshold=0.0, kind=f"{joined.kind} {LESS_OWN}")
    return joined._replace(values=np.concatenate(values)[counted])


def cost_blind_cut(model: Any, X: Any, sample: Samples) -> Vector:
    """Whether each row is above the threshold with the fewest errors on the rows of `sample`, 0 or 1."""
    scores = positive_class_scores(model, X, pos_label=sample.target.label).values
    blind = replace(sample, cost=np.ones(len(sample)), fn_cost=1.0, fp_cost=1.0)
    return (scores >= minimum_risk(ScoredSamples.from_samples(blind, scores)).threshold).astype(np.float64)


def warn_of_giveaway(models: Iterable[Any], costs: dict[str, Any], positive: Mask) -> None:
    """Warn where decisions are handed a cost that only rows of one class have: it tells the class."""
    taken = {name for model in models for name in costs_for_predict(model)}
    for name, others in (("fn_cost", ~positive), ("fp_cost", positive)):
        cost = np.asarray(costs.get(name, 1.0), dtype=np.float64)
        if name in taken and cost.ndim and not np.nan_to_num(cost[others]).any():
            warnings.warn(
                f"{name} is 0 or missing on every row on which it does not count, and decisions are made by it: it "
                "tells them the class, and the figures are too good. Pass what each row would cost, whatever its "
                "class; where amounts are known of past targets only, use DirectCostClassifier.",
                UserWarning,
                stacklevel=3,
            )


def _at(metadata: dict[str, Any], rows: RowNumbers) -> dict[str, Any]:
    return {name: take_samples(value, rows) for name, value in metadata.items()}


def own_classifier(model: Any) -> Any:
    """The model, or the last step of a pipeline."""
    while hasattr(model, "steps"):
        model = model.steps[-1][1]
    return model


def baselines(model: Any, costs: dict[str, Any]) -> dict[str, Any]:
    """Models to compare any with: a standard SVC, and for decisions by the costs of rows one of least effort by these.

    Both stand behind the same preparation of the rows, also where that is inside a wrapper or a search.
    """
    pairwise = get_tags(model).input_tags.pairwise
    standard = SVC(kernel=own_classifier(_innermost(model)).kernel) if pairwise else SVC()
    found = {BLIND: _behind_preparation(model, standard)}
    by_rows = any(np.ndim(costs.get(name, 1.0)) for name in COSTS) and len(costs_for_predict(model)) == len(COSTS)
    if by_rows and not pairwise:
        learner = _behind_preparation(model, LogisticRegression(max_iter=1000))
        found[ROW_COSTS] = CostThresholdClassifier(learner, calibration=None)
    return found


def _innermost(model: Any) -> Any:
    """What a wrapper or a search is around, down to a pipeline."""
    while not hasattr(model, "steps") and hasattr(getattr(model, "estimator", None), "fit"):
        model = model.estimator
    return model


def _behind_preparation(model: Any, classifier: Any) -> Any:
    """A classifier in the place of that of the model."""
    model = _innermost(model)
    if hasattr(model, "steps"):
        return clone(model).set_params(**{model.steps[-1][0]: classifier})
    own = getattr(model, "transformer", None)
    return classifier if own is None else make_pipeline(clone(own), classifier)


def named(models: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Models by name: those given, or their classes, numbered where one occurs again."""
    if isinstance(models, Mapping):
        taken = [name for name in models if name in RESERVED]
        if taken:
            raise ValueError(
                f"compare must not use the names {list(RESERVED)}, which the table has already; got {taken[0]!r}. "
                "Give this model another name."
            )
        return dict(models)
    found: dict[str, Any] = {}
    for each in models:
        name, number = type(own_classifier(each)).__name__, 2
        while (name if number == 2 else f"{name} {number - 1}") in found:
            number += 1
        found[name if number == 2 else f"{name} {number - 1}"] = each
    return found


def has_own_estimate(fitted: Any) -> bool:
    """Whether a fitted search expects a cost per case itself, of the decisions that it makes.

    One that decides by the costs of each row has chosen by another decision, the sign of f.
    """
    return getattr(fitted, "scoring", None) in OWN_ESTIMATES and not getattr(fitted, "decides_by_costs", True)
