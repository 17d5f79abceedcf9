"""Predictions of a saved model for chunks of a table, and `predict_table`, for all rows of a table of any size."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.decision import COSTS, FreeDecisionWarning, costs_for_predict, known_costs, predict_with_costs
from .._core.positive_class import PositiveClass, positive_class_scores
from .._core.types import Vector
from ..deploy import ModelCard, SavedModel, load_model
from .chunk import Chunk, TableError, did_you_mean, format_names
from .cluster import connect, map_parts, parts_for_workers
from .cost_spec import DECIDED_BY, CostSpec, check_required_costs, column_in
from .output import STDOUT, Destination, check_output, open_output, parquet_file
from .schema import InputIssues, known_labels, read_features
from .sources import CHUNK_ROWS, ParquetPart, Source, open_table

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("label", "score", "probability", "cost_of_acting", "cost_of_leaving")


class Predictions(NamedTuple):
    """Predictions for some rows, (n_rows,) each; costs : those that the model knows when it decides, by name."""

    labels: NDArray[Any]
    scores: Vector
    probabilities: Vector | None
    costs: dict[str, Any]

    def expected_costs(self) -> tuple[Vector, Vector] | None:
        """Expected costs of acting and of not acting on each row; None if probabilities or costs are not known."""
        if self.probabilities is None or len(self.costs) < len(COSTS):
            return None
        return (1.0 - self.probabilities) * self.costs["fp_cost"], self.probabilities * self.costs["fn_cost"]


@dataclass
class TableScorer:
    """A saved model that predicts chunks of a table; `given` are costs in place of the card's, by name."""

    saved: SavedModel
    given: dict[str, Any]

    def __post_init__(self) -> None:
        self.card: ModelCard = self.saved.card
        self.given = {name: cost for name, cost in self.given.items() if cost is not None}
        takes = costs_for_predict(self.saved.model)
        self.decides_by = [name for name in COSTS if name in takes]
        self.positive_class = PositiveClass.from_labels(self.saved.model.classes_, self.card.pos_label)

    @classmethod
    def load(cls, model: Any, *, fn_cost: Any, fp_cost: Any) -> TableScorer:
        """Load it from a model file, or take what `load_model` returns."""
        saved = load_model(model) if isinstance(model, str | Path) else model
        if not isinstance(saved, SavedModel):
            raise TypeError(f"model must be a path or a SavedModel, with a card; got {type(model).__name__}.")
        return cls(saved, {"fn_cost": fn_cost, "fp_cost": fp_cost})

    def cost_specs(self, names: Sequence[str]) -> dict[str, CostSpec]:
        """Costs of errors on rows with columns of these names, as far as they are known."""
        known = {name: self.given.get(name, getattr(self.card, name)) for name in COSTS}
        for name, cost in known.items():
            if name in self.given or not isinstance(cost, str) or cost in names or column_in(cost) in names:
                continue
            raise TableError(
                f"the model takes {name} from column {column_in(cost)!r}, which this table lacks; its columns are "
                f"{format_names(names)}. Add the column, or give another cost with {name} (--{name.replace('_', '-')})."
                + did_you_mean(column_in(cost), names)
            )
        return {name: CostSpec.parse(name, cost, names) for name, cost in known.items() if cost is not None}

    def cost_columns(self, names: Sequence[str]) -> set[str]:
        """Those of the columns that `predict` of the model takes costs from."""
        specs = self.cost_specs(names) if self.decides_by else {}
        return {spec.column for spec in specs.values() if spec.column is not None}

    def costs(self, rows: Chunk) -> dict[str, Any]:
        """Costs of errors on these rows, numbers or (n_rows,) float64, as far as they are known."""
        specs = self.cost_specs(rows.names)
        found = {name: spec.values(rows) for name, spec in specs.items()}
        for name in self.decides_by:
            if name in specs:
                specs[name].check_known(rows, found[name], np.ones(len(rows), dtype=bool), DECIDED_BY)
        return found

    def required_costs(self, rows: Chunk, labels: NDArray[Any]) -> dict[str, Any]:
        """Both costs, checked on the rows to which they apply, given their labels."""
        costs = self.costs(rows)
        missing = [name for name in COSTS if name not in costs]
        if missing:
            raise TableError(f"the card of this model has no {missing[0]}: give it, as a number or a column.")
        check_required_costs(self.cost_specs(rows.names), rows, costs, labels == self.positive_class.label)
        return costs

    def labelled(self, rows: Chunk, column: str, weight: str | None) -> tuple[Chunk, NDArray[Any]]:
        """The rows that have a label, and their labels."""
        rows.require([name for name in (column, weight) if name is not None])
        labels, known = known_labels(rows, column, self.positive_class.classes)
        return rows.take(known), labels[known]

    def predict(self, rows: Chunk, costs: dict[str, Any], issues: InputIssues | None = None) -> Predictions:
        """Predictions for these rows at these costs; counts `issues`."""
        model, X = self.saved.model, read_features(rows, self.card.columns, issues)
        if hasattr(X, "columns") and not hasattr(model, "feature_names_in_"):
            X = X.to_numpy()
        used = {name: costs[name] for name in self.decides_by if name in costs}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FreeDecisionWarning)  # such rows are counted
            if hasattr(model, "_predict_all"):
                labels, scores, probabilities = model._predict_all(X, **used)
            else:
                labels = predict_with_costs(model, X, used)
                scores = positive_class_scores(model, X, pos_label=self.card.pos_label).values
                probabilities = None
                if hasattr(model, "predict_proba"):
                    probabilities = self.positive_class.to_positive_sign(model.predict_proba(X))
        return Predictions(labels, scores, probabilities, known_costs(model, X, costs) if self.decides_by else costs)


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
