"""The table of results, with the columns of scikit-learn's `GridSearchCV`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.types import Vector
from .grid import Point

TIE = 1e-10  # of the largest mean; sums of costs in another unit differ by some 1e-16


def results_table(points: Sequence[Point], values: NDArray[np.float64]) -> tuple[dict[str, Any], int]:
    """`cv_results_` of values (n_points, n_folds), and the place of the best point, the first of equals.

    A point that lacks a fold has no mean and ranks last.
    """
    mean, std = values.mean(axis=1), values.std(axis=1)
    rank = ranks(mean)
    params = [point.params for point in points]
    results: dict[str, Any] = {f"param_{name}": _column([each[name] for each in params]) for name in params[0]}
    results["params"] = params
    for fold in range(values.shape[1]):
        results[f"split{fold}_test_score"] = values[:, fold]
    results["mean_test_score"], results["std_test_score"] = mean, std
    results["rank_test_score"] = rank
    return results, int(np.argmin(rank))


def ranks(mean: Vector) -> NDArray[np.int32]:
    """The rank of each mean (n,), 1 for the greatest; NaN ranks last.

    Means that differ by rounding rank alike, so that the unit of the costs does not decide between them.
    """
    known = np.where(np.isnan(mean), -np.inf, mean)
    order = np.argsort(-known, kind="stable")
    with np.errstate(invalid="ignore"):  # between two that are not known
        drop = -np.diff(known[order])
    begins = np.append(True, drop > rounding(known))
    rank = np.empty(len(mean), dtype=np.int32)
    rank[order] = np.maximum.accumulate(np.where(begins, np.arange(1, len(mean) + 1), 1))
    return rank


def rounding(mean: Vector) -> float:
    """By how much equal means may differ."""
    return TIE * float(np.abs(mean[np.isfinite(mean)]).max(initial=0.0))


def _column(values: list[Any]) -> NDArray[Any]:
    """A column of parameters: numbers, or objects where "tied" is among them."""
    return np.array(values, dtype=object if any(isinstance(value, str) for value in values) else None)
