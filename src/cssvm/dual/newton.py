"""Newton steps on the free variables: rounds that fix many variables at once, and the active-set finish.

With F the free variables the optimum keeps G constant on F. The step that achieves it solves

    K_FF d + b 1 = G_F,   1'd = 0

`update_by_round` lets violators at a bound into F, fixes the variables that d takes past a bound there and solves for
the others again; what is left is clipped, balanced, and followed as far as the objective grows. Many variables change
sides in one round, which is what pair steps cannot do: for large C they need a hundred thousand steps where five rounds
do. It may fail: where K_FF is close to singular d leads far out.

`update_to_optimum` moves along d up to the first bound. A variable that reaches its bound leaves F. After a full step,
variables at a bound whose gradient lies on the wrong side of the level enter F. Every step ascends, so stopping early
is safe.

Rounds solve the system in compiled code, without the GIL: SciPy's `cho_factor` and `cho_solve` use the same LAPACK, but
their overhead of 60 microseconds is more than a system of a hundred variables takes. The finish uses SciPy, so that the
first fit after installation compiles no Newton code.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._types import Mask, Vector
from ..runtime.compiler import njit
from ..runtime.sums import update_row_sum
from . import tuning
from .optimality import is_free, level
from .problem import BALANCED, DualProblem

RIDGES = {4: 2e-6, 8: 1e-10}  # by bytes of a kernel value, of the mean diagonal: above the rounding errors of K_FF
PRECISION = 1e-12  # of the decision values' scale, where rounding errors of G begin
BALANCING = 50  # passes that share out an imbalance over the room left; each takes all of it but for rounding


def ridge_for(kernel: np.ndarray, diagonal: Vector) -> float:
    """What is added to the diagonal of K_FF: equal rows make it singular."""
    return RIDGES[kernel.itemsize] * float(np.abs(diagonal).mean())


def finish_ns(n: int, n_steps: int) -> float:
    """Nanoseconds that the active-set finish of n variables may take after `n_steps` pair steps."""
    return max(1e9 * tuning.UNNOTICED_SECONDS, tuning.FINISH_SHARE * n_steps * tuning.PAIR_STEP.ns(n))


def update_by_round(
    kernel: np.ndarray, beta: Vector, gradient: Vector, problem: DualProblem, tol: float, ridge: float
) -> float:
    """One round, given K (n, n or more); returns the share of its direction that was followed, 0 if it does not ascend.

    It costs up to `tuning.FIXING_TRIALS` factorisations of K_FF.
    """
    entering = tuning.TOLERANCE_SHARE * tol
    return float(
        _update_by_round(kernel, beta, gradient, problem.lower, problem.upper, entering, tuning.FIXING_TRIALS, ridge)
    )


def update_to_optimum(
    kernel: np.ndarray, beta: Vector, gradient: Vector, problem: DualProblem, ridge: float, budget_ns: float
) -> bool:
    """The active-set finish, given K (n, n or more) float64; True if the optimum was reached to rounding.

    Steps are taken until they have used up `budget_ns`; each factorises K_FF, and a variable reaches or leaves its
    bound. Repeated steps remove what the ridge distorts.
    """
    lower, upper = problem.lower, problem.upper
    free = is_free(beta, problem)
    precision = PRECISION * (1.0 + np.abs(kernel.diagonal()).max() * np.abs(beta).max())
    previous = np.inf
    while budget_ns > 0:
        members = np.flatnonzero(free)
        budget_ns -= tuning.NEWTON.ns(len(members), len(beta), 1)
        if len(members) > 1:
            # G less its mean: near the optimum the right-hand side is then small, and so are errors relative to it.
            rows = kernel[members, : len(beta)]
            try:
                direction = _finish_direction(rows[:, members], gradient[members] - gradient[members].mean(), ridge)
            except LinAlgError:  # an indefinite kernel
                return False
            room_down, room_up = lower[members] - beta[members], upper[members] - beta[members]
            with np.errstate(divide="ignore", invalid="ignore"):
                change, blocked = up_to_first_bound.py_func(direction, room_down, room_up)
            beta[members] += change
            beta[members[blocked]] = np.where(direction > 0.0, upper[members], lower[members])[blocked]
            gradient -= change @ rows
            if blocked.any():
                free[members[blocked]] = False
                continue
        residual, wrong = _errors(beta, gradient, free, problem)
        if max(residual, wrong.max()) <= precision:
            return True
        if wrong.max() > precision:
            free |= wrong > 0.5 * wrong.max()
            previous = np.inf
        elif residual > 0.5 * previous:
            return False  # rounding errors, not variables, are what is left
        else:
            previous = residual
    return False


def _errors(beta: Vector, gradient: Vector, free: Mask, problem: DualProblem) -> tuple[float, Vector]:
    """Largest distance of a free variable's gradient from the level, and by how much the others violate, (n,)."""
    lower, upper = problem.lower, problem.upper
    above = gradient - level(beta, gradient, lower, upper)
    wrong = np.where(beta <= lower, above, 0.0)
    np.maximum(wrong, np.where(beta >= upper, -above, 0.0), out=wrong)
    wrong[lower == upper] = 0.0
    return float(np.abs(above[free]).max(initial=0.0)), wrong


