import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import expit

from cssvm.losses import (
    CostSensitiveHinge,
    ExponentialLoss,
    HingeLoss,
    LogisticLoss,
    ZeroOneLoss,
)

from .families import EPSILON, FAMILIES, INVERTIBLE, SCORES, SMOOTH, costs, inner_probabilities, labels, probabilities

every_family = pytest.mark.parametrize("family", FAMILIES)


@every_family
@given(C1=costs, C_minus1=costs, eta=probabilities)
def test_no_score_has_a_smaller_risk_than_the_minimum_and_the_link_attains_it(family, C1, C_minus1, eta):
    loss = FAMILIES[family](C1, C_minus1)
    least = loss.min_risk(eta)
    slack = 1e-12 * max(least, 1e-3)
    assert (loss.conditional_risk(eta, SCORES) >= least - slack).all()
    assert loss.conditional_risk(eta, loss.link(eta)) == pytest.approx(least, rel=1e-9, abs=1e-12)


@every_family
@given(C1=costs, C_minus1=costs, eta=inner_probabilities)
def test_the_link_has_the_sign_of_eta_minus_the_threshold(family, C1, C_minus1, eta):
    loss = FAMILIES[family](C1, C_minus1)
    assert loss.threshold == loss.costs[1] / (loss.costs[0] + loss.costs[1])
    if abs(eta - loss.threshold) > 1e-12:
        assert np.sign(loss.link(eta)) == np.sign(eta - loss.threshold)
    assert loss.link(loss.threshold) == pytest.approx(0.0, abs=100 * EPSILON)


@every_family
@given(C1=costs, C_minus1=costs, eta=probabilities)
@settings(max_examples=40)
def test_the_conditional_risk_is_the_expected_value(family, C1, C_minus1, eta):
    loss = FAMILIES[family](C1, C_minus1)
    expected = eta * loss.value(1, SCORES) + (1 - eta) * loss.value(-1, SCORES)
    np.testing.assert_allclose(loss.conditional_risk(eta, SCORES), expected, rtol=4 * EPSILON)


@pytest.mark.parametrize("family", INVERTIBLE)
@given(C1=costs, C_minus1=costs, eta=inner_probabilities)
def test_the_inverse_link_undoes_the_link(family, C1, C_minus1, eta):
    loss = FAMILIES[family](C1, C_minus1)
    assert loss.invertible
    # logit and exp lose digits of eta in proportion to the size of the score, below 30 here.
    assert loss.inverse_link(loss.link(eta)) == pytest.approx(eta, rel=100 * EPSILON, abs=10 * EPSILON)


@pytest.mark.parametrize("family", SMOOTH)
@given(C1=costs, C_minus1=costs, y=labels)
@settings(max_examples=40)
def test_gradient_is_the_finite_difference_of_value(family, C1, C_minus1, y):
    loss = FAMILIES[family](C1, C_minus1)
    assert loss.smooth
    step = 1e-5
    difference = (loss.value(y, SCORES + step) - loss.value(y, SCORES - step)) / (2 * step)
    # Error of the difference: step^2 / 6 times the third derivative, rate^3 times the value, plus rounding.
    rate = max(C1, C_minus1, 1.0)
    scale = rate * (1.0 + loss.value(y, SCORES))
    error = (step**2 * rate**2 * np.exp(step * rate) + 4 * EPSILON * 4.0 / step) * scale
    assert (np.abs(loss.gradient(y, SCORES) - difference) <= error).all()


@pytest.mark.parametrize("family", [name for name in FAMILIES if name not in SMOOTH])
@given(C1=costs, C_minus1=costs, y=labels)
@settings(max_examples=30)
def test_gradient_is_exact_away_from_kinks_and_jumps_of_piecewise_linear_losses(family, C1, C_minus1, y):
    loss = FAMILIES[family](C1, C_minus1)
    assert not loss.smooth
    step = 1e-6
    left, centre, right = (loss.value(y, SCORES + shift) for shift in (-step, 0.0, step))
    straight = np.abs(left + right - 2 * centre) < step * 1e-3
    assert straight.sum() >= len(SCORES) - 2
    difference = (right - left) / (2 * step)
    np.testing.assert_allclose(loss.gradient(y, SCORES)[straight], difference[straight], atol=1e-8)


def test_gradient_at_a_kink_of_the_hinge_is_zero():
    loss = HingeLoss(pos_slope=4, pos_margin=0.5, neg_slope=3, neg_margin=0.25)
    np.testing.assert_array_equal(loss.gradient([1, -1], [0.5, -0.25]), [0.0, 0.0])
    np.testing.assert_array_equal(loss.gradient([1, -1], [0.49, -0.24]), [-4.0, 3.0])


