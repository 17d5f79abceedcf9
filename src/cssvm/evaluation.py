"""`evaluate`: what a model's decisions will cost, in one call and beside what else one could do."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import column_or_1d

from ._types import Mask, Vector
from .classifier import two_classes
from .decisions import COSTS, costs_for_predict, decider_of
from .folds import Fold, make_splits
from .metrics.bootstrap import check_request, generator, percentile_interval, resample_counts
from .outcomes import OUTCOMES, decision_costs
from .sample import Sample, at_rows, in_row_order
from .search.progress import Silent, progress
from .target import Target, own_pos_label

MODEL, NOBODY, EVERYBODY, BLIND = "model", "act on nobody", "act on everybody", "cost-blind SVC"
OWN_ESTIMATES = ("risk", "min_risk")  # scorings whose value is minus a cost per case


class Interval(NamedTuple):
    """A value with the ends of its interval."""

    value: float
    low: float
    high: float

    def __repr__(self) -> str:
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


@dataclass(frozen=True)
class Policy:
    """One way to decide, on the held-out rows.

    cost : per case; total : of all rows; difference : of the cost per case to the model's, row by row, positive where
    this policy costs more; misses, alarms, actions : weights of the rows missed, of the false alarms, and of all rows
    acted on.
    """

    name: str
    cost: Interval
    total: float
    misses: float
    alarms: float
    actions: float
    difference: Interval | None


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` returns; it prints as a table.

    policies : the model first, then the others; own_estimate : the cost per case that the model's own search expected,
    nan for a model without one; decisions : for each policy whether it acts on each row, (n_samples,) bool, for rows
    that were held out; n_rows : how many these are.
    """

    policies: list[Policy]
    own_estimate: float
    decisions: dict[str, Mask]
    n_rows: int
    confidence: float
    currency: str = ""

    def __getitem__(self, name: str) -> Policy:
        return next(policy for policy in self.policies if policy.name == name)

    @property
    def model(self) -> Policy:
        """The model's line."""
        return self.policies[0]

    def to_frame(self) -> Any:
        """The table as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "policy": policy.name,
                    "cost": policy.cost.value,
                    "cost_low": policy.cost.low,
                    "cost_high": policy.cost.high,
                    "total": policy.total,
                    "misses": policy.misses,
                    "alarms": policy.alarms,
                    "actions": policy.actions,
                    "difference": np.nan if policy.difference is None else policy.difference.value,
                    "difference_low": np.nan if policy.difference is None else policy.difference.low,
                    "difference_high": np.nan if policy.difference is None else policy.difference.high,
                }
                for policy in self.policies
            ]
        ).set_index("policy")

    def __str__(self) -> str:
        unit = f" {self.currency}" if self.currency else ""
        head = ("", f"cost per case{unit}", "total", "missed", "alarms", "acted on", "more than the model")
        lines = [head, *(self._line(policy) for policy in self.policies)]
        widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
        table = [
            "  ".join(
                [line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))]
            )
            for line in lines
        ]
        notes = [
            f"{self.n_rows:,} rows, each decided by a model that has not seen it; intervals of {self.confidence:.0%}."
        ]
        if np.isfinite(self.own_estimate):
            notes.append(
                f"The search itself expected {self.own_estimate:.4g} per case; it has chosen by these numbers."
            )
        return "\n".join([*(line.rstrip() for line in table), *notes])

    __repr__ = __str__

    @staticmethod
    def _line(policy: Policy) -> tuple[str, ...]:
        counts = (f"{value:,.0f}" for value in (policy.total, policy.misses, policy.alarms, policy.actions))
        return (policy.name, repr(policy.cost), *counts, "" if policy.difference is None else repr(policy.difference))


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
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
    currency: str = "",
    verbose: int = 0,
) -> Evaluation:
    """What the decisions of a model cost on rows it has not seen, beside the plain policies and other models.

    Each fold trains a clone and decides on the rows held out. Costs, given once here, reach `fit`, `predict` and the
    sum. A search is searched anew in every fold, so that its choice is paid for as well (nested cross-validation).

    Parameters
    ----------
    model : classifier
        Not fitted, or fitted: it is cloned. A pipeline, a search or a wrapper will do, and any scikit-learn classifier.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Rows, in any form the model takes.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
        What a miss and a false alarm cost, for all rows or for each; None takes the model's own, and 1 if it has none.
    tp_cost, tn_cost : float or array-like of shape (n_samples,), default=0.0
        What acting on a row of the target costs, and leaving one of the other class alone, if they do; negative where
        they earn. Models learn and decide by the differences (`decision_costs`), the table counts all four; a negative
        cost there is an income.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row, in training where the model takes it and in the sums.
    groups : array-like of shape (n_samples,), default=None
        Rows that belong together and are held out together.
    pos_label : label, default=None
        The target; None takes the model's own, then the larger label.
    cv : int, splitter or iterable of splits, default=5
        An integer means stratified folds of shuffled rows; rows in time want ``TimeSeriesSplit``.
    compare : dict of names and models, or list of models, default=()
        Further models to compare with.
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
        It prints as a table. Intervals are over rows: how much the figures would vary with other rows of this kind, for
        models trained on as many.

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
    given = in_row_order(X, y, **outcomes, sample_weight=sample_weight, groups=groups)
    groups = given.pop("groups")
    own = {name: getattr(_own(model), name, 1.0) if given[name] is None else given[name] for name in COSTS}
    outcomes = {name: own.get(name, given[name]) for name in OUTCOMES}
    decisive = dict(decision_costs(**outcomes))
    all_four = any(np.ndim(given[name]) or given[name] != 0.0 for name in ("tp_cost", "tn_cost"))
    costs = {name: decisive[name] for name in COSTS if all_four or given[name] is not None}
    labels = column_or_1d(y, warn=True)
    classes, index = two_classes(labels, whose="evaluate")
    target = Target.among(classes, own_pos_label(model) if pos_label is None else pos_label)
    sample = Sample.of(target, index == target.index, **decisive, sample_weight=given["sample_weight"])
    sample.check_whole()
    money = Money.of(sample, outcomes)
    folds = make_splits(cv, X, labels, positive=sample.positive, weights=sample.weights, groups=groups)
    rows = np.unique(np.concatenate([fold.valid for fold in folds]))
    models = {MODEL: model, BLIND: _blind(model)} | _named(compare)
    metadata = costs | ({} if given["sample_weight"] is None else {"sample_weight": sample.weights})
    metadata |= {} if groups is None else {"groups": np.asarray(groups)}
    found = _all_decisions(models, X, labels, sample, folds, metadata, verbose)
    accepted = {name: shares for name, (shares, _) in found.items()}
    order = [MODEL, NOBODY, EVERYBODY, BLIND, *(name for name in models if name not in (MODEL, BLIND))]
    policies = _policies(
        {name: accepted[name][rows] for name in order},
        sample.take(rows),
        Money(money.acting[rows], money.leaving[rows]),
        n_resamples,
        confidence,
        random_state,
    )
    estimates = [-fitted.best_score_ for fitted in found[MODEL][1] if _has_own_estimate(fitted)]
    return Evaluation(
        policies=policies,
        own_estimate=float(np.mean(estimates)) if estimates else np.nan,
        decisions={name: accepted[name] > 0.5 for name in order},
        n_rows=len(rows),
        confidence=confidence,
        currency=currency,
    )


