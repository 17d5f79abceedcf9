"""`train_on_cluster`: from Parquet of any size to a linear model with a card, on the workers of a Dask cluster."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._runtime.files import check_writable
from .._runtime.parquet import nullable_booleans
from ..deploy import ModelCard
from ..deploy._files import save_or_keep
from .chunk import Chunk, TableError, missing_columns_message
from .cluster import connect, map_ordered, parts_for_workers
from .cost_spec import CostSpec
from .schema import labels_are_numbers, read_labels
from .sources import CHUNK_ROWS, ParquetPart, open_table
from .training import TrainedTable
from .training_data import check_cost_leakage, target_label


def train_on_cluster(
    data: Any,
    scheduler: Any,
    *,
    target: str | None = None,
    pos_label: Any = None,
    fn_cost: Any = 1.0,
    fp_cost: Any = 1.0,
    weight: str | None = None,
    drop: Sequence[str] = (),
    currency: str = "",
    out: Any = None,
    C: Any = "scale",
    verbose: int = 0,
) -> TrainedTable:
    """Train a linear cost-sensitive SVM on Parquet that no machine needs to hold.

    The model is `cssvm.dask.CostSensitiveLinearSVC`: columns are prepared as by `train_table`, and the optimum is found
    to its certificate. There is no search and no evaluation: keep some files back and give them to `evaluate_table`.

    Parameters
    ----------
    data : path
        A Parquet file, or a folder of them, that all workers can see under this name.
    scheduler : str or distributed.Client
        Address of the scheduler of a Dask cluster, such as ``"tcp://127.0.0.1:8786"``.
    target : str
        The column of labels. Every row must have one.
    pos_label : label, default=None
        As for `train_table`.
    fn_cost, fp_cost : float or str, default=1.0
        As for `train_table`.
    weight : str, default=None
        A column of row weights. It is not learnt from.
    drop : sequence of str, default=()
        Columns that are not learnt from.
    currency : str, default=""
        Of the costs, for the card and for tables.
    out : path, default=None
        The model file to write.
    C : "scale" or float, default="scale"
        Weight of the loss relative to the penalty.
    verbose : int, default=0
        1 shows progress on the error stream.

    Returns
    -------
    TrainedTable
        Its ``model`` needs no cluster: a pipeline from raw columns to `cssvm.CostSensitiveLinearSVC`. Its
        ``evaluation`` is None.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from distributed import Client
    >>> from cssvm._tables import train_on_cluster
    >>> loans = pd.DataFrame({"income": [9.0, 8.0, None, 2.0, 7.0, 1.0] * 50, "home": ["own", "rent"] * 150,
    ...                       "outcome": ["paid", "paid", "default", "default", "paid", "default"] * 50})
    >>> with tempfile.TemporaryDirectory() as folder, Client(processes=False, dashboard_address=None) as client:
    ...     loans.to_parquet(f"{folder}/loans.parquet")
    ...     trained = train_on_cluster(folder, client, target="outcome", pos_label="default", fn_cost=5)
    >>> print(trained.card.n_rows, trained.card.n_targets, trained.card.certificate["status"])
    300 150 converged
    >>> trained.model.predict(loans.drop(columns="outcome").head(4)).tolist()
    ['paid', 'paid', 'default', 'default']
    """
    if out is not None:
        check_writable(Path(out), data=data)
    source = open_table(data)
    parts = parts_for_workers(source)
    names = parts[0].schema.names
    if target is None:
        raise TableError(f"the column of labels must be named; the columns of {source.name} are {names}.")
    beside = [name for name in (target, weight) if name is not None]
    missing = [name for name in (*beside, *drop) if name not in names]
    if missing:
        raise TableError(missing_columns_message(source.name, missing, names))
    prices = {name: CostSpec.parse(name, cost, names) for name, cost in (("fn_cost", fn_cost), ("fp_cost", fp_cost))}
    learnt = [name for name in names if name not in (*beside, *drop)]
    with connect(scheduler) as client, redirect_stdout(sys.stderr):
        seen = _looked_at(client, parts, target, {name: price.column for name, price in prices.items()})
        label = seen.label(source.name, target, pos_label, prices)
        seen.check(source.name, target, prices, learnt)
        model = _fitted(
            *(client, source.parquet, parts, target, seen.in_column(label), prices, weight, learnt, C, verbose)
        )
    described = {name: price.written for name, price in prices.items()}
    card = ModelCard.of(
        model,
        target=target,
        currency=currency or None,
        n_rows=sum(seen.labels.values()),
        n_targets=seen.labels[label],
        **described,
    )
    if out is not None:
        save_or_keep(model, Path(out), card)
    return TrainedTable(model, card, None)


def _fitted(
    client: Any,
    path: Any,
    parts: Sequence[ParquetPart],
    target: str,
    pos_label: Any,
    prices: Mapping[str, CostSpec],
    weight: str | None,
    learnt: list[str],
    C: Any,
    verbose: int,
) -> Any:
    """The model without the cluster, from a frame whose words and costs are read as by all other verbs."""
    import dask.dataframe as dd

    from ..dask import CostSensitiveLinearSVC

    costs = {name: f"{name} of {price.column}" for name, price in prices.items() if price.column is not None}
    columns = [*learnt, target, *([] if weight is None else [weight])]
    priced = {costs[name]: prices[name] for name in costs}
    meta = _frame(Chunk(str(path), parts[0].schema.empty_table()), columns, priced)
    # Not `read_parquet`, whose partitions are others if fewer columns are asked for.
    X = dd.from_map(_priced, parts, names=columns, prices=priced, meta=meta)
    numbers: dict[str, Any] = {name: price.factor for name, price in prices.items() if price.column is None}
    model = CostSensitiveLinearSVC(C=C, pos_label=pos_label, scale=True, verbose=verbose, client=client, **numbers)
    fitted = model.fit(X, target, **costs, sample_weight=weight, features=learnt)
    return fitted.set_params(verbose=0).to_local()  # a file is not to report the progress of a fit


def _priced(part: ParquetPart, names: Sequence[str], prices: Mapping[str, CostSpec]) -> Any:
    """A frame of the columns of a part, with prices as further columns."""
    import pandas as pd

    needed = [*names, *(price.column for price in prices.values() if price.column is not None)]
    return pd.concat([_frame(rows, names, prices) for rows in part.chunks(CHUNK_ROWS, needed)], ignore_index=True)


def _frame(rows: Chunk, names: Sequence[str], prices: Mapping[str, CostSpec]) -> Any:
    """Columns and prices; words are without the blanks around them, and an empty one is a gap."""
    frame = rows.rows.select(list(names)).to_pandas(types_mapper=nullable_booleans)
    words = {name: rows.strings(name) for name in names if rows.is_text(name)}
    plain = {name: [word or None for word in own] for name, own in words.items()}
    return frame.assign(**plain, **{name: each.of(rows) for name, each in prices.items()})


@dataclass
class _Seen:
    """What a look at the labels and at the costs has found.

    labels : how many rows have each; n_without : rows that have none; truth : whether they are truth values; there :
    by cost, the labels of the rows on which it is there and not 0.
    """

    labels: Counter[Any] = field(default_factory=Counter)
    n_without: int = 0
    truth: bool = False
    there: dict[str, set[Any]] = field(default_factory=dict)

    def add(self, more: _Seen) -> None:
        """Count further rows."""
        self.labels.update(more.labels)
        self.n_without += more.n_without
        self.truth = more.truth
        for name, labels in more.there.items():
            self.there.setdefault(name, set()).update(labels)

    def label(self, source: str, column: str, pos_label: Any, prices: Mapping[str, CostSpec]) -> Any:
        """The target among the labels, as they are read."""
        return target_label(source, np.array(sorted(self.labels)), column, pos_label, prices)

    def in_column(self, label: Any) -> Any:
        """A label as the column itself has it."""
        return label == "True" if self.truth else label

    def check(self, source: str, column: str, prices: Mapping[str, CostSpec], learnt: Sequence[str]) -> None:
        """Refuse rows without a label, and costs that give the label away."""
        if self.n_without:
            raise TableError(
                f"column {column!r} of {source} has no label in {self.n_without:,} rows. Leave these rows out: on a "
                "cluster every row must have one."
            )
        for name, price in prices.items():
            if price.column in learnt:
                check_cost_leakage(price, one_class_only=len(self.there.get(name, set())) == 1)


def _looked_at(client: Any, parts: Sequence[ParquetPart], target: str, costs: dict[str, str | None]) -> _Seen:
    """Labels and costs of all parts, of which no other columns are read."""
    seen = _Seen()
    for own in map_ordered(client, _look, (target, costs), ((part,) for part in parts)):
        seen.add(own)
    return seen


def _look(what: tuple[str, dict[str, str | None]], part: ParquetPart) -> _Seen:
    """What a part of the table holds, on a worker."""
    import pyarrow as pa

    target, costs = what
    columns = {name: column for name, column in costs.items() if column is not None}
    found = _Seen(truth=pa.types.is_boolean(part.schema.field(target).type))
    for rows in part.chunks(CHUNK_ROWS, [target, *columns.values()]):
        y, known = read_labels(rows, target, numeric=labels_are_numbers(rows, target))
        found.labels.update(y[known].tolist())
        found.n_without += int(np.count_nonzero(~known))
        for name, column in columns.items():
            there = np.nan_to_num(rows.numbers(column)) != 0
            found.there.setdefault(name, set()).update(y[known & there].tolist())
    return found
