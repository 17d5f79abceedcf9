"""Costs of samples with unknown labels: their validation, and the savings of a decision."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cssvm._core import decision

positive = st.floats(1e-3, 1e3)


@pytest.mark.parametrize(
    ("fn_cost", "fp_cost", "n_free"),
    [
        ([0.0, 1.0, 0.0, 2.0], [0.0, 0.0, 3.0, 1.0], 1),
        ([0.0, 1.0, 0.0, 2.0], 0.0, 2),
        (0.0, [1.0, 0.0, 0.0, 0.0], 3),
        ([0.5, 1.0, 0.5, 0.0], [0.0, 0.5, 1.0, 0.5], 0),
        (1.0, 0.0, 0),
        (0.0, [1.0, 1.0, 1.0, 1.0], 0),
    ],
)
def test_samples_whose_decision_is_free_are_counted(fn_cost, fp_cost, n_free):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fn, fp = decision.check_decision_costs(fn_cost, fp_cost, 4)
    np.testing.assert_array_equal(fn, fn_cost)
    np.testing.assert_array_equal(fp, fp_cost)
    expected = [f"both 0 on {n_free} of 4 samples"] if n_free else []
    assert [each.category for each in caught] == [decision.FreeDecisionWarning] * len(expected)
    assert all(text in str(each.message) for text, each in zip(expected, caught, strict=True))


def test_costs_of_classes_that_are_both_zero_decide_nothing():
    with pytest.raises(ValueError, match="must not both be 0 for all samples"):
        decision.check_decision_costs(0.0, 0, 4)


@pytest.mark.parametrize("name", ["fn_cost", "fp_cost"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1.0, 2.0], r"shape \(4,\); got shape \(2,\)"),
        ([[1.0]] * 4, r"got shape \(4, 1\)"),
        (True, r"got shape \(\)"),
        ([1.0, -2.0, -3.0, 1.0], r"as the labels are not known; got {name}=-2.0 in sample 1 \(2 in all\)"),
        ([1.0, np.nan, 1.0, 1.0], r"got {name}=nan in sample 1 \(1 in all\)"),
        (np.inf, "got {name}=inf"),
        (-1, "got {name}=-1"),
    ],
)
def test_costs_of_samples_without_labels_are_checked_on_all(name, value, message):
    with pytest.raises(ValueError, match=f"{name} must .*{message.format(name=name)}"):
        decision.check_decision_costs(**{"fn_cost": 1.0, "fp_cost": 1.0, name: value}, n_samples=4)


@given(p=st.floats(0, 1), fn_cost=positive, fp_cost=positive)
def test_the_relative_saving_is_how_far_the_probability_is_above_its_threshold(p, fn_cost, fp_cost):
    saving = decision.relative_saving(np.array([p]), np.array([fn_cost]), fp_cost)
    assert saving[0] == pytest.approx(p - fp_cost / (fn_cost + fp_cost), abs=1e-12)
    assert decision.expected_saving(p, fn_cost, fp_cost) == pytest.approx(p * fn_cost - (1 - p) * fp_cost)
    free = decision.relative_saving(np.array([p, p]), np.array([0.0, fn_cost]), np.array([0, 0]))
    np.testing.assert_allclose(free, [-1.0, p])
