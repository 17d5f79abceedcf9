"""A training table: features, labels, the positive class, and the costs of errors."""

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
from .schema import infer_schema, labels_are_numbers, match_label, read_features, read_labels
from .sources import LABEL, open_table

NEARLY_PERFECT = 0.999  # area under the ROC curve of one column
HELD_OUT = DECIDED_BY + ' (otherwise, with decision "threshold" or no evaluation, unused costs may be missing)'


@dataclass(frozen=True)
class TrainingData:
    """A training table, read.

    X : data frame or CSR, (n, n_features); y : (n,) labels; columns : those of X; fit_params : costs, weights and
    groups of the rows, for `fit`; class_costs : costs that are numbers, 1 for the others; notes : for the card.
    """

    X: Any
    y: NDArray[Any]
    target: str
    pos_label: Any
    columns: list[Column]
    cost_specs: dict[str, CostSpec]
    fit_params: dict[str, Any]
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
        """Read a training table; with `decided_by_costs` the costs of all rows must be known."""
        table = open_table(data).whole()
        target = target_column(table, target)
        specs = {name: CostSpec.parse(name, given, table.names) for name, given in costs.items()}
        not_features = [name for name in (target, weight, group) if name is not None]
        table.require([*not_features, *drop])
        y, known = read_labels(table, target, numeric=target not in category and labels_are_numbers(table, target))
        table, y = table.take(known), y[known]
        pos_label = find_pos_label(table.source, np.unique(y), target, pos_label, specs)
        schema = infer_schema(table, without=[*not_features, *drop], category=category)
        _check_cost_columns(table, schema.columns, specs, y == pos_label)
        given = {name: spec.values(table) for name, spec in specs.items()}
        check_required_costs(specs, table, given, y == pos_label)
        if decided_by_costs:
            for name, spec in specs.items():
                spec.check_known(table, given[name], np.ones(len(y), dtype=bool), HELD_OUT)
        fit_params = {name: cost for name, cost in given.items() if np.ndim(cost)}
        fit_params |= {} if weight is None else {"sample_weight": read_weight_column(table, weight)}
        X = read_features(table, schema.columns)
        notes = [f"column {name!r} was left out: {reason}" for name, reason in schema.left_out.items()]
        if group is not None:
            fit_params["groups"], n_alone = separate_missing_groups(table.strings(group))
            if n_alone:
                notes.append(f"{n_alone:,} rows have no entry in {group!r}, the group: each is a group of its own")
        notes += schema.notes + _leakage(X, schema.columns, y == pos_label)
        if not known.all():
            notes.append(f"{np.count_nonzero(~known):,} rows without a label were left out")
        return cls(
            X=X,
            y=y,
            target=target,
            pos_label=pos_label,
            columns=schema.columns,
            cost_specs=specs,
            fit_params=fit_params,
            class_costs={name: 1.0 if np.ndim(cost) else cost for name, cost in given.items()},
            notes=notes,
        )

    @property
    def card_fields(self) -> dict[str, Any]:
        """Fields of the model card that the table determines."""
        return {
            "target": self.target,
            "columns": self.columns,
            "n_rows": len(self.y),
            "n_positives": int(np.count_nonzero(self.y == self.pos_label)),
            "notes": self.notes,
            **{name: spec.text for name, spec in self.cost_specs.items()},
        }


def target_column(table: Chunk, target: str | None) -> str:
    """The column of labels; LIBSVM text has only one."""
    if target is None and table.sparse is None:
        raise TableError(f"the column of labels must be named; the columns of {table.source} are {table.names}.")
    target = LABEL if target is None else target
    table.require([target])
    return target


def find_pos_label(
    source: str, classes: NDArray[Any], column: str, pos_label: Any, specs: Mapping[str, CostSpec]
) -> Any:
    """The positive class, given the labels of the column, sorted; raise unless there are two."""
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
    if isinstance(labels[0], str) and len({spec.text for spec in specs.values()}) > 1:
        raise TableError(
            f"the labels of {column!r} are strings, {labels[0]!r} and {labels[1]!r}: give the positive class, whose "
            f"false negatives cost fn_cost (--positive {quote(labels[0])} or --positive {quote(labels[1])})."
        )
    return labels[PositiveClass.from_labels(classes, None).index]


def _check_cost_columns(table: Chunk, columns: Sequence[Column], specs: Mapping[str, CostSpec], positive: Mask) -> None:
    """Raise if a feature is a cost that is 0 or missing on every row of one class."""
    features = {column.name for column in columns}
    for spec in specs.values():
        if spec.column is not None and spec.column in features:
            there = np.nan_to_num(table.numbers(spec.column)) != 0
            check_cost_leakage(spec, one_class_only=bool(there[positive].any() != there[~positive].any()))


def check_cost_leakage(spec: CostSpec, *, one_class_only: bool) -> None:
    """Raise for a cost among the features that is known for one class only: it is not known at prediction time."""
    if one_class_only:
        raise TableError(
            f"column {spec.column!r}, the {spec.name}, is 0 or missing on every row of one class, which tells the "
            f"model the label. Drop it from the features (--drop {quote(str(spec.column))}); it remains the cost."
        )


def _leakage(X: Any, columns: Sequence[Column], positive: Mask) -> list[str]:
    """Notes on columns that alone separate the classes, which is leakage more often than not."""
    if not hasattr(X, "columns"):
        return []
    notes = []
    for column in columns:
        values = X[column.name].to_numpy()
        missing = np.isnan(values) if column.kind == NUMBER else values == ""
        apart = "" if column.kind != NUMBER else _separability(values, positive)
        if missing[positive].all() != missing[~positive].all():
            apart = "it is missing on every row of one class"
        if apart:
            notes.append(
                f"column {column.name!r} alone tells the classes apart: {apart}. If it is not known when a decision "
                f"is made, drop it with --drop {quote(column.name)}"
            )
    return notes


def _separability(values: Vector, positive: Mask) -> str:
    """The AUC of a column of numbers, (n,) with nan, if it is nearly perfect; else an empty string."""
    for missing_as in (-np.inf, np.inf) if np.isnan(values).any() else (0.0,):
        area = roc_auc_score(positive, rankdata(np.where(np.isnan(values), missing_as, values)))
        if max(area, 1.0 - area) >= NEARLY_PERFECT:
            return f"AUC {max(area, 1.0 - area):.4g}"
    return ""
