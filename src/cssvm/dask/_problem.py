"""The training problem of a partition: its labels, costs and weights as totals, then its rows as a block."""

from __future__ import annotations

from dataclasses import dataclass
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from .._core.costs import OF_NEGATIVE, OF_POSITIVE, WeightedCostTotals, margins_and_upper_bounds
from .._core.positive_class import PositiveClass
from .._core.samples import Samples, check_both_classes
from .._core.types import Mask, Vector
from .._core.validation import check_some_positive
from .._solvers.linear.passes import Block
from ._partitions import Reader
from ._preparation import Preparation


class Totals(NamedTuple):
    """Of some partitions.

    counts, counted : (2,) rows of the target and of others; those of them that cost something, weights included
    costly : (2,) whether there is any cost among them
    """

    weighted_costs: WeightedCostTotals
    counts: Vector
    counted: Vector
    costly: Mask

    def plus(self, other: Totals) -> Totals:
        """Of both."""
        return Totals(
            self.weighted_costs.plus(other.weighted_costs),
            self.counts + other.counts,
            self.counted + other.counted,
            or_(self.costly, other.costly),
        )

    def check_whole(self) -> None:
        """What `Samples.check_whole` refuses, and rows of one class only."""
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
    """Labels, costs and weights of partitions, as tasks read them."""

    reader: Reader
    target: PositiveClass
    C: float = 1.0

    def totals(self, *given: Any) -> Totals:
        """From labels, costs and weights alone, which are checked."""
        values = self.reader.values(*given)
        sample = self._sample(values)
        self._margins_and_upper_bounds(sample, values)
        both = (sample.positive, ~sample.positive)
        return Totals(
            WeightedCostTotals.of(sample.weights, sample.weighted_costs),
            np.array([own.sum() for own in both]),
            np.array([(sample.weighted_costs[own] > 0.0).sum() for own in both]),
            np.array([sample.cost[own].any() for own in both]),
        )

    def terms(self, values: dict[str, Any]) -> tuple[Vector, Vector]:
        """The p and the upper bounds of all rows, turned to the sign of f."""
        sample = self._sample(values)
        margins, upper_bounds = self._margins_and_upper_bounds(sample, values)
        return self.target.as_f(sample.signs) * margins, upper_bounds

    def _sample(self, values: dict[str, Any]) -> Samples:
        positive = np.broadcast_to(np.asarray(values["y"] == self.target.label, dtype=bool), values["y"].shape)
        own = {name: values[name] for name in ("fn_cost", "fp_cost", "sample_weight")}
        return Samples.of(self.target, positive, **own)

    def _margins_and_upper_bounds(self, sample: Samples, values: dict[str, Any]) -> tuple[Vector, Vector]:
        return margins_and_upper_bounds(
            sample.positive, sample.weighted_costs, C=self.C, kappa=values["kappa"], fp_cost=sample.fp_cost
        )


@dataclass(frozen=True)
class BlockReader:
    """What tasks need to turn a partition into a block; called with the arguments of its task."""

    problem: Problem
    preparation: Preparation

    def __call__(self, *given: Any) -> Block:
        """The rows that cost something."""
        X, values = self.problem.reader.both(*given)
        linear, upper_bounds = self.problem.terms(values)
        counted = upper_bounds > 0.0
        if not counted.all():
            X, linear, upper_bounds = X[counted], linear[counted], upper_bounds[counted]
        return Block(self.preparation.rows(X), linear, upper_bounds)
