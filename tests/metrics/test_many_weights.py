"""Metrics of many weight vectors at once equal those of each vector."""

import numpy as np
import pytest

from cssvm._core.samples import Samples
from cssvm.metrics import min_cost_risk, tn_auc_loss, tp_auc_loss
from cssvm.metrics._bootstrap import (
    _draw,
    _lacking_a_class,
    bootstrap_interval,
    joint_intervals,
    resample_counts,
)
from cssvm.metrics._curves import ranked_tn_auc_loss, ranked_tp_auc_loss
from cssvm.metrics._risk import ranked_min_risk, risk_of_predictions
from cssvm.metrics._scored import ScoredSamples

RNG = np.random.default_rng(2)
N = 12
Y = np.arange(N) % 2
SCORE = RNG.integers(0, 6, N) / 2 + Y / 2
COSTS = {"fn_cost": RNG.integers(1, 9, N), "fp_cost": RNG.integers(1, 9, N)}
WEIGHTS = RNG.integers(1, 5, (2, 3, N)).astype(float)

METRICS = {
    "risk": (ranked_min_risk, min_cost_risk, {}),
    "risk with a prior": (ranked_min_risk, min_cost_risk, {"prior": 0.2}),
    "normalised risk": (ranked_min_risk, min_cost_risk, {"normalize": True}),
    "true positives": (ranked_tp_auc_loss, tp_auc_loss, {"t": 0.4}),
    "true negatives": (ranked_tn_auc_loss, tn_auc_loss, {"t": 0.4}),
}


@pytest.mark.parametrize(("ranked", "metric", "options"), METRICS.values(), ids=METRICS)
@pytest.mark.parametrize("ties", [True, False])
def test_each_vector_of_weights_has_the_metric_that_it_has_alone(ranked, metric, options, ties):
    score = SCORE if ties else SCORE + 0.01 * np.arange(N)
    costs = COSTS if metric is min_cost_risk else {}
    rows = ScoredSamples.from_labels(Y, score, **costs)
    found = ranked(rows, **options).values(WEIGHTS[..., rows.ranking.order])
    for place in np.ndindex(2, 3):
        alone = metric(Y, score, sample_weight=WEIGHTS[place], **costs, **options)
        assert found[place] == pytest.approx(alone[0] if isinstance(alone, tuple) else alone, rel=1e-12)


@pytest.mark.parametrize("options", [{}, {"prior": 0.2}, {"normalize": True}], ids=str)
def test_decisions_of_many_models_have_the_risk_that_each_has_alone(options):
    sample = Samples.from_labels(Y, sample_weight=WEIGHTS[0, 0], **COSTS)
    decisions = RNG.integers(0, 2, (2, 3, N)).astype(bool)
    found = risk_of_predictions(sample, decisions, **options)
    for place in np.ndindex(2, 3):
        assert found[place] == pytest.approx(float(risk_of_predictions(sample, decisions[place], **options)))


@pytest.mark.parametrize(("name", "ranked"), [("prior", ranked_min_risk), ("t", ranked_tp_auc_loss)])
def test_options_are_checked_before_any_resample(name, ranked):
    with pytest.raises(ValueError, match=f"{name} must be"):
        ranked(ScoredSamples.from_labels(Y, SCORE), **{name: 1.5})


@pytest.mark.parametrize("ranked", [ranked_min_risk, ranked_tp_auc_loss, ranked_tn_auc_loss])
def test_a_ranking_of_one_class_has_no_metric(ranked):
    with pytest.raises(ValueError, match="class"):
        ranked(ScoredSamples.from_labels(Y, SCORE, sample_weight=Y))


@pytest.mark.parametrize("sizes", [np.ones(6, int), np.array([1, 2, 3, 1, 2, 3]), np.array([50, 100, 150, 1, 2, 3])])
def test_each_pool_is_drawn_as_often_as_it_has_samples_and_each_column_by_its_size(sizes):
    pools = [np.array([0, 2, 4]), np.array([1, 3, 5])]
    for used in (pools, [np.arange(6)]):
        counts = _draw(used, sizes, 4000, np.random.default_rng(0))
        assert counts.shape == (4000, 6)
        for pool in used:
            np.testing.assert_array_equal(counts[:, pool].sum(axis=1), sizes[pool].sum())
            # Four standard errors of the mean of a multinomial count.
            share = sizes[pool] / sizes[pool].sum()
            allowed = 4 * np.sqrt(sizes[pool] * (1 - share) / 4000) + 1e-12
            assert (np.abs(counts[:, pool].mean(axis=0) - sizes[pool]) <= allowed).all()
            variance = sizes[pool] * (1 - share)
            np.testing.assert_allclose(counts[:, pool].var(axis=0), variance, rtol=0.15)


def test_resamples_that_lack_a_class_are_found_beyond_the_first_samples():
    counts = np.zeros((4, 300), dtype=int)
    counts[0, [0, 160]] = 1
    counts[1, [0, 299]] = 1  # the last sample of the second class
    counts[2, 140] = 1  # the first class only
    counts[3, 299] = 1  # the second class only
    np.testing.assert_array_equal(_lacking_a_class(counts, [np.arange(150), np.arange(150, 300)]), [2, 3])


def test_resamples_hold_every_class_and_as_many_samples_as_there_are():
    classes = [np.array([3]), np.array([0, 1, 2, 4])]
    counts = np.concatenate([*resample_counts(classes, 200, np.random.default_rng(1), stratified=False)])
    assert counts.shape == (200, 5)
    np.testing.assert_array_equal(counts.sum(axis=1), 5)
    assert (counts[:, 3] > 0).all()
    assert (counts[:, classes[1]].sum(axis=1) > 0).all()
    stratified = np.concatenate([*resample_counts(classes, 200, np.random.default_rng(1), stratified=True)])
    np.testing.assert_array_equal(stratified[:, 3], 1)


def test_intervals_of_several_measures_are_those_of_each_from_the_same_resamples():
    rows = ScoredSamples.from_labels(Y, SCORE)
    order = rows.ranking.order

    def measures(counts):
        return {
            "risk": ranked_min_risk(rows).values(counts[:, order]),
            "area": ranked_tp_auc_loss(rows, t=0.4).values(counts[:, order]),
        }

    found = joint_intervals(measures, Y, n_resamples=50, confidence=0.8, random_state=3)
    options = {"n_resamples": 50, "confidence": 0.8, "random_state": 3}
    area, risk = tp_auc_loss(Y, SCORE, t=0.4), min_cost_risk(Y, SCORE).risk
    assert (found["risk"].estimate, found["area"].estimate) == pytest.approx((risk, area))
    for interval in found.values():
        assert len(interval.samples) == 50
        np.testing.assert_allclose([interval.low, interval.high], np.quantile(interval.samples, [0.1, 0.9]))

    def weighted_risk(y_true, y_score, sample_weight=None):
        return min_cost_risk(y_true, y_score, sample_weight=sample_weight).risk

    np.testing.assert_allclose(found["risk"].samples, bootstrap_interval(weighted_risk, Y, SCORE, **options).samples)


def test_a_metric_may_take_weights_among_its_other_arguments():
    def metric(y_true, y_score, **others):
        return np.average(y_score, weights=others.get("sample_weight"))

    found = bootstrap_interval(metric, Y, SCORE, n_resamples=1, random_state=0)
    assert found.estimate == pytest.approx(SCORE.mean())
    assert len(found.samples) == 1
