"""Probability elicitation: a minimum risk C* and a link make a loss.

With J = -C*, convex, the rewards for predicting eta when y = +1 and when y = -1 happens are

    I_1(eta)  = J(eta) + (1 - eta) J'(eta)
    I_-1(eta) = J(eta) -      eta  J'(eta)

and the loss of the score v is -I_y at the probability whose link is v. Its derivative in v follows from
I_1' = (1 - eta) J'' and I_-1' = -eta J''. The derivatives are taken numerically: central differences,
extrapolated to step zero, of the entry of the extrapolation table that changed least (Ridders).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._core.types import Vector

Function = Callable[[Any], Any]

# The loss is computed for probabilities between these and continued beyond them. A float near 1 knows its distance from
# 1 to 1e-16, so the numerical derivatives are good to about 1e-16 / (1 - eta): 1e-6 at 1 - 1e-10, 1e-4 at the end.
LOWEST = 1e-12
HIGHEST = 1.0 - 1e-12

# Towards a finite end of the link's range second derivatives count in full, which are good to 1e-16 / eta^2 only: the
# continuation begins earlier.
BOUNDED = 1e-5

# Relative difference at which probabilities, scores or rewards that ought to be equal are: the accuracy of the
# numerical derivatives, with a reserve.
AGREEMENT = 1e-5

# Halvings of the step. The first step is a quarter to half of the room up to 0 or 1, the last one 1000 times smaller:
# kinks nearer than that are smeared.
LEVELS = 11

# Weight of the change before, where the extrapolation is judged by how little it changes.
CHANCE = 0.1


@dataclass(frozen=True, eq=False)
class Elicitation:
    """A minimum risk, a link and its inverse: vectorised functions, called without warnings."""

    min_risk_function: Function
    link_function: Function
    inverse_link_function: Function
    expressions: Any = None

    def min_risk(self, eta: Vector) -> Vector:
        """C*(eta); where the formula gives no number at 0 or 1, its value nearby."""
        return _filled(lambda p: _call("min_risk", self.min_risk_function, p), eta, np.isfinite)

    def link(self, eta: Vector) -> Vector:
        """f*(eta), which may be infinite at 0 and 1."""
        return _filled(lambda p: _call("link", self.link_function, p), eta, lambda v: ~np.isnan(v))

    def inverse_link(self, v: Vector) -> Vector:
        """A probability with the link v."""
        return _call("inverse_link", self.inverse_link_function, v)

    @cached_property
    def score_range(self) -> tuple[float, float]:
        """Scores between which the loss is computed; beyond them it is continued."""
        ends, near = self.link(np.array([0.0, 1.0])), self.link(np.array([BOUNDED, 1.0 - BOUNDED]))
        lower, upper = np.where(np.isfinite(ends), near, self._far_scores())
        return float(lower), float(upper)

    def _far_scores(self) -> Vector:
        """How far the loss is computed on a side where the range of the link is unbounded."""
        return self.link(np.array([LOWEST, HIGHEST]))

    def loss_at(self, y: Vector, eta: Vector) -> Vector:
        """-I_y(eta) = C*(eta) + (1 - eta) C*'(eta) for y = +1, C*(eta) - eta C*'(eta) for y = -1."""
        eta = np.clip(eta, LOWEST, HIGHEST)
        return self.min_risk(eta) + ((1.0 + y) / 2.0 - eta) * first_derivative(self.min_risk, eta)

    def loss(self, y: Vector, v: Vector) -> Vector:
        """-I_y at the probability of the score v."""
        return self.loss_at(y, self.inverse_link(v))

    def slope(self, y: Vector, v: Vector) -> Vector:
        """Derivative of `loss` in v; 0 where the link is flat."""
        eta = np.clip(self.inverse_link(v), LOWEST, HIGHEST)
        rise = first_derivative(self.link, eta)
        change = ((1.0 + y) / 2.0 - eta) * second_derivative(self.min_risk, eta)
        return np.divide(change, rise, out=np.zeros(np.shape(change)), where=rise > 0.0)


def first_derivative(function: Function, eta: Vector) -> Vector:
    """Derivative of a function on (0, 1); half-way between the one-sided ones at a kink."""
    h = _steps(eta)
    below, above = function(np.stack([eta - h, eta + h]))
    return _extrapolated((above - below) / (2.0 * h))


def second_derivative(function: Function, eta: Vector) -> Vector:
    """Second derivative of a function on (0, 1)."""
    h = _steps(eta)
    below, centre, above = function(np.stack([eta - h, eta + 0.0 * h, eta + h]))
    return _extrapolated(((above - centre) - (centre - below)) / h**2)


def _steps(eta: Vector) -> Vector:
    """(LEVELS, ...) steps, halved each time from the largest power of two up to half of the room.

    With powers of two, eta + h and eta - h are exact.
    """
    _, exponent = np.frexp(np.minimum(eta, 1.0 - eta))
    levels = np.arange(LEVELS).reshape(-1, *[1] * np.ndim(eta))
    return np.ldexp(1.0, exponent - 2 - levels)


def _extrapolated(column: Vector) -> Vector:
    """Limit for h to 0 of limit + c1 h^2 + c2 h^4 + ..., given (LEVELS, ...) for halved h, by Neville's table."""
    best, error = column[0], np.full(column.shape[1:], np.inf)
    change = np.concatenate([error[np.newaxis], np.abs(np.diff(column, axis=0))])
    for order in range(1, LEVELS):
        newer = column[1:] + np.diff(column, axis=0) / (4.0**order - 1.0)
        before, change = change, np.maximum(np.abs(newer - column[1:]), np.abs(newer - column[:-1]))
        # Of small steps, rounding errors may agree by chance; but not twice.
        doubt = np.nan_to_num(np.maximum(change, CHANCE * before[:-1]), nan=np.inf, posinf=np.inf)
        at = np.argmin(doubt, axis=0)[np.newaxis]
        least, value = np.take_along_axis(doubt, at, 0)[0], np.take_along_axis(newer, at, 0)[0]
        best, error = np.where(least < error, value, best), np.minimum(least, error)
        column = newer
    return best


def _filled(function: Function, eta: Vector, valid: Function) -> Vector:
    """function(eta), replaced by the value nearby where eta is 0 or 1 and the value is not valid."""
    values = function(eta)
    missing = ~valid(values) & ((eta == 0.0) | (eta == 1.0))
    if missing.any():
        limits = np.finfo(np.float64)
        values = np.where(missing, function(np.clip(eta, limits.tiny, 1.0 - limits.epsneg)), values)
    return values


def _call(name: str, function: Function, argument: Vector) -> Vector:
    """function(argument) as float64, checked to be elementwise."""
    flat = np.ravel(argument)
    with np.errstate(all="ignore"):
        result = np.asarray(function(flat), dtype=np.float64)
    if result.shape != flat.shape:
        raise ValueError(
            f"{name} must map an array to an array of the same shape; got shape {result.shape} for an argument of "
            f"shape {flat.shape}. Write it with NumPy functions, np.where instead of if."
        )
    return result.reshape(np.shape(argument))
