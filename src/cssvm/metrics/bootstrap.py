"""Percentile intervals of any metric by resampling rows.

A resample is a vector of counts, how often each row was drawn; the metric of the resample is the metric with the
weights w_i count_i. Rows are drawn within each class (stratified), so that every resample has as many of each as the
sample, or from all rows. For metrics of the ranking the rows are sorted once: a resample only changes the weights.
"""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._types import Vector, is_number
from .partial_auc import ranked_tn_auc_loss, ranked_tp_auc_loss, tn_auc_loss, tp_auc_loss
from .ranking import RankedMetric
from .risk import min_cost_risk, ranked_min_risk
from .sample import Sample

# Counts handled at a time: a few megabytes, which stay in the processor's cache.
BATCH_COUNTS = 2**18

# Metrics of the ranking, as functions of the weights alone.
RANKED: dict[Callable[..., Any], Callable[..., RankedMetric]] = {
    min_cost_risk: ranked_min_risk,
    tp_auc_loss: ranked_tp_auc_loss,
    tn_auc_loss: ranked_tn_auc_loss,
}

Rows = NDArray[np.intp]
Counts = NDArray[np.intp]
# The columns of each class in the counts, and the metric of each resample: (n_batch, n_rows) to (n_batch,).
Resampled = tuple[list[Rows], Callable[[Counts], Vector]]


class BootstrapInterval(NamedTuple):
    """Value of a metric on the sample, the ends of its interval, and its values on the resamples."""

    estimate: float
    low: float
    high: float
    samples: Vector


def bootstrap_interval(
    metric: Callable[..., Any],
    y_true: Any,
    y_score: Any,
    *,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: Any = None,
    stratified: bool = True,
    **kwargs: Any,
) -> BootstrapInterval:
    """Percentile bootstrap interval of a metric.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, y_score, sample_weight=..., **kwargs)`` returns a number, or a tuple that begins with it.
        `min_cost_risk`, `tp_auc_loss` and `tn_auc_loss` sort the rows only once for all resamples.
    y_true : array-like of shape (n_samples,)
        Labels.
    y_score : array-like of shape (n_samples,)
        What the metric compares them with: scores or decisions.
    n_resamples : int, default=1000
        Number of resamples.
    confidence : float, default=0.95
        Share of the resamples' values within the interval, in (0, 1).
    random_state : int, RandomState instance or None, default=None
        Seed of the resampling.
    stratified : bool, default=True
        Whether to draw within each class. Otherwise rows are drawn from all of them, and a resample that misses a
        class of the sample is drawn anew.
    **kwargs
        Arguments of the metric. Costs and `sample_weight` of a row go with it. Rows of weight zero are not drawn.

    Returns
    -------
    BootstrapInterval
        Named tuple ``(estimate, low, high, samples)``; `estimate` is the metric of the sample itself.

    Examples
    --------
    >>> import numpy as np
    >>> from cssvm.metrics import bootstrap_interval, min_cost_risk
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [900, 100])
    >>> score = rng.normal(size=1000) + 2 * y
    >>> interval = bootstrap_interval(min_cost_risk, y, score, fn_cost=9, random_state=0)
    >>> bool(interval.low < interval.estimate < interval.high)
    True
    """
    _check_request(n_resamples, confidence)
    estimate = _value(metric(y_true, y_score, **kwargs))
    rng = np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    resampled = _ranked_metric if metric in RANKED else _weighted_metric
    classes, values = resampled(metric, y_true, y_score, kwargs)
    batches = resample_counts(classes, n_resamples, rng, stratified=stratified)
    samples = np.concatenate([values(counts) for counts in batches])
    low, high = np.quantile(samples, [(1 - confidence) / 2, (1 + confidence) / 2])
    return BootstrapInterval(estimate, float(low), float(high), samples)


