"""Choosing rows of a block: a sample of them, or all but those far beyond their margin.

Pure functions of a block and a few numbers, like those of `blocks`; of both classes, y = +1 comes first.
"""

from __future__ import annotations

from operator import add
from typing import NamedTuple

import numpy as np

from .._types import Mask, Vector
from ..runtime.compiler import njit
from .blocks import Block, Point

BINS_PER_OCTAVE = 4
LEAST_EXPONENT, MOST_EXPONENT = -40, 24  # of 2, distances from the margin that are told apart
N_BINS = BINS_PER_OCTAVE * (MOST_EXPONENT - LEAST_EXPONENT)


class Look(NamedTuple):
    """The loss sum c max(0, u) at a point, and how many rows of each class are how far beyond their margin.

    n_short : number of rows that are not beyond it, u >= 0
    beyond : (2, N_BINS); bin k holds -u up to 2^(LEAST_EXPONENT + (k + 1) / BINS_PER_OCTAVE), the last all others
    """

    loss: float
    n_short: int
    beyond: np.ndarray

    def plus(self, other: Look) -> Look:
        """Of the rows of both."""
        return Look(*map(add, self, other))

    def near(self, quotas: Vector) -> tuple[Vector, int]:
        """Distances (2,) within which the nearest rows beyond their margin lie, and how many rows that makes in all.

        quotas : (2,) rows of each class that are to be among them at least; a distance is infinite for all of them.
        """
        totals = np.cumsum(self.beyond, axis=1)
        last = [min(int(np.searchsorted(own, quota)), N_BINS - 1) for own, quota in zip(totals, quotas, strict=True)]
        distances = np.array([np.inf if k == N_BINS - 1 else _upper_end(k) for k in last])
        return distances, self.n_short + int(sum(own[k] for own, k in zip(totals, last, strict=True)))


def count(block: Block) -> Vector:
    """Rows of each class, (2,)."""
    n_positive = int(np.sum(block.linear > 0.0))
    return np.array([n_positive, len(block.linear) - n_positive])


def sampled(block: Block, strides: Vector) -> Block:
    """Every strides[k]-th row of class k, its box larger by as much."""
    chosen = np.concatenate([np.flatnonzero(own)[:: int(k)] for own, k in zip(_classes(block), strides, strict=True)])
    part = block.take(np.sort(chosen))
    return part._replace(boxes=part.boxes * np.where(part.linear > 0.0, *strides))


def look(block: Block, point: Point) -> Look:
    """The loss of a block at a point, and where its rows are."""
    loss, beyond = np.zeros(1), np.zeros((2, N_BINS), dtype=np.int64)
    for part, tile in block.rows.tiles():
        _update_look(loss, beyond, block.linear[part], block.boxes[part], tile.scores(*point))
    return Look(float(loss[0]), len(block.linear) - int(beyond.sum()), beyond)


def near(block: Block, point: Point, distances: Vector) -> Block:
    """The rows of a block but for those further beyond their margin than the distance of their class."""
    chosen = np.empty(block.rows.n, dtype=bool)
    for part, tile in block.rows.tiles():
        positive, past = block.linear[part] > 0.0, tile.scores(*point) - block.linear[part]
        chosen[part] = np.where(positive, past <= distances[0], -past <= distances[1])
    return block.take(np.flatnonzero(chosen))


def _classes(block: Block) -> tuple[Mask, Mask]:
    """Which rows are of y = +1, and which of y = -1."""
    return block.linear > 0.0, block.linear < 0.0


def _upper_end(number: int) -> float:
    """The largest distance in this bin."""
    return float(2.0 ** (LEAST_EXPONENT + (number + 1) / BINS_PER_OCTAVE))


@njit
def _update_look(loss, beyond, linear, boxes, f):  # type: ignore[no-untyped-def]
    """Add c max(0, u) of each row to the loss, and a row that is beyond its margin to the bin of -u."""
    for i in range(linear.shape[0]):
        sign, own = (1.0, 0) if linear[i] > 0.0 else (-1.0, 1)
        u = sign * (linear[i] - f[i])
        if u >= 0.0:
            loss[0] += boxes[i] * u
        else:
            place = BINS_PER_OCTAVE * (np.log2(-u) - LEAST_EXPONENT)
            beyond[own, int(min(max(place, 0.0), N_BINS - 1.0))] += 1
