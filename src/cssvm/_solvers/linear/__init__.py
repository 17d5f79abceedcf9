"""Primal solvers: training problems over the weights themselves.

`minimise_smooth` is for smooth losses, `solve_linear` for the hinge with a cost and a margin for every row, in memory,
and `TrainingRows` for several of those on the same rows; `recover_dual` are those of a solution;
`solve_active` asks `Blocks` of rows, wherever they are, for sums only.
"""

from .active_set import solve_active
from .blocks import Blocks
from .interior import LinearSolution
from .linear_solver import COORDINATE, INTERIOR, ROTATED, LinearSolver, recover_dual, solve_linear
from .passes import LinearFunction
from .rows import linear_scores
from .smooth import SmoothSolution, minimise_smooth

__all__ = [
    "COORDINATE",
    "INTERIOR",
    "ROTATED",
    "Blocks",
    "LinearFunction",
    "LinearSolution",
    "LinearSolver",
    "SmoothSolution",
    "linear_scores",
    "minimise_smooth",
    "recover_dual",
    "solve_active",
    "solve_linear",
]
