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

from ..costs import Vector

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
    return _extrapolated(lambda h: (function(eta + h) - function(eta - h)) / (2.0 * h), _first_step(eta))


def second_derivative(function: Function, eta: Vector) -> Vector:
    """Second derivative of a function on (0, 1)."""
    centre = function(eta)
    return _extrapolated(
        lambda h: ((function(eta + h) - centre) - (centre - function(eta - h))) / h**2, _first_step(eta)
    )


def _first_step(eta: Vector) -> Vector:
    """The largest power of two up to half of the room: eta + h and eta - h are then exact."""
    _, exponent = np.frexp(np.minimum(eta, 1.0 - eta))
    return np.ldexp(1.0, exponent - 2)


def _extrapolated(difference: Callable[[Vector], Vector], step: Vector) -> Vector:
    """Limit of difference(h) = limit + c1 h^2 + c2 h^4 + ... for h to 0, by Neville's table."""
    older = [difference(step)]
    best, error = older[0], np.full(np.shape(older[0]), np.inf)
    last = [error]
    for level in range(1, LEVELS):
        newer = [difference(step / 2.0**level)]
        changes = [np.abs(newer[0] - older[0])]
        for order, before in enumerate(older, start=1):
            newer.append(newer[-1] + (newer[-1] - before) / (4.0**order - 1.0))
            changes.append(np.maximum(np.abs(newer[-1] - newer[-2]), np.abs(newer[-1] - before)))
            # Of small steps, rounding errors may agree by chance; but not twice.
            doubt = np.maximum(changes[-1], CHANCE * last[order - 1])
            better = doubt < error
            best, error = np.where(better, newer[-1], best), np.where(better, doubt, error)
        older, last = newer, changes
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
    with np.errstate(all="ignore"):
        result = np.asarray(function(argument), dtype=np.float64)
    if result.shape != np.shape(argument):
        raise ValueError(
            f"{name} must map an array to an array of the same shape; got shape {result.shape} for an argument of "
            f"shape {np.shape(argument)}. Write it with NumPy functions, np.where instead of if."
        )
    return result
