"""What costs and margins do: the formula that is minimised, the geometry, weights, the positive class."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel

from cssvm import (
    BiasedPenaltySVC,
    BoundaryMovementSVC,
    CostSensitiveSVC,
    paper_costs,
)

ESTIMATORS = [CostSensitiveSVC, BiasedPenaltySVC, BoundaryMovementSVC]


@pytest.fixture(scope="module")
def data():
    return make_classification(90, 5, flip_y=0.2, class_sep=0.5, random_state=1)


def separable():
    rng = np.random.default_rng(7)
    X = np.vstack([rng.normal([-2, -2], 0.5, (40, 2)), rng.normal([2, 2], 0.5, (40, 2))])
    return X, np.repeat([0, 1], 40)


def distances_to_the_boundary(model, X, y):
    """Smallest distance of either class, the positive one first."""
    w = model.dual_coef_ @ model.support_vectors_
    distance = np.abs(model.decision_function(X)) / np.linalg.norm(w)
    return distance[y == 1].min(), distance[y == 0].min()


@pytest.mark.parametrize(("costs", "ratio"), [((4, 2), 1 / 3), ((1, 1), 1.0), ((20, 5), 1 / 9)])
def test_separable_margins_are_in_the_ratio_one_to_kappa(costs, ratio):
    X, y = separable()
    model = CostSensitiveSVC(1e6, kernel="linear", **paper_costs(*costs)).fit(X, y)
    positive, negative = distances_to_the_boundary(model, X, y)
    assert negative / positive == pytest.approx(ratio, rel=1e-3)


def test_separable_margins_of_biased_penalties_are_equal_whatever_the_costs():
    X, y = separable()
    model = BiasedPenaltySVC(1e6, kernel="linear", fn_cost=4.0, fp_cost=3.0).fit(X, y)
    positive, negative = distances_to_the_boundary(model, X, y)
    assert negative / positive == pytest.approx(1.0, rel=1e-3)


def example_costs(y):
    """Costs and margins of each sample; those of the other class are NaN, as in a table of donations."""
    rng = np.random.default_rng(2)
    draw = rng.uniform(0.5, 4.0, (3, len(y)))
    fn_cost = np.where(y == 1, draw[0], np.nan)
    fp_cost = np.where(y == 0, draw[1], np.nan)
    kappa = np.where(y == 0, draw[2] / 4, np.nan)
    return fn_cost, fp_cost, kappa


def loss(f, y, fn_cost, fp_cost, kappa):
    """The loss of the class docstring, with y = 1 as the positive class."""
    return np.where(y == 1, fn_cost * np.maximum(0, 1 - f), fp_cost * np.maximum(0, kappa + f))


def test_primal_objective_is_the_formula_of_the_docstring(data):
    X, y = data
    fn_cost, fp_cost, kappa = example_costs(y)
    weight = np.random.default_rng(4).uniform(0.1, 2.0, len(y))
    model = CostSensitiveSVC(0.7, gamma=0.3)
    model.fit(X, y, fn_cost=fn_cost, fp_cost=fp_cost, kappa=kappa, sample_weight=weight)
    K = rbf_kernel(model.support_vectors_, gamma=0.3)
    norm = model.dual_coef_[0] @ K @ model.dual_coef_[0]
    losses = loss(model.decision_function(X), y, fn_cost, fp_cost, kappa)
    assert model.primal_objective_ == pytest.approx(norm / 2 + 0.7 * weight @ losses, rel=1e-6)


def test_costs_and_margins_of_each_example_reach_the_optimum_of_a_qp_solver(data):
    X, y = data
    fn_cost, fp_cost, kappa = example_costs(y)
    model = CostSensitiveSVC(2.0, kernel="linear", tol=1e-6)
    model.fit(X, y, fn_cost=fn_cost, fp_cost=fp_cost, kappa=kappa)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    positive, negative = y == 1, y == 0
    missed = fn_cost[positive] @ cp.pos(1 - X[positive] @ w - b)
    alarms = fp_cost[negative] @ cp.pos(kappa[negative] + X[negative] @ w + b)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + 2.0 * (missed + alarms)))
    problem.solve(solver=cp.CLARABEL)
    assert model.primal_objective_ == pytest.approx(problem.value, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(X), X @ w.value + b.value, atol=1e-3)


def test_tied_kappa_is_the_inverse_of_the_example_cost(data):
    X, y = data
    _, fp_cost, _ = example_costs(y)
    tied = CostSensitiveSVC(fn_cost=9.0, kappa="tied").fit(X, y, fp_cost=fp_cost)
    given = CostSensitiveSVC(fn_cost=9.0).fit(X, y, fp_cost=fp_cost, kappa=1 / fp_cost)
    np.testing.assert_array_equal(tied.decision_function(X), given.decision_function(X))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_costs_given_to_fit_replace_those_of_the_constructor(estimator, data):
    X, y = data
    constructed = estimator(fn_cost=3.0, fp_cost=2.0).fit(X, y)
    at_fit = estimator(fn_cost=99.0, fp_cost=99.0).fit(X, y, fn_cost=3.0, fp_cost=np.full(len(y), 2.0))
    np.testing.assert_array_equal(constructed.decision_function(X), at_fit.decision_function(X))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_higher_fn_cost_leaves_fewer_false_negatives(estimator, data):
    X, y = data
    missed = [(estimator(fn_cost=cost).fit(X, y).predict(X)[y == 1] == 0).sum() for cost in (1, 4, 20)]
    assert missed[0] > missed[1] > missed[2] or missed[2] == 0


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("labels", [("a", "b"), (False, True), (-1, 1), (3, 7), (0.0, 1.0)], ids=str)
def test_the_positive_class_may_be_either_class_of_any_type(estimator, labels, data):
    X, index = data
    y = np.array(labels)[index]
    swapped = np.array(labels)[1 - index]
    first = estimator(fn_cost=5.0, pos_label=labels[0]).fit(X, y)
    second = estimator(fn_cost=5.0, pos_label=labels[1]).fit(X, swapped)
    # Renaming the classes changes the names only; positive f means classes_[1] whatever pos_label is.
    np.testing.assert_allclose(first.decision_function(X), -second.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(first.intercept_, -second.intercept_, atol=1e-5)
    np.testing.assert_array_equal(first.classes_, labels)
    f = first.decision_function(X)
    np.testing.assert_array_equal(first.predict(X), np.array(labels)[(f > 0).astype(int)])
    assert ((f > 0) == (index == 1)).mean() > 0.5
    assert (np.sign(first.dual_coef_[0]) == np.where(index[first.support_] == 1, 1, -1)).all()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_pos_label_none_means_the_second_class(estimator, data):
    X, y = data
    default, named = estimator(fn_cost=5.0).fit(X, y), estimator(fn_cost=5.0, pos_label=1).fit(X, y)
    np.testing.assert_array_equal(default.decision_function(X), named.decision_function(X))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_integer_weights_equal_duplicated_rows(estimator, container, data):
    X, y = data
    weight = np.random.default_rng(6).integers(0, 4, len(y))
    X_repeated, y_repeated = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    weighted = estimator(fn_cost=3.0).fit(container(X), y, sample_weight=weight)
    repeated = estimator(fn_cost=3.0).fit(container(X_repeated), y_repeated)
    assert weighted.gamma_ == pytest.approx(repeated.gamma_, rel=1e-12)
    np.testing.assert_allclose(
        weighted.decision_function(container(X)),
        repeated.decision_function(container(X)),
        rtol=1e-7,
        atol=1e-9,
    )


@pytest.mark.parametrize("estimator", [CostSensitiveSVC, BiasedPenaltySVC, BoundaryMovementSVC])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_zero_weight_removes_the_row_exactly(estimator, kernel, data):
    X, y = data
    keep = np.arange(len(y)) % 3 > 0
    if kernel == "precomputed":
        K = rbf_kernel(X)
        weighted = estimator(kernel=kernel).fit(K, y, sample_weight=keep.astype(float))
        removed = estimator(kernel=kernel).fit(K[np.ix_(keep, keep)], y[keep])
        f, g = weighted.decision_function(K), removed.decision_function(K[:, keep])
    else:
        weighted = estimator().fit(X, y, sample_weight=keep.astype(float))
        removed = estimator().fit(X[keep], y[keep])
        f, g = weighted.decision_function(X), removed.decision_function(X)
    np.testing.assert_array_equal(f, g)
    np.testing.assert_array_equal(weighted.support_, np.flatnonzero(keep)[removed.support_])


def test_samples_without_costs_are_not_support_vectors(data):
    X, y = data
    fp_cost = np.where(np.arange(len(y)) < 45, 0.0, 1.0)
    model = CostSensitiveSVC(fn_cost=4.0, kappa="tied").fit(X, y, fp_cost=fp_cost)
    assert not ((y == 0) & (fp_cost == 0))[model.support_].any()


@pytest.mark.parametrize("estimator", [CostSensitiveSVC, BiasedPenaltySVC, BoundaryMovementSVC])
def test_estimators_never_warn_about_the_condition(estimator, data):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator(fn_cost=0.1).fit(X, y)
