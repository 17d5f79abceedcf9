"""What tasks read of a partition, from Dask collections or Parquet: features, labels, costs, weights; and their totals.

A partition is one of Dask's, or a row group of a Parquet file, in the order of the paths.
"""

from __future__ import annotations

import contextlib
import ctypes
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import dask.array as da
import dask.dataframe as dd
import numpy as np

from .._core.margins_and_bounds import OF_NEGATIVE, OF_POSITIVE, WeightedCostTotals, is_tied, margins_and_upper_bounds
from .._core.positive_class import PositiveClass
from .._core.samples import Samples, check_both_classes, one_dimensional
from .._core.types import Mask, Vector
from .._core.validation import check_some_positive, is_number
from .._runtime.parquet import FramePart, find_row_groups, without_index


@dataclass(frozen=True)
class Partition:
    """Arguments of tasks that read all of a partition, or only its labels, costs and weights."""

    name: str
    everything: tuple[Any, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True)
class FrameParts:
    """A table in parts that tasks read themselves, and the names of its columns."""

    parts: Sequence[FramePart]
    columns: list[str]

    @classmethod
    def from_parquet(cls, path: str | Path) -> FrameParts:
        """Find the row groups of a file or a folder."""
        import pyarrow as pa

        try:
            schema, row_groups = find_row_groups(str(path))
        except (OSError, pa.ArrowException) as error:
            raise ValueError(
                f"X={str(path)!r} must be a Parquet file or a folder of them: {str(error).splitlines()[0]}"
            ) from error
        if not row_groups:
            raise ValueError(f"X={str(path)!r} must hold Parquet files with rows; got none.")
        return cls(row_groups, without_index(schema.names))


@dataclass(frozen=True)
class Reader:
    """How a task reads its arguments: a frame, an array or a `FramePart`, and the further collections.

    names : of the features; None for arrays
    columns : names of values, and of the columns that hold them
    constants : values that are one number for all samples, None or "tied"
    separate : names of the values that have collections of their own, in the order of the arguments
    """

    names: tuple[str, ...] | None
    columns: dict[str, str]
    constants: dict[str, Any]
    separate: tuple[str, ...]

    def values(self, frame: Any, *separate: Any) -> dict[str, Any]:
        """Return labels (n,), and costs, margins and weights: numbers, None, or (n,) each."""
        found = dict(self.constants)
        if self.columns:
            table = _columns(frame, sorted(set(self.columns.values())))
            found |= {name: table[column].to_numpy() for name, column in self.columns.items()}
        for name, value in zip(self.separate, separate, strict=True):
            if hasattr(value, "index") and hasattr(frame, "iloc") and not value.index.equals(frame.index):
                raise ValueError(f"{name} must have the index of X; got another. Take it from the same frame as X.")
            found[name] = value
        found["y"] = labels = one_dimensional("y", found["y"])
        for name in self.separate:
            found[name] = values = one_dimensional(name, found[name])
            if len(values) != len(labels):
                raise ValueError(
                    f"{name} must hold one value for each label of y; got {len(values)} values for {len(labels)} "
                    f"labels. Give y and {name} the same partitions."
                )
        return found

    def everything(self, frame: Any, *separate: Any) -> tuple[Any, dict[str, Any]]:
        """Return features and values; memory that the partition before has used is given back first."""
        with contextlib.suppress(OSError, AttributeError):  # not glibc, which does not always do so by itself
            ctypes.CDLL(None).malloc_trim(0)
        if isinstance(frame, FramePart):
            frame = frame.frame([*(self.names or ()), *self.columns.values()])
        X = np.asarray(frame) if self.names is None and not hasattr(frame, "toarray") else frame
        if self.names is not None:
            X = _columns(frame, self.names)
        elif not isinstance(X, np.ndarray) or X.ndim != 2:
            raise ValueError(
                f"X must consist of dense blocks of two dimensions; got {type(frame).__name__} of shape "
                f"{np.shape(frame)}. Turn sparse blocks into arrays with X.map_blocks(lambda block: block.toarray())."
            )
        values = self.values(frame, *separate)
        if len(X) != len(values["y"]):
            raise ValueError(
                f"y must hold one label for each row of X; got {len(values['y'])} labels for {len(X)} rows. Give X and "
                "y the same partitions, for example y.rechunk(X.chunks[0])."
            )
        return X, values


