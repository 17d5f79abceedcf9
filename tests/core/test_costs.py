import warnings
from functools import reduce

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cssvm import CostSensitiveSVC, paper_costs
from cssvm._core import margins_and_bounds as costs
from cssvm._core.margins_and_bounds import (
    WeightedCostTotals,
    check_nonzero_weights,
    check_sample_weight,
    resolve_C,
    signed_terms,
)
from cssvm._core.positive_class import PositiveClass
from cssvm._core.samples import Samples
from cssvm._core.validation import sample_values

Y = np.array([1, -1, 1, -1, -1])
NAN = np.nan

positive = st.floats(1e-3, 1e3)


def whole_sample(y, **given):
    """Samples whose positive class has y = +1, as estimators validate them."""
    sample = Samples.from_mask(PositiveClass(np.array([-1, 1]), 1), y > 0, **given)
    sample.check_totals()
    return sample


def example_costs(y, **given):
    return whole_sample(y, **given).weighted_costs


def margins_and_upper_bounds(y, *, C=1.0, kappa=1.0, **given):
    sample = whole_sample(y, **given)
    return costs.margins_and_upper_bounds(
        sample.positive, sample.weighted_costs, C=C, kappa=kappa, fp_cost=sample.fp_cost
    )


def test_paper_costs_are_the_slopes_and_the_margin_of_the_cost_sensitive_hinge():
    fn_cost, fp_cost, kappa = paper_costs(4, 2).values()
    assert (fn_cost, fp_cost) == (4.0, 3.0)
    assert kappa == pytest.approx(1 / 3)


@given(C1=positive, C_minus1=st.floats(0.6, 100), f=st.floats(-10, 10))
def test_paper_costs_reproduce_the_loss_of_the_formula(C1, C_minus1, f):
    fn_cost, fp_cost, kappa = paper_costs(C1, C_minus1).values()
    assert fn_cost * max(0, 1 - f) == pytest.approx(C1 * max(0, 1 - f))
    assert fp_cost * max(0, kappa + f) == pytest.approx(max(0, 1 + (2 * C_minus1 - 1) * f), abs=1e-9)


def test_paper_costs_unpack_as_keywords():
    costs = paper_costs(4, 2)
    model = CostSensitiveSVC(**costs)
    assert {"fn_cost": model.fn_cost, "fp_cost": model.fp_cost, "kappa": model.kappa} == costs


@pytest.mark.parametrize(
    ("C1", "C_minus1", "name"), [(0, 2, "C1"), (-1, 2, "C1"), (4, 0.5, "C_minus1"), (4, NAN, "C_minus1")]
)
def test_paper_costs_refuse_costs_without_a_loss(C1, C_minus1, name):
    with pytest.raises(ValueError, match=f"{name} must be .* got {name}="):
        paper_costs(C1, C_minus1)


@pytest.mark.parametrize("container", [list, np.array, pd.Series])
def test_paper_costs_of_samples_are_those_of_each_sample_and_missing_ones_stay_missing(container):
    fn_cost, fp_cost, kappa = paper_costs(container([4.0, NAN, 1.0]), container([NAN, 2.0, 0.75])).values()
    np.testing.assert_array_equal(fn_cost, [4.0, NAN, 1.0])
    np.testing.assert_allclose(fp_cost, [NAN, 3.0, 0.5])
    np.testing.assert_allclose(kappa, [NAN, 1 / 3, 2.0])


@given(cost=arrays(float, 6, elements=st.floats(0.6, 100)), f=st.floats(-10, 10))
def test_paper_costs_of_samples_reproduce_the_example_dependent_loss(cost, f):
    fn_cost, fp_cost, kappa = paper_costs(cost, cost).values()
    np.testing.assert_allclose(fn_cost * np.maximum(0, 1 - f), cost * np.maximum(0, 1 - f))
    np.testing.assert_allclose(
        fp_cost * np.maximum(0, kappa + f), np.maximum(0, 1 + (2 * cost - 1) * f), rtol=1e-9, atol=1e-9
    )


