"""Statistics over folds and over data sets.

The training sets of a cross-validation overlap, so its values are not independent and the variance of their mean is
larger than that of independent values. The corrected resampled t (Nadeau and Bengio, Machine Learning 52, 2003) is

    t = mean / sqrt((1 / k + n_test / n_train) var),    k - 1 degrees of freedom

for k values. Over data sets, two methods are compared by Wilcoxon's signed ranks, several by Friedman's ranks with
Nemenyi's critical difference (Demsar, JMLR 7, 2006).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats


class Estimate(NamedTuple):
    """A mean with its interval, and the two-sided p-value of zero; nan where k = 1."""

    mean: float
    low: float
    high: float
    p_value: float
    n: int


def corrected_estimate(values: ArrayLike, test_share: float, confidence: float = 0.95) -> Estimate:
    """Mean of values over folds, with the corrected interval.

    Parameters
    ----------
    values : array-like of shape (k,)
        A measure, or a paired difference of two methods, for each fold of each repeat.
    test_share : float
        Number of test samples over training samples in each fold: 1 / 9 for ten folds.
    confidence : float, default=0.95
        Of the interval.
    """
    values = np.asarray(values, dtype=np.float64)
    k, mean = len(values), float(np.mean(values))
    if k < 2:
        return Estimate(mean, np.nan, np.nan, np.nan, k)
    error = float(np.sqrt((1.0 / k + test_share) * values.var(ddof=1)))
    reach = float(stats.t.ppf(0.5 + confidence / 2, k - 1)) * error
    p_value = float(2 * stats.t.sf(abs(mean) / error, k - 1)) if error else float(mean == 0.0)
    return Estimate(mean, mean - reach, mean + reach, p_value, k)


def wilcoxon(first: ArrayLike, second: ArrayLike) -> float:
    """Two-sided p-value of Wilcoxon's signed ranks over sets, zeros split evenly; 1 where all are equal."""
    apart = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    if len(apart) < 2 or not apart.any():
        return 1.0
    return float(stats.wilcoxon(apart, zero_method="zsplit").pvalue)


class Ranks(NamedTuple):
    """Mean rank of each method over sets, 1 for the smallest value, and the difference beyond chance."""

    mean: NDArray[np.float64]
    critical: float
    p_value: float


def friedman_ranks(values: ArrayLike, alpha: float = 0.05) -> Ranks:
    """Ranks of methods (columns) over sets (rows); equal values share the mean of their ranks."""
    table = np.asarray(values, dtype=np.float64)
    n, k = table.shape
    ranks = np.apply_along_axis(stats.rankdata, 1, table)
    critical = float(stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n)))
    same = not np.any(ranks != ranks[:, :1])
    p_value = 1.0 if same or k < 3 or n < 2 else float(stats.friedmanchisquare(*table.T).pvalue)
    return Ranks(ranks.mean(axis=0), critical, p_value)
