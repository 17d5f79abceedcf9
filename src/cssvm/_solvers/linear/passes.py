"""Passes over a block of samples: the pure functions that the linear solvers ask of each block.

A sample has features z_i, p_i = y_i m_i, its upper bound c_i, and four numbers that change, its state:

    alpha_i      dual variable                room_i     c_i - alpha_i, kept separately because it would cancel
    beyond_i     how far f is past the margin short_i    how far it is short of it

At the optimum alpha_i beyond_i = 0, room_i short_i = 0 and u_i = short_i - beyond_i, where u_i = m_i - y_i f(x_i).
A step of the interior-point method is a direction (dw, db) from which each sample computes its own change, so each
iteration takes three sums over samples: `measure` at the point (w, b), once the states have taken the step to it,
`predict` for the predictor's direction, `reach` in the corrected one. Of both classes, y = +1 comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import NamedTuple

import numpy as np

from ..._core.types import Mask, RowNumbers, Vector
from ..._runtime.compiler import njit
from .rows import Rows

ALPHA, ROOM, BEYOND, SHORT = range(4)  # rows of a state, (4, n)
START_SHARE = 0.5  # of its upper bound, where each alpha begins: best where many samples are short of their margin
SPARE = 1.05  # times the upper bounds that balance fixed samples: with no more there would be no interior
NOISE = 1e-13  # of a score: differences below are rounding errors
START_DISTANCE = 1.0  # from the margin, either way: the margin of the positive class is 1
BINS_PER_OCTAVE = 4
LEAST_EXPONENT, MOST_EXPONENT = -40, 24  # of 2, distances from the margin that are distinguished
SMALLEST = 2.0**LEAST_EXPONENT
N_BINS = BINS_PER_OCTAVE * (MOST_EXPONENT - LEAST_EXPONENT)


class LinearFunction(NamedTuple):
    """f(x) = w'x + b, with weights (n_features,) and a bias; also a direction in which to change one."""

    weights: Vector
    bias: float

    def moved(self, direction: LinearFunction, length: float) -> LinearFunction:
        """The function plus `length` times the direction."""
        return LinearFunction(self.weights + length * direction.weights, self.bias + length * direction.bias)

    def shift_bias(self, centre: Vector) -> LinearFunction:
        """The same function of samples from which this centre, (n_features,), is subtracted."""
        return self._replace(bias=self.bias + float(self.weights @ centre))


class Step(NamedTuple):
    """From `point` along the `corrected` direction, which corrects the `predictor` and aims at products `centre`."""

    point: LinearFunction
    predictor: LinearFunction
    corrected: LinearFunction
    centre: float
    length: float = 1.0

    @property
    def end(self) -> LinearFunction:
        return self.point.moved(self.corrected, self.length)


class Measure(NamedTuple):
    """Sums over samples at a point; pairs are for y = +1 and y = -1."""

    loss: float  # sum c max(0, u)
    alphas: Vector  # (2,) sums of alpha
    gains: Vector  # (2,) sums of m alpha
    pulls: np.ndarray  # (2, n_features) sums of alpha z
    products: float  # sum of alpha beyond + room short
    gram: np.ndarray  # (n_features + 1, n_features + 1) sum of theta (z, 1)(z, 1)', the lower triangle
    ahead: Vector  # (n_features + 1,) sum of y theta u (z, 1)
    inward: Vector  # (n_features + 1,) sum of y theta (1 / alpha - 1 / room) (z, 1)
    n: int

    def plus(self, other: Measure) -> Measure:
        return Measure(*map(add, self, other))


class Prediction(NamedTuple):
    """What the predictor's direction would do."""

    ratio: float  # 1 / its longest step, as in `reach`
    curvature: float  # what a full step adds to the sum of products, which would vanish otherwise
    bent: Vector  # (n_features + 1,) sum of -y theta (dalpha dbeyond / alpha + dalpha dshort / room) (z, 1)

    def plus(self, other: Prediction) -> Prediction:
        return Prediction(max(self.ratio, other.ratio), self.curvature + other.curvature, self.bent + other.bent)


