"""The dual problem and its two solvers.

`solve` is for one problem of any size, `solve_path` for many values of C with the kernel matrix in memory; a `Path` can
be left and gone on with later.
"""

from .path import Path, PathState, solve_path
from .problem import DualProblem, KernelRows, Solution, Status
from .solver import solve
from .workspace import Workspace

__all__ = ["DualProblem", "KernelRows", "Path", "PathState", "Solution", "Status", "Workspace", "solve", "solve_path"]
