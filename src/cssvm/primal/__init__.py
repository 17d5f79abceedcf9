"""Primal solvers: training problems over the weights themselves."""

from .lbfgs import SmoothSolution, minimise_smooth

__all__ = ["SmoothSolution", "minimise_smooth"]
