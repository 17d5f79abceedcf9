"""The conditions under which a minimum risk and a link make a Bayes consistent loss, checked on a grid of (0, 1).

    min_risk    finite, not negative, concave, not straight around the threshold
    link        finite, increasing; `inverse_link` leads back to a probability with the same link and the same rewards
    rule        the link is negative below one threshold and positive above, at C_{-1} / (C_1 + C_{-1}) for given costs
    symmetry    f^-1(-v) = 2 t - f^-1(v) around the threshold t: sufficient for the rule but not necessary
    risk type   see `risk_type`

A design that fails one of the first three is refused. The last two are reported only.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.types import Vector
from ._base import Loss
from ._elicitation import AGREEMENT, Elicitation, Function
from ._risk import risk_type

# k / 1009, with a prime so that the grid misses kinks at simple fractions, and points that approach both ends at a
# constant ratio.
_INNER = np.arange(1, 1009) / 1009
_OUTER = np.geomspace(1e-8, _INNER[0], 64, endpoint=False)
GRID = np.concatenate([_OUTER, _INNER, 1.0 - _OUTER[::-1]])

# Rounding errors, relative to the largest value, that do not count against a property.
ROUNDING = 1e-10

# Two thresholds this close are one.
SAME_THRESHOLD = 1e-8

# Half the length of the chord over the threshold, relative to the room, a point near its middle, and the relative
# height of the minimum risk above the chord that shows a bend.
BEND = 0.01
BESIDE = 1e-3
STRAIGHT = 1e-12

# A change this many times as large as those on both sides is a jump, if it is not the work of a few rounding errors,
# relative to the largest minimum risk, or of the numerical slope.
JUMP = 4.0
ROUNDING_ERRORS = 16.0 * np.finfo(np.float64).eps
SLOPE_ERROR = 1e-3

# The part of the link's range on which its symmetry is looked at, in probability, and the number of scores.
SYMMETRY_ENDS = 1e-15
SYMMETRY_POINTS = 513

REPORT_WIDTH = 80


class Condition(NamedTuple):
    """One condition: its name, whether it holds (None: does not apply), and what was found."""

    name: str
    holds: bool | None
    detail: str


@dataclass(frozen=True)
class DesignReport:
    """What was checked about a designed loss; prints as a table.

    Attributes
    ----------
    conditions : tuple of Condition
        Name, holds (True, False or None) and detail of each condition.
    costs : tuple of float
        (C_1, C_{-1}) as given, or else the pair with the link's threshold and the sum 2.
    risk_type : {"I", "II", None}
        Type of the minimum risk for these costs.
    """

    conditions: tuple[Condition, ...]
    costs: tuple[float, float]
    risk_type: str | None

    def __getitem__(self, name: str) -> Condition:
        for condition in self.conditions:
            if condition.name == name:
                return condition
        names = ", ".join(repr(c.name) for c in self.conditions)
        raise KeyError(f"{name!r} is no condition; there are {names}")

    def __str__(self) -> str:
        words = {True: "yes", False: "no", None: "-"}
        rows = [(c.name, words[c.holds], c.detail) for c in self.conditions]
        width = max(len(name) for name, _, _ in rows)
        lines = []
        for name, holds, detail in [("condition", "holds", "found"), *rows]:
            first = f"{name:{width}}  {holds:5}  "
            lines += textwrap.wrap(detail, REPORT_WIDTH, initial_indent=first, subsequent_indent=" " * len(first))
        return "\n".join(lines)


def check_design(design: Elicitation, given: tuple[float, float] | None) -> DesignReport:
    """Report on a design; ValueError if a condition fails without which the loss is not Bayes consistent."""
    passed = []
    for check in (_check_min_risk, _check_concave, _check_increasing, _check_inverse):
        passed.append(_required(check(design)))
    rule, threshold = _check_rule(design, given)
    passed += [_required(rule), _required(_check_bend(design, threshold))]
    costs = given if given is not None else (2.0 * (1.0 - threshold), 2.0 * threshold)
    kind = risk_type(design.min_risk, C1=costs[0], C_minus1=costs[1])
    passed += [_check_symmetry(design, costs), _describe_type(kind)]
    return DesignReport(tuple(passed), costs, kind)


def is_smooth(design: Elicitation) -> bool:
    """Whether the loss and its slope are free of jumps, so far as the grid shows.

    The loss jumps where the minimum risk has a kink: its second differences are far larger there than on either side.
    """
    if not is_strict(design):
        return False
    risk, step = design.min_risk(GRID), np.diff(GRID)
    bend = 2.0 * np.diff(np.diff(risk) / step) / (step[1:] + step[:-1])
    rounding = ROUNDING_ERRORS * risk.max() / np.minimum(step[1:], step[:-1]) ** 2
    if _stands_out(bend, rounding):
        return False
    # A numerical slope is wrong very near to a bend of the link; it is not so on both grids.
    slopes = [design.slope(np.ones(()), design.link(grid)) for grid in (_INNER, (_INNER[1:] + _INNER[:-1]) / 2.0)]
    return not all(_stands_out(np.diff(slope), SLOPE_ERROR * np.abs(slope[1:])) for slope in slopes)


def _stands_out(changes: Vector, allowed: Vector) -> bool:
    """Whether one change is far larger than those two places before and after; a jump may make two neighbours."""
    size = np.abs(changes)
    return bool((size[2:-2] > JUMP * np.maximum(size[:-4], size[4:]) + allowed[2:-2]).any())


def is_strict(design: Elicitation) -> bool:
    """Whether the link increases strictly, so that it has an inverse."""
    return bool((np.diff(design.link(GRID)) > 0.0).all())


def link_symmetry(loss: Loss) -> float:
    """Largest deviation of a link from the symmetry f^-1(-v) = 2 t - f^-1(v) around the threshold t.

    The symmetry is sufficient for the Bayes rule with this threshold, not necessary. The linear link has it. The log
    link has it for equal costs only; what it has for all costs is
    odds(f^-1(v)) odds(f^-1(-v)) = (C_{-1} / C_1)^2.

    Parameters
    ----------
    loss : Loss
        A loss with an invertible link.

    Returns
    -------
    float
        Largest ``|f^-1(v) + f^-1(-v) - 2 t|`` over the scores v for which v and -v are in the range of the link.

    Examples
    --------
    >>> from cssvm.losses import LogisticLoss, ZeroOneLoss, link_symmetry
    >>> print(f"{link_symmetry(ZeroOneLoss(4, 2)):.3f} {link_symmetry(LogisticLoss(4, 2)):.3f}")
    0.000 0.333
    """
    return _asymmetry(loss.link, loss.inverse_link, loss.threshold)


def _asymmetry(link: Function, inverse_link: Function, threshold: float) -> float:
    lower, upper = link(np.array([SYMMETRY_ENDS, 1.0 - SYMMETRY_ENDS]))
    v = np.linspace(0.0, min(-lower, upper), SYMMETRY_POINTS)
    return float(np.abs(inverse_link(v) + inverse_link(-v) - 2.0 * threshold).max())


def _required(condition: Condition) -> Condition:
    if not condition.holds:
        raise ValueError(f"The condition {condition.name!r} of a Bayes consistent loss fails: {condition.detail}")
    return condition


def _check_min_risk(design: Elicitation) -> Condition:
    name = "min_risk finite, not negative"
    risk = design.min_risk(GRID)
    if not np.isfinite(risk).all():
        at = np.argmin(np.isfinite(risk))
        return Condition(name, False, f"min_risk is {risk[at]} at eta={GRID[at]:.6g}; define it on all of (0, 1).")
    at = np.argmin(risk)
    if risk[at] < -ROUNDING * np.abs(risk).max():
        return Condition(name, False, f"min_risk is {risk[at]:.6g} at eta={GRID[at]:.6g}; add what makes it >= 0.")
    return Condition(name, True, f"between {max(risk[at], 0.0):.3g} and {risk.max():.3g}")


def _check_concave(design: Elicitation) -> Condition:
    """No point lies below a chord, for chords of all scales."""
    risk = design.min_risk(GRID)
    reach = 1
    while 2 * reach < len(GRID):
        left, centre, right = GRID[: -2 * reach], GRID[reach:-reach], GRID[2 * reach :]
        share = (centre - left) / (right - left)
        chord = (1.0 - share) * risk[: -2 * reach] + share * risk[2 * reach :]
        below = chord - risk[reach:-reach]
        at = np.argmax(below)
        if below[at] > ROUNDING * np.abs(risk).max():
            detail = (
                f"min_risk is {risk[reach:-reach][at]:.6g} at eta={centre[at]:.6g}, below the chord from "
                f"eta={left[at]:.6g} to eta={right[at]:.6g}, {chord[at]:.6g}; a minimum of risks is concave."
            )
            return Condition("min_risk concave", False, detail)
        reach *= 2
    return Condition("min_risk concave", True, "no point below a chord")


def _check_increasing(design: Elicitation) -> Condition:
    name = "link increasing"
    link = design.link(GRID)
    if not np.isfinite(link).all():
        at = np.argmin(np.isfinite(link))
        return Condition(name, False, f"link is {link[at]} at eta={GRID[at]:.6g}; it must be finite on (0, 1).")
    at = np.argmin(np.diff(link))
    if link[at + 1] < link[at] - ROUNDING * np.abs(link).max():
        detail = f"link falls from {link[at]:.6g} at eta={GRID[at]:.6g} to {link[at + 1]:.6g} at {GRID[at + 1]:.6g}."
        return Condition(name, False, detail)
    if is_strict(design):
        return Condition(name, True, f"strictly, from {link[0]:.3g} to {link[-1]:.3g} on the grid")
    return Condition(name, True, "not strictly: the loss is determined on the range of the link only")


def _check_inverse(design: Elicitation) -> Condition:
    """A strict link is inverted. On a flat part any probability of that part will do: it has the same rewards."""
    name = "inverse_link inverts link"
    link = design.link(GRID)
    back = design.inverse_link(link)
    outside = ~((back >= 0.0) & (back <= 1.0))
    found = np.where(outside, GRID, back)
    wrong = outside | (np.abs(design.link(found) - link) > AGREEMENT * np.maximum(1.0, np.abs(link)))
    moved = np.abs(found - GRID) > AGREEMENT * np.minimum(GRID, 1.0 - GRID)
    # Next to a step of the link the minimum risk has a kink, where its derivative does not exist.
    flat = np.concatenate([[False], (link[2:] == link[1:-1]) & (link[1:-1] == link[:-2]), [False]])
    for y in (np.ones(()), -np.ones(())):
        here, there = design.loss_at(y, GRID), design.loss_at(y, found)
        wrong |= moved & flat & (np.abs(there - here) > AGREEMENT * np.maximum(1.0, np.abs(here)))
    if wrong.any():
        at = np.argmax(wrong)
        detail = f"at eta={GRID[at]:.6g} link is {link[at]:.6g}, but inverse_link({link[at]:.6g}) is {back[at]:.6g}."
        return Condition(name, False, detail)
    return Condition(name, True, f"eta to {np.abs(found - GRID).max():.0e}" if not moved.any() else "on its range")


def _check_rule(design: Elicitation, given: tuple[float, float] | None) -> tuple[Condition, float]:
    name = "link has the sign of eta - t"
    link = design.link(GRID)
    if not (link[0] < 0.0 < link[-1]):
        detail = f"link goes from {link[0]:.6g} to {link[-1]:.6g} without changing its sign; shift it."
        return Condition(name, False, detail), np.nan
    below = _switch(lambda eta: design.link(eta) >= 0.0)
    above = _switch(lambda eta: design.link(eta) > 0.0)
    if above - below > SAME_THRESHOLD:
        detail = f"link is 0 from eta={below:.6g} to eta={above:.6g}; it must be 0 at one probability only."
        return Condition(name, False, detail), np.nan
    threshold = (below + above) / 2.0
    if given is None:
        return Condition(name, True, f"t = {threshold:.6g}"), threshold
    C1, C_minus1 = given
    wanted = C_minus1 / (C1 + C_minus1)
    if abs(threshold - wanted) > SAME_THRESHOLD:
        detail = (
            f"link changes its sign at eta={threshold:.6g}, but C1={C1:g} and C_minus1={C_minus1:g} want "
            f"C_minus1 / (C1 + C_minus1) = {wanted:.6g}."
        )
        return Condition(name, False, detail), threshold
    return Condition(name, True, f"t = {threshold:.6g} = C_minus1 / (C1 + C_minus1)"), threshold


def _check_bend(design: Elicitation, threshold: float) -> Condition:
    """A minimum risk that is straight around the threshold leaves scores of both signs optimal."""
    name = "min_risk bends at t"
    room = BEND * min(threshold, 1.0 - threshold)
    # Beside the threshold and not on it: a formula with sign(eta - t) has another value there.
    left, beside, right = design.min_risk(threshold + room * np.array([-1.0, BESIDE, 1.0]))
    below = beside - ((1.0 - BESIDE) * left + (1.0 + BESIDE) * right) / 2.0
    if below <= STRAIGHT * design.min_risk(GRID).max():
        ends = f"eta={threshold - room:.6g} to eta={threshold + room:.6g}"
        return Condition(name, False, f"min_risk is a straight line from {ends}, so both decisions are optimal.")
    return Condition(name, True, "so a score of the wrong sign is not optimal")


def _switch(predicate: Callable[[Vector], NDArray[np.bool_]]) -> float:
    """Where a predicate on (0, 1) that is false near 0 and true near 1 becomes true, by bisection."""
    lower, upper = GRID[0], GRID[-1]
    while (middle := (lower + upper) / 2.0) not in (lower, upper):
        if predicate(np.array([middle]))[0]:
            upper = middle
        else:
            lower = middle
    return upper


def _check_symmetry(design: Elicitation, costs: tuple[float, float]) -> Condition:
    name = "link symmetry around t"
    if not is_strict(design):
        return Condition(name, None, "a step link has no inverse")
    deviation = _asymmetry(design.link, design.inverse_link, costs[1] / (costs[0] + costs[1]))
    if deviation <= SAME_THRESHOLD:
        return Condition(name, True, "f^-1(v) + f^-1(-v) = 2 t")
    return Condition(name, False, f"f^-1(v) + f^-1(-v) is off 2 t by up to {deviation:.3g}; not needed for the rule")


def _describe_type(kind: str | None) -> Condition:
    name = "risk of type I or II"
    if kind is None:
        return Condition(name, False, "neither: the largest risk is not at t")
    symmetric = "and symmetric around it" if kind == "II" else "but not symmetric around it"
    return Condition(name, True, f"type {kind}: largest at t, {symmetric}")
