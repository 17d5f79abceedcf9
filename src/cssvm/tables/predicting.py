"""`predict_table`: decisions on the rows of a table of any size, a chunk at a time."""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ..runtime.files import check_writable, whole_file
from .chunk import Chunk, TableError, listed
from .deciding import Decider, Decisions
from .sources import CHUNK_ROWS, STDIN, open_table

if TYPE_CHECKING:
    import pyarrow as pa

STDOUT = STDIN
PARQUET = (".parquet", ".pq")
COLUMNS = ("label", "score", "probability", "cost_of_acting", "cost_of_leaving")


@dataclass
class PredictedTable:
    """What `predict_table` returns: counts of what it has done and met.

    n_rows, n_targets : rows, and those decided to be of the target; gaps : entries that were missing in columns of
    numbers, by column; new_words : entries that training has not seen, by column of categories; not_read : columns that
    neither the model nor its costs need, and that were not to be kept; expected_cost : of all decisions, None without
    probabilities or costs; currency : of it.
    """

    n_rows: int = 0
    n_targets: int = 0
    expected_cost: float | None = None
    currency: str = ""
    gaps: Counter[str] = field(default_factory=Counter)
    new_words: Counter[str] = field(default_factory=Counter)
    not_read: list[str] = field(default_factory=list)


def predict_table(
    model: Any,
    data: Any,
    out: Any = STDOUT,
    *,
    fn_cost: Any = None,
    fp_cost: Any = None,
    keep: Sequence[str] = (),
    progress: Callable[[int], Any] | None = None,
) -> PredictedTable:
    """Decide on all rows of a table and write the decisions, in the order of the rows.

    Columns are read as the card of the model says, whatever they look like here. A column of the card that is missing
    is refused, and so is a word in a column of numbers. Other columns are not read. New words count as none of the
    known ones, gaps in numbers are filled as in training. All of this is counted. The table is read 50,000 rows at a
    time.

    Parameters
    ----------
    model : path or SavedModel
        A model file, or what `cssvm.deploy.load_model` returns.
    data : path, "-" or data frame
        As for `train_table`.
    out : path or "-", default="-"
        Where decisions go: a CSV, Parquet if the name ends in ``.parquet``, or the standard output. A file appears when
        all rows are decided.
    fn_cost, fp_cost : float or str, default=None
        What errors on these rows cost, as for `train_table`; None: as the card says. Only a model with
        ``decision="bayes"`` takes others than it was trained with.
    keep : sequence of str, default=()
        Columns of the table to write in front of the decisions, such as the number of the case.
    progress : callable, default=None
        Called with the number of rows done after each chunk.

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
    >>> from cssvm.tables import predict_table, train_table
    >>> loans = pd.DataFrame({"income": [9.0, 8.0, None, 2.0, 7.0, 1.0] * 5,
    ...                       "outcome": ["paid", "paid", "default", "default", "paid", "default"] * 5})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file, decided = f"{folder}/loans.skops", f"{folder}/decided.csv"
    ...     _ = train_table(loans, target="outcome", pos_label="default", Cs=3, gammas=3, evaluation=False, out=file)
    ...     found = predict_table(file, loans.head(4), decided)
    ...     print(found.n_rows, found.n_targets, found.gaps["income"], pd.read_csv(decided)["label"].tolist())
    4 2 1 ['paid', 'paid', 'default', 'default']
    """
    if str(out) != STDIN:
        check_writable(Path(out), model=model, data=data)
    decider = Decider.of(model, fn_cost=fn_cost, fp_cost=fp_cost)
    decider.check_takes_costs()
    source = open_table(data)
    found = PredictedTable(currency=decider.card.currency or "", **vars(decider.oddities))
    with _destination(out) as write:
        for rows in source.chunks(CHUNK_ROWS):
            if found.n_rows == 0:
                used = {column.name for column in decider.card.columns} | {*keep} | decider.cost_columns(rows)
                found.not_read = [name for name in rows.names if name not in used]
                _check_kept(rows, keep)
            decided = decider.decide(rows, decider.costs(rows) if decider.decides_by else {})
            write(_table_of(rows, keep, decided))
            _count(found, decided, decider.target.label)
            if progress is not None:
                progress(found.n_rows)
    return found


def _check_kept(rows: Chunk, keep: Sequence[str]) -> None:
    """Refuse columns to keep that are not there, or that have the name of one that is written."""
    rows.require(keep)
    taken = [name for name in keep if name in COLUMNS]
    if taken:
        raise TableError(f"column {listed(taken)} cannot be kept: the decisions have a column of that name. Rename it.")


def _table_of(rows: Chunk, keep: Sequence[str], decided: Decisions) -> pa.Table:
    """Kept columns and decisions of a chunk."""
    import pyarrow as pa

    values = (decided.labels, decided.scores, decided.probabilities, decided.cost_of_acting, decided.cost_of_leaving)
    written = {name: value for name, value in zip(COLUMNS, values, strict=True) if value is not None}
    kept = {name: rows.rows[name] for name in keep}
    return pa.table({**kept, **{name: pa.array(value) for name, value in written.items()}})


def _count(found: PredictedTable, decided: Decisions, target: Any) -> None:
    acted = decided.labels == target
    found.n_rows += len(acted)
    found.n_targets += int(np.count_nonzero(acted))
    if decided.cost_of_acting is not None and decided.cost_of_leaving is not None:
        expected = float(np.where(acted, decided.cost_of_acting, decided.cost_of_leaving).sum())
        found.expected_cost = expected + (found.expected_cost or 0.0)


@contextmanager
def _destination(out: Any) -> Iterator[Callable[[pa.Table], None]]:
    """A function that writes tables to the standard output or to a file, which appears when all is written."""
    if str(out) == STDOUT:
        with _writer(sys.stdout.buffer, parquet=False) as write:
            yield write
        return
    path = Path(out)
    with whole_file(path) as file, _writer(file, parquet=path.suffix.lower() in PARQUET) as write:
        yield write


@contextmanager
def _writer(file: IO[bytes], *, parquet: bool) -> Iterator[Callable[[pa.Table], None]]:
    """A function that writes tables of one schema below each other."""
    writers: list[Any] = []

    def write(rows: pa.Table) -> None:
        if not writers:
            writers.append(_parquet_writer(file, rows.schema) if parquet else _CsvWriter(file, rows.column_names))
        writers[0].write_table(rows)

    try:
        yield write
    finally:
        for each in writers:
            each.close()


def _parquet_writer(file: IO[bytes], schema: Any) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetWriter(file, schema)


class _CsvWriter:
    """Quotes only where needed, as Arrow's writer does not, and numbers that read back to the last bit."""

    def __init__(self, file: IO[bytes], names: list[str]):
        self.text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        self.rows = csv.writer(self.text, lineterminator="\n")
        self.rows.writerow(names)

    def write_table(self, rows: pa.Table) -> None:
        self.rows.writerows(zip(*(column.to_pylist() for column in rows.columns), strict=True))

    def close(self) -> None:
        self.text.detach()  # flushes, and leaves the file open
