"""The dual problem and its two solvers.

`solve` is for one problem of any size, `solve_path` for many values of C with the kernel matrix in memory; a `DualPath` can
be left and gone on with later.
"""

from .problem import DualProblem, KernelRows, Solution, Status
from .smo_newton import DualPath, PathState, Workspace, solve_path
from .solver import solve

__all__ = [
    "DualPath",
    "DualProblem",
    "KernelRows",
    "PathState",
    "Solution",
    "Status",
    "Workspace",
    "solve",
    "solve_path",
]
