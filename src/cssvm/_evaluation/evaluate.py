"""`evaluate`: what a model's decisions will cost, in one call and beside what else one could do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import column_or_1d

from .._core.classifier import two_classes
from .._core.cost_matrix import OUTCOMES, decision_costs
from .._core.folds import Fold, check_groups, make_splits
from .._core.positive_class import RESPONSES, PositiveClass, own_pos_label
from .._core.prediction_costs import COSTS
from .._core.samples import Samples
from .._core.types import RowNumbers, Vector
from .._core.validation import align_to_samples
from .._meta.routing import takes_weights
from .._runtime.progress import progress
from ..metrics._bootstrap import check_request
from ..metrics._income import ActionCosts
from ..metrics._policies import compare_policies
from .cross_val import (
    Decided,
    baselines,
    cost_blind_cut,
    decided_as_is,
    decided_in_folds,
    has_own_estimate,
    held_out_decisions,
    named,
    shares_acted_on,
    warn_of_giveaway,
)
from .metadata import for_fit, taker_of_costs
from .result import EVERYBODY, FEWEST_ERRORS, MODEL, NOBODY, RESERVED, Evaluation, HeldOutDecisions

PREFIT = "prefit"


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
    """What the decisions of a model cost on rows it has not seen, beside the plain policies and other models.

    Each fold trains a clone and decides on the rows held out. Costs, given once here, reach `fit`, `predict` and the
    sum. A search is searched anew in every fold, so that its choice is paid for as well (nested cross-validation).

    Fits are one after the other, each on all cores. Inside ``joblib.parallel_config(backend="dask")``, or any other
    backend of joblib, the fits of all models and folds go there side by side, and the figures are the same.

    Parameters
    ----------
    model : classifier
        Not fitted, or fitted: it is cloned. A pipeline, a search or a wrapper will do, and any scikit-learn classifier.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Rows, in any form the model takes.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
        What a miss and a false alarm cost, for all rows or for each. None takes the model's own, and 1 if it has none;
        it is 0 where `tp_cost` or `tn_cost` is given.
    tp_cost, tn_cost : float or array-like of shape (n_samples,), default=0.0
        What acting on a row of the target costs, and leaving one of the other class alone, if they do; negative where
        they earn. Models learn and decide by the differences (`decision_costs`), the table counts all four; a negative
        cost there is an income.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row, in training where the model takes it and in the sums; a model trained without it is named
        in `notes`. Rows of weight 0 are removed from all folds, so that no model is trained on them.
    groups : array-like of shape (n_samples,), default=None
        Rows that belong together: they are held out together, and together drawn for the intervals. A row whose group
        is missing or empty is a group of its own, with a warning.
    pos_label : label, default=None
        The target, also of models that name none; a model that names another is refused. None takes the model's own,
        then the larger label.
    cv : int, splitter, iterable of splits or "prefit", default=5
        An integer means stratified folds of shuffled rows; rows in time want ``TimeSeriesSplit``. ``"prefit"``: the
        models are fitted and decide as they are, on rows that they must not have seen; in place of a cost-blind SVC,
        which would need training rows, stands the cut of the model's scores with the fewest errors on these rows.
    compare : dict of names and models, or list of models, default=()
        Further models to compare with.
    blind : bool, default=True
        Whether to compare with a standard SVC behind the same preparation of the rows, which knows no costs, and, if
        the model decides by costs given for each row, with a logistic regression that does so too
        (`CostThresholdClassifier`). One that cannot be trained on these rows is left out, with a note.
    n_resamples : int, default=1000
        Resamples of the rows for the intervals.
    confidence : float, default=0.95
        Of the intervals.
    random_state : int, RandomState instance or None, default=0
        Seed of the resampling.
    currency : str, default=""
        Named in the table.
    verbose : int, default=0
        1 shows progress and the time left.

    Returns
    -------
    Evaluation
        It prints as a table. Intervals are over rows, or groups: how much the figures would vary with others of this
        kind, for models trained on as many. They are percentiles of resamples, too narrow where few rows or groups make
        up most of the cost: for costs spread like exp of a standard normal, intervals of 95 % cover about 80 % with 100
        rows and 90 % with 300.

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
    costs = _Costs.of(model, given)
    classes, index = two_classes(labels, whose="evaluate")
    target = PositiveClass.among(classes, own_pos_label(model) if pos_label is None else pos_label)
    sample = Samples.of(target, index == target.index, **costs.decisive, sample_weight=given["sample_weight"])
    sample.check_whole()
    metadata = costs.handed_over | ({} if given["sample_weight"] is None else {"sample_weight": sample.weights})
    metadata |= {} if groups is None else {"groups": groups}
    models, cut, estimates = {MODEL: model} | named(compare), {}, []
    warn_of_giveaway(models.values(), costs.handed_over, sample.positive)
    notes: list[str] = []
    if isinstance(cv, str) and cv == PREFIT:
        found = {name: decided_as_is(m, X, sample, metadata, scored=name == MODEL) for name, m in models.items()}
        if blind and any(hasattr(model, response) for response in RESPONSES):
            cut = {FEWEST_ERRORS: cost_blind_cut(model, X, sample)}
    else:
        splits = make_splits(cv, X, labels, positive=sample.positive, weights=sample.weights, groups=groups)
        folds = _without_weight_zero(splits, sample)
        found, notes = _trained_in_folds(models, X, labels, sample, folds, metadata, blind=blind, verbose=verbose)
        if not costs.all_four:
            estimates = [-part.model.best_score_ for part in found[MODEL] if has_own_estimate(part.model)]
    money = ActionCosts.from_outcomes(sample, costs.outcomes)
    return compared(
        {name: shares_acted_on(parts, len(sample)) for name, parts in found.items()} | cut,
        sample,
        money,
        rows=np.unique(np.concatenate([part.rows for part in found[MODEL]])),
        groups=groups,
        held_out=held_out_decisions(found[MODEL], sample, money),
        own_estimate=float(np.mean(estimates)) if estimates else np.nan,
        resampling=(n_resamples, confidence, random_state),
        currency=currency,
        notes=notes,
    )


