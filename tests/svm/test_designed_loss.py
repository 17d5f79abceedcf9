"""The training problem of `DesignedLossClassifier` is the one it states, for every kind of loss."""

import pickle
import re
import warnings

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

from cssvm import CostSensitiveSVC, DesignedLossClassifier, paper_costs
from cssvm._kernels import KERNELS
from cssvm.losses import (
    CostSensitiveHinge,
    ExponentialLoss,
    HingeLoss,
    LogisticLoss,
    ZeroOneLoss,
    design_loss,
)

TOL = 1e-9


@pytest.fixture(scope="module")
def data():
    return make_classification(120, 5, n_redundant=0, flip_y=0.15, class_sep=0.6, weights=[0.65], random_state=5)


def objective(loss, C, w, b, X, signs, weight=1.0):
    return 0.5 * w @ w + C * np.sum(weight * loss.value(signs, X @ w + b))


def coefficient_error(X, C, tol=TOL):
    """Bound on |w - w*|: the objective is 1-strongly convex in w, and its gradient at most C n tol scale_j."""
    scale = np.sqrt(1 / (C * len(X)) + X.var(axis=0))
    return C * len(X) * tol * np.sqrt(1 + scale @ scale)


def convex_minimum(X, signs, C, row_losses):
    """Minimum, w and b of 1/2 |w|^2 + C sum of row_losses(f, signs), by Clarabel."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * cp.sum(row_losses(X @ w + b))))
    problem.solve(solver=cp.CLARABEL)
    return problem.value, w.value, float(b.value)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_default_is_logistic_regression(data, C):
    X, y = data
    model = DesignedLossClassifier(C=C, tol=TOL).fit(X, y)
    expected = LogisticRegression(C=C, tol=TOL, max_iter=10_000).fit(X, y)
    # scikit-learn's gradient is held to the same tolerance in the unscaled coordinates.
    allowed = 2 * coefficient_error(X, C)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=allowed)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=0, atol=allowed)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=0, atol=10 * allowed)


def test_costs_of_the_logistic_loss_are_class_weights(data):
    X, y = data
    model = DesignedLossClassifier(LogisticLoss(4.0, 0.5), tol=TOL).fit(X, y)
    expected = LogisticRegression(tol=TOL, max_iter=10_000).fit(X, y, sample_weight=np.where(y == 1, 4.0, 0.5))
    allowed = 2 * coefficient_error(X, 4.0)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=allowed)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=0, atol=allowed)


@pytest.mark.parametrize("costs", [(1.0, 1.0), (3.0, 1.0), (0.5, 2.0)])
def test_exponential_loss_reaches_the_minimum_of_a_convex_solver(data, costs):
    X, y = data
    X, signs, C = X[:40], 2 * y[:40] - 1, 0.7
    rate = np.where(signs > 0, costs[0], costs[1]) * signs
    minimum, w, b = convex_minimum(X, signs, C, lambda f: cp.exp(-cp.multiply(rate, f)))
    model = DesignedLossClassifier(ExponentialLoss(*costs), C, tol=TOL).fit(X, signs)
    # Clarabel stops at a relative gap of 1e-8; strong convexity turns a gap into |w - w*|^2 / 2.
    assert model.objective_ == pytest.approx(minimum, rel=1e-7)
    np.testing.assert_allclose(model.coef_[0], w, atol=np.sqrt(2e-7 * minimum))
    np.testing.assert_allclose(model.intercept_[0], b, atol=2 * np.sqrt(2e-7 * minimum))


@pytest.mark.parametrize("loss", [LogisticLoss(4.0, 2.0), ExponentialLoss(2.0, 1.0), HingeLoss(pos_slope=3.0)])
def test_objective_is_that_of_the_stored_coefficients(data, loss):
    X, y = data
    weight = np.random.default_rng(0).uniform(0.1, 2.0, len(y))
    model = DesignedLossClassifier(loss, 0.5).fit(X, y, sample_weight=weight)
    direct = objective(loss, 0.5, model.coef_[0], model.intercept_[0], X, 2 * y - 1, weight)
    assert model.objective_ == pytest.approx(direct, rel=1e-10)


@pytest.mark.parametrize("costs", [(1.0, 1.0), (4.0, 1.0)])
def test_a_designed_loss_trains_the_model_of_its_closed_form(data, costs):
    X, y = data
    closed = ExponentialLoss(*costs)
    derived = design_loss(closed.min_risk, closed.link, closed.inverse_link)
    tol = 1e-6  # what the derivatives of a numerically derived loss are good for
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = DesignedLossClassifier(derived, 0.1, tol=tol).fit(X, y)
    expected = DesignedLossClassifier(closed, 0.1, tol=tol).fit(X, y)
    allowed = 4 * coefficient_error(X, 0.1 * max(costs), tol)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=allowed)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=0, atol=allowed)


@pytest.mark.parametrize(
    "hinge",
    [
        HingeLoss(),
        HingeLoss(pos_slope=3.0, pos_margin=0.5, neg_slope=1.5, neg_margin=2.0),
        HingeLoss(pos_slope=0.4, pos_margin=4.0, neg_slope=2.0, neg_margin=1.0),
        CostSensitiveHinge(4.0, 2.0),
    ],
)
@pytest.mark.parametrize("pos_label", [0, 1])
def test_hinge_reaches_the_minimum_of_a_convex_solver(data, hinge, pos_label):
    X, y = data
    signs, C = np.where(y == pos_label, 1, -1), 0.3
    slope = np.where(signs > 0, hinge.pos_slope, hinge.neg_slope)
    margin = np.where(signs > 0, hinge.pos_margin, hinge.neg_margin)
    minimum, w, _ = convex_minimum(X, signs, C, lambda f: cp.multiply(slope, cp.pos(margin - cp.multiply(signs, f))))
    model = DesignedLossClassifier(hinge, C, pos_label=pos_label).fit(X, y)
    side = 1 if pos_label == 1 else -1
    assert model.objective_ == pytest.approx(minimum, rel=1e-6)
    assert objective(hinge, C, side * model.coef_[0], side * model.intercept_[0], X, signs) == pytest.approx(
        minimum, rel=1e-6
    )
    np.testing.assert_allclose(side * model.coef_[0], w, atol=np.sqrt(2e-6 * minimum))
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_[0], atol=1e-10)


def test_the_papers_hinge_is_the_cost_sensitive_svc_with_an_exact_kernel(data):
    X, y = data
    model = DesignedLossClassifier(CostSensitiveHinge(4.0, 2.0), 2.0, kernel="rbf", n_components=3).fit(X, y)
    expected = CostSensitiveSVC(2.0, **paper_costs(4.0, 2.0), tol=model.tol).fit(X, y)
    np.testing.assert_array_equal(model.svc_.dual_coef_, expected.dual_coef_)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    assert model.coef_ is None
    assert model.feature_map_ is None


@pytest.mark.parametrize("loss", [None, ExponentialLoss(2.0, 1.0), CostSensitiveHinge(4.0, 2.0)])
def test_integer_weights_equal_repeated_rows(data, loss):
    X, y = data
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = DesignedLossClassifier(loss, tol=TOL).fit(X, y, sample_weight=weight)
    repeated = DesignedLossClassifier(loss, tol=TOL).fit(X.repeat(weight, axis=0), y.repeat(weight))
    allowed = 2 * coefficient_error(X.repeat(weight, axis=0), 4.0)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=0, atol=allowed)
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-9)


def test_a_row_that_weighs_next_to_nothing_is_a_removed_row(data):
    X, y = data
    weight = np.ones(len(y))
    weight[::5] = 1e-300
    light = DesignedLossClassifier(ExponentialLoss(), tol=TOL).fit(X, y, sample_weight=weight)
    removed = DesignedLossClassifier(ExponentialLoss(), tol=TOL).fit(X[weight == 1], y[weight == 1])
    np.testing.assert_allclose(light.coef_, removed.coef_, rtol=0, atol=2 * coefficient_error(X, 1.0))


@pytest.mark.parametrize("loss", [LogisticLoss, ExponentialLoss])
def test_pos_label_is_the_class_of_fn_cost(data, loss):
    X, y = data
    model = DesignedLossClassifier(loss(5.0, 1.0), tol=TOL, pos_label=0).fit(X, y)
    swapped = DesignedLossClassifier(loss(1.0, 5.0), tol=TOL, pos_label=1).fit(X, y)
    allowed = 2 * coefficient_error(X, 5.0)
    np.testing.assert_allclose(model.decision_function(X), swapped.decision_function(X), atol=10 * allowed)
    np.testing.assert_allclose(model.predict_proba(X), swapped.predict_proba(X), atol=10 * allowed)
    np.testing.assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))


def test_probabilities_are_the_inverse_link_of_the_score_of_the_positive_class(data):
    X, y = data
    labels = np.array(["bad", "good"])[y]
    loss = ExponentialLoss(4.0, 1.0)
    model = DesignedLossClassifier(loss, pos_label="bad").fit(X, labels)
    probability = model.predict_proba(X)
    np.testing.assert_array_equal(probability[:, 0], loss.inverse_link(-model.decision_function(X)))
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X) == "bad", probability[:, 0] >= loss.threshold)


def test_a_hinge_loss_has_no_probabilities(data):
    assert not hasattr(DesignedLossClassifier(HingeLoss()), "predict_proba")
    assert not hasattr(DesignedLossClassifier("logistic"), "predict_proba")
    assert hasattr(DesignedLossClassifier(), "predict_proba")


@pytest.mark.parametrize("loss", [None, CostSensitiveHinge(4.0, 2.0)])
@pytest.mark.parametrize("kernel", [name for name, kernel in KERNELS.items() if kernel.positive_definite])
def test_sparse_rows_give_the_model_of_dense_rows(data, loss, kernel):
    X, y = data
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = DesignedLossClassifier(loss, kernel=kernel, gamma=0.2, tol=TOL, n_components=30, random_state=0).fit(X, y)
    loose = clone(dense).fit(sparse.csr_matrix(X), y)
    scores = loose.decision_function(sparse.csr_matrix(X))
    np.testing.assert_allclose(scores, dense.decision_function(X), atol=1e-5)


def test_nystroem_with_all_rows_is_the_exact_kernel(data):
    X, y = data
    K = rbf_kernel(X, gamma=0.3)
    eigenvalues, vectors = np.linalg.eigh(K)
    exact = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))  # rows phi(x_i) with phi(x_i)'phi(x_j) = K_ij
    expected = LogisticRegression(tol=TOL, max_iter=10_000).fit(exact, y)
    for n_components in (len(y), 10 * len(y)):
        model = DesignedLossClassifier(kernel="rbf", gamma=0.3, n_components=n_components, tol=TOL).fit(X, y)
        # |f - f*| <= |phi| |w - w*| with |phi(x)|^2 = K(x, x) = 1.
        allowed = 4 * coefficient_error(exact, 1.0)
        np.testing.assert_allclose(model.decision_function(X), expected.decision_function(exact), atol=allowed)


def test_gamma_means_the_same_for_features_and_for_the_exact_kernel(data):
    X, y = data
    model = DesignedLossClassifier(kernel="rbf").fit(X, y)
    exact = DesignedLossClassifier(HingeLoss(), kernel="rbf").fit(X, y)
    assert model.feature_map_.gamma == exact.svc_.gamma_


@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e5])
@pytest.mark.parametrize("costs", [(1.0, 1.0), (30.0, 1.0)])
def test_losses_that_overflow_on_far_off_scores_are_minimised(spread, costs):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 3)) * [1.0, spread, 1.0]
    X[0, 0] = 1e4  # alone it would send a score of the first step beyond exp's range
    signs = np.where(rng.random(60) < 0.4, 1, -1)
    loss, C = ExponentialLoss(*costs), 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = DesignedLossClassifier(loss, C, tol=1e-7).fit(X, signs)
    w = model.coef_[0]
    pull = loss.gradient(signs, X @ w + model.intercept_[0])
    gradient = w + C * X.T @ pull - X.mean(axis=0) * C * pull.sum()
    scale = np.sqrt(1 / (C * len(X)) + X.var(axis=0))
    assert np.abs(gradient / scale).max() <= 1.01 * C * len(X) * model.tol
    assert abs(pull.sum()) <= 1.01 * len(X) * model.tol


def test_too_few_iterations_warn_with_the_remedy(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match="after 1 iterations with slope .* Raise max_iter"):
        DesignedLossClassifier(max_iter=1).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DesignedLossClassifier(max_iter=-1).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"loss": ZeroOneLoss()}, "cannot be minimised by gradients"),
        ({"loss": "hinge"}, "must be a Loss from cssvm.losses; got loss='hinge'"),
        ({"loss": HingeLoss(pos_slope=np.ones(120), neg_slope=np.ones(120))}, "CostSensitiveSVC instead"),
        ({"C": 0.0}, "C of DesignedLossClassifier must be a positive finite number"),
        ({"kernel": "sigmoid"}, "kernel of DesignedLossClassifier must be one of"),
        ({"kernel": "precomputed"}, "must be one of"),
        ({"kernel": "rbf", "gamma": -1.0}, "gamma"),
        ({"n_components": 0}, "n_components of DesignedLossClassifier must be a positive integer"),
        ({"tol": np.nan}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"pos_label": 7}, "pos_label"),
    ],
)
def test_unusable_parameters_are_rejected_and_leave_the_fit_unchanged(data, parameters, reason):
    X, y = data
    model = DesignedLossClassifier().fit(X, y)
    scores = model.decision_function(X)
    before = dict(vars(model.set_params(**parameters)))
    with pytest.raises(ValueError, match=reason):
        model.fit(X, y)
    assert vars(model) == before
    np.testing.assert_array_equal(model.decision_function(X), scores)


def test_bad_samples_and_weights_are_rejected(data):
    X, y = data
    with pytest.raises(ValueError, match="two classes"):
        DesignedLossClassifier().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="both classes must be present"):
        DesignedLossClassifier().fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="sample_weight"):
        DesignedLossClassifier().fit(X, y, sample_weight=np.full(len(y), np.nan))
    with pytest.raises(NotFittedError):
        DesignedLossClassifier().predict(X)


def test_a_refit_with_another_loss_forgets_the_first(data):
    X, y = data
    model = DesignedLossClassifier(HingeLoss(), kernel="rbf").fit(X, y)
    model.set_params(loss=None, kernel="linear").fit(X, y)
    assert model.svc_ is None
    np.testing.assert_array_equal(model.coef_, DesignedLossClassifier().fit(X, y).coef_)


def test_losses_can_be_searched_and_models_pickled(data):
    X, y = data
    grid = {"loss": [None, ExponentialLoss(2.0, 1.0), HingeLoss(pos_slope=2.0)], "C": [0.1, 1.0]}
    search = GridSearchCV(DesignedLossClassifier(), grid, cv=3, scoring="roc_auc", error_score="raise").fit(X, y)
    loaded = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(loaded.decision_function(X), search.decision_function(X))


def test_every_fitted_attribute_is_documented(data):
    attributes = DesignedLossClassifier.__doc__.split("Attributes\n")[1]
    heads = [line.split(" : ")[0] for line in attributes.splitlines() if re.match(r"    \S", line)]
    documented = {name for head in heads for name in head.strip().split(", ")}
    assert {name for name in vars(DesignedLossClassifier().fit(*data)) if name.endswith("_")} <= documented
