import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cssvm.metrics import cost_risk, income, savings_score

from .samples import cases, risk_by_definition

NAN = np.nan


def test_a_benefit_is_minus_the_cost_of_its_outcome():
    y, pred = [1, 1, 0, 0, 1], [1, 0, 1, 0, 1]
    donation = np.array([20.0, 5.0, np.nan, np.nan, 7.0])
    by_benefits = income(y, pred, tp_benefit=donation - 0.68, fp_benefit=-0.68, fn_benefit=-1.0, tn_benefit=0.25)
    assert by_benefits == pytest.approx(19.32 + 6.32 - 0.68 - 1.0 + 0.25)
    assert by_benefits == income(y, pred, tp_cost=0.68 - donation, fp_cost=0.68, fn_cost=1.0, tn_cost=-0.25)
    shuffled = pd.Series(donation - 0.68, index=list("abcde")).loc[list("edcba")]
    assert income(pd.Series(y, index=list("abcde")), pred, tp_benefit=shuffled) == pytest.approx(19.32 + 6.32)
    with pytest.raises(ValueError, match="tp_benefit and tp_cost of income are the same with opposite signs"):
        income(y, pred, tp_benefit=1.0, tp_cost=1.0)


def test_income_is_minus_the_cost_of_each_outcome():
    y, pred = [1, 1, 0, 0], [1, 0, 1, 0]
    assert income(y, pred, tp_cost=-100, fp_cost=10, fn_cost=30, tn_cost=-1) == 100 - 30 - 10 + 1
    assert income(y, pred, tp_cost=-100, fp_cost=10) == 90


def test_costs_of_outcomes_are_read_only_on_samples_they_apply_to():
    y, pred = [1, 1, 0, 0], [1, 0, 1, 0]
    amounts = {
        "tp_cost": [-5, NAN, NAN, NAN],
        "fn_cost": [NAN, 7, NAN, NAN],
        "fp_cost": [NAN, NAN, 2, NAN],
        "tn_cost": [NAN, NAN, NAN, -0.5],
    }
    assert income(y, pred, **amounts) == 5 - 7 - 2 + 0.5
    assert income(y, pred, **amounts, sample_weight=[2, 1, 0, 4]) == 10 - 7 + 2
    with pytest.raises(ValueError, match="tp_cost must be finite on every sample it applies to; got nan on 1 of 2"):
        income(y, [1, 1, 0, 0], **amounts)


def test_mailing_everybody_earns_the_donations_less_the_postage():
    # KDD 98: 4,873 of 96,367 people would give 76,089.64 dollars altogether; each letter costs 0.68 dollars.
    donation = np.zeros(96_367)
    donation[:4_873] = 76_089.64 / 4_873
    everybody = np.ones(len(donation), dtype=int)
    earned = income(donation > 0, everybody, tp_cost=0.68 - donation, fp_cost=0.68)
    assert earned == pytest.approx(10_560.08, abs=0.005)


def test_the_printed_benefit_matrix_is_not_what_the_table_measures():
    """The paper prints donation, -0.68, -donation and 0: with these, everybody has 3,313.64 dollars more."""
    donation = np.zeros(96_367)
    donation[:4_873] = 76_089.64 / 4_873
    everybody = np.ones(len(donation), dtype=int)
    printed = income(donation > 0, everybody, tp_cost=-donation, fp_cost=0.68, fn_cost=donation)
    assert printed == pytest.approx(13_873.72, abs=0.005)
    assert printed - 10_560.08 == pytest.approx(0.68 * 4_873, abs=0.005)


def test_mailing_everybody_of_the_kdd98_validation_file_earns_10560_dollars(real):
    answers = real("kdd98", variant="validation")
    assert len(answers.target) == 96_367
    everybody = np.ones(len(answers.target), dtype=int)
    earned = income(answers.target, everybody, tp_cost=0.68 - answers.amounts, fp_cost=answers.fp_cost)
    assert earned == pytest.approx(10_560.08, abs=0.005)


@given(case=cases(), data=st.data())
def test_income_of_negative_costs_is_minus_the_whole_cost(case, data):
    pred = data.draw(arrays(bool, len(case.y))).astype(int)
    lost = cost_risk(case.y, pred, **case.costs) * case.weight.sum()
    earned = income(case.y, pred, fp_cost=case.fp_cost, fn_cost=case.fn_cost, sample_weight=case.weight)
    assert earned == pytest.approx(-lost, rel=1e-14)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.inf, "tp_cost must be finite"),
        ("much", "tp_cost must be a number or an array of numbers"),
        (np.nan, "tp_cost must be finite"),
        ([1.0, 2.0], r"tp_cost must be a number or hold one value for each sample of y_true, shape \(3,\)"),
        (["a", "b", "c"], "tp_cost must be a number or an array of numbers"),
    ],
)
def test_costs_of_outcomes_must_be_numbers(cost, message):
    with pytest.raises(ValueError, match=message):
        income([1, 0, 1], [1, 1, 1], tp_cost=cost, fp_cost=1)


def test_savings_compare_with_the_better_of_the_two_constant_decisions():
    y, pred = [1, 1, 0, 0, 0], [1, 0, 0, 0, 0]
    # Acting on nobody costs 2 * 5, on everybody 3 * 1; the predictions have one false negative: 5.
    assert savings_score(y, pred, fn_cost=5) == 1 - 5 / 3
    assert savings_score(y, pred, fn_cost=1) == 1 - 1 / 2


@given(case=cases(), data=st.data())
def test_savings_equal_their_definition_sample_by_sample(case, data):
    everyone = np.ones(len(case.y), dtype=bool)
    constant = min(risk_by_definition(case, everyone), risk_by_definition(case, ~everyone))
    accepted = data.draw(arrays(bool, len(case.y)))
    expected = 1 - risk_by_definition(case, accepted) / constant
    # Exact but for the rounding of the quotient, itself at most 9 * 15.
    found = savings_score(case.y, accepted.astype(int), **case.costs)
    assert found == pytest.approx(float(expected), abs=135 * np.finfo(float).eps)


def test_savings_need_a_constant_decision_that_costs_something():
    with pytest.raises(ValueError, match="both classes"):
        savings_score([1, 1], [1, 0])
    with pytest.raises(ValueError, match="best constant prediction, which must cost something"):
        savings_score([1, 1, 0], [1, 0, 0], fn_cost=[0, 1, 1], sample_weight=[1, 0, 1])