def resample_counts(
    classes: list[Rows], n_resamples: int, rng: np.random.Generator, *, stratified: bool
) -> Iterator[Counts]:
    """How often each row was drawn, in batches of (n_batch, n_rows).

    classes : for each class the columns of its rows; together they are 0, ..., n_rows - 1.
    """
    n_rows = sum(map(len, classes))
    pools = classes if stratified else [np.concatenate(classes)]
    batch = max(1, BATCH_COUNTS // n_rows)
    for start in range(0, n_resamples, batch):
        counts = _draw(pools, n_rows, min(batch, n_resamples - start), rng)
        while not stratified and len(lacking := _lacking_a_class(counts, classes)):
            counts[lacking] = _draw(pools, n_rows, len(lacking), rng)
        yield counts


def _draw(pools: list[Rows], n_rows: int, size: int, rng: np.random.Generator) -> Counts:
    """Counts (size, n_rows) of as many draws from each pool as it has rows."""
    drawn = np.concatenate([rows[rng.integers(len(rows), size=(size, len(rows)))] for rows in pools], axis=1)
    drawn += n_rows * np.arange(size)[:, None]
    return np.bincount(drawn.ravel(), minlength=size * n_rows).reshape(size, n_rows)


def _lacking_a_class(counts: Counts, classes: list[Rows]) -> Rows:
    """Resamples without a row of some class."""
    present = np.all([counts[:, rows].any(axis=1) for rows in classes], axis=0)
    return np.flatnonzero(~present)


def _ranked_metric(metric: Callable[..., Any], y_true: Any, y_score: Any, kwargs: dict[str, Any]) -> Resampled:
    """A metric of the ranking: the columns of the counts are in its order."""
    ranked = RANKED[metric](y_true, y_score, **kwargs)
    order = ranked.ranking.order
    weight = ranked.sample.weight[order]
    column = np.empty_like(order)
    column[order] = np.arange(len(order))
    classes = [column[rows] for rows in _classes(np.asarray(y_true)[ranked.sample.counted])]
    return classes, lambda counts: ranked.values(weight * counts)


def _weighted_metric(metric: Callable[..., Any], y_true: Any, y_score: Any, kwargs: dict[str, Any]) -> Resampled:
    """Any metric that takes weights, called once for each resample."""
    _check_takes_weights(metric)
    labels = np.asarray(y_true)
    # Which class is the target does not matter for the weights.
    sample = Sample.read(y_true, pos_label=labels[0], sample_weight=kwargs.get("sample_weight"))

    def value(count: Counts) -> float:
        weights = np.zeros(len(labels))
        weights[sample.counted] = sample.weight * count
        return _value(metric(y_true, y_score, **{**kwargs, "sample_weight": weights}))

    return _classes(labels[sample.counted]), lambda counts: np.array([value(count) for count in counts])


def _classes(labels: NDArray[Any]) -> list[Rows]:
    """Rows of each class."""
    _, codes = np.unique(labels, return_inverse=True)
    return [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]


def _value(result: Any) -> float:
    """A number, or the first entry of a tuple."""
    return float(result[0] if isinstance(result, tuple) else result)


def _check_request(n_resamples: Any, confidence: Any) -> None:
    if not isinstance(n_resamples, numbers.Integral) or n_resamples < 1:
        raise ValueError(
            f"n_resamples must be a positive integer; got n_resamples={n_resamples!r}. Pass for example 1000."
        )
    if not is_number(confidence) or not 0 < confidence < 1:
        raise ValueError(
            f"confidence must lie between 0 and 1; got confidence={confidence!r}. Pass for example confidence=0.95."
        )


def _check_takes_weights(metric: Callable[..., Any]) -> None:
    parameters = inspect.signature(metric).parameters.values()
    if not any(p.name == "sample_weight" or p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        raise ValueError(
            "metric must take sample_weight, by which resamples are passed on; got "
            f"{getattr(metric, '__name__', metric)}{inspect.signature(metric)}. Wrap it in a function that does."
        )