class Money(NamedTuple):
    """What acting on each row costs, and what leaving it alone, given its class: (n,) each."""

    acting: Vector
    leaving: Vector

    @classmethod
    def of(cls, sample: Sample, outcomes: dict[str, Any]) -> Money:
        """From the costs of the four outcomes, numbers or (n,) each."""
        tp, fp, tn, fn = (np.asarray(outcomes[name], dtype=np.float64) for name in OUTCOMES)
        return cls(np.where(sample.positive, tp, fp), np.where(sample.positive, fn, tn))


def _policies(
    accepted: dict[str, Vector], sample: Sample, money: Money, n_resamples: int, confidence: float, random_state: Any
) -> list[Policy]:
    """The line of each policy, given the share of times that each row was acted on; intervals from shared resamples."""
    weights = sample.weights
    wrong = np.array([np.where(sample.positive, 1.0 - each, each) for each in accepted.values()])
    stakes = np.array([weights * (each * money.acting + (1.0 - each) * money.leaving) for each in accepted.values()])
    counts = resample_counts([np.arange(len(sample))], n_resamples, generator(random_state), stratified=False)
    means = np.concatenate([batch @ stakes.T / (batch @ weights)[:, np.newaxis] for batch in counts])
    cost, total = stakes.sum(axis=1) / weights.sum(), stakes.sum(axis=1)
    low, high = percentile_interval(means, confidence)
    apart_low, apart_high = percentile_interval(means - means[:, :1], confidence)
    return [
        Policy(
            name=name,
            cost=Interval(float(cost[k]), float(low[k]), float(high[k])),
            total=float(total[k]),
            misses=float((wrong[k] * weights)[sample.positive].sum()),
            alarms=float((wrong[k] * weights)[~sample.positive].sum()),
            actions=float(acted @ weights),
            difference=None
            if k == 0
            else Interval(float(cost[k] - cost[0]), float(apart_low[k]), float(apart_high[k])),
        )
        for k, (name, acted) in enumerate(accepted.items())
    ]


