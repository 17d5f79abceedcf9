"""`predict_table`: predictions for the rows of a table of any size, a chunk at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.types import Vector
from .chunk import Chunk, TableError, format_names
from .cluster import connect, map_parts, parts_for_workers
from .output import STDOUT, Destination, check_output, open_output, parquet_file
from .schema import InputIssues
from .scoring import Predictions, TableScorer
from .sources import CHUNK_ROWS, ParquetPart, Source, open_table

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("label", "score", "probability", "cost_of_acting", "cost_of_leaving")


@dataclass
class PredictedTable:
    """What `predict_table` returns: counts of rows, and of values that differ from those in training.

    Attributes
    ----------
    n_rows, n_positives : int
        Number of rows, and of those predicted positive.
    n_free : int
        Number of rows on which both costs are 0, which are predicted negative.
    expected_cost : float or None
        Expected cost of all predictions; None without probabilities or costs.
    currency : str
        Unit of the costs.
    missing : Counter
        Missing values by column: of numbers, and of categories if none was missing in training.
    unseen_categories : Counter
        Categories that do not occur in the training data, counted by column.
    not_read : list of str
        Columns that are neither used by the model or its costs nor kept.
    """

    n_rows: int = 0
    n_positives: int = 0
    n_free: int = 0
    expected_cost: float | None = None
    currency: str = ""
    missing: Counter[str] = field(default_factory=Counter)
    unseen_categories: Counter[str] = field(default_factory=Counter)
    not_read: list[str] = field(default_factory=list)

    def add(self, more: PredictedTable) -> None:
        """Add the counts of the rows that follow."""
        if self.n_rows == 0:
            self.not_read = more.not_read
        self.n_rows += more.n_rows
        self.n_positives += more.n_positives
        self.n_free += more.n_free
        self.missing.update(more.missing)
        self.unseen_categories.update(more.unseen_categories)
        if more.expected_cost is not None:
            self.expected_cost = more.expected_cost + (self.expected_cost or 0.0)


def predict_table(
    model: Any,
    data: Any,
    out: Any = STDOUT,
    *,
    fn_cost: Any = None,
    fp_cost: Any = None,
    keep: Sequence[str] = (),
    allow_formulas: bool = False,
    scheduler: Any = None,
    progress: Callable[[int], Any] | None = None,
) -> PredictedTable:
    """Predict all rows of a table and write the predictions, in the order of the rows.

    Columns are read as in training, by the card of the model. Missing columns and strings in numeric columns are
    rejected; other columns are not read. Unseen categories are encoded as none of the known ones, and missing numbers
    are imputed as in training; both are counted. The table is read 50,000 rows at a time, here or by the workers of a
    cluster.

    Parameters
    ----------
    model : path or SavedModel
        A model file, or what `cssvm.deploy.load_model` returns.
    data : path, "-" or data frame
        As for `train_table`.
    out : path or "-", default="-"
        Output: a CSV file, a Parquet file if the name ends in ``.parquet``, or the standard output. If the name ends
        in a slash, a new folder with a Parquet file for each part of the table (at most 200,000 rows of a Parquet
        file, otherwise all rows). It appears when all rows are predicted.
    fn_cost, fp_cost : float or str, default=None
        Costs of errors on these rows, as for `train_table`. If None, the card's. Only a model with
        ``decision="bayes"`` accepts other costs than in training.
    keep : sequence of str, default=()
        Columns of the table to write before the predictions, such as an identifier.
    allow_formulas : bool, default=False
        Whether to write strings to CSV unchanged. By default strings that a spreadsheet would evaluate are prefixed
        with an apostrophe: those that begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return and are not
        numbers.
    scheduler : str or distributed.Client, default=None
        Address of the scheduler of a Dask cluster, such as ``"tcp://127.0.0.1:8786"``. Its workers read the table,
        which must be Parquet that they can access, and write the folder, if there is one.
    progress : callable, default=None
        Called with the number of rows done after each chunk.

    Returns
    -------
    PredictedTable
        The columns written are ``label``, ``score`` (higher for the positive class), and if the model has
        probabilities ``probability`` (of the positive class), ``cost_of_acting`` and ``cost_of_leaving``, the expected
        costs of predicting a row positive and negative.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from cssvm.deploy import load_model
    >>> from cssvm._tables import predict_table, train_table
    >>> loans = pd.DataFrame({"income": [9.0, 8.0, None, 2.0, 7.0, 1.0] * 5,
    ...                       "outcome": ["paid", "paid", "default", "default", "paid", "default"] * 5})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file, decided = f"{folder}/loans.skops", f"{folder}/decided.csv"
    ...     _ = train_table(loans, target="outcome", pos_label="default", Cs=3, gammas=3, evaluation=False, out=file)
    ...     found = predict_table(file, loans.head(4), decided)
    ...     print(found.n_rows, found.n_positives, found.missing["income"], pd.read_csv(decided)["label"].tolist())
    4 2 1 ['paid', 'paid', 'default', 'default']
    """
    check_output(out, model=model, data=data)
    scorer = TableScorer.load(model, fn_cost=fn_cost, fp_cost=fp_cost)
    scorer.check_takes_costs()
    source, found = open_table(data), PredictedTable(currency=scorer.card.currency or "")
    with open_output(out, allow_formulas=allow_formulas) as place:
        for own in _predict(scorer, source, keep, place, scheduler):
            found.add(own)
            if progress is not None:
                progress(found.n_rows)
    return found


def _predict(
    scorer: TableScorer, source: Source, keep: Sequence[str], place: Destination, scheduler: Any
) -> Iterator[PredictedTable]:
    """Write the predictions for all parts of a table, in order; yields counts as they come."""
    if scheduler is None:
        for number, part in enumerate(source.parts()):
            with place.part(number) as write:
                yield from _predict_part(scorer, part, keep, write)
        return
    parts = parts_for_workers(source)
    arguments = [(part, tuple(keep), place.file(number)) for number, part in enumerate(parts)]
    with connect(scheduler) as client:
        for rows, own in map_parts(client, _predict_on_worker, (scorer.saved, scorer.given), arguments):
            if place.write is not None:
                place.write(rows)
            yield own


def _predict_on_worker(
    model: tuple[Any, dict[str, Any]], part: ParquetPart, keep: Sequence[str], file: str | None
) -> tuple[pa.Table | None, PredictedTable]:
    """The predictions for a part, or None where they go to a file, and the counts."""
    import pyarrow as pa

    scorer, counted = TableScorer(*model), PredictedTable()
    tables: list[pa.Table] = []
    with Destination(tables.append).part(0) if file is None else parquet_file(file) as write:
        for own in _predict_part(scorer, part, keep, write):
            counted.add(own)
    return pa.concat_tables(tables) if file is None else None, counted


def _predict_part(
    scorer: TableScorer, part: Source | ParquetPart, keep: Sequence[str], write: Callable[[Any], None]
) -> Iterator[PredictedTable]:
    """Write the predictions for the rows of a part, chunk by chunk; yields the counts of each."""
    known = {column.name for column in scorer.card.columns} | {*keep}
    if not isinstance(part, ParquetPart) or not known.issubset(part.schema.names):  # the latter raises below
        chunks = part.chunks(CHUNK_ROWS)
    else:
        used = known | scorer.cost_columns(part.schema.names)
        chunks = part.chunks(CHUNK_ROWS, [name for name in part.schema.names if name in used])
    for rows in chunks:
        _check_kept(rows, keep)
        scorer.issues = InputIssues()
        costs = scorer.costs(rows) if scorer.decides_by else {}
        predicted = scorer.predict(rows, costs)
        expected, acted = predicted.expected_costs(), predicted.labels == scorer.positive_class.label
        write(_output(rows, keep, predicted, expected))
        all_names = part.schema.names if isinstance(part, ParquetPart) else rows.names
        used = known | scorer.cost_columns(all_names)
        yield PredictedTable(
            n_rows=len(rows),
            n_positives=int(np.count_nonzero(acted)),
            n_free=scorer.n_free(costs, len(rows)),
            expected_cost=None if expected is None else float(np.where(acted, *expected).sum()),
            missing=scorer.issues.missing,
            unseen_categories=scorer.issues.unseen_categories,
            not_read=[name for name in all_names if name not in used],
        )


def _output(
    rows: Chunk, keep: Sequence[str], predicted: Predictions, expected: tuple[Vector, Vector] | None
) -> pa.Table:
    """Kept columns and predictions of a chunk."""
    import pyarrow as pa

    values = (predicted.labels, predicted.scores, predicted.probabilities, *(expected or (None, None)))
    written = {name: pa.array(value) for name, value in zip(COLUMNS, values, strict=True) if value is not None}
    return pa.table({name: rows.rows[name] for name in keep} | written)


def _check_kept(rows: Chunk, keep: Sequence[str]) -> None:
    """Raise if a column to keep is missing, or has the name of an output column."""
    rows.require(keep)
    taken = [name for name in keep if name in COLUMNS]
    if taken:
        raise TableError(
            f"column {format_names(taken)} cannot be kept: the output has a column of that name. Rename it."
        )
