"""Sample costs and margins: every kernel against Clarabel, the methods of the paper, and their reductions.

The reduction: with one kappa for all negatives and a free bias, f = s f' + (1 - kappa) / 2 with s = (1 + kappa) / 2,
where f' is the SVM with upper bounds c / s and both margins 1. It does not hold for sample margins or without b.
"""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from cssvm import BiasedPenaltySVC, BoundaryMovementSVC, CostSensitiveSVC, paper_costs
from tests.kernels.registry import CASES, gram

TIGHT = 1e-8
CLARABEL = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def sample(seed, n=60):
    """Samples of two classes that overlap, and a cost for each between 0.6 and 6."""
    X, y = make_classification(n, 4, flip_y=0.15, class_sep=0.6, weights=[0.6], random_state=seed)
    return X, y, np.random.default_rng(seed).uniform(0.6, 6.0, n)


def by_clarabel(K, y, margins, upper_bounds, *, bias="free"):
    """Optimum and scores of min 1/2 |w|^2 + sum_i boxes_i max(0, margins_i - signs_i f_i), f = K beta + b.

    bias : "free", "regularised" (1/2 b^2 is added) or "none".
    """
    values, vectors = np.linalg.eigh(K)
    features = vectors * np.sqrt(np.maximum(values, 0.0))
    w, b, signs = cp.Variable(len(K)), cp.Variable(), np.where(y == 1, 1.0, -1.0)
    f = features @ w + b if bias != "none" else features @ w
    norm = cp.sum_squares(w) + (cp.square(b) if bias == "regularised" else 0.0)
    problem = cp.Problem(cp.Minimize(norm / 2 + upper_bounds @ cp.pos(margins - cp.multiply(signs, f))))
    problem.solve(**CLARABEL)
    return problem.value, f.value


def ways(name, X):
    """The kernel by name, as a callable and as a matrix: what the estimator and its fit are given."""
    yield {"kernel": name, **CASES[name].parameters}, X
    yield {"kernel": lambda A, B: gram(name, A, B)}, X
    yield {"kernel": "precomputed"}, gram(name, X)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", [name for name in CASES if name != "sigmoid"])
def test_a_margin_and_a_cost_for_each_sample_reach_the_optimum_of_clarabel_with_every_kernel(name, seed):
    X, y, cost = sample(seed)
    rng = np.random.default_rng(10 + seed)
    kappa, weight = rng.uniform(0.1, 2.0, len(y)), rng.uniform(0.2, 2.0, len(y))
    upper_bounds = 1.5 * weight * cost
    optimum, scores = by_clarabel(gram(name, X), y, np.where(y == 1, 1.0, kappa), upper_bounds)
    for parameters, given in ways(name, X):
        model = CostSensitiveSVC(1.5, tol=TIGHT, **parameters)
        model.fit(given, y, fn_cost=cost, fp_cost=cost, kappa=kappa, sample_weight=weight)
        assert model.primal_objective_ == pytest.approx(optimum, rel=1e-7)
        assert model.dual_objective_ == pytest.approx(optimum, rel=1e-7)
        np.testing.assert_allclose(model.decision_function(given), scores, atol=2e-5 * np.abs(scores).max())


@pytest.mark.parametrize("seed", range(2))
def test_a_margin_and_a_cost_for_each_sample_are_stationary_with_an_indefinite_kernel(seed):
    """The sigmoid kernel has no quadratic programme that Clarabel would take: first-order conditions in its place."""
    X, y, cost = sample(seed)
    kappa = np.random.default_rng(10 + seed).uniform(0.1, 2.0, len(y))
    K, signs = gram("sigmoid", X), np.where(y == 1, 1.0, -1.0)
    model = CostSensitiveSVC(1.5, kernel="sigmoid", tol=1e-6, **CASES["sigmoid"].parameters)
    model.fit(X, y, fn_cost=cost, fp_cost=cost, kappa=kappa)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    alpha, upper_bounds = signs * beta, 1.5 * cost
    assert abs(beta.sum()) < 1e-9
    assert (alpha >= 0).all()
    assert (alpha <= upper_bounds * (1 + 1e-12)).all()
    missing = np.where(y == 1, 1.0, kappa) - signs * (K @ beta + model.intercept_)
    assert (missing[alpha < upper_bounds * (1 - 1e-9)] < 1e-5).all()  # within its upper bound: not within its margin
    assert (missing[alpha > 0] > -1e-5).all()  # a support vector: not beyond its margin


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_constant_costs_of_examples_are_the_class_dependent_estimators(kernel):
    X, y, _ = sample(3)
    fn_cost, fp_cost, kappa = (np.full(len(y), value) for value in (4.0, 3.0, 0.25))
    for estimator, margins in ((CostSensitiveSVC, {"kappa": 0.25}), (BiasedPenaltySVC, {}), (BoundaryMovementSVC, {})):
        classes = estimator(1.0, kernel=kernel, fn_cost=4.0, fp_cost=3.0, **margins).fit(X, y)
        rows = {"kappa": kappa} if margins else {}
        examples = estimator(1.0, kernel=kernel).fit(X, y, fn_cost=fn_cost, fp_cost=fp_cost, **rows)
        np.testing.assert_array_equal(classes.decision_function(X), examples.decision_function(X))
    one = paper_costs(4, 2)
    each = paper_costs(np.full(len(y), 4.0), np.full(len(y), 2.0))
    classes = CostSensitiveSVC(1.0, kernel=kernel, **one).fit(X, y)
    examples = CostSensitiveSVC(1.0, kernel=kernel).fit(X, y, **each)
    np.testing.assert_array_equal(classes.decision_function(X), examples.decision_function(X))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_integer_costs_of_the_example_dependent_biased_svm_equal_repetition(kernel):
    X, y, _ = sample(4)
    cost = np.random.default_rng(4).integers(1, 5, len(y))
    priced = BiasedPenaltySVC(0.5, kernel=kernel, gamma=0.3, tol=TIGHT).fit(X, y, fn_cost=cost, fp_cost=cost)
    rows = np.repeat(np.arange(len(y)), cost)
    repeated = BiasedPenaltySVC(0.5, kernel=kernel, gamma=0.3, tol=TIGHT).fit(X[rows], y[rows])
    theirs = SVC(C=0.5, kernel=kernel, gamma=0.3, tol=TIGHT).fit(X[rows], y[rows])
    f = priced.decision_function(X)
    np.testing.assert_allclose(f, repeated.decision_function(X), atol=1e-6 * np.abs(f).max())
    np.testing.assert_allclose(f, theirs.decision_function(X), atol=1e-4 * np.abs(f).max())


