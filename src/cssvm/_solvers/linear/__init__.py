"""Linear models: minimise over w, b the squared norm of w and a loss of w'x + b.

`solve_linear` is for the hinge loss with a cost and a margin for each sample, `LinearSolver` for several such problems
on the same samples in memory, `solve_active` for samples wherever they are, of which it asks `Blocks` for sums only.
`recover_dual` gives the dual variables of a solution. `minimise_smooth` is for smooth losses.
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
