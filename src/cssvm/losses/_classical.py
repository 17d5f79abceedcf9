"""Losses with two costs: zero-one, exponential and logistic. Throughout t = C_{-1} / (C_1 + C_{-1})."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, xlog1py, xlogy

from .._core.types import Vector
from ._base import Loss, of_label, positive_number

RANGE_SLACK = 1e-12  # share of its range by which a score may lie beyond the ends of a bounded link, for rounding


@dataclass(frozen=True, eq=False)
class _TwoCostLoss(Loss):
    """A loss with the two costs as its parameters."""

    C1: float = 1.0
    C_minus1: float = 1.0

    def __post_init__(self) -> None:
        for name in ("C1", "C_minus1"):
            object.__setattr__(self, name, positive_number(name, getattr(self, name)))

    @property
    def costs(self) -> tuple[float, float]:
        """(C_1, C_{-1})."""
        return self.C1, self.C_minus1

    @property
    def _log_ratio(self) -> float:
        return float(np.log(self.C1) - np.log(self.C_minus1))

    def _cost(self, y: Vector) -> Vector:
        return of_label(y, self.C1, self.C_minus1)


@dataclass(frozen=True, eq=False)
class ZeroOneLoss(_TwoCostLoss):
    """Cost of the decision sign(f), where f = 0 means +1.

    ::

        y = +1:  C1 if f < 0, else 0          y = -1:  C_{-1} if f >= 0, else 0

    `link` is linear, (C1 + C_{-1}) eta - C_{-1}; any score with its sign is optimal. `gradient` is zero.

    Parameters
    ----------
    C1, C_minus1 : float, default=1.0
        Cost of a false negative and of a false positive, positive.

    Examples
    --------
    >>> from cssvm.losses import ZeroOneLoss
    >>> loss = ZeroOneLoss(C1=4, C_minus1=1)
    >>> print(loss.threshold, loss.min_risk([0.1, 0.2, 0.6]))
    0.2 [0.4 0.8 0.4]
    """

    def _value(self, y: Vector, f: Vector) -> Vector:
        return np.where(of_label(y, f < 0, f >= 0), self._cost(y), 0.0)

    def _gradient(self, y: Vector, f: Vector) -> Vector:
        return np.zeros(np.broadcast_shapes(y.shape, f.shape))

    def _min_risk(self, eta: Vector) -> Vector:
        return np.minimum(self.C1 * eta, self.C_minus1 * (1.0 - eta))

    def _link(self, eta: Vector) -> Vector:
        # Written with the threshold, so that the score there is exactly zero.
        return (self.C1 + self.C_minus1) * (eta - self.threshold)

    def _inverse_link(self, f: Vector) -> Vector:
        eta = self.threshold + f / (self.C1 + self.C_minus1)
        wrong = np.abs(eta - 0.5) > 0.5 + RANGE_SLACK
        if wrong.any():
            raise ValueError(
                f"f must lie in the range [{-self.C_minus1:g}, {self.C1:g}] of the link; got f={f[wrong][0]:g}, "
                "which is optimal for no probability. Clip the scores to the range."
            )
        return np.clip(eta, 0.0, 1.0)

    def _conjugate(self, y: Vector, v: Vector) -> Vector:
        return np.where(v == 0.0, 0.0, np.inf) + 0.0 * y


@dataclass(frozen=True, eq=False)
class ExponentialLoss(_TwoCostLoss):
    """Cost-sensitive exponential loss, the one of AdaBoost for equal costs.

    ::

        y = +1:  exp(-C1 f)          y = -1:  exp(C_{-1} f)

        min_risk = (eta / t)^t ((1 - eta) / (1 - t))^(1 - t),    link = log(C1 eta / (C_{-1} (1 - eta))) / (C1 + C_{-1})

    The costs are rates, not factors. The minimum risk is 1 at the threshold and of type I for unequal costs.

    Parameters
    ----------
    C1, C_minus1 : float, default=1.0
        Cost of a false negative and of a false positive, positive.

    Examples
    --------
    >>> from cssvm.losses import ExponentialLoss
    >>> loss = ExponentialLoss(C1=4, C_minus1=1)
    >>> print(loss.value([1, -1], [0.0, 0.0]), loss.inverse_link(0.0).round(3))
    [1. 1.] 0.2
    """

    smooth = True

    def _value(self, y: Vector, f: Vector) -> Vector:
        return np.exp(-self._cost(y) * y * f)

    def _gradient(self, y: Vector, f: Vector) -> Vector:
        return -self._cost(y) * y * self._value(y, f)

    def _min_risk(self, eta: Vector) -> Vector:
        t = self.threshold
        return (eta / t) ** t * ((1.0 - eta) / (1.0 - t)) ** (1.0 - t)

    def _link(self, eta: Vector) -> Vector:
        return (logit(eta) + self._log_ratio) / (self.C1 + self.C_minus1)

    def _inverse_link(self, f: Vector) -> Vector:
        return expit((self.C1 + self.C_minus1) * f - self._log_ratio)

    def _conjugate(self, y: Vector, v: Vector) -> Vector:
        w = -v / self._cost(y)
        return np.where(w >= 0.0, xlogy(w, w) - w, np.inf)


@dataclass(frozen=True, eq=False)
class LogisticLoss(_TwoCostLoss):
    """Logistic loss weighted with the costs.

    ::

        y = +1:  C1 log(1 + e^-f)          y = -1:  C_{-1} log(1 + e^f)

        min_risk = p log((p + q) / p) + q log((p + q) / q),    link = log(p / q),    p = C1 eta,  q = C_{-1} (1 - eta)

    For unequal costs its minimum risk is of neither type: the largest risk is not at the threshold.

    Parameters
    ----------
    C1, C_minus1 : float, default=1.0
        Cost of a false negative and of a false positive, positive.

    Examples
    --------
    >>> from cssvm.losses import LogisticLoss
    >>> loss = LogisticLoss(C1=4, C_minus1=1)
    >>> print(loss.value([1, -1], [0.0, 0.0]).round(3), loss.inverse_link(0.0).round(3))
    [2.773 0.693] 0.2
    """

    smooth = True

    def _value(self, y: Vector, f: Vector) -> Vector:
        return self._cost(y) * np.logaddexp(0.0, -y * f)

    def _gradient(self, y: Vector, f: Vector) -> Vector:
        return -self._cost(y) * y * expit(-y * f)

    def _min_risk(self, eta: Vector) -> Vector:
        p, q = self.C1 * eta, self.C_minus1 * (1.0 - eta)
        large, small = np.maximum(p, q), np.minimum(p, q)
        # log((p + q) / x) for x = large and for x = small, so that neither loses digits or overflows.
        return xlog1py(large, small / large) + xlogy(small, p + q) - xlogy(small, small)

    def _link(self, eta: Vector) -> Vector:
        return logit(eta) + self._log_ratio

    def _inverse_link(self, f: Vector) -> Vector:
        return expit(f - self._log_ratio)

    def _conjugate(self, y: Vector, v: Vector) -> Vector:
        cost = self._cost(y)
        w = -v / cost
        inside = (w >= 0.0) & (w <= 1.0)
        return np.where(inside, cost * (xlogy(w, w) + xlogy(1.0 - w, 1.0 - w)), np.inf)
