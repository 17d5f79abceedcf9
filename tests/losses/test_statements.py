"""Statements of docs/theory.md about losses, links and risks, true ones and refuted ones."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve

from cssvm import paper_costs
from cssvm.losses import (
    CostSensitiveHinge,
    ExponentialLoss,
    HingeLoss,
    LogisticLoss,
    ZeroOneLoss,
    bayes_gap,
    design_loss,
    risk_type,
)
from cssvm.metrics import cost_risk, min_cost_risk, roc_convex_hull

from .families import FAMILIES, INVERTIBLE, costs, inner_probabilities

positive = st.floats(0.1, 10.0)


# Which rule, and why


@given(d=positive, e=positive, a=positive, b=positive)
def test_the_ratio_of_the_constraints_is_that_of_the_slopes_only_for_equal_margins(d, e, a, b):
    """(a + b) / (d + e) = a / d if and only if e / d = b / a, for the losses e - d f and b + a f."""
    assert (a + b) / (d + e) - a / d == pytest.approx(a / (d + e) * (b / a - e / d), abs=1e-9)
    same = HingeLoss(pos_slope=d, pos_margin=e / d, neg_slope=a, neg_margin=e / d)
    b_same = a * e / d
    assert (a + b_same) / (d + e) == pytest.approx(a / d)
    assert same.threshold == pytest.approx((a + b_same) / (a + b_same + d + e))


@given(C1=positive, C_minus1=st.floats(0.6, 10.0))
def test_the_cost_sensitive_hinge_has_the_rule_claimed_for_it_exactly_when_it_is_the_biased_one(C1, C_minus1):
    loss, claimed = CostSensitiveHinge(C1, C_minus1), C_minus1 / (C1 + C_minus1)
    assert CostSensitiveHinge(C1, 1.0).neg_margin == 1.0
    assert CostSensitiveHinge(C1, 1.0).threshold == pytest.approx(1 / (C1 + 1))
    assume(abs(C_minus1 - 1) > 1e-6)
    assert loss.neg_margin != 1.0
    assert loss.threshold != pytest.approx(claimed, rel=1e-9)


def test_the_constraints_are_not_necessary_for_the_symmetry():
    """C1 = 2, C_{-1} = 1 with d = 2, e = 3, a = 1, b = 2: symmetric, though d < e and a < b."""
    d, e, a, b = 2, 3, 1, 2

    def printed(eta):
        sign = np.sign(3 * eta - 1)
        return eta * np.maximum(0, e - d * sign) + (1 - eta) * np.maximum(0, b + a * sign)

    epsilon = np.linspace(1e-6, 1 / 3, 50)
    np.testing.assert_allclose(printed(1 / 3 - epsilon), printed(1 / 3 + 2 * epsilon), rtol=1e-12)
    assert risk_type(printed, C1=2, C_minus1=1) == "II"


def test_a_sign_link_leaves_the_losses_open_between_its_two_scores():
    """TheorySteps needs an invertible link: two different losses share the minimum risk, the link and both scores."""
    eta = np.linspace(0.005, 0.995, 100)
    hinge = HingeLoss()
    other = np.square  # (1 - y f)^2 / 2 has the values 2 and 0 of the hinge at y f = -1 and 1
    for y in (1, -1):
        np.testing.assert_allclose(hinge.value(y, [-1.0, 1.0]), other(1 - y * np.array([-1.0, 1.0])) / 2)
    sign = np.sign(2 * eta - 1)
    square_risk = eta * other(1 - sign) / 2 + (1 - eta) * other(1 + sign) / 2
    np.testing.assert_allclose(square_risk, hinge.min_risk(eta), atol=1e-12)
    # The square loss is not minimised there, so that its minimum risk and link are others.
    assert (eta * other(1 - (2 * eta - 1)) / 2 + (1 - eta) * other(2 * eta) / 2 <= square_risk + 1e-12).all()


def test_a_falling_link_has_the_symmetry_and_the_opposite_rule():
    C1, C_minus1 = 4.0, 2.0
    t = C_minus1 / (C1 + C_minus1)

    def link(eta):
        return C_minus1 - (C1 + C_minus1) * eta

    def inverse(v):
        return (C_minus1 - v) / (C1 + C_minus1)

    v = np.linspace(-1.5, 1.5, 31)
    np.testing.assert_allclose(inverse(-v), 2 * t - inverse(v))
    eta = np.linspace(0, 1, 101)
    np.testing.assert_array_equal(np.sign(link(eta)), -np.sign(ZeroOneLoss(C1, C_minus1).link(eta)))


# Minimum risks and their types


def test_a_flat_minimum_risk_of_type_two_with_a_smooth_link_makes_a_smooth_loss():
    """C* = h (1 - e^4), e the distance from t in units of the way to 0 or to 1: C*'' = 0 on both sides of t."""
    C1, C_minus1 = 4.0, 2.0
    t = C_minus1 / (C1 + C_minus1)

    def distance(eta):
        return np.where(eta < t, (t - eta) / t, (eta - t) / (1 - t))

    def link(eta):
        return np.log(eta * C1 / ((1 - eta) * C_minus1))

    def inverse(v):
        return expit(v - np.log(C1 / C_minus1))

    flat = design_loss(lambda eta: 1 - distance(eta) ** 4, link, inverse, C1=C1, C_minus1=C_minus1)
    bent = design_loss(lambda eta: 1 - distance(eta) ** 2, link, inverse, C1=C1, C_minus1=C_minus1)
    assert flat.risk_type == bent.risk_type == "II"
    assert flat.smooth
    assert not bent.smooth
    # The slopes of the bent one on both sides of 0 differ by (C1 / C_{-1})^2.
    left, right = bent.gradient(1, [-0.01, 0.01])
    assert left / right == pytest.approx((C1 / C_minus1) ** 2, rel=0.05)


@given(C1=costs, C_minus1=costs, power=st.floats(1.0, 4.0), weight=st.floats(0.0, 1.0))
@settings(max_examples=50)
def test_a_concave_function_with_the_symmetry_is_largest_at_the_threshold(C1, C_minus1, power, weight):
    """The lemma, also where C* has a kink at t (power 1), which the paper's proof by derivatives leaves out."""
    t = C_minus1 / (C1 + C_minus1)

    def risk(eta):
        distance = np.where(eta < t, (t - eta) / t, (eta - t) / (1 - t))
        return 1 - weight * distance**power - (1 - weight) * distance

    eta = np.linspace(0, 1, 2001)
    middle = risk((eta[2:] + eta[:-2]) / 2)
    assert (middle >= (risk(eta[2:]) + risk(eta[:-2])) / 2 - 1e-12).all()  # concave
    epsilon = np.linspace(0, 1 / (C1 + C_minus1), 20)
    np.testing.assert_allclose(risk(t - C_minus1 * epsilon), risk(t + C1 * epsilon), atol=1e-9)
    assert risk(t) >= risk(eta).max() - 1e-12
    assert risk_type(risk, C1=C1, C_minus1=C_minus1) == "II"


