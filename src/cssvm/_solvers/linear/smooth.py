"""Minimising a smooth loss over a linear function by L-BFGS.

    min over w, b:   1/2 |w|^2 + C sum_i s_i loss(y_i, f(x_i)),    f(x) = w'x + b

With lambda = 1 / (C sum_i s_i), p_i = s_i / sum_j s_j and the weighted means and variances of the features, the problem
that L-BFGS sees is well conditioned:

    min over v:   lambda/2 |w|^2 + sum_i p_i loss(y_i, f(x_i)),
                  w_j = v_j / sqrt(lambda + var_j),    b = v_0 - w'mean
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from ..._core.types import Vector
from ..._kernels.base import feature_moments

OBJECTIVE_TOL = float(np.finfo(np.float64).eps)  # a step that changes the objective by rounding only is the last
LINE_SEARCH_STEPS = 50  # trial points of one line search: far more than the few it takes, for losses that explode
LARGEST_LOSS = 1e150  # however small the sample's weight: sums and products of such numbers are still finite
FARTHEST_SCORE = 2.0**60  # beyond which a loss is not evaluated; one that is still small there needs no guard
HALVINGS = 60  # that place the end of the guarded range to full precision


class SmoothSolution(NamedTuple):
    """Weights w and bias b, the minimum reached, and how L-BFGS ended."""

    coef: Vector
    bias: float
    objective: float
    converged: bool
    n_iter: int
    slope: float  # the largest left, in any of the scaled coordinates
    message: str  # why L-BFGS stopped


def minimise_smooth(
    loss: Any, features: Any, y: NDArray[Any], weights: Vector, *, C: float, tol: float, max_iter: int
) -> SmoothSolution:
    """Minimise the problem that opens this module over w and b.

    loss : value(y, f) and gradient(y, f) in f, smooth, finite at f = 0; features : (n_samples, n_features) float64
    array or CSR matrix; y : (n_samples,) in {-1, +1}; weights : (n_samples,) float64, positive; C : weight of the loss
    against the norm of w; tol : slope, in any scaled coordinate, at which to stop; max_iter : -1 for none
    """
    total = weights.sum()
    p, penalty = weights / total, 1.0 / (C * total)
    loss_and_slope = _guarded(loss, y, p)
    mean, variance = feature_moments(features, p)
    scale = np.sqrt(penalty + variance)

    def objective(v: Vector) -> tuple[float, Vector]:
        w = v[1:] / scale
        value, slope = loss_and_slope(features @ w + (v[0] - mean @ w))
        pull = p * slope
        gradient = penalty * w + features.T @ pull - mean * pull.sum()
        return float(penalty / 2 * (w @ w) + p @ value), np.concatenate([[pull.sum()], gradient / scale])

    result = minimize(
        objective,
        np.zeros(1 + features.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={
            "maxiter": max_iter if max_iter > 0 else np.iinfo(np.int32).max,
            "maxfun": np.iinfo(np.int32).max,
            "maxls": LINE_SEARCH_STEPS,
            "gtol": tol,
            "ftol": OBJECTIVE_TOL,
        },
    )
    w = result.x[1:] / scale
    return SmoothSolution(
        coef=w,
        bias=float(result.x[0] - mean @ w),
        objective=float(result.fun / penalty),
        converged=bool(result.success),
        n_iter=max(1, int(result.nit)),
        slope=float(np.abs(result.jac).max()),
        message=str(result.message),
    )


def _guarded(loss: Any, y: NDArray[Any], p: Vector) -> Callable[[Vector], tuple[Vector, Vector]]:
    """Loss and slope of each sample as a function of its score, continued by tangents before they overflow.

    At the minimum sum_i p_i loss_i is at most its value R at f = 0, hence loss_i <= R / p_i: a tangent that starts
    where loss_i = 2 R / p_i leaves every minimum in place. Each class has one range, by its sample of least weight.
    """
    start = float(p @ loss.value(y, np.zeros(len(y))))
    if not np.isfinite(start):
        raise ValueError(
            f"loss must be finite at f = 0; got a mean of {start} for loss={reprlib.repr(loss)}. Use a loss whose link "
            "is zero at its threshold."
        )
    level = 2 * start / max(p.min(), start / LARGEST_LOSS)
    low, high = (
        np.where(y > 0, _last_score(loss, 1, end, level), _last_score(loss, -1, end, level)) for end in (-1, 1)
    )

    def loss_and_slope(f: Vector) -> tuple[Vector, Vector]:
        inside = np.clip(f, low, high)
        slope = loss.gradient(y, inside)
        return loss.value(y, inside) + slope * (f - inside), slope

    return loss_and_slope


def _last_score(loss: Any, y: int, direction: int, level: float) -> float:
    """Largest score in this direction with a finite loss of at most `level`; infinite if there is none."""

    def stays(f: float) -> bool:
        with np.errstate(all="ignore"):
            return bool(loss.value(y, f) <= level and np.isfinite(loss.gradient(y, f)))

    inside, outside = 0.0, float(direction)
    while stays(outside):
        inside, outside = outside, 2 * outside
        if abs(outside) > FARTHEST_SCORE:
            return direction * np.inf
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if stays(middle) else (inside, middle)
    return inside
