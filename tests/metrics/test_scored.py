import numpy as np
import pytest

from cssvm._core.positive_class import PositiveClass
from cssvm._core.samples import Samples
from cssvm.metrics import cost_risk, income, min_cost_risk, tn_auc_loss, tp_auc_loss
from cssvm.metrics._curves import ranked_tn_auc_loss, ranked_tp_auc_loss
from cssvm.metrics._income import ActionCosts, income_of_predictions
from cssvm.metrics._risk import minimum_risk, risk_of_predictions
from cssvm.metrics._scored import ScoredSamples


def test_costs_of_a_sample_are_those_of_its_class():
    sample = ScoredSamples.from_labels(
        ["a", "b", "b"], [1, 2, 3], fn_cost=[np.nan, 5, 7], fp_cost=2.0, pos_label="b", sample_weight=[1, 1, 3]
    ).samples
    assert sample.signs.tolist() == [-1, 1, 1]
    assert sample.cost.tolist() == [2, 5, 7]
    assert sample.weighted_costs.tolist() == [2, 5, 21]
    assert (sample.total_fn_cost, sample.total_fp_cost) == (5 + 3 * 7, 2)
    assert sample.costs_differ


def test_costs_of_classes_do_not_differ_within_them():
    rows = ScoredSamples.from_labels([0, 1, 1], [1, 2, 3], fn_cost=5.0, fp_cost=2.0, sample_weight=[1, 2, 3])
    assert not rows.samples.costs_differ


@pytest.mark.parametrize(
    ("y", "scores", "arguments", "message"),
    [
        ([0, 1], [0.0, np.nan], {}, "y_score must be finite"),
        ([0, 1], [0.0, np.inf], {}, "y_score must be finite"),
        ([], [], {}, "at least one sample"),
        ([0, 1], [0.0], {}, "one value for each sample"),
        ([1, 1], [0.0, 1.0], {"pos_label": 1}, "both classes"),
        ([0, 1, 2], [0.0, 1.0, 2.0], {}, "two labels"),
        ([0, 1], [0.0, 1.0], {"fn_cost": -1.0}, "fn_cost must be finite and non-negative"),
        ([0, 1], [0.0, 1.0], {"fp_cost": [np.nan, 1.0]}, "fp_cost must be finite"),
    ],
)
def test_wrong_input_is_rejected_with_the_reason(y, scores, arguments, message):
    with pytest.raises(ValueError, match=message):
        minimum_risk(ScoredSamples.from_labels(y, scores, **arguments))


def test_samples_without_weight_are_left_out_with_their_predictions():
    given = {"y_pred": [1, 0, 0, 1], "fn_cost": [0, 2, 0, 0], "sample_weight": [1, 1, 0, 1]}
    scored = ScoredSamples.from_labels([0, 1, 0, 1], [1, 2, 3, 4], **given)
    assert scored.scores.tolist() == [1, 2, 4]
    assert scored.predictions.tolist() == [True, False, True]
    assert scored.labels.tolist() == [0, 1, 1]
    assert scored.take([2, 0]).predictions.tolist() == [True, True]
    assert scored.take([2, 0]).scores.tolist() == [4, 1]


def test_scores_keep_their_type_unless_asked_for_in_double_precision():
    scores = np.array([1.0, 2.0], dtype=np.float32)
    assert ScoredSamples.from_labels([0, 1], scores).scores.dtype == np.float32
    assert ScoredSamples.from_labels([0, 1], scores, in_double=True).scores.dtype == np.float64


def test_checked_samples_score_many_models_as_the_public_metrics_score_each():
    """What a search calls: the samples of a fold, checked once, and the scores of all its models."""
    rng = np.random.default_rng(0)
    positive, cost, weights = rng.random(40) < 0.4, rng.integers(1, 9, 40), rng.integers(1, 4, 40)
    positive_class = PositiveClass(np.array([0, 1]), 1)
    sample = Samples.from_mask(positive_class, positive, fn_cost=cost, fp_cost=2.0, sample_weight=weights)
    scores = rng.normal(size=(5, 40)).round(1)
    predicted = scores > 0
    risks = risk_of_predictions(sample, predicted)
    incomes = income_of_predictions(sample, predicted, ActionCosts.from_errors(sample))
    assert risks.shape == incomes.shape == (5,)
    costs = {"fn_cost": cost, "fp_cost": 2.0, "sample_weight": weights}
    for own, taken, risk, earned in zip(scores, predicted, risks, incomes, strict=True):
        # Sums of 40 whole numbers.
        assert risk == cost_risk(positive, taken, **costs)
        assert earned == income(positive, taken, tp_cost=-cost, fp_cost=2.0, sample_weight=weights)
        scored = ScoredSamples.from_samples(sample, own)
        assert minimum_risk(scored) == min_cost_risk(positive, own, **costs)
        assert ranked_tp_auc_loss(scored, t=0.7).value == tp_auc_loss(positive, own, t=0.7, sample_weight=weights)
        assert ranked_tn_auc_loss(scored, t=0.7).value == tn_auc_loss(positive, own, t=0.7, sample_weight=weights)


def test_a_fold_in_which_errors_on_a_class_cost_nothing_has_a_risk():
    sample = Samples.from_mask(
        PositiveClass(np.array([0, 1]), 1), np.array([True, False]), fn_cost=[0.0, np.nan], fp_cost=3.0
    )
    assert risk_of_predictions(sample, np.array([False, True])) == 1.5
    assert minimum_risk(ScoredSamples.from_samples(sample, np.array([1.0, 2.0]))).risk == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_the_warned_area_under_the_roc_curve_is_the_share_of_pairs_in_order(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [60, 40])
    scores = np.round(rng.normal(size=100) - 2.0 * y, 1)  # with ties
    higher = scores[y == 1][:, None] - scores[y == 0]
    area = (np.count_nonzero(higher > 0) + 0.5 * np.count_nonzero(higher == 0)) / higher.size
    with pytest.warns(UserWarning, match=f"ROC curve is {area:.2f}"):
        min_cost_risk(y, scores)