def shifted(X, y, cost, C, kappa):
    """The biased SVM with upper bounds divided by s = (1 + kappa) / 2, its scores mapped back."""
    s = (1 + kappa) / 2
    biased = BiasedPenaltySVC(C / s, gamma=0.3, tol=TIGHT).fit(X, y, fn_cost=cost, fp_cost=cost)
    return s * biased.decision_function(X) + (1 - kappa) / 2


@pytest.mark.parametrize("kappa", [0.97, 0.2, 2.78])
def test_one_kappa_with_costs_of_samples_is_a_shifted_example_dependent_biased_svm(kappa):
    """The run of the paper on KDD98: kappa = 0.97 for all samples."""
    X, y, cost = sample(5)
    ours = CostSensitiveSVC(0.8, kappa=kappa, gamma=0.3, tol=TIGHT).fit(X, y, fn_cost=cost, fp_cost=cost)
    f = ours.decision_function(X)
    np.testing.assert_allclose(f, shifted(X, y, cost, 0.8, kappa), atol=1e-6 * np.abs(f).max())
    # Cut at 0 means cut at -(1 - kappa) / (1 + kappa) there: another decision for some samples, the same ranking.
    s = (1 + kappa) / 2
    biased = BiasedPenaltySVC(0.8 / s, gamma=0.3, tol=TIGHT).fit(X, y, fn_cost=cost, fp_cost=cost)
    np.testing.assert_array_equal(ours.predict(X), biased.decision_function(X) > -(1 - kappa) / (1 + kappa))


def test_the_reduction_fails_for_margins_of_single_samples():
    """No kappa makes it a shifted SVM: the scores of that SVM differ from any affine map of the others."""
    X, y, cost = sample(5)
    own = CostSensitiveSVC(0.8, kappa="tied", gamma=0.3, tol=TIGHT).fit(X, y, fn_cost=cost, fp_cost=cost)
    f = own.decision_function(X)
    distances = []
    for kappa in np.geomspace(0.05, 3.0, 25):
        g = shifted(X, y, cost, 0.8, kappa)
        line = np.polyfit(g, f, 1)
        distances.append(np.abs(np.polyval(line, g) - f).max())
    assert min(distances) > 0.05
    # The model itself is right: it is the optimum of the problem with these margins.
    K = gram("rbf", X, gamma=0.3)
    optimum, scores = by_clarabel(K, y, np.where(y == 1, 1.0, 1 / cost), 0.8 * cost)
    assert own.primal_objective_ == pytest.approx(optimum, rel=1e-7)
    np.testing.assert_allclose(f, scores, atol=1e-4)


@pytest.mark.parametrize("bias", ["free", "regularised", "none"])
def test_the_reduction_needs_a_free_bias(bias):
    X, y, cost = sample(6)
    K, kappa, upper_bounds = gram("rbf", X), 0.2, 0.1 * cost
    s = (1 + kappa) / 2
    _, f = by_clarabel(K, y, np.where(y == 1, 1.0, kappa), upper_bounds, bias=bias)
    _, g = by_clarabel(K, y, np.ones(len(y)), upper_bounds / s, bias=bias)
    difference = np.abs(f - (s * g + (1 - kappa) / 2)).max()
    assert (difference < 1e-6) if bias == "free" else (difference > 0.05)


def donors(seed, n=200):
    """Rows like those of KDD98: a donation for each donor, a letter at 0.68 for each of the others."""
    X, y = make_classification(n, 5, weights=[0.7], flip_y=0.1, random_state=seed)
    donation = np.random.default_rng(seed).lognormal(1.5, 0.8, n) + 1
    return X, y, np.where(y == 1, donation, np.nan)