@pytest.mark.parametrize("prior", [0.5, 0.1])
@pytest.mark.parametrize(("C1", "C_minus1"), [(4.0, 2.0), (1.0, 10.0)])
def test_the_expected_zero_one_risk_is_the_cost_of_the_bayes_decisions(C1, C_minus1, prior):
    """Two normal densities, whose Bayes rule is a cut in closed form; no other cut costs less."""
    target, other = stats.norm(1.0, 1.0), stats.norm(-1.0, 1.0)
    risk = ZeroOneLoss(C1, C_minus1)

    def integrand(x):
        mass = prior * target.pdf(x) + (1 - prior) * other.pdf(x)
        return mass * risk.min_risk(prior * target.pdf(x) / mass)

    cut = (
        np.log((1 - prior) / prior) + np.log(C_minus1 / C1)
    ) / 2  # eta > t there, as log odds are 2 x + log prior odds
    expected = integrate.quad(integrand, -10, 10, points=[cut], limit=200)[0]

    def cost(at):
        return prior * C1 * target.cdf(at) + (1 - prior) * C_minus1 * other.sf(at)

    assert expected == pytest.approx(cost(cut), rel=1e-9)
    assert (cost(np.linspace(-5, 5, 1001)) >= expected - 1e-12).all()


@pytest.mark.parametrize("family", FAMILIES)
@given(C1=costs, C_minus1=costs, eta=inner_probabilities, reported=inner_probabilities)
def test_no_report_of_a_probability_pays_better_than_the_true_one(family, C1, C_minus1, eta, reported):
    """Savage's bound; smooth losses with a link that has an inverse are the only ones for which it is strict."""
    loss = FAMILIES[family](C1, C_minus1)
    paid, least = loss.conditional_risk(eta, loss.link(reported)), loss.min_risk(eta)
    assert paid >= least - 1e-9 * max(1.0, least)
    if family in INVERTIBLE and family != "zero-one" and abs(eta - reported) > 1e-3:
        assert paid > least
    if family not in INVERTIBLE and (eta - loss.threshold) * (reported - loss.threshold) > 0:
        assert paid == pytest.approx(least, rel=1e-9, abs=1e-12)  # any report on the same side


