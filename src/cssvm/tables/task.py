"""What is to be learnt from a table: features, labels, the target, and what errors cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import Mask
from ..deploy import Column
from ..target import Target
from .chunk import Chunk, TableError, listed
from .features import read_features
from .kinds import choose_columns
from .labels import label_meant, labels_are_numbers, read_labels
from .prices import DECIDED_BY, Price, check_where_they_count, weights_of
from .sources import LABEL, open_table

HELD_OUT = DECIDED_BY + ' (with decision "threshold", or without evaluation, gaps do where a cost does not count)'


@dataclass(frozen=True)
class Task:
    """A training table, read.

    X : data frame or CSR, (n, n_features); y : (n,) labels; target : their column; pos_label : the target class;
    columns : those of X; prices : of a miss and of a false alarm, by name; of_rows : what `fit` takes for each row,
    costs, weights and groups; class_costs : fn_cost and fp_cost that are numbers, 1 for the others; notes : what was
    left out.
    """

    X: Any
    y: NDArray[Any]
    target: str
    pos_label: Any
    columns: list[Column]
    prices: dict[str, Price]
    of_rows: dict[str, Any]
    class_costs: dict[str, Any]
    notes: list[str]

    @classmethod
    def read(
        cls,
        data: Any,
        *,
        target: str | None,
        pos_label: Any,
        costs: Mapping[str, Any],
        weight: str | None,
        group: str | None,
        drop: Sequence[str],
        category: Sequence[str],
        decided_by_costs: bool,
    ) -> Task:
        """Read a training table.

        costs : fn_cost and fp_cost as `Price.read` takes them; decided_by_costs : whether its rows are to be decided on
        by their costs, which must all be known then.
        """
        table = open_table(data).whole()
        target = _target_column(table, target)
        prices = {name: Price.read(name, given, table.names) for name, given in costs.items()}
        beside = [name for name in (target, weight, group) if name is not None]
        table.require([*beside, *drop])
        y, known = read_labels(table, target, numeric=target not in category and labels_are_numbers(table, target))
        table, y = table.take(known), y[known]
        pos_label = target_label(table.source, np.unique(y), target, pos_label, prices)
        chosen = choose_columns(table, without=[*beside, *drop], category=category)
        _check_no_giveaway(table, chosen.columns, prices, y == pos_label)
        given = {name: price.of(table) for name, price in prices.items()}
        check_where_they_count(prices, table, given, y == pos_label)
        if decided_by_costs:
            for name, price in prices.items():
                price.check_known(table, given[name], np.ones(len(y), dtype=bool), HELD_OUT)
        of_rows = {name: cost for name, cost in given.items() if np.ndim(cost)}
        of_rows |= {} if weight is None else {"sample_weight": weights_of(table, weight)}
        of_rows |= {} if group is None else {"groups": table.words(group)}
        notes = [f"column {name!r} was left out: {reason}" for name, reason in chosen.left_out.items()]
        if not known.all():
            notes.append(f"{np.count_nonzero(~known):,} rows without a label were left out")
        return cls(
            X=read_features(table, chosen.columns),
            y=y,
            target=target,
            pos_label=pos_label,
            columns=chosen.columns,
            prices=prices,
            of_rows=of_rows,
            class_costs={name: 1.0 if np.ndim(cost) else cost for name, cost in given.items()},
            notes=notes,
        )

    @property
    def described(self) -> dict[str, Any]:
        """The fields of a model card that the table knows."""
        return {
            "target": self.target,
            "columns": self.columns,
            "n_rows": len(self.y),
            "n_targets": int(np.count_nonzero(self.y == self.pos_label)),
            "notes": self.notes,
            **{name: price.written for name, price in self.prices.items()},
        }


def _target_column(table: Chunk, target: str | None) -> str:
    """The column of labels; LIBSVM text has only one."""
    if target is None and table.sparse is None:
        raise TableError(f"the column of labels must be named; the columns of {table.source} are {table.names}.")
    target = LABEL if target is None else target
    table.require([target])
    return target


def target_label(source: str, classes: NDArray[Any], column: str, pos_label: Any, prices: Mapping[str, Price]) -> Any:
    """The target class among the labels that occur, sorted, of which there must be two; named where that is needed."""
    labels = classes.tolist()
    if len(labels) != 2:
        found = "one class only, " if len(labels) == 1 else f"{len(labels):,} different labels, "
        raise TableError(
            f"column {column!r} of {source} must hold the labels of two classes; got {found}{listed(labels, 5)}."
        )
    if isinstance(labels[0], float):
        raise TableError(
            f"column {column!r} of {source} must hold words or whole numbers up to 2**53 as labels; got "
            f"{listed(labels)}. Turn amounts into classes, or say that the column is a category."
        )
    if pos_label is not None:
        return label_meant(pos_label, labels, column)
    if isinstance(labels[0], str) and len({price.written for price in prices.values()}) > 1:
        raise TableError(
            f"the labels of {column!r} are words, {labels[0]!r} and {labels[1]!r}: say which of them is the target, "
            f"whose miss costs fn_cost, with pos_label (--positive {labels[0]})."
        )
    return labels[Target.among(classes, None).index]


def _check_no_giveaway(table: Chunk, columns: Sequence[Column], prices: Mapping[str, Price], positive: Mask) -> None:
    """Refuse to learn from a cost that is there for one class only."""
    learnt = {column.name for column in columns}
    for price in prices.values():
        if price.column is not None and price.column in learnt:
            there = np.nan_to_num(table.numbers(price.column)) != 0
            check_giveaway(price, apart=bool((there == positive).all() or (there != positive).all()))


def check_giveaway(price: Price, *, apart: bool) -> None:
    """Refuse to learn from a cost that tells the classes apart: it is not known when a decision is due."""
    if apart:
        raise TableError(
            f"column {price.column!r}, the {price.name}, is 0 or missing for exactly one class and so gives the "
            "label away. Drop it from what is learnt; it remains the cost."
        )
