"""Blocks wherever they are, asked one by one, their answers added in the order of the blocks: `AllBlocks`.

What is asked are the pure functions of `blocks` and `choice`. A subclass says where these are computed, and keeps
blocks and states there; as the sums are made here, the solution depends on the blocks alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from ..._core.types import Vector
from . import blocks as passes
from . import choice
from .blocks import Block, Measure, Point, Prediction, Rest, Step
from .choice import Look

BLOCK_BYTES = 1 << 23  # of dense float64 rows: blocks enough for all cores
SQUARES = 8  # rows for each feature at least: the matrix that a block answers with is then smaller than itself
WAITING_BYTES = 1 << 26  # of such matrices that wait to be added

Self = TypeVar("Self", bound="SummedBlocks")


class SummedBlocks(ABC):
    """Sums over blocks, which a subclass asks.

    n_features : of all blocks
    least_rows : blocks of chosen rows that have fewer are joined with the next
    """

    n_features: int
    least_rows: int = 0

    @abstractmethod
    def _ask(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """``function(block, *arguments)`` of each block, in their order."""

    @abstractmethod
    def _ask_states(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """``function(block, state, *arguments)`` of each block, in their order."""

    @abstractmethod
    def _move(self, function: Callable[..., Any], step: Step | None) -> Iterator[Any]:
        """``function(block, state, step)`` of each block, in their order: a new state, which is kept, and an answer."""

    @abstractmethod
    def _choose(self: Self, function: Callable[..., Any], *arguments: Any) -> tuple[SummedBlocks, list[Any]]:
        """``function(block, *arguments)`` of each block: some of its rows, which are kept, and an answer."""

    def measure(self, step: Step | None) -> Measure:
        """As `Blocks` says."""
        return reduce(Measure.plus, self._move(passes.measure, step))

    def predict(self, point: Point, predictor: Point) -> Prediction:
        """As `Blocks` says."""
        return reduce(Prediction.plus, self._ask_states(passes.predict, point, predictor))

    def reach(self, step: Step) -> float:
        """As `Blocks` says."""
        return max(self._ask_states(passes.reach, step))

    def counts(self) -> Vector:
        """As `AllBlocks` says."""
        return np.sum(list(self._ask(choice.count)), axis=0)

    def look(self, point: Point) -> Look:
        """As `AllBlocks` says."""
        return reduce(Look.plus, self._ask(choice.look, point))

    def bare_loss(self, point: Point) -> float:
        """The loss at a point of the rows as they are, without a centre taken from them."""
        return sum(self._ask(choice.bare_loss, point))

    def sample(self, strides: Vector) -> SummedBlocks:
        """As `AllBlocks` says."""
        return self._choose(_sampled, strides)[0]

    def near(self, points: Sequence[Point], distances: np.ndarray) -> tuple[SummedBlocks, Rest]:
        """As `AllBlocks` says."""
        chosen, rests = self._choose(choice.near, points, distances)
        return chosen, reduce(Rest.plus, rests)

    def at_once(self, n_cores: int) -> int:
        """Blocks whose answers may be computed ahead of those that are added, as these wait in memory."""
        return max(n_cores, WAITING_BYTES // (8 * (self.n_features + 1) ** 2))


def _sampled(block: Block, strides: Vector) -> tuple[Block, None]:
    return choice.sampled(block, strides), None


def block_rows(n_features: int) -> int:
    """Rows that a block should have."""
    width = max(1, n_features)
    return max(BLOCK_BYTES // (8 * width), SQUARES * width)


def groups(counts: Sequence[int], least: int) -> list[slice]:
    """Consecutive blocks with at least so many rows together; the last has all that is left."""
    found, first, n = [], 0, 0
    for k, count in enumerate(counts):
        n += count
        if n >= least:
            found.append(slice(first, k + 1))
            first, n = k + 1, 0
    if not found:
        return [slice(0, len(counts))]
    return [*found[:-1], slice(found[-1].start, len(counts))]
