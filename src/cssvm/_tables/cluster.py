"""Tables on a Dask cluster, whose workers read parts of Parquet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from .._runtime.files import check_writable
from .._runtime.parquet import FramePart, nullable_booleans
from ..deploy import ModelCard
from ..deploy._model_file import save_or_keep
from .chunk import Chunk, TableError, to_integers
from .cost_spec import CostSpec
from .sources import CHUNK_ROWS, ParquetPart, Source, open_table
from .training import TrainedTable
from .training_data import check_cost_leakage, find_pos_label, target_column

SECONDS = 10  # to wait for a scheduler to answer, and for a worker to be there
AHEAD = 2  # parts for each thread of the workers: one that it computes, one that waits


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
    """Train a linear cost-sensitive SVM on Parquet files, which need not fit in memory but be visible to all workers.

    The model is `cssvm.dask.CostSensitiveLinearSVC`, converted to one that needs no cluster; columns are prepared as by
    `train_table`. There is no search and no evaluation: keep some files back and give them to `evaluate_table`.
    """
    if out is not None:
        check_writable(Path(out), data=data)
    source = open_table(data)
    parts = parts_for_workers(source)
    no_rows = Chunk(source.name, parts[0].schema.empty_table())
    names, target = no_rows.names, target_column(no_rows, target)
    not_features = [name for name in (target, weight) if name is not None]
    no_rows.require([*not_features, *drop])
    if not no_rows.is_text(target):
        no_rows.numbers(target)  # raises for types that cannot be labels, such as dates
    costs = {name: CostSpec.parse(name, cost, names) for name, cost in (("fn_cost", fn_cost), ("fp_cost", fp_cost))}
    features = [name for name in names if name not in (*not_features, *drop)]
    labels = _Labels(source.name, target, pos_label, costs, features)
    numbers: dict[str, Any] = {name: cost.factor for name, cost in costs.items() if cost.column is None}
    columns = {name: f"{name} of {cost.column}" for name, cost in costs.items() if cost.column is not None}
    by_column = {column: costs[name] for name, column in columns.items()}
    with connect(scheduler) as client, redirect_stdout(sys.stderr):
        from ..dask import CostSensitiveLinearSVC
        from ..dask._partitions import FrameParts

        rows = [_CostedPart(part, by_column) for part in parts]
        on_cluster = CostSensitiveLinearSVC(C=C, scale=True, verbose=verbose, client=client, **numbers)
        on_cluster._fit(
            FrameParts(rows, [*features, *not_features, *by_column]),
            target,
            features,
            labels.choose,
            fn_cost=columns.get("fn_cost"),
            fp_cost=columns.get("fp_cost"),
            kappa=None,
            sample_weight=weight,
        )
        model = on_cluster.set_params(verbose=0).to_local()  # the saved model must not print progress
    card = ModelCard.from_model(
        model,
        target=target,
        currency=currency or None,
        n_rows=labels.n_rows,
        n_positives=labels.n_positive,
        **{name: cost.text for name, cost in costs.items()},
    )
    if out is not None:
        save_or_keep(model, Path(out), card)
    return TrainedTable(model, card, None)


@dataclass
class _Labels:
    """The column of labels: what is known of it before training, and how many rows are of each class."""

    source: str
    column: str
    pos_label: Any
    costs: Mapping[str, CostSpec]
    features: list[str]
    n_rows: int = 0
    n_positive: int = 0

    def choose(self, found: Any) -> Any:
        """The positive class as the column has it, given its `LabelCounts`."""
        labels, boolean = found.labels, all(isinstance(label, bool | np.bool_) for label in found.labels)
        if boolean:
            labels = labels.astype(str).astype(object)
        elif labels.dtype.kind == "f":
            labels = to_integers(labels)
        positive = find_pos_label(self.source, np.sort(labels), self.column, self.pos_label, self.costs)
        for cost, n_with_cost in zip(self.costs.values(), found.counts[:, 1:].T, strict=True):
            if cost.column in self.features:
                check_cost_leakage(cost, one_class_only=np.count_nonzero(n_with_cost) == 1)
        self.n_rows, self.n_positive = int(found.counts[:, 0].sum()), int(found.counts[labels == positive, 0].sum())
        return positive == "True" if boolean else positive


@dataclass(frozen=True)
class _CostedPart(FramePart):
    """A part of Parquet whose strings are read as by `Chunk`, with costs as further columns, by their names."""

    part: ParquetPart
    costs: Mapping[str, CostSpec]

    @property
    def location(self) -> str:
        """Where it is, for messages."""
        return self.part.row_groups.location

    def frame(self, columns: Sequence[str]) -> Any:
        """These columns as a data frame."""
        import pandas as pd

        costs = {name: self.costs[name] for name in columns if name in self.costs}
        stored = [name for name in dict.fromkeys(columns) if name not in costs]
        needed = [*stored, *(str(cost.column) for cost in costs.values())]
        frames = []
        for rows in self.part.chunks(CHUNK_ROWS, needed):
            frame = rows.rows.select(stored).to_pandas(types_mapper=nullable_booleans)
            text = {name: [entry or None for entry in rows.strings(name)] for name in stored if rows.is_text(name)}
            frames.append(frame.assign(**text, **{name: cost.values(rows) for name, cost in costs.items()}))
        return pd.concat(frames, ignore_index=True)


def parts_for_workers(source: Source) -> Sequence[ParquetPart]:
    """The parts of a table that workers can read."""
    if source.parquet is None:
        raise TableError(
            f"a scheduler requires Parquet, a file or a folder; {source.name} is not. Convert it, or omit the "
            "scheduler (--scheduler)."
        )
    return cast(Sequence[ParquetPart], source.parts())


@contextmanager
def connect(scheduler: Any) -> Iterator[Any]:
    """A client of the scheduler at this address, closed at the end; or the client that was given."""
    try:
        from distributed import Client
        from distributed.comm.addressing import parse_address, parse_host_port
    except ImportError as error:
        raise ImportError("a cluster needs dask and distributed: pip install 'cssvm[dask]'") from error
    try:
        if isinstance(scheduler, Client):
            client: Any = nullcontext(scheduler)
        else:
            parse_host_port(parse_address(scheduler)[1])  # or the client would retry until the timeout
            client = Client(scheduler, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise TableError(
            f"there is no Dask scheduler at {scheduler!r}: {str(error).splitlines()[0]}. Give the address that it "
            "shows when it starts, such as tcp://127.0.0.1:8786."
        ) from error
    with client as connected:
        try:
            if connected is not scheduler:
                connected.wait_for_workers(1, timeout=SECONDS)
        except TimeoutError as error:
            raise TableError(f"the Dask scheduler at {scheduler!r} has no workers. Start one: dask worker.") from error
        try:
            yield connected
        except RuntimeError as error:  # workers died
            raise TableError(str(error)) from error


def map_parts(
    client: Any, function: Callable[..., Any], shared: Any, arguments: Sequence[tuple[Any, ...]]
) -> Iterator[Any]:
    """Yield ``function(shared, *arguments[k])`` for each part k of a table, in order; workers compute few ahead."""
    from ..dask._session import Session

    with Session(client) as session:
        (common,) = session.share("shared", [shared])
        yield from session.map_ordered(
            "part",
            function,
            lambda some: [(common, *own) for own in arguments[some]],
            [f"part {k}" for k in range(len(arguments))],
            AHEAD * session.n_cores,
            one_by_one=True,
        )
