"""The dual problem of kernel SVMs and its solvers.

`solve` is for one problem of any size, `solve_path` for many values of C with the kernel matrix in memory.
"""

from ..._core.types import Status
from ..certificate import DualProblem, Solution
from .smo_newton import DualPath, Workspace, solve_path
from .solver import solve

__all__ = ["DualPath", "DualProblem", "Solution", "Status", "Workspace", "solve", "solve_path"]