def read_partitions(X: Any, features: Sequence[str] | None, **values: Any) -> tuple[Reader, list[Partition]]:
    """Return how the partitions of X are read, and these; values : y, fn_cost, fp_cost, kappa and sample_weight."""
    if isinstance(X, str | Path):
        X = FrameParts.from_parquet(X)
    if not isinstance(X, da.Array | dd.DataFrame | FrameParts):
        raise ValueError(
            f"X must be a dask array, a dask dataframe or the path of Parquet files; got {type(X).__name__}. For rows "
            "in memory use cssvm.CostSensitiveLinearSVC, or dask.array.from_array(X, chunks=...)."
        )
    columns = {name: value for name, value in values.items() if isinstance(value, str) and not is_tied(value)}
    names = _feature_names(X, features, columns)
    # One value for all samples; labels never are.
    constants = {k: v for k, v in values.items() if k not in columns and (v is None or is_number(v) or is_tied(v))}
    constants.pop("y", None)
    separate = tuple(name for name in values if name not in columns and name not in constants)
    reader = Reader(names, columns, constants, separate)
    if isinstance(X, FrameParts):
        if separate:
            kind = type(values[separate[0]]).__name__
            raise ValueError(f"{separate[0]} must be the name of a column where X is a path of Parquet; got {kind}.")
        return reader, [
            Partition(f"partition {k} ({part.location})", (part,), (part,)) for k, part in enumerate(X.parts)
        ]
    if names is None:
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        parts, narrow = list(X.to_delayed()[:, 0]), [None] * X.npartitions
    else:
        needed = list(dict.fromkeys(columns.values()))
        parts = _delayed(X[list(dict.fromkeys([*names, *needed]))])
        narrow = _delayed(X[needed]) if needed else [None] * len(parts)
    others = [_separate(name, values[name], X) for name in separate]
    return reader, [
        Partition(f"partition {k}", (part, *own), (few, *own))
        for k, (part, few, *own) in enumerate(zip(parts, narrow, *others, strict=True))
    ]


def _feature_names(X: Any, features: Sequence[str] | None, columns: dict[str, str]) -> tuple[str, ...] | None:
    """Return the columns that are features, None for an array; columns : those of the values given by name."""
    if isinstance(X, da.Array):
        if X.ndim != 2 or features is not None:
            raise ValueError(
                f"X must have two dimensions, and features are for columns with names; got shape {X.shape} and "
                f"features={reprlib.repr(features)}. Select the columns of an array with X[:, [0, 3]]."
            )
        if columns:
            name, value = next(iter(columns.items()))
            raise ValueError(
                f"{name}={value!r} must be a dask array or a number, as X is an array without named columns."
            )
        return None
    names = list(X.columns)
    wanted = [name for name in names if name not in columns.values()] if features is None else list(features)
    for what, name in [*columns.items(), *(("features", each) for each in wanted)]:
        if name not in names:
            raise ValueError(f"{what}={name!r} must be a column of X; it has {reprlib.repr(names)}.")
        if not isinstance(name, str):
            raise ValueError(f"the columns of X must have strings as names; got {name!r}. Use X.rename(columns=str).")
    if not wanted:
        raise ValueError(f"X must have columns to use as features, other than {sorted(columns.values())}; got none.")
    return tuple(wanted)


