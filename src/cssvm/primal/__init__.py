"""Primal solvers: training problems over the weights themselves.

`minimise_smooth` is for smooth losses, `solve_linear` for the hinge with a cost and a margin for every row, in memory;
`solve_active` asks `AllBlocks` of rows, wherever they are, for sums only.
"""

from .active import AllBlocks, solve_active
from .interior import LinearSolution
from .lbfgs import SmoothSolution, minimise_smooth
from .rows import linear_scores
from .solver import COORDINATE, INTERIOR, ROTATED, solve_linear

__all__ = [
    "COORDINATE",
    "INTERIOR",
    "ROTATED",
    "AllBlocks",
    "LinearSolution",
    "SmoothSolution",
    "linear_scores",
    "minimise_smooth",
    "solve_active",
    "solve_linear",
]
