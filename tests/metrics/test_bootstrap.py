import functools

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from cssvm.metrics import bootstrap_interval, cost_risk, income, min_cost_risk, tn_auc_loss, tp_auc_loss
from cssvm.metrics._bootstrap import BATCH_COUNTS, resample_counts

RNG = np.random.default_rng(0)
N = 60
Y = np.repeat([0, 1], [40, 20])
SCORE = (RNG.normal(size=N) + Y).round(1)
COST = RNG.integers(1, 9, N)
WEIGHT = RNG.integers(0, 3, N)

METRICS = {
    "min_cost_risk": (min_cost_risk, {"fn_cost": COST, "fp_cost": 2.0}),
    "min_cost_risk with a prior": (min_cost_risk, {"fn_cost": COST, "prior": 0.1, "normalize": True}),
    "tp_auc_loss": (tp_auc_loss, {"t": 0.7}),
    "tn_auc_loss": (tn_auc_loss, {"t": 0.7}),
}
ranking_metrics = pytest.mark.parametrize(("metric", "kwargs"), METRICS.values(), ids=METRICS)


def first(value):
    return value[0] if isinstance(value, tuple) else value


def counts_of(seed, n_resamples, *, stratified, rows=slice(None)):
    """The counts that `bootstrap_interval` draws with this seed."""
    labels = Y[rows]
    classes = [np.flatnonzero(labels == label) for label in (0, 1)]
    rng = np.random.default_rng(np.random.RandomState(seed).randint(np.iinfo(np.int32).max))
    return np.concatenate(list(resample_counts(classes, n_resamples, rng, stratified=stratified)))


@ranking_metrics
@pytest.mark.parametrize("stratified", [True, False])
def test_a_resample_is_the_metric_of_repeated_samples(metric, kwargs, stratified):
    found = bootstrap_interval(metric, Y, SCORE, n_resamples=30, random_state=3, stratified=stratified, **kwargs)
    expected = []
    for count in counts_of(3, 30, stratified=stratified):
        rows = np.repeat(np.arange(N), count)
        own = {name: value[rows] if np.ndim(value) else value for name, value in kwargs.items()}
        expected.append(first(metric(Y[rows], SCORE[rows], **own)))
    # Sums of 60 terms in another order.
    np.testing.assert_allclose(found.samples, expected, rtol=1e-12)
    assert found.estimate == first(metric(Y, SCORE, **kwargs))


@ranking_metrics
@pytest.mark.parametrize("stratified", [True, False])
def test_sorting_once_gives_what_calling_the_metric_for_each_resample_gives(metric, kwargs, stratified):
    arguments = {"n_resamples": 50, "random_state": 7, "stratified": stratified, "sample_weight": WEIGHT, **kwargs}
    once = bootstrap_interval(metric, Y, SCORE, **arguments)
    each = bootstrap_interval(functools.partial(metric), Y, SCORE, **arguments)
    np.testing.assert_allclose(once.samples, each.samples, rtol=1e-12)
    assert once.estimate == each.estimate


def test_costs_go_with_their_samples_for_any_metric():
    pred = (SCORE > 0.5).astype(int)
    found = bootstrap_interval(cost_risk, Y, pred, n_resamples=20, random_state=1, fn_cost=COST, sample_weight=WEIGHT)
    kept = WEIGHT > 0
    for count, value in zip(counts_of(1, 20, stratified=False, rows=kept), found.samples, strict=True):
        rows = np.repeat(np.flatnonzero(kept), count)
        expected = cost_risk(Y[rows], pred[rows], fn_cost=COST[rows], sample_weight=WEIGHT[rows])
        assert value == pytest.approx(expected, rel=1e-12)


def test_a_series_of_costs_is_matched_once_and_resampled():
    order = RNG.permutation(N)
    y = pd.Series(Y, index=order)
    cost = pd.Series(COST, index=order).sort_index()
    shared = {"n_resamples": 10, "random_state": 0}
    by_index = bootstrap_interval(min_cost_risk, y, SCORE, fn_cost=cost, **shared)
    in_order = bootstrap_interval(min_cost_risk, Y, SCORE, fn_cost=COST, **shared)
    np.testing.assert_array_equal(by_index.samples, in_order.samples)


def test_stratified_resamples_keep_the_size_of_each_class():
    counts = counts_of(0, 200, stratified=True)
    np.testing.assert_array_equal(counts[:, Y == 1].sum(axis=1), 20)
    np.testing.assert_array_equal(counts[:, Y == 0].sum(axis=1), 40)


def test_plain_resamples_keep_the_size_of_the_sample_and_have_both_classes():
    classes = [np.arange(9), np.array([9])]
    rng = np.random.default_rng(0)
    counts = np.concatenate(list(resample_counts(classes, 500, rng, stratified=False)))
    assert (counts.sum(axis=1) == 10).all()
    assert (counts[:, 9] > 0).all()
    assert (counts[:, :9].sum(axis=1) > 0).all()


