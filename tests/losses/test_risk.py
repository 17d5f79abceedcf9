import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from cssvm.losses import (
    CostSensitiveHinge,
    ExponentialLoss,
    HingeLoss,
    LogisticLoss,
    ZeroOneLoss,
    bayes_gap,
    risk_type,
)

from .families import FAMILIES, costs


@given(C1=costs, C_minus1=costs, share=st.floats(0.0, 1.0))
def test_the_zero_one_minimum_risk_has_both_properties_of_the_theorem(C1, C_minus1, share):
    loss = ZeroOneLoss(C1, C_minus1)
    threshold, epsilon = C_minus1 / (C1 + C_minus1), share / (C1 + C_minus1)
    left = loss.min_risk(max(0.0, threshold - C_minus1 * epsilon))
    right = loss.min_risk(min(1.0, threshold + C1 * epsilon))
    expected = C1 * C_minus1 / (C1 + C_minus1) - C1 * C_minus1 * epsilon
    assert left == pytest.approx(expected, abs=1e-13)
    assert right == pytest.approx(expected, abs=1e-13)
    assert loss.min_risk(threshold) == pytest.approx(loss.min_risk(np.linspace(0, 1, 1001)).max(), rel=2e-3)
    assert risk_type(loss) == "II"


@given(C1=costs, C_minus1=costs)
def test_types_of_the_losses_with_unequal_costs(C1, C_minus1):
    assume(abs(C1 / C_minus1 - 1) > 0.01)
    assert risk_type(ExponentialLoss(C1, C_minus1)) == "I"
    assert risk_type(LogisticLoss(C1, C_minus1)) is None
    for family in ("zero-one", "biased hinge", "cost-sensitive hinge", "general hinge"):
        assert risk_type(FAMILIES[family](C1, C_minus1)) == "II"


@pytest.mark.parametrize("family", ["zero-one", "exponential", "logistic", "biased hinge", "general hinge"])
@given(cost=costs)
@settings(max_examples=20)
def test_equal_costs_make_every_risk_of_type_two(family, cost):
    assert risk_type(FAMILIES[family](cost, cost)) == "II"


def test_the_papers_hinge_is_of_type_two_for_its_slopes_not_for_its_costs():
    loss = CostSensitiveHinge(4, 2)
    assert risk_type(loss) == "II"
    assert risk_type(loss, C1=4, C_minus1=3) == "II"
    assert risk_type(loss, C1=4, C_minus1=2) is None


def test_a_minimum_risk_alone_is_evaluated_at_given_costs():
    assert risk_type(lambda eta: np.minimum(4 * eta, 2 * (1 - eta)), C1=4, C_minus1=2) == "II"
    assert risk_type(lambda eta: np.minimum(4 * eta, 2 * (1 - eta)), C1=400, C_minus1=200) == "II"
    assert risk_type(lambda eta: np.minimum(4 * eta, 2 * (1 - eta)), C1=4, C_minus1=2.001) is None
    # The printed formula with sign(0) = 0 dips at the threshold only.
    assert risk_type(lambda eta: 1 - np.abs(np.sign(2 * eta - 1) * (2 * eta - 1)), C1=1, C_minus1=1) == "II"


def test_risk_types_without_costs_are_rejected():
    with pytest.raises(ValueError, match="must be given with a bare minimum risk"):
        risk_type(lambda eta: eta * (1 - eta))
    with pytest.raises(ValueError, match="minimum risk must be finite on"):
        risk_type(lambda eta: np.full_like(eta, np.nan), C1=1, C_minus1=1)
    with pytest.raises(ValueError, match="must be given together; got C1=1, C_minus1=None"):
        risk_type(ZeroOneLoss(), C1=1)
    with pytest.raises(ValueError, match="C1 must be a positive finite number; got C1=nan"):
        risk_type(ZeroOneLoss(), C1=np.nan, C_minus1=1)
    with pytest.raises(ValueError, match="must be two numbers; it has one for each sample"):
        risk_type(HingeLoss(pos_slope=[1.0, 2.0], neg_slope=[1.0, 2.0]))


def uniform(eta):
    return 1.0