class FixedSamples(NamedTuple):
    """Sums over samples whose alpha is fixed at their upper bound c, so that their loss is c u."""

    excess: float  # sum of c y
    gain: float  # sum of c m
    pull: Vector  # (n_features,) sum of c y z
    upper_bounds: Vector  # (2,) sums of the upper bounds of the samples that are solved for

    @classmethod
    def none(cls, n_features: int) -> FixedSamples:
        return cls(0.0, 0.0, np.zeros(n_features), np.full(2, np.inf))

    def plus(self, other: FixedSamples) -> FixedSamples:
        return FixedSamples(*map(add, self, other))

    def loss(self, point: LinearFunction) -> float:
        """The sum of c u at a point."""
        return self.gain - float(self.pull @ point.weights) - self.excess * point.bias

    @property
    def can_be_balanced(self) -> bool:
        """Whether the other samples can make sum alpha y zero, with room to spare."""
        return bool(self.upper_bounds[1] > SPARE * self.excess and self.upper_bounds[0] > -SPARE * self.excess)


class Block(NamedTuple):
    """Samples with p = y m and upper bounds c > 0, (n,) float64 each."""

    rows: Rows
    linear: Vector
    upper_bounds: Vector

    def take(self, chosen: RowNumbers) -> Block:
        return Block(self.rows.take(chosen), self.linear[chosen], self.upper_bounds[chosen])


def joined(blocks: Sequence[Block]) -> Block:
    """The samples of all blocks, in their order."""
    if len(blocks) == 1:
        return blocks[0]
    rows = blocks[0].rows.stacked([block.rows for block in blocks[1:]])
    return Block(rows, *(np.concatenate(each) for each in list(zip(*blocks, strict=True))[1:]))


def balanced(alpha: Vector, linear: Vector) -> Vector:
    """The signed variables y alpha, (n,), the class with the larger sum scaled down to the sum of the other."""
    positive = linear > 0.0
    sums = np.array([alpha[positive].sum(), alpha[~positive].sum()])
    shares = sums.min() / np.maximum(sums, np.finfo(float).tiny)
    return alpha * np.where(positive, shares[0], -shares[1])


def begin(block: Block) -> np.ndarray:
    """The state (4, n) of a block before the first step, at w = 0 and b = 0."""
    alpha = START_SHARE * block.upper_bounds
    distance = np.full_like(alpha, START_DISTANCE)
    return np.array([alpha, block.upper_bounds - alpha, distance, distance])


def measure(block: Block, state: np.ndarray | None, step: Step | None) -> tuple[np.ndarray, Measure]:
    """The state after the step, as a copy, and sums over a block there; both at the start if `step` is None."""
    n_features = block.rows.n_features
    state = begin(block) if state is None or step is None else state.copy()
    gram = np.zeros((n_features + 1, n_features + 1))
    sums, totals = np.zeros((4, n_features + 1)), np.zeros(6)
    for part, tile in block.rows.tiles():
        own, linear, f = tuple(state[:, part]), block.linear[part], np.zeros(part.stop - part.start)
        if step is not None:
            f, ahead, along = (tile.scores(*each) for each in step[:3])
            _update_state(*own, linear, f, ahead, along, step.centre, step.length)
            f += step.length * along
        vectors = np.empty((5, len(f)))
        _update_terms(totals, vectors, *own, linear, block.upper_bounds[part], f)
        tile.update_gram(gram, vectors[4])
        for total, vector in zip(sums, vectors, strict=False):
            total[:-1] += tile.sum(vector)
            total[-1] += vector.sum()
    return state, Measure(
        loss=float(totals[0]),
        alphas=totals[1:3],
        gains=totals[3:5],
        pulls=sums[:2, :-1],
        products=float(totals[5]),
        gram=gram,
        ahead=sums[2],
        inward=sums[3],
        n=block.rows.n,
    )


def predict(block: Block, state: np.ndarray, point: LinearFunction, predictor: LinearFunction) -> Prediction:
    """What the predictor's direction would do to the samples of a block."""
    bent, totals = np.zeros(block.rows.n_features + 1), np.zeros(2)
    for part, tile in block.rows.tiles():
        vector = np.empty(part.stop - part.start)
        f, ahead = tile.scores(*point), tile.scores(*predictor)
        _update_prediction(totals, vector, *state[:, part], block.linear[part], f, ahead)
        bent[:-1] += tile.sum(vector)
        bent[-1] += vector.sum()
    return Prediction(float(totals[0]), float(totals[1]), bent)


