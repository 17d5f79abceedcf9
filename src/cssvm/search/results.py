"""The table of results, with the columns of scikit-learn's `GridSearchCV`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from .grid import Point


def results_table(points: Sequence[Point], values: NDArray[np.float64]) -> tuple[dict[str, Any], int]:
    """`cv_results_` of values (n_points, n_folds), and the place of the best point, the first of equals.

    A point that lacks a fold has no mean and ranks last.
    """
    mean, std = values.mean(axis=1), values.std(axis=1)
    ranked = np.where(np.isnan(mean), -np.inf, mean)
    params = [point.params for point in points]
    results: dict[str, Any] = {f"param_{name}": _column([each[name] for each in params]) for name in params[0]}
    results["params"] = params
    for fold in range(values.shape[1]):
        results[f"split{fold}_test_score"] = values[:, fold]
    results["mean_test_score"], results["std_test_score"] = mean, std
    results["rank_test_score"] = rankdata(-ranked, method="min").astype(np.int32)
    return results, int(np.argmax(ranked))


def _column(values: list[Any]) -> NDArray[Any]:
    """A column of parameters: numbers, or objects where "tied" is among them."""
    return np.array(values, dtype=object if any(isinstance(value, str) for value in values) else None)
