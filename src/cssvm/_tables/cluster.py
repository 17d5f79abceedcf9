"""Tables on a Dask cluster: its workers read parts of Parquet; training a linear model on tables of any size."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from .._runtime.files import check_writable
from .._runtime.parquet import FramePart, nullable_booleans
from ..deploy import ModelCard
from ..deploy._model_file import save_or_keep
from .chunk import Chunk, TableError, missing_columns_message, to_integers
from .cost_spec import CostSpec
from .sources import CHUNK_ROWS, ParquetPart, Source, open_table
from .training import TrainedTable
from .training_data import check_cost_leakage, find_pos_label

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
    """Train a linear cost-sensitive SVM on Parquet files that need not fit in memory.

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
    pos_label, fn_cost, fp_cost, weight, drop, currency, out
        As for `train_table`.
    C : "scale" or float, default="scale"
        Weight of the loss against the norm of w.
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
    >>> print(trained.card.n_rows, trained.card.n_positives, trained.card.certificate["status"])
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
    not_features = [name for name in (target, weight) if name is not None]
    missing = [name for name in (*not_features, *drop) if name not in names]
    if missing:
        raise TableError(missing_columns_message(source.name, missing, names))
    no_rows = Chunk(source.name, parts[0].schema.empty_table())
    if not no_rows.is_text(target):
        no_rows.numbers(target)  # raises for types that cannot be labels, such as dates
    costs = {name: CostSpec.parse(name, cost, names) for name, cost in (("fn_cost", fn_cost), ("fp_cost", fp_cost))}
    features = [name for name in names if name not in (*not_features, *drop)]
    labels = _Labels(source.name, target, pos_label, costs, features)
    with connect(scheduler) as client, redirect_stdout(sys.stderr):
        model = _fit(client, parts, labels, weight, C, verbose)
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
        """Return the positive class as the column has it, given its `LabelCounts`."""
        labels, boolean = found.labels, all(isinstance(label, bool | np.bool_) for label in found.labels)
        if boolean:
            labels = labels.astype(str).astype(object)
        elif labels.dtype.kind == "f":
            labels = to_integers(labels)
        positive = find_pos_label(self.source, np.sort(labels), self.column, self.pos_label, self.costs)
        for cost, n_with_cost in zip(self.costs.values(), found.n_with_cost.T, strict=True):
            if cost.column in self.features:
                check_cost_leakage(cost, one_class_only=np.count_nonzero(n_with_cost) == 1)
        self.n_rows, self.n_positive = int(found.counts.sum()), int(found.counts[labels == positive].sum())
        return positive == "True" if boolean else positive


def _fit(client: Any, parts: Sequence[ParquetPart], labels: _Labels, weight: str | None, C: Any, verbose: int) -> Any:
    """Return the fitted model without the cluster."""
    from ..dask import CostSensitiveLinearSVC
    from ..dask._partitions import FrameParts

    numbers: dict[str, Any] = {name: cost.factor for name, cost in labels.costs.items() if cost.column is None}
    columns = {name: f"{name} of {cost.column}" for name, cost in labels.costs.items() if cost.column is not None}
    costs = {column: labels.costs[name] for name, column in columns.items()}
    names = [*labels.features, labels.column, *([] if weight is None else [weight]), *costs]
    model = CostSensitiveLinearSVC(C=C, scale=True, verbose=verbose, client=client, **numbers)
    model._fit(
        FrameParts([_CostedPart(part, costs) for part in parts], names),
        labels.column,
        labels.features,
        labels.choose,
        fn_cost=columns.get("fn_cost"),
        fp_cost=columns.get("fp_cost"),
        kappa=None,
        sample_weight=weight,
    )
    return model.set_params(verbose=0).to_local()  # the saved model must not print progress


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
        """Return these columns as a data frame."""
        import pandas as pd

        costs = {name: self.costs[name] for name in columns if name in self.costs}
        stored = [name for name in dict.fromkeys(columns) if name not in costs]
        needed = [*stored, *(str(cost.column) for cost in costs.values())]
        frames = [_frame(rows, stored, costs) for rows in self.part.chunks(CHUNK_ROWS, needed)]
        return pd.concat(frames, ignore_index=True)


def _frame(rows: Chunk, names: list[str], costs: Mapping[str, CostSpec]) -> Any:
    """Return columns and costs; an empty string is a missing value."""
    frame = rows.rows.select(names).to_pandas(types_mapper=nullable_booleans)
    text = {name: [entry or None for entry in rows.strings(name)] for name in names if rows.is_text(name)}
    return frame.assign(**text, **{name: cost.values(rows) for name, cost in costs.items()})


def parts_for_workers(source: Source) -> Sequence[ParquetPart]:
    """Return the parts of a table that workers can read."""
    if source.parquet is None:
        raise TableError(
            f"a scheduler requires Parquet, a file or a folder; {source.name} is not. Convert it, or omit the "
            "scheduler (--scheduler)."
        )
    return cast(Sequence[ParquetPart], source.parts())


@contextmanager
def connect(scheduler: Any) -> Iterator[Any]:
    """Yield a client of the scheduler at this address, closed at the end; or the client that was given."""
    with _client(scheduler) as client:
        try:
            yield client
        except RuntimeError as error:  # workers died
            raise TableError(str(error)) from error


@contextmanager
def _client(scheduler: Any) -> Iterator[Any]:
    try:
        from distributed import Client
        from distributed.comm.addressing import parse_address, parse_host_port
    except ImportError as error:
        raise ImportError("a cluster needs dask and distributed: pip install 'cssvm[dask]'") from error
    if isinstance(scheduler, Client):
        yield scheduler
        return
    try:
        parse_host_port(parse_address(scheduler)[1])  # without a valid address the client would retry until the timeout
        client = Client(scheduler, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise TableError(
            f"there is no Dask scheduler at {scheduler!r}: {str(error).splitlines()[0]}. Give the address that it "
            "shows when it starts, such as tcp://127.0.0.1:8786."
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=SECONDS)
        except TimeoutError as error:
            raise TableError(f"the Dask scheduler at {scheduler!r} has no workers. Start one: dask worker.") from error
        yield client


def map_parts(
    client: Any, function: Callable[..., Any], shared: Any, arguments: Sequence[tuple[Any, ...]]
) -> Iterator[Any]:
    """Yield ``function(shared, *arguments[k])`` for each part k of a table, computed by workers, in order.

    Few are computed ahead, and one result at a time is fetched; `shared` is sent once to each worker.
    """
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
