"""The linear support vector machine of rows in memory, by the means that suits their number and width."""

from __future__ import annotations

from typing import Any

from .._types import Vector
from ..runtime import threads
from .interior import LinearSolution, solve_interior
from .local import LocalBlocks


def solve_linear(X: Any, linear: Vector, boxes: Vector, *, tol: float, max_iter: int = -1) -> LinearSolution:
    """Minimise 1/2 |w|^2 + sum_i c_i max(0, m_i - y_i (w'x_i + b)) to a relative gap of `tol`.

    Parameters
    ----------
    X : (n, n_features) array in C order or canonical CSR matrix, float64 or float32
    linear : (n,) float64
        y_i m_i, with margins m_i > 0; of both signs.
    boxes : (n,) float64
        c_i > 0.
    tol : float
        Largest (primal - dual) / primal allowed.
    max_iter : int
        Limit on the iterations; -1 for none.
    """
    with threads.own_threads():
        blocks = LocalBlocks(X, linear, boxes)
        centre = blocks.centre()
        solution = solve_interior(blocks, tol=tol, max_iter=max_iter)
    return solution._replace(bias=solution.bias - float(solution.coef @ centre))
