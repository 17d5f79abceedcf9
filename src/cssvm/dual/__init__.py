"""The dual solver: problem, pair steps on working sets, active-set finish, certificate."""

from .continuation import Continuation, room_needed
from .decomposition import solve
from .problem import DualProblem, Solution, Status

__all__ = ["Continuation", "DualProblem", "Solution", "Status", "room_needed", "solve"]