class _Costs(NamedTuple):
    """Costs by name, numbers or (n,) each.

    outcomes : of all four, which the table counts; decisive : `fn_cost` and `fp_cost` that models are to decide by;
    handed_over : those of them that models are given, the others being their own; all_four : whether a right decision
    costs or earns as well.
    """

    outcomes: dict[str, Any]
    decisive: dict[str, Any]
    handed_over: dict[str, Any]
    all_four: bool

    @classmethod
    def of(cls, model: Any, given: dict[str, Any]) -> _Costs:
        """Of the costs given, None for those that were not."""
        if any(np.ndim(given[name]) or given[name] != 0.0 for name in ("tp_cost", "tn_cost")):
            outcomes = {name: 0.0 if given[name] is None else given[name] for name in OUTCOMES}
            decisive = dict(decision_costs(**outcomes))
            return cls(outcomes, decisive, decisive, all_four=True)
        taker = taker_of_costs(model)
        own = {name: getattr(taker, name, 1.0) if given[name] is None else given[name] for name in COSTS}
        given_here = {name: given[name] for name in COSTS if given[name] is not None}
        return cls({"tp_cost": 0.0, "tn_cost": 0.0} | own, own, given_here, all_four=False)


def _without_weight_zero(splits: list[Fold], sample: Samples) -> list[Fold]:
    """The folds without samples of weight 0; a fold that holds out no others is dropped."""
    if sample.weights.all():
        return splits
    folds = [Fold(*(rows[sample.weights[rows] > 0] for rows in parts)) for parts in splits]
    if not any(len(fold.valid) for fold in folds):
        raise ValueError(
            "cv must hold out samples of positive weight; all that it holds out have sample_weight 0. Use other folds, "
            "or other weights."
        )
    return [fold for fold in folds if len(fold.valid)]


def _trained_in_folds(
    models: dict[str, Any],
    X: Any,
    y: Any,
    sample: Samples,
    folds: list[Fold],
    metadata: dict[str, Any],
    *,
    blind: bool,
    verbose: int,
) -> tuple[dict[str, list[Decided]], list[str]]:
    """The decisions of each model, and of the baselines that can be trained on these rows; what there is to say."""
    notes, others = [], baselines(models[MODEL], metadata) if blind else {}
    with progress(verbose, (len(models) + len(others)) * len(folds), "evaluate", "fits") as shown:
        found = decided_in_folds(models, X, y, sample, folds, metadata, scored=MODEL, shown=shown)
        for name, other in others.items():
            try:
                found |= decided_in_folds({name: other}, X, y, sample, folds, metadata, scored=None, shown=shown)
            except (TypeError, ValueError) as error:  # gaps or words that only the model itself can take
                notes.append(f"No {name}, which cannot be trained on these rows: {str(error).splitlines()[0]}")
    return found, notes + _notes_on_weights({name: (models | others)[name] for name in found}, sample, metadata)


def _notes_on_weights(models: dict[str, Any], sample: Samples, metadata: dict[str, Any]) -> list[str]:
    """Which models are trained without the weights; those of weights 0 and 1 have nothing to miss."""
    if (sample.weights[sample.counted()] == 1.0).all():
        return []
    unweighted = [name for name, model in models.items() if not takes_weights(for_fit(clone(model), metadata))]
    return [f"{name} is trained without sample_weight, which does not reach its fit." for name in unweighted]


def compared(
    accepted: dict[str, Vector],
    sample: Samples,
    money: ActionCosts,
    *,
    rows: RowNumbers,
    groups: NDArray[Any] | None = None,
    held_out: HeldOutDecisions,
    own_estimate: float,
    resampling: tuple[int, float, Any],
    currency: str,
    notes: Sequence[str] = (),
) -> Evaluation:
    """The table of policies that act on a share (n,) of each row: the model, the plain ones, then the others.

    rows : row numbers of those held out, of which the ones of weight 0 are left out.
    """
    accepted = accepted | {NOBODY: np.zeros(len(sample)), EVERYBODY: np.ones(len(sample))}
    order = [each for each in RESERVED if each in accepted]
    order += [name for name in accepted if name not in order]
    rows = rows[sample.weights[rows] > 0]
    at_rows_held_out = {name: accepted[name][rows] for name in order}
    return Evaluation(
        policies=compare_policies(
            at_rows_held_out,
            sample.take(rows),
            money.take(rows),
            *resampling,
            groups=None if groups is None else groups[rows],
        ),
        own_estimate=own_estimate,
        decisions={name: accepted[name] > 0.5 for name in order},
        n_rows=len(rows),
        confidence=resampling[1],
        currency=currency,
        held_out=held_out,
        notes=tuple(notes),
    )
