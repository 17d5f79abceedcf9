"""What a task reads: the features of its partition, labels, costs and weights, from Dask collections or Parquet.

A partition is what Dask calls one, or a row group of a Parquet file, in the order of the paths. Whatever is given by
name is a column of the same frame; collections beside it must have the same partitions. Numbers hold for all rows.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np

from .._core.costs import is_tied
from .._core.samples import one_dimensional
from .._core.types import is_number
from .._runtime.memory import give_back
from .._runtime.parquet import RowGroups, find_row_groups, without_index

VALUES = ("y", "fn_cost", "fp_cost", "kappa", "sample_weight")
IN_MEMORY = "For rows in memory use cssvm.CostSensitiveLinearSVC, or dask.array.from_array(X, chunks=...)."


@dataclass(frozen=True)
class Partition:
    """Arguments of tasks that read all of a partition, or no more than its labels, costs and weights."""

    name: str
    everything: tuple[Any, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Reader:
    """How a task reads what it is given.

    names : of the features; None for arrays
    columns : by the name of a value, that of its column
    constants : values that are one number for all rows, None or "tied"
    beside : names of the values that come from collections of their own, in the order of the further arguments
    """

    names: tuple[str, ...] | None
    columns: dict[str, str]
    constants: dict[str, Any]
    beside: tuple[str, ...]

    def features(self, frame: Any) -> Any:
        """The rows: a data frame, or an array (n, n_features)."""
        if self.names is not None:
            return _columns(frame, self.names)
        X = np.asarray(frame) if not hasattr(frame, "toarray") else frame
        if not isinstance(X, np.ndarray) or X.ndim != 2:
            raise ValueError(
                f"X must consist of dense blocks of two dimensions; got {type(frame).__name__} of shape "
                f"{np.shape(frame)}. Turn sparse blocks into arrays with X.map_blocks(lambda block: block.toarray())."
            )
        return X

    def values(self, frame: Any, *beside: Any) -> dict[str, Any]:
        """Labels (n,), and costs, margins and weights: numbers, None, or (n,) each."""
        found = dict(self.constants)
        if self.columns:
            table = _columns(frame, sorted(set(self.columns.values())))
            found |= {name: table[column].to_numpy() for name, column in self.columns.items()}
        for name, value in zip(self.beside, beside, strict=True):
            if hasattr(value, "index") and hasattr(frame, "iloc") and not value.index.equals(frame.index):
                raise ValueError(f"{name} must have the index of X; got another. Take it from the same frame as X.")
            found[name] = value
        found["y"] = labels = one_dimensional("y", found["y"])
        for name in self.beside:
            found[name] = values = one_dimensional(name, found[name])
            if len(values) != len(labels):
                raise ValueError(
                    f"{name} must hold one value for each label of y; got {len(values)} values for {len(labels)} "
                    f"labels. Give y and {name} the same partitions."
                )
        return found

    def both(self, frame: Any, *beside: Any) -> tuple[Any, dict[str, Any]]:
        """Features and values, of equally many rows; what the partition before has left is given back."""
        give_back()
        if isinstance(frame, RowGroups):
            frame = frame.frame([*(self.names or ()), *self.columns.values()])
        X, values = self.features(frame), self.values(frame, *beside)
        if len(X) != len(values["y"]):
            raise ValueError(
                f"y must hold one label for each row of X; got {len(values['y'])} labels for {len(X)} rows. Give X and "
                "y the same partitions, for example y.rechunk(X.chunks[0])."
            )
        return X, values


def read_partitions(X: Any, features: Sequence[str] | None, **values: Any) -> tuple[Reader, list[Partition]]:
    """The partitions of X, and how they are read; values by the names of `VALUES`."""
    if isinstance(X, str | Path):
        row_groups, names = _parquet(X)
        return _of_frame(X, names, features, values, row_groups)
    if isinstance(X, dd.DataFrame):
        return _of_frame(X, list(X.columns), features, values)
    if not isinstance(X, da.Array):
        raise ValueError(
            "X must be a dask array, a dask dataframe or the path of Parquet files; got "
            f"{type(X).__name__}. {IN_MEMORY}"
        )
    if X.ndim != 2 or features is not None:
        raise ValueError(
            f"X must have two dimensions, and features are for columns with names; got shape {X.shape} and "
            f"features={reprlib.repr(features)}. Select the columns of an array with X[:, [0, 3]]."
        )
    named = {name: value for name, value in values.items() if isinstance(value, str) and not is_tied(value)}
    if named:
        name, value = next(iter(named.items()))
        raise ValueError(f"{name}={value!r} must be a dask array or a number, as X is an array without named columns.")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    reader = Reader(None, {}, *_apart(values))
    beside = _beside(reader, values, X.numblocks[0], X)
    blocks = X.to_delayed()[:, 0]
    return reader, [
        Partition(f"partition {k}", (block, *own), (None, *own))
        for k, (block, own) in enumerate(zip(blocks, beside, strict=True))
    ]


def _parquet(path: Any) -> tuple[list[RowGroups], list[str]]:
    """Return the row groups of a file or a folder, and the names of its columns."""
    import pyarrow as pa

    try:
        schema, row_groups = find_row_groups(str(path))
    except (OSError, pa.ArrowException) as error:
        raise ValueError(
            f"X={str(path)!r} must be a Parquet file or a folder of them: {str(error).splitlines()[0]}"
        ) from error
    if not row_groups:
        raise ValueError(f"X={str(path)!r} must hold Parquet files with rows; got none.")
    return row_groups, without_index(schema.names)


def _of_frame(
    X: Any,
    names: list[Any],
    features: Sequence[str] | None,
    values: dict[str, Any],
    row_groups: list[RowGroups] | None = None,
) -> tuple[Reader, list[Partition]]:
    columns = {name: value for name, value in values.items() if isinstance(value, str) and not is_tied(value)}
    wanted = [name for name in names if name not in columns.values()] if features is None else list(features)
    for what, name in [*columns.items(), *(("features", each) for each in wanted)]:
        if name not in names:
            raise ValueError(f"{what}={name!r} must be a column of X; it has {reprlib.repr(names)}.")
        if not isinstance(name, str):
            raise ValueError(
                f"the columns of X must have names that are text; got {name!r}. Use X.rename(columns=str)."
            )
    if not wanted:
        raise ValueError(f"X must have columns to learn from beside {sorted(columns.values())}; got none.")
    reader = Reader(tuple(wanted), columns, *_apart({k: v for k, v in values.items() if k not in columns}))
    if row_groups is not None:
        if reader.beside:
            raise ValueError(
                f"{reader.beside[0]} must be a number or the name of a column where X is a path of Parquet; got "
                f"{type(values[reader.beside[0]]).__name__}."
            )
        return reader, [
            Partition(f"partition {k} ({each.path}, row group {each.ids[0]})", (each,), (each,))
            for k, each in enumerate(row_groups)
        ]
    beside = _beside(reader, values, X.npartitions, None)
    needed = list(dict.fromkeys(columns.values()))
    parts = _delayed(X[list(dict.fromkeys([*wanted, *needed]))])
    narrow = _delayed(X[needed]) if needed else [None] * len(parts)
    return reader, [
        Partition(f"partition {k}", (part, *own), (few, *own))
        for k, (part, few, own) in enumerate(zip(parts, narrow, beside, strict=True))
    ]


def _apart(values: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What holds for all rows, and the names of what comes beside."""
    constant = {k: v for k, v in values.items() if v is None or is_number(v) or isinstance(v, str)}
    if "y" in constant:
        raise ValueError(
            f"y must hold the labels: a dask collection, or the name of a column of X; got y={constant['y']!r}."
        )
    return constant, tuple(name for name in VALUES if name in values and name not in constant)