def test_paper_costs_of_at_most_one_half_are_rejected_with_the_way_out():
    with pytest.raises(
        ValueError, match=r"C_minus1=0.5 in sample 1. Divide all costs, C1 too, by the smallest C_minus1"
    ):
        paper_costs([1.0, 1.0], [2.0, 0.5])
    smallest = 0.5
    assert paper_costs(np.array([1.0, 1.0]) / smallest, np.array([2.0, 0.5]) / smallest)["kappa"][1] == 1.0


@pytest.mark.parametrize(("C1", "C_minus1"), [([1, 2, 3], [1, 2]), ([[1, 2]], [1, 2]), ([], [])])
def test_paper_costs_of_samples_must_be_of_one_length(C1, C_minus1):
    with pytest.raises(ValueError, match="in one dimension and of one length"):
        paper_costs(C1, C_minus1)


def test_signed_terms_are_those_of_the_table():
    linear, lower, upper = signed_terms(np.array([1, -1]), np.array([1.0, 0.5]), np.array([4.0, 2.0]))
    np.testing.assert_array_equal(linear, [1.0, -0.5])
    np.testing.assert_array_equal(lower, [0.0, -2.0])
    np.testing.assert_array_equal(upper, [4.0, 0.0])


def test_a_part_of_a_sample_may_cost_nothing_where_the_whole_may_not():
    fp_cost = np.array([NAN, 0.0, NAN, 4.0, 0.0])
    sample = whole_sample(Y, fp_cost=fp_cost)
    part = sample.take([0, 1, 2])
    np.testing.assert_array_equal(part.weighted_costs, [1.0, 0.0, 1.0])
    np.testing.assert_array_equal(
        Samples.from_mask(sample.positive_class, Y[:3] > 0, fp_cost=fp_cost[:3]).weighted_costs, part.weighted_costs
    )
    with pytest.raises(ValueError, match="fp_cost must be positive on at least one sample"):
        part.check_totals()


def test_positives_have_margin_one_and_negatives_kappa():
    margins, upper_bounds = margins_and_upper_bounds(Y, C=2.0, fn_cost=5.0, fp_cost=3.0, kappa=0.25)
    np.testing.assert_array_equal(margins, [1, 0.25, 1, 0.25, 0.25])
    np.testing.assert_array_equal(upper_bounds, [10, 6, 10, 6, 6])


@given(
    y=arrays(np.int64, 8, elements=st.sampled_from([-1, 1])),
    C=positive,
    fn=arrays(float, 8, elements=positive),
    fp=arrays(float, 8, elements=positive),
    kappa=arrays(float, 8, elements=positive),
    weight=arrays(float, 8, elements=positive),
)
def test_every_sample_gets_the_margin_and_upper_bound_of_its_own_costs(y, C, fn, fp, kappa, weight):
    margins, upper_bounds = margins_and_upper_bounds(y, C=C, fn_cost=fn, fp_cost=fp, kappa=kappa, sample_weight=weight)
    for i in range(8):
        expected = (1.0, C * weight[i] * fn[i]) if y[i] > 0 else (kappa[i], C * weight[i] * fp[i])
        assert (margins[i], upper_bounds[i]) == pytest.approx(expected)


def test_tied_kappa_is_the_inverse_of_each_false_positive_cost():
    fp_cost = np.array([NAN, 2.0, NAN, 4.0, 0.0])
    margins, upper_bounds = margins_and_upper_bounds(Y, fp_cost=fp_cost, kappa="tied")
    np.testing.assert_array_equal(margins, [1, 0.5, 1, 0.25, 1])
    np.testing.assert_array_equal(upper_bounds, [1, 2, 1, 4, 0])


