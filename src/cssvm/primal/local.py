"""Blocks of one array or CSR matrix in memory, on the threads of this process.

The blocks depend on the shape of the data alone, so the sums do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from .._types import Vector
from ..runtime import threads
from .blocks import ALPHA, Block, Measure, Point, Prediction, Step, measure, predict, reach
from .rows import far_centre, make_rows

BLOCK_BYTES = 1 << 23  # of dense float64 rows: blocks enough for all cores
SQUARES = 8  # rows for each feature at least: the matrix that a block answers with is then smaller than itself
WAITING_BYTES = 1 << 26  # of such matrices that wait to be added


class LocalBlocks:
    """`Blocks` of X (n, n_features) with p = y m and boxes c > 0, (n,) float64 each. Nothing is copied."""

    def __init__(self, X: Any, linear: Vector, boxes: Vector, block_rows: int | None = None):
        self.n_features = X.shape[1]
        width = max(1, self.n_features)
        step = block_rows or max(BLOCK_BYTES // (8 * width), SQUARES * width)
        parts = [slice(first, first + step) for first in range(0, X.shape[0], step)]
        self.blocks = [Block(make_rows(X[part]), linear[part], boxes[part]) for part in parts]
        self._states: list[Any] = [None] * len(parts)
        self._at_once = max(1, WAITING_BYTES // (8 * (width + 1) ** 2))

    def centre(self) -> Vector:
        """Take what is far from zero from the features, and return it, (n_features,)."""
        total, squares, n = self._sum(
            lambda number: (*self.blocks[number].rows.moments(), self.blocks[number].rows.n),
            lambda left, right: tuple(a + b for a, b in zip(left, right, strict=True)),
        )
        centre = far_centre(total, squares, n)
        self.blocks = [block._replace(rows=block.rows.centred(centre)) for block in self.blocks]
        return centre

    def measure(self, step: Step | None) -> Measure:
        """As `Blocks` says."""

        def of_block(number: int) -> Measure:
            self._states[number], found = measure(self.blocks[number], self._states[number], step)
            return found

        return self._sum(of_block, Measure.plus)

    def predict(self, point: Point, predictor: Point) -> Prediction:
        """As `Blocks` says."""
        return self._sum(lambda k: predict(self.blocks[k], self._states[k], point, predictor), Prediction.plus)

    def reach(self, step: Step) -> float:
        """As `Blocks` says."""
        return self._sum(lambda k: reach(self.blocks[k], self._states[k], step), max)

    def alpha(self) -> Vector:
        """The dual variables of all rows as they are now, (n,)."""
        return np.concatenate([state[ALPHA] for state in self._states])

    def _sum(self, function: Callable[[int], Any], plus: Callable[[Any, Any], Any]) -> Any:
        """The answers of all blocks added in their order, a few of them computed at a time."""
        total: list[Any] = []
        step = max(self._at_once, threads.n_cores())
        for first in range(0, len(self.blocks), step):
            numbers = range(first, min(len(self.blocks), first + step))
            answers: dict[int, Any] = {}
            threads.run(lambda number, out=answers: out.update({number: function(number)}), [(k,) for k in numbers])
            total = [reduce(plus, [*total, *(answers[k] for k in numbers)])]
        return total[0]
