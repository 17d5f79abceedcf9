"""Validation of labels, scores, weights and costs, and their alignment by index."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

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

NAN = np.nan


def of_decisions(y_true, y_pred, **kwargs):
    return [
        cost_risk(y_true, y_pred, **kwargs),
        savings_score(y_true, y_pred, **kwargs),
        income(y_true, y_pred, tp_cost=-1, fp_cost=1, **kwargs),
    ]


SCORE_METRICS = {
    "min_cost_risk": min_cost_risk,
    "expected_cost_at": lambda y, s, **kwargs: expected_cost_at(y, s, [0.5], **kwargs),
    "tp_auc_loss": tp_auc_loss,
    "tn_auc_loss": tn_auc_loss,
    "roc_convex_hull": roc_convex_hull,
    "cost_curve": cost_curve,
    "neyman_pearson": lambda y, s, **kwargs: neyman_pearson(y, s, max_fpr=0.5, **kwargs),
}
every_score_metric = pytest.mark.parametrize("metric", SCORE_METRICS.values(), ids=SCORE_METRICS)

Y = np.array([1, 0, 1, 0])
PRED = np.array([1, 1, 0, 0])
SCORE = np.array([0.9, 0.7, 0.4, 0.2])


@pytest.mark.parametrize(
    ("relabel", "pos_label"),
    [
        (lambda y: 2 * y - 1, 1),
        (lambda y: y.astype(bool), True),
        (lambda y: y.astype(bool), 1),
        (lambda y: y.astype(float), 1),
        (lambda y: np.where(y == 1, "bad", "good"), "bad"),
        (lambda y: np.where(y == 1, "a", "b").astype(object), "a"),
        (lambda y: pd.Series(np.where(y == 1, "bad", "good")), "bad"),
        (lambda y: pd.Categorical(np.where(y == 1, "bad", "good")), "bad"),
        (lambda y: pl.Series(y), 1),
        (lambda y: y.tolist(), 1),
        (lambda y: 1 - y, 0),
    ],
)
def test_any_two_labels_name_the_classes(relabel, pos_label):
    found = of_decisions(relabel(Y), relabel(PRED), pos_label=pos_label)
    assert found == of_decisions(Y, PRED)
    assert min_cost_risk(relabel(Y), SCORE, pos_label=pos_label) == min_cost_risk(Y, SCORE)


@pytest.mark.parametrize(
    ("y_true", "pos_label", "message"),
    [
        ([0, 1, 2], 1, "y_true must hold two labels, pos_label=1 and one other; got labels [0, 1, 2]"),
        ([0, 2, 0], 1, "pos_label=1 must be one of the labels in y_true; got labels [0, 2]"),
        (["bad", "good", "bad"], 1, "pos_label=1 must be one of the labels in y_true; got labels ['bad', 'good']"),
        (["bad", "bad", "bad"], 1, "pos_label=1 must be one of the labels in y_true; got labels ['bad']"),
        ([1, NAN, 0], 1, "y_true must hold two labels"),
        ([1, None, 0], 1, "y_true must hold two labels"),
        ([], 1, "y_true must hold at least one sample; got none"),
        ([[0], [1], [0]], 1, "y_true must be one-dimensional; got shape (3, 1)"),
    ],
)
def test_labels_that_are_not_two_classes_are_rejected(y_true, pos_label, message):
    decisions = np.ones(3, dtype=int)[: len(y_true)]
    for refused in (cost_risk, min_cost_risk, tp_auc_loss):
        with pytest.raises(ValueError, match=re.escape(message)):
            refused(y_true, decisions, pos_label=pos_label)


def test_decisions_with_a_third_label_are_rejected():
    with pytest.raises(ValueError, match=r"y_pred must hold the labels of y_true, 1 \(pos_label\) or 0; got -1"):
        cost_risk(Y, 2 * PRED - 1)
    with pytest.raises(ValueError, match="Pass predicted labels, not scores"):
        cost_risk(Y, SCORE)
    with pytest.raises(ValueError, match="y_pred must hold the labels of y_true"):
        cost_risk([0, 0], [0, 2])


@every_score_metric
@pytest.mark.parametrize(
    ("y_score", "message"),
    [
        ([0.9, NAN, 0.4, 0.2], "y_score must be finite; got nan in sample 1 (1 in all)"),
        ([0.9, 0.7, np.inf, -np.inf], "y_score must be finite; got inf in sample 2 (2 in all)"),
        ([0.9, 0.7, 0.4], "y_score must hold one value for each sample of y_true, shape (4,); got shape (3,)"),
        (np.ones((4, 2)), "y_score must be one-dimensional; got shape (4, 2). Pass the column of pos_label."),
        (["a", "b", "c", "d"], "y_score must hold numbers; got"),
    ],
)
def test_scores_must_be_finite_numbers_one_for_each_sample(metric, y_score, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        metric(Y, y_score)


@every_score_metric
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1, 1], "sample_weight must be a number or hold one value for each sample of y_true, shape (4,)"),
        ([1, -1, 1, 1], "sample_weight must be finite and non-negative"),
        ([1, NAN, 1, 1], "sample_weight must be finite and non-negative"),
        ([0, 0, 0, 0], "sample_weight must be positive on at least one sample"),
    ],
)
def test_weights_must_be_non_negative_and_not_all_zero(metric, weight, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        metric(Y, SCORE, sample_weight=weight)
    with pytest.raises(ValueError, match=re.escape(message)):
        of_decisions(Y, PRED, sample_weight=weight)


@every_score_metric
def test_samples_of_weight_zero_are_left_out(metric):
    weight = [1, 2, 3, 4, 0, 0]
    with_them = metric(np.append(Y, [1, 0]), np.append(SCORE, [0.5, 5.0]), sample_weight=weight)
    for found, expected in zip(
        np.atleast_1d(with_them), np.atleast_1d(metric(Y, SCORE, sample_weight=weight[:4])), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


@every_score_metric
def test_whole_numbers_and_booleans_are_scores(metric):
    for score in ([1, 1, 0, 0], [True, True, False, False]):
        np.testing.assert_array_equal(metric(Y, score), metric(Y, [1.0, 1.0, 0.0, 0.0]))


def test_costs_are_rejected_with_the_reason():
    with pytest.raises(
        ValueError, match="fn_cost must be finite and non-negative on every sample of the positive class"
    ):
        cost_risk(Y, PRED, fn_cost=[1, 1, NAN, 1])
    with pytest.raises(
        ValueError, match="fp_cost must be finite and non-negative on every sample of the negative class"
    ):
        min_cost_risk(Y, SCORE, fp_cost=-1)
    with pytest.raises(
        ValueError, match=r"fn_cost must be a number or hold one value .* shape \(4,\); got shape \(2,\)"
    ):
        cost_risk(Y, PRED, fn_cost=[1, 2])


# Rows of a frame whose index is not their position.
FRAME = pd.DataFrame({"y": [1, 0, 1, 0, 1], "amount": [10.0, 20, 30, 40, 50]}, index=list("abcde"))


def test_a_series_of_costs_is_matched_to_the_index_of_y():
    part = FRAME.loc[["e", "b", "a"]]
    missed_all = np.zeros(3, dtype=int)
    assert cost_risk(part["y"], missed_all, fn_cost=FRAME["amount"]) == (50 + 10) / 3
    assert savings_score(part["y"], missed_all, fn_cost=FRAME["amount"]) == 1 - 60
    assert income(part["y"], 1 - missed_all, tp_cost=-FRAME["amount"], fp_cost=FRAME["amount"]) == 50 - 20 + 10
    assert cost_risk(part["y"], missed_all, sample_weight=FRAME["amount"]) == (50 + 10) / (50 + 20 + 10)
    assert min_cost_risk(part["y"], [3, 2, 1], fn_cost=FRAME["amount"], fp_cost=15).risk == 10 / 3


def test_a_series_with_the_default_index_is_matched_to_a_fold():
    frame = FRAME.reset_index(drop=True)
    fold = frame["y"].iloc[[4, 2]]
    assert cost_risk(fold, [0, 1], fn_cost=frame["amount"]) == 50 / 2


def test_all_arrays_are_taken_in_order_and_a_series_where_there_is_no_index():
    y, missed = FRAME["y"], np.zeros(5, dtype=int)
    in_order = pd.Series([1.0, NAN, 2.0, NAN, 3.0])
    for fn_cost in (in_order.to_numpy(), in_order.tolist(), pl.Series(in_order)):
        assert cost_risk(y, missed, fn_cost=fn_cost) == 6 / 5
    for fn_cost in (in_order, in_order.astype("Float64")):
        assert cost_risk(y.to_numpy(), missed, fn_cost=fn_cost) == 6 / 5
        with pytest.raises(ValueError, match="exactly one value for each label"):
            cost_risk(y, missed, fn_cost=fn_cost)  # numbered, where y has names


@pytest.mark.parametrize(
    "amount",
    [FRAME["amount"].drop("b"), pd.concat([FRAME["amount"], FRAME["amount"].iloc[[1]]])],
    ids=["lacks", "repeats"],
)
def test_a_series_that_lacks_or_repeats_samples_is_rejected(amount):
    with pytest.raises(
        ValueError, match="fn_cost must have exactly one value for each label in the index of the samples"
    ):
        cost_risk(FRAME["y"], FRAME["y"], fn_cost=amount)


def test_the_error_about_a_sample_that_a_series_lacks_shows_its_label_as_a_plain_number():
    y = pd.Series([1, 0], index=[7, 1543])
    with pytest.raises(ValueError, match=r"or several, for 1543 \(1 in all\)"):
        cost_risk(y, y, fn_cost=pd.Series([1.0], index=[7]))


def test_a_frame_of_costs_is_rejected():
    with pytest.raises(ValueError, match=r"fn_cost must be a number or hold one value .*got shape \(5, 1\)"):
        cost_risk(FRAME["y"], FRAME["y"], fn_cost=FRAME[["amount"]])


def test_decisions_that_are_newly_numbered_are_taken_in_order():
    y = FRAME["y"]
    assert cost_risk(y, pd.Series([0, 0, 1, 0, 1]), fn_cost=FRAME["amount"]) == 10 / 5


@pytest.mark.parametrize(
    "labels",
    [list("dbeca"), [7, 9, 3, 3, 1], [3, 1, 2, 0, 9], [0, 1, 2, 3, 4], [5, 4, 3, 2, 1]],
    ids=["words", "repeated", "partial", "fresh", "shifted"],
)
def test_predictions_with_a_new_index_are_matched_by_position(labels):
    y, decided, scores = np.array([1, 0, 1, 0, 1]), np.array([0, 0, 1, 1, 1]), np.array([0.1, 0.3, 0.9, 0.5, 0.7])
    y_true = pd.Series(y, index=labels)
    assert cost_risk(y_true, pd.Series(decided)) == cost_risk(y, decided)
    assert min_cost_risk(y_true, pd.Series(scores), fn_cost=3.0) == min_cost_risk(y, scores, fn_cost=3.0)


@pytest.mark.parametrize("fresh", ["predictions", "labels"])
def test_predictions_with_a_new_index_and_a_shuffled_table_are_rejected(fresh):
    """By label and by position they differ, and either may be meant."""
    shuffled, y, decided = [3, 1, 4, 0, 2], np.array([1, 0, 1, 0, 1]), np.array([0, 0, 1, 1, 1])
    y_true = pd.Series(y, index=shuffled if fresh == "predictions" else None)
    y_pred = pd.Series(decided, index=None if fresh == "predictions" else shuffled)
    with pytest.raises(
        ValueError, match=r"y_pred is a pandas Series with the labels of y_true in another order.*numpy"
    ):
        cost_risk(y_true, y_pred)
    with pytest.raises(ValueError, match="y_score is a pandas Series"):
        min_cost_risk(y_true, y_pred.astype(float))
    assert cost_risk(y_true, y_pred.to_numpy()) == cost_risk(y, decided)
    assert cost_risk(y_true, y_pred.loc[y_true.index]) == np.mean(y_pred.loc[y_true.index] != y_true)


@pytest.mark.parametrize("labels", [list("abcde"), [10, 20, 30, 40, 50]])
def test_predictions_with_the_labels_of_the_samples_are_found_by_label(labels):
    y_true, y_pred = pd.Series([1, 0, 1, 0, 1], index=labels), pd.Series([0, 0, 1, 1, 1], index=labels)
    assert cost_risk(y_true, y_pred.iloc[::-1]) == cost_risk(y_true, y_pred)


def test_costs_are_found_by_label_whatever_the_order_of_the_samples():
    y, amount, shuffled = np.array([1, 0, 1, 0, 1]), pd.Series([10.0, 20, 30, 40, 50]), [3, 1, 4, 0, 2]
    y_true = pd.Series(y, index=shuffled)
    nobody = np.zeros(5, dtype=int)
    assert cost_risk(y_true, nobody, fn_cost=amount) == cost_risk(y, nobody, fn_cost=amount.to_numpy()[shuffled])