def test_values_on_samples_of_the_other_class_are_ignored():
    fn_cost = [2.0, NAN, 3.0, -np.inf, -1.0]
    fp_cost = [NAN, 4.0, -5.0, 5.0, 6.0]
    kappa = [-1.0, 0.5, 0.0, 0.5, 0.5]
    margins, upper_bounds = margins_and_upper_bounds(Y, fn_cost=fn_cost, fp_cost=fp_cost, kappa=kappa)
    np.testing.assert_array_equal(margins, [1, 0.5, 1, 0.5, 0.5])
    np.testing.assert_array_equal(upper_bounds, [2, 4, 3, 5, 6])


@pytest.mark.parametrize(
    "container",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        pl.Series,
        lambda v: pd.Series(v, dtype="Float64", index=range(9, 4, -1)),
    ],
    ids=["list", "tuple", "numpy", "pandas", "polars", "pandas nullable"],
)
def test_costs_may_come_in_any_array(container):
    fn_cost = container([2.0, None, 3.0, None, None])
    np.testing.assert_array_equal(example_costs(Y, fn_cost=fn_cost), [2, 1, 3, 1, 1])


def test_sample_weights_multiply_the_costs():
    weight = np.array([1.0, 2.0, 0.0, 3.0, 4.0])
    np.testing.assert_array_equal(example_costs(Y, fn_cost=10.0, sample_weight=weight), [10, 2, 0, 3, 4])
    np.testing.assert_array_equal(check_sample_weight(None, 3), [1, 1, 1])
    np.testing.assert_array_equal(check_sample_weight(2, 3), [2, 2, 2])


@pytest.mark.parametrize("name", ["fn_cost", "fp_cost", "kappa", "sample_weight"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (NAN, "got {name}=nan"),
        (np.inf, "got {name}=inf"),
        (-1.0, "got {name}=-1.0"),
        ([1.0, 1.0, -2.0, -2.0, 1.0], "got {name}=-2.0 in sample [23]"),
        ([NAN] * 5, "got {name}=nan in sample [01] "),
        ([1.0, 2.0], r"shape \(5,\); got shape \(2,\)"),
        (np.ones((5, 1)), r"shape \(5,\); got shape \(5, 1\)"),
        (["a"] * 5, "a number or an array of numbers"),
        (True, r"one value for each sample of X, shape \(5,\); got shape \(\)"),
    ],
)
def test_bad_values_are_rejected_by_name(name, value, message):
    with pytest.raises(ValueError, match=f"{name} must .*{message.format(name=name)}"):
        margins_and_upper_bounds(Y, **{name: value})


@pytest.mark.parametrize("name", ["fn_cost", "fp_cost", "sample_weight"])
@pytest.mark.parametrize("value", [0, np.zeros(5)], ids=["scalar", "array"])
def test_costs_that_are_all_zero_are_rejected(name, value):
    with pytest.raises(ValueError, match=f"{name} must be positive on at least one sample.* got zero on all"):
        margins_and_upper_bounds(Y, **{name: value})


@pytest.mark.parametrize("kappa", [0, 0.0, [0.0] * 5])
def test_kappa_must_be_positive(kappa):
    with pytest.raises(ValueError, match=r"kappa must be finite and positive .* got kappa=0.0"):
        margins_and_upper_bounds(Y, kappa=kappa)


def test_unknown_kappa_rule_is_rejected():
    with pytest.raises(ValueError, match=r"kappa must be .*'tied'; got kappa='loose'"):
        margins_and_upper_bounds(Y, kappa="loose")