def _separate(name: str, value: Any, X: Any) -> list[Any]:
    """Return the partitions of a collection of values given next to X."""
    if isinstance(value, da.Array):
        known = value.ndim == 1 and isinstance(X, da.Array) and not np.isnan([*value.chunks[0], *X.chunks[0]]).any()
        if known and value.shape[0] != X.shape[0]:
            raise ValueError(
                f"{name} must hold one value for each of the {X.shape[0]} rows of X; got {value.shape[0]}."
            )
        parts = list((value.rechunk((X.chunks[0],)) if known else value).to_delayed().reshape(-1))
    elif isinstance(value, dd.Series):
        parts = _delayed(value)
    else:
        number = "" if name == "y" else "a number, "
        raise ValueError(
            f"{name} must be {number}the name of a column of a frame, or a dask array or series with the partitions "
            f"of X; got {type(value).__name__}. Pass dask.array.from_array({name}, chunks=X.chunks[0])."
        )
    if len(parts) != X.npartitions:
        raise ValueError(
            f"{name} must have the partitions of X, {X.npartitions}; got {len(parts)}. Take it from the same "
            "collection, or repartition it."
        )
    return parts


def _delayed(frame: Any) -> list[Any]:
    """Return the partitions of a frame, of which only its columns are read.

    The further steps of Dask's optimiser would merge partitions of which only a few columns are read.
    """
    return frame.simplify().to_delayed(optimize_graph=False)


def _columns(frame: Any, names: Sequence[str]) -> Any:
    """Return some columns of a data frame or of a `FramePart`."""
    if isinstance(frame, FramePart):
        return frame.frame(names)
    return frame if list(frame.columns) == list(names) else frame[list(names)]


class Totals(NamedTuple):
    """Sums over some partitions, (2,) each for the positive and the negative class.

    counts, counted : samples, and those with a positive cost and weight; costly : whether any cost is positive
    """

    weighted_costs: WeightedCostTotals
    counts: Vector
    counted: Vector
    costly: Mask

    def plus(self, other: Totals) -> Totals:
        """Return the sums over the partitions of both."""
        return Totals(
            self.weighted_costs.plus(other.weighted_costs),
            self.counts + other.counts,
            self.counted + other.counted,
            self.costly | other.costly,
        )

    def check_totals(self) -> None:
        """Raise as `Samples.check_totals` does, and if all samples that count are of one class."""
        for name, some, n, whose in zip(
            ("fn_cost", "fp_cost"), self.costly, self.counts, (OF_POSITIVE, OF_NEGATIVE), strict=True
        ):
            check_some_positive(name, bool(some), int(n), whose)
        check_some_positive("sample_weight", self.weighted_costs.weights > 0.0, int(self.counts.sum()))
        if not self.counted.all():
            check_both_classes(
                np.broadcast_to(self.counted[0] > 0, int(self.counted.sum())),
                "the rows with a positive sample_weight and cost",
                "Give rows of the other class a positive sample_weight and a positive fn_cost or fp_cost.",
            )


@dataclass(frozen=True)
class Problem:
    """The training problem: labels, costs and weights as tasks read them."""

    reader: Reader
    positive_class: PositiveClass
    C: float = 1.0

    def totals(self, frame: Any, *separate: Any) -> Totals:
        """Check the labels, costs and weights of a partition and sum them up."""
        sample, _, _ = self._read(self.reader.values(frame, *separate))
        both = (sample.positive, ~sample.positive)
        return Totals(
            WeightedCostTotals.from_samples(sample.weights, sample.weighted_costs),
            np.array([own.sum() for own in both]),
            np.array([(sample.weighted_costs[own] > 0.0).sum() for own in both]),
            np.array([sample.cost[own].any() for own in both]),
        )

    def terms(self, values: dict[str, Any]) -> tuple[Vector, Vector]:
        """Return the linear term p and the upper bounds, (n,) each, with the sign of f."""
        sample, margins, upper_bounds = self._read(values)
        return self.positive_class.to_classes_sign(sample.signs) * margins, upper_bounds

    def _read(self, values: dict[str, Any]) -> tuple[Samples, Vector, Vector]:
        """Return samples, margins and upper bounds."""
        positive = np.broadcast_to(np.asarray(values["y"] == self.positive_class.label, dtype=bool), values["y"].shape)
        own = {name: values[name] for name in ("fn_cost", "fp_cost", "sample_weight")}
        sample = Samples.from_mask(self.positive_class, positive, **own)
        return sample, *margins_and_upper_bounds(
            positive, sample.weighted_costs, C=self.C, kappa=values["kappa"], fp_cost=sample.fp_cost
        )
