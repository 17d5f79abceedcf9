"""`train_table`: from a table to a model with a card, searched, and judged on rows it has not seen."""

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
from .._runtime.interrupts import SearchInterruptedWarning, interrupts
from .._search import CostSensitiveSVCCV
from ..deploy import Column, ModelCard
from ..deploy._card import CATEGORY, NUMBER
from ..deploy._model_file import check_savable, save_or_keep
from .training_data import TrainingData

TUNED = "tuned threshold"


@dataclass(frozen=True)
class TrainedTable:
    """What `train_table` returns.

    model : the fitted `CostSensitiveSVCCV`, or the pipeline of `train_on_cluster`; card : its `ModelCard`, whose notes
    say what was left out; evaluation : what its decisions cost on rows it has not seen, None if that was not asked for.
    """

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
    """Train a cost-sensitive SVM on a table: columns read, prepared, searched, judged and saved in one call.

    Parameters
    ----------
    data : path, "-" or data frame
        CSV, Parquet (a file or a folder), LIBSVM text, the standard input, or a frame of pandas, polars or Arrow.
    target : str, default=None
        The column of labels; None for LIBSVM text. Rows without a label are left out.
    pos_label : label, default=None
        The target class, the one that `fn_cost` is about, or how it is written; None means the larger label. It must be
        given where labels are words and costs differ.
    fn_cost, fp_cost : float or str, default=1.0
        What a miss and a false alarm cost: a number, a column, or a multiple of one such as ``"0.6*amount"``. The
        column is learnt from as well, unless it is dropped: drop what is not known when a decision is due.
    weight : str, default=None
        A column of row weights. It is not learnt from.
    group : str, default=None
        A column of what belongs together, such as customers, and is held out together. It is not learnt from.
    drop : sequence of str, default=()
        Columns that are not learnt from.
    category : sequence of str, default=()
        Columns of codes that are words although they look like numbers, also that of the labels.
    currency : str, default=""
        Of the costs, for the card and for tables.
    out : path, default=None
        The model file to write: when the model is trained, and again with its figures when these are known.
    evaluation : bool, default=True
        Whether to find out, by nested cross-validation, what the decisions cost; this takes as many searches as there
        are folds. Ctrl-C keeps the model without these figures.
    decision : {"bayes", "zero", "threshold"}, default="bayes"
        What the model decides by, as in `CostSensitiveSVCCV`. Only ``"bayes"`` has probabilities and takes costs of
        new rows.
    kernel : str, default="rbf"
        A name from `cssvm._kernels.KERNEL_NAMES`.
    Cs, gammas : int or array-like of float, default=10
        Values to try, or how many automatic ones.
    cv : int or splitter, default=5
        Folds, of the search and of the evaluation; rows in time want ``TimeSeriesSplit``.
    random_state : int, default=0
        Seed of the shuffle of the rows into folds, and of the resampling for intervals.
    n_jobs : int, default=None
        Threads to use; None for all.
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
    task = TrainingData.read(
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
        transformer=preparation(task.columns, task.X),
        decision=decision,
        kernel=kernel,
        Cs=Cs,
        gammas=gammas,
        cv=_splits(cv, random_state, grouped=group is not None),
        n_jobs=n_jobs,
        pos_label=task.pos_label,
        **task.class_costs,
    )
    trained = _trained(model, task, currency, out, verbose)
    if not evaluation or model.interrupted_:
        return trained
    try:
        found = _evaluated(model, task, currency, random_state, verbose)
    except KeyboardInterrupt:
        kept = "The evaluation was interrupted; the model is kept without its figures."
        warnings.warn(kept, SearchInterruptedWarning, stacklevel=2)
        return trained
    return _saved(TrainedTable(model, replace(trained.card, measures=_measures(found)), found), out)


def _trained(model: CostSensitiveSVCCV, task: TrainingData, currency: str, out: Any, verbose: int) -> TrainedTable:
    """The model fitted on all rows and saved; Ctrl-C ends the search, whose best point so far is the model."""
    if out is not None:
        check_savable(clone(model.transformer).fit(task.X))
    with interrupts(raised=False):
        model.set_params(verbose=verbose).fit(task.X, task.y, **task.of_rows)
    model.set_params(verbose=0)  # a file is not to report the progress of a search
    card = ModelCard.from_model(model, currency=currency or None, **task.described)
    if model.interrupted_:
        note = "the search was interrupted: the model is the best of the points scored"
        card = replace(card, notes=[*card.notes, note])
    return _saved(TrainedTable(model, card, None), out)


def _saved(trained: TrainedTable, out: Any) -> TrainedTable:
    if out is not None:
        save_or_keep(trained.model, Path(out), trained.card)
    return trained


def _splits(cv: Any, random_state: int, *, grouped: bool) -> Any:
    """Folds as asked for; a number of them is shuffled by the seed, the library's own being left to it."""
    if not is_number(cv) or random_state == SEED:
        return cv
    kind = StratifiedGroupKFold if grouped else StratifiedKFold
    return kind(int(cv), shuffle=True, random_state=random_state)


def _evaluated(
    model: CostSensitiveSVCCV, task: TrainingData, currency: str, random_state: int, verbose: int
) -> Evaluation:
    """The model on rows held out, beside the plain policies, a plain SVM, and that with a tuned threshold."""
    tuned = CostThresholdClassifier(
        make_pipeline(clone(model.transformer), SVC()),
        method="tuned",
        cv=model.cv,
        pos_label=task.pos_label,
        **task.class_costs,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the final search says of itself what these say of its folds
        return evaluate(
            model,
            task.X,
            task.y,
            **task.of_rows,
            cv=model.cv,
            compare={TUNED: tuned},
            random_state=random_state,
            currency=currency,
            verbose=verbose,
        )


def _measures(found: Evaluation) -> dict[str, Any]:
    """The cost per case of each policy, for the card."""
    return {
        "cost per case" + ("" if policy.name == MODEL else f", {policy.name}"): policy.cost._asdict()
        for policy in found.policies
    }


def preparation(columns: Sequence[Column], features: Any) -> Any:
    """The transformer in front of the SVM, not fitted, for the features of the training table."""
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
