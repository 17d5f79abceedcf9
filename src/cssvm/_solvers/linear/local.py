"""Blocks of one array or CSR matrix in memory, on the threads of this process.

The blocks depend on the shape of the data alone, so the sums do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..._core.types import Vector
from ..._runtime import threads
from .blocks import ALPHA, Block, Step, balanced, joined
from .rows import far_centre, make_rows
from .summed import SummedBlocks, block_rows, groups


class LocalBlocks(SummedBlocks):
    """Blocks in memory, with their states: `AllBlocks`."""

    def __init__(self, blocks: list[Block], least_rows: int = 0):
        self.blocks, self.n_features, self.least_rows = blocks, blocks[0].rows.n_features, least_rows
        self._states: list[Any] = [None] * len(blocks)

    @classmethod
    def of(cls, X: Any, linear: Vector, upper_bounds: Vector, n_rows: int | None = None) -> LocalBlocks:
        """Blocks of X (n, n_features) with p = y m and upper bounds c > 0, (n,) float64 each, which are not copied."""
        step = n_rows or block_rows(X.shape[1])
        parts = [slice(first, first + step) for first in range(0, X.shape[0], step)]
        return cls([Block(make_rows(X[part]), linear[part], upper_bounds[part]) for part in parts])

    def centre(self) -> Vector:
        """Take what is far from zero from the features, and return it, (n_features,)."""
        moments = self._answers(lambda k: (*self.blocks[k].rows.moments(), self.blocks[k].rows.n))
        total, squares, n = (sum(each) for each in zip(*moments, strict=True))
        centre = far_centre(total, squares, n)
        self.blocks = [block._replace(rows=block.rows.centred(centre)) for block in self.blocks]
        return centre

    def alpha(self) -> Vector:
        """The dual variables of all rows as they are now, (n,)."""
        return np.concatenate([state[ALPHA] for state in self._states])

    def dual_objective(self, alpha: Vector) -> float:
        """That of these variables, (n,) within their upper bounds, the class of the larger sum scaled down."""
        linear, pull, first = np.concatenate([block.linear for block in self.blocks]), np.zeros(self.n_features), 0
        beta = balanced(alpha, linear)
        for block in self.blocks:
            own, first = beta[first : first + block.rows.n], first + block.rows.n
            for part, tile in block.rows.tiles():
                pull += tile.sum(own[part])
        return float(beta @ linear - 0.5 * pull @ pull)

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        return self._answers(lambda k: function(self.blocks[k], *arguments))

    def _ask_states(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        return self._answers(lambda k: function(self.blocks[k], self._states[k], *arguments))

    def _move(self, function: Callable[..., Any], step: Step | None) -> Iterator[Any]:
        def of_block(number: int) -> Any:
            self._states[number], found = function(self.blocks[number], self._states[number], step)
            return found

        return self._answers(of_block)

    def _choose(self, function: Callable[..., Any], *arguments: Any) -> tuple[LocalBlocks, list[Any]]:
        blocks, answers = zip(*self._ask(function, *arguments), strict=True)
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
