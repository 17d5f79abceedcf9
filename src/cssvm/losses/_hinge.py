"""Hinge losses: a slope and a margin for each class, or for each sample.

    y = +1:  pos_slope max(0, pos_margin - f)          y = -1:  neg_slope max(0, neg_margin + f)

    link           pos_margin for eta > threshold, -neg_margin for eta < threshold
    minimum risk   (pos_margin + neg_margin) min(pos_slope eta, neg_slope (1 - eta))
    threshold      neg_slope / (pos_slope + neg_slope), whatever the margins
    conjugate      m v for -s <= v <= 0, infinite elsewhere, with slope s and margin m of the class

Between -neg_margin and pos_margin the conditional risk is linear in f, beyond them it grows: the best score is one of
the two ends. In the paper's letters e - d f and b + a f: d, a are the slopes, e/d, b/a the margins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.margins_and_bounds import paper_costs
from .._core.types import Vector
from .._core.validation import as_floats
from ._base import CONVERT, Loss, of_label, probabilities


@dataclass(frozen=True, eq=False, kw_only=True)
class HingeLoss(Loss):
    """Hinge loss with a slope and a margin for each class.

    ::

        y = +1:  pos_slope max(0, pos_margin - f)          y = -1:  neg_slope max(0, neg_margin + f)

    The slopes are the costs whose Bayes rule the loss implements. `link` is pos_margin above the threshold, -neg_margin
    below and 0 at it. `gradient` is zero at the kinks. `CostSensitiveSVC` minimises this loss with
    pos_slope = fn_cost, pos_margin = 1, neg_slope = fp_cost and neg_margin = kappa.

    Parameters
    ----------
    pos_slope, pos_margin : float or array-like, default=1.0
        Slope and margin of y = +1, positive.
    neg_slope, neg_margin : float or array-like, default=1.0
        Slope and margin of y = -1, positive. Arrays have one value per sample and broadcast with the scores.

    Examples
    --------
    >>> from cssvm.losses import HingeLoss
    >>> loss = HingeLoss(pos_slope=4, neg_slope=1, neg_margin=0.5)
    >>> print(loss.value([1, -1], [0.0, 0.0]), loss.threshold, loss.link([0.1, 0.3]))
    [4.  0.5] 0.2 [-0.5  1. ]
    """

    pos_slope: Any = 1.0
    pos_margin: Any = 1.0
    neg_slope: Any = 1.0
    neg_margin: Any = 1.0

    smooth = False
    invertible = False

    def __post_init__(self) -> None:
        for name in ("pos_slope", "pos_margin", "neg_slope", "neg_margin"):
            object.__setattr__(self, name, _positive(name, getattr(self, name)))

    @property
    def costs(self) -> tuple[Any, Any]:
        """(pos_slope, neg_slope)."""
        return self.pos_slope, self.neg_slope

    def _slope(self, y: Vector) -> Vector:
        return of_label(y, self.pos_slope, self.neg_slope)

    def _margin(self, y: Vector) -> Vector:
        return of_label(y, self.pos_margin, self.neg_margin)

    def _value(self, y: Vector, f: Vector) -> Vector:
        return self._slope(y) * np.maximum(0.0, self._margin(y) - y * f)

    def _gradient(self, y: Vector, f: Vector) -> Vector:
        return np.where(y * f < self._margin(y), -y * self._slope(y), 0.0)

    def _min_risk(self, eta: Vector) -> Vector:
        return (self.pos_margin + self.neg_margin) * np.minimum(self.pos_slope * eta, self.neg_slope * (1.0 - eta))

    def _link(self, eta: Vector) -> Vector:
        side = np.sign(eta - self.threshold)
        return np.where(side > 0, self.pos_margin, np.where(side < 0, -self.neg_margin, 0.0))

    def _conjugate(self, y: Vector, v: Vector) -> Vector:
        return np.where((v <= 0.0) & (v >= -self._slope(y)), self._margin(y) * v, np.inf)


class CostSensitiveHinge(HingeLoss):
    """The paper's cost-sensitive hinge loss, with costs of the classes or of each sample.

    ::

        y = +1:  C1 max(0, 1 - f)          y = -1:  max(0, 1 + (2 C_{-1} - 1) f)

    A `HingeLoss` with pos_slope = C1, neg_slope = 2 C_{-1} - 1 and neg_margin = 1 / neg_slope. Its `costs` are the
    slopes. With an array of costs c, ``CostSensitiveHinge(c, c)`` is the paper's example-dependent loss,
    ``HingeLoss(pos_slope=c, neg_slope=c)`` the example-dependent biased one.

    Parameters
    ----------
    C1 : float or array-like, default=1.0
        The paper's C_1 > 0; an array has one value per sample.
    C_minus1 : float or array-like, default=1.0
        The paper's C_{-1} > 1/2; an array has one value per sample.

    Examples
    --------
    >>> from cssvm.losses import CostSensitiveHinge
    >>> loss = CostSensitiveHinge(4, 2)
    >>> loss.costs, round(loss.threshold, 4)
    ((4.0, 3.0), 0.4286)
    >>> CostSensitiveHinge([1, 5], [1, 5]).value([1, -1], [0.5, 0.5])
    array([0.5, 5.5])
    """

    def __init__(self, C1: Any = 1.0, C_minus1: Any = 1.0) -> None:
        fn_cost, fp_cost, kappa = paper_costs(C1, C_minus1).values()
        super().__init__(pos_slope=fn_cost, neg_slope=fp_cost, neg_margin=kappa)

    @property
    def C1(self) -> Any:
        """The paper's C_1."""
        return self.pos_slope

    @property
    def C_minus1(self) -> Any:
        """The paper's C_{-1}."""
        return (self.neg_slope + 1.0) / 2.0

    def printed_risk(self, eta: ArrayLike) -> Any:
        """The minimum risk as the paper prints it, eq. (CstarSVMmm).

        It is the conditional risk of the score sign((C1 + C_{-1}) eta - C_{-1}), with sign(0) = 1, and largest at
        C_{-1} / (C1 + C_{-1}) for C_{-1} >= 1. Other scores have a smaller risk, `min_risk`, unless C_{-1} = 1.

        Examples
        --------
        >>> from cssvm.losses import CostSensitiveHinge
        >>> loss = CostSensitiveHinge(4, 2)
        >>> print(round(loss.printed_risk(1 / 3), 3), round(loss.min_risk(1 / 3), 3))
        2.667 1.778
        """
        eta = probabilities(eta)
        above = np.where((self.C1 + self.C_minus1) * eta >= self.C_minus1, 1.0, -1.0)
        return self.conditional_risk(eta, above)

    def __repr__(self) -> str:
        return f"CostSensitiveHinge(C1={_short(self.C1)}, C_minus1={_short(self.C_minus1)})"


def _positive(name: str, value: Any) -> Any:
    """A positive finite float, or a read-only array of them."""
    values = np.array(as_floats(name, value, CONVERT))
    wrong = ~((values > 0.0) & (values < np.inf))
    if wrong.any() or values.size == 0 or isinstance(value, bool):
        got = "no value" if values.size == 0 else f"{name}={values[wrong][0] if wrong.any() else value}"
        raise ValueError(f"{name} must be positive and finite; got {got}. Pass {name}=1.0, or one value per sample.")
    if values.ndim == 0:
        return float(values)
    values.flags.writeable = False
    return values


def _short(values: Any) -> str:
    if np.ndim(values) == 0:
        return repr(values)
    return np.array2string(values, separator=", ", threshold=6, edgeitems=2)