def _finish_direction(block: np.ndarray, residual: Vector, ridge: float) -> Vector:
    """`newton_direction` with sum 0 for K_FF given as `block`, by SciPy; raises LinAlgError.

    A finish is a few steps of a small fit: what compiled code would save takes seconds to compile.
    """
    shifted = block.copy()
    shifted.flat[:: len(shifted) + 1] += ridge
    factor = cho_factor(shifted, overwrite_a=True, check_finite=False)
    sides = cho_solve(factor, np.column_stack([residual, np.ones(len(residual))]), check_finite=False).T
    direction = constrained.py_func(sides[0], sides[1], 0.0)
    return direction - direction.mean()


@njit
def constrained(solved, ones, total):  # type: ignore[no-untyped-def]
    """The d with K d + b 1 = r and sum(d) = total, from K^-1 r and K^-1 1."""
    return solved - ((solved.sum() - total) / ones.sum()) * ones


@njit
def newton_direction(kernel, members, residual, total, ridge):  # type: ignore[no-untyped-def]
    """The d with (K_FF + ridge I) d + b 1 = residual and sum(d) = total; empty if the matrix is not positive definite.

    members (m,) are the variables of F, residual (m,) is the gradient they are to lose, up to a constant.
    """
    m = len(members)
    block, sides = np.empty((m, m)), np.ones((2, m))
    for a in range(m):
        row, target = kernel[members[a]], block[a]
        for b in range(a + 1):  # Cholesky reads the lower triangle only
            target[b] = row[members[b]]
        target[a] += ridge
        sides[0, a] = residual[a]
    if not _solve_positive(block, sides):
        return np.empty(0)
    return constrained(sides[0], sides[1], total)


@njit
def _solve_positive(matrix, sides):  # type: ignore[no-untyped-def]
    """Overwrite each row of `sides` with the solution for it; False if `matrix` is not positive definite."""
    try:
        factor = np.linalg.cholesky(matrix)
    except Exception:
        return False
    n = len(factor)
    for side in range(len(sides)):
        x = sides[side]
        for i in range(n):
            x[i] = (x[i] - np.dot(factor[i, :i], x[:i])) / factor[i, i]
        for i in range(n - 1, -1, -1):
            x[i] /= factor[i, i]
            row, value = factor[i], x[i]
            for j in range(i):
                x[j] -= row[j] * value
    return True


@njit
def up_to_first_bound(direction, room_down, room_up):  # type: ignore[no-untyped-def]
    """As much of `direction` as there is room for, and which variables stop it; those are taken exactly to their bound.

    room_down <= 0 <= room_up is how far each variable is from its bounds.
    """
    room = np.where(direction > 0.0, room_up, room_down)
    reach = np.where(direction != 0.0, room / direction, np.inf)
    share = min(1.0, reach.min())
    blocked = (reach <= share) & (share < 1.0)
    return np.where(blocked, room, share * direction), blocked


@njit
def _response(kernel, members, change):  # type: ignore[no-untyped-def]
    """What the gradient of all n variables loses: sum_k change_k K[members_k], (n,)."""
    response = np.zeros(kernel.shape[0])
    update_row_sum(response, kernel, members, -change, 0)
    return response