def test_overflowing_upper_bounds_are_rejected():
    with pytest.raises(ValueError, match="overflows"):
        margins_and_upper_bounds(Y, C=1e200, fn_cost=1e200)
    with pytest.raises(ValueError, match="overflows"):
        margins_and_upper_bounds(Y, fp_cost=5e-324, kappa="tied")


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e300])
def test_totals_of_partitions_add_up_to_those_of_all_samples(unit):
    rng = np.random.default_rng(0)
    weights, cost = rng.integers(0, 3, 90).astype(float), unit * rng.exponential(size=90)
    parts = [slice(0, 0), slice(0, 40), slice(40, 41), slice(41, 90)]
    whole = WeightedCostTotals.from_samples(weights, weights * cost)
    added = reduce(
        WeightedCostTotals.plus,
        (WeightedCostTotals.from_samples(weights[part], (weights * cost)[part]) for part in parts),
    )
    assert added[:3] == pytest.approx(whole[:3], rel=1e-14)
    assert not added.unit_costs
    assert resolve_C("scale", added) == pytest.approx(1 / (np.average(cost / unit, weights=weights) * unit), rel=1e-12)
    assert reduce(
        WeightedCostTotals.plus, [WeightedCostTotals.from_samples(weights[part], weights[part]) for part in parts]
    ).unit_costs


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("C1", "C_minus1"), [(4.0, 2.0), (2.9, 2.0), (0.9, 1.0), (4.0, 0.75)])
def test_paper_costs_do_not_check_the_condition_of_the_paper(C1, C_minus1):
    assert paper_costs(C1, C_minus1)["fp_cost"] == 2 * C_minus1 - 1


@pytest.mark.parametrize(
    ("C1", "C_minus1", "got"),
    [
        (np.inf, 2, "C1=inf"),
        (True, 2, "C1=True"),
        (4, np.inf, "C_minus1=inf"),
        ([1, np.inf], 2, "C1=inf in sample 1"),
        (4, [1.0, 2.0, 0.5], "C_minus1=0.5 in sample 2"),
        (np.array(0.0), 2, "C1=array"),
    ],
)
def test_paper_costs_must_be_finite_numbers(C1, C_minus1, got):
    with pytest.raises(ValueError, match=f"must be a finite number above .*got {got}"):
        paper_costs(C1, C_minus1)


def test_paper_costs_of_samples_must_have_one_dimension_even_if_both_have_two():
    with pytest.raises(ValueError, match="in one dimension"):
        paper_costs([[1.0, 2.0]], [[1.0, 2.0]])


def test_a_tied_kappa_is_of_the_kind_of_the_cost():
    assert type(costs.tied_kappa(4)) is float
    assert costs.tied_kappa(4) == 0.25
    assert costs.tied_kappa(0) == 1.0
    np.testing.assert_array_equal(costs.tied_kappa(np.array([2, 0, 4])), [0.5, 1.0, 0.25])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert costs.tied_kappa(5e-324) == np.inf
    assert costs.is_tied("tied")
    assert not costs.is_tied("loose")
    assert costs.is_tied(np.array([1.0, 2.0])) is False


def test_a_cost_is_a_number_as_it_is_or_one_for_each_sample():
    assert sample_values("fn_cost", 5, 3) == 5
    column = sample_values("fn_cost", [1, 2, 3], 3)
    assert column.dtype == np.float64
    np.testing.assert_array_equal(column, [1, 2, 3])
    with pytest.raises(
        ValueError, match=r"fn_cost must be a number or hold one value for each sample of X, shape \(3,\)"
    ):
        sample_values("fn_cost", [1, 2], 3)


@pytest.mark.parametrize(
    ("name", "ignored"), [("sample_weight", False), ("fn_cost", True), ("fp_cost", True), ("kappa", True)]
)
def test_messages_say_which_values_are_ignored(name, ignored):
    with pytest.raises(ValueError, match=f"{name} must") as error:
        margins_and_upper_bounds(Y, **{name: [-1.0] * 5})
    assert ("values on samples of the other class are ignored" in str(error.value)) == ignored
    assert (" of the " in str(error.value)) == ignored


