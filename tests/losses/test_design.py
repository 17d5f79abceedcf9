import copy

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import expit, logit

from cssvm.losses import DesignedLoss, ExponentialLoss, LogisticLoss, ZeroOneLoss, design_loss, link_symmetry, risk_type

from .families import SCORES, costs

# What `design_loss` promises, relative to the larger of the loss and 1.
ACCURACY = 1e-6
ETA = np.concatenate([np.geomspace(1e-9, 0.01, 40), np.linspace(0.01, 0.99, 99), 1 - np.geomspace(0.01, 1e-9, 40)])


def entropy(p):
    return -p * np.log(p) - (1 - p) * np.log(1 - p)


def exponential_design(C1, C_minus1):
    """The paper's formulas, as they are printed."""
    total = C1 + C_minus1

    def ratio(p):
        return p * C1 / ((1 - p) * C_minus1)

    return design_loss(
        lambda p: p * ratio(p) ** (-C1 / total) + (1 - p) * ratio(p) ** (C_minus1 / total),
        lambda p: np.log(ratio(p)) / total,
        lambda v: expit(total * v - np.log(C1 / C_minus1)),
        C1=C1,
        C_minus1=C_minus1,
    )


def printed_hinge(C1=4.0, C_minus1=2.0, *, given=True):
    """eq. (CstarSVMmm) with its step link, any representatives as inverse."""

    def link(p):
        return np.sign((C1 + C_minus1) * p - C_minus1)

    def min_risk(p):
        return p * np.maximum(0, C1 - C1 * link(p)) + (1 - p) * np.maximum(0, 1 + (2 * C_minus1 - 1) * link(p))

    known = {"C1": C1, "C_minus1": C_minus1} if given else {}
    return design_loss(min_risk, link, lambda v: np.where(v > 0, 0.9, 0.1), **known)


def assert_close(found, expected):
    assert (np.abs(found - expected) <= ACCURACY * np.maximum(1.0, np.abs(expected))).all()


@given(C1=costs, C_minus1=costs)
@settings(max_examples=25)
def test_the_exponential_design_is_the_exponential_loss(C1, C_minus1):
    loss, exact = exponential_design(C1, C_minus1), ExponentialLoss(C1, C_minus1)
    f = exact.link(ETA)
    for y in (1, -1):
        assert_close(loss.value(y, f), exact.value(y, f))
        assert_close(loss.gradient(y, f), exact.gradient(y, f))
    assert loss.smooth
    assert loss.invertible
    assert loss.costs == (C1, C_minus1)
    assert loss.risk_type == risk_type(exact)


@given(C1=costs, C_minus1=costs)
@settings(max_examples=25)
def test_a_loss_is_derived_again_from_its_own_minimum_risk_and_link(C1, C_minus1):
    exact = LogisticLoss(C1, C_minus1)
    loss = design_loss(exact.min_risk, exact.link, exact.inverse_link)
    f = exact.link(ETA)
    for y in (1, -1):
        assert_close(loss.value(y, f), exact.value(y, f))
        assert_close(loss.gradient(y, f), exact.gradient(y, f))
    assert loss.threshold == pytest.approx(exact.threshold, abs=1e-12)
    assert sum(loss.costs) == pytest.approx(2.0)


def test_the_zero_one_loss_follows_from_its_minimum_risk_and_the_linear_link():
    exact = ZeroOneLoss(4, 2)
    loss = design_loss(exact.min_risk, exact.link, exact.inverse_link)
    f = np.array([-2.0, -1.0, -0.1, 0.1, 2.0, 4.0])
    for y in (1, -1):
        np.testing.assert_allclose(loss.value(y, f), exact.value(y, f), atol=1e-9)
    assert not loss.smooth
    assert loss.invertible


@pytest.mark.parametrize("given_costs", [True, False])
def test_the_printed_hinge_risk_gives_the_hinge_losses_at_plus_and_minus_one(given_costs):
    loss = printed_hinge(given=given_costs)
    # C1 max(0, 1 - f) and max(0, 1 + 3 f).
    np.testing.assert_allclose(loss.value(1, [-1, 1]), [8, 0], atol=1e-9)
    np.testing.assert_allclose(loss.value(-1, [-1, 1]), [0, 4], atol=1e-9)
    assert loss.threshold == pytest.approx(1 / 3, abs=1e-8)
    assert loss.risk_type == "II"
    assert not loss.smooth
    assert not loss.invertible
    with pytest.raises(NotImplementedError, match="step function"):
        loss.inverse_link(1.0)


