import pickle

import numpy as np
import pytest

from cssvm.losses import CostSensitiveHinge, LogisticLoss, design_loss

sympy = pytest.importorskip("sympy")

p, s, v = sympy.Symbol("p"), sympy.Symbol("s"), sympy.Symbol("v", real=True)
SCORES = np.linspace(-3, 3, 61)


def exponential_design(C1, C_minus1, inverse_link=None):
    C1, C_minus1 = sympy.Rational(C1), sympy.Rational(C_minus1)
    ratio, total = p * C1 / ((1 - p) * C_minus1), C1 + C_minus1
    min_risk = p * ratio ** (-C1 / total) + (1 - p) * ratio ** (C_minus1 / total)
    return design_loss(min_risk, sympy.log(ratio) / total, inverse_link, C1=float(C1), C_minus1=float(C_minus1))


@pytest.mark.parametrize(("C1", "C_minus1"), [("4", "2"), ("1", "1"), ("5/2", "1")])
def test_the_exponential_loss_is_derived_exactly(C1, C_minus1):
    loss = exponential_design(C1, C_minus1)
    assert loss.expressions.phi_1 == sympy.exp(-sympy.Rational(C1) * v)
    assert loss.expressions.phi_minus1 == sympy.exp(sympy.Rational(C_minus1) * v)
    np.testing.assert_allclose(loss.value(1, SCORES), np.exp(-loss.costs[0] * SCORES), rtol=1e-13)
    np.testing.assert_allclose(loss.gradient(-1, SCORES), loss.costs[1] * np.exp(loss.costs[1] * SCORES), rtol=1e-13)


def test_an_inverse_link_in_another_symbol_is_taken():
    loss = exponential_design(4, 2, sympy.exp(6 * s) / (2 + sympy.exp(6 * s)))
    assert loss.expressions.phi_1 == sympy.exp(-4 * v)


def test_the_logistic_loss_is_derived_and_stays_finite_far_out():
    q = 2 * (1 - p)
    loss = design_loss(
        4 * p * sympy.log((4 * p + q) / (4 * p)) + q * sympy.log((4 * p + q) / q),
        sympy.log(4 * p / q),
        C1=4,
        C_minus1=2,
    )
    exact = LogisticLoss(4, 2)
    f = np.array([-1e4, -700.0, -3.0, 0.5, 700.0, 1e4])
    for y in (1, -1):
        np.testing.assert_allclose(loss.value(y, f), exact.value(y, f), rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(loss.gradient(y, f), exact.gradient(y, f), atol=1e-12)
    assert loss.smooth


def test_expressions_and_functions_make_the_same_loss():
    min_risk, link = sympy.sqrt(p * (1 - p)), sympy.asin(2 * p - 1)
    symbolic = design_loss(min_risk, link)
    numeric = design_loss(
        lambda eta: np.sqrt(eta * (1 - eta)), lambda eta: np.arcsin(2 * eta - 1), lambda f: (1 + np.sin(f)) / 2
    )
    f = np.linspace(-1.4, 1.4, 57)
    for y in (1, -1):
        np.testing.assert_allclose(numeric.value(y, f), symbolic.value(y, f), rtol=1e-6)
        np.testing.assert_allclose(numeric.gradient(y, f), symbolic.gradient(y, f), rtol=1e-5)


def test_a_kinked_minimum_risk_is_not_simplified_into_another():
    loss = design_loss(sympy.Min(4 * p, 2 * (1 - p)), 6 * p - 2)
    np.testing.assert_allclose(loss.value(1, [-1.0, 1.0]), [4.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(loss.value(-1, [-1.0, 1.0]), [0.0, 2.0], atol=1e-12)
    assert not loss.smooth


def test_the_printed_hinge_risk_works_as_an_expression():
    sign = sympy.sign(6 * p - 2)
    min_risk = p * sympy.Max(0, 4 - 4 * sign) + (1 - p) * sympy.Max(0, 1 + 3 * sign)
    inverse = sympy.Piecewise((sympy.Rational(9, 10), s > 0), (sympy.Rational(1, 10), True))
    loss, hinge = design_loss(min_risk, sign, inverse, C1=4, C_minus1=2), CostSensitiveHinge(4, 2)
    for y in (1, -1):
        np.testing.assert_allclose(loss.value(y, [-1, 1]), hinge.value(y, [-1, 1]), atol=1e-12)


def test_a_symbolic_loss_can_be_pickled():
    loss = exponential_design(4, 2)
    copy = pickle.loads(pickle.dumps(loss))
    assert copy.expressions == loss.expressions
    np.testing.assert_array_equal(copy.value(1, SCORES), loss.value(1, SCORES))


def test_expressions_that_cannot_be_used_are_refused():
    a = sympy.Symbol("a")
    with pytest.raises(ValueError, match=r"min_risk must be a SymPy expression in one symbol.*got \['a', 'p'\]"):
        design_loss(a * p * (1 - p), sympy.log(p / (1 - p)))
    with pytest.raises(ValueError, match=r"link must be a SymPy expression in one symbol.*got function"):
        design_loss(p * (1 - p), lambda eta: eta)
    with pytest.raises(ValueError, match="inverse_link must be given for link="):
        design_loss(p * (1 - p), p + sympy.log(p / (1 - p)))
    with pytest.raises(ValueError, match=r"inverse_link=.* must be the inverse of link="):
        design_loss(p * (1 - p), sympy.log(p / (1 - p)), 1 / (1 + sympy.exp(-2 * s)))
    with pytest.raises(ValueError, match="'min_risk concave'"):
        design_loss(p**2, 2 * p - 1)


def test_missing_sympy_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sympy", None)
    with pytest.raises(ImportError, match=r"pip install cssvm\[design\]"):
        design_loss(p * (1 - p), 2 * p - 1)
