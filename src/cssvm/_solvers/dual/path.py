"""Solutions for growing upper bounds, each begun where the last one ended, with the whole kernel matrix in memory.

For C_1 < C_2 < ... maximise   p'beta - 1/2 beta'K beta,   sum(beta) = 0,   C lower <= beta <= C upper.

From C to r C the solution is multiplied by t in [1, r], which keeps it feasible and costs no kernel value, as K beta is
multiplied as well: t = r where most variables that count rest at their bounds, and the best t otherwise. Pair steps and
Newton rounds by turns (`turns.py`) do the rest.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..._core.types import Vector
from ..._runtime import threads
from . import tuning
from .certificate import certified
from .problem import DualProblem, Solution, Status
from .turns import Turns
from .workspace import Workspace


def solve_path(
    kernel: np.ndarray,
    diagonal: Vector,
    unit: DualProblem,
    Cs: Iterable[float],
    *,
    tol: float = 1e-3,
    workspace: Workspace | None = None,
) -> Iterator[Solution]:
    """Solve for upper bounds of C times those of `unit`, and yield the `Solution` for each C.

    Parameters
    ----------
    kernel : (n, n) array of float32 or float64
        The kernel matrix. It is read while the iteration lasts.
    diagonal : (n,) array of float64
        Its diagonal.
    unit : DualProblem
        The problem at C = 1.
    Cs : iterable of float
        Ascending.
    tol : float
        Largest violation of optimality allowed, in units of the decision function.
    workspace : Workspace, optional
        For at least n rows of the kernel's type, to be used again by the next path.
    """
    path = Path(kernel, diagonal, unit, workspace)
    for C in Cs:
        yield path.advance(C, tol)


class PathState(NamedTuple):
    """Where a path has come to: C, `beta` and `gradient` (n,) float64, and the variance of the gradient's error."""

    C: float
    beta: Vector
    gradient: Vector
    variance: float


class Path(Turns):
    """The state: `beta` and its `gradient` p - K beta, (n,) float64, for the upper bounds C * unit.

    A path begun at the `state` of another on the same kernel matrix goes on exactly as that one would have.
    """

    def __init__(
        self,
        kernel: np.ndarray,
        diagonal: Vector,
        unit: DualProblem,
        workspace: Workspace | None = None,
        start: PathState | None = None,
    ):
        n = len(unit.linear)
        workspace = Workspace(n, kernel.dtype) if workspace is None else workspace
        beta, gradient = np.zeros(n), unit.linear.astype(np.float64, copy=True)
        share = tuning.PATH_ROUND_SHARE
        super().__init__(kernel, diagonal, unit.scaled(0.0), beta, gradient, workspace, round_share=share)
        self.unit, self.C = unit, 0.0
        self._unit_box = float((unit.upper - unit.lower).max())
        if start is not None:
            self.beta, self.gradient, self._variance = start.beta.copy(), start.gradient.copy(), start.variance
            self._set_boxes(start.C)

    @property
    def state(self) -> PathState:
        """What another path needs to go on from here."""
        return PathState(self.C, self.beta.copy(), self.gradient.copy(), self._variance)

    def advance(self, C: float, tol: float, most_work_ns: float | None = None) -> Solution:
        """Solve for upper bounds of `C`, at least the last one's, to a violation of at most `tol`.

        It is given up after `MAX_STEPS_PER_ROW` pair steps for each row, or `most_work_ns`; None: what a fit may take.
        """
        begun = time.perf_counter()
        per_row = tuning.NEXT_STEPS_PER_ROW if self.C else tuning.START_STEPS_PER_ROW
        with threads.single_threaded_blas():
            self._enlarge(C)
            self.most_work_ns = self.work_ns + (tuning.WORK.ns(self.n) if most_work_ns is None else most_work_ns)
            converged, n_iter = self.solve(tol, tuning.MAX_STEPS_PER_ROW * self.n, 1 + int(per_row * self.n))
        return certified(
            self.beta.copy(),
            self.gradient.copy(),
            self.problem,
            status=Status.CONVERGED if converged else Status.ITERATION_LIMIT,
            n_iter=n_iter,
            profile={"path": time.perf_counter() - begun},
        )

    def _enlarge(self, C: float) -> None:
        """Go over to upper bounds of `C`, beta and K beta multiplied by the same t."""
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
            if t == ratio:  # t * (C * upper bound) and (t * C) * upper bound may round differently
                self.beta[bounded] = (C * np.where(self.unit.upper > 0, self.unit.upper, self.unit.lower))[bounded]
        self._set_boxes(C)

    def _set_boxes(self, C: float) -> None:
        self.C, self.problem, self._largest_box = C, self.unit.scaled(C), C * self._unit_box
        self.system = None  # so that a path goes on as one that was begun here

    def _best_length(self, response: Vector) -> float:
        """The t that maximises the objective along t beta."""
        curvature = float(self.beta @ response)
        return float(self.beta @ self.unit.linear) / curvature if curvature > 0 else 1.0
