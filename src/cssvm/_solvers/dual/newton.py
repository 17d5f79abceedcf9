"""Newton steps on the free variables: many variables at once, and the exact active-set finish.

With F the free variables the optimum keeps G constant on F. The direction that achieves it solves

    K_FF d + b 1 = G_F,   1'd = 0

A step of `NewtonSteps` adds violators at a bound to F, fixes the variables that d takes past a bound there and solves
for the others again; the rest is clipped, balanced, and shortened if the objective would decrease. Where K_FF is close
to singular d is too long, and the step fails. Large systems are factorised once for many steps (`bordered_kkt.py`).

`update_to_optimum` moves along d up to the first bound. A variable that reaches its bound leaves F. After a full step,
variables at a bound whose gradient lies on the wrong side of the level enter F. Every step ascends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import LinAlgError

from ..._core.types import Mask, RowNumbers, Vector
from ..._runtime.compiler import POSV, njit, solve_positive
from ..._runtime.sums import update_minus_rows
from ..certificate import DualProblem, is_free, level, update_balanced
from . import tuning
from .bordered_kkt import BorderedKKT

RIDGES = {4: 2e-6, 8: 1e-10}  # by bytes of a kernel value, of the mean diagonal: above the rounding errors of K_FF
PRECISION = 1e-12  # of the decision values' scale, where rounding errors of G begin
FULL_STEP = 1.3  # curvature over slope up to which a full step, which ends at bounds, gains nearly as much as the best


def ridge_for(kernel: np.ndarray, diagonal: Vector) -> float:
    """What is added to the diagonal of K_FF, which equal samples make singular."""
    return RIDGES[kernel.itemsize] * float(np.abs(diagonal).mean())


class NewtonSteps:
    """Newton steps, given K (n, n or more); they update `beta` and its `gradient`, (n,) float64.

    Systems are solved in `dtype`, or in float64 if that fails; `kkt`, of earlier steps, is used as long as it pays.
    """

    def __init__(
        self,
        kernel: np.ndarray,
        beta: Vector,
        gradient: Vector,
        problem: DualProblem,
        ridge: float,
        dtype: DTypeLike = np.float64,
        kkt: BorderedKKT | None = None,
    ):
        self.kernel, self.beta, self.gradient, self.problem = kernel, beta, gradient, problem
        self.ridge, self.dtype = ridge, np.dtype(dtype)
        self.kkt = kkt

    def is_factorised(self, tol: float) -> bool:
        """Whether the next step needs no new factorisation."""
        if self.kkt is None:
            return False
        _, moving = self._moving(tol)
        if np.count_nonzero(moving) <= tuning.SMALL_SYSTEM:
            return False
        return self.kkt.is_close_to(moving) and not self.kkt.is_refactorising_cheaper(moving)

    def take(self, tol: float) -> float:
        """Take one step; returns the share of its direction that was followed, 0 if it does not ascend."""
        _, lower, upper = self.problem
        middle, moving = self._moving(tol)
        members = np.flatnonzero(moving)
        if len(members) < 2:
            return 0.0
        room_down, room_up = (lower - self.beta)[members], (upper - self.beta)[members]
        if len(members) <= tuning.SMALL_SYSTEM:
            change, direction = self._small_change(members, self.gradient[members] - middle, room_down, room_up)
        else:
            try:
                change, direction = self._bounded_change(moving, self.gradient - middle)
            except LinAlgError:  # an indefinite kernel, or a border that is singular
                self.kkt = None
                return 0.0
            change, direction = change[members], direction[members]
        slope = self.gradient[members] @ change if update_balanced(change, room_down, room_up) else 0.0
        if slope <= 0.0:  # a singular K_FF: its null space leads far out, and what is clipped need not ascend
            change, _ = up_to_first_bound(direction - direction.mean(), room_down, room_up)
            slope = self.gradient[members] @ change
            if slope <= 0.0:
                return 0.0
        response = np.zeros(len(self.beta))
        update_minus_rows(response, self.kernel, members, -change)
        curvature = response[members] @ change
        length = 1.0 if curvature <= FULL_STEP * slope else float(slope / curvature)
        change *= length
        beta = self.beta[members] + change
        beta = np.where(change == room_up, upper[members], np.where(change == room_down, lower[members], beta))
        self.beta[members] = beta
        self.gradient -= length * response
        return length

    def _moving(self, tol: float) -> tuple[float, Mask]:
        """The level, and a mask (n,) of the free variables and of those at a bound that violate optimality there."""
        middle = level(self.beta, self.gradient, self.problem.lower, self.problem.upper)
        above, entering = self.gradient - middle, tuning.TOLERANCE_SHARE * tol
        grows, shrinks = self.beta < self.problem.upper, self.beta > self.problem.lower
        return middle, (grows & (shrinks | (above > entering))) | (shrinks & (above < -entering))

    def _bounded_change(self, moving: Mask, residual: Vector) -> tuple[Vector, Vector]:
        """Change (n,) that levels the gradient of those `moving`, within bounds, and the same without bounds."""
        room_down, room_up = self.problem.lower - self.beta, self.problem.upper - self.beta
        change = np.zeros(len(moving))
        direction = change
        for _ in range(tuning.LARGE_FIXING_TRIALS):
            if np.count_nonzero(moving) < 2:
                break
            self._kkt_for(moving).update_change(change, residual, moving)
            direction = change.copy() if direction is change else direction
            past = moving & ((change < room_down) | (change > room_up))
            if not past.any():
                break
            change[past] = np.where(change[past] > 0.0, room_up[past], room_down[past])
            moving = moving & ~past
        return change, direction

    def _small_change(
        self, members: RowNumbers, residual: Vector, room_down: Vector, room_up: Vector
    ) -> tuple[Vector, Vector]:
        """`_bounded_change` of the members alone, compiled; zero if the matrix is not positive definite."""
        m, n_trials = len(members), tuning.FIXING_TRIALS
        while True:
            change, direction = np.zeros(m), np.zeros(m)
            rooms = np.arange(m), np.empty(m, np.intp), np.empty((m, m), self.dtype), np.empty((2, m), self.dtype)
            known = self.kernel, members, residual, room_down, room_up, self.ridge, n_trials
            solved = _update_small_change(change, direction, *known, *rooms, np.empty(6, np.int32), POSV[self.dtype])
            if solved or self.dtype == np.float64:
                return change, direction
            self.dtype = np.dtype(np.float64)

    def _kkt_for(self, moving: Mask) -> BorderedKKT:
        """The system of the `moving` variables: the last one with a border, or a new one if that is less work."""
        if self.kkt is None or self.kkt.is_refactorising_cheaper(moving):
            self.kkt = None  # free its memory
            members = np.flatnonzero(moving)
            try:
                self.kkt = BorderedKKT(self.kernel, members, self.ridge, self.dtype)
            except LinAlgError:
                if self.dtype == np.float64:
                    raise
                self.dtype = np.dtype(np.float64)
                self.kkt = BorderedKKT(self.kernel, members, self.ridge, self.dtype)
        return self.kkt


@njit
def _update_small_change(  # type: ignore[no-untyped-def]
    change, direction, kernel, members, residual, room_down, room_up, ridge, n_trials,
    inside, fixed, block, sides, numbers, address,
):  # fmt: skip
    """`NewtonSteps._small_change`, in memory allocated outside; False if the first matrix is not positive definite."""
    n = n_before = len(inside)
    for _ in range(n_trials):
        n_fixed = len(inside) - n
        excess, ones = 0.0, 0.0
        for j in range(n_fixed):
            excess += change[fixed[j]]
        for i in range(n):
            row, target, value = kernel[members[inside[i]]], block[i], residual[inside[i]]
            for j in range(i + 1):
                target[j] = row[members[inside[j]]]
            target[i] += ridge
            for j in range(n_fixed):
                value -= row[members[fixed[j]]] * change[fixed[j]]
            sides[0, i] = value
            sides[1, i] = 1.0
        if n < 2 or not solve_positive(block, n, sides, numbers, address):
            return n_fixed > 0
        for i in range(n):
            excess += sides[0, i]
            ones += sides[1, i]
        n_before, n = n, 0
        for i in range(n_before):
            k, wanted = inside[i], sides[0, i] - excess / ones * sides[1, i]
            if n_fixed == 0:
                direction[k] = wanted
            if wanted < room_down[k]:
                change[k] = room_down[k]
            elif wanted > room_up[k]:
                change[k] = room_up[k]
            else:
                change[k] = wanted
                inside[n] = k
                n += 1
                continue
            fixed[len(inside) - n_before + i - n] = k
        if n == n_before:
            break
    return True


def up_to_first_bound(direction: Vector, room_down: Vector, room_up: Vector) -> tuple[Vector, Mask]:
    """The part of `direction` that stays within room_down <= 0 <= room_up, and a mask of the variables that stop it."""
    room = np.where(direction > 0.0, room_up, room_down)
    reach = np.full(len(direction), np.inf)
    np.divide(room, direction, out=reach, where=direction != 0.0)
    share = min(1.0, float(reach.min()))
    blocked = (reach <= share) & (share < 1.0)
    return np.where(blocked, room, share * direction), blocked


def update_to_optimum(
    kernel: np.ndarray, beta: Vector, gradient: Vector, problem: DualProblem, ridge: float, budget_ns: float, tol: float
) -> tuple[bool, float]:
    """The active-set finish, given K (n, n or more) float64; returns whether it is optimal, and its work in ns.

    Each step factorises K_FF until `budget_ns` is used; repeated steps remove what the ridge distorts.
    """
    lower, upper = problem.lower, problem.upper
    free = is_free(beta, problem)
    precision = min(0.5 * tol, PRECISION * (1.0 + np.abs(kernel.diagonal()).max() * np.abs(beta).max()))
    previous, work_ns = np.inf, 0.0
    while work_ns < budget_ns:
        members = np.flatnonzero(free)
        work_ns += tuning.STEP_OVERHEAD_NS + tuning.NEWTON.ns(len(members), len(beta))
        if len(members) > 1:
            # G less its mean: near the optimum the right-hand side is then small, and so are errors relative to it.
            change = np.zeros(len(beta))
            try:
                kkt = BorderedKKT(kernel, members, ridge, np.float64)
            except LinAlgError:  # an indefinite kernel
                break
            kkt.update_change(change, gradient - gradient[members].mean(), free)
            direction = change[members] - change[members].mean()
            room_down, room_up = lower[members] - beta[members], upper[members] - beta[members]
            change, blocked = up_to_first_bound(direction, room_down, room_up)
            beta[members] += change
            beta[members[blocked]] = np.where(direction > 0.0, upper[members], lower[members])[blocked]
            gradient -= change @ kernel[members, : len(beta)]
            if blocked.any():
                free[members[blocked]] = False
                continue
        # Largest distance of a free variable's gradient from the level, and by how much the others violate.
        above = gradient - level(beta, gradient, lower, upper)
        residual, wrong = float(np.abs(above[free]).max(initial=0.0)), np.where(beta <= lower, above, 0.0)
        np.maximum(wrong, np.where(beta >= upper, -above, 0.0), out=wrong)
        wrong[lower == upper] = 0.0
        if max(residual, wrong.max()) <= precision:
            return True, work_ns
        if wrong.max() > precision:
            free |= wrong > 0.5 * wrong.max()
            previous = np.inf
        elif residual > 0.5 * previous:
            break  # rounding errors, not variables, are what is left
        else:
            previous = residual
    return False, work_ns
