"""Choosing rows of a block: a sample of them, or those near their margin, and what the others amount to.

Pure functions of a block and a few numbers, like those of `blocks`; of both classes, y = +1 comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import NamedTuple

import numpy as np

from ..._core.types import Mask, Vector
from ..._runtime.compiler import njit
from .blocks import Block, Point, Rest

BINS_PER_OCTAVE = 4
LEAST_EXPONENT, MOST_EXPONENT = -40, 24  # of 2, distances from the margin that are told apart
SMALLEST = 2.0**LEAST_EXPONENT
N_BINS = BINS_PER_OCTAVE * (MOST_EXPONENT - LEAST_EXPONENT)


class Look(NamedTuple):
    """The loss sum c max(0, u) at a point, and how many rows of each class are how far from their margin.

    counts : (2, 2, N_BINS), of each class those short of it, then those beyond; bin k holds |u| up to
        2^(LEAST_EXPONENT + (k + 1) / BINS_PER_OCTAVE), the last all others
    """

    loss: float
    counts: np.ndarray

    def plus(self, other: Look) -> Look:
        """Of the rows of both."""
        return Look(*map(add, self, other))

    def distances(self, quotas: np.ndarray) -> np.ndarray:
        """Distances within which at least so many rows of each class and side lie, (2, 2); infinite for all of them."""
        totals = np.cumsum(self.counts, axis=2)
        bins = np.sum(totals < quotas[:, :, np.newaxis], axis=2)
        ends = 2.0 ** (LEAST_EXPONENT + (bins + 1) / BINS_PER_OCTAVE)
        return np.where(bins < N_BINS - 1, ends, np.inf)


def count(block: Block) -> Vector:
    """Rows of each class, (2,)."""
    n_positive = int(np.sum(block.linear > 0.0))
    return np.array([n_positive, len(block.linear) - n_positive])


def sampled(block: Block, strides: Vector) -> Block:
    """Every strides[k]-th row of class k, its upper bound larger by as much."""
    chosen = np.concatenate([np.flatnonzero(own)[:: int(k)] for own, k in zip(_classes(block), strides, strict=True)])
    part = block.take(np.sort(chosen))
    return part._replace(upper_bounds=part.upper_bounds * np.where(part.linear > 0.0, *strides))


def look(block: Block, point: Point) -> Look:
    """The loss of a block at a point, and how far its rows are from their margin."""
    loss, counts = np.zeros(1), np.zeros((2, 2, N_BINS), dtype=np.int64)
    for part, tile in block.rows.tiles():
        _update_look(loss, counts, block.linear[part], block.upper_bounds[part], tile.scores(*point))
    return Look(float(loss[0]), counts)


def bare_loss(block: Block, point: Point) -> float:
    """The loss of a block at a point of its rows as they are, without a centre taken from them."""
    bare = block.rows.centred(np.zeros(block.rows.n_features))
    return look(block._replace(rows=bare), point).loss


def near(block: Block, points: Sequence[Point], distances: np.ndarray) -> tuple[Block, Rest]:
    """The rows of a block near their margin, and what the rest is: alpha = c for those short of it, 0 for the others.

    Near is what lies within the distance of its class and side at the first point, or on another side at a later one.
    """
    chosen, fixed = np.empty(block.rows.n, dtype=bool), np.empty(block.rows.n)
    pull = np.zeros(block.rows.n_features)
    for part, tile in block.rows.tiles():
        linear = block.linear[part]
        signs = np.sign(linear)
        u, *others = (signs * (linear - tile.scores(*point)) for point in points)
        short, beyond = (np.where(linear > 0.0, *side) for side in distances.T)
        own = (u <= short) & (-u <= beyond)
        for other in others:
            own |= (other > 0.0) != (u > 0.0)
        chosen[part] = own
        fixed[part] = signs * np.where((u > 0.0) & ~own, block.upper_bounds[part], 0.0)
        pull += tile.sum(fixed[part])
    upper_bounds = np.array([block.upper_bounds[own & chosen].sum() for own in _classes(block)])
    rest = Rest(excess=float(fixed.sum()), gain=float(fixed @ block.linear), pull=pull, upper_bounds=upper_bounds)
    return block.take(np.flatnonzero(chosen)), rest


def _classes(block: Block) -> tuple[Mask, Mask]:
    """Which rows are of y = +1, and which of y = -1."""
    return block.linear > 0.0, block.linear < 0.0


@njit
def _update_look(loss, counts, linear, upper_bounds, f):  # type: ignore[no-untyped-def]
    """Add c max(0, u) of each row to the loss, and the row to the bin of |u|."""
    for i in range(linear.shape[0]):
        sign, own = (1.0, 0) if linear[i] > 0.0 else (-1.0, 1)
        u = sign * (linear[i] - f[i])
        loss[0] += upper_bounds[i] * max(u, 0.0)
        place = BINS_PER_OCTAVE * (np.log2(max(abs(u), SMALLEST)) - LEAST_EXPONENT)
        counts[own, 0 if u > 0.0 else 1, int(min(max(place, 0.0), N_BINS - 1.0))] += 1
