"""Conjugates of the losses, and their duality with the certificate of the solver."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from cssvm import CostSensitiveSVC
from cssvm.losses import (
    CostSensitiveHinge,
    ExponentialLoss,
    HingeLoss,
    LogisticLoss,
    ZeroOneLoss,
)

from .families import FAMILIES, HINGES, SMOOTH, costs, labels

# Margins of a brute-force supremum: they contain the kinks 1/2 and 1, and reach far.
MARGINS = np.union1d(np.arange(-4000, 4001) / 1000.0, [-1e6, 1e6])
FAR = 1e5

HINGE_EXAMPLES = {
    "standard": HingeLoss(),
    "biased": HingeLoss(pos_slope=4, neg_slope=2),
    "cost-sensitive": CostSensitiveHinge(4, 1.5),
}


def supremum(loss, y, v):
    """sup of u v - phi_y(u) over a grid of u."""
    return (MARGINS * v - loss.value(y, y * MARGINS)).max()


@pytest.mark.parametrize("name", HINGE_EXAMPLES)
@pytest.mark.parametrize("y", [1, -1])
def test_conjugates_of_the_hinges_are_the_supremum(name, y):
    loss = HINGE_EXAMPLES[name]
    for v in np.arange(-600, 301, 7) / 100.0:
        conjugate = loss.conjugate(y, v)
        if np.isfinite(conjugate):
            assert conjugate == pytest.approx(supremum(loss, y, v), abs=1e-9)
        else:
            assert supremum(loss, y, v) > 1e-3 * FAR


@pytest.mark.parametrize("family", FAMILIES)
@given(C1=costs, C_minus1=costs, y=labels, u=st.floats(-3, 3), v=st.floats(-12, 2))
def test_fenchel_young_inequality(family, C1, C_minus1, y, u, v):
    loss = FAMILIES[family](C1, C_minus1)
    value = loss.value(y, y * u)
    assert value + loss.conjugate(y, v) >= u * v - 1e-12 * (1 + abs(value) + abs(u * v))


@pytest.mark.parametrize("family", [*SMOOTH, *HINGES])
@given(C1=costs, C_minus1=costs, y=labels, u=st.floats(-1.5, 1.5))
def test_fenchel_young_is_an_equality_at_the_gradient(family, C1, C_minus1, y, u):
    loss = FAMILIES[family](C1, C_minus1)
    v = y * loss.gradient(y, y * u)
    value = loss.value(y, y * u)
    assert value + loss.conjugate(y, v) == pytest.approx(u * v, rel=1e-9, abs=1e-9)


def test_conjugates_are_infinite_outside_their_domain():
    outside = {ExponentialLoss(4, 2): [0.1], LogisticLoss(4, 2): [0.1, -4.1], ZeroOneLoss(4, 2): [0.1, -0.1]}
    for loss, slopes in outside.items():
        assert (loss.conjugate(1, slopes) == np.inf).all()
        assert all(supremum(loss, 1, v) > 1e-3 * FAR for v in slopes)
        assert loss.conjugate(1, 0.0) == 0.0
    assert LogisticLoss(4, 2).conjugate([1, -1], [-4.0, -2.0]).tolist() == [0.0, 0.0]


@given(kappa=st.floats(0.05, 1.0), share=st.floats(0.0, 1.0))
def test_the_cost_sensitive_conjugate_is_the_biased_one_plus_an_l1_term(kappa, share):
    """The appendix: for C_{-1} = 1/kappa and a >= 0, phi_CS*(-a) = phi_BP*(-a) + (1 - kappa) |a|."""
    slope = 1.0 / kappa
    sensitive = HingeLoss(pos_slope=4.0, neg_slope=slope, neg_margin=kappa)
    biased = HingeLoss(pos_slope=4.0, neg_slope=slope)
    a = share * slope
    assert biased.conjugate(-1, -a) == pytest.approx(-a)
    assert sensitive.conjugate(-1, -a) == pytest.approx(biased.conjugate(-1, -a) + (1 - kappa) * abs(a), abs=1e-12)


def problem(seed, n=24):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 3, 1, -1)
    X = rng.normal(size=(n, 3)) + 0.8 * y[:, None]
    return X, y, rng.uniform(0.8, 4.0, n)


def check_duality(loss, model, K, y, C):
    """Both objectives of a fitted model, written with `value` and with `conjugate`, are the solver's."""
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    alpha, f = y * beta, K @ beta + model.intercept_
    quadratic = beta @ K @ beta / 2
    primal = quadratic + C * loss.value(y, f).sum()
    # The upper bound and the solver's rounding: alpha / C may exceed the slope by a rounding error.
    slopes = -np.minimum(alpha / C, -y * loss.gradient(y, np.where(y > 0, -1e3, 1e3)))
    dual = -C * loss.conjugate(y, slopes).sum() - quadratic
    rounding = 1e-9 * primal
    assert dual == pytest.approx(model.dual_objective_, abs=rounding)
    assert primal == pytest.approx(model.primal_objective_, abs=rounding)
    assert -rounding <= primal - dual <= model.dual_gap_ * max(abs(primal), abs(dual)) + rounding
    assert primal == pytest.approx(dual, rel=1e-3)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("loss", [HingeLoss(), HingeLoss(pos_slope=4, neg_slope=2), CostSensitiveHinge(4, 2)], ids=repr)
def test_strong_duality_with_class_costs(seed, C, loss):
    X, y, _ = problem(seed)
    K = rbf_kernel(X, gamma=0.5)
    fn_cost, fp_cost = loss.costs
    model = CostSensitiveSVC(
        C, fn_cost=fn_cost, fp_cost=fp_cost, kappa=loss.neg_margin, kernel="precomputed", tol=1e-6
    ).fit(K, y)
    check_duality(loss, model, K, y, C)


# One kappa = 1 / fp_cost exceeds the fn_cost of another sample, on purpose.
@pytest.mark.parametrize("seed", range(3))
def test_strong_duality_with_example_costs(seed):
    X, y, cost = problem(seed)
    K = rbf_kernel(X, gamma=0.5)
    model = CostSensitiveSVC(2.0, kernel="precomputed", tol=1e-6)
    sensitive = model.fit(K, y, fn_cost=cost, fp_cost=2 * cost - 1, kappa="tied")
    check_duality(CostSensitiveHinge(cost, cost), sensitive, K, y, 2.0)
    biased = model.fit(K, y, fn_cost=cost, fp_cost=cost, kappa=1.0)
    check_duality(HingeLoss(pos_slope=cost, neg_slope=cost), biased, K, y, 2.0)
