"""`predict_table`: decisions on the rows of a table of any size, a chunk at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .chunk import Chunk, TableError, format_names
from .cluster import connect, map_parts, parts_for_workers
from .output import STDOUT, Destination, check_output, open_output, parquet_file
from .schema import InputIssues
from .scoring import Decider, Decisions
from .sources import CHUNK_ROWS, ParquetPart, Source, open_table

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("label", "score", "probability", "cost_of_acting", "cost_of_leaving")


@dataclass
class PredictedTable:
    """What `predict_table` returns: counts of what it has done and met.

    n_rows, n_targets : rows, and those decided to be of the target
    n_free : rows on which both costs are 0, which are not acted on
    expected_cost, currency : of all decisions, None without probabilities or costs
    gaps : missing entries of numbers, and of words if training had no gap among them, by column
    new_words : entries that training has not seen, by column of categories
    not_read : columns that neither the model nor its costs need, and that were not to be kept
    """

    n_rows: int = 0
    n_targets: int = 0
    n_free: int = 0
    expected_cost: float | None = None
    currency: str = ""
    gaps: Counter[str] = field(default_factory=Counter)
    new_words: Counter[str] = field(default_factory=Counter)
    not_read: list[str] = field(default_factory=list)

    def add(self, more: PredictedTable) -> None:
        """Count what was met in the rows that follow."""
        if self.n_rows == 0:
            self.not_read = more.not_read
        self.n_rows += more.n_rows
        self.n_targets += more.n_targets
        self.n_free += more.n_free
        self.gaps.update(more.gaps)
        self.new_words.update(more.new_words)
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
    """Decide on all rows of a table and write the decisions, in the order of the rows.

    Columns are read as the card of the model says, whatever they look like here. A column of the card that is missing
    is refused, and so is a word in a column of numbers. Other columns are not read. New words count as none of the
    known ones, gaps in numbers are filled as in training. All of this is counted. The table is read 50,000 rows at a
    time, here or by the workers of a cluster.

    Parameters
    ----------
    model : path or SavedModel
        A model file, or what `cssvm.deploy.load_model` returns.
    data : path, "-" or data frame
        As for `train_table`.
    out : path or "-", default="-"
        Where decisions go: a CSV, Parquet if the name ends in ``.parquet``, or the standard output. A name that ends in
        a slash is a new folder with a Parquet file for each part of the table, up to 200,000 rows of a Parquet file, or
        else all rows. It appears when all rows are decided.
    fn_cost, fp_cost : float or str, default=None
        What errors on these rows cost, as for `train_table`; None: as the card says. Only a model with
        ``decision="bayes"`` takes others than it was trained with.
    keep : sequence of str, default=()
        Columns of the table to write in front of the decisions, such as the number of the case.
    allow_formulas : bool, default=False
        Whether texts are written to a CSV as they are. By default a text that a spreadsheet would evaluate gets an
        apostrophe in front: one that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return and is not a
        number.
    scheduler : str or distributed.Client, default=None
        Address of the scheduler of a Dask cluster, such as ``"tcp://127.0.0.1:8786"``, whose workers are to read the
        table, which must be Parquet that they can see, and to write the folder, if there is one.
    progress : callable, default=None
        CallableKernel with the number of rows done after each chunk.

    Returns
    -------
    PredictedTable
        The columns written are ``label``, ``score`` (higher for the target), and if the model has probabilities
        ``probability`` (of the target), ``cost_of_acting`` and ``cost_of_leaving``, the expected costs of treating a
        row as of the target and of not doing so.

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
    ...     print(found.n_rows, found.n_targets, found.gaps["income"], pd.read_csv(decided)["label"].tolist())
    4 2 1 ['paid', 'paid', 'default', 'default']
    """
    check_output(out, model=model, data=data)
    decider = Decider.of(model, fn_cost=fn_cost, fp_cost=fp_cost)
    decider.check_takes_costs()
    source, found = open_table(data), PredictedTable(currency=decider.card.currency or "")
    with open_output(out, allow_formulas=allow_formulas) as place:
        for own in _decided(decider, source, keep, place, scheduler):
            found.add(own)
            if progress is not None:
                progress(found.n_rows)
    return found


def _decided(
    decider: Decider, source: Source, keep: Sequence[str], place: Destination, scheduler: Any
) -> Iterator[PredictedTable]:
    """Write the decisions on all parts of a table, in order; yields counts as they come."""
    if scheduler is None:
        for number, part in enumerate(source.parts()):
            with place.part(number) as write:
                yield from _decided_part(decider, part, keep, write)
        return
    parts = parts_for_workers(source)
    arguments = [(part, tuple(keep), place.file(number)) for number, part in enumerate(parts)]
    with connect(scheduler) as client:
        for rows, own in map_parts(client, _decide_on_worker, (decider.saved, decider.given), arguments):
            if place.write is not None:
                place.write(rows)
            yield own


def _decide_on_worker(
    model: tuple[Any, dict[str, Any]], part: ParquetPart, keep: Sequence[str], file: str | None
) -> tuple[pa.Table | None, PredictedTable]:
    """The decisions on a part, or None where they go to a file, and what was counted."""
    import pyarrow as pa

    decider, counted = Decider(*model), PredictedTable()
    tables: list[pa.Table] = []
    with Destination(tables.append).part(0) if file is None else parquet_file(file) as write:
        for own in _decided_part(decider, part, keep, write):
            counted.add(own)
    return pa.concat_tables(tables) if file is None else None, counted


def _decided_part(
    decider: Decider, part: Source | ParquetPart, keep: Sequence[str], write: Callable[[Any], None]
) -> Iterator[PredictedTable]:
    """Write the decisions on the rows of a part, chunk by chunk; yields what was counted in each."""
    target = decider.target.label
    known = {column.name for column in decider.card.columns} | {*keep}
    for rows in _needed_chunks(decider, part, known):
        _check_kept(rows, keep)
        decider.issues = InputIssues()
        costs = decider.costs(rows) if decider.decides_by else {}
        decided = decider.decide(rows, costs)
        write(_table_of(rows, keep, decided))
        own = _counted(decided, target)
        own.n_free = decider.n_free(costs, len(rows))
        own.gaps, own.new_words = decider.issues.missing, decider.issues.unseen_categories
        names = part.schema.names if isinstance(part, ParquetPart) else rows.names
        used = known | decider.cost_columns(names)
        own.not_read = [name for name in names if name not in used]
        yield own


def _needed_chunks(decider: Decider, part: Source | ParquetPart, known: set[str]) -> Iterator[Chunk]:
    """The rows of a part; of Parquet no other columns are read than known ones and those of costs."""
    if not isinstance(part, ParquetPart) or not known.issubset(part.schema.names):  # which will be refused
        return part.chunks(CHUNK_ROWS)
    names = part.schema.names
    used = known | decider.cost_columns(names)
    return part.chunks(CHUNK_ROWS, [name for name in names if name in used])


def _check_kept(rows: Chunk, keep: Sequence[str]) -> None:
    """Refuse columns to keep that are not there, or that have the name of one that is written."""
    rows.require(keep)
    taken = [name for name in keep if name in COLUMNS]
    if taken:
        raise TableError(
            f"column {format_names(taken)} cannot be kept: the decisions have a column of that name. Rename it."
        )


def _table_of(rows: Chunk, keep: Sequence[str], decided: Decisions) -> pa.Table:
    """Kept columns and decisions of a chunk."""
    import pyarrow as pa

    values = (decided.labels, decided.scores, decided.probabilities, decided.cost_of_acting, decided.cost_of_leaving)
    written = {name: value for name, value in zip(COLUMNS, values, strict=True) if value is not None}
    kept = {name: rows.rows[name] for name in keep}
    return pa.table({**kept, **{name: pa.array(value) for name, value in written.items()}})


def _counted(decided: Decisions, target: Any) -> PredictedTable:
    acted = decided.labels == target
    expected = None
    if decided.cost_of_acting is not None and decided.cost_of_leaving is not None:
        expected = float(np.where(acted, decided.cost_of_acting, decided.cost_of_leaving).sum())
    return PredictedTable(len(acted), int(np.count_nonzero(acted)), expected_cost=expected)
