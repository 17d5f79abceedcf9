"""A loss from a minimum risk and a link: steps 3 and 4 of the design procedure.

    value(+1, v) = -I_1(f^-1(v))          value(-1, v) = -I_-1(f^-1(v))

with the rewards I of `cssvm.losses._elicitation`. As J = -C* is convex, the score link(eta) minimises the conditional
risk, and min_risk(eta) is its value there, for every eta.

Scores beyond the range of the link are optimal for no probability. There the loss that grows is continued by its
tangent and the other one by a constant: the conditional risk does not fall, so link and minimum risk remain true.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.types import Vector
from ._base import Loss, positive_number
from ._conditions import DesignReport, check_design, is_smooth, is_strict
from ._elicitation import Elicitation
from ._symbolic import is_expression, symbolic_elicitation


@dataclass(frozen=True, eq=False, repr=False)
class DesignedLoss(Loss):
    """A loss made by `design_loss`.

    Attributes
    ----------
    report : DesignReport
        The conditions that were checked; prints as a table.
    smooth : bool
        Whether the loss and its slope are free of jumps, so that training by gradients applies.
    invertible : bool
        Whether the link increases strictly.
    """

    design: Elicitation
    report: DesignReport
    smooth: bool = False
    invertible: bool = True

    @property
    def costs(self) -> tuple[float, float]:
        """(C_1, C_{-1}) as given, or else the pair with the link's threshold and the sum 2."""
        return self.report.costs

    @property
    def expressions(self) -> Any:
        """Formulas (phi_1, phi_minus1) of value(+1, v) and value(-1, v), if designed from expressions, else None."""
        return self.design.expressions

    def _value(self, y: Vector, f: Vector) -> Vector:
        v = np.clip(f, *self.design.score_range)
        inside = self.design.loss(y, v)
        if np.array_equal(v, f):
            return inside
        # fmax: a slope of zero times an infinite distance is no growth.
        return inside + np.fmax(0.0, self.design.slope(y, v) * (f - v))

    def _gradient(self, y: Vector, f: Vector) -> Vector:
        v = np.clip(f, *self.design.score_range)
        slope = self.design.slope(y, v)
        return np.where((v == f) | (slope * (f - v) > 0.0), slope, 0.0)

    def _min_risk(self, eta: Vector) -> Vector:
        return self.design.min_risk(eta)

    def _link(self, eta: Vector) -> Vector:
        return self.design.link(eta)

    def _inverse_link(self, f: Vector) -> Vector:
        if not self.invertible:
            super()._inverse_link(f)
        # Scores beyond the range get the probability of its ends.
        lower, upper = self.design.link(np.array([0.0, 1.0]))
        return np.clip(self.design.inverse_link(np.clip(f, lower, upper)), 0.0, 1.0)

    def __repr__(self) -> str:
        C1, C_minus1 = self.costs
        return f"DesignedLoss(C1={C1:g}, C_minus1={C_minus1:g}, risk_type={self.report.risk_type!r})"


def design_loss(
    min_risk: Callable[[Any], Any] | Any,
    link: Callable[[Any], Any] | Any,
    inverse_link: Callable[[Any], Any] | Any = None,
    *,
    C1: float | None = None,
    C_minus1: float | None = None,
) -> DesignedLoss:
    """Make the loss whose optimal score is `link` and whose minimum conditional risk is `min_risk`.

    Parameters
    ----------
    min_risk : callable or SymPy expression
        Concave, non-negative function of eta = P(y = +1 | x) on (0, 1).
    link : callable or SymPy expression
        Increasing function of eta: the optimal score. It is zero at the threshold of the decision.
    inverse_link : callable or SymPy expression, default=None
        Maps a score back to a probability. Where the link is flat, any probability with that score, not too near
        a step. None, for expressions: solved for.
    C1, C_minus1 : float, default=None
        Costs whose Bayes rule the loss is to implement; the link must change its sign at C_{-1} / (C_1 + C_{-1}).
        None: taken from the link, with the sum 2.

    Returns
    -------
    DesignedLoss
        The loss. Its `report` lists the conditions.

    Raises
    ------
    ValueError
        If a condition fails without which the loss is not Bayes consistent; the message says which, where and
        by how much.

    Notes
    -----
    Functions must be vectorised. Their derivatives are numerical: the loss is accurate to 1e-6, relative to the
    larger of the loss and 1, for scores whose probability is below 1 - 1e-10. Expressions give formulas instead, and
    they are in `expressions`.

    Beyond the range of the link, the growing loss is continued by its tangent, the other one by a constant. A loss
    from a step link is determined on the link's range only: between the steps it is constant, and `smooth` is False.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit, logit
    >>> from cssvm.losses import design_loss
    >>> loss = design_loss(lambda p: 2 * np.sqrt(p * (1 - p)), lambda p: logit(p) / 2, lambda v: expit(2 * v))
    >>> print(loss.value([1, -1], [0.5, 0.5]).round(6), np.exp([-0.5, 0.5]).round(6))
    [0.606531 1.648721] [0.606531 1.648721]

    The same from expressions:

    >>> import sympy
    >>> p = sympy.Symbol("p")
    >>> design_loss(2 * sympy.sqrt(p * (1 - p)), sympy.log(p / (1 - p)) / 2).expressions
    LossExpressions(phi_1=exp(-v), phi_minus1=exp(v))
    """
    if (C1 is None) != (C_minus1 is None):
        raise ValueError(f"C1 and C_minus1 must be given together; got C1={C1!r}, C_minus1={C_minus1!r}. Pass both.")
    costs = None if C1 is None else (positive_number("C1", C1), positive_number("C_minus1", C_minus1))
    design = _elicitation(min_risk, link, inverse_link)
    with np.errstate(all="ignore"):
        report = check_design(design, costs)
        return DesignedLoss(design, report, smooth=is_smooth(design), invertible=is_strict(design))


def _elicitation(min_risk: Any, link: Any, inverse_link: Any) -> Elicitation:
    if is_expression(min_risk) or is_expression(link):
        return symbolic_elicitation(min_risk, link, inverse_link)
    for name, function in (("min_risk", min_risk), ("link", link), ("inverse_link", inverse_link)):
        if not callable(function):
            raise ValueError(
                f"{name} must be a function of an array, or min_risk and link SymPy expressions; got "
                f"{name}={function!r}. Pass for example scipy.special.expit as the inverse of scipy.special.logit."
            )
    return Elicitation(min_risk, link, inverse_link)