def test_which_type_is_closer_to_the_zero_one_risk_depends_on_the_unit():
    C1, C_minus1 = 4.0, 2.0
    height = C1 * C_minus1 / (C1 + C_minus1)
    hinge = bayes_gap(HingeLoss(pos_slope=C1, neg_slope=C_minus1), lambda eta: 1.0)
    assert hinge == pytest.approx(height / 2)  # twice min(p, q), less min(p, q)
    exponential = ExponentialLoss(C1, C_minus1)
    area = integrate.quad(lambda eta: height * exponential.min_risk(eta), 0, 1, points=[exponential.threshold])[0]
    assert exponential.min_risk(exponential.threshold) == pytest.approx(1.0)  # so the height is that of min(p, q)
    assert (risk_type(exponential), risk_type(HingeLoss(pos_slope=C1, neg_slope=C_minus1))) == ("I", "II")
    assert area - height / 2 < 0.53 * hinge
    half = HingeLoss(pos_slope=C1, pos_margin=0.5, neg_slope=C_minus1, neg_margin=0.5)
    assert bayes_gap(half, lambda eta: 1.0) == pytest.approx(0.0, abs=1e-9)  # and in half its unit it is the closest


# Sample costs


@given(cost=st.floats(0.51, 1e6))
def test_thresholds_of_single_examples(cost):
    """EDBPH decides at 1/2 whatever the cost, EDCSH at (2 c - 1) / (3 c - 1), below 2/3."""
    assert HingeLoss(pos_slope=[cost], neg_slope=[cost]).threshold == pytest.approx(0.5)
    own = CostSensitiveHinge([cost], [cost]).threshold
    assert own == pytest.approx((2 * cost - 1) / (3 * cost - 1))
    assert own < 2 / 3
    np.testing.assert_allclose(CostSensitiveHinge([1.0, 1e9], [1.0, 1e9]).threshold, [1 / 2, 2 / 3])


def test_a_letter_at_068_has_a_margin_above_that_of_the_donors():
    assert paper_costs([1.0], [0.68])["kappa"] == pytest.approx(1 / 0.36)
    assert paper_costs([1.0], [0.68])["kappa"].round(2) == 2.78
    with pytest.raises(ValueError, match="Divide all costs, C1 too, by the smallest C_minus1 and multiply C by it"):
        paper_costs([1.0], [0.5])


# Conjugates


@given(a=positive, b=positive, v=st.floats(-12, 2))
@settings(max_examples=150)
def test_the_conjugate_of_the_general_hinge(a, b, v):
    """Of max(0, b - a u): (b / a) v on [-a, 0], infinite elsewhere; the printed v on [-1, 0] is that of a = b = 1."""
    loss = HingeLoss(pos_slope=a, pos_margin=b / a)
    u = np.union1d(np.linspace(-1e3, 1e3, 2001), b / a)
    supremum = (u * v - np.maximum(0, b - a * u)).max()
    conjugate = loss.conjugate(1, v)
    if -a <= v <= 0:
        assert conjugate == pytest.approx(b / a * v)
        assert supremum == pytest.approx(conjugate, abs=1e-9)
    else:
        assert conjugate == np.inf
    assert HingeLoss().conjugate(1, -0.25) == -0.25