@given(C1=costs, C_minus1=costs, pos_margin=costs, neg_margin=costs)
@settings(max_examples=15)
def test_the_bayes_gap_of_a_hinge_for_uniform_probabilities(C1, C_minus1, pos_margin, neg_margin):
    """The integral of min(C1 eta, C_{-1} (1 - eta)) is half its height C1 C_{-1} / (C1 + C_{-1})."""
    loss = HingeLoss(pos_slope=C1, pos_margin=pos_margin, neg_slope=C_minus1, neg_margin=neg_margin)
    area = C1 * C_minus1 / (C1 + C_minus1) / 2
    assert bayes_gap(loss, uniform) == pytest.approx((pos_margin + neg_margin - 1) * area, rel=1e-9, abs=1e-12)


def test_bayes_gaps_of_the_standard_losses_for_uniform_probabilities():
    # Integrals over [0, 1] of 2 sqrt(p (1 - p)), of the entropy and of min(p, 1 - p): pi / 4, 1 / 2 and 1 / 4.
    assert bayes_gap(ExponentialLoss(), uniform) == pytest.approx(np.pi / 4 - 1 / 4, abs=1e-8)
    assert bayes_gap(LogisticLoss(), uniform) == pytest.approx(1 / 2 - 1 / 4, abs=1e-8)
    assert bayes_gap(ZeroOneLoss(4, 2), uniform) == 0.0


def test_sample_density_and_distribution_agree():
    beta, loss = stats.beta(2, 5), LogisticLoss(4, 1)
    exact = bayes_gap(loss, beta)
    assert bayes_gap(loss, beta.pdf) == exact
    sample = beta.ppf((np.arange(20_000) + 0.5) / 20_000)
    # The midpoint rule in the quantiles: the error is below (largest minus smallest gap) / n.
    assert bayes_gap(loss, sample) == pytest.approx(exact, abs=5 / 20_000)
    assert bayes_gap(loss, [0.3]) == pytest.approx(loss.min_risk(0.3) - min(4 * 0.3, 0.7))


def test_densities_with_poles_and_narrow_peaks_are_integrated():
    # E[2 sqrt(p (1 - p))] under the arcsine law is 2 / pi, E[min(p, 1 - p)] is 1 / 2 - 1 / pi.
    assert bayes_gap(ExponentialLoss(), stats.beta(0.5, 0.5)) == pytest.approx(3 / np.pi - 0.5, abs=1e-6)
    peak = stats.beta(3000, 7000)
    assert bayes_gap(HingeLoss(), peak) == pytest.approx(0.3, abs=1e-6)


def test_the_bayes_gap_may_have_other_costs():
    loss = CostSensitiveHinge(4, 2)
    eta = np.linspace(0, 1, 11)
    expected = np.mean(loss.min_risk(eta) - np.minimum(4 * eta, 2 * (1 - eta)))
    assert bayes_gap(loss, eta, C1=4, C_minus1=2) == pytest.approx(expected)


def test_bayes_gaps_that_cannot_be_computed_are_rejected():
    loss = LogisticLoss()
    with pytest.raises(ValueError, match=r"eta must lie in \[0, 1\]; got eta=1.5"):
        bayes_gap(loss, [0.5, 1.5])
    with pytest.raises(ValueError, match=r"eta must lie in \[0, 1\]; got eta=nan"):
        bayes_gap(loss, [0.5, np.nan])
    with pytest.raises(ValueError, match="eta must hold at least one probability"):
        bayes_gap(loss, [])
    with pytest.raises(ValueError, match="it integrates to 2, not to 1"):
        bayes_gap(loss, lambda eta: 2.0)
    with pytest.raises(ValueError, match=r"it integrates to 0\.\d+, not to 1"):
        bayes_gap(loss, stats.norm(0.5, 1.0))
    with pytest.raises(ValueError, match="finite and not negative"):
        bayes_gap(loss, lambda eta: 4 * eta - 1)
    with pytest.raises(ValueError, match="finite and not negative"):
        bayes_gap(loss, lambda eta: np.nan)
    with pytest.raises(ValueError, match="loss must be a Loss; got 'hinge'"):
        bayes_gap("hinge", [0.5])
    with pytest.raises(ValueError, match="C1 and C_minus1 must be given together"):
        bayes_gap(loss, [0.5], C_minus1=2)