@pytest.mark.parametrize(
    ("min_risk", "link", "inverse_link"),
    [
        (entropy, logit, expit),
        (lambda p: 4 * p * (1 - p), logit, expit),
        (lambda p: np.sqrt(p * (1 - p)), lambda p: np.arcsin(2 * p - 1), lambda v: (1 + np.sin(v)) / 2),
        (lambda p: p**0.3 * (1 - p) ** 0.7, lambda p: np.tan(p - 0.3), lambda v: np.arctan(v) + 0.3),
        (lambda p: np.minimum(4 * p, 2 * (1 - p)), lambda p: 6 * p - 2, lambda v: (v + 2) / 6),
    ],
    ids=["entropy", "savage", "arcsine", "tangent", "kink"],
)
def test_the_link_of_a_designed_loss_attains_its_minimum_risk_and_no_score_beats_it(min_risk, link, inverse_link):
    loss = design_loss(min_risk, link, inverse_link)
    for eta in (0.02, 0.3, 0.31, 0.5, 0.77, 0.99):
        least = min_risk(np.float64(eta))
        assert loss.conditional_risk(eta, loss.link(eta)) == pytest.approx(least, abs=ACCURACY)
        # Scores beyond the range of the link are among these.
        assert (loss.conditional_risk(eta, SCORES) >= least - ACCURACY).all()
        assert loss.min_risk(eta) == least


def test_the_square_design_is_the_modified_huber_loss_beyond_the_range_of_the_link():
    """scikit-learn's modified Huber loss: the square (1 - y f)^2 up to y f = 1, its tangent -4 y f below -1."""
    loss = design_loss(lambda p: 4 * p * (1 - p), lambda p: 2 * p - 1, lambda v: (v + 1) / 2)
    u = np.linspace(-4, 4, 161)
    huber = np.where(u < -1, -4 * u, np.maximum(0, 1 - u) ** 2)
    for y in (1, -1):
        # The tangent is taken near the end of the range, at the probability 1e-5, where the slope is -4 + 4e-5.
        np.testing.assert_allclose(loss.value(y, y * u), huber, rtol=1e-4, atol=1e-8)
        slopes = y * np.where(u < -1, -4, -2 * np.maximum(0, 1 - u))
        np.testing.assert_allclose(loss.gradient(y, y * u), slopes, rtol=1e-4, atol=1e-8)
    np.testing.assert_allclose(loss.inverse_link([-3.0, 0.5, 3.0]), [0.0, 0.75, 1.0])


@pytest.mark.parametrize("C1", [0.3, 1.0, 3.7, 20.0])
def test_a_convex_loss_of_type_two_follows_from_the_canonical_link(C1):
    """C* = h (1 - e^2), e the distance from t relative to its side, and link = -C*': the slope is eta - [y = 1]."""
    t, h = 1 / (1 + C1), C1 / (1 + C1)
    loss = design_loss(
        lambda p: h * (1 - np.where(p < t, 1 - p / t, 1 - (1 - p) / (1 - t)) ** 2),
        lambda p: 2 * h * np.where(p < t, (p - t) / t**2, (p - t) / (1 - t) ** 2),
        lambda v: t + v / (2 * h) * np.where(v < 0, t, 1 - t) ** 2,
        C1=C1,
        C_minus1=1.0,
    )
    assert loss.risk_type == "II"
    assert loss.smooth
    f = np.linspace(*loss.link([0.0, 1.0]), 60)  # 60 points do not contain the bend of the slope at 0
    for y in (1, -1):
        residual = loss.inverse_link(f) - (y > 0)
        np.testing.assert_allclose(loss.gradient(y, f), residual, atol=1e-3)
        # Beyond the range of the link, the losses go on straight.
        assert loss.value(y, y * (f[-1] - f[0])) == pytest.approx(0.0, abs=1e-4)
        assert y * loss.gradient(y, -y * 1e3) == pytest.approx(-1.0, abs=1e-3)


