"""What is to be learnt from a table: features, labels, the target, and what errors cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from .._core.folds import separate_missing_groups
from .._core.positive_class import PositiveClass
from .._core.types import Mask, Vector
from ..deploy import Column
from ..deploy._card import NUMBER
from .chunk import Chunk, TableError, format_names
from .cost_spec import DECIDED_BY, CostSpec, check_required_costs, read_weight_column
from .schema import infer_schema, match_label, labels_are_numbers, read_features, read_labels
from .sources import LABEL, open_table

NEARLY_PERFECT = 0.999  # area under the ROC curve of one column
HELD_OUT = DECIDED_BY + ' (with decision "threshold", or without evaluation, gaps do where a cost does not count)'


@dataclass(frozen=True)
class TrainingData:
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
    prices: dict[str, CostSpec]
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
    ) -> TrainingData:
        """Read a training table.

        costs : fn_cost and fp_cost, to be parsed; decided_by_costs : whether decisions depend on the costs of the rows,
        which must all be known then.
        """
        table = open_table(data).whole()
        target = _target_column(table, target)
        prices = {name: CostSpec.parse(name, given, table.names) for name, given in costs.items()}
        beside = [name for name in (target, weight, group) if name is not None]
        table.require([*beside, *drop])
        y, known = read_labels(table, target, numeric=target not in category and labels_are_numbers(table, target))
        table, y = table.take(known), y[known]
        pos_label = find_pos_label(table.source, np.unique(y), target, pos_label, prices)
        chosen = infer_schema(table, without=[*beside, *drop], category=category)
        _check_cost_columns(table, chosen.columns, prices, y == pos_label)
        given = {name: price.values(table) for name, price in prices.items()}
        check_required_costs(prices, table, given, y == pos_label)
        if decided_by_costs:
            for name, price in prices.items():
                price.check_known(table, given[name], np.ones(len(y), dtype=bool), HELD_OUT)
        of_rows = {name: cost for name, cost in given.items() if np.ndim(cost)}
        of_rows |= {} if weight is None else {"sample_weight": read_weight_column(table, weight)}
        groups, notes_on_groups = (None, []) if group is None else _groups(table.strings(group), group)
        of_rows |= {} if group is None else {"groups": groups}
        X = read_features(table, chosen.columns)
        notes = [f"column {name!r} was left out: {reason}" for name, reason in chosen.left_out.items()]
        notes += notes_on_groups + chosen.notes + _leakage(X, chosen.columns, y == pos_label)
        if not known.all():
            notes.append(f"{np.count_nonzero(~known):,} rows without a label were left out")
        return cls(
            X=X,
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
            "n_positives": int(np.count_nonzero(self.y == self.pos_label)),
            "notes": self.notes,
            **{name: price.text for name, price in self.prices.items()},
        }


def _target_column(table: Chunk, target: str | None) -> str:
    """The column of labels; LIBSVM text has only one."""
    if target is None and table.sparse is None:
        raise TableError(f"the column of labels must be named; the columns of {table.source} are {table.names}.")
    target = LABEL if target is None else target
    table.require([target])
    return target


def find_pos_label(
    source: str, classes: NDArray[Any], column: str, pos_label: Any, prices: Mapping[str, CostSpec]
) -> Any:
    """The target class among the labels that occur, sorted, of which there must be two; named where that is needed."""
    labels = classes.tolist()
    if len(labels) != 2:
        found = "one class only, " if len(labels) == 1 else f"{len(labels):,} different labels, "
        raise TableError(
            f"column {column!r} of {source} must hold the labels of two classes; got {found}{format_names(labels, 5)}."
        )
    if isinstance(labels[0], float):
        raise TableError(
            f"column {column!r} of {source} must hold strings or integers up to 2**53 as labels; got "
            f"{format_names(labels)}. Convert amounts to classes, or make the column a category (--category)."
        )
    if pos_label is not None:
        return match_label(pos_label, labels, column)
    if isinstance(labels[0], str) and len({price.text for price in prices.values()}) > 1:
        raise TableError(
            f"the labels of {column!r} are words, {labels[0]!r} and {labels[1]!r}: say which of them is the target, "
            f"whose miss costs fn_cost, with pos_label (--positive {quote(labels[0])} or --positive "
            f"{quote(labels[1])})."
        )
    return labels[PositiveClass.from_labels(classes, None).index]


def _check_cost_columns(
    table: Chunk, columns: Sequence[Column], prices: Mapping[str, CostSpec], positive: Mask
) -> None:
    """Refuse to learn from a cost that is 0 or missing on every row of one class."""
    learnt = {column.name for column in columns}
    for price in prices.values():
        if price.column is not None and price.column in learnt:
            there = np.nan_to_num(table.numbers(price.column)) != 0
            check_cost_leakage(price, one_class_only=bool(there[positive].any() != there[~positive].any()))


def check_cost_leakage(price: CostSpec, *, one_class_only: bool) -> None:
    """Refuse to learn from a cost that is known for one class only: it is not known when a decision is due."""
    if one_class_only:
        raise TableError(
            f"column {price.column!r}, the {price.name}, is 0 or missing on every row of one class, which tells the "
            "model the label. It must not be learnt from: drop it from the features "
            f"(--drop {quote(str(price.column))}); it remains the cost."
        )


def _leakage(X: Any, columns: Sequence[Column], positive: Mask) -> list[str]:
    """A note for each column that tells the classes apart all by itself: a leak more often than a discovery."""
    if not hasattr(X, "columns"):
        return []
    notes = []
    for column in columns:
        values = X[column.name].to_numpy()
        missing = np.isnan(values) if column.kind == NUMBER else values == ""
        apart = "" if column.kind != NUMBER else _told_apart(values, positive)
        if missing[positive].all() != missing[~positive].all():
            apart = "it is missing on every row of one class"
        if apart:
            notes.append(
                f"column {column.name!r} alone tells the classes apart: {apart}. If it is not known when a decision "
                f"is made, drop it with --drop {quote(column.name)}"
            )
    return notes


def _told_apart(values: Vector, positive: Mask) -> str:
    """How well a column of numbers, (n,) with nan, ranks the classes, if nearly perfectly; else nothing."""
    for missing_as in (-np.inf, np.inf) if np.isnan(values).any() else (0.0,):
        area = roc_auc_score(positive, rankdata(np.where(np.isnan(values), missing_as, values)))
        if max(area, 1.0 - area) >= NEARLY_PERFECT:
            return f"AUC {max(area, 1.0 - area):.4g}"
    return ""


def _groups(words: NDArray[np.object_], column: str) -> tuple[NDArray[Any], list[str]]:
    """Groups (n,) of the rows from the entries of their column, and a note on rows without one."""
    groups, n_alone = separate_missing_groups(words)
    note = f"{n_alone:,} rows have no entry in {column!r}, the group: each is a group of its own"
    return groups, [note] if n_alone else []
