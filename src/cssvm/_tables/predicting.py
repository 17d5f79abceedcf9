"""`predict_table`: predictions for the rows of a table of any size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.decision import COSTS
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
    """Counts of rows, and of values that differ from those in training, by column.

    n_free : rows on which both costs are 0, which are predicted negative; expected_cost : of all predictions, None
    without probabilities or costs; missing : numbers, and categories if none was missing in training; not_read :
    columns that are neither used by the model or its costs nor kept.
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
    """Predict the rows of a table by a saved model, a file or a `SavedModel`, and write the predictions in their order.

    `out` is a CSV file, a Parquet file, "-" for the standard output, or a folder of Parquet if it ends in a slash. It
    holds the columns to `keep`, ``label``, ``score`` (higher for the positive class) and, as far as they are known,
    ``probability`` (of the positive class), ``cost_of_acting`` and ``cost_of_leaving``, expected costs. The table is
    read a chunk at a time, here or by the workers of the Dask cluster at `scheduler`.
    """
    check_output(out, model=model, data=data)
    scorer = TableScorer.load(model, fn_cost=fn_cost, fp_cost=fp_cost)
    unused = [name for name in scorer.given if name not in scorer.decides_by]
    if unused:
        raise TableError(
            f"this model ignores costs at prediction time, so {unused[0]} of new rows cannot be given. Train with "
            'decision "bayes" for that.'
        )
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
        rows.require(keep)
        issues = InputIssues()
        costs = scorer.costs(rows) if scorer.decides_by else {}
        predicted = scorer.predict(rows, costs, issues)
        expected, acted = predicted.expected_costs(), predicted.labels == scorer.positive_class.label
        write(_output(rows, keep, predicted, expected))
        free = len(costs) == len(COSTS) == len(scorer.decides_by) and (costs["fn_cost"] == 0) & (costs["fp_cost"] == 0)
        all_names = part.schema.names if isinstance(part, ParquetPart) else rows.names
        used = known | scorer.cost_columns(all_names)
        yield PredictedTable(
            n_rows=len(rows),
            n_positives=int(np.count_nonzero(acted)),
            n_free=int(np.count_nonzero(np.broadcast_to(free, len(rows)))),
            expected_cost=None if expected is None else float(np.where(acted, *expected).sum()),
            missing=issues.missing,
            unseen_categories=issues.unseen_categories,
            not_read=[name for name in all_names if name not in used],
        )


def _output(
    rows: Chunk, keep: Sequence[str], predicted: Predictions, expected: tuple[Vector, Vector] | None
) -> pa.Table:
    """Kept columns and predictions of a chunk."""
    import pyarrow as pa

    taken = [name for name in keep if name in COLUMNS]
    if taken:
        raise TableError(
            f"column {format_names(taken)} cannot be kept: the output has a column of that name. Rename it."
        )
    values = (predicted.labels, predicted.scores, predicted.probabilities, *(expected or (None, None)))
    written = {name: pa.array(value) for name, value in zip(COLUMNS, values, strict=True) if value is not None}
    return pa.table({name: rows.rows[name] for name in keep} | written)
