"""The estimators against scikit-learn's SVC: equal for kappa = 1, and by the reduction for one kappa < 1.

Reduction: with one kappa for the negative class, sum a+ = sum a- turns the linear term of the dual into
s sum a with s = (1 + kappa) / 2, so f = s f' + (1 - kappa) / 2 where f' is the standard SVM with upper bounds c / s.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from cssvm import BiasedPenaltySVC, CostSensitiveSVC

TIGHT = 1e-7
DEFAULT = 1e-3

# Both solvers stop when the optimality conditions hold to tol; the two decision functions then differ by a
# small multiple of it, which depends on the conditioning of the kernel matrix.
MULTIPLE = 30


def weights_for(y):
    return np.random.default_rng(5).uniform(0.2, 3.0, len(y))


def svc_decisions(X, y, upper_bounds, *, tol=TIGHT, kernel="rbf", **parameters):
    """f of scikit-learn's SVC on its training samples, and how far it may be from the optimum.

    LIBSVM keeps kernel values in single precision, so in addition to its tolerance it errs by that rounding of
    sum_j |coef_j K_ij|.
    """
    K = pairwise_kernels(X, metric=kernel, **parameters)
    model = SVC(C=1.0, kernel="precomputed", tol=tol, cache_size=500).fit(K, y, sample_weight=upper_bounds)
    f = model.decision_function(K)
    rounding = np.finfo(np.float32).eps * (np.abs(K[:, model.support_]) @ np.abs(model.dual_coef_[0])).max()
    return f, MULTIPLE * tol * max(1.0, np.abs(f).max()) + rounding


@pytest.mark.parametrize("tol", [TIGHT, DEFAULT])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_kappa_one_is_the_svc_with_the_same_sample_weights(real_data, C, tol):
    X, y = real_data
    weights = weights_for(y)
    ours = CostSensitiveSVC(C, gamma=0.05, tol=tol).fit(X, y, sample_weight=weights)
    theirs, error = svc_decisions(X, y, C * weights, tol=tol, gamma=0.05)
    np.testing.assert_allclose(ours.decision_function(X), theirs, rtol=0, atol=error)


@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "linear"},
        {"kernel": "rbf", "gamma": 0.02},
        {"kernel": "poly", "degree": 2, "gamma": 0.1, "coef0": 1.0},
        {"kernel": "laplacian", "gamma": 0.05},
    ],
    ids=lambda kernel: kernel["kernel"],
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_every_kernel_agrees_with_svc_on_dense_and_sparse_rows(real_data, kernel, container):
    X, y = real_data
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    weights = weights_for(y)
    ours = BiasedPenaltySVC(0.5, tol=TIGHT, **kernel).fit(container(X), y, sample_weight=weights)
    theirs, error = svc_decisions(X, y, 0.5 * weights, **kernel)
    np.testing.assert_allclose(ours.decision_function(container(X)), theirs, rtol=0, atol=error)


@pytest.mark.parametrize("kappa", [1 / 3, 0.05])
@pytest.mark.parametrize("kernel", [{"kernel": "rbf", "gamma": 0.05}, {"kernel": "linear"}], ids=["rbf", "linear"])
def test_kappa_below_one_is_a_rescaled_and_shifted_svc(real_data, kappa, kernel):
    X, y = real_data
    C, fn_cost, fp_cost, weights = 0.3, 25.0, 3.0, weights_for(y)
    target = np.unique(y)[1]
    ours = CostSensitiveSVC(C, fn_cost=fn_cost, fp_cost=fp_cost, kappa=kappa, tol=TIGHT, pos_label=target, **kernel)
    ours.fit(X, y, sample_weight=weights)
    upper_bounds = C * weights * np.where(y == ours.classes_[1], fn_cost, fp_cost)
    s = (1 + kappa) / 2
    theirs, error = svc_decisions(X, y, upper_bounds / s, **kernel)
    np.testing.assert_allclose(ours.decision_function(X), s * theirs + (1 - kappa) / 2, rtol=0, atol=error)


def all_coefficients(model, n_samples):
    coefficients = np.zeros(n_samples)
    coefficients[model.support_] = model.dual_coef_[0]
    return coefficients


def test_attributes_agree_with_svc(real_data):
    X, y = real_data
    ours, theirs = CostSensitiveSVC(tol=TIGHT).fit(X, y), SVC(tol=TIGHT).fit(X, y)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    # A vector whose coefficient is zero up to the tolerance may be counted on one side only.
    differing = np.setxor1d(ours.support_, theirs.support_)
    assert len(differing) <= 0.01 * len(y)
    np.testing.assert_allclose(all_coefficients(ours, len(y)), all_coefficients(theirs, len(y)), atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    np.testing.assert_array_equal(ours.support_vectors_, X[ours.support_])
    np.testing.assert_array_equal(ours.n_support_, np.bincount(np.searchsorted(ours.classes_, y[ours.support_])))
    assert (np.diff(np.searchsorted(ours.classes_, y[ours.support_])) >= 0).all()
    assert ours.dual_coef_.shape == (1, ours.n_support_.sum())
    assert ours.fit_status_ == 0
    assert ours.dual_gap_ == pytest.approx(
        (ours.primal_objective_ - ours.dual_objective_) / ours.primal_objective_, abs=1e-9
    )
    assert -1e-12 < ours.dual_gap_ < 1e-5  # never negative but for rounding


def unscaled(X, offset):
    """Samples of norm 1e4, each feature moved by the offset."""
    return X * (1e4 / np.linalg.norm(X, axis=1).mean()) + offset


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_unscaled_features_give_the_decisions_of_float64_svc_for_rbf(raw_data, offset):
    X, y = raw_data
    X = unscaled(X, offset)
    ours, theirs = CostSensitiveSVC(10.0, tol=1e-6).fit(X, y), SVC(C=10.0, tol=1e-6).fit(X, y)
    expected, error = svc_decisions(X, y, np.full(len(y), 10.0), tol=1e-6, gamma=ours.gamma_)
    np.testing.assert_allclose(ours.decision_function(X), expected, rtol=0, atol=error)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_unscaled_features_give_the_decisions_of_float64_svc_for_linear(raw_data, offset):
    X, y = raw_data
    X = unscaled(X, offset)
    ours = CostSensitiveSVC(1e-7, kernel="linear", tol=1e-5).fit(X, y)
    expected, error = svc_decisions(X, y, np.full(len(y), 1e-7), kernel="linear", tol=1e-5)
    np.testing.assert_allclose(ours.decision_function(X), expected, rtol=0, atol=error)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_weights_of_a_linear_kernel_are_those_of_svc(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    model = BiasedPenaltySVC(kernel="linear", tol=1e-6).fit(kind(X), y)
    reference = SVC(kernel="linear", tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-5)
    np.testing.assert_allclose(model.decision_function(kind(X)), X @ model.coef_[0] + model.intercept_, atol=1e-12)
    assert not hasattr(BiasedPenaltySVC().fit(X, y), "coef_")
    assert not hasattr(BiasedPenaltySVC(kernel="linear"), "coef_")