def _beside(reader: Reader, values: dict[str, Any], n_partitions: int, X: Any) -> list[tuple[Any, ...]]:
    """For each partition those of the collections that come beside."""
    found = []
    for name in reader.beside:
        value = values[name]
        if isinstance(value, da.Array):
            if value.ndim == 1 and X is not None and not np.isnan([*value.chunks[0], *X.chunks[0]]).any():
                if value.shape[0] != X.shape[0]:
                    raise ValueError(
                        f"{name} must hold one value for each of the {X.shape[0]} rows of X; got {value.shape[0]}."
                    )
                value = value.rechunk((X.chunks[0],))
            parts = list(value.to_delayed().reshape(-1))
        elif isinstance(value, dd.Series):
            parts = _delayed(value)
        else:
            number = "" if name == "y" else "a number, "
            raise ValueError(
                f"{name} must be {number}the name of a column of a frame, or a dask array or series with the "
                f"partitions of X; got {type(value).__name__}. Pass dask.array.from_array({name}, chunks=X.chunks[0])."
            )
        if len(parts) != n_partitions:
            raise ValueError(
                f"{name} must have the partitions of X, {n_partitions}; got {len(parts)}. Take it from the same "
                f"collection, or repartition it."
            )
        found.append(parts)
    return list(zip(*found, strict=True)) if found else [()] * n_partitions


def _delayed(frame: Any) -> list[Any]:
    """Its partitions, of which no more than the columns that are asked for are read.

    The further steps of Dask's optimiser would merge partitions of which only a few columns are read.
    """
    return frame.simplify().to_delayed(optimize_graph=False)


def _columns(frame: Any, names: Sequence[str]) -> Any:
    """Some columns of a frame or of a row group of Parquet."""
    if isinstance(frame, RowGroups):
        return frame.frame(names)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ValueError(f"column {missing[0]!r} is missing; there are {reprlib.repr(list(frame.columns))}.")
    return frame if list(frame.columns) == list(names) else frame[list(names)]