@pytest.mark.parametrize("t", np.linspace(0.05, 0.95, 31))
def test_a_kink_of_the_minimum_risk_is_recognised_wherever_it_is(t):
    exact = ZeroOneLoss(1 - t, t)
    assert not design_loss(exact.min_risk, exact.link, exact.inverse_link).smooth


def test_a_jump_of_the_second_derivative_of_the_risk_is_a_kink_of_the_loss_unless_the_link_bends_as_well():
    parabolas = design_loss(lambda p: 0.8 * (1 - np.where(p < 0.2, 1 - 5 * p, (p - 0.2) / 0.8) ** 2),
                            LogisticLoss(4, 1).link, LogisticLoss(4, 1).inverse_link)  # fmt: skip
    assert parabolas.risk_type == "II"
    assert not parabolas.smooth
    # The slope on both sides of the threshold: (1 - t) C*'' / link' with C*'' = -2 h / t^2 and -2 h / (1 - t)^2.
    np.testing.assert_allclose(parabolas.gradient(1, [-0.01, 0.01]), [-5.12, -0.32], rtol=0.05)


def test_far_scores_give_finite_losses_that_keep_growing():
    loss = exponential_design(4.0, 2.0)
    f = np.array([-1e6, -100.0, -10.0, 10.0, 100.0, 1e6])
    for y in (1, -1):
        assert np.isfinite(loss.value(y, f)).all()
        assert (y * np.diff(loss.value(y, f)) <= 0).all()
        assert (y * loss.gradient(y, f) <= 0).all()
    assert loss.value(1, [-np.inf, np.inf])[0] == np.inf
    assert loss.value(1, np.inf) == pytest.approx(0.0, abs=ACCURACY)


def test_minimum_risk_is_known_at_the_ends_where_the_formula_is_not():
    loss = design_loss(entropy, logit, expit)
    with np.errstate(all="ignore"):
        assert np.isnan(entropy(np.array([0.0, 1.0]))).all()
    np.testing.assert_allclose(loss.min_risk([0.0, 1.0]), [0.0, 0.0], atol=1e-13)
    np.testing.assert_array_equal(loss.link([0.0, 1.0]), [-np.inf, np.inf])


@given(C1=costs, C_minus1=costs)
@settings(max_examples=40)
def test_the_linear_link_has_the_symmetry_and_the_log_link_only_for_equal_costs(C1, C_minus1):
    assert link_symmetry(ZeroOneLoss(C1, C_minus1)) == pytest.approx(0.0, abs=1e-14)
    # The two inverse values sum to 1 for large scores, and to 2 t at zero.
    for loss in (ExponentialLoss(C1, C_minus1), LogisticLoss(C1, C_minus1)):
        assert link_symmetry(loss) == pytest.approx(abs(1 - 2 * loss.threshold), abs=1e-6)


def test_numbers_in_and_numbers_out():
    loss = design_loss(entropy, logit, expit)
    assert isinstance(loss.value(1, 0.5), float)
    assert isinstance(loss.gradient(1, 0.5), float)
    assert loss.inverse_link(loss.link(0.3)) == pytest.approx(0.3)
    assert loss.value([[1], [-1]], np.zeros(3)).shape == (2, 3)


def test_the_report_states_each_condition_within_80_columns():
    loss = exponential_design(4.0, 2.0)
    assert isinstance(loss, DesignedLoss)
    assert [holds for holds, _ in loss.conditions.values()] == [True, True, True, True, True, True, False, True]
    holds, detail = loss.conditions["link symmetry around t"]
    assert not holds
    assert "0.333" in detail
    assert all(len(line) <= 80 for line in loss.report.splitlines())
    assert all(name in loss.report for name in loss.conditions)
    assert design_loss(entropy, logit, expit).conditions["link symmetry around t"][0]
    assert printed_hinge().conditions["link symmetry around t"][0] is None