def test_only_a_whole_class_without_costs_is_rejected():
    target = np.array([True, True, False, False])
    costs.check_nonzero_costs(target, np.array([0.0, 1.0, 0.0, 0.5]))
    costs.check_nonzero_costs(target, np.ones(4))
    costs.check_nonzero_costs(np.ones(2, dtype=bool), np.array([0.0, 1.0]))  # no negative sample
    with pytest.raises(ValueError, match=r"fn_cost must be .* of the positive class; got zero on all 2"):
        costs.check_nonzero_costs(target, np.array([0.0, 0.0, 1.0, 1.0]))
    with pytest.raises(ValueError, match=r"fp_cost must be .* of the negative class; got zero on all 2"):
        costs.check_nonzero_costs(target, np.array([1.0, 1.0, 0.0, 0.0]))


def test_C_is_a_number_or_one_over_the_mean_cost():
    weights, cost = np.array([1.0, 2.0, 1.0]), np.array([4.0, 2.0, 0.0])
    totals = WeightedCostTotals.from_samples(weights, weights * cost)
    assert resolve_C("scale", totals) == pytest.approx(4.0 / 8.0)
    assert resolve_C(3, totals) == 3.0
    assert type(resolve_C(3, totals)) is float
    assert resolve_C("scale", WeightedCostTotals.from_samples(weights, weights)) == 1.0  # no costs
    assert resolve_C("scale", WeightedCostTotals.from_samples(weights, np.zeros(3))) == 1.0
    one_half = WeightedCostTotals.from_samples(weights, weights * 0.5)
    assert resolve_C("scale", one_half) == pytest.approx(2.0)
    nothing = WeightedCostTotals.from_samples(np.zeros(0), np.zeros(0))
    assert nothing.plus(nothing).relative == 0.0
    plain = WeightedCostTotals.from_samples(weights, weights)
    assert not plain.plus(totals).unit_costs
    assert not totals.plus(plain).unit_costs


def test_upper_bounds_of_all_samples_together_stay_below_the_largest_total():
    target = np.array([True, False])
    weighted_costs = np.array([0.49, 0.49]) * costs.LARGEST_TOTAL
    _, upper_bounds = costs.margins_and_upper_bounds(target, weighted_costs)
    np.testing.assert_array_equal(upper_bounds, weighted_costs)
    with pytest.raises(ValueError, match="overflows"):
        costs.margins_and_upper_bounds(target, weighted_costs, C=1.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="overflows"):
            costs.margins_and_upper_bounds(target, weighted_costs, C=1e200)


def test_a_number_is_checked_only_where_a_sample_needs_it():
    positives = np.ones(2, dtype=bool)
    np.testing.assert_array_equal(costs.check_error_costs(positives, 3.0, NAN), [3.0, 3.0])
    np.testing.assert_array_equal(costs.check_margins(positives, -1.0, 1.0), [1.0, 1.0])
    np.testing.assert_array_equal(costs.check_error_costs(~positives, NAN, 3.0), [3.0, 3.0])


def test_rules_that_are_tied_name_the_cost_they_come_from():
    with pytest.raises(ValueError, match=r"fp_cost must be finite and non-negative .* got fp_cost=-1.0\. "):
        costs.check_margins(np.array([True, False]), "tied", -1.0)


def test_a_whole_sample_has_some_weight():
    with pytest.raises(ValueError, match="sample_weight must be positive on at least one sample"):
        check_nonzero_weights(np.zeros(2))
    check_nonzero_weights(np.array([0.0, 0.5]))


def test_samples_without_costs_leave_C_at_exactly_one():
    rng = np.random.default_rng(0)
    for _ in range(20):  # in floating point sum(w) / (sum(w / largest) * largest) is not always 1
        weights = rng.exponential(size=7)
        assert resolve_C("scale", WeightedCostTotals.from_samples(weights, weights)) == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert WeightedCostTotals.from_samples(np.ones(3), np.zeros(3)) == (3.0, 0.0, 0.0, False)
