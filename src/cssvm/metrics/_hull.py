"""The upper convex hull in the ROC plane: of a curve, and of any points."""

from __future__ import annotations

import numpy as np
from sklearn.isotonic import isotonic_regression

from .._core.types import Mask, RowNumbers, Vector

# Pieces whose shares of rise differ by no more are in line: rates are rounded quotients.
IN_LINE = 1e-12


def hull_of_curve(x: Vector, y: Vector, *, in_line: float = 0.0) -> RowNumbers:
    """Points of a curve at which its upper convex hull turns, and its two ends: (n_vertices,) row numbers.

    x, y : (n_points,), both rising. The hull's slopes fall from piece to piece. Pooling neighbouring pieces until they
    do is isotonic regression: of the share of the rise, rise / (rise + run), that each piece adds, weighted with its
    length rise + run. In weights instead of rates whole numbers stay whole, so that pieces in line are pooled exactly;
    `in_line` is the largest difference of shares that counts as rounding.
    """
    rise, run = np.diff(y), np.diff(x)
    length = rise + run
    # A weight that is lost in the rounding of the sum makes a piece of no length.
    pieces = np.flatnonzero(length > 0)
    shares = isotonic_regression(rise[pieces] / length[pieces], sample_weight=length[pieces], increasing=False)
    turns = pieces[np.flatnonzero(np.abs(np.diff(shares)) > in_line)] + 1
    return np.concatenate([[0], turns, [len(y) - 1]])


def upper_hull(fpr: Vector, tpr: Vector) -> Mask:
    """Whether each point (n_points,) is a vertex of the upper convex hull of all, (0, 0) and (1, 1).

    Every copy of a vertex is one, also those of (0, 0) and (1, 1). A point on the line between two vertices is none.
    """
    x, y = np.append([0.0, 1.0], fpr), np.append([0.0, 1.0], tpr)
    order = np.lexsort((y, x))
    # Only a point higher than all before it can be a vertex: what lies lower is below the line from there to (1, 1).
    before = np.append(-np.inf, np.maximum.accumulate(y[order])[:-1])
    rising = order[y[order] > before]
    # A point straight above another is reached by a piece without run, (0, 0) and (1, 1) are the ends.
    vertices = rising[hull_of_curve(x[rising], y[rising], in_line=IN_LINE)]
    corners = np.column_stack([np.append(x[vertices], 1.0), np.append(y[vertices], 1.0)])
    points = np.column_stack([fpr, tpr])
    return (points[:, np.newaxis] == corners).all(axis=2).any(axis=1)
