import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cssvm._core.decision import ONE_MARGIN, SCORE_TIE, cheapest_threshold, score_tie, threshold_of_least_cost
from cssvm._core.ranking import Ranking
from cssvm.metrics import min_cost_risk

RULES = ("highest", "nearest_zero")


def minimum_risk_threshold(scores, y, cost):
    """The threshold by which an SVM's decision is moved."""
    return threshold_of_least_cost(scores, y > 0, cost, prefer="nearest_zero", beyond=ONE_MARGIN, tie=SCORE_TIE)


def risk(threshold, scores, y, cost):
    alarm = scores > threshold
    return cost[(y > 0) & ~alarm].sum() + cost[(y < 0) & alarm].sum()


rows = st.lists(
    st.tuples(st.integers(-6, 6), st.sampled_from([-1, 1]), st.sampled_from([0.0, 0.5, 1.0, 7.0])),
    min_size=1,
    max_size=25,
)


@given(rows.filter(lambda r: any(cost > 0 for _, _, cost in r)))
def test_the_risk_is_the_smallest_over_all_thresholds(r):
    scores, y, cost = (np.array(column) for column in zip(*r, strict=True))
    scores = scores / 3
    best = min(risk(t, scores, y, cost) for t in np.arange(-3, 3.1, 1 / 6) + 1e-3)
    assert risk(minimum_risk_threshold(scores, y, cost), scores, y, cost) == pytest.approx(best)


@given(rows.filter(lambda r: any(cost > 0 for _, _, cost in r)), st.integers(1, 4))
def test_repeated_samples_equal_weights(r, times):
    scores, y, cost = (np.array(column, dtype=float) for column in zip(*r, strict=True))
    repeated = minimum_risk_threshold(np.repeat(scores, times), np.repeat(y, times), np.repeat(cost, times))
    assert repeated == minimum_risk_threshold(scores, y, times * cost)


def test_the_cut_is_half_way_between_neighbouring_scores():
    scores, y = np.array([-3.0, -1.0, 2.0, 3.0]), np.array([-1, -1, 1, 1])
    assert minimum_risk_threshold(scores, y, np.ones(4)) == 0.5


def test_beyond_the_extremes_the_cut_is_one_away():
    scores, y = np.array([-3.0, -1.0, 2.0]), np.array([1, -1, -1])
    assert minimum_risk_threshold(scores, y, np.array([100.0, 1, 1])) == -4.0
    assert minimum_risk_threshold(scores, y, np.array([1.0, 100, 100])) == 3.0


def test_among_equal_risks_the_cut_nearest_to_zero_wins():
    scores, y = np.array([-4.0, -2.0, 1.0, 2.0]), np.array([-1, 1, -1, 1])
    assert minimum_risk_threshold(scores, y, np.ones(4)) == 1.5


def test_at_equal_distance_the_lower_cut_wins_because_it_has_fewer_false_negatives():
    scores, y = np.array([-3.0, -1.0, 1.0, 3.0]), np.array([-1, 1, -1, 1])
    assert minimum_risk_threshold(scores, y, np.ones(4)) == -2.0


def test_scores_equal_up_to_rounding_are_not_cut_apart():
    scores, y = np.array([-1.0, 1.0 - 1e-9, 1.0, 1.0 + 1e-9]), np.array([-1, 1, -1, 1])
    assert minimum_risk_threshold(scores, y, np.ones(4)) == pytest.approx(0.0, abs=1e-8)


def test_samples_that_cost_nothing_do_not_count():
    scores, y = np.array([-1.0, 0.9, 1.0]), np.array([-1, -1, 1])
    assert minimum_risk_threshold(scores, y, np.array([1.0, 0.0, 1.0])) == 0.0


@given(rows.filter(lambda r: {sign for _, sign, cost in r if cost > 0} == {-1, 1}))
def test_the_highest_of_equals_is_that_of_min_cost_risk(r):
    scores, y, cost = (np.array(column, dtype=float) for column in zip(*r, strict=True))
    assert threshold_of_least_cost(scores, y > 0, cost) == min_cost_risk(y, scores, sample_weight=cost).threshold


def test_each_rule_takes_its_own_of_equally_cheap_thresholds():
    scores, positive = np.array([-4.0, -2.0, 1.0, 3.0]), np.array([False, True, False, True])
    # One false positive below the first positive sample, or one false negative above the second negative one.
    for shift, highest, nearest in ((0.0, 2.0, 2.0), (3.0, 5.0, 0.0)):
        found = [threshold_of_least_cost(scores + shift, positive, np.ones(4), prefer=rule) for rule in RULES]
        assert found == [highest, nearest]