def reach(block: Block, state: np.ndarray, step: Step) -> float:
    """Largest of -change / value over the numbers of a block's state, at least 0."""
    ratio = 0.0
    for part, tile in block.rows.tiles():
        f, ahead, along = (tile.scores(*point) for point in step[:3])
        ratio = max(ratio, _largest_ratio(*state[:, part], block.linear[part], f, ahead, along, step.centre))
    return ratio


@njit(inline="always")
def _distance(p, beyond, short, f):  # type: ignore[no-untyped-def]
    """u, as short - beyond where these differ by rounding errors of f, which theta would make large."""
    u, known = p - f if p > 0.0 else f - p, short - beyond
    return known if abs(u - known) <= NOISE * (abs(p) + abs(f)) else u


@njit(inline="always")
def _predicted(p, alpha, room, beyond, short, f, ahead):  # type: ignore[no-untyped-def]
    """theta, u and the changes of alpha, beyond and short on the way to products of zero."""
    sign = 1.0 if p > 0.0 else -1.0
    theta = 1.0 / (beyond / alpha + short / room)
    u = _distance(p, beyond, short, f)
    change = theta * (u - sign * ahead)
    return theta, u, change, -beyond - beyond * change / alpha, -short + short * change / room


@njit(inline="always")
def _corrected(p, alpha, room, beyond, short, f, ahead, along, centre):  # type: ignore[no-untyped-def]
    """The changes of alpha, beyond and short on the way to products `centre`, the predictor's products allowed for."""
    theta, u, change, past, lack = _predicted(p, alpha, room, beyond, short, f, ahead)
    past, lack = change * past, change * lack
    wanted = u + (centre - past) / alpha - (centre + lack) / room
    change = theta * (wanted - (along if p > 0.0 else -along))
    return (
        change,
        -beyond + (centre - past - beyond * change) / alpha,
        -short + (centre + lack + short * change) / room,
    )


@njit
def _update_state(alpha, room, beyond, short, linear, f, ahead, along, centre, length):  # type: ignore[no-untyped-def]
    """Take the step, sample by sample."""
    for i in range(linear.shape[0]):
        change, past, lack = _corrected(
            linear[i], alpha[i], room[i], beyond[i], short[i], f[i], ahead[i], along[i], centre
        )
        alpha[i] += length * change
        room[i] -= length * change
        beyond[i] += length * past
        short[i] += length * lack


@njit
def _update_terms(totals, vectors, alpha, room, beyond, short, linear, upper_bounds, f):  # type: ignore[no-untyped-def]
    """Add to loss, alphas, gains and products; the vectors whose sums with z are pulls, ahead and inward, and theta."""
    for i in range(linear.shape[0]):
        p, own = linear[i], 0 if linear[i] > 0.0 else 1
        sign, margin = (1.0, p) if p > 0.0 else (-1.0, -p)
        u = _distance(p, beyond[i], short[i], f[i])
        theta = 1.0 / (beyond[i] / alpha[i] + short[i] / room[i])
        totals[0] += upper_bounds[i] * max(margin - sign * f[i], 0.0)
        totals[1 + own] += alpha[i]
        totals[3 + own] += margin * alpha[i]
        totals[5] += alpha[i] * beyond[i] + room[i] * short[i]
        vectors[own, i], vectors[1 - own, i] = alpha[i], 0.0
        vectors[2, i] = sign * theta * u
        vectors[3, i] = sign * theta * (1.0 / alpha[i] - 1.0 / room[i])
        vectors[4, i] = theta


@njit
def _update_prediction(totals, vector, alpha, room, beyond, short, linear, f, ahead):  # type: ignore[no-untyped-def]
    """Totals: largest ratio so far, and curvature; the vector whose sum with z is `bent`."""
    for i in range(linear.shape[0]):
        theta, _, change, past, lack = _predicted(linear[i], alpha[i], room[i], beyond[i], short[i], f[i], ahead[i])
        totals[0] = max(totals[0], -change / alpha[i], change / room[i], -past / beyond[i], -lack / short[i])
        totals[1] += change * (past - lack)
        bent = theta * change * (past / alpha[i] + lack / room[i])
        vector[i] = -bent if linear[i] > 0.0 else bent