def _all_decisions(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    sample: Sample,
    folds: Sequence[Fold],
    metadata: dict[str, Any],
    verbose: int,
) -> dict[str, tuple[Vector, list[Any]]]:
    """`_decisions` of each model and of the plain policies, by name."""
    with progress(verbose, len(models) * len(folds), "evaluate", "fits") as shown:
        found = {name: _decisions(each, X, y, sample, folds, metadata, shown) for name, each in models.items()}
    return found | {NOBODY: (np.zeros(len(sample)), []), EVERYBODY: (np.ones(len(sample)), [])}


def _decisions(
    model: Any, X: Any, y: Any, sample: Sample, folds: Sequence[Fold], metadata: dict[str, Any], shown: Silent
) -> tuple[Vector, list[Any]]:
    """How often each row was acted on when held out, as a share, (n,); and the models of the folds."""
    times, acted, fitted = np.zeros(len(sample)), np.zeros(len(sample)), []
    for train, held_out in folds:
        X_train, y_train = _safe_split(model, X, y, train)
        X_new, _ = _safe_split(model, X, y, held_out, train)
        each = clone(model)
        each.fit(X_train, y_train, **_for_fit(each, {name: at_rows(value, train) for name, value in metadata.items()}))
        decider = decider_of(each)
        names = [name for name in costs_for_predict(decider) if name in metadata]
        labels = decider.predict(X_new, **{name: at_rows(metadata[name], held_out) for name in names})
        acted[held_out] += np.asarray(labels) == sample.target.label
        times[held_out] += 1.0
        fitted.append(each)
        shown.advance(1)
    return acted / np.maximum(times, 1.0), fitted


def _for_fit(model: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    """What `fit` of a model, or of a pipeline's last step, takes of costs, weights and groups, by its own names."""
    if get_config()["enable_metadata_routing"]:
        names = get_routing_for_object(model).consumes("fit", metadata.keys())
        return {name: metadata[name] for name in names}
    prefix, last = "", model
    while hasattr(last, "steps"):
        step, last = last.steps[-1]
        prefix += f"{step}__"
    taken = inspect.signature(last.fit).parameters
    unused = () if getattr(last, "trains_by_costs", True) else COSTS
    return {f"{prefix}{name}": value for name, value in metadata.items() if name in taken and name not in unused}


def _own(model: Any) -> Any:
    """The model, or the last step of a pipeline."""
    while hasattr(model, "steps"):
        model = model.steps[-1][1]
    return model


def _blind(model: Any) -> Any:
    """A standard SVC behind the same preparation of the rows, also where that is inside a wrapper or a search."""
    while not hasattr(model, "steps") and getattr(model, "estimator", None) is not None:
        model = model.estimator
    blind = SVC(kernel=_own(model).kernel) if get_tags(model).input_tags.pairwise else SVC()
    if hasattr(model, "steps"):
        return clone(model).set_params(**{model.steps[-1][0]: blind})
    own = getattr(model, "transformer", None)
    return blind if own is None else make_pipeline(clone(own), blind)


def _named(models: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Models by name: those given, or their classes, numbered where one occurs again."""
    if isinstance(models, Mapping):
        return dict(models)
    named: dict[str, Any] = {}
    for each in models:
        name, number = type(_own(each)).__name__, 2
        while (name if number == 2 else f"{name} {number - 1}") in named:
            number += 1
        named[name if number == 2 else f"{name} {number - 1}"] = each
    return named


def _has_own_estimate(fitted: Any) -> bool:
    return hasattr(fitted, "best_score_") and getattr(fitted, "scoring", None) in OWN_ESTIMATES
