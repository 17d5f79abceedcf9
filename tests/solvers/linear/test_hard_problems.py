"""Difficult problems end with a true certificate, or with the gap that was reached."""

import numpy as np
import pytest
from scipy import sparse

from cssvm._core.types import Status
from cssvm._solvers.linear import solve_linear

from .problems import clarabel_optimum, primal_objective, random_problem, rare_problem


def separable(C):
    X, linear, upper_bounds = random_problem(200, 5, seed=1, C=C)
    X[:, 0] += 4.0 * np.sign(linear)
    return X, linear, upper_bounds


def with_columns(*columns):
    X, linear, upper_bounds = random_problem(200, 3, seed=2)
    return np.column_stack([X, *(np.broadcast_to(column, 200) for column in columns)]), linear, upper_bounds


def in_units(*units):
    X, linear, upper_bounds = random_problem(200, len(units), seed=4)
    return X * units, linear, upper_bounds


def repeated(times):
    X, linear, upper_bounds = random_problem(40, 4, seed=5)
    return np.repeat(X, times, axis=0), np.repeat(linear, times), np.repeat(upper_bounds, times)


def one_row_per_class():
    return np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([1.0, -0.5]), np.array([3.0, 10.0])


def equal_rows():
    return np.ones((20, 3)), np.where(np.arange(20) % 3, 1.0, -1.0), np.linspace(1.0, 2.0, 20)


def unequal_bounds():
    X, linear, upper_bounds = random_problem(300, 6, seed=7)
    return X, linear, upper_bounds * np.random.default_rng(7).lognormal(0, 4, 300)


def unequal_margins():
    X, linear, upper_bounds = random_problem(300, 6, seed=7)
    return X, linear * np.random.default_rng(8).lognormal(0, 3, 300), upper_bounds


def with_an_outlier(size):
    X, linear, upper_bounds = random_problem(300, 6, seed=9)
    X[7] *= size
    return X, linear, upper_bounds


PROBLEMS = {
    **{f"C = 1e{k}": lambda k=k: random_problem(200, 6, seed=0, C=10.0**k) for k in (-6, -3, 3, 6)},
    **{f"separable, C = 1e{k}": lambda k=k: separable(10.0**k) for k in (-6, 0, 3, 6)},
    "constant feature": lambda: with_columns(3.0),
    "large constant feature": lambda: with_columns(1e9),
    "zero features": lambda: with_columns(0.0, 0.0),
    "equal features": lambda: with_columns(*random_problem(200, 3, seed=2)[0].T),
    "features far from zero": lambda: with_columns(1.7e9 + 1e4 * np.random.default_rng(1).normal(size=200)),
    "large units": lambda: in_units(1e8, 1.0, 1e4),
    "small units": lambda: in_units(1e-8, 1e-3, 1e-5),
    "all units": lambda: in_units(1e-8, 1.0, 1e8, 1e4),
    "repeated rows": lambda: repeated(25),
    "one row per class": one_row_per_class,
    "equal rows": equal_rows,
    "no information": lambda: (np.zeros((50, 2)), *random_problem(50, 2)[1:]),
    "unequal upper_bounds": unequal_bounds,
    "unequal margins": unequal_margins,
    "outlier": lambda: with_an_outlier(1e6),
    "rare class": lambda: rare_problem(2000),
    "rare class, large C": lambda: rare_problem(2000, C=1e4),
    "more features than rows": lambda: random_problem(30, 80, seed=1),
    "more features than rows, large C": lambda: random_problem(30, 80, seed=1, C=1e6),
    "as many features as rows": lambda: random_problem(50, 50, seed=1, C=100.0),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_hostile_problems_end_with_a_true_certificate(name, container):
    X, linear, upper_bounds = PROBLEMS[name]()
    with np.errstate(all="raise", under="ignore"):
        solution, _ = solve_linear(container(X), linear, upper_bounds, tol=1e-6)
    assert np.isfinite(solution.coef).all()
    assert solution.status == Status.CONVERGED
    assert solution.gap <= 1e-6
    assert solution.dual_objective >= 0.0
    true = primal_objective(X, linear, upper_bounds, solution.coef, solution.bias)
    assert solution.primal_objective == pytest.approx(true, rel=1e-7)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("shape", [(300, 12), (30, 60)], ids=["long", "wide"])
def test_a_feature_far_from_zero_next_to_sparse_ones_is_not_changed(shape, container):
    rng = np.random.default_rng(0)
    X = np.where(rng.random(shape) < 0.1, rng.normal(size=shape), 0.0)
    y = np.where(np.arange(shape[0]) % 2, 1.0, -1.0)
    X[:, 0] = 10.0 + 0.2 * y + 0.3 * rng.normal(size=shape[0])
    solution, _ = solve_linear(container(X), y, np.ones(shape[0]), tol=1e-6)
    assert abs(solution.coef[0]) > 0.1
    true = primal_objective(X, y, np.ones(shape[0]), solution.coef, solution.bias)
    assert solution.primal_objective == pytest.approx(true, rel=1e-9)


@pytest.mark.parametrize("name", ["unequal upper_bounds", "unequal margins", "repeated rows", "rare class"])
def test_hostile_problems_have_clarabels_optimum(name):
    problem = PROBLEMS[name]()
    solution, _ = solve_linear(*problem, tol=1e-6)
    optimum = clarabel_optimum(*problem)
    assert solution.dual_objective <= optimum * (1 + 1e-6)
    assert solution.primal_objective == pytest.approx(optimum, rel=3e-6)


@pytest.mark.parametrize("size", [1e120, 1e200])
def test_numbers_whose_squares_overflow_have_an_infinite_gap(size):
    X, linear, upper_bounds = random_problem(50, 3, seed=1)
    solution, _ = solve_linear(size * X, linear, upper_bounds, tol=1e-6)
    assert np.isfinite([*solution.coef, solution.bias, solution.primal_objective, solution.dual_objective]).all()
    assert solution.status == Status.CONVERGED or solution.gap > 1e-6
