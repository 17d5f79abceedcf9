"""Training on a table: a search for a model, its card, and its evaluation on held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from .._core.folds import SEED
from .._core.validation import is_number
from .._evaluation import Evaluation, evaluate
from .._evaluation.result import MODEL
from .._kernels import DEFAULT_KERNEL
from .._meta import CostThresholdClassifier
from .._runtime.files import check_writable
from .._runtime.progress import SearchInterruptedWarning, interrupts
from .._search import CostSensitiveSVCCV
from ..deploy import Column, ModelCard
from ..deploy._card import CATEGORY, NUMBER
from ..deploy._model_file import check_savable, save_or_keep
from .training_data import TrainingData

TUNED = "tuned threshold"


@dataclass(frozen=True)
class TrainedTable:
    """A fitted model, its `ModelCard`, and its evaluation on held-out rows if there was one."""

    model: Any
    card: ModelCard
    evaluation: Evaluation | None


def train_table(
    data: Any,
    *,
    target: str | None = None,
    pos_label: Any = None,
    fn_cost: Any = 1.0,
    fp_cost: Any = 1.0,
    weight: str | None = None,
    group: str | None = None,
    drop: Sequence[str] = (),
    category: Sequence[str] = (),
    currency: str = "",
    out: Any = None,
    evaluation: bool = True,
    decision: str = "bayes",
    kernel: str = DEFAULT_KERNEL,
    Cs: Any = 10,
    gammas: Any = 10,
    cv: Any = 5,
    random_state: int = SEED,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> TrainedTable:
    """Train a cost-sensitive SVM on a table: read, preprocess, search, evaluate and save in one call.

    `data` is CSV, Parquet, LIBSVM text, "-" for the standard input, or a data frame. A cost is a number, a column, or a
    multiple of one such as ``"0.6*amount"``; `target`, `weight` and `group` are columns and not features. Columns of
    `category` are categories even if they look like numbers. `decision`, `kernel`, `Cs`, `gammas` and `cv` are those of
    `CostSensitiveSVCCV`; the evaluation is nested cross-validation over the same folds, and Ctrl-C in it keeps the
    model. `out` is written when the model is trained, and again with its evaluation.
    """
    if out is not None:
        check_writable(Path(out), data=data)
    table = TrainingData.read(
        data,
        target=target,
        pos_label=pos_label,
        costs={"fn_cost": fn_cost, "fp_cost": fp_cost},
        weight=weight,
        group=group,
        drop=drop,
        category=category,
        decided_by_costs=evaluation and decision == "bayes",
    )
    model = CostSensitiveSVCCV(
        transformer=preparation(table.columns, table.X),
        decision=decision,
        kernel=kernel,
        Cs=Cs,
        gammas=gammas,
        cv=_splits(cv, random_state, grouped=group is not None),
        n_jobs=n_jobs,
        pos_label=table.pos_label,
        **table.class_costs,
    )
    trained = _train(model, table, currency, out, verbose)
    if not evaluation or model.interrupted_:
        return trained
    try:
        found = _evaluate(model, table, currency, random_state, verbose)
    except KeyboardInterrupt:
        kept = "The evaluation was interrupted; the model is kept without its figures."
        warnings.warn(kept, SearchInterruptedWarning, stacklevel=2)
        return trained
    return _save(TrainedTable(model, replace(trained.card, measures=_measures(found)), found), out)


def _measures(found: Evaluation) -> dict[str, Any]:
    """The cost per row of each policy, for the card."""
    return {
        "cost per row" + ("" if policy.name == MODEL else f", {policy.name}"): policy.cost._asdict()
        for policy in found.policies
    }


def _train(model: CostSensitiveSVCCV, table: TrainingData, currency: str, out: Any, verbose: int) -> TrainedTable:
    """Fit the model on all rows and save it; Ctrl-C ends the search with its best point so far."""
    if out is not None:
        check_savable(clone(model.transformer).fit(table.X))
    with interrupts(raised=False):
        model.set_params(verbose=verbose).fit(table.X, table.y, **table.fit_params)
    model.set_params(verbose=0)  # the saved model must not print progress
    card = ModelCard.from_model(model, currency=currency or None, **table.card_fields)
    if model.interrupted_:
        note = "the search was interrupted: the model is the best of the points scored"
        card = replace(card, notes=[*card.notes, note])
    return _save(TrainedTable(model, card, None), out)


def _save(trained: TrainedTable, out: Any) -> TrainedTable:
    if out is not None:
        save_or_keep(trained.model, Path(out), trained.card)
    return trained


def _splits(cv: Any, random_state: int, *, grouped: bool) -> Any:
    """The folds; a number of them is shuffled by a seed other than the default."""
    if not is_number(cv) or random_state == SEED:
        return cv
    kind = StratifiedGroupKFold if grouped else StratifiedKFold
    return kind(int(cv), shuffle=True, random_state=random_state)


def _evaluate(
    model: CostSensitiveSVCCV, table: TrainingData, currency: str, random_state: int, verbose: int
) -> Evaluation:
    """Compare the model with the baselines and a standard SVM with a tuned threshold, on held-out rows."""
    tuned = CostThresholdClassifier(
        make_pipeline(clone(model.transformer), SVC()),
        method="tuned",
        cv=model.cv,
        pos_label=table.pos_label,
        **table.class_costs,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the final search warns of the same
        return evaluate(
            model,
            table.X,
            table.y,
            **table.fit_params,
            cv=model.cv,
            compare={TUNED: tuned},
            random_state=random_state,
            currency=currency,
            verbose=verbose,
        )


def preparation(columns: Sequence[Column], features: Any) -> Any:
    """The unfitted transformer for the features of the training table."""
    from sklearn.preprocessing import MaxAbsScaler

    from .._preprocessing import column_preprocessor

    if not hasattr(features, "columns"):
        return MaxAbsScaler().set_output(transform="default")  # sparse, whatever set_config says
    categories = [column for column in columns if column.kind == CATEGORY]
    return column_preprocessor(
        [column.name for column in columns if column.kind == NUMBER],
        [column.name for column in categories],
        known=[np.array(column.categories, dtype=object) for column in categories],
    )
