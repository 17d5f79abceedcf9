"""Formulations of one SVM: the four of fig. comm, kappa as a penalty, the derivative by an upper bound."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel

from cssvm import CostSensitiveSVC

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "four_formulations.py"))


def problem(seed, n=40):
    """Margins and upper bounds of single samples, which all four formulations allow."""
    X, labels = make_classification(n, 4, flip_y=0.1, class_sep=0.7, random_state=seed)
    rng = np.random.default_rng(seed)
    y = np.where(labels == 1, 1.0, -1.0)
    return EXAMPLE["Problem"](rbf_kernel(X, gamma=2.0), y, rng.uniform(0.2, 1.5, n), rng.uniform(0.2, 3.0, n))


@pytest.mark.parametrize("which", ["the paper's loss", "margins of samples"])
def test_the_four_formulations_have_one_optimum_and_lead_to_each_other(which):
    given = EXAMPLE["example"](40) if which == "the paper's loss" else problem(1)
    found = {name: solve(given) for name, solve in EXAMPLE["FORMULATIONS"].items()}
    w, beta, alpha, z = (found[name].solution for name in ("w", "beta", "alpha", "z"))
    f = found["beta"].scores
    for each in found.values():
        assert each.value == pytest.approx(found["w"].value, rel=1e-8)
        np.testing.assert_allclose(each.scores, f, atol=1e-6)
    np.testing.assert_allclose(w, given.features @ beta, atol=1e-6)
    np.testing.assert_allclose(beta, given.y * alpha, atol=1e-6)
    np.testing.assert_allclose(np.linalg.solve(given.K, z), beta, atol=1e-6)
    shift = f - z  # the bias, not zero: z is not f
    assert np.ptp(shift) < 1e-6
    assert abs(shift.mean()) > 0.01


@pytest.mark.parametrize("seed", range(2))
def test_the_svm_of_the_library_is_that_of_the_four_formulations(seed):
    given = problem(seed)
    # The margin of the positive class is 1 in this library; all others are those of the samples.
    given = given._replace(margins=np.where(given.y > 0, 1.0, given.margins))
    reference = EXAMPLE["in_beta"](given)
    model = CostSensitiveSVC(1.0, kernel="precomputed", tol=1e-9)
    model.fit(given.K, given.y, fn_cost=given.upper_bounds, fp_cost=given.upper_bounds, kappa=given.margins)
    assert model.dual_objective_ == pytest.approx(reference.value, rel=1e-8)
    np.testing.assert_allclose(model.decision_function(given.K), reference.scores, atol=1e-6)


def test_the_example_prints_all_five_optima(capsys):
    EXAMPLE["main"]()
    lines = capsys.readouterr().out.splitlines()
    optima = [line.split()[1] for line in lines[1:6]]
    assert len(set(optima)) == 1


@pytest.fixture(scope="module")
def rare():
    return make_classification(600, 6, n_informative=4, weights=[0.93], flip_y=0.02, random_state=0)


@pytest.mark.parametrize("kappa", [1.0, 0.3, 0.01])
def test_the_penalty_on_the_negatives_is_one_on_all_multipliers(kappa, rare):
    """(1 - kappa) |a-|_1 = (1 - kappa) / 2 |a|_1, as sum a+ = sum a- at every feasible point."""
    X, y = rare
    model = CostSensitiveSVC(1.0, fn_cost=50.0, fp_cost=1 / kappa, kappa=kappa, tol=1e-7).fit(X, y)
    beta = model.dual_coef_[0]
    total = np.abs(beta).sum()
    assert np.abs(beta[beta < 0]).sum() == pytest.approx(total / 2, rel=1e-9)
    # eq. (csdual2): the dual with margins 1 for all, less the penalty.
    K = rbf_kernel(model.support_vectors_, gamma=model.gamma_)
    dual = total - (1 - kappa) * np.abs(beta[beta < 0]).sum() - beta @ K @ beta / 2
    assert dual == pytest.approx(model.dual_objective_, rel=1e-6)


def test_the_slope_thins_out_negative_support_vectors_and_the_margin_acts_like_a_larger_C(rare):
    """From kappa = 1 to 0.01: by the paper's tie, by the slope alone, and by the margin alone."""
    X, y = rare

    def negatives(C=1.0, **given):
        return CostSensitiveSVC(C, fn_cost=100.0, tol=1e-7, **given).fit(X, y).n_support_[0]

    kappa = 0.01
    standard, tied = negatives(), negatives(fp_cost=1 / kappa, kappa=kappa)
    slope, margin = negatives(fp_cost=1 / kappa), negatives(kappa=kappa)
    assert tied < 0.6 * standard
    assert slope < 0.6 * standard
    assert margin > 0.6 * standard
    assert margin == negatives(C=2 / (1 + kappa))


def test_the_derivative_by_an_upper_bound_is_the_slack_of_its_sample():
    """d optimum / d c_i = max(0, m_i - y_i f_i), by central differences, for all kinds of samples."""
    given = problem(3)
    given = given._replace(margins=np.where(given.y > 0, 1.0, given.margins))

    def solved(upper_bounds):
        model = CostSensitiveSVC(1.0, kernel="precomputed", tol=1e-10)
        return model.fit(given.K, given.y, fn_cost=upper_bounds, fp_cost=upper_bounds, kappa=given.margins)

    slack = np.maximum(0.0, given.margins - given.y * solved(given.upper_bounds).decision_function(given.K))
    step = 1e-5
    prices = []
    for i in range(len(slack)):
        up, down = given.upper_bounds.copy(), given.upper_bounds.copy()
        up[i] += step
        down[i] -= step
        prices.append((solved(up).dual_objective_ - solved(down).dual_objective_) / (2 * step))
    np.testing.assert_allclose(prices, slack, atol=1e-4)
    assert (slack > 0.1).any()
    assert (slack < 1e-8).any()
    free = np.flatnonzero(slack < 1e-8)  # a larger upper bound of a sample without slack changes nothing
    larger = given.upper_bounds.copy()
    larger[free] *= 10
    np.testing.assert_allclose(
        solved(larger).decision_function(given.K), solved(given.upper_bounds).decision_function(given.K), atol=1e-7
    )
