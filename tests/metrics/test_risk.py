import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cssvm._core.decision import RISK_TIE
from cssvm.metrics import cost_risk, expected_cost_at, min_cost_risk

from .samples import cases, rates_by_definition, risk_by_definition, thresholds

Y = np.array([1, 1, 1, 0, 0, 0, 0, 0])
PRED = np.array([1, 0, 0, 1, 0, 0, 0, 0])  # P_FN = 2/3, P_FP = 1/5


def test_risk_is_priors_times_costs_times_rates():
    expected = (3 / 8) * 4 * (2 / 3) + (5 / 8) * 2 * (1 / 5)
    assert cost_risk(Y, PRED, fn_cost=4, fp_cost=2) == pytest.approx(expected, rel=1e-15)
    assert cost_risk(Y, PRED) == 3 / 8  # equal costs: the error rate


def test_a_given_prior_replaces_the_share_of_the_sample():
    expected = 0.01 * 4 * (2 / 3) + 0.99 * 2 * (1 / 5)
    assert cost_risk(Y, PRED, fn_cost=4, fp_cost=2, prior=0.01) == pytest.approx(expected, rel=1e-15)
    ends = [cost_risk(Y, PRED, fn_cost=4, fp_cost=2, prior=prior) for prior in (0, 1)]
    assert ends == pytest.approx([2 / 5, 8 / 3], rel=1e-15)


def test_the_normalised_risk_divides_by_what_being_always_wrong_costs():
    assert cost_risk(Y, PRED, fn_cost=4, fp_cost=2, normalize=True) == (4 * 2 + 2 * 1) / (4 * 3 + 2 * 5)
    assert cost_risk(Y, 1 - Y, fn_cost=4, fp_cost=2, normalize=True) == 1.0
    by_prior = cost_risk(Y, PRED, fn_cost=4, fp_cost=2, prior=0.01, normalize=True)
    assert by_prior == pytest.approx((0.01 * 4 * 2 / 3 + 0.99 * 2 / 5) / (0.01 * 4 + 0.99 * 2), rel=1e-14)


def test_calling_every_german_applicant_bad_has_the_normalised_risk_0_32():
    # 300 bad, 700 good; a false negative costs 5, a false positive 1: 700 / (5 * 300 + 700) = 0.318.
    y, everybody_bad = np.repeat(["bad", "good"], [300, 700]), np.full(1000, "bad")
    risk = cost_risk(y, everybody_bad, fn_cost=5, pos_label="bad", normalize=True)
    assert risk == 700 / 2200
    assert round(risk, 2) == 0.32
    assert cost_risk(y, everybody_bad, fn_cost=5, pos_label="bad") == 0.7


def test_example_dependent_costs_give_the_mean_cost_of_a_sample():
    fn_cost = np.array([10, 20, 40, np.nan, np.nan, np.nan, np.nan, np.nan])
    fp_cost = np.array([np.nan, np.nan, np.nan, 7, 8, 9, 1, 2])
    assert cost_risk(Y, PRED, fn_cost=fn_cost, fp_cost=fp_cost) == (20 + 40 + 7) / 8
    assert cost_risk(Y, PRED, fn_cost=fn_cost, fp_cost=fp_cost, normalize=True) == (20 + 40 + 7) / (70 + 27)
    mixed = cost_risk(Y, PRED, fn_cost=fn_cost, fp_cost=fp_cost, prior=0.1)
    assert mixed == pytest.approx(0.1 * 60 / 3 + 0.9 * 7 / 5, rel=1e-14)


@given(case=cases(), normalize=st.booleans(), data=st.data())
def test_risk_equals_its_definition_sample_by_sample(case, normalize, data):
    accepted = data.draw(arrays(bool, len(case.y)))
    expected = float(risk_by_definition(case, accepted, normalize))
    assert cost_risk(case.y, accepted.astype(int), **case.costs, normalize=normalize) == expected


@given(case=cases(), prior=st.sampled_from([None, 0.25]), normalize=st.booleans())
def test_whole_weights_are_repeated_samples(case, prior, normalize):
    copies = case.repeated
    shared = {"prior": prior, "normalize": normalize}
    weighted = min_cost_risk(case.y, case.score, **case.costs, **shared)
    if copies.fn_cost[copies.y == 1].any() and copies.fp_cost[copies.y == 0].any():
        np.testing.assert_allclose(
            weighted, min_cost_risk(copies.y, copies.score, **copies.costs, **shared), rtol=1e-14
        )


@given(case=cases(), normalize=st.booleans())
def test_minimum_risk_equals_brute_force_over_all_thresholds(case, normalize):
    risks = [risk_by_definition(case, case.score >= t, normalize) for t in thresholds(case)]
    best = min_cost_risk(case.y, case.score, **case.costs, normalize=normalize)
    assert best.risk == float(min(risks))
    # Among equal risks the highest threshold, which accepts the fewest rows.
    first = thresholds(case)[risks.index(min(risks))]
    counted = case.weight > 0
    np.testing.assert_array_equal((case.score >= best.threshold)[counted], (case.score >= first)[counted])
    assert (best.fpr, best.fnr) == tuple(map(float, rates_by_definition(case, best.threshold)))


@given(case=cases(), prior=st.sampled_from([0.0, 0.1, 1.0]), normalize=st.booleans())
def test_minimum_risk_with_a_prior_equals_brute_force(case, prior, normalize):
    costs = {**case.costs, "prior": prior, "normalize": normalize}
    risks = [cost_risk(case.y, (case.score >= t).astype(int), **costs) for t in thresholds(case)]
    everywhere = cost_risk(case.y, 1 - case.y, **costs)
    assert min_cost_risk(case.y, case.score, **costs).risk == pytest.approx(min(risks), abs=2 * RISK_TIE * everywhere)


