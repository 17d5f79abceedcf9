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
from .._core.types import is_number
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

    Parameters
    ----------
    data : path, "-" or data frame
        CSV, Parquet (a file or a folder), LIBSVM text, the standard input, or a frame of pandas, polars or Arrow.
    target : str, default=None
        The column of labels; None for LIBSVM text. Rows without a label are left out.
    pos_label : label, default=None
        The positive class, or its text. If None, the larger label; required where labels are strings and costs differ.
    fn_cost, fp_cost : float or str, default=1.0
        Cost of a false negative and of a false positive: a number, a column, or a multiple of one such as
        ``"0.6*amount"``. The column is also a feature, unless it is dropped: drop what is not known at prediction time.
    weight : str, default=None
        A column of sample weights, which is not a feature.
    group : str, default=None
        A column of groups, such as customers; rows of a group stay in one fold. It is not a feature.
    drop : sequence of str, default=()
        Columns that are not features.
    category : sequence of str, default=()
        Columns of codes that look like numbers but are categories; may contain the target.
    currency : str, default=""
        Currency of the costs, for the card and for tables.
    out : path, default=None
        The model file to write: when the model is trained, and again with its evaluation.
    evaluation : bool, default=True
        Whether to estimate the cost of the decisions by nested cross-validation, which takes as many searches as there
        are folds. Ctrl-C keeps the model without an evaluation.
    decision, kernel, Cs, gammas, cv, n_jobs
        As for `CostSensitiveSVCCV`; the evaluation uses the same folds. Only ``decision="bayes"`` has probabilities and
        takes costs of new rows.
    random_state : int, default=0
        Seed of the shuffle of the rows into folds, and of the resampling for intervals.
    verbose : int, default=0
        1 shows progress on the error stream.

    Returns
    -------
    TrainedTable
        With ``model``, ``card`` and ``evaluation``.

    Examples
    --------
    >>> import pandas as pd
    >>> from cssvm._tables import train_table
    >>> loans = pd.DataFrame({"income": [9.0, 8.0, None, 2.0, 7.0, 1.0] * 5, "home": ["own", "rent"] * 15,
    ...                       "outcome": ["paid", "paid", "default", "default", "paid", "default"] * 5})
    >>> trained = train_table(loans, target="outcome", pos_label="default", fn_cost=5, Cs=3, gammas=3, evaluation=False)
    >>> [(column.name, column.kind) for column in trained.card.columns]
    [('income', 'number'), ('home', 'category')]
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


def _train(model: CostSensitiveSVCCV, table: TrainingData, currency: str, out: Any, verbose: int) -> TrainedTable:
    """Return the model fitted on all rows, and save it; Ctrl-C ends the search with its best point so far."""
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
    """Return the folds; a number of them is shuffled by the seed, unless that is the default of the library."""
    if not is_number(cv) or random_state == SEED:
        return cv
    kind = StratifiedGroupKFold if grouped else StratifiedKFold
    return kind(int(cv), shuffle=True, random_state=random_state)


def _evaluate(
    model: CostSensitiveSVCCV, table: TrainingData, currency: str, random_state: int, verbose: int
) -> Evaluation:
    """Evaluate the model on held-out rows, next to the baselines, a standard SVM and one with a tuned threshold."""
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


def _measures(found: Evaluation) -> dict[str, Any]:
    """Return the cost per case of each policy, for the card."""
    return {
        "cost per case" + ("" if policy.name == MODEL else f", {policy.name}"): policy.cost._asdict()
        for policy in found.policies
    }


def preparation(columns: Sequence[Column], features: Any) -> Any:
    """Return the unfitted transformer for the features of the training table."""
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
