"""`report_table`: a report on a saved model, from a table whose labels are known."""

from __future__ import annotations

from typing import Any

from .._report import Report
from .chunk import TableError
from .cost_spec import read_weight_column
from .scoring import Decider
from .sources import open_table


def report_table(
    model: Any,
    data: Any,
    *,
    target: str | None = None,
    fn_cost: Any = None,
    fp_cost: Any = None,
    weight: str | None = None,
    title: str = "",
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Report:
    """Make a report on a saved model from a table with labels, which it should not have been trained on.

    Parameters
    ----------
    model : path or SavedModel
        A model file, or what `cssvm.deploy.load_model` returns.
    data : path, "-" or data frame
        As for `train_table`; it is read as a whole.
    target : str, default=None
        The column of labels; None: as the card says. Rows without a label are left out.
    fn_cost, fp_cost : float or str, default=None
        What errors on these rows cost, as for `train_table`; None: as the card says.
    weight : str, default=None
        A column of row weights.
    title : str, default=""
        Heading of the report; if it is empty, it says what was decided on: the column of labels.
    n_resamples : int, default=1000
        Resamples of the rows for the intervals.
    confidence : float, default=0.95
        Of the intervals.
    random_state : int, RandomState instance or None, default=0
        Seed of the resampling.

    Returns
    -------
    Report
        ``report.save(path)`` writes it, and ``print(report.evaluation)`` shows its figures.

    Examples
    --------
    >>> import pandas as pd
    >>> from cssvm.deploy import SavedModel
    >>> from cssvm._tables import report_table, train_table
    >>> loans = pd.DataFrame({"income": [9.0, 8.0, None, 2.0, 7.0, 1.0] * 5,
    ...                       "outcome": ["paid", "paid", "default", "default", "paid", "default"] * 5})
    >>> trained = train_table(loans, target="outcome", pos_label="default", fn_cost=5, Cs=3, gammas=3, evaluation=False)
    >>> report = report_table(SavedModel(trained.model, trained.card), loans, n_resamples=200)
    >>> report.evaluation.model.cost.value
    0.0
    """
    decider = Decider.of(model, fn_cost=fn_cost, fp_cost=fp_cost)
    column = decider.label_column(target)
    rows, labels = decider.labelled(open_table(data).whole(), column, weight)
    if not len(labels):
        raise TableError(f"column {column!r} holds no labels.")
    weights = None if weight is None else read_weight_column(rows, weight)
    decider.check_both_classes(column, labels == decider.target.label, weights)
    return Report(
        decider.saved.model,
        decider.features(rows),
        labels,
        **decider.all_costs(rows, labels),
        sample_weight=weights,
        pos_label=decider.target.label,
        cv="prefit",
        currency=decider.card.currency or "",
        title=title or f"What decisions on “{column}” cost",
        n_resamples=n_resamples,
        confidence=confidence,
        random_state=random_state,
    )
