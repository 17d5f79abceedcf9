"""The compiled SMO steps against the same algorithm in NumPy."""

import numpy as np
import pytest

from cssvm._solvers.dual import tuning
from cssvm._solvers.dual.decomposition import empty_block, update_border
from cssvm._solvers.dual.smo import MIN_CURVATURE, update_by_smo


def smo_steps(K, G, beta, lower, upper, tol, max_steps):
    """The algorithm of `smo.py` in plain NumPy."""
    G, beta = G.copy(), beta.copy()
    for step in range(max_steps + 1):
        grows, shrinks = beta < upper, beta > lower
        i = np.argmax(np.where(grows, G, -np.inf))
        violation = G[i] - np.where(shrinks, G, np.inf).min()
        if violation <= tol or step == max_steps:
            return step, violation, beta
        curvature = np.maximum(K[i, i] + K.diagonal() - 2 * K[i], MIN_CURVATURE)
        j = np.argmax(np.where(shrinks, np.maximum(G[i] - G, 0) ** 2 / curvature, -1.0))
        d = min((G[i] - G[j]) / curvature[j], upper[i] - beta[i], beta[j] - lower[j])
        beta[i], beta[j] = beta[i] + d, beta[j] - d
        G -= d * (K[i] - K[j])
    raise AssertionError


@pytest.mark.parametrize("q", [2, 63, 64, 65, 200])
def test_smo_steps_equal_their_numpy_twin(q):
    rng = np.random.default_rng(q)
    X = rng.normal(size=(q, 3))
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1))
    y = np.where(rng.uniform(size=q) > 0.5, 1.0, -1.0)
    y[:2] = 1, -1
    upper_bound = rng.uniform(0.5, 2.0, q)
    lower, upper = np.minimum(0, y * upper_bound), np.maximum(0, y * upper_bound)
    expected = smo_steps(K, y, np.zeros(q), lower, upper, 1e-3, 50)
    beta, G = np.zeros(q), y.copy()
    steps, violation = update_by_smo(K, K.diagonal().copy(), G, beta, lower, upper, 1e-3, 50)
    assert steps == expected[0]
    assert violation == pytest.approx(expected[1], abs=1e-12)
    np.testing.assert_allclose(beta, expected[2], atol=1e-12)
    np.testing.assert_allclose(G, y - K @ beta, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_border_of_a_block_equals_the_block_of_the_new_members(dtype):
    rng = np.random.default_rng(0)
    K = rng.normal(size=(900, 900)).astype(dtype)
    K = K + K.T
    members, places = rng.permutation(900)[:300], np.sort(rng.permutation(300)[:70])
    block = empty_block(300, 300, dtype)
    block[:, :300] = K[np.ix_(members, members)]
    members[places] = np.setdiff1d(np.arange(900), members)[:70]
    values = empty_block(70, 300, dtype)
    values[:, :300] = K[np.ix_(members[places], members)]
    update_border(block, places, values)
    np.testing.assert_array_equal(block[:, :300], K[np.ix_(members, members)])


def test_steps_taken_in_chunks_equal_steps_taken_at_one_go(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), np.where(np.arange(150) % 2, 1.0, -1.0)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1))
    lower, upper = np.minimum(0.0, y), np.maximum(0.0, y)
    results = []
    for seconds in (1.0, 1e-9):
        monkeypatch.setattr(tuning, "UNNOTICED_SECONDS", seconds)
        beta, gradient = np.zeros(150), y.copy()
        taken = update_by_smo(K, K.diagonal().copy(), gradient, beta, lower, upper, 1e-3, 70)
        results.append((*taken, beta, gradient))
    assert results[0][0] == results[1][0] == 70
    for left, right in zip(*results, strict=True):
        np.testing.assert_array_equal(left, right)
