"""Primal solvers: training problems over the weights themselves.

`minimise_smooth` is for smooth losses, `solve_linear` for the hinge with a cost and a margin for every row, in memory,
and `TrainingRows` for several of those on the same rows; `dual_variables` are those of a solution;
`solve_active` asks `AllBlocks` of rows, wherever they are, for sums only.
"""

from .active import AllBlocks, solve_active
from .blocks import Point
from .interior import LinearSolution
from .lbfgs import SmoothSolution, minimise_smooth
from .rows import linear_scores
from .solver import COORDINATE, INTERIOR, ROTATED, TrainingRows, solve_linear
from .variables import dual_variables

__all__ = [
    "COORDINATE",
    "INTERIOR",
    "ROTATED",
    "AllBlocks",
    "LinearSolution",
    "Point",
    "SmoothSolution",
    "TrainingRows",
    "dual_variables",
    "linear_scores",
    "minimise_smooth",
    "solve_active",
    "solve_linear",
]
