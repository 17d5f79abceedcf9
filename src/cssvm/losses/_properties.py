"""Properties of minimum risks and links, compared with the zero-one loss, C*(eta) = min(C_1 eta, C_{-1} (1 - eta))."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad

from .._core.types import Vector
from .._core.validation import is_number
from ._base import Loss, positive_number, probabilities
from ._classical import ZeroOneLoss

# Distances e from the threshold, relative to the largest, at which risk types are checked; without the
# threshold itself, where formulas with sign(eta - t) have another value, and without 0 and 1, where many have none.
DISTANCES = np.concatenate([[1e-9], np.arange(1, 2000) / 2000])
RISK_TYPE_TOL = 1e-9  # difference of two risks, relative to the largest, up to which they count as equal

DENSITY_TOL = 1e-6  # up to which a density must integrate to 1
PANELS = 32  # of the quadrature between 0 and 1, so that it finds narrow peaks
SUBDIVISIONS = 500

SYMMETRY_ENDS = 1e-15  # the probability at either end of the range in which the symmetry of a link is checked
SYMMETRY_POINTS = 513


def risk_type(
    loss: Loss | Callable[[Vector], Vector], *, C1: float | None = None, C_minus1: float | None = None
) -> str | None:
    """Type of a minimum risk: how it resembles the one of the zero-one loss with the same costs.

    Both types have the largest risk at the threshold C_{-1} / (C_1 + C_{-1}); type II also has the symmetry
    C*(t - C_{-1} e) = C*(t + C_1 e). Only the ratio of the costs matters.

    Parameters
    ----------
    loss : Loss or callable
        A loss, or a vectorised minimum risk as a function of eta.
    C1, C_minus1 : float, default=None
        The costs. If None, those of the loss; required for a callable.

    Returns
    -------
    {"I", "II", None}
        The type; None if the largest risk is not at the threshold.

    Examples
    --------
    >>> from cssvm.losses import CostSensitiveHinge, ExponentialLoss, LogisticLoss, risk_type
    >>> [risk_type(loss(4, 2)) for loss in (ExponentialLoss, CostSensitiveHinge, LogisticLoss)]
    ['I', 'II', None]
    """
    C1, C_minus1 = _costs(loss, C1, C_minus1)
    min_risk = loss.min_risk if isinstance(loss, Loss) else loss
    threshold = C_minus1 / (C1 + C_minus1)
    below, above = min_risk(threshold * (1.0 - DISTANCES)), min_risk(1.0 - (1.0 - threshold) * (1.0 - DISTANCES))
    largest = max(np.max(below), np.max(above))
    if not np.isfinite(largest):
        raise ValueError(f"The minimum risk must be finite on (0, 1); the largest is {largest}. Correct the function.")
    if min(below[0], above[0]) < largest * (1.0 - RISK_TYPE_TOL):
        return None
    return "II" if np.abs(below - above).max() <= RISK_TYPE_TOL * largest else "I"


def bayes_gap(
    loss: Loss, eta: ArrayLike | Callable[[float], float], *, C1: float | None = None, C_minus1: float | None = None
) -> float:
    """Expected difference to the minimum risk of the zero-one loss, E[C*(eta) - min(C_1 eta, C_{-1} (1 - eta))].

    Parameters
    ----------
    loss : Loss
        The loss.
    eta : array-like, callable or frozen distribution
        Distribution of eta = P(y = +1 | x): a sample, a density on [0, 1], or an object with the method ``pdf`` such as
        ``scipy.stats.beta(2, 5)``.
    C1, C_minus1 : float, default=None
        Costs of the zero-one loss. If None, those of the loss.

    Returns
    -------
    float
        The gap. It depends on the scale of the loss.

    Examples
    --------
    >>> from cssvm.losses import HingeLoss, bayes_gap
    >>> round(bayes_gap(HingeLoss(), lambda eta: 1.0), 6)
    0.25
    """
    if not isinstance(loss, Loss):
        raise ValueError(f"loss must be a Loss; got {loss!r}. Pass for example LogisticLoss().")
    zero_one = ZeroOneLoss(*_costs(loss, C1, C_minus1))

    def gap(eta: Any) -> Any:
        return loss.min_risk(eta) - zero_one.min_risk(eta)

    density = getattr(eta, "pdf", eta)
    if callable(density):
        return _integrated(gap, density, (loss.threshold, zero_one.threshold))
    sample = probabilities(eta)  # type: ignore[arg-type]
    if sample.size == 0:
        raise ValueError("eta must hold at least one probability; got none. Pass a sample, or a density.")
    return float(np.mean(gap(sample)))


def link_symmetry(loss: Loss) -> float:
    """Largest deviation of a link from the symmetry f^-1(-v) = 2 t - f^-1(v) around the threshold t.

    It is sufficient for the Bayes rule with this threshold, not necessary: the log link has it for equal costs only.

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
    lower, upper = loss.link([SYMMETRY_ENDS, 1.0 - SYMMETRY_ENDS])
    v = np.linspace(0.0, min(-lower, upper), SYMMETRY_POINTS)
    return float(np.abs(loss.inverse_link(v) + loss.inverse_link(-v) - 2.0 * loss.threshold).max())


def _integrated(gap: Callable[[float], float], density: Callable[[float], float], kinks: tuple[float, ...]) -> float:
    """Integral of gap times density over [0, 1]."""
    breaks = np.unique([*np.linspace(0.0, 1.0, PANELS + 1)[1:-1], *kinks])

    def integral(function: Callable[[float], float]) -> float:
        return float(quad(function, 0.0, 1.0, points=breaks, limit=SUBDIVISIONS)[0])

    def checked(eta: float) -> float:
        value = float(density(eta))
        if not 0.0 <= value < np.inf:
            raise ValueError(f"eta must be a density, finite and not negative; it is {value} at {eta:.6g}. Correct it.")
        return value

    total = integral(checked)
    if not abs(total - 1.0) <= DENSITY_TOL:
        raise ValueError(
            f"eta must be a density on [0, 1]; it integrates to {total:.8g}, not to 1. Divide it by that, or truncate "
            "the distribution to [0, 1]."
        )
    return integral(lambda eta: checked(eta) * gap(eta))


def given_costs(C1: Any, C_minus1: Any) -> tuple[float, float] | None:
    """The two costs, or None if they are not given."""
    if (C1 is None) != (C_minus1 is None):
        raise ValueError(f"C1 and C_minus1 must be given together; got C1={C1!r}, C_minus1={C_minus1!r}. Pass both.")
    return None if C1 is None else (positive_number("C1", C1), positive_number("C_minus1", C_minus1))


def _costs(loss: Any, C1: Any, C_minus1: Any) -> tuple[float, float]:
    """The given costs, or else those of the loss."""
    given = given_costs(C1, C_minus1)
    if given is not None:
        return given
    if not isinstance(loss, Loss):
        raise ValueError(f"C1 and C_minus1 must be given with a bare minimum risk; got {loss!r} alone. Pass both.")
    C1, C_minus1 = loss.costs
    if not (is_number(C1) and is_number(C_minus1)):
        raise ValueError(
            "The costs of the loss must be two numbers; it has one for each sample. Pass C1 and C_minus1, or use the "
            "loss of a single sample."
        )
    return C1, C_minus1
