"""A loss from a minimum risk C* and a link, by probability elicitation.

With J = -C*, convex, the rewards for predicting eta if y = +1 and if y = -1 are

    I_1(eta)  = J(eta) + (1 - eta) J'(eta)
    I_-1(eta) = J(eta) -      eta  J'(eta)

and the loss of the score v is -I_y at the probability f^-1(v) whose link is v; its derivative in v follows from
I_1' = (1 - eta) J'' and I_-1' = -eta J''. As J is convex, the score link(eta) minimises the conditional risk, and
min_risk(eta) is its value there. Scores beyond the range of the link are optimal for no probability: there the
increasing loss is continued by its tangent and the other one by a constant, so that this remains true.

The conditions of a Bayes consistent loss are checked on a grid of (0, 1); only the last two may fail:

    min_risk    finite, not negative, concave, not straight around the threshold
    link        finite, increasing; `inverse_link` leads back to a probability with the same link and the same rewards
    rule        the link is negative below one threshold and positive above, at C_{-1} / (C_1 + C_{-1}) for given costs
    symmetry    f^-1(-v) = 2 t - f^-1(v) around the threshold t
    risk type   see `risk_type`
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._core.types import Vector
from ._base import Loss
from ._properties import given_costs, link_symmetry, risk_type

Function = Callable[[Any], Any]

# The loss is computed for probabilities between these and continued beyond them: numerical derivatives are accurate to
# about 1e-16 / (1 - eta). If the range of the link is bounded, second derivatives at its ends count in full, which are
# accurate to 1e-16 / eta^2 only: the continuation begins at BOUNDED.
LOWEST, HIGHEST = 1e-12, 1.0 - 1e-12
BOUNDED = 1e-5

# Steps of a derivative, each half of the one before, the first up to a quarter of the distance from 0 or 1.
STEPS = 12

Conditions = dict[str, tuple[bool | None, str]]
RISK, CONCAVE, INCREASING = "min_risk finite, not negative", "min_risk concave", "link increasing"
INVERSE, RULE, BENDS = "inverse_link inverts link", "link has the sign of eta - t", "min_risk bends at t"
SYMMETRY, TYPE = "link symmetry around t", "risk of type I or II"

# k / 1009, with a prime so that the grid misses kinks at simple fractions, and points that approach both ends at a
# constant ratio.
_INNER = np.arange(1, 1009) / 1009
_OUTER = np.geomspace(1e-8, _INNER[0], 64, endpoint=False)
GRID = np.concatenate([_OUTER, _INNER, 1.0 - _OUTER[::-1]])

ROUNDING = 1e-10  # rounding errors, relative to the largest value
AGREEMENT = 1e-5  # relative difference up to which probabilities, scores or rewards count as equal
SAME_THRESHOLD = 1e-8  # difference up to which thresholds count as equal

BEND = 0.01  # half the length of the chord over the threshold, relative to the room
NEAR_MIDDLE = 1e-3  # a point of the chord near its middle
STRAIGHT = 1e-12  # relative height of the minimum risk above the chord that shows a bend

# A change this many times as large as those on both sides is a jump, unless rounding errors, relative to the largest
# minimum risk, or errors of the numerical slope explain it.
JUMP = 4.0
ROUNDING_ERRORS = 16.0 * np.finfo(np.float64).eps
SLOPE_ERROR = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class DesignedLoss(Loss):
    """A loss made by `design_loss`.

    Attributes
    ----------
    C1, C_minus1 : float
        The costs as given, or else the pair with the threshold of the link and the sum 2.
    conditions : dict of str to (bool or None, str)
        For each condition whether it holds (None: not applicable), and the details.
    risk_type : {"I", "II", None}
        Type of the minimum risk for these costs.
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
        answers = {True: "yes", False: "no", None: "-"}
        rows = [(name, answers[holds], detail) for name, (holds, detail) in self.conditions.items()]
        width = max(map(len, self.conditions))
        lines = []
        for name, holds, detail in [("condition", "holds", "found"), *rows]:
            first = f"{name:{width}}  {holds:5}  "
            lines += textwrap.wrap(detail, 80, initial_indent=first, subsequent_indent=" " * len(first))
        return "\n".join(lines)

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
        Maps a score to its probability; where the link is flat, to any of that score, not too near a step.
    C1, C_minus1 : float, default=None
        Costs whose Bayes rule the loss must implement; the link must change its sign at C_{-1} / (C_1 + C_{-1}).
        If None, they follow from the link, with the sum 2.

    Returns
    -------
    DesignedLoss
        The loss. ``print(loss.report)`` lists the conditions; ValueError if it is not Bayes consistent.

    Notes
    -----
    The functions must be vectorised. Their derivatives are numerical: the loss is accurate to 1e-6, relative to the
    larger of the loss and 1, for scores whose probability is below 1 - 1e-10. A loss from a step link is determined on
    the link's range only: between the steps it is constant, and `smooth` is False.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit, logit
    >>> from cssvm.losses import design_loss
    >>> loss = design_loss(lambda p: 2 * np.sqrt(p * (1 - p)), lambda p: logit(p) / 2, lambda v: expit(2 * v))
    >>> print(loss.value([1, -1], [0.5, 0.5]).round(6), np.exp([-0.5, 0.5]).round(6))
    [0.606531 1.648721] [0.606531 1.648721]
    """
    costs = given_costs(C1, C_minus1)
    for name, function in (("min_risk", min_risk), ("link", link), ("inverse_link", inverse_link)):
        if not callable(function):
            raise ValueError(f"{name} must be a function of an array; got {name}={function!r}. Pass a callable.")
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


def check_design(
    loss: DesignedLoss, given: tuple[float, float] | None
) -> tuple[Conditions, tuple[float, float], str | None]:
    """The conditions, the costs and the risk type of a designed loss; ValueError if it is not Bayes consistent."""
    conditions: Conditions = {
        RISK: (True, _check_min_risk(loss)),
        CONCAVE: (True, _check_concave(loss)),
        INCREASING: (True, _check_increasing(loss)),
        INVERSE: (True, _check_inverse(loss)),
    }
    threshold = _threshold(loss)
    costs = given if given is not None else (2.0 * (1.0 - threshold), 2.0 * threshold)
    conditions[RULE] = (True, _check_rule(threshold, given))
    conditions[BENDS] = (True, _check_bend(loss, threshold))
    conditions[SYMMETRY] = _symmetry(loss, costs)
    kind = risk_type(loss.min_risk, C1=costs[0], C_minus1=costs[1])
    found = {
        "I": "type I: largest at t, but not symmetric around it",
        "II": "type II: largest at t, and symmetric around it",
        None: "neither: the largest risk is not at t",
    }
    conditions[TYPE] = kind is not None, found[kind]
    return conditions, costs, kind


def is_smooth(loss: DesignedLoss) -> bool:
    """Whether the loss and its slope have no jumps on the grid; the loss jumps where the minimum risk has a kink."""
    if not is_strict(loss):
        return False
    risk, step = loss.min_risk(GRID), np.diff(GRID)
    bend = 2.0 * np.diff(np.diff(risk) / step) / (step[1:] + step[:-1])
    rounding = ROUNDING_ERRORS * risk.max() / np.minimum(step[1:], step[:-1]) ** 2
    if _has_jump(bend, rounding):
        return False
    # A numerical slope is wrong very near to a bend of the link; it is not so on both grids.
    slopes = [loss.slope(np.ones(()), loss.link(grid)) for grid in (_INNER, (_INNER[1:] + _INNER[:-1]) / 2.0)]
    return not all(_has_jump(np.diff(slope), SLOPE_ERROR * np.abs(slope[1:])) for slope in slopes)


def _has_jump(changes: Vector, allowed: Vector) -> bool:
    """Whether one change is far larger than those two places before and after; a jump may affect two neighbours."""
    size = np.abs(changes)
    return bool((size[2:-2] > JUMP * np.maximum(size[:-4], size[4:]) + allowed[2:-2]).any())


def is_strict(loss: DesignedLoss) -> bool:
    """Whether the link is strictly increasing, so that it has an inverse."""
    return bool((np.diff(loss.link(GRID)) > 0.0).all())


def _fail(name: str, detail: str) -> NoReturn:
    raise ValueError(f"The condition {name!r} of a Bayes consistent loss fails: {detail}")


def _check_min_risk(loss: DesignedLoss) -> str:
    risk = loss.min_risk(GRID)
    if not np.isfinite(risk).all():
        at = np.argmin(np.isfinite(risk))
        _fail(RISK, f"min_risk is {risk[at]} at eta={GRID[at]:.6g}; define it on all of (0, 1).")
    at = np.argmin(risk)
    if risk[at] < -ROUNDING * np.abs(risk).max():
        _fail(RISK, f"min_risk is {risk[at]:.6g} at eta={GRID[at]:.6g}; add a constant that makes it >= 0.")
    return f"between {max(risk[at], 0.0):.3g} and {risk.max():.3g}"


def _check_concave(loss: DesignedLoss) -> str:
    """Compare chords of all scales with the points between their ends."""
    risk = loss.min_risk(GRID)
    reach = 1
    while 2 * reach < len(GRID):
        left, centre, right = GRID[: -2 * reach], GRID[reach:-reach], GRID[2 * reach :]
        share = (centre - left) / (right - left)
        chord = (1.0 - share) * risk[: -2 * reach] + share * risk[2 * reach :]
        below = chord - risk[reach:-reach]
        at = np.argmax(below)
        if below[at] > ROUNDING * np.abs(risk).max():
            _fail(
                CONCAVE,
                f"min_risk is {risk[reach:-reach][at]:.6g} at eta={centre[at]:.6g}, below the chord from "
                f"eta={left[at]:.6g} to eta={right[at]:.6g}, {chord[at]:.6g}; a minimum of risks is concave.",
            )
        reach *= 2
    return "no point below a chord"


def _check_increasing(loss: DesignedLoss) -> str:
    link = loss.link(GRID)
    if not np.isfinite(link).all():
        at = np.argmin(np.isfinite(link))
        _fail(INCREASING, f"link is {link[at]} at eta={GRID[at]:.6g}; it must be finite on (0, 1).")
    at = np.argmin(np.diff(link))
    if link[at + 1] < link[at] - ROUNDING * np.abs(link).max():
        end = f"{link[at + 1]:.6g} at {GRID[at + 1]:.6g}"
        _fail(INCREASING, f"link falls from {link[at]:.6g} at eta={GRID[at]:.6g} to {end}.")
    if is_strict(loss):
        return f"strictly, from {link[0]:.3g} to {link[-1]:.3g} on the grid"
    return "not strictly: the loss is determined on the range of the link only"


def _check_inverse(loss: DesignedLoss) -> str:
    """A strict link is inverted. On a flat part any probability of that part is valid: it has the same rewards."""
    link = loss.link(GRID)
    back = loss.probability_of(link)
    outside = ~((back >= 0.0) & (back <= 1.0))
    found = np.where(outside, GRID, back)
    wrong = outside | (np.abs(loss.link(found) - link) > AGREEMENT * np.maximum(1.0, np.abs(link)))
    moved = np.abs(found - GRID) > AGREEMENT * np.minimum(GRID, 1.0 - GRID)
    # Next to a step of the link the minimum risk has a kink, where its derivative does not exist.
    flat = np.concatenate([[False], (link[2:] == link[1:-1]) & (link[1:-1] == link[:-2]), [False]])
    for y in (np.ones(()), -np.ones(())):
        here, there = loss.loss_at(y, GRID), loss.loss_at(y, found)
        wrong |= moved & flat & (np.abs(there - here) > AGREEMENT * np.maximum(1.0, np.abs(here)))
    if wrong.any():
        at = np.argmax(wrong)
        inverse = f"inverse_link({link[at]:.6g}) is {back[at]:.6g}"
        _fail(INVERSE, f"at eta={GRID[at]:.6g} link is {link[at]:.6g}, but {inverse}.")
    return "on its range" if moved.any() else f"eta to {np.abs(found - GRID).max():.0e}"


def _threshold(loss: DesignedLoss) -> float:
    """The probability at which the link changes its sign."""
    link = loss.link(GRID)
    if not (link[0] < 0.0 < link[-1]):
        _fail(RULE, f"link goes from {link[0]:.6g} to {link[-1]:.6g} without changing its sign; shift it.")
    below = _switch(lambda eta: loss.link(eta) >= 0.0)
    above = _switch(lambda eta: loss.link(eta) > 0.0)
    if above - below > SAME_THRESHOLD:
        _fail(RULE, f"link is 0 from eta={below:.6g} to eta={above:.6g}; it must be 0 at one probability only.")
    return (below + above) / 2.0


def _check_rule(threshold: float, given: tuple[float, float] | None) -> str:
    if given is None:
        return f"t = {threshold:.6g}"
    C1, C_minus1 = given
    expected = C_minus1 / (C1 + C_minus1)
    if abs(threshold - expected) > SAME_THRESHOLD:
        required = f"C1={C1:g} and C_minus1={C_minus1:g} require C_minus1 / (C1 + C_minus1) = {expected:.6g}"
        _fail(RULE, f"link changes its sign at eta={threshold:.6g}, but {required}.")
    return f"t = {threshold:.6g} = C_minus1 / (C1 + C_minus1)"


def _check_bend(loss: DesignedLoss, threshold: float) -> str:
    """A minimum risk that is straight around the threshold leaves scores of both signs optimal."""
    room = BEND * min(threshold, 1.0 - threshold)
    # Near the threshold and not at it: a formula with sign(eta - t) has another value there.
    left, near, right = loss.min_risk(threshold + room * np.array([-1.0, NEAR_MIDDLE, 1.0]))
    below = near - ((1.0 - NEAR_MIDDLE) * left + (1.0 + NEAR_MIDDLE) * right) / 2.0
    if below <= STRAIGHT * loss.min_risk(GRID).max():
        ends = f"eta={threshold - room:.6g} to eta={threshold + room:.6g}"
        _fail(BENDS, f"min_risk is a straight line from {ends}, so both decisions are optimal.")
    return "so a score of the wrong sign is not optimal"


def _switch(predicate: Callable[[Vector], NDArray[np.bool_]]) -> float:
    """Where a predicate on (0, 1) that is false near 0 and true near 1 becomes true, by bisection."""
    lower, upper = GRID[0], GRID[-1]
    while (middle := (lower + upper) / 2.0) not in (lower, upper):
        if predicate(np.array([middle]))[0]:
            upper = middle
        else:
            lower = middle
    return upper


def _symmetry(loss: DesignedLoss, costs: tuple[float, float]) -> tuple[bool | None, str]:
    if not is_strict(loss):
        return None, "a step link has no inverse"
    deviation = link_symmetry(replace(loss, C1=costs[0], C_minus1=costs[1]))
    if deviation <= SAME_THRESHOLD:
        return True, "f^-1(v) + f^-1(-v) = 2 t"
    return False, f"f^-1(v) + f^-1(-v) differs from 2 t by up to {deviation:.3g}; not needed for the rule"


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
    """Limit of central differences (STEPS, ...) for halved steps: without the error h^2, where it changes least."""
    # Small steps are dominated by rounding errors, which may agree by chance, but not twice in a row.
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