def test_the_conjugate_of_the_regulariser_is_that_of_the_inverse_kernel():
    """sup over beta of z'beta - 1/2 beta'K beta = 1/2 z'K^-1 z, at beta = K^-1 z."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6))
    K, z = A @ A.T + np.eye(6), rng.normal(size=6)
    best = np.linalg.solve(K, z)
    value = z @ best - best @ K @ best / 2
    assert value == pytest.approx(z @ np.linalg.solve(K, z) / 2)
    for beta in best + rng.normal(size=(200, 6)):
        assert z @ beta - beta @ K @ beta / 2 <= value


# Risk, ROC curve, calibration


def sample(seed, n=60):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 3, 1, 0)
    return y, rng.normal(size=n) + 0.8 * y


@pytest.mark.parametrize("seed", range(3))
@given(C1=costs, C_minus1=costs)
@settings(max_examples=25)
def test_the_cost_of_a_threshold_is_the_weighted_sum_of_the_two_rates(seed, C1, C_minus1):
    """Eq. (RCS): P_1 C_1 P_FN + P_{-1} C_{-1} P_FP. Eq. (scaleRisk) exchanges the rates and is another number."""
    y, score = sample(seed)
    decided = (score > 0.3).astype(int)
    fn, fp, prior = 1 - decided[y == 1].mean(), decided[y == 0].mean(), y.mean()
    risk = cost_risk(y, decided, fn_cost=C1, fp_cost=C_minus1)
    assert risk == pytest.approx(prior * C1 * fn + (1 - prior) * C_minus1 * fp)
    if abs(prior * C1 - (1 - prior) * C_minus1) > 1e-6 and abs(fn - fp) > 1e-6:
        assert risk != pytest.approx(prior * C1 * fp + (1 - prior) * C_minus1 * fn, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_weights_find_the_corners_of_the_hull_and_no_point_of_a_dent(seed):
    """All thresholds by brute force: the front is what no other point beats in both rates, the hull a part of it."""
    y, score = sample(seed)
    cuts = np.concatenate([[-np.inf], np.sort(score)])
    points = np.array([[(score > cut)[y == 0].mean(), 1 - (score > cut)[y == 1].mean()] for cut in cuts])
    front = [p for p in points if not any((q <= p).all() and (q < p).any() for q in points)]
    hull = roc_convex_hull(y, score)
    corners = {(round(fpr, 9), round(1 - tpr, 9)) for fpr, tpr in zip(hull.fpr, hull.tpr, strict=True)}
    found = set()
    for weight in np.linspace(0.0025, 0.9975, 400):
        values = weight * points[:, 0] + (1 - weight) * points[:, 1]
        best = min_cost_risk(y, score, fn_cost=(1 - weight) / y.mean(), fp_cost=weight / (1 - y.mean()))
        assert best.risk == pytest.approx(values.min())
        found.add((round(best.fpr, 9), round(best.fnr, 9)))
    assert found <= corners
    dents = {(round(p[0], 9), round(p[1], 9)) for p in front} - corners
    assert dents
    assert not dents & found


@pytest.mark.parametrize("seed", range(3))
def test_strict_calibration_leaves_the_roc_curve_and_isotonic_regression_makes_ties(seed):
    y, score = sample(seed, n=300)
    platt = LogisticRegression().fit(score[:, None], y).predict_proba(score[:, None])[:, 1]
    for mine, theirs in zip(
        roc_curve(y, score, drop_intermediate=False)[:2], roc_curve(y, platt, drop_intermediate=False)[:2], strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)
    for cost in (0.2, 1.0, 7.0):
        assert min_cost_risk(y, score, fn_cost=cost).risk == min_cost_risk(y, platt, fn_cost=cost).risk
    steps = IsotonicRegression().fit(score, y).predict(score)
    assert len(np.unique(steps)) < len(np.unique(score)) / 4


def test_the_logistic_link_is_the_log_odds_less_those_of_the_threshold():
    """By how much a calibrated model has to move its threshold."""
    loss, eta = LogisticLoss(4, 2), np.linspace(0.01, 0.99, 50)
    odds = np.log(eta / (1 - eta))
    np.testing.assert_allclose(loss.link(eta), odds - np.log(loss.threshold / (1 - loss.threshold)))
