"""The bordered system of a Newton step against dense linear algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import LinAlgError
from threadpoolctl import threadpool_limits

from cssvm._runtime import threads
from cssvm._solvers.dual import bordered_kkt
from cssvm._solvers.dual.bordered_kkt import SIDES_AT_ONCE, TILE, BorderedKKT, Factor

N = 40
RIDGE = 0.1


def positive_definite(n, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A @ A.T / n + np.eye(n)


def dense_change(K, change, residual, moving):
    """All equations written out: level gradient on the moving variables, given changes of the others, sum zero."""
    V, others = np.flatnonzero(moving), np.flatnonzero(~moving)
    block = K[np.ix_(V, V)] + RIDGE * np.eye(len(V))
    kkt = np.block([[block, np.ones((len(V), 1))], [np.ones((1, len(V))), np.zeros((1, 1))]])
    side = np.append(residual[V] - K[np.ix_(V, others)] @ change[others], -change[others].sum())
    expected = change.copy()
    expected[V] = np.linalg.solve(kkt, side)[:-1]
    return expected


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), kind=st.sampled_from([np.float32, np.float64]))
def test_a_bordered_system_solves_all_equations(seed, kind):
    rng = np.random.default_rng(seed)
    K = positive_definite(N, seed).astype(kind)
    members = np.flatnonzero(rng.uniform(size=N) < 0.6)
    kkt = BorderedKKT(K, members, RIDGE, np.float64)
    for share in rng.uniform(0.2, 1.0, size=3):  # the border changes, the factor stays
        moving = rng.uniform(size=N) < share
        moving[rng.integers(N, size=2)] = True
        change = np.where(moving, 0.0, rng.normal(size=N))
        residual = rng.normal(size=N)
        expected = dense_change(K.astype(float), change, residual, moving)
        kkt.update_change(change, residual, moving)
        np.testing.assert_allclose(change, expected, atol=1e-9)


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000))
def test_a_factor_outlives_variables_whose_places_others_take(seed):
    rng = np.random.default_rng(seed)
    everything = positive_definite(2 * N, seed)
    variables = np.arange(N)
    K = everything[:N, :N].copy()
    kkt = BorderedKKT(K, np.flatnonzero(rng.uniform(size=N) < 0.6), RIDGE, np.float64)
    for _ in range(3):
        places = np.flatnonzero(rng.uniform(size=N) < 0.2)
        variables[places] = rng.permutation(np.setdiff1d(np.arange(2 * N), variables))[: len(places)]
        K[:] = everything[np.ix_(variables, variables)]
        kkt.replace(places)
        moving = rng.uniform(size=N) < 0.7
        moving[rng.integers(N, size=2)] = True
        change, residual = np.where(moving, 0.0, rng.normal(size=N)), rng.normal(size=N)
        expected = dense_change(K, change, residual, moving)
        kkt.update_change(change, residual, moving)
        np.testing.assert_allclose(change, expected, atol=1e-9)


def test_a_factor_with_more_borders_than_members_is_given_up(monkeypatch):
    monkeypatch.setattr(bordered_kkt, "BORDERING", -np.inf)  # by its work alone it would never be
    K = positive_definite(N)
    kkt = BorderedKKT(K, np.arange(10), RIDGE, np.float64)
    moving = np.arange(N) < 14
    given_up = []
    for _ in range(4):
        given_up.append(kkt.is_refactorising_cheaper(moving))
        kkt.update_change(np.zeros(N), np.ones(N), moving)
        kkt.replace(np.arange(10, 14))
    assert given_up == [False, False, False, True]  # 1, 5, 9 and 13 rows next to 10 members


def test_a_factor_in_float32_solves_to_its_precision():
    rng = np.random.default_rng(0)
    K = positive_definite(N).astype(np.float32)
    moving = rng.uniform(size=N) < 0.7
    change, residual = np.where(moving, 0.0, rng.normal(size=N)), rng.normal(size=N)
    expected = dense_change(K.astype(float), change, residual, moving)
    BorderedKKT(K, np.arange(0, N, 2), RIDGE, np.float32).update_change(change, residual, moving)
    np.testing.assert_allclose(change, expected, atol=1e-4)


def test_an_indefinite_matrix_raises():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(LinAlgError, match="not positive definite"):
        BorderedKKT(K, np.arange(2), 0.0, np.float64)


def test_an_indefinite_corner_late_in_a_large_matrix_is_found():
    K = np.eye(3 * TILE)
    K[-1, -1] = -1.0
    with pytest.raises(LinAlgError, match="not positive definite"):
        Factor(K)


@pytest.mark.parametrize("n", [3, TILE, 2 * TILE, 2 * TILE + 1, 3 * TILE + 17])
def test_factors_solve_like_numpy_for_any_number_of_tiles(n):
    K, sides = positive_definite(n), np.random.default_rng(1).normal(size=(2, n))
    factor = Factor(K.copy())
    L = np.linalg.cholesky(K)
    np.testing.assert_allclose(factor.lower_solved(sides), np.linalg.solve(L, sides.T).T, atol=1e-11)
    np.testing.assert_allclose(factor.lower_solved(sides[:1]), np.linalg.solve(L, sides[:1].T).T, atol=1e-11)
    np.testing.assert_allclose(factor.upper_solved(sides[0]), np.linalg.solve(L.T, sides[0]), atol=1e-11)


def test_a_last_part_of_a_single_side_is_solved_as_well():
    K = positive_definite(20)
    sides = np.random.default_rng(1).normal(size=(SIDES_AT_ONCE + 1, 20))
    expected = np.linalg.solve(np.linalg.cholesky(K), sides.T).T
    np.testing.assert_allclose(Factor(K.copy()).lower_solved(sides), expected, atol=1e-11)


def test_a_factor_is_bitwise_the_same_for_any_number_of_threads():
    K = positive_definite(3 * TILE + 17).astype(np.float32)
    sides = np.random.default_rng(1).normal(size=(150, len(K)))
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads), threads.single_threaded_blas():
            found.append(Factor(K.copy()).lower_solved(sides))
    np.testing.assert_array_equal(*found)