def test_equal_unit_costs_give_the_standard_losses():
    f = SCORES
    per_sample = HingeLoss(pos_slope=[1.0], neg_slope=[1.0]), CostSensitiveHinge([1.0], [1.0])
    for y in (1, -1):
        np.testing.assert_array_equal(ZeroOneLoss().value(y, f), np.where(f >= 0, 1, -1) != y)
        np.testing.assert_allclose(ExponentialLoss().value(y, f), np.exp(-y * f))
        np.testing.assert_allclose(LogisticLoss().value(y, f), np.log1p(np.exp(-y * f)))
        for hinge in (HingeLoss(), CostSensitiveHinge(), *per_sample):
            np.testing.assert_allclose(hinge.value(y, f), np.maximum(0, 1 - y * f), rtol=EPSILON)
    eta = np.linspace(0, 1, 101)
    np.testing.assert_allclose(HingeLoss().min_risk(eta), 1 - np.abs(2 * eta - 1), atol=EPSILON)
    np.testing.assert_allclose(ExponentialLoss().min_risk(eta), 2 * np.sqrt(eta * (1 - eta)), rtol=4 * EPSILON)


def test_the_values_are_those_of_the_formulas():
    assert ZeroOneLoss(4, 2).value([1, 1, 1, -1, -1, -1], [-1, 0, 1, -1, 0, 1]).tolist() == [4, 0, 0, 0, 2, 2]
    np.testing.assert_allclose(ExponentialLoss(4, 2).value([1, -1], 0.5), [np.exp(-2), np.exp(1)])
    np.testing.assert_allclose(LogisticLoss(4, 2).value([1, -1], 0.5), 4 * np.log1p(np.exp(-0.5)) * np.array([1, 0])
                               + 2 * np.log1p(np.exp(0.5)) * np.array([0, 1]))  # fmt: skip


@given(C1=costs, C_minus1=costs, eta=inner_probabilities)
def test_the_exponential_minimum_risk_is_the_formula_of_the_literature(C1, C_minus1, eta):
    ratio, total = eta * C1 / ((1 - eta) * C_minus1), C1 + C_minus1
    expected = eta * ratio ** (-C1 / total) + (1 - eta) * ratio ** (C_minus1 / total)
    assert ExponentialLoss(C1, C_minus1).min_risk(eta) == pytest.approx(expected, rel=1e-12)


@every_family
def test_certain_labels_cost_nothing_even_at_infinite_scores(family):
    loss = FAMILIES[family](4.0, 2.0)
    np.testing.assert_array_equal(loss.min_risk([0.0, 1.0]), [0.0, 0.0])
    np.testing.assert_array_equal(loss.conditional_risk([0.0, 1.0], [-np.inf, np.inf]), [0.0, 0.0])


@every_family
@pytest.mark.parametrize("eta", [5e-324, 1e-310, 1e-20, 1 - 2**-53])
def test_nearly_certain_labels_cost_nearly_nothing(family, eta):
    for C1, C_minus1 in ((4.0, 2.0), (0.1, 10.0), (10.0, 0.1)):
        # sqrt-like risks: at most (1e-16)^t with t >= 0.0099 is what is left; the others are far below.
        assert 0.0 <= FAMILIES[family](C1, C_minus1).min_risk(eta) < 1.0


def test_losses_do_not_overflow_into_nan():
    f = np.array([-1e308, -1e4, 1e4, 1e308])
    for family in FAMILIES.values():
        assert not np.isnan(family(4.0, 2.0).value([[1], [-1]], f)).any()
        assert not np.isnan(family(4.0, 2.0).gradient([[1], [-1]], f)).any()
    np.testing.assert_allclose(LogisticLoss(4, 2).value(1, -1e4), 4e4)


@every_family
def test_numbers_give_numbers_and_arrays_broadcast(family):
    loss = FAMILIES[family](4.0, 2.0)
    assert isinstance(loss.value(1, 0.5), float)
    assert isinstance(loss.conditional_risk(0.3, 0.5), float)
    assert isinstance(loss.link(0.3), float)
    assert loss.value([[1], [-1]], np.zeros(3)).shape == (2, 3)
    assert loss.conditional_risk(np.full((4, 1), 0.5), np.zeros(3)).shape == (4, 3)
    assert loss.value([], []).shape == (0,)
    y, f = np.array([1, -1, 1, -1]), np.array([-1.0, 0.5, 2.0, -3.0])
    np.testing.assert_array_equal(loss.value(y, f), [loss.value(a, b) for a, b in zip(y, f, strict=True)])


