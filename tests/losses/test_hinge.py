import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cssvm import paper_costs
from cssvm.losses import CostSensitiveHinge, HingeLoss

parameter = st.floats(0.1, 10.0)


@given(d=parameter, a=parameter, pos_margin=parameter, neg_margin=parameter, eta=st.floats(0.01, 0.99))
def test_slopes_alone_decide_where_the_minimiser_changes_its_sign(d, a, pos_margin, neg_margin, eta):
    loss = HingeLoss(pos_slope=d, pos_margin=pos_margin, neg_slope=a, neg_margin=neg_margin)
    if abs(eta - a / (a + d)) < 1e-9:
        return
    f = np.union1d(np.linspace(-11, 11, 2001), [pos_margin, -neg_margin])
    # The risk from the definition, not from the class.
    risk = eta * d * np.maximum(0, pos_margin - f) + (1 - eta) * a * np.maximum(0, neg_margin + f)
    best = f[np.argmin(risk)]
    assert np.sign(best) == np.sign(eta - a / (a + d))
    assert best == pytest.approx(loss.link(eta), abs=1e-12)  # the grid may hold a point next to a margin
    assert loss.min_risk(eta) == pytest.approx(risk.min(), rel=1e-12)
    assert loss.threshold == pytest.approx(a / (a + d), rel=1e-15)


def test_the_papers_example_switches_at_three_sevenths_not_at_one_third():
    loss = CostSensitiveHinge(4, 2)
    assert loss.threshold == 3 / 7
    assert loss.costs == (4.0, 3.0)
    np.testing.assert_allclose(loss.link([0.34, 0.42, 3 / 7, 0.43]), [-1 / 3, -1 / 3, 0.0, 1.0])
    eta = np.linspace(0, 1, 50)
    np.testing.assert_allclose(loss.min_risk(eta), (1 + 1 / 3) * np.minimum(4 * eta, 3 * (1 - eta)), rtol=1e-14)
    # eq. (CstarSVMmm) is the risk of the predictor sign(6 eta - 2), which is above the minimum over all f.
    predictor = np.sign(6 * eta - 2)
    printed = eta * np.maximum(0, 4 - 4 * predictor) + (1 - eta) * np.maximum(0, 1 + 3 * predictor)
    np.testing.assert_allclose(printed, loss.conditional_risk(eta, predictor), rtol=1e-14)
    np.testing.assert_allclose(loss.printed_risk(eta), printed, rtol=1e-14)
    assert loss.printed_risk(1 / 3) == pytest.approx(8 / 3)
    assert (printed >= loss.min_risk(eta) - 1e-14).all()
    assert loss.conditional_risk(0.35, np.sign(6 * 0.35 - 2)) == pytest.approx(2.6)
    assert loss.min_risk(0.35) == pytest.approx(28 / 15)


@given(C1=parameter, C_minus1=st.floats(0.6, 10.0), f=st.floats(-5, 5))
def test_cost_sensitive_hinge_is_the_formula_of_the_paper(C1, C_minus1, f):
    loss = CostSensitiveHinge(C1, C_minus1)
    assert (loss.C1, loss.C_minus1) == (C1, C_minus1)
    assert loss.value(1, f) == pytest.approx(C1 * max(0, 1 - f))
    assert loss.value(-1, f) == pytest.approx(max(0, 1 + (2 * C_minus1 - 1) * f), abs=1e-12)


def test_costs_of_the_estimators_make_the_same_loss():
    paper = CostSensitiveHinge(4, 2)
    costs = paper_costs(4, 2)
    general = HingeLoss(pos_slope=costs["fn_cost"], neg_slope=costs["fp_cost"], neg_margin=costs["kappa"])
    f = np.linspace(-3, 3, 61)
    for y in (1, -1):
        np.testing.assert_array_equal(paper.value(y, f), general.value(y, f))


cost_arrays = st.lists(st.floats(0.51, 50.0), min_size=1, max_size=6).map(np.array)


@given(cost=cost_arrays, seed=st.integers(0, 1000))
def test_example_dependent_hinges_are_their_formulas_sample_by_sample(cost, seed):
    rng = np.random.default_rng(seed)
    y, f = rng.choice([-1, 1], len(cost)), rng.normal(size=len(cost))
    biased = [c * max(0, 1 - label * score) for c, label, score in zip(cost, y, f, strict=True)]
    np.testing.assert_allclose(HingeLoss(pos_slope=cost, neg_slope=cost).value(y, f), biased)
    sensitive = [
        c * max(0, 1 - score) if label > 0 else max(0, 1 + (2 * c - 1) * score)
        for c, label, score in zip(cost, y, f, strict=True)
    ]
    np.testing.assert_allclose(CostSensitiveHinge(cost, cost).value(y, f), sensitive, atol=1e-12)


def test_every_sample_has_its_own_threshold():
    cost = np.array([1.0, 2.0, 5.0])
    np.testing.assert_allclose(HingeLoss(pos_slope=cost, neg_slope=cost).threshold, [0.5, 0.5, 0.5])
    np.testing.assert_allclose(CostSensitiveHinge(cost, cost).threshold, [1 / 2, 3 / 5, 9 / 14])
    np.testing.assert_allclose(CostSensitiveHinge(cost, cost).link(0.55), [1.0, -1 / 3, -1 / 9])


def test_step_links_have_no_inverse():
    for loss in (HingeLoss(), CostSensitiveHinge(4, 2), HingeLoss(pos_slope=[1, 2], neg_slope=[1, 2])):
        assert not loss.invertible
        with pytest.raises(NotImplementedError, match="has no inverse_link: its link is a step function"):
            loss.inverse_link(0.0)


@pytest.mark.parametrize("name", ["pos_slope", "pos_margin", "neg_slope", "neg_margin"])
@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, [], [1.0, 0.0], [[1.0, np.nan]], True])
def test_parameters_that_are_not_positive_are_rejected(name, bad):
    with pytest.raises(ValueError, match=f"{name} must be positive and finite; got"):
        HingeLoss(**{name: bad})


def test_wrong_costs_are_rejected():
    with pytest.raises(ValueError, match="pos_slope must be positive and finite; got pos_slope=-1"):
        HingeLoss(pos_slope=[1.0, -1.0], neg_slope=[1.0, -1.0])
    with pytest.raises(
        ValueError, match=r"C_minus1 must be a finite number above 0\.5.*; got C_minus1=0\.5 in sample 1"
    ):
        CostSensitiveHinge([1.0, 0.5], [1.0, 0.5])
    with pytest.raises(ValueError, match="pos_slope must be a number or an array of numbers"):
        HingeLoss(pos_slope="high", neg_slope="high")
    with pytest.raises(ValueError, match=r"C_minus1 must be a finite number above 0\.5"):
        CostSensitiveHinge(4, 0.5)
    with pytest.raises(ValueError, match="C1 must be a finite number above 0"):
        CostSensitiveHinge(0, 2)


def test_scores_and_costs_must_have_the_same_length():
    with pytest.raises(ValueError, match=r"must broadcast .* parameters; y has shape \(\), f has shape \(3,\)"):
        HingeLoss(pos_slope=[1.0, 2.0], neg_slope=[1.0, 2.0]).value(1, np.zeros(3))