@given(
    y=arrays(bool, 30),
    score=arrays(np.float64, 30, elements=st.floats(-1e300, 1e300)),
    cost=arrays(np.float64, 30, elements=st.floats(0.1, 1e3)),
)
def test_the_threshold_reproduces_the_risk_to_the_last_digit(y, score, cost):
    y[:2] = [False, True]
    best = min_cost_risk(y, score, fn_cost=cost, fp_cost=cost)
    assert cost_risk(y, score >= best.threshold, fn_cost=cost, fp_cost=cost) == best.risk


@given(score=arrays(np.float32, 12, elements=st.floats(1, float(np.float32(1.0000005)), width=32)), y=arrays(bool, 12))
def test_the_threshold_of_single_precision_scores_reproduces_the_risk_in_single_precision(score, y):
    y[:2] = [False, True]
    best = min_cost_risk(y, score)
    assert cost_risk(y, score >= np.float32(best.threshold)) == best.risk


def test_the_threshold_is_half_way_between_neighbouring_scores():
    assert min_cost_risk([0, 1], [2.0, 5.0]) == (0.0, 3.5, 0.0, 0.0)
    # There is no number between neighbouring floats: the score itself is the threshold.
    above = np.nextafter(1.0, 2.0)
    assert min_cost_risk([0, 1], [1.0, above]).threshold == above


def test_all_negative_and_all_positive_are_thresholds_too():
    assert min_cost_risk([1, 0, 0], [1.0, 2.0, 3.0]) == (1 / 3, np.inf, 0.0, 1.0)
    assert min_cost_risk([1, 1, 0], [1.0, 2.0, 3.0]) == (1 / 3, -np.inf, 1.0, 0.0)


def test_constant_scores_leave_the_two_constant_decisions():
    assert min_cost_risk([1, 0, 0, 0], np.zeros(4), fn_cost=2) == (2 / 4, np.inf, 0.0, 1.0)
    assert min_cost_risk([1, 0, 0, 0], np.zeros(4), fn_cost=4) == (3 / 4, -np.inf, 1.0, 0.0)


def test_equal_risks_tie_whatever_the_rounding():
    # All four predicted positive cost 10, all negative 1 + 2 + 7; in tenths these sums differ.
    y, score, fn_cost = [0, 1, 1, 1], [4.0, 3.0, 2.0, 1.0], np.array([0, 1, 2, 7])
    for unit in (1, 0.1):
        best = min_cost_risk(y, score, fn_cost=fn_cost * unit, fp_cost=10 * unit)
        assert best.threshold == np.inf


@given(case=cases(), unit=st.sampled_from([0.1, 1 / 3, 0.7]))
def test_the_unit_of_the_costs_does_not_change_the_threshold(case, unit):
    whole = min_cost_risk(case.y, case.score, **case.costs)
    scaled = min_cost_risk(
        case.y, case.score, fn_cost=unit * case.fn_cost, fp_cost=unit * case.fp_cost, sample_weight=case.weight
    )
    assert scaled.threshold == whole.threshold


@given(case=cases(), normalize=st.booleans(), prior=st.sampled_from([None, 0.3]))
def test_expected_cost_at_a_threshold_is_the_risk_of_its_decisions(case, normalize, prior):
    levels = np.array([[-np.inf, -1.0, -0.25], [0.0, 0.5, np.inf]])
    costs = {**case.costs, "prior": prior, "normalize": normalize}
    risks = expected_cost_at(case.y, case.score, levels, **costs)
    assert risks.shape == levels.shape
    expected = [cost_risk(case.y, (case.score >= level).astype(int), **costs) for level in levels.ravel()]
    # Sums of at most 9 terms up to 15 each, in another order.
    np.testing.assert_allclose(risks.ravel(), expected, atol=1e-13)


def test_expected_cost_at_one_threshold_is_a_number():
    assert expected_cost_at([0, 1], [0.2, 0.1], 0.15, fn_cost=4) == 2.5


def test_one_class_alone_has_a_mean_cost_but_no_prior_and_no_best_threshold():
    assert cost_risk([0, 0], [0, 1], fp_cost=3) == 1.5
    assert cost_risk(["good", "good"], ["good", "bad"], fp_cost=3, pos_label="bad") == 1.5
    assert expected_cost_at([1, 1], [0.1, 0.9], [0.5], fn_cost=4, pos_label=1) == [2.0]
    for refused in (
        lambda: cost_risk([0, 0], [0, 1], prior=0.5),
        lambda: min_cost_risk([0, 0], [0.1, 0.2]),
        lambda: min_cost_risk([0, 1], [0.1, 0.2], sample_weight=[1, 0]),
    ):
        with pytest.raises(ValueError, match="y_true must hold samples of both classes"):
            refused()


@pytest.mark.parametrize("prior", [-0.1, 1.1, np.nan, "half", True])
def test_a_prior_is_a_probability(prior):
    with pytest.raises(ValueError, match=r"prior must be the share of the positive class.* got prior="):
        cost_risk(Y, PRED, prior=prior)


def test_thresholds_must_be_numbers():
    with pytest.raises(ValueError, match="thresholds must be numbers or infinite; got nan"):
        expected_cost_at([0, 1], [0.1, 0.2], [0.1, np.nan])