def test_the_example_dependent_biased_svm_is_the_svc_with_costs_as_weights():
    """ED-BP-SVM, and P-ED-BP-SVM with its polynomial kernel."""
    X, y, donation = donors(0)
    weights = np.where(y == 1, donation, 0.68)
    for kernel in ({"kernel": "rbf", "gamma": 0.2}, {"kernel": "poly", "degree": 2, "gamma": 0.2, "coef0": 1.0}):
        ours = BiasedPenaltySVC(0.3, tol=1e-7, **kernel).fit(X, y, fn_cost=donation, fp_cost=0.68)
        theirs = SVC(C=0.3, tol=1e-7, **kernel).fit(X, y, sample_weight=weights)
        f = theirs.decision_function(X)
        np.testing.assert_allclose(ours.decision_function(X), f, atol=2e-4 * np.abs(f).max())


def test_the_example_dependent_cost_sensitive_svm_minimises_the_loss_of_the_paper():
    """ED-CS-SVM, eq. (EDCSH), written out: c max(0, 1 - f), max(0, 1 + (2 c - 1) f)."""
    X, y, cost = sample(7)
    K = gram("rbf", X)
    ours = CostSensitiveSVC(0.5, kernel="precomputed", tol=TIGHT).fit(K, y, **paper_costs(cost, cost))
    values, vectors = np.linalg.eigh(K)
    features = vectors * np.sqrt(np.maximum(values, 0.0))
    w, b = cp.Variable(len(y)), cp.Variable()
    f = features @ w + b
    losses = cp.sum(cp.multiply(cost, cp.pos(1 - f))[y == 1]) + cp.sum(cp.pos(1 + cp.multiply(2 * cost - 1, f))[y == 0])
    optimum = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + 0.5 * losses)).solve(**CLARABEL)
    assert ours.primal_objective_ == pytest.approx(optimum, rel=1e-7)
    np.testing.assert_allclose(ours.decision_function(K), f.value, atol=1e-4)


def test_with_one_cost_of_all_false_positives_the_loss_of_the_paper_has_one_kappa():
    """0.68 for each letter: kappa = 1 / (2 * 0.68 - 1) = 2.78 for all, hence a shifted ED-BP-SVM again."""
    X, y, donation = donors(1)
    fn_cost, fp_cost, kappa = paper_costs(donation, np.where(y == 1, np.nan, 0.68)).values()
    np.testing.assert_allclose(kappa[y == 0], 1 / 0.36)
    own = CostSensitiveSVC(0.3, gamma=0.2, tol=TIGHT).fit(X, y, fn_cost=fn_cost, fp_cost=fp_cost, kappa=kappa)
    s = (1 + 1 / 0.36) / 2
    biased = BiasedPenaltySVC(0.3 / s, gamma=0.2, tol=TIGHT).fit(X, y, fn_cost=fn_cost, fp_cost=fp_cost)
    f = own.decision_function(X)
    np.testing.assert_allclose(f, s * biased.decision_function(X) + (1 - 1 / 0.36) / 2, atol=1e-5 * np.abs(f).max())


def test_example_dependent_boundary_movement_is_the_standard_svm_cut_where_the_samples_cost_least():
    """ED-BM-SVM: every threshold between two scores tried one by one, with the cost of each sample."""
    X, y, donation = donors(2)
    model = BoundaryMovementSVC(0.3, gamma=0.2, tol=1e-7).fit(X, y, fn_cost=donation, fp_cost=0.68)
    standard = SVC(C=0.3, gamma=0.2, tol=1e-7).fit(X, y)
    f = standard.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X) + model.threshold_, f, atol=1e-4)

    def total(decisions):
        return donation[(y == 1) & ~decisions].sum() + 0.68 * ((y == 0) & decisions).sum()

    cuts = np.concatenate([[-np.inf], np.sort(f)])
    least = min(total(f > cut) for cut in cuts)
    assert total(model.predict(X) == 1) == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize("cost", [0.5, 0.3])
def test_costs_of_at_most_one_half_are_trained_with_in_a_larger_unit(cost):
    """Eq. (EDCSH) has no slope 2 c - 1 for them: all costs divided by the smallest, C multiplied by it."""
    X, y, _ = sample(8)
    C_minus1, C1, C = np.full(len(y), cost), np.full(len(y), 4.0), 2.0
    C_minus1[::2] *= 3
    with pytest.raises(ValueError, match="Divide all costs, C1 too, by the smallest C_minus1 and multiply C by it"):
        paper_costs(C1, C_minus1)
    model = CostSensitiveSVC(C * cost, gamma=0.3).fit(X, y, **paper_costs(C1 / cost, C_minus1 / cost))
    # The slopes of the positive class are as given: C * 4. The smallest of the others has the margin 1.
    np.testing.assert_allclose(model.C_ * paper_costs(C1 / cost, C_minus1 / cost)["fn_cost"], C * 4.0)
    assert paper_costs(C1 / cost, C_minus1 / cost)["kappa"].max() == 1.0
