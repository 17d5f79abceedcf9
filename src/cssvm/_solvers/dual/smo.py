"""SMO steps (sequential minimal optimisation): change one pair of variables at a time.

Maximise over beta   p'beta - 1/2 beta'K beta,   sum(beta) fixed,   lower <= beta <= upper,   given G = p - K beta.

A step moves beta_i up and beta_j down by d, with i the variable of largest gradient among those that can increase
and j the one among those that can decrease that promises the largest gain (G_i - G_j)^2 / (K_ii + K_jj - 2 K_ij)
(second-order selection; Fan, Chen and Lin 2005). The optimum along the pair is
d = (G_i - G_j) / (K_ii + K_jj - 2 K_ij), cut at the bounds.

Whether a variable may move is kept as a penalty added to its gradient (0 or `FORBIDDEN`), so that every pass is a
plain maximum, for vector instructions. Extremes are kept per chunk: a maximum is then looked for in one chunk only.
"""

from __future__ import annotations

import numpy as np

from ..._core.types import Vector
from ..._runtime.compiler import fmax, fmin, njit
from . import tuning

CHUNK = 64  # long enough to amortise a horizontal maximum, short enough to search in
FORBIDDEN = np.inf  # added to a gradient, keeps its variable from being selected
ONE = np.uintp(1)
MIN_CURVATURE = 1e-12  # stands in for K_ii + K_jj - 2 K_ij <= 0: equal rows, indefinite kernels


def update_by_smo(
    kernel: np.ndarray,
    diagonal: np.ndarray,
    gradient: np.ndarray,
    beta: Vector,
    lower: Vector,
    upper: Vector,
    tol: float,
    limit: int,
) -> tuple[int, float]:
    """Take up to `limit` SMO steps until the violation is at most `tol`; returns steps taken and violation left.

    kernel (q, q or more), diagonal (q,) and gradient (q,) are of one float type, beta, lower, upper (q,) float64.
    Compiled code ignores Ctrl-C, so it is called for a tenth of a second at a time.
    """
    at_once = max(1, int(1e9 * tuning.UNNOTICED_SECONDS / tuning.SMO_STEP.ns(len(beta))))
    penalties = np.zeros((2, len(beta)), gradient.dtype)
    penalties[0, beta >= upper] = -FORBIDDEN
    penalties[1, beta <= lower] = FORBIDDEN
    taken = 0
    while True:
        allowed = min(at_once, limit - taken)
        steps, violation = _update_by_smo(kernel, diagonal, gradient, penalties, beta, lower, upper, tol, allowed)
        taken += steps
        if steps < allowed or taken >= limit:
            return taken, float(violation)


# Loops over a chunk run from `first` to `last`, unsigned: Numba looks at every signed index for a minus sign.


@njit(inline="always")
def _extremes(gradient, growth, shrinkage, t, last):  # type: ignore[no-untyped-def]
    kind = gradient.dtype.type
    top, bottom = kind(-FORBIDDEN), kind(FORBIDDEN)
    while t < last:
        top = fmax(top, gradient[t] + growth[t])
        bottom = fmin(bottom, gradient[t] + shrinkage[t])
        t += ONE
    return top, bottom


@njit(inline="always")
def _best_gain(gradient, shrinkage, row, diagonal, top, own, t, last):  # type: ignore[no-untyped-def]
    kind = gradient.dtype.type
    best = kind(-1.0)
    while t < last:
        difference = fmax(top - (gradient[t] + shrinkage[t]), kind(0.0))
        curvature = fmax(own + diagonal[t] - row[t] - row[t], kind(MIN_CURVATURE))
        best = fmax(best, difference * difference / curvature)
        t += ONE
    return best


@njit(inline="always")
def _update_gradient(gradient, grown, shrunk, step):  # type: ignore[no-untyped-def]
    for t in range(gradient.shape[0]):
        gradient[t] -= step * (grown[t] - shrunk[t])


@njit
def _update_by_smo(kernel, diagonal, gradient, penalties, beta, lower, upper, tol, max_steps):  # type: ignore[no-untyped-def]
    """`update_by_smo` without interruption."""
    kind = gradient.dtype.type
    q = gradient.shape[0]
    growth, shrinkage = penalties[0], penalties[1]
    n_chunks = (q + CHUNK - 1) // CHUNK
    steps = 0
    while True:
        chunk, top, bottom = 0, kind(-FORBIDDEN), kind(FORBIDDEN)
        for c in range(n_chunks):
            first, last = np.uintp(c * CHUNK), np.uintp(min(q, c * CHUNK + CHUNK))
            high, low = _extremes(gradient, growth, shrinkage, first, last)
            if high > top:
                top, chunk = high, c
            bottom = fmin(bottom, low)
        violation = top - bottom
        if violation <= tol or steps >= max_steps:
            return steps, violation

        i = chunk * CHUNK
        while i < q - 1 and gradient[i] + growth[i] != top:
            i += 1
        row, own = kernel[i], diagonal[i]
        best = kind(-1.0)
        for c in range(n_chunks):
            first, last = np.uintp(c * CHUNK), np.uintp(min(q, c * CHUNK + CHUNK))
            gain = _best_gain(gradient, shrinkage, row, diagonal, top, own, first, last)
            if gain > best:
                best, chunk = gain, c
        j = chunk * CHUNK
        while j < q - 1:
            place = np.uintp(j)
            if _best_gain(gradient, shrinkage, row, diagonal, top, own, place, place + ONE) == best:
                break
            j += 1

        curvature = fmax(np.float64(own) + np.float64(diagonal[j]) - 2.0 * np.float64(row[j]), MIN_CURVATURE)
        room_up, room_down = upper[i] - beta[i], beta[j] - lower[j]
        step = (np.float64(gradient[i]) - np.float64(gradient[j])) / curvature
        step = fmin(step, fmin(room_up, room_down))
        beta[i] = upper[i] if step == room_up else beta[i] + step
        beta[j] = lower[j] if step == room_down else beta[j] - step
        for t in (i, j):
            growth[t] = 0.0 if beta[t] < upper[t] else -FORBIDDEN
            shrinkage[t] = 0.0 if beta[t] > lower[t] else FORBIDDEN
        _update_gradient(gradient, row, kernel[j], kind(step))
        steps += 1
