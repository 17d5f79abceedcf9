"""Primal solvers: training problems over the weights themselves.

`minimise_smooth` is for smooth losses, `solve_linear` for the hinge with a cost and a margin for every row, in memory;
`solve_interior` asks `Blocks` of rows, wherever they are, for sums only.
"""

from .interior import LinearSolution, solve_interior
from .lbfgs import SmoothSolution, minimise_smooth
from .solver import solve_linear

__all__ = ["LinearSolution", "SmoothSolution", "minimise_smooth", "solve_interior", "solve_linear"]
