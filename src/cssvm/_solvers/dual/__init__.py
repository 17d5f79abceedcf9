"""The dual problem of kernel SVMs and its solvers.

`solve` is for one problem of any size, `solve_path` for many values of C with the kernel matrix in memory; a `DualPath`
can be continued from its state.
"""

from .problem import DualProblem, Solution, Status
from .smo_newton import DualPath, PathState, Workspace, solve_path
from .solver import solve

__all__ = [
    "DualPath",
    "DualProblem",
    "GramRows",
    "PathState",
    "Solution",
    "Status",
    "Workspace",
    "solve",
    "solve_path",
]
