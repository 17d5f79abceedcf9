"""Percentile intervals of any metric by resampling samples.

A resample is a vector of counts, how often each sample was drawn; its metric is that of the weights w_i count_i. For
metrics of the ranking the samples are sorted once. Samples that a metric cannot tell apart may share a column of the
counts: how often such a group occurs is one multinomial draw.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._core.samples import Samples
from .._core.types import RowNumbers, Vector
from .._core.validation import is_integer, is_number
from ._curves import ranked_tn_auc_loss, ranked_tp_auc_loss, tn_auc_loss, tp_auc_loss
from ._risk import min_cost_risk, ranked_min_risk
from ._scored import RankedMetric, ScoredSamples

# Counts handled at a time: a few megabytes, which stay in the processor's cache.
BATCH_COUNTS = 2**18

# The multinomial count of a group takes as long as drawing this many samples one by one.
SAMPLES_PER_GROUP = 10

# Samples of a class to check first: one of them is in nearly every resample.
FIRST_SAMPLES = 100

# Arguments of a metric that describe the samples; the others are options.
SAMPLE_ARGUMENTS = ("fn_cost", "fp_cost", "pos_label", "sample_weight")

# Metrics of the ranking, as functions of the weights alone.
RANKED: dict[Callable[..., Any], Callable[..., RankedMetric]] = {
    min_cost_risk: ranked_min_risk,
    tp_auc_loss: ranked_tp_auc_loss,
    tn_auc_loss: ranked_tn_auc_loss,
}

Counts = NDArray[np.intp]
# The columns of each class in the counts, and the metric of each resample: (n_batch, n_samples) to (n_batch,).
Resampled = tuple[list[RowNumbers], Callable[[Counts], Vector]]


class BootstrapInterval(NamedTuple):
    """Percentile bootstrap interval of a metric.

    Attributes
    ----------
    estimate, low, high : float
        The metric of the samples themselves, and the ends of the interval.
    samples : ndarray of shape (n_resamples,)
        The metric of each resample.
    """

    estimate: float
    low: float
    high: float
    samples: Vector

    def __repr__(self) -> str:
        return f"{self.estimate:.6g} [{self.low:.6g}, {self.high:.6g}] by {len(self.samples)} resamples"


def bootstrap_interval(
    metric: Callable[..., Any],
    y_true: Any,
    y_score: Any,
    *,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: Any = None,
    stratified: bool = False,
    **kwargs: Any,
) -> BootstrapInterval:
    """Percentile bootstrap interval of a metric.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, y_score, sample_weight=..., **kwargs)`` returns a number, or a tuple that begins with it.
        For `min_cost_risk`, `tp_auc_loss` and `tn_auc_loss` the samples are sorted only once.
    y_true : array-like of shape (n_samples,)
        Labels.
    y_score : array-like of shape (n_samples,)
        Second argument of the metric: scores or predictions.
    n_resamples : int, default=1000
        Number of resamples.
    confidence : float, default=0.95
        Share of the values of the resamples within the interval, in (0, 1).
    random_state : int, RandomState instance or None, default=None
        Seed of the resampling.
    stratified : bool, default=False
        If True, samples are drawn within each class, for data whose class frequencies were fixed by design; for other
        data such intervals are too short. If False, a resample without a class is drawn again.
    **kwargs
        Arguments of the metric. Costs and `sample_weight` are resampled with their samples. Samples of weight zero are
        not drawn.

    Returns
    -------
    BootstrapInterval

    Examples
    --------
    >>> import numpy as np
    >>> from cssvm.metrics import bootstrap_interval, cost_risk
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [900, 100])
    >>> score = rng.normal(size=1000) + 2 * y
    >>> bootstrap_interval(cost_risk, y, (score > 1).astype(int), fn_cost=9, random_state=0)
    0.338 [0.262975, 0.424075] by 1000 resamples
    """
    check_request(n_resamples, confidence)
    estimate = _value(metric(y_true, y_score, **kwargs))
    rng = generator(random_state)
    resampled = _ranked_metric if metric in RANKED else _weighted_metric
    classes, values = resampled(metric, y_true, y_score, kwargs)
    batches = resample_counts(classes, n_resamples, rng, stratified=stratified)
    samples = np.concatenate([values(counts) for counts in batches])
    return _interval(estimate, samples, confidence)


def joint_intervals(
    measures: Callable[[Vector], dict[str, Vector]],
    labels: NDArray[Any],
    *,
    n_resamples: int,
    confidence: float,
    random_state: Any,
) -> dict[str, BootstrapInterval]:
    """`bootstrap_interval` of several measures from the same resamples of samples of positive weight.

    measures : maps how often each sample was drawn, (n_batch, n_samples), to values (n_batch,) by name.
    """
    batches = resample_counts(_classes(labels), n_resamples, generator(random_state), stratified=False)
    found = [measures(counts.astype(np.float64)) for counts in batches]
    return {
        name: _interval(float(estimate[0]), np.concatenate([each[name] for each in found]), confidence)
        for name, estimate in measures(np.ones((1, len(labels)))).items()
    }


def _interval(estimate: float, samples: Vector, confidence: float) -> BootstrapInterval:
    low, high = percentile_interval(samples, confidence)
    return BootstrapInterval(estimate, float(low), float(high), samples)


def generator(random_state: Any) -> np.random.Generator:
    """The random generator of all resamples."""
    return np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def percentile_interval(samples: Vector, confidence: float) -> tuple[Any, Any]:
    """The limits, along the first axis, that leave out equal shares below and above."""
    low, high = np.quantile(samples, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return low, high


def resample_counts(
    classes: list[RowNumbers],
    n_resamples: int,
    rng: np.random.Generator,
    *,
    stratified: bool,
    sizes: NDArray[np.intp] | None = None,
) -> Iterator[Counts]:
    """How often each sample was drawn, in batches of (n_batch, n_columns).

    classes : for each class the columns of its samples; together they are 0, ..., n_columns - 1.
    sizes : (n_columns,) the number of samples that each column stands for; None: one each.
    """
    n_columns = sum(map(len, classes))
    sizes = np.ones(n_columns, dtype=np.intp) if sizes is None else sizes
    pools = classes if stratified else [np.concatenate(classes)]
    batch = max(1, BATCH_COUNTS // n_columns)
    for start in range(0, n_resamples, batch):
        counts = _draw(pools, sizes, min(batch, n_resamples - start), rng)
        while not stratified and len(lacking := _lacking_a_class(counts, classes)):
            counts[lacking] = _draw(pools, sizes, len(lacking), rng)
        yield counts


def _draw(pools: list[RowNumbers], sizes: NDArray[np.intp], n_resamples: int, rng: np.random.Generator) -> Counts:
    """Counts (n_resamples, n_columns) of as many draws from each pool as it has samples."""
    grouped, drawn = [], []
    for columns in pools:
        n_samples = int(sizes[columns].sum())
        if n_samples > SAMPLES_PER_GROUP * len(columns):
            grouped.append((columns, rng.multinomial(n_samples, sizes[columns] / n_samples, size=n_resamples)))
        else:
            pool = columns if n_samples == len(columns) else np.repeat(columns, sizes[columns])
            drawn.append(pool[rng.integers(n_samples, size=(n_resamples, n_samples))])
    if drawn:
        places = np.concatenate(drawn, axis=1)
        places += len(sizes) * np.arange(n_resamples)[:, None]
        counts = np.bincount(places.ravel(), minlength=n_resamples * len(sizes)).reshape(n_resamples, len(sizes))
    else:
        counts = np.zeros((n_resamples, len(sizes)), dtype=np.intp)
    for columns, of_groups in grouped:
        counts[:, columns] = of_groups
    return counts


def _lacking_a_class(counts: Counts, classes: list[RowNumbers]) -> RowNumbers:
    """Resamples without a sample of some class."""
    lacking = np.zeros(len(counts), dtype=bool)
    for columns in classes:
        unseen = np.flatnonzero(~counts[:, columns[:FIRST_SAMPLES]].any(axis=1))
        lacking[unseen] |= ~counts[np.ix_(unseen, columns)].any(axis=1)
    return np.flatnonzero(lacking)


def _ranked_metric(metric: Callable[..., Any], y_true: Any, y_score: Any, kwargs: dict[str, Any]) -> Resampled:
    """A metric of the ranking: the columns of the counts are in its order."""
    given = {name: value for name, value in kwargs.items() if name in SAMPLE_ARGUMENTS}
    options = {name: value for name, value in kwargs.items() if name not in SAMPLE_ARGUMENTS}
    scored = ScoredSamples.from_labels(y_true, y_score, **given)
    values = RANKED[metric](scored, **options).values
    order, weights = scored.ranking.order, scored.ranked(scored.samples.weights)
    column = np.empty_like(order)
    column[order] = np.arange(len(order))
    return [column[members] for members in _classes(scored.labels)], lambda counts: values(weights * counts)


def _weighted_metric(metric: Callable[..., Any], y_true: Any, y_score: Any, kwargs: dict[str, Any]) -> Resampled:
    """Any metric that takes weights, called once for each resample."""
    signature = inspect.signature(metric)
    if not any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
        raise ValueError(
            f"metric must take sample_weight, by which resamples are passed on; got "
            f"{getattr(metric, '__name__', metric)}{signature}. Wrap it in a function that does."
        )
    labels = np.asarray(y_true)
    # Which class is the positive one does not matter for the weights.
    samples = Samples.from_labels(y_true, pos_label=labels[0], sample_weight=kwargs.get("sample_weight"))
    counted = samples.nonzero_weights()

    def value(count: Counts) -> float:
        weights = np.zeros(len(labels))
        weights[counted] = samples.weights[counted] * count
        return _value(metric(y_true, y_score, **{**kwargs, "sample_weight": weights}))

    return _classes(labels[counted]), lambda counts: np.array([value(count) for count in counts])


def _classes(labels: NDArray[Any]) -> list[RowNumbers]:
    """Indices of the samples of each class."""
    _, codes = np.unique(labels, return_inverse=True)
    return [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]


def _value(result: Any) -> float:
    """A number, or the first entry of a tuple."""
    return float(result[0] if isinstance(result, tuple) else result)


def check_request(n_resamples: Any, confidence: Any) -> None:
    """Raise if the number of resamples or the confidence is invalid."""
    if not is_integer(n_resamples) or n_resamples < 1:
        raise ValueError(
            f"n_resamples must be a positive integer; got n_resamples={n_resamples!r}. Pass for example 1000."
        )
    if not is_number(confidence) or not 0 < confidence < 1:
        raise ValueError(
            f"confidence must lie between 0 and 1; got confidence={confidence!r}. Pass for example confidence=0.95."
        )
