"""A saved model applied to chunks of a table, with the columns and the costs of its card."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.decision import COSTS, FreeDecisionWarning, costs_for_predict, known_costs, predict_with_costs
from .._core.positive_class import PositiveClass, positive_class_scores
from .._core.types import Vector
from ..deploy import ModelCard, SavedModel, load_model
from .chunk import Chunk, TableError, did_you_mean, format_names
from .cost_spec import DECIDED_BY, CostSpec, check_required_costs, column_in
from .schema import InputIssues, known_labels, read_features


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
        """From a model file, or what `load_model` returns."""
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

    def target_column(self, given: str | None) -> str:
        """The target column: the one given, or the card's."""
        column = self.card.target if given is None else given
        if column is None:
            raise TableError("the card of this model names no target column: give it, with target (--target).")
        return column

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
            if hasattr(model, "_decide"):
                labels, scores, probabilities = model._decide(X, **used)
            else:
                labels = predict_with_costs(model, X, used)
                scores = positive_class_scores(model, X, pos_label=self.card.pos_label).values
                probabilities = None
                if hasattr(model, "predict_proba"):
                    probabilities = self.positive_class.to_positive_sign(model.predict_proba(X))
        return Predictions(labels, scores, probabilities, known_costs(model, X, costs) if self.decides_by else costs)
