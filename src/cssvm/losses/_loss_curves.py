"""The numbers of a picture of a loss: the losses over f, the minimum risk and the link over eta."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._core.types import Vector
from ._base import Loss
from ._classical import ZeroOneLoss
from ._hinge import CostSensitiveHinge

N_POINTS = 401  # of each curve, one for every pixel or two


class LossCurves(NamedTuple):
    """The numbers of one loss.

    Attributes
    ----------
    name : str
        Title of the row of panels.
    f, pos_loss, neg_loss : ndarray of shape (n_scores,)
        Scores, and the loss of y = +1 and of y = -1 at these.
    eta, min_risk, link : ndarray of shape (n_etas,)
        Probabilities of y = +1 from 0 to 1, the minimum conditional risk and the optimal score, which may be infinite.
    zero_one_risk : ndarray of shape (n_etas,)
        Minimum conditional risk of the zero-one loss with the same costs, min(C1 eta, C_minus1 (1 - eta)).
    threshold : float
        The eta above which +1 is predicted.
    costs : tuple of two floats
        C1 and C_minus1, the costs whose Bayes rule the loss implements.
    printed_risk : ndarray of shape (n_etas,) or None
        For `CostSensitiveHinge`, if it differs, the minimum risk as printed in the paper.
    """

    name: str
    f: Vector
    pos_loss: Vector
    neg_loss: Vector
    eta: Vector
    min_risk: Vector
    zero_one_risk: Vector
    link: Vector
    threshold: float
    costs: tuple[float, float]
    printed_risk: Vector | None = None


def loss_curves(loss: Loss, name: str, f_range: tuple[float, float]) -> LossCurves:
    """The loss on grids of scores and of probabilities, with points on both sides of possible jumps."""
    low, high = f_range
    if not (np.isfinite([low, high]).all() and low < high):
        raise ValueError(f"f_range must be two finite scores, the smaller first; got f_range={f_range!r}.")
    if np.size(loss.threshold) != 1:
        raise ValueError(
            f"A display shows a loss with one pair of costs; {type(loss).__name__} has {np.size(loss.threshold)}. "
            "Draw the loss of a single sample, for example HingeLoss(pos_slope=c)."
        )
    threshold = float(loss.threshold)
    f = np.linspace(low, high, N_POINTS)
    if low < 0 < high:
        f = np.union1d(f, [np.nextafter(0.0, -1.0), 0.0])
    eta = np.union1d(
        np.linspace(0.0, 1.0, N_POINTS), [np.nextafter(threshold, 0.0), threshold, np.nextafter(threshold, 1.0)]
    )
    C1, C_minus1 = (float(cost) for cost in loss.costs)
    printed = loss if isinstance(loss, CostSensitiveHinge) and loss.C_minus1 != 1.0 else None
    if printed is not None:
        eta = np.union1d(eta, printed.C_minus1 / (printed.C1 + printed.C_minus1))
    return LossCurves(
        name=name,
        f=f,
        pos_loss=np.asarray(loss.value(1, f)),
        neg_loss=np.asarray(loss.value(-1, f)),
        eta=eta,
        min_risk=np.asarray(loss.min_risk(eta)),
        zero_one_risk=np.asarray(ZeroOneLoss(C1, C_minus1).min_risk(eta)),
        link=np.asarray(loss.link(eta)),
        threshold=threshold,
        costs=(C1, C_minus1),
        printed_risk=None if printed is None else np.asarray(printed.printed_risk(eta)),
    )