def test_every_sample_of_a_class_is_drawn_equally_often():
    n_resamples = 4000
    counts = counts_of(5, n_resamples, stratified=True)
    # Each row is drawn once per resample on average, with variance below 1; six standard errors.
    np.testing.assert_allclose(counts.mean(axis=0), 1.0, atol=6 / np.sqrt(n_resamples))


def test_batches_cover_all_resamples():
    n_rows = BATCH_COUNTS // 4
    rng = np.random.default_rng(0)
    sizes = [len(counts) for counts in resample_counts([np.arange(n_rows)], 10, rng, stratified=True)]
    assert sizes == [4, 4, 2]


def test_the_ends_are_quantiles_of_the_resamples():
    found = bootstrap_interval(tp_auc_loss, Y, SCORE, n_resamples=101, confidence=0.9, random_state=0)
    ordered = np.sort(found.samples)
    assert found.low == pytest.approx(ordered[5], rel=1e-12)
    assert found.high == pytest.approx(ordered[95], rel=1e-12)


def test_a_seed_makes_it_repeatable():
    seeded = [bootstrap_interval(min_cost_risk, Y, SCORE, n_resamples=50, random_state=seed) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(seeded[0].samples, seeded[1].samples)
    assert (seeded[0].samples != seeded[2].samples).any()
    bootstrap_interval(min_cost_risk, Y, SCORE, n_resamples=2, random_state=np.random.RandomState(0))


def test_the_interval_of_an_error_rate_covers_the_truth():
    # 60 samples of 200 rows with error rate 0.3: a 90 % interval misses 6 of them on average, and more than 18 with a
    # probability below 1e-3 even if so small a sample lowers its coverage to 85 %.
    rng = np.random.default_rng(11)
    missed = 0
    for seed in range(60):
        y = np.repeat([0, 1], 100)
        pred = np.where(rng.random(200) < 0.3, 1 - y, y)
        found = bootstrap_interval(cost_risk, y, pred, n_resamples=99, confidence=0.9, random_state=seed)
        missed += not found.low <= 0.3 <= found.high
    assert 0 < missed <= 18


def test_metrics_of_other_libraries_are_resampled_too():
    found = bootstrap_interval(roc_auc_score, Y, SCORE, n_resamples=30, random_state=2)
    ours = bootstrap_interval(tp_auc_loss, Y, SCORE, n_resamples=30, random_state=2, t=0)
    np.testing.assert_allclose(found.samples, 1 - ours.samples, rtol=1e-12)


def test_income_of_resamples_is_around_the_income():
    pred = np.ones(N, dtype=int)
    found = bootstrap_interval(income, Y, pred, tp_cost=-COST, fp_cost=1, n_resamples=200, random_state=0)
    assert found.estimate == COST[Y == 1].sum() - 40
    assert found.low < found.estimate < found.high


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_resamples": 0}, "n_resamples must be a positive integer; got n_resamples=0"),
        ({"n_resamples": 10.5}, "n_resamples must be a positive integer"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1; got confidence=1.0"),
        ({"confidence": "95%"}, "confidence must lie between 0 and 1"),
        ({"sample_weight": np.zeros(N)}, "sample_weight must be positive on at least one sample"),
    ],
)
def test_wrong_requests_are_rejected(arguments, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(min_cost_risk, Y, SCORE, **arguments)


def test_a_metric_without_weights_is_rejected():
    with pytest.raises(ValueError, match=r"metric must take sample_weight.*got accuracy\(y_true, y_pred\)"):
        bootstrap_interval(accuracy, Y, Y)


def accuracy(y_true, y_pred):
    return np.mean(y_true == y_pred)


@pytest.mark.parametrize("decide", [lambda score: np.ones(len(score), int), lambda score: (score > 0.5).astype(int)])
def test_intervals_cover_the_true_risk_as_often_as_they_say(decide):
    """300 resamples of 300 samples; the share of the positive class is as random as everything else."""
    rng, large = np.random.default_rng(0), np.random.default_rng(1)

    def sample(rng, n):
        y = (rng.random(n) < 0.2).astype(int)
        return y, decide(rng.normal(size=n) + 1.5 * y)

    true = cost_risk(*sample(large, 1_000_000), fn_cost=5.0)
    covered = []
    for seed in range(300):
        interval = bootstrap_interval(cost_risk, *sample(rng, 300), fn_cost=5.0, n_resamples=200, random_state=seed)
        covered.append(interval.low <= true <= interval.high)
    assert 0.90 <= np.mean(covered) <= 0.98


def test_an_interval_prints_as_one_line():
    interval = bootstrap_interval(cost_risk, Y, (SCORE > 0.5).astype(int), n_resamples=50, random_state=0)
    assert repr(interval) == f"{interval.estimate:.6g} [{interval.low:.6g}, {interval.high:.6g}] by 50 resamples"
