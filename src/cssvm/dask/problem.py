"""The training problem of a partition: its labels, costs and weights as totals, then its rows as a block."""

from __future__ import annotations

from dataclasses import dataclass
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from .._types import Mask, Vector
from ..costs import OF_OTHER, OF_TARGET, StakeTotals, check_some_positive, margins_and_boxes
from ..primal.blocks import Block
from ..sample import Sample, check_both_classes
from ..target import Target
from .preparation import Preparation
from .reading import Reader


class Totals(NamedTuple):
    """Of some partitions.

    counts, counted : (2,) rows of the target and of others; those of them that cost something, weights included
    costly : (2,) whether there is any cost among them
    """

    stakes: StakeTotals
    counts: Vector
    counted: Vector
    costly: Mask

    def plus(self, other: Totals) -> Totals:
        """Of both."""
        return Totals(
            self.stakes.plus(other.stakes),
            self.counts + other.counts,
            self.counted + other.counted,
            or_(self.costly, other.costly),
        )

    def check_whole(self) -> None:
        """What `Sample.check_whole` refuses, and rows of one class only."""
        for name, some, n, whose in zip(
            ("fn_cost", "fp_cost"), self.costly, self.counts, (OF_TARGET, OF_OTHER), strict=True
        ):
            check_some_positive(name, bool(some), int(n), whose)
        check_some_positive("sample_weight", self.stakes.weights > 0.0, int(self.counts.sum()))
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
    target: Target
    C: float = 1.0

    def totals(self, *given: Any) -> Totals:
        """From labels, costs and weights alone, which are checked."""
        values = self.reader.values(*given)
        sample = self._sample(values)
        self._margins_and_boxes(sample, values)
        both = (sample.positive, ~sample.positive)
        return Totals(
            StakeTotals.of(sample.weights, sample.stakes),
            np.array([own.sum() for own in both]),
            np.array([(sample.stakes[own] > 0.0).sum() for own in both]),
            np.array([sample.cost[own].any() for own in both]),
        )

    def terms(self, values: dict[str, Any]) -> tuple[Vector, Vector]:
        """The p and the boxes of all rows, turned to the sign of f."""
        sample = self._sample(values)
        margins, boxes = self._margins_and_boxes(sample, values)
        return self.target.as_f(sample.signs) * margins, boxes

    def _sample(self, values: dict[str, Any]) -> Sample:
        positive = np.broadcast_to(np.asarray(values["y"] == self.target.label, dtype=bool), values["y"].shape)
        own = {name: values[name] for name in ("fn_cost", "fp_cost", "sample_weight")}
        return Sample.of(self.target, positive, **own)

    def _margins_and_boxes(self, sample: Sample, values: dict[str, Any]) -> tuple[Vector, Vector]:
        return margins_and_boxes(
            sample.positive, sample.stakes, C=self.C, kappa=values["kappa"], fp_cost=sample.fp_cost
        )


@dataclass(frozen=True)
class BlockReader:
    """What tasks need to turn a partition into a block; called with the arguments of its task."""

    problem: Problem
    preparation: Preparation

    def __call__(self, *given: Any) -> Block:
        """The rows that cost something."""
        X, values = self.problem.reader.both(*given)
        linear, boxes = self.problem.terms(values)
        counted = boxes > 0.0
        if not counted.all():
            X, linear, boxes = X[counted], linear[counted], boxes[counted]
        return Block(self.preparation.rows(X), linear, boxes)
