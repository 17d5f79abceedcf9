"""Generated points in the plane, for the paper's figures: a checkerboard, and two classes that a line separates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._core.types import Vector
from .._core.validation import is_integer, is_number

Samples = tuple[Vector, NDArray[np.int64]]


def make_checkerboard(
    n_samples: int = 10_010,
    *,
    ratio: float = 1000.0,
    n_squares: int = 4,
    random_state: int | np.random.RandomState | None = None,
) -> Samples:
    """Draw an imbalanced checkerboard, the paper's example of a rare class in many places.

    The board has `n_squares` x `n_squares` squares of side 1, from 0 to `n_squares`. A square belongs to the positive
    class if the sum of its column and row is even. Samples of each class are uniform over its squares.

    Parameters
    ----------
    n_samples : int, default=10_010
        Number of samples.

    ratio : float, default=1000.0
        Negative samples for each positive one; at least one sample is positive.

    n_squares : int, default=4
        Squares along a side.

    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    X : (n_samples, 2) float64
        Points on the board.
    y : (n_samples,) int64
        1 for the positive class and 0 for the negative one, in random order.

    Examples
    --------
    >>> from cssvm.datasets import make_checkerboard
    >>> X, y = make_checkerboard(2002, ratio=1000, random_state=0)
    >>> X.shape, int(y.sum())
    ((2002, 2), 2)
    """
    _check_count("n_squares", n_squares)
    random = check_random_state(random_state)
    y = _labels(n_samples, ratio, random)
    corners = np.empty((n_samples, 2))
    for label, parity in ((1, 0), (0, 1)):
        squares = np.argwhere(np.add.outer(range(n_squares), range(n_squares)) % 2 == parity)
        of_class = y == label
        corners[of_class] = squares[random.randint(len(squares), size=of_class.sum())]
    return corners + random.uniform(size=(n_samples, 2)), y


def make_separable_2d(
    n_samples: int = 40,
    *,
    gap: float = 1.0,
    ratio: float = 1.0,
    angle: float = 45.0,
    random_state: int | np.random.RandomState | None = None,
) -> Samples:
    """Draw two classes in the plane that a line through the origin separates.

    With u the direction of `angle`, every positive sample has u'x >= gap / 2 and every negative one u'x <= -gap / 2.
    Both classes have samples at that distance: no wider strip along this line is empty.

    Parameters
    ----------
    n_samples, ratio, random_state
        As in `make_checkerboard`, by default 40 samples of balanced classes.

    gap : float, default=1.0
        Width of the empty strip between the classes.

    angle : float, default=45.0
        Direction from the negative to the positive class, in degrees from the first axis.

    Returns
    -------
    X, y
        As of `make_checkerboard`.

    Examples
    --------
    >>> from cssvm.datasets import make_separable_2d
    >>> X, y = make_separable_2d(6, gap=2.0, angle=0.0, random_state=0)
    >>> bool((X[y == 1, 0] >= 1).all() and (X[y == 0, 0] <= -1).all())
    True
    """
    _check_positive("gap", gap)
    if not is_number(angle) or not np.isfinite(angle):
        raise ValueError(f"angle must be a finite number of degrees, got {angle!r}")
    random = check_random_state(random_state)
    y = _labels(n_samples, ratio, random)
    beyond = random.exponential(size=n_samples)
    for label in (0, 1):
        beyond[np.flatnonzero(y == label)[np.argmin(beyond[y == label])]] = 0.0
    across = np.where(y == 1, 1.0, -1.0) * (gap / 2 + beyond)
    along = random.normal(scale=1.5, size=n_samples)
    turn = np.deg2rad(angle)
    u, v = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    return np.outer(across, u) + np.outer(along, v), y


def _labels(n_samples: int, ratio: float, random: np.random.RandomState) -> NDArray[np.int64]:
    """Labels in random order: a share of 1 / (1 + ratio) is positive, rounded, at least one of each class."""
    _check_count("n_samples", n_samples)
    _check_positive("ratio", ratio)
    n_positives = min(max(1, round(n_samples / (1 + ratio))), n_samples - 1)
    y = np.zeros(n_samples, dtype=np.int64)
    y[random.permutation(n_samples)[:n_positives]] = 1
    return y


def _check_count(name: str, value: int) -> None:
    if not is_integer(value) or value < 2:
        raise ValueError(f"{name} must be an integer of at least 2, got {value!r}")


def _check_positive(name: str, value: float) -> None:
    if not is_number(value) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
