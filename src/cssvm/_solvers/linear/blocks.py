"""Blocks of samples with their states, asked for sums in turn, wherever they are stored.

A subclass of `Blocks` computes the pure functions of `passes` where it keeps blocks and states. The answers are added
here, in the order of the blocks, so the solution depends on the blocks alone, not on threads or workers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..._core.types import Vector
from ..._runtime import threads
from . import passes
from .passes import (
    Block,
    FixedSamples,
    LinearFunction,
    MarginHistogram,
    Measure,
    Prediction,
    Step,
    balanced,
    joined,
)
from .rows import centre_from_sums, make_rows

BLOCK_BYTES = 1 << 23  # of dense float64 samples: blocks enough for all cores
SQUARES = 8  # samples for each feature at least: the matrix that a block answers with is then smaller than itself
WAITING_BYTES = 1 << 26  # of such matrices that wait to be added


class Blocks(ABC):
    """All blocks of a problem, with their states: sums over all samples."""

    n_features: int
    least_rows: int = 0  # blocks of selected samples that have fewer are joined with the next

    @abstractmethod
    def _map(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """``function(block, *arguments)`` of each block, in their order."""

    @abstractmethod
    def _map_states(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """``function(block, state, *arguments)`` of each block, in their order."""

    @abstractmethod
    def _update_states(self, function: Callable[..., Any], step: Step | None) -> Iterator[Any]:
        """``function(block, state, step)`` of each block, in their order: a new state, which is kept, and an answer."""

    @abstractmethod
    def _map_subsets(self, function: Callable[..., Any], *arguments: Any) -> tuple[Blocks, list[Any]]:
        """``function(block, *arguments)`` of each block: some of its samples, which are kept, and an answer."""

    def measure(self, step: Step | None) -> Measure:
        """Take the step, and sum at its end; None begins."""
        return reduce(Measure.plus, self._update_states(passes.measure, step))

    def predict(self, point: LinearFunction, predictor: LinearFunction) -> Prediction:
        """What the predictor's direction would do."""
        return reduce(Prediction.plus, self._map_states(passes.predict, point, predictor))

    def reach(self, step: Step) -> float:
        """1 / the longest step in the corrected direction that keeps all samples inside."""
        return max(self._map_states(passes.reach, step))

    def counts(self) -> Vector:
        """Number of samples of y = +1 and of y = -1, (2,)."""
        return np.sum(list(self._map(passes.count)), axis=0)

    def margin_histogram(self, point: LinearFunction) -> MarginHistogram:
        """The loss at a point, and how far samples are from their margin."""
        return reduce(MarginHistogram.plus, self._map(passes.margin_histogram, point))

    def uncentred_loss(self, point: LinearFunction) -> float:
        """The loss at a point of the samples without their centre subtracted."""
        return sum(self._map(passes.uncentred_loss, point))

    def sample(self, strides: Vector) -> Blocks:
        """Every strides[0]-th sample of y = +1 and every strides[1]-th of y = -1, upper bounds larger by as much."""
        return self._map_subsets(passes.subsample, strides)[0]

    def near_margin(self, points: Sequence[LinearFunction], distances: np.ndarray) -> tuple[Blocks, FixedSamples]:
        """The samples near their margin, as `passes.near_margin` selects them, and sums over the others."""
        near, fixed = self._map_subsets(passes.near_margin, points, distances)
        return near, reduce(FixedSamples.plus, fixed)

    def at_once(self, n_cores: int) -> int:
        """Blocks whose answers may be computed ahead of those that are added, as these wait in memory."""
        return max(n_cores, WAITING_BYTES // (8 * (self.n_features + 1) ** 2))


class LocalBlocks(Blocks):
    """Blocks of one array or CSR matrix in memory, by its shape alone, computed on the threads of this process."""

    def __init__(self, blocks: list[Block], least_rows: int = 0):
        self.blocks, self.n_features, self.least_rows = blocks, blocks[0].rows.n_features, least_rows
        self._states: list[Any] = [None] * len(blocks)

    @classmethod
    def from_samples(cls, X: Any, linear: Vector, upper_bounds: Vector, n_rows: int | None = None) -> LocalBlocks:
        """Blocks of X (n, n_features) with p = y m and upper bounds c > 0, (n,) float64 each, which are not copied."""
        step = n_rows or block_rows(X.shape[1])
        parts = [slice(first, first + step) for first in range(0, X.shape[0], step)]
        return cls([Block(make_rows(X[part]), linear[part], upper_bounds[part]) for part in parts])

    def centre(self) -> Vector:
        """Subtract the means of features that are far from zero, and return them, (n_features,)."""
        moments = self._answers(lambda k: (*self.blocks[k].rows.moments(), self.blocks[k].rows.n))
        total, squares, n = (sum(each) for each in zip(*moments, strict=True))
        centre = centre_from_sums(total, squares, n)
        self.blocks = [block._replace(rows=block.rows.centred(centre)) for block in self.blocks]
        return centre

    def states(self) -> np.ndarray:
        """The current states of all samples, (4, n); the first row is alpha."""
        return np.concatenate(self._states, axis=1)

    def dual_objective(self, alpha: Vector) -> float:
        """That of dual variables (n,) within their upper bounds, after `balanced`."""
        linear, pull, first = np.concatenate([block.linear for block in self.blocks]), np.zeros(self.n_features), 0
        beta = balanced(alpha, linear)
        for block in self.blocks:
            own, first = beta[first : first + block.rows.n], first + block.rows.n
            for part, tile in block.rows.tiles():
                pull += tile.sum(own[part])
        return float(beta @ linear - 0.5 * pull @ pull)

    def _map(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        return self._answers(lambda k: function(self.blocks[k], *arguments))

    def _map_states(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        return self._answers(lambda k: function(self.blocks[k], self._states[k], *arguments))

    def _update_states(self, function: Callable[..., Any], step: Step | None) -> Iterator[Any]:
        def of_block(number: int) -> Any:
            self._states[number], found = function(self.blocks[number], self._states[number], step)
            return found

        return self._answers(of_block)

    def _map_subsets(self, function: Callable[..., Any], *arguments: Any) -> tuple[LocalBlocks, list[Any]]:
        blocks, answers = zip(*self._map(function, *arguments), strict=True)
        parts = groups([block.rows.n for block in blocks], self.least_rows)
        return LocalBlocks([joined(blocks[part]) for part in parts], self.least_rows), list(answers)

    def _answers(self, ask: Callable[[int], Any]) -> Iterator[Any]:
        """What each block answers, in their order; only so many are computed ahead as may wait in memory."""
        everything = range(len(self.blocks))
        answers: dict[int, Any] = {}
        at_once = self.at_once(threads.n_cores())

        def task(number: int) -> None:
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # each thread has its own
                answers[number] = ask(number)

        for first in everything[::at_once]:
            numbers = everything[first : first + at_once]
            threads.run(task, [(number,) for number in numbers])
            yield from (answers.pop(number) for number in numbers)


def block_rows(n_features: int) -> int:
    """Number of samples that a block should have."""
    width = max(1, n_features)
    return max(BLOCK_BYTES // (8 * width), SQUARES * width)


def groups(counts: Sequence[int], least: int) -> list[slice]:
    """Consecutive blocks with at least so many samples together; the last has all that is left."""
    found, first, n = [], 0, 0
    for k, count in enumerate(counts):
        n += count
        if n >= least:
            found.append(slice(first, k + 1))
            first, n = k + 1, 0
    if not found:
        return [slice(0, len(counts))]
    return [*found[:-1], slice(found[-1].start, len(counts))]
