"""Blocks of one array or CSR matrix in memory, on the threads of this process.

The blocks depend on the shape of the data alone, so the sums do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from .._types import Vector
from ..runtime import threads
from . import blocks as passes
from . import choice
from .blocks import ALPHA, Block, Measure, Point, Prediction, Rest, Step, balanced
from .choice import Look
from .rows import far_centre, make_rows

BLOCK_BYTES = 1 << 23  # of dense float64 rows: blocks enough for all cores
SQUARES = 8  # rows for each feature at least: the matrix that a block answers with is then smaller than itself
WAITING_BYTES = 1 << 26  # of such matrices that wait to be added


class LocalBlocks:
    """Blocks in memory, with their states: `AllBlocks`."""

    def __init__(self, blocks: list[Block]):
        self.blocks, self.n_features = blocks, blocks[0].rows.n_features
        self._states: list[Any] = [None] * len(blocks)
        self._at_once = max(threads.n_cores(), WAITING_BYTES // (8 * (self.n_features + 1) ** 2))

    @classmethod
    def of(cls, X: Any, linear: Vector, boxes: Vector, block_rows: int | None = None) -> LocalBlocks:
        """Blocks of X (n, n_features) with p = y m and boxes c > 0, (n,) float64 each, which are not copied."""
        width = max(1, X.shape[1])
        step = block_rows or max(BLOCK_BYTES // (8 * width), SQUARES * width)
        parts = [slice(first, first + step) for first in range(0, X.shape[0], step)]
        return cls([Block(make_rows(X[part]), linear[part], boxes[part]) for part in parts])

    def centre(self) -> Vector:
        """Take what is far from zero from the features, and return it, (n_features,)."""
        moments = self._answers(lambda k: (*self.blocks[k].rows.moments(), self.blocks[k].rows.n))
        total, squares, n = (sum(each) for each in zip(*moments, strict=True))
        centre = far_centre(total, squares, n)
        self.blocks = [block._replace(rows=block.rows.centred(centre)) for block in self.blocks]
        return centre

    def measure(self, step: Step | None) -> Measure:
        """As `Blocks` says."""

        def of_block(number: int) -> Measure:
            self._states[number], found = passes.measure(self.blocks[number], self._states[number], step)
            return found

        return reduce(Measure.plus, self._answers(of_block))

    def predict(self, point: Point, predictor: Point) -> Prediction:
        """As `Blocks` says."""
        answers = self._answers(lambda k: passes.predict(self.blocks[k], self._states[k], point, predictor))
        return reduce(Prediction.plus, answers)

    def reach(self, step: Step) -> float:
        """As `Blocks` says."""
        return max(self._answers(lambda k: passes.reach(self.blocks[k], self._states[k], step)))

    def counts(self) -> Vector:
        """As `AllBlocks` says."""
        return np.sum([choice.count(block) for block in self.blocks], axis=0)

    def look(self, point: Point) -> Look:
        """As `AllBlocks` says."""
        return reduce(Look.plus, self._answers(lambda k: choice.look(self.blocks[k], point)))

    def sample(self, strides: Vector) -> LocalBlocks:
        """As `AllBlocks` says."""
        return LocalBlocks(list(self._answers(lambda k: choice.sampled(self.blocks[k], strides))))

    def near(self, points: Sequence[Point], distances: np.ndarray) -> tuple[LocalBlocks, Rest]:
        """As `AllBlocks` says."""
        blocks, rests = zip(*self._answers(lambda k: choice.near(self.blocks[k], points, distances)), strict=True)
        return LocalBlocks(list(blocks)), reduce(Rest.plus, rests)

    def alpha(self) -> Vector:
        """The dual variables of all rows as they are now, (n,)."""
        return np.concatenate([state[ALPHA] for state in self._states])

    def dual_objective(self, alpha: Vector) -> float:
        """That of these variables, (n,) within their boxes, the class of the larger sum scaled down."""
        linear, pull, first = np.concatenate([block.linear for block in self.blocks]), np.zeros(self.n_features), 0
        beta = balanced(alpha, linear)
        for block in self.blocks:
            own, first = beta[first : first + block.rows.n], first + block.rows.n
            for part, tile in block.rows.tiles():
                pull += tile.sum(own[part])
        return float(beta @ linear - 0.5 * pull @ pull)

    def _answers(self, ask: Callable[[int], Any]) -> Iterator[Any]:
        """What each block answers, in their order; only so many are computed ahead as may wait in memory."""
        everything = range(len(self.blocks))
        answers: dict[int, Any] = {}

        def task(number: int) -> None:
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # each thread has its own
                answers[number] = ask(number)

        for first in everything[:: self._at_once]:
            numbers = everything[first : first + self._at_once]
            threads.run(task, [(number,) for number in numbers])
            yield from (answers.pop(number) for number in numbers)
