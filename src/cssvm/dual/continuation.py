"""Solutions for growing boxes, each begun where the last one ended, with the whole kernel matrix in memory.

For C_1 < C_2 < ... maximise   p'beta - 1/2 beta'K beta,   sum(beta) = 0,   C lower <= beta <= C upper.

From C to r C the solution is multiplied by t in [1, r], which keeps it feasible and costs no kernel value, as K beta is
multiplied as well: t = r where most variables that count rest at their bounds, and the best t otherwise. Pair steps
(`smo.py`) then find out which variables are free; where many rest at their bounds they are made among the others only,
on a copy of their part of K. Once they have cost as much as a Newton round would, Newton rounds
take over, and pair steps again should those not get ahead:

    K_FF d + b 1 = G_F,   1'd = 0          F: free variables and those at a bound that violate optimality

Variables that d would take past a bound are fixed there and the others solved for again; what is left is clipped,
balanced, and followed as far as the objective grows. Many variables change sides in one round, which is what pair
steps cannot do: for large C they need a hundred thousand steps where five rounds do.
"""

from __future__ import annotations

import numpy as np

from ..runtime.compiler import njit
from ..runtime.gather import update_gathered
from ..runtime.sums import update_row_sum
from . import certificate
from .polish import STEP_WORK, polish
from .problem import DualProblem, Status
from .smo import update_by_pairs

RIDGES = {4: 2e-6, 8: 1e-10}  # by bytes of a kernel value, of the mean diagonal: above the rounding errors of K_FF
TRIALS = 3  # times the variables past a bound are fixed and the others solved for again, in one round
ENTERING = 0.5  # share of the tolerance by which a variable at its bound must violate optimality to become free
MAX_ROUNDS = 30  # in a row: usual are 2 to 8
STUBBORN = 4.0  # times the patience at first, from which the active-set finish has a try
SHORT = 0.3  # a round cut to less than this of its length shows that pair steps are needed first
BALANCING = 50  # passes that share out an imbalance over the room left; each takes all of it but for rounding
FIRST_STEPS, NEXT_STEPS = 0.6, 0.25  # pair steps per variable before a round is thought of: from zero, from a solution
# Nanoseconds, of which only the ratio matters: a pair step, and a round with its factorisations and gradient update.
STEP_FIXED, STEP_EACH = 300.0, 0.75
ROUND_CUBE, ROUND_SQUARE, ROUND_UPDATE = 0.075, 7.5, 1.0
DRIFT = 0.1  # of the tolerance: estimated error of a float32 gradient past which it is computed anew
MAX_STEPS = 2000  # pair steps per variable after which a solution is given up
LARGE = 1500  # variables from which a pair step takes longer than what it has to do once
WORTH_COPYING = 0.5  # pair steps per variable that pay for a copy of the kernel matrix of the variables awake
WORTH_SLEEPING = 0.8  # share of the variables awake up to which the others are let sleep
DEEP = 0.5  # distance from leaving its bound, in violations, past which a variable sleeps
LOCAL_ACCURACY = 0.3  # share of the violation to which the variables awake are solved: the others move meanwhile
LONGEST_TURN = 4  # pair steps per variable at a time: who sleeps and what a round costs may have changed
STEPS_WORK = 1 << 29  # pair steps times size at a time, about half a second