@njit
def _update_moved(beta, gradient, lower, upper, members, change, response):  # type: ignore[no-untyped-def]
    """Move the members by `change`; what takes a variable to its bound takes it there exactly."""
    for k in range(len(members)):
        i = members[k]
        if change[k] == upper[i] - beta[i]:
            beta[i] = upper[i]
        elif change[k] == lower[i] - beta[i]:
            beta[i] = lower[i]
        else:
            beta[i] += change[k]
    for j in range(gradient.shape[0]):
        gradient[j] -= response[j]


@njit
def _update_by_round(kernel, beta, gradient, lower, upper, entering, n_trials, ridge):  # type: ignore[no-untyped-def]
    """As `update_by_round`."""
    members, middle = _members(beta, gradient, lower, upper, entering)
    if len(members) < 2:
        return 0.0
    room_down, room_up = lower[members] - beta[members], upper[members] - beta[members]
    change, direction = _bounded_change(
        kernel, members, gradient[members] - middle, room_down, room_up, ridge, n_trials
    )
    slope = np.dot(gradient[members], change) if _update_balanced(change, room_down, room_up) else 0.0
    if slope <= 0.0:  # a singular K_FF: its null space leads far out, and what is clipped need not ascend
        change, _ = up_to_first_bound(direction, room_down, room_up)
        slope = np.dot(gradient[members], change)
        if slope <= 0.0:
            return 0.0
    response = _response(kernel, members, change)
    curvature = np.dot(response[members], change)
    length = 1.0 if curvature <= slope else slope / curvature
    _update_moved(beta, gradient, lower, upper, members, length * change, length * response)
    return length


@njit
def _members(beta, gradient, lower, upper, entering):  # type: ignore[no-untyped-def]
    """Free variables and violators at a bound, with the level they are measured against."""
    middle = level(beta, gradient, lower, upper)
    members = np.empty(beta.shape[0], np.intp)
    count = 0
    for t in range(beta.shape[0]):
        grows, shrinks = beta[t] < upper[t], beta[t] > lower[t]
        if (
            (grows and shrinks)
            or (grows and gradient[t] > middle + entering)
            or (shrinks and gradient[t] < middle - entering)
        ):
            members[count] = t
            count += 1
    return members[:count], middle


@njit
def _bounded_change(kernel, members, residual, room_down, room_up, ridge, n_trials):  # type: ignore[no-untyped-def]
    """Change of the members that levels their gradient and sums to zero, those past a bound fixed at it.

    Returned with the direction that would do so if there were no bounds.
    """
    change, direction = np.zeros(len(members)), np.zeros(len(members))
    fixed = np.zeros(len(members), np.bool_)
    for trial in range(n_trials):
        inside, outside = np.flatnonzero(~fixed), np.flatnonzero(fixed)
        if len(inside) < 2:
            break
        left = residual[inside]
        for a in range(len(inside)):
            row = kernel[members[inside[a]]]
            for k in outside:
                left[a] -= np.float64(row[members[k]]) * change[k]
        wanted = newton_direction(kernel, members[inside], left, -change[outside].sum(), ridge)
        if len(wanted) == 0:
            break
        if trial == 0:
            direction[:] = wanted
        blocked = False
        for a in range(len(inside)):
            k = inside[a]
            change[k] = min(max(wanted[a], room_down[k]), room_up[k])
            if change[k] != wanted[a]:
                fixed[k] = blocked = True
        if not blocked:
            break
    return change, direction


@njit
def _update_balanced(change, room_down, room_up):  # type: ignore[no-untyped-def]
    """Make `change` sum to zero by taking from each entry in proportion to its room; False if there is not enough."""
    for _ in range(BALANCING):
        excess = change.sum()
        if abs(excess) <= BALANCED * np.abs(change).sum():
            return True
        room = (change - room_down).sum() if excess > 0.0 else (room_up - change).sum()
        if room <= 0.0:
            return False
        share = min(1.0, abs(excess) / room)
        for k in range(len(change)):
            change[k] += share * ((room_down[k] - change[k]) if excess > 0.0 else (room_up[k] - change[k]))
    return abs(change.sum()) <= 10.0 * BALANCED * np.abs(change).sum()
