"""Active-set Newton finish: from an almost optimal beta to the optimum in a few steps.

With F the free variables (strictly inside their bounds) the optimum keeps G constant on F: solve

    K_FF d + b 1 = G_F,   1'd = 0

and move beta_F by d, as far as the bounds allow. A variable that reaches its bound leaves F. After a full step,
variables at a bound whose gradient lies on the wrong side of b enter F. Every step ascends, so stopping early is safe.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .problem import DualProblem

STEP_WORK = 20  # a pair step on n variables takes the time of this many times n floating-point operations of a round
RIDGE = 1e-10  # of the mean diagonal: equal rows make K_FF singular; repeated steps remove what the ridge distorts
PRECISION = 1e-12  # of the decision values' scale, where rounding errors of G begin


def polish(kernel: np.ndarray, problem: DualProblem, beta: np.ndarray, gradient: np.ndarray, work: float) -> bool:
    """Improve `beta` and `gradient` in place, given all of K (n, n); True if the optimum was reached to rounding.

    Rounds are made until they have taken `work` floating-point operations; each factorises K_FF, and a variable reaches
    or leaves its bound.
    """
    lower, upper = problem.lower, problem.upper
    free = (beta > lower) & (beta < upper)
    precision = PRECISION * (1.0 + np.abs(kernel.diagonal()).max() * np.abs(beta).max())
    previous = np.inf
    while work > 0:
        members = np.flatnonzero(free)
        work -= len(members) ** 3 / 3 + 8 * len(members) * len(beta)
        if len(members) > 1:
            block = kernel[members]
            try:
                direction = _newton_direction(block[:, members], gradient[members])
            except LinAlgError:  # an indefinite kernel
                return False
            if not _update_along(direction, members, block, problem, beta, gradient, free):
                continue
        level = _level(gradient, beta, free, problem)
        residual = np.abs(gradient[free] - level).max(initial=0.0)
        wrong = np.where(beta <= lower, gradient - level, 0.0)
        np.maximum(wrong, np.where(beta >= upper, level - gradient, 0.0), out=wrong)
        wrong[lower == upper] = 0.0
        worst = max(residual, wrong.max())
        if worst <= precision:
            return True
        if wrong.max() > precision:
            free |= wrong > 0.5 * wrong.max()
            previous = np.inf
        elif residual > 0.5 * previous:
            return False  # rounding errors, not variables, are what is left
        else:
            previous = residual
    return False


def _newton_direction(kernel: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The d with K d + b 1 = G and sum(d) = 0.

    G enters less its mean: near the optimum the right-hand side is then small, and so are errors relative to it.
    """
    shifted = kernel.copy()
    shifted.flat[:: len(shifted) + 1] += RIDGE * np.abs(kernel.diagonal()).mean()
    factor = cho_factor(shifted, overwrite_a=True, check_finite=False)
    target, ones = cho_solve(
        factor, np.column_stack([gradient - gradient.mean(), np.ones(len(kernel))]), check_finite=False
    ).T
    direction: np.ndarray = target - (target.sum() / ones.sum()) * ones
    return direction - direction.mean()


def _update_along(direction, members, block, problem, beta, gradient, free):  # type: ignore[no-untyped-def]
    """Move along `direction` up to the first bound; False if a bound was in the way."""
    room = np.where(direction > 0, problem.upper[members], problem.lower[members]) - beta[members]
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(direction != 0, room / direction, np.inf)
    step = min(1.0, reach.min())
    beta[members] += step * direction
    gradient -= (step * direction) @ block
    blocked = (reach <= step) & (step < 1.0)
    bound = np.where(direction > 0, problem.upper[members], problem.lower[members])
    beta[members[blocked]] = bound[blocked]
    free[members[blocked]] = False
    return not blocked.any()


def _level(gradient: np.ndarray, beta: np.ndarray, free: np.ndarray, problem: DualProblem) -> float:
    """The common gradient of the free variables; without any, the middle of the interval the others leave."""
    if free.any():
        return float(gradient[free].mean())
    top = gradient[beta < problem.upper].max(initial=-np.inf)
    bottom = gradient[beta > problem.lower].min(initial=np.inf)
    return float(0.5 * (top + bottom)) if np.isfinite(top + bottom) else 0.0