def test_equal_parameters_make_equal_losses_with_equal_hashes():
    assert ExponentialLoss(4, 2) == ExponentialLoss(4.0, 2.0) != ExponentialLoss(4, 3)
    assert ExponentialLoss(4, 2) != LogisticLoss(4, 2)
    assert len({CostSensitiveHinge(4, 2), CostSensitiveHinge(4, 2), CostSensitiveHinge(4, 1)}) == 2
    assert HingeLoss(pos_slope=[1, 2]) == HingeLoss(pos_slope=np.array([1.0, 2.0]))
    assert HingeLoss(pos_slope=[1, 2]) != HingeLoss(pos_slope=[1, 3])
    assert len({HingeLoss(pos_slope=[1, 2]), HingeLoss(pos_slope=np.array([1.0, 2.0]))}) == 1
    assert len({HingeLoss(pos_slope=[1, 2]), HingeLoss(pos_slope=[1, 3]), HingeLoss(pos_slope=1)}) == 3


@pytest.mark.parametrize(
    "loss",
    [
        LogisticLoss(4, 2),
        HingeLoss(neg_margin=0.5),
        CostSensitiveHinge(4, 2),
        CostSensitiveHinge([1.0, 2.0], [1.0, 2.0]),
    ],
    ids=lambda loss: type(loss).__name__,
)
def test_losses_survive_copying_and_pickling(loss):
    assert copy.deepcopy(loss) == loss == pickle.loads(pickle.dumps(loss))


def test_losses_are_immutable():
    loss = LogisticLoss(4, 2)
    with pytest.raises(AttributeError):
        loss.C1 = 5.0
    hinge = CostSensitiveHinge(4, 2)
    for name in ("C1", "pos_slope"):
        with pytest.raises(AttributeError):
            setattr(hinge, name, 5.0)
    with pytest.raises(ValueError, match="read-only"):
        HingeLoss(pos_slope=[1.0, 2.0]).pos_slope[0] = 5.0


def test_reprs_name_the_parameters():
    assert repr(LogisticLoss(4, 2)) == "LogisticLoss(C1=4.0, C_minus1=2.0)"
    assert repr(CostSensitiveHinge(4, 2)) == "CostSensitiveHinge(C1=4.0, C_minus1=2.0)"
    costs = np.arange(1.0, 100.0)
    assert repr(CostSensitiveHinge(costs, 2)) == "CostSensitiveHinge(C1=[ 1.,  2., ..., 98., 99.], C_minus1=2.0)"


@pytest.mark.parametrize("loss", [ZeroOneLoss, ExponentialLoss, LogisticLoss])
@pytest.mark.parametrize("bad", [0, -1, np.nan, np.inf, "4", None, True])
@pytest.mark.parametrize("name", ["C1", "C_minus1"])
def test_costs_that_are_not_positive_numbers_are_rejected(loss, name, bad):
    with pytest.raises(ValueError, match=f"{name} must be a positive finite number; got {name}="):
        loss(**{name: bad})


@every_family
def test_wrong_arguments_are_rejected_with_the_reason(family):
    loss = FAMILIES[family](4.0, 2.0)
    with pytest.raises(ValueError, match=r"y must hold the labels -1 and \+1 only; got y=0"):
        loss.value([0, 1], [0.0, 0.0])
    with pytest.raises(ValueError, match="y must be a number or an array of numbers"):
        loss.value("spam", 0.0)
    with pytest.raises(ValueError, match="f must not contain NaN; got f=nan"):
        loss.gradient(1, np.nan)
    for eta in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match=r"eta must lie in \[0, 1\]; got eta="):
            loss.min_risk(eta)
        with pytest.raises(ValueError, match=r"eta must lie in \[0, 1\]; got eta="):
            loss.link(eta)
    with pytest.raises(ValueError, match=r"must broadcast .* y has shape \(2,\), f has shape \(3,\)"):
        loss.value([1, -1], [0.0, 0.0, 0.0])


def test_a_score_beyond_the_linear_link_has_no_probability():
    loss = ZeroOneLoss(4, 2)
    np.testing.assert_allclose(loss.inverse_link([-2.0, 0.0, 4.0]), [0.0, 1 / 3, 1.0])
    with pytest.raises(ValueError, match=r"range \[-2, 4\] of the link; got f=4.5"):
        loss.inverse_link([0.0, 4.5])


@given(C1=costs, C_minus1=costs, v=inner_probabilities.map(lambda p: 10 * p))
def test_the_log_links_have_the_symmetry_of_the_odds(C1, C_minus1, v):
    for loss in (ExponentialLoss(C1, C_minus1), LogisticLoss(C1, C_minus1)):
        scale = C1 + C_minus1 if isinstance(loss, ExponentialLoss) else 1.0
        log_odds = [scale * s - np.log(C1 / C_minus1) for s in (v, -v)]
        np.testing.assert_allclose(loss.inverse_link([v, -v]), expit(log_odds), rtol=1e-10)
        assert sum(log_odds) == pytest.approx(2 * np.log(C_minus1 / C1), abs=1e-10)
