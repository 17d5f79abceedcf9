"""Regression tests of difficult problems, checked by `oracle.py`, which shares no code with the library."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cssvm import CostSensitiveSVC, CostSensitiveSVCCV
from cssvm._solvers.dual.smo import update_by_smo
from tests.hostile.attack import FINE, attack
from tests.hostile.oracle import truth


def sample(n=20, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + noise * rng.normal(size=n) > 0).astype(int)


def fitted(X, y, **params):
    """The model, and whether it warned of missing convergence."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = CostSensitiveSVC(**params).fit(X, y)
    return model, any(issubclass(each.category, ConvergenceWarning) for each in said)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e29, 1e31, 1e38])
def test_barriers_hold_for_gradients_of_any_size(size, dtype):
    gradient = np.array([-1.0, -1.0, -2.0, -2.0]) * size
    beta, lower, upper = np.zeros(4), np.array([0.0, 0.0, -1.0, -1.0]), np.array([1.0, 1.0, 0.0, 0.0])
    gradient = gradient.astype(dtype)
    steps, _ = update_by_smo(np.eye(4, dtype=dtype), np.ones(4, dtype), gradient, beta, lower, upper, 1e-3, 10)
    assert steps <= 10
    assert (beta >= lower).all()
    assert (beta <= upper).all()
    assert abs(beta.sum()) <= 1e-12


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_gradients_that_are_not_numbers_leave_no_trace_outside_their_arrays(value):
    memory = np.zeros(400)
    beta, lower, upper = memory[100:104], np.array([0.0, 0.0, -1.0, -1.0]), np.array([1.0, 1.0, 0.0, 0.0])
    update_by_smo(np.eye(4), np.ones(4), np.full(4, value), beta, lower, upper, 1e-3, 10)
    assert not memory[:100].any()
    assert not memory[104:].any()


def test_a_polynomial_kernel_far_from_the_origin_has_an_honest_end():
    X = np.random.default_rng(0).normal(size=(88, 2)) + 1.9e7
    y = (np.random.default_rng(1).random(88) < 0.5).astype(int)
    model, warned = fitted(X, y, C=5600.0, kernel="poly", tol=1e-6, max_iter=100_000)
    found = truth(model, X, y, {})
    assert found.infeasible <= 1e-9
    assert warned or found.violation <= 1e-6


@pytest.mark.parametrize(("scale", "C", "n"), [(1e6, 1.0, 300), (1e4, 1e4, 30), (1e6, 1.0, 50)])
def test_linear_fits_on_large_features_converge_or_say_that_they_did_not(scale, C, n):
    X, y = sample(n, seed=1 if n > 50 else 5, noise=1.0)
    model, warned = fitted(X * scale, y, C=C, kernel="linear")
    found = truth(model, X * scale, y, {})
    assert warned == (model.fit_status_ != 0)
    assert warned or found.violation <= 1.01 * model.tol + 4 * found.rounding
    assert found.gap <= 1.1 * model.dual_gap_ + 1e-9


def test_a_huge_C_on_a_line_ends():
    model, warned = fitted([[2e3], [4e3], [6e3], [8e3], [1e4]], [0, 1, 0, 1, 1], C=7e10, kernel="linear")
    assert warned == (model.fit_status_ != 0)


@pytest.mark.parametrize("kind", ["asymmetric", "float32"])
def test_kernel_matrices_with_rounding_errors_are_solved(kind):
    X, y = sample(60)
    K = X @ X.T
    spoilt = K.astype(np.float32) if kind == "float32" else K + 1e-9 * np.random.default_rng(0).normal(size=K.shape)
    model, warned = fitted(spoilt, y, kernel="precomputed", C=1.0)
    assert not warned
    assert truth(model, spoilt, y, {}).violation <= 1.01e-3


def test_a_search_on_large_features_ends():
    X, y = sample(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        CostSensitiveSVCCV(kernel="linear", Cs=[0.1, 10.0], cv=3).fit(X * 7e6, y)


@pytest.mark.system
def test_generated_problems_are_solved_rejected_or_warned_about():
    verdicts = list(attack(range(5_000_000, 5_000_200), seconds=300.0, largest=80))
    assert [verdict for verdict in verdicts if verdict.kind not in FINE] == []