class Continuation:
    """The state: `beta` and its `gradient` p - K beta, (n,) float64, for the boxes C * unit.

    Fresh memory is slow to touch, so who solves many problems may lend `room` for the copies of parts of the kernel
    matrix: a flat array of its type, of up to `room_needed(n)` numbers.
    """

    def __init__(self, kernel: np.ndarray, diagonal: np.ndarray, unit: DualProblem, room: np.ndarray | None = None):
        self.kernel, self.unit = kernel, unit
        self.diagonal = diagonal.astype(kernel.dtype)
        self.ridge = RIDGES[kernel.itemsize] * float(np.abs(diagonal).mean())
        self.C = 0.0
        self.beta = np.zeros(len(unit.linear))
        self.gradient = unit.linear.astype(np.float64, copy=True)
        self._room = np.empty(0, kernel.dtype) if room is None else room
        self._largest_box = float((unit.upper - unit.lower).max())
        self._variance = 0.0  # of the error that pair steps have left in the gradient

    @property
    def problem(self) -> DualProblem:
        """The dual problem at the present C."""
        return DualProblem(self.unit.linear, self.C * self.unit.lower, self.C * self.unit.upper)

    def advance(self, C: float, tol: float) -> Status:
        """Solve for boxes of `C`, at least the last one's, to a violation of at most `tol`."""
        n = len(self.beta)
        first_steps = 1 + int((NEXT_STEPS if self.C else FIRST_STEPS) * n)
        self._enlarge(C)
        _, lower, upper = self.problem
        total, limit = 0, MAX_STEPS * n
        while total < limit:
            steps, violation = self._take_turns(lower, upper, tol, limit - total, first_steps)
            total += steps + 1
            if violation <= tol and self._variance**0.5 <= DRIFT * tol:
                return Status.CONVERGED
            self._refresh()
        return Status.ITERATION_LIMIT

    def _take_turns(
        self, lower: np.ndarray, upper: np.ndarray, tol: float, limit: int, first_steps: int
    ) -> tuple[int, float]:
        """Pair steps and Newton rounds by turns down to a violation of `tol`; returns pair steps and violation."""
        n, taken, patience, count = len(self.beta), 0, 1.0, first_steps
        while True:
            steps, violation = self._take_pair_steps(lower, upper, tol, min(count, limit - taken))
            taken += steps
            if violation <= tol or taken >= limit:
                return taken, violation
            n_free = int(np.count_nonzero((self.beta > lower) & (self.beta < upper)))
            due = patience * _round_work(n_free, n) / (STEP_FIXED + STEP_EACH * n)
            if taken < due:
                count = min(int(due - taken), LONGEST_TURN * n, STEPS_WORK // n) + 1
                continue
            violation = self._take_rounds(lower, upper, tol)
            if violation > tol and patience >= STUBBORN:
                violation = self._finish(lower, upper, STEP_WORK * n * taken)
            if violation <= tol:
                return taken, violation
            patience *= 2.0
            count = first_steps

    def _take_pair_steps(self, lower: np.ndarray, upper: np.ndarray, tol: float, count: int) -> tuple[int, float]:
        """Up to `count` pair steps; returns their number and the violation left."""
        n = len(self.beta)
        if n >= LARGE and count >= WORTH_COPYING * n:
            bottom, top = bounds_of_bias(self.beta, self.gradient, lower, upper)
            awake = self._awake(lower, upper, bottom, top)
            if len(awake) <= WORTH_SLEEPING * n:
                accuracy = max(tol, LOCAL_ACCURACY * (top - bottom))
                return self._take_steps_among(awake, lower, upper, accuracy, count)
        gradient = self.gradient.astype(self.kernel.dtype)
        steps, violation = update_by_pairs(self.kernel, self.diagonal, gradient, self.beta, lower, upper, tol, count)
        self.gradient[:] = gradient
        # A pair step moves no variable by more than the largest box; its effect is rounded.
        self._variance += steps * (float(np.finfo(self.kernel.dtype).eps) * self.C * self._largest_box) ** 2
        return steps, float(violation)

    def _take_rounds(self, lower: np.ndarray, upper: np.ndarray, tol: float) -> float:
        """Newton rounds as long as they get ahead; returns the violation left."""
        for _ in range(MAX_ROUNDS):
            length = update_by_newton(self.kernel, self.beta, self.gradient, lower, upper, tol, self.ridge)
            bottom, top = bounds_of_bias(self.beta, self.gradient, lower, upper)
            if top - bottom <= tol or length < SHORT:
                break
        return top - bottom

    def _finish(self, lower: np.ndarray, upper: np.ndarray, work: float) -> float:
        """The active-set finish; returns the violation left.

        It is for kernels of low rank, on which Newton rounds fail but few variables are free, and needs float64.
        """
        if self.kernel.dtype == np.float64:
            polish(self.kernel, self.problem, self.beta, self.gradient, work)
        bottom, top = bounds_of_bias(self.beta, self.gradient, lower, upper)
        return top - bottom

    def _awake(self, lower: np.ndarray, upper: np.ndarray, bottom: float, top: float) -> np.ndarray:
        """Variables that are free or near to leaving their bound."""
        grows, shrinks = self.beta < upper, self.beta > lower
        slack = DEEP * (top - bottom)
        near = (grows & (self.gradient > bottom - slack)) | (shrinks & (self.gradient < top + slack))
        return np.flatnonzero(near | (grows & shrinks))

    def _take_steps_among(
        self, awake: np.ndarray, lower: np.ndarray, upper: np.ndarray, accuracy: float, count: int
    ) -> tuple[int, float]:
        """Pair steps among some variables, from a copy of their part of the kernel matrix; as `_take_pair_steps`.

        The gradient of all variables is then brought up to date in float64.
        """
        size = len(awake)
        if len(self._room) < size**2:
            self._room = np.empty(room_needed(len(self.beta)), self.kernel.dtype)
        part = self._room[: size**2].reshape(size, size)
        update_gathered(part, self.kernel, awake, awake)
        old = self.beta[awake]
        beta, gradient = old.copy(), self.gradient[awake].astype(self.kernel.dtype)
        steps, _ = update_by_pairs(
            part, self.diagonal[awake], gradient, beta, lower[awake], upper[awake], accuracy, count
        )
        self.beta[awake] = beta
        moved = np.flatnonzero(beta != old)
        update_row_sum(self.gradient, self.kernel, awake[moved], (beta - old)[moved], 0)
        bottom, top = bounds_of_bias(self.beta, self.gradient, lower, upper)
        return int(steps), top - bottom

    def bias(self) -> float:
        """The bias that minimises the primal for the present beta."""
        return certificate.best_bias(self.gradient, self.problem)

    def _enlarge(self, C: float) -> None:
        """Go over to boxes of `C`, beta and K beta multiplied by the same t."""
        if self.C:
            ratio = C / self.C
            _, lower, upper = self.problem
            bounded = (self.beta <= lower) & (lower < 0) | (self.beta >= upper) & (upper > 0)
            n_free = np.count_nonzero(self.beta) - np.count_nonzero(bounded)
            response = self.unit.linear - self.gradient
            t = ratio
            if np.count_nonzero(bounded) < n_free:
                t = min(ratio, max(1.0, self._best_length(response)))
            self.beta *= t
            self._variance *= t**2
            self.gradient = self.unit.linear - t * response
            if t == ratio:  # t * (C * box) and (t * C) * box may round differently
                self.beta[bounded] = (C * np.where(self.unit.upper > 0, self.unit.upper, self.unit.lower))[bounded]
        self.C = C

    def _best_length(self, response: np.ndarray) -> float:
        """The t that maximises the objective along t beta."""
        curvature = float(self.beta @ response)
        return float(self.beta @ self.unit.linear) / curvature if curvature > 0 else 1.0

    def _refresh(self) -> None:
        """Compute the gradient from beta."""
        self.gradient[:] = self.unit.linear
        used = np.flatnonzero(self.beta)
        update_row_sum(self.gradient, self.kernel, used, self.beta[used], 0)
        self._variance = 0.0


def room_needed(n: int) -> int:
    """How many numbers the largest copy of a part of an (n, n) kernel matrix has."""
    return int(WORTH_SLEEPING * n) ** 2 if n >= LARGE else 0


def _round_work(n_free: int, n: int) -> float:
    """Nanoseconds of a Newton round."""
    return ROUND_CUBE * n_free**3 + ROUND_SQUARE * n_free**2 + ROUND_UPDATE * n_free * n


@njit
def bounds_of_bias(beta, gradient, lower, upper):  # type: ignore[no-untyped-def]
    """Least gradient of the variables that may shrink and largest of those that may grow."""
    bottom, top = np.inf, -np.inf
    for t in range(beta.shape[0]):
        if beta[t] < upper[t] and gradient[t] > top:
            top = gradient[t]
        if beta[t] > lower[t] and gradient[t] < bottom:
            bottom = gradient[t]
    return bottom, top


@njit
def update_by_newton(kernel, beta, gradient, lower, upper, tol, ridge):  # type: ignore[no-untyped-def]
    """One Newton round; returns the share of its direction that was followed, 0 for one that does not ascend."""
    members, level = _members(beta, gradient, lower, upper, tol)
    if len(members) < 2:
        return 0.0
    room_down, room_up = lower[members] - beta[members], upper[members] - beta[members]
    change, direction = _newton_change(kernel, members, gradient[members] - level, room_down, room_up, ridge)
    slope = np.dot(gradient[members], change) if _balance(change, room_down, room_up) else 0.0
    if slope <= 0.0:  # a singular K_FF: its null space leads far out, and what is clipped need not ascend
        change = _up_to_first_bound(direction, room_down, room_up)
        slope = np.dot(gradient[members], change)
        if slope <= 0.0:
            return 0.0
    response = np.zeros(beta.shape[0])
    update_row_sum(response, kernel, members, -change, 0)
    curvature = np.dot(response[members], change)
    length = 1.0 if curvature <= slope else slope / curvature
    for k in range(len(members)):
        i = members[k]
        if length == 1.0 and change[k] == room_up[k]:
            beta[i] = upper[i]
        elif length == 1.0 and change[k] == room_down[k]:
            beta[i] = lower[i]
        else:
            beta[i] += length * change[k]
    for j in range(beta.shape[0]):
        gradient[j] -= length * response[j]
    return length


@njit
def _members(beta, gradient, lower, upper, tol):  # type: ignore[no-untyped-def]
    """Free variables and violators at a bound, with the bias they are measured against."""
    n = beta.shape[0]
    total, n_free = 0.0, 0
    for t in range(n):
        if beta[t] > lower[t] and beta[t] < upper[t]:
            total += gradient[t]
            n_free += 1
    bottom, top = bounds_of_bias(beta, gradient, lower, upper)
    level = total / n_free if n_free else 0.5 * (bottom + top)
    members = np.empty(n, np.intp)
    count = 0
    for t in range(n):
        grows, shrinks = beta[t] < upper[t], beta[t] > lower[t]
        if (
            (grows and shrinks)
            or (grows and gradient[t] > level + ENTERING * tol)
            or (shrinks and gradient[t] < level - ENTERING * tol)
        ):
            members[count] = t
            count += 1
    return members[:count], level


@njit
def _newton_change(kernel, members, residual, room_down, room_up, ridge):  # type: ignore[no-untyped-def]
    """Change of the members that levels their gradient and sums to zero, those past a bound fixed at it.

    Returned with the direction that would do so if there were no bounds.
    """
    change, direction = np.zeros(len(members)), np.zeros(len(members))
    fixed = np.zeros(len(members), np.bool_)
    for trial in range(TRIALS):
        inside, outside = np.flatnonzero(~fixed), np.flatnonzero(fixed)
        if len(inside) < 2:
            break
        block, sides = np.empty((len(inside), len(inside))), np.ones((2, len(inside)))
        for a in range(len(inside)):
            row = kernel[members[inside[a]]]
            for b in range(a + 1):
                block[a, b] = block[b, a] = row[members[inside[b]]]
            block[a, a] += ridge
            sides[0, a] = residual[inside[a]]
            for k in outside:
                sides[0, a] -= np.float64(row[members[k]]) * change[k]
        if not _solve_positive(block, sides):
            break
        multiplier = (sides[0].sum() + change[outside].sum()) / sides[1].sum()
        blocked = False
        for a in range(len(inside)):
            k = inside[a]
            wanted = sides[0, a] - multiplier * sides[1, a]
            if trial == 0:
                direction[k] = wanted
            change[k] = min(max(wanted, room_down[k]), room_up[k])
            if change[k] != wanted:
                fixed[k] = blocked = True
        if not blocked:
            break
    return change, direction


@njit
def _up_to_first_bound(direction, room_down, room_up):  # type: ignore[no-untyped-def]
    """As much of `direction` as there is room for, the variable that stops it exactly at its bound."""
    share, blocking = 1.0, -1
    for k in range(len(direction)):
        room = room_up[k] if direction[k] > 0.0 else room_down[k]
        if direction[k] != 0.0 and room / direction[k] < share:
            share, blocking = room / direction[k], k
    change = share * direction
    if blocking >= 0:
        change[blocking] = room_up[blocking] if direction[blocking] > 0.0 else room_down[blocking]
    return change


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
def _balance(change, room_down, room_up):  # type: ignore[no-untyped-def]
    """Make `change` sum to zero by taking from each entry in proportion to its room; False if there is not enough."""
    for _ in range(BALANCING):
        excess = change.sum()
        if abs(excess) <= 1e-13 * np.abs(change).sum():
            return True
        room = (change - room_down).sum() if excess > 0.0 else (room_up - change).sum()
        if room <= 0.0:
            return False
        share = min(1.0, abs(excess) / room)
        for k in range(len(change)):
            change[k] += share * ((room_down[k] - change[k]) if excess > 0.0 else (room_up[k] - change[k]))
    return abs(change.sum()) <= 1e-12 * np.abs(change).sum()
