"""Pair steps (sequential minimal optimisation): one pair of variables at a time.

Maximise over beta   p'beta - 1/2 beta'K beta,   sum(beta) fixed,   lower <= beta <= upper,   given G = p - K beta.

A step moves beta_i up and beta_j down by d, with i the variable of largest gradient among those that may grow and j
the one among those that may shrink that promises the largest gain (G_i - G_j)^2 / (K_ii + K_jj - 2 K_ij)
(second-order selection; Fan, Chen and Lin 2005). The optimum along the pair is
d = (G_i - G_j) / (K_ii + K_jj - 2 K_ij), cut at the bounds.

Whether a variable may move is kept as a penalty added to its gradient (0, or `FORBIDDEN` away from selection), so
every pass is a plain maximum over contiguous numbers, which the compiler turns into vector instructions. Extremes are
kept per chunk: the position of a maximum is then looked for in one chunk only.
"""

from __future__ import annotations

import numpy as np

from .._types import Vector
from ..runtime.compiler import fmax, fmin, njit
from . import tuning

CHUNK = 64  # long enough to amortise a horizontal maximum, short enough to search in
FORBIDDEN = 1e30
MIN_CURVATURE = 1e-12  # stands in for K_ii + K_jj - 2 K_ij <= 0: equal rows, indefinite kernels


def update_by_pairs(
    kernel: np.ndarray,
    diagonal: np.ndarray,
    gradient: np.ndarray,
    beta: Vector,
    lower: Vector,
    upper: Vector,
    tol: float,
    limit: int,
) -> tuple[int, float]:
    """Take up to `limit` pair steps until the violation is at most `tol`; returns steps taken and violation left.

    kernel (q, q or more), diagonal (q,) and gradient (q,) are of one float type, beta, lower, upper (q,) float64.
    Compiled code does not hear Ctrl-C, so steps are taken a tenth of a second's worth at a time.
    """
    at_once = max(1, int(1e9 * tuning.UNNOTICED_SECONDS / tuning.PAIR_STEP.ns(len(beta))))
    taken = 0
    while True:
        allowed = min(at_once, limit - taken)
        steps, violation = _update_by_pairs(kernel, diagonal, gradient, beta, lower, upper, tol, allowed)
        taken += steps
        if steps < allowed or taken >= limit:
            return taken, float(violation)


@njit
def _extremes(gradient, growth, shrinkage):  # type: ignore[no-untyped-def]
    top, bottom = gradient.dtype.type(-FORBIDDEN), gradient.dtype.type(FORBIDDEN)
    for t in range(gradient.shape[0]):
        top = fmax(top, gradient[t] + growth[t])
        bottom = fmin(bottom, gradient[t] + shrinkage[t])
    return top, bottom


@njit
def _best_gain(gradient, shrinkage, row, diagonal, top, own):  # type: ignore[no-untyped-def]
    kind = gradient.dtype.type
    best = kind(-1.0)
    for t in range(gradient.shape[0]):
        difference = fmax(top - (gradient[t] + shrinkage[t]), kind(0.0))
        curvature = fmax(own + diagonal[t] - row[t] - row[t], kind(MIN_CURVATURE))
        best = fmax(best, difference * difference / curvature)
    return best


@njit
def _update_gradient(gradient, grown, shrunk, step):  # type: ignore[no-untyped-def]
    for t in range(gradient.shape[0]):
        gradient[t] -= step * (grown[t] - shrunk[t])


@njit
def _update_by_pairs(kernel, diagonal, gradient, beta, lower, upper, tol, max_steps):  # type: ignore[no-untyped-def]
    """As `update_by_pairs`, in one go."""
    kind = gradient.dtype.type
    q = gradient.shape[0]
    n_chunks = (q + CHUNK - 1) // CHUNK
    top_of, bottom_of = np.empty(n_chunks, gradient.dtype), np.empty(n_chunks, gradient.dtype)
    growth, shrinkage = np.zeros(q, gradient.dtype), np.zeros(q, gradient.dtype)
    for t in range(q):
        if beta[t] >= upper[t]:
            growth[t] = -FORBIDDEN
        if beta[t] <= lower[t]:
            shrinkage[t] = FORBIDDEN
    steps = 0
    while True:
        for c in range(n_chunks):
            part = slice(c * CHUNK, min(q, (c + 1) * CHUNK))
            top_of[c], bottom_of[c] = _extremes(gradient[part], growth[part], shrinkage[part])
        first = np.argmax(top_of)
        top = top_of[first]
        violation = top - bottom_of.min()
        if violation <= tol or steps >= max_steps:
            return steps, violation

        i = first * CHUNK
        while gradient[i] + growth[i] != top:
            i += 1
        row, own = kernel[i], diagonal[i]
        best, chunk = kind(-1.0), 0
        for c in range(n_chunks):
            part = slice(c * CHUNK, min(q, (c + 1) * CHUNK))
            gain = _best_gain(gradient[part], shrinkage[part], row[part], diagonal[part], top, own)
            if gain > best:
                best, chunk = gain, c
        j = chunk * CHUNK
        for t in range(chunk * CHUNK, min(q, (chunk + 1) * CHUNK)):
            one = slice(t, t + 1)
            if _best_gain(gradient[one], shrinkage[one], row[one], diagonal[one], top, own) == best:
                j = t
                break

        curvature = max(np.float64(own) + np.float64(diagonal[j]) - 2.0 * np.float64(row[j]), MIN_CURVATURE)
        step = (np.float64(gradient[i]) - np.float64(gradient[j])) / curvature
        room_up, room_down = upper[i] - beta[i], beta[j] - lower[j]
        step = min(step, room_up, room_down)
        beta[i] = upper[i] if step == room_up else beta[i] + step
        beta[j] = lower[j] if step == room_down else beta[j] - step
        growth[i] = 0.0 if beta[i] < upper[i] else -FORBIDDEN
        growth[j] = 0.0 if beta[j] < upper[j] else -FORBIDDEN
        shrinkage[i] = 0.0 if beta[i] > lower[i] else FORBIDDEN
        shrinkage[j] = 0.0 if beta[j] > lower[j] else FORBIDDEN
        _update_gradient(gradient, row, kernel[j], kind(step))
        steps += 1
