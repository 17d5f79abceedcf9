"""What a saved model says of the rows of a table, by the columns and the costs of its card."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.decision import FreeDecisionWarning
from .._core.positive_class import PositiveClass, plain, positive_class_scores
from .._core.prediction_costs import COSTS, costs_for_predict, known_costs, predict_with_costs
from .._core.samples import both_classes
from .._core.types import Mask, Vector
from ..deploy import ModelCard, SavedModel, load_model
from .chunk import Chunk, TableError, did_you_mean, format_names
from .cost_spec import DECIDED_BY, CostSpec, check_required_costs, column_in
from .schema import InputIssues, known_labels, read_features


@dataclass(frozen=True)
class Decisions:
    """Of some rows: labels, scores for the target, its probabilities, what acting and leaving are expected to cost.

    (n_rows,) each; those three are None where the model has no probabilities, the costs also where none are known.
    costs : fn_cost and fp_cost as the model knows them when it decides, as far as they are known.
    """

    labels: NDArray[Any]
    scores: Vector
    probabilities: Vector | None
    cost_of_acting: Vector | None
    cost_of_leaving: Vector | None
    costs: dict[str, Any]


@dataclass
class Decider:
    """A saved model that decides on chunks of a table; `given` are costs in place of the card's, by name."""

    saved: SavedModel
    given: dict[str, Any]
    issues: InputIssues = field(default_factory=InputIssues)

    def __post_init__(self) -> None:
        self.given = {name: cost for name, cost in self.given.items() if cost is not None}
        takes = costs_for_predict(self.saved.model)
        self.decides_by = [name for name in COSTS if name in takes]

    @classmethod
    def of(cls, model: Any, *, fn_cost: Any, fp_cost: Any) -> Decider:
        """From a model file, or what `load_model` returns."""
        saved = load_model(model) if isinstance(model, str | Path) else model
        if not isinstance(saved, SavedModel):
            raise TypeError(f"model must be a path or a SavedModel, with a card; got {type(model).__name__}.")
        return cls(saved, {"fn_cost": fn_cost, "fp_cost": fp_cost})

    @property
    def card(self) -> ModelCard:
        """The card of the model."""
        return self.saved.card

    @property
    def target(self) -> PositiveClass:
        """The classes of the model, and which is the target."""
        return PositiveClass.among(self.saved.model.classes_, self.card.pos_label)

    def prices(self, names: Sequence[str]) -> dict[str, CostSpec]:
        """What errors on rows with columns of these names cost, as far as that is known."""
        known = {name: self.given.get(name, getattr(self.card, name)) for name in COSTS}
        for name, cost in known.items():
            if name not in self.given and isinstance(cost, str):
                self._check_there(name, cost, names)
        return {name: CostSpec.parse(name, cost, names) for name, cost in known.items() if cost is not None}

    @staticmethod
    def _check_there(name: str, cost: str, names: Sequence[str]) -> None:
        """Raise if the table lacks the column that a cost of the card is taken from."""
        column = cost if cost in names else column_in(cost)
        if column not in names:
            raise TableError(
                f"the model takes {name} from column {column!r}, which this table lacks; its columns are "
                f"{format_names(names)}. Add the column, or give another cost with {name} (--{name.replace('_', '-')})."
                + did_you_mean(column, names)
            )

    def cost_columns(self, names: Sequence[str]) -> set[str]:
        """Those of the columns of these names that the model decides by as costs."""
        prices = self.prices(names) if self.decides_by else {}
        return {price.column for price in prices.values() if price.column is not None}

    def costs(self, rows: Chunk) -> dict[str, Any]:
        """The same as numbers, or (n_rows,) float64, which the model can decide by."""
        prices = self.prices(rows.names)
        found = {name: price.values(rows) for name, price in prices.items()}
        for name in self.decides_by:
            if name in prices:
                prices[name].check_known(rows, found[name], np.ones(len(rows), dtype=bool), DECIDED_BY)
        return found

    def all_costs(self, rows: Chunk, labels: NDArray[Any]) -> dict[str, Any]:
        """Both costs, without which rows cannot be judged; `labels` tell where they count."""
        costs = self.costs(rows)
        missing = [name for name in COSTS if name not in costs]
        if missing:
            raise TableError(f"the card of this model does not tell {missing[0]}: give it, as a number or a column.")
        check_required_costs(self.prices(rows.names), rows, costs, labels == self.target.label)
        return costs

    def label_column(self, given: str | None) -> str:
        """The column of labels: the one given, or the card's."""
        column = self.card.target if given is None else given
        if column is None:
            raise TableError(
                "the card of this model names no column of labels: say which it is, with target (--target)."
            )
        return column

    def labelled(self, rows: Chunk, column: str, weight: str | None) -> tuple[Chunk, NDArray[Any]]:
        """The rows that have a label, and their labels."""
        rows.require([name for name in (column, weight) if name is not None])
        labels, known = known_labels(rows, column, self.target.classes)
        return rows.take(known), labels[known]

    def check_both_classes(self, column: str, positive: Mask, weights: Vector | None) -> None:
        """Refuse labelled rows, (n,) each, that are all of one class, or of weight 0 but for one class."""
        counted = positive if weights is None else positive[weights > 0]
        if not both_classes(counted):
            missing = self.target.other if counted.any() else self.target.label
            raise TableError(
                f"column {column!r} must hold labels of both classes, on rows that count; got none of "
                f"{plain(missing)!r}. Give a table that has rows of both."
            )

    def check_takes_costs(self) -> None:
        """Refuse costs given to a model that cannot decide by them."""
        useless = [name for name in self.given if name not in self.decides_by]
        if useless:
            raise TableError(
                f"this model decides alike for all costs, so {useless[0]} of new rows cannot be given. Train with "
                'decision "bayes" for that.'
            )

    def features(self, rows: Chunk) -> Any:
        """The rows as the model takes them."""
        X = read_features(rows, self.card.columns, self.issues)
        named = hasattr(self.saved.model, "feature_names_in_")
        return X.to_numpy() if hasattr(X, "columns") and not named else X  # trained without names

    def decide(self, rows: Chunk, costs: dict[str, Any]) -> Decisions:
        """Decisions on these rows at these costs."""
        model, X = self.saved.model, self.features(rows)
        used = {name: costs[name] for name in self.decides_by if name in costs}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FreeDecisionWarning)  # such rows are counted
            if hasattr(model, "decide"):
                labels, scores, probabilities = model.decide(X, **used)
            else:
                labels, scores, probabilities = self._asked_one_by_one(X, used)
        if self.decides_by:
            costs = known_costs(model, X, costs)
        if probabilities is None or len(costs) < len(COSTS):
            return Decisions(labels, scores, probabilities, None, None, costs)
        acting, leaving = (1.0 - probabilities) * costs["fp_cost"], probabilities * costs["fn_cost"]
        return Decisions(labels, scores, probabilities, acting, leaving, costs)

    def n_free(self, costs: dict[str, Any], n_rows: int) -> int:
        """How many of the rows cost nothing whatever the decision, for a model that decides by both costs."""
        if len(self.decides_by) < len(COSTS) or len(costs) < len(COSTS):
            return 0
        return int(np.count_nonzero(np.broadcast_to((costs["fn_cost"] == 0) & (costs["fp_cost"] == 0), n_rows)))

    def _asked_one_by_one(self, X: Any, costs: dict[str, Any]) -> tuple[NDArray[Any], Vector, Vector | None]:
        """Labels, scores and probabilities of a model that gives them one by one."""
        model = self.saved.model
        labels = predict_with_costs(model, X, costs)
        scores = positive_class_scores(model, X, pos_label=self.card.pos_label).values
        if not hasattr(model, "predict_proba"):
            return labels, scores, None
        return labels, scores, self.target.oriented(model.predict_proba(X))