@njit
def _largest_ratio(alpha, room, beyond, short, linear, f, ahead, along, centre):  # type: ignore[no-untyped-def]
    """Largest of -change / value, at least 0."""
    ratio = 0.0
    for i in range(linear.shape[0]):
        change, past, lack = _corrected(
            linear[i], alpha[i], room[i], beyond[i], short[i], f[i], ahead[i], along[i], centre
        )
        ratio = max(ratio, -change / alpha[i], change / room[i], -past / beyond[i], -lack / short[i])
    return ratio


class MarginHistogram(NamedTuple):
    """The loss sum c max(0, u) at a point, and numbers of samples by class, side of the margin and distance from it.

    Of `counts` (2, 2, N_BINS), bin k holds |u| up to 2^(LEAST_EXPONENT + (k + 1) / BINS_PER_OCTAVE), the last the rest.
    """

    loss: float
    counts: np.ndarray

    def plus(self, other: MarginHistogram) -> MarginHistogram:
        return MarginHistogram(*map(add, self, other))

    def distances(self, quotas: np.ndarray) -> np.ndarray:
        """Distances (2, 2) within which so many samples of each class and side lie; infinite if there are fewer."""
        totals = np.cumsum(self.counts, axis=2)
        bins = np.sum(totals < quotas[:, :, np.newaxis], axis=2)
        ends = 2.0 ** (LEAST_EXPONENT + (bins + 1) / BINS_PER_OCTAVE)
        return np.where(bins < N_BINS - 1, ends, np.inf)


def count(block: Block) -> Vector:
    """Number of samples of each class, (2,)."""
    n_positive = int(np.sum(block.linear > 0.0))
    return np.array([n_positive, len(block.linear) - n_positive])


def subsample(block: Block, strides: Vector) -> tuple[Block, None]:
    """Every strides[k]-th sample of class k, its upper bound larger by as much; `None` is the answer of this pass."""
    chosen = np.concatenate([np.flatnonzero(own)[:: int(k)] for own, k in zip(_classes(block), strides, strict=True)])
    part = block.take(np.sort(chosen))
    return part._replace(upper_bounds=part.upper_bounds * np.where(part.linear > 0.0, *strides)), None


def margin_histogram(block: Block, point: LinearFunction) -> MarginHistogram:
    """The loss of a block at a point, and how far its samples are from their margin."""
    loss, counts = np.zeros(1), np.zeros((2, 2, N_BINS), dtype=np.int64)
    for part, tile in block.rows.tiles():
        _update_margin_histogram(loss, counts, block.linear[part], block.upper_bounds[part], tile.scores(*point))
    return MarginHistogram(float(loss[0]), counts)


def uncentred_loss(block: Block, point: LinearFunction) -> float:
    """The loss of a block at a point, its samples without their centre subtracted."""
    bare = block.rows.centred(np.zeros(block.rows.n_features))
    return margin_histogram(block._replace(rows=bare), point).loss


def near_margin(block: Block, points: Sequence[LinearFunction], distances: np.ndarray) -> tuple[Block, FixedSamples]:
    """Samples within the distance of their class and side at the first point, or on another side at a later one.

    Also returns sums over the others: alpha = c if short of the margin, 0 if beyond it.
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
    rest = FixedSamples(float(fixed.sum()), float(fixed @ block.linear), pull, upper_bounds)
    return block.take(np.flatnonzero(chosen)), rest


def _classes(block: Block) -> tuple[Mask, Mask]:
    return block.linear > 0.0, block.linear < 0.0


@njit
def _update_margin_histogram(loss, counts, linear, upper_bounds, f):  # type: ignore[no-untyped-def]
    """Add c max(0, u) of each sample to the loss, and the sample to the bin of |u|."""
    for i in range(linear.shape[0]):
        sign, own = (1.0, 0) if linear[i] > 0.0 else (-1.0, 1)
        u = sign * (linear[i] - f[i])
        loss[0] += upper_bounds[i] * max(u, 0.0)
        place = BINS_PER_OCTAVE * (np.log2(max(abs(u), SMALLEST)) - LEAST_EXPONENT)
        counts[own, 0 if u > 0.0 else 1, int(min(max(place, 0.0), N_BINS - 1.0))] += 1
