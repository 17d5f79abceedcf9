"""The positive class of scores: metrics require it, unless the scores carry it."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from cssvm._core.positive_class import PositiveClass, PositiveClassScores
from cssvm.displays._scored import score_folds
from cssvm.metrics import (
    cost_curve,
    cost_risk,
    expected_cost_at,
    income,
    min_cost_risk,
    neyman_pearson,
    roc_convex_hull,
    savings_score,
    tn_auc_loss,
    tp_auc_loss,
)
from cssvm.metrics._scored import ScoredSamples

Y = np.array([0, 0, 1, 0, 1, 1, 0, 1])
SCORE = np.array([0.1, 0.7, 0.4, 0.3, 0.8, 0.6, 0.2, 0.9])
WEIGHT = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 1.0, 1.0])
OPTIONS = {neyman_pearson: {"max_fpr": 0.4}, expected_cost_at: {"thresholds": [0.35, 0.65]}}


@pytest.mark.parametrize(
    "metric",
    [min_cost_risk, expected_cost_at, roc_convex_hull, cost_curve, neyman_pearson, tp_auc_loss, tn_auc_loss],
)
def test_metrics_of_scores_are_for_the_class_named(metric):
    """With the labels exchanged, the class named by the other label is the same one."""
    options = {"sample_weight": WEIGHT, **OPTIONS.get(metric, {})}
    expected = metric(Y, SCORE, pos_label=1, **options)
    np.testing.assert_equal(metric(1 - Y, SCORE, pos_label=0, **options), expected)
    np.testing.assert_equal(metric(Y, SCORE, **options), expected)
    scores = PositiveClassScores(SCORE, PositiveClass(np.array([0, 1]), 0), 0.0)
    np.testing.assert_equal(metric(1 - Y, scores, **options), expected)


@pytest.mark.parametrize("metric", [cost_risk, savings_score, income])
def test_metrics_of_decisions_are_for_the_class_named(metric):
    decisions = (SCORE > 0.5).astype(int)
    options = {"sample_weight": WEIGHT, "fn_cost": 5.0, "fp_cost": 2.0}
    expected = metric(Y, decisions, pos_label=1, **options)
    assert metric(1 - Y, 1 - decisions, pos_label=0, **options) == expected == metric(Y, decisions, **options)
    assert metric(Y, decisions, pos_label=0, **options) != expected
    strings, decided = np.where(Y == 1, "bad", "good"), np.where(decisions == 1, "bad", "good")
    assert metric(strings, decided, pos_label="bad", **options) == expected
    with pytest.raises(ValueError, match="pos_label is required"):
        metric(strings, decided, **options)


def test_scores_with_a_positive_class_are_rejected_for_another_one():
    scores = PositiveClassScores(SCORE, PositiveClass(np.array([0, 1]), 1), 0.0)
    assert min_cost_risk(Y, scores, pos_label=1) == min_cost_risk(Y, scores)
    with pytest.raises(ValueError, match="pos_label must be the class that the scores are for, 1; got pos_label=0"):
        min_cost_risk(Y, scores, pos_label=0)


def test_a_class_is_named_by_the_scores_or_by_the_user_where_labels_are_strings():
    labels = np.where(Y == 1, "bad", "good")
    unnamed = PositiveClassScores(-SCORE, PositiveClass(np.array(["bad", "good"]), 1, named=False), 0.0)
    with pytest.raises(ValueError, match="pos_label is required"):
        min_cost_risk(labels, unnamed, fn_cost=5.0)
    assert min_cost_risk(labels, unnamed, fn_cost=5.0, pos_label="good") == min_cost_risk(1 - Y, -SCORE, fn_cost=5.0)
    named = PositiveClassScores(SCORE, PositiveClass(np.array(["bad", "good"]), 0), 0.0)
    assert min_cost_risk(labels, named, fn_cost=5.0) == min_cost_risk(Y, SCORE, fn_cost=5.0)
    # The positive class of the scores takes precedence over the one found by a caller inside the library.
    found = ScoredSamples.from_labels(labels, named, pos_label=PositiveClass(np.array(["bad", "good"]), 1))
    np.testing.assert_array_equal(found.samples.positive, Y == 1)


@pytest.mark.parametrize(("n_positive", "n_negative"), [(1, 1), (1, 6), (4, 4), (3, 8), (12, 2), (9, 9)])
def test_scores_clearly_below_chance_warn(n_positive, n_negative):
    """Below chance by two standard deviations of the area of random scores, sqrt((m + n + 1) / (12 m n))."""
    y = np.repeat([1, 0], [n_positive, n_negative])
    limit = 0.5 - 2 * np.sqrt((n_positive + n_negative + 1) / (12 * n_positive * n_negative))
    places = np.arange(n_negative + 1)  # of a positive sample among the negative ones: all areas in steps of 1 / m n
    for place in places:
        for n_there in range(n_positive + 1):
            score = np.concatenate(
                [np.repeat([place - 0.5, -0.5], [n_there, n_positive - n_there]), np.arange(n_negative)]
            )
            area = (score[y == 1][:, None] > score[y == 0]).mean()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                ScoredSamples.from_labels(y, score)
                ScoredSamples.from_labels(
                    y, PositiveClassScores(score, PositiveClass(np.array([0, 1]), 1), 0.0)
                )  # which carry their positive class
            assert len(caught) == (area < limit)
            assert all("below the negative class" in str(each.message) for each in caught)


def test_scores_are_equal_up_to_the_tie_asked_for():
    sample = ScoredSamples.from_labels(Y, SCORE).samples
    assert len(ScoredSamples.from_samples(sample, SCORE).ranking.last) == len(Y)
    assert len(ScoredSamples.from_samples(sample, SCORE, tie=1.0).ranking.last) == 1


def test_scores_keep_single_precision_unless_double_is_asked_for():
    single = SCORE.astype(np.float32)
    assert ScoredSamples.from_labels(Y, single).scores.dtype == np.float32
    assert ScoredSamples.from_labels(Y, single, in_double=True).scores.dtype == np.float64


class Fitted(ClassifierMixin, BaseEstimator):
    def __init__(self, pos_label=None, sign=1.0):
        self.pos_label = pos_label
        self.sign = sign
        self.classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return self.sign * X[:, 0]

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


FOLDS = [np.array([0, 2, 4, 6]), np.array([7, 5, 3, 1])]


def held_out(**options):
    estimators = [Fitted(sign=1.0), Fitted(sign=2.0)]
    results = {"estimator": estimators, "indices": {"test": FOLDS}}
    return score_folds(results, SCORE[:, None], Y, **options)


@pytest.mark.parametrize("pos_label", [None, 0, 1])
def test_held_out_samples_have_the_scores_of_their_folds_for_the_class_named(pos_label):
    fn_cost, fp_cost = np.arange(1.0, 9.0), np.arange(11.0, 19.0)
    found = held_out(fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=WEIGHT, pos_label=pos_label)
    side, positive = (-1, Y == 0) if pos_label == 0 else (1, Y == 1)
    for fold, rows, sign in zip(found.folds, FOLDS, (1.0, 2.0), strict=True):
        np.testing.assert_array_equal(fold.scores, side * sign * SCORE[rows])
        np.testing.assert_array_equal(fold.samples.positive, positive[rows])
        np.testing.assert_array_equal(fold.samples.cost, np.where(positive, fn_cost, fp_cost)[rows])
        np.testing.assert_array_equal(fold.samples.weights, WEIGHT[rows])
    np.testing.assert_array_equal(found.pooled.scores, np.concatenate([fold.scores for fold in found.folds]))
    np.testing.assert_array_equal(found.pooled.samples.positive, positive[np.concatenate(FOLDS)])


def test_held_out_scores_may_be_probabilities_and_are_for_the_class_of_the_first_model():
    found = held_out(response_method="predict_proba")
    np.testing.assert_array_equal(found.pooled.scores, SCORE[np.concatenate(FOLDS)])
    results = {"estimator": [Fitted(pos_label=0), Fitted()], "indices": {"test": FOLDS}}
    np.testing.assert_array_equal(score_folds(results, SCORE[:, None], Y).pooled.scores, -SCORE[np.concatenate(FOLDS)])


@pytest.mark.parametrize("missing", ["estimator", "indices"])
def test_results_without_models_or_folds_are_rejected(missing):
    results = {"estimator": [Fitted(), Fitted()], "indices": {"test": FOLDS}}
    del results[missing]
    with pytest.raises(ValueError, match=f"it lacks \\['{missing}'\\]"):
        score_folds(results, SCORE[:, None], Y)
