"""Costs of four outcomes and their reduction to costs of errors."""

import numpy as np
import pandas as pd
import pytest

from cssvm import decision_costs

DIFFERENCES = [(fn, fp) for fn in (-0.5, 0.0, 0.5) for fp in (-0.5, 0.0, 0.5) if fn >= 0 or fp >= 0]


@pytest.mark.parametrize(("fn", "fp"), DIFFERENCES)
@pytest.mark.parametrize("base", [-1.0, 0.0, 3.0])
def test_the_better_action_at_any_probability_is_that_of_the_four_costs(fn, fp, base):
    costs = decision_costs(tp_cost=base, fn_cost=base + fn, tn_cost=-base, fp_cost=fp - base)
    assert costs.fn_cost >= 0
    assert costs.fp_cost >= 0
    for p in (0.1, 0.5, 0.9):
        leaving_costs_more = p * fn - (1 - p) * fp
        by_two = p * costs.fn_cost - (1 - p) * costs.fp_cost
        assert np.sign(by_two) == np.sign(leaving_costs_more) or (fn <= 0 and by_two <= 0) or (fp <= 0 <= by_two)
    if fn == 0 or fp == 0:  # two costs of 0 only where both actions are alike
        assert (costs.fn_cost == costs.fp_cost == 0) == (fn == fp == 0)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_a_difference_of_zero_next_to_a_negative_one_becomes_a_rounding_error_of_that(unit):
    costs = decision_costs(fn_cost=unit * np.array([0.0, -4.0, 0.0]), fp_cost=unit * np.array([-2.0, 0.0, 3.0]))
    eps = np.finfo(float).eps
    np.testing.assert_allclose(costs.fn_cost, unit * np.array([2 * eps, 0.0, 0.0]), rtol=1e-12, atol=0)
    np.testing.assert_allclose(costs.fp_cost, unit * np.array([0.0, 4 * eps, 3.0]), rtol=1e-12, atol=0)


@pytest.mark.parametrize(("fn", "fp"), DIFFERENCES)
def test_samples_are_fixed_where_one_action_is_never_the_worse(fn, fp):
    costs = decision_costs(fn_cost=fn, fp_cost=fp)
    never_worse = {-1: fn <= 0 <= fp, 1: fp <= 0 <= fn}
    expected = -1 if never_worse[-1] else int(never_worse[1])  # where both are alike, it is left alone
    assert costs.fixed == expected
    assert type(costs.fixed) is int
    assert costs.n_fixed == abs(expected)


def test_costs_unpack_and_hold_no_other_names():
    costs = decision_costs(tp_cost=-1.0, fp_cost=2.0)
    assert dict(costs) == {"fn_cost": 1.0, "fp_cost": 2.0}
    assert [type(each) for each in dict(costs).values()] == [float, float]
    with pytest.raises(KeyError):
        costs["fixed"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"tp_cost": [1.0, 2.0], "fp_cost": [1.0, 2.0, 3.0]},
            r"all of one length; got shapes \[\(2,\), \(3,\), \(\), \(\)\]",
        ),
        ({"tp_cost": [[1.0, 2.0]]}, r"hold one value for each sample"),
        ({"fn_cost": [1.0, np.inf, 2.0]}, "fn_cost must be finite; got fn_cost=inf"),
        ({"tn_cost": -np.inf}, "tn_cost must be finite; got tn_cost=-inf"),
        ({"tp_cost": [0.0, 0.0, 5.0], "fp_cost": -1.0}, "on 1 samples, first in sample 2"),
        ({"tp_cost": 5.0, "fp_cost": [-1.0, 0.0, -1.0]}, "on 2 samples, first in sample 0"),
    ],
)
def test_costs_that_decide_nothing_are_rejected(given, message):
    with pytest.raises(ValueError, match=message):
        decision_costs(**given)


def test_series_keep_their_index_and_must_share_it():
    amount = pd.Series([5.0, 1.0, 7.0], index=list("cab"))
    costs = decision_costs(fn_cost=amount, fp_cost=2.0)
    pd.testing.assert_series_equal(costs.fn_cost, amount)
    pd.testing.assert_series_equal(costs.fp_cost, pd.Series(2.0, index=amount.index))
    both = decision_costs(fn_cost=amount, tp_cost=amount / 2)
    pd.testing.assert_series_equal(both.fn_cost, amount / 2)
    with pytest.raises(ValueError, match="must have the same index"):
        decision_costs(fn_cost=amount, tp_cost=amount[::-1])


@pytest.mark.parametrize("pos_label", ["bad", "good"])
def test_samples_are_trained_on_as_the_class_of_their_better_action(pos_label):
    y = np.array([pos_label] * 3 + [{"bad": "good", "good": "bad"}[pos_label]] * 3)
    fn = np.array([4.0, -3.0, 0.0, 1.0, 1.0, 1.0])
    fp = np.array([1.0, 1.0, 1.0, 5.0, -2.0, 0.0])
    labels, costs = decision_costs(fn_cost=fn, fp_cost=fp).training(y, pos_label=pos_label)
    np.testing.assert_array_equal(labels == pos_label, [True, False, True, False, True, False])
    own = np.array([4.0, 3.0, 0.0, 5.0, 2.0, 0.0])  # what the worse action costs more
    np.testing.assert_array_equal(costs["fn_cost"], own)
    np.testing.assert_array_equal(costs["fp_cost"], own)
    assert (y[:3] == pos_label).all()  # those given are left as they are


def test_series_of_costs_are_matched_to_the_labels_of_training():
    y = pd.Series([1, 0, 1], index=list("abc"))
    amount = pd.Series([7.0, 1.0, -5.0], index=list("cba"))
    labels, costs = decision_costs(fn_cost=amount, fp_cost=2.0).training(y)
    np.testing.assert_array_equal(labels, [0, 0, 1])
    np.testing.assert_array_equal(costs["fn_cost"], [5.0, 2.0, 7.0])
