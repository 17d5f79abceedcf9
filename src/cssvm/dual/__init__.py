"""The dual solver: problem, pair steps on working sets, active-set finish, certificate."""

from .decomposition import solve
from .problem import DualProblem, Solution, Status

__all__ = ["DualProblem", "Solution", "Status", "solve"]