@pytest.mark.parametrize("prefer", RULES)
@pytest.mark.parametrize(("beyond", "ends"), [(np.inf, [np.inf, -np.inf]), (1.0, [3.0, -4.0])])
def test_the_ends_lie_as_far_beyond_the_scores_as_requested(prefer, beyond, ends):
    scores, y = np.array([-3.0, -1.0, 2.0]), np.array([1, -1, -1])
    found = [
        threshold_of_least_cost(scores, y > 0, np.array(cost), prefer=prefer, beyond=beyond)
        for cost in ([1.0, 100, 100], [100.0, 1, 1])
    ]
    assert found == ends


def test_a_run_of_nearly_equal_scores_is_cut_at_its_end():
    ranking = Ranking.from_scores(np.array([0.0, 1.0, 1.1, 1.2, 3.0]), tie=0.15)
    np.testing.assert_array_equal(ranking.lowest, [3.0, 1.0, 0.0])
    np.testing.assert_array_equal(ranking.highest, [3.0, 1.2, 0.0])
    np.testing.assert_allclose(ranking.thresholds(np.arange(4)), [np.inf, 2.1, 0.5, -np.inf])
    positive = np.array([False, True, False, True, True])[ranking.order]
    assert cheapest_threshold(ranking, positive, np.ones(5)) == 0.5


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("parts_are_positive", [True, False])
def test_costs_equal_up_to_rounding_are_equal_in_any_unit(scale, parts_are_positive):
    """Accepting one sample or all four costs a + b or c = a + b, which round differently: the highest is taken."""
    scores = np.array([5.0, 4.0, 3.0, 2.0])
    positive = np.array([True, *([False, True, True] if parts_are_positive else [False, False, True])])
    for a, b in itertools.product(range(1, 10), repeat=2):
        parts, whole = [a / 10, b / 10], [(a + b) / 10]
        weighted_costs = scale * np.array([10.0, *(whole + parts if parts_are_positive else parts + whole)])
        assert threshold_of_least_cost(scores, positive, weighted_costs) == 4.5


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("apart", "one_run"), [(0.5e-6, True), (2e-6, False)])
def test_scores_are_equal_up_to_the_tie(scale, apart, one_run):
    scores, positive = scale * np.array([-1.0, -0.01, 1.0, 1.0 + apart]), np.array([False, False, False, True])
    found = threshold_of_least_cost(scores, positive, np.ones(4), tie=scale * 1e-6)
    # Both are predicted positive, with one false positive, or negative, with one false negative.
    assert (scores[2] < found <= scores[3]) != one_run
    assert scores[2] < threshold_of_least_cost(scores, positive, np.ones(4)) <= scores[3]


def test_of_thresholds_at_equal_distance_up_to_the_tie_of_scores_the_lower_wins():
    scores, y = np.array([-3.0 - 1e-7, -1.0, 1.0, 3.0]), np.array([-1, 1, -1, 1])
    found = threshold_of_least_cost(scores, y > 0, np.ones(4), prefer="nearest_zero", tie=1e-6)
    assert found == pytest.approx(-2.0)


@given(st.lists(st.integers(0, 400), min_size=1, max_size=60), st.sampled_from([0.5, 3.0, 10.0]))
def test_runs_of_equal_scores_are_narrow_and_apart_where_scores_are(values, tie):
    scores = np.array(values, dtype=float)
    ranking = Ranking.from_scores(scores, tie=tie)
    assert (ranking.highest - ranking.lowest < 2 * tie).all()
    assert (ranking.lowest[:-1] > ranking.highest[1:]).all()
    if np.ptp(scores) <= tie:
        assert len(ranking.last) == 1
    wide = np.diff(np.unique(scores)) > tie
    assert len(ranking.last) > np.count_nonzero(wide)


def test_a_chain_of_many_close_scores_is_not_one_score():
    ranking = Ranking.from_scores(np.linspace(0.0, 1.0, 5001), tie=1e-3)
    assert len(ranking.last) == 1000


def test_scores_of_coarsely_trained_models_are_equal_up_to_their_tolerance():
    assert score_tie(1e-6) == SCORE_TIE
    assert score_tie(10 * SCORE_TIE) == 10 * SCORE_TIE


@pytest.mark.parametrize("shift", [-100.0, 0.0, 100.0])
def test_a_chain_of_close_scores_is_split_into_parts_of_equal_width_wherever_it_lies(shift):
    ranking = Ranking.from_scores(np.arange(11.0) + shift, tie=3.0)  # three parts of 10 / 3
    np.testing.assert_array_equal(ranking.highest - shift, [10.0, 6.0, 3.0])
    np.testing.assert_array_equal(ranking.lowest - shift, [7.0, 4.0, 0.0])