def test_a_designed_loss_has_a_repr_and_copies():
    loss = exponential_design(4.0, 2.0)
    assert repr(loss) == "DesignedLoss(C1=4, C_minus1=2, risk_type='I')"
    assert copy.deepcopy(loss).value(1, 0.3) == loss.value(1, 0.3)
    with pytest.raises(NotImplementedError, match="DesignedLoss has no conjugate: no closed form"):
        loss.conjugate(1, -0.5)


REJECTED = {
    "a convex minimum risk": (
        {"min_risk": lambda p: (p - 0.5) ** 2},
        r"'min_risk concave'.*min_risk is .* at eta=.* below the chord",
    ),
    "a convex kink": ({"min_risk": lambda p: np.maximum(p, 1 - p)}, r"'min_risk concave'.*at eta=0.49"),
    "a slight wave": (
        {"min_risk": lambda p: entropy(p) + 0.01 * (1 + np.sin(50 * p))},
        "'min_risk concave'",
    ),
    "a negative minimum risk": (
        {"min_risk": lambda p: p * (1 - p) - 0.1},
        r"'min_risk finite, not negative'.*min_risk is -0.1 at eta=1e-08",
    ),
    "an undefined minimum risk": (
        {"min_risk": lambda p: np.sqrt(p - 0.25)},
        r"'min_risk finite, not negative'.*min_risk is nan at eta=1e-08",
    ),
    "a straight minimum risk": (
        {"min_risk": lambda p: np.minimum(0.3, np.minimum(p, 1 - p))},
        r"'min_risk bends at t'.*straight line from eta=0.495 to eta=0.505",
    ),
    "a wavy link": ({"link": lambda p: np.sin(6 * p)}, r"'link increasing'.*link falls from .* at eta=.* to .* at"),
    "a falling link": (
        {"link": lambda p: -logit(p), "inverse_link": lambda v: expit(-v)},
        r"'link increasing'.*link falls",
    ),
    "an infinite link": (
        {"link": lambda p: np.where(np.abs(p - 0.5) < 0.1, np.inf, p - 0.5)},
        r"'link increasing'.*link is inf at eta=0.40",
    ),
    "another inverse": (
        {"inverse_link": lambda v: expit(1.01 * v)},
        r"'inverse_link inverts link'.*at eta=.* link is .*, but inverse_link\(.*\) is",
    ),
    "an inverse out of bounds": ({"inverse_link": lambda v: v}, "'inverse_link inverts link'"),
    "a link without a sign change": (
        {"link": lambda p: p, "inverse_link": lambda v: v},
        r"'link has the sign of eta - t'.*goes from 1e-08 to 1 without",
    ),
    "a link that is zero too long": (
        {"link": lambda p: np.sign(np.round(2 * p - 1, 0)), "inverse_link": lambda v: 0.5 + 0.4 * v,
         "min_risk": lambda p: np.minimum(1.0, np.minimum(4 * p, 4 * (1 - p)))},
        r"'link has the sign of eta - t'.*link is 0 from eta=0.25 to eta=0.75",
    ),
    "a threshold that is not the costs'": (
        {"C1": 4, "C_minus1": 2},
        r"'link has the sign of eta - t'.*sign at eta=0.5, but C1=4 and C_minus1=2 require .* = 0.333333",
    ),
    "a step link with a representative from the wrong side": (
        {"min_risk": lambda p: np.minimum(p, 1 - p), "link": lambda p: np.sign(p - 0.5),
         "inverse_link": lambda v: np.where(v > 0, 0.2, 0.1)},
        "'inverse_link inverts link'",
    ),
    "a function of a number": ({"min_risk": lambda p: 1.0}, "min_risk must map an array to an array of the same shape"),
    "no inverse": ({"inverse_link": None}, "inverse_link must be a function of an array"),
    "one cost": ({"C1": 4}, "C1 and C_minus1 must be given together; got C1=4, C_minus1=None"),
    "a negative cost": ({"C1": 4, "C_minus1": -1}, "C_minus1 must be a positive finite number"),
}  # fmt: skip


@pytest.mark.parametrize("what", REJECTED)
def test_designs_without_a_consistent_loss_are_rejected(what):
    changes, message = REJECTED[what]
    design = {"min_risk": entropy, "link": logit, "inverse_link": expit} | changes
    with pytest.raises(ValueError, match=message):
        design_loss(**design)
