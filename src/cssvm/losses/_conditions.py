"""The conditions under which a minimum risk and a link make a Bayes consistent loss, checked on a grid of (0, 1).

    min_risk    finite, not negative, concave, not straight around the threshold
    link        finite, increasing; `inverse_link` leads back to a probability with the same link and the same rewards
    rule        the link is negative below one threshold and positive above, at C_{-1} / (C_1 + C_{-1}) for given costs
    symmetry    f^-1(-v) = 2 t - f^-1(v) around the threshold t: sufficient for the rule but not necessary
    risk type   see `risk_type`

A design that fails one of the first three is rejected. The last two are only reported.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._core.types import Vector
from ._properties import asymmetry, risk_type

if TYPE_CHECKING:
    from ._design import DesignedLoss

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

# Half the length of the chord over the threshold, relative to the room, a point near its middle, and the relative
# height of the minimum risk above the chord that shows a bend.
BEND = 0.01
NEAR_MIDDLE = 1e-3
STRAIGHT = 1e-12

# A change this many times as large as those on both sides is a jump, unless rounding errors, relative to the largest
# minimum risk, or errors of the numerical slope explain it.
JUMP = 4.0
ROUNDING_ERRORS = 16.0 * np.finfo(np.float64).eps
SLOPE_ERROR = 1e-3

REPORT_WIDTH = 80


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
    if kind is None:
        conditions[TYPE] = False, "neither: the largest risk is not at t"
    else:
        conditions[TYPE] = (
            True,
            f"type {kind}: largest at t, {'and' if kind == 'II' else 'but not'} symmetric around it",
        )
    return conditions, costs, kind


def report_of(conditions: Conditions) -> str:
    """The conditions as a table of 80 columns."""
    answers = {True: "yes", False: "no", None: "-"}
    rows = [(name, answers[holds], detail) for name, (holds, detail) in conditions.items()]
    width = max(len(name) for name, _, _ in rows)
    lines = []
    for name, holds, detail in [("condition", "holds", "found"), *rows]:
        first = f"{name:{width}}  {holds:5}  "
        lines += textwrap.wrap(detail, REPORT_WIDTH, initial_indent=first, subsequent_indent=" " * len(first))
    return "\n".join(lines)


def is_smooth(loss: DesignedLoss) -> bool:
    """Whether the loss and its slope have no jumps, as far as the grid shows.

    The loss jumps where the minimum risk has a kink: its second differences are far larger there than on either side.
    """
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
    """No point lies below a chord, for chords of all scales."""
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
        _fail(
            INCREASING,
            f"link falls from {link[at]:.6g} at eta={GRID[at]:.6g} to {link[at + 1]:.6g} at {GRID[at + 1]:.6g}.",
        )
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
        _fail(
            INVERSE,
            f"at eta={GRID[at]:.6g} link is {link[at]:.6g}, but inverse_link({link[at]:.6g}) is {back[at]:.6g}.",
        )
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
        _fail(
            RULE,
            f"link changes its sign at eta={threshold:.6g}, but C1={C1:g} and C_minus1={C_minus1:g} require "
            f"C_minus1 / (C1 + C_minus1) = {expected:.6g}.",
        )
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
    deviation = asymmetry(loss.link, loss.probability_of, costs[1] / (costs[0] + costs[1]))
    if deviation <= SAME_THRESHOLD:
        return True, "f^-1(v) + f^-1(-v) = 2 t"
    return False, f"f^-1(v) + f^-1(-v) differs from 2 t by up to {deviation:.3g}; not needed for the rule"
