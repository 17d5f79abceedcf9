"""A loss from a minimum risk C* and a link, by probability elicitation.

With J = -C*, convex, the rewards for predicting eta if y = +1 and if y = -1 are

    I_1(eta)  = J(eta) + (1 - eta) J'(eta)
    I_-1(eta) = J(eta) -      eta  J'(eta)

and the loss of the score v is -I_y at the probability f^-1(v) whose link is v. Its derivative in v follows from
I_1' = (1 - eta) J'' and I_-1' = -eta J''. As J is convex, the score link(eta) minimises the conditional risk, and
min_risk(eta) is its value there, for every eta.

Scores beyond the range of the link are optimal for no probability. There the increasing loss is continued by its
tangent and the other one by a constant: the conditional risk does not decrease, so link and minimum risk stay true.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._core.types import Vector
from ._base import Loss, positive_number
from ._conditions import check_design, is_smooth, is_strict, report_of

Function = Callable[[Any], Any]

# The loss is computed for probabilities between these and continued beyond them. A float near 1 knows its distance from
# 1 to 1e-16, so numerical derivatives are accurate to about 1e-16 / (1 - eta): 1e-6 at 1 - 1e-10, 1e-4 at the end.
LOWEST = 1e-12
HIGHEST = 1.0 - 1e-12

# If the range of the link is bounded, second derivatives at its ends count in full, which are accurate to 1e-16 / eta^2
# only: the continuation begins earlier.
BOUNDED = 1e-5

# Derivatives are computed with this many steps, each half of the one before; the first is up to a quarter of the
# distance from 0 or 1. Kinks nearer than the last are smeared.
STEPS = 12


@dataclass(frozen=True, eq=False, repr=False)
class DesignedLoss(Loss):
    """A loss made by `design_loss`.

    Attributes
    ----------
    C1, C_minus1 : float
        The costs as given, or else the pair with the threshold of the link and the sum 2.
    conditions : dict of str to (bool or None, str)
        For each condition whether it holds (None: not applicable), and the details.
    report : str
        The conditions as a table.
    risk_type : {"I", "II", None}
        Type of the minimum risk for these costs.
    smooth : bool
        Whether the loss and its slope have no jumps, so that the loss can be minimised by gradients.
    invertible : bool
        Whether the link is strictly increasing.
    """

    min_risk_function: Function
    link_function: Function
    inverse_link_function: Function
    C1: float = 1.0
    C_minus1: float = 1.0
    conditions: dict[str, tuple[bool | None, str]] = field(default_factory=dict)
    risk_type: str | None = None
    smooth: bool = False
    invertible: bool = True

    @property
    def costs(self) -> tuple[float, float]:
        """(C_1, C_{-1})."""
        return self.C1, self.C_minus1

    @property
    def report(self) -> str:
        """The conditions as a table."""
        return report_of(self.conditions)

    def _min_risk(self, eta: Vector) -> Vector:
        return _filled(lambda p: _call("min_risk", self.min_risk_function, p), eta, np.isfinite)

    def _link(self, eta: Vector) -> Vector:
        return _filled(lambda p: _call("link", self.link_function, p), eta, lambda v: ~np.isnan(v))

    def _inverse_link(self, f: Vector) -> Vector:
        if not self.invertible:
            super()._inverse_link(f)
        # Scores beyond the range of the link get the probability of its ends.
        lower, upper = self._link(np.array([0.0, 1.0]))
        return np.clip(self.probability_of(np.clip(f, lower, upper)), 0.0, 1.0)

    def probability_of(self, v: Vector) -> Vector:
        """A probability with the link v, also where the link is flat."""
        return _call("inverse_link", self.inverse_link_function, v)

    @cached_property
    def _score_range(self) -> tuple[float, float]:
        """Scores between which the loss is computed; beyond them it is continued."""
        ends, near = self._link(np.array([0.0, 1.0])), self._link(np.array([BOUNDED, 1.0 - BOUNDED]))
        lower, upper = np.where(np.isfinite(ends), near, self._link(np.array([LOWEST, HIGHEST])))
        return float(lower), float(upper)

    def loss_at(self, y: Vector, eta: Vector) -> Vector:
        """-I_y(eta) = C*(eta) + (1 - eta) C*'(eta) for y = +1, C*(eta) - eta C*'(eta) for y = -1."""
        eta = np.clip(eta, LOWEST, HIGHEST)
        return self._min_risk(eta) + ((1.0 + y) / 2.0 - eta) * first_derivative(self._min_risk, eta)

    def slope(self, y: Vector, v: Vector) -> Vector:
        """Derivative of -I_y(f^-1(v)) in v; 0 where the link is flat."""
        eta = np.clip(self.probability_of(v), LOWEST, HIGHEST)
        rise = first_derivative(self._link, eta)
        change = ((1.0 + y) / 2.0 - eta) * second_derivative(self._min_risk, eta)
        return np.divide(change, rise, out=np.zeros(np.shape(change)), where=rise > 0.0)

    def _value(self, y: Vector, f: Vector) -> Vector:
        v = np.clip(f, *self._score_range)
        inside = self.loss_at(y, self.probability_of(v))
        if np.array_equal(v, f):
            return inside
        # fmax: a slope of zero times an infinite distance adds nothing.
        return inside + np.fmax(0.0, self.slope(y, v) * (f - v))

    def _gradient(self, y: Vector, f: Vector) -> Vector:
        v = np.clip(f, *self._score_range)
        slope = self.slope(y, v)
        return np.where((v == f) | (slope * (f - v) > 0.0), slope, 0.0)

    def __repr__(self) -> str:
        return f"DesignedLoss(C1={self.C1:g}, C_minus1={self.C_minus1:g}, risk_type={self.risk_type!r})"


def design_loss(
    min_risk: Function,
    link: Function,
    inverse_link: Function,
    *,
    C1: float | None = None,
    C_minus1: float | None = None,
) -> DesignedLoss:
    """Make the loss whose optimal score is `link` and whose minimum conditional risk is `min_risk`.

    Parameters
    ----------
    min_risk : callable
        Concave, non-negative function of eta = P(y = +1 | x) on (0, 1).
    link : callable
        Increasing function of eta: the optimal score. It is zero at the threshold of the decision.
    inverse_link : callable
        Maps a score to its probability. Where the link is flat, to any probability with that score, not too near
        a step.
    C1, C_minus1 : float, default=None
        Costs whose Bayes rule the loss must implement; the link must change its sign at C_{-1} / (C_1 + C_{-1}).
        If None, they follow from the link, with the sum 2.

    Returns
    -------
    DesignedLoss
        The loss. ``print(loss.report)`` lists the conditions.

    Raises
    ------
    ValueError
        If a condition without which the loss is not Bayes consistent does not hold; the message says which, where and
        by how much.

    Notes
    -----
    The functions must be vectorised. Their derivatives are numerical: the loss is accurate to 1e-6, relative to the
    larger of the loss and 1, for scores whose probability is below 1 - 1e-10.

    Beyond the range of the link, the increasing loss is continued by its tangent, the other one by a constant. A loss
    from a step link is determined on the link's range only: between the steps it is constant, and `smooth` is False.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit, logit
    >>> from cssvm.losses import design_loss
    >>> loss = design_loss(lambda p: 2 * np.sqrt(p * (1 - p)), lambda p: logit(p) / 2, lambda v: expit(2 * v))
    >>> print(loss.value([1, -1], [0.5, 0.5]).round(6), np.exp([-0.5, 0.5]).round(6))
    [0.606531 1.648721] [0.606531 1.648721]
    """
    if (C1 is None) != (C_minus1 is None):
        raise ValueError(f"C1 and C_minus1 must be given together; got C1={C1!r}, C_minus1={C_minus1!r}. Pass both.")
    costs = None if C1 is None else (positive_number("C1", C1), positive_number("C_minus1", C_minus1))
    for name, function in (("min_risk", min_risk), ("link", link), ("inverse_link", inverse_link)):
        if not callable(function):
            raise ValueError(
                f"{name} must be a function of an array; got {name}={function!r}. Pass for example "
                "scipy.special.expit as the inverse of scipy.special.logit."
            )
    loss = DesignedLoss(min_risk, link, inverse_link)
    with np.errstate(all="ignore"):
        conditions, (C1, C_minus1), kind = check_design(loss, costs)
        return replace(
            loss,
            C1=C1,
            C_minus1=C_minus1,
            conditions=conditions,
            risk_type=kind,
            smooth=is_smooth(loss),
            invertible=is_strict(loss),
        )


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
    """(STEPS, ...) steps, powers of two: with them, eta + h and eta - h are exact."""
    _, exponent = np.frexp(np.minimum(eta, 1.0 - eta))
    return np.ldexp(1.0, exponent - 2 - np.arange(STEPS).reshape(-1, *[1] * np.ndim(eta)))


def _extrapolated(differences: Vector) -> Vector:
    """Limit of central differences (STEPS, ...) for halved steps: without the error h^2, where it changes least.

    Small steps are dominated by rounding errors, which may agree by chance, but not twice in a row.
    """
    estimates = differences[1:] + np.diff(differences, axis=0) / 3.0
    change = np.nan_to_num(np.abs(np.diff(estimates, axis=0)), nan=np.inf, posinf=np.inf)
    at = np.argmin(np.maximum(change[:-1], change[1:]), axis=0)[np.newaxis]
    return np.take_along_axis(estimates[2:], at, 0)[0]


def _filled(function: Function, eta: Vector, valid: Function) -> Vector:
    """function(eta), replaced by the value nearby where eta is 0 or 1 and the value is not valid."""
    values = function(eta)
    missing = ~valid(values) & ((eta == 0.0) | (eta == 1.0))
    if missing.any():
        limits = np.finfo(np.float64)
        values = np.where(missing, function(np.clip(eta, limits.tiny, 1.0 - limits.epsneg)), values)
    return values


def _call(name: str, function: Function, argument: Vector) -> Vector:
    """function(argument) as float64, which must have the shape of the argument."""
    flat = np.ravel(argument)
    with np.errstate(all="ignore"):
        result = np.asarray(function(flat), dtype=np.float64)
    if result.shape != flat.shape:
        raise ValueError(
            f"{name} must map an array to an array of the same shape; got shape {result.shape} for an argument of "
            f"shape {flat.shape}. Write it with NumPy functions, np.where instead of if."
        )
    return result.reshape(np.shape(argument))
