"""Functions of optimality against NumPy and against their definition."""

import numpy as np
import pytest

from cssvm._solvers.certificate import bias_interval, distances, is_free, level, violation
from cssvm._solvers.dual import DualProblem, tuning
from cssvm._solvers.dual.smo_newton import can_be_shrunk

from .problems import KERNELS, clarabel_optimum, gram, random_problem, signed


def interval(beta, gradient, lower, upper):
    """`bias_interval` in plain NumPy."""
    return gradient[beta > lower].min(initial=np.inf), gradient[beta < upper].max(initial=-np.inf)


def level_twin(beta, gradient, lower, upper):
    free = (beta > lower) & (beta < upper)
    if free.any():
        return gradient[free].mean()
    bottom, top = interval(beta, gradient, lower, upper)
    return 0.5 * (bottom + top) if np.isfinite([bottom, top]).all() else 0.0


def distances_twin(beta, gradient, lower, upper, bottom, top):
    growing = np.where(beta < upper, bottom - gradient, np.inf)
    return np.minimum(growing, np.where(beta > lower, gradient - top, np.inf))


def state(n, seed, *, free=0.3, shrinkable=1.0, growable=1.0):
    """A feasible-looking beta: some variables free, the others at either bound, some without room at all."""
    rng = np.random.default_rng(seed)
    lower = -rng.uniform(size=n) * (rng.uniform(size=n) < shrinkable)
    upper = rng.uniform(size=n) * (rng.uniform(size=n) < growable)
    beta = np.where(rng.uniform(size=n) < 0.5, lower, upper)
    inside = rng.uniform(size=n) < free
    beta[inside] = (0.5 * (lower + upper))[inside]
    return beta, rng.normal(size=n), lower, upper


STATES = {
    "usual": state(200, 0),
    "none free": state(200, 1, free=0.0),
    "all free": state(50, 2, free=1.0),
    "one variable": state(1, 3),
    "none may shrink": (np.zeros(5), np.arange(5.0), np.zeros(5), np.ones(5)),
    "none may grow": (np.ones(5), np.arange(5.0), np.zeros(5), np.ones(5)),
    "none may move": (np.zeros(5), np.arange(5.0), np.zeros(5), np.zeros(5)),
}


@pytest.mark.parametrize("name", STATES)
def test_compiled_verbs_equal_their_numpy_twins(name):
    beta, gradient, lower, upper = STATES[name]
    bottom, top = bias_interval(beta, gradient, lower, upper)
    assert (bottom, top) == interval(beta, gradient, lower, upper)
    assert level(beta, gradient, lower, upper) == pytest.approx(level_twin(beta, gradient, lower, upper), abs=1e-14)
    np.testing.assert_array_equal(
        distances(beta, gradient, lower, upper, bottom, top),
        distances_twin(beta, gradient, lower, upper, bottom, top),
    )
    problem = DualProblem(gradient, lower, upper)
    assert violation(beta, gradient, problem) == max(0.0, top - bottom)
    np.testing.assert_array_equal(is_free(beta, problem), (lower < beta) & (beta < upper))


def test_nothing_violates_where_variables_may_move_one_way_only():
    for name in ("none may shrink", "none may grow", "none may move"):
        beta, gradient, lower, upper = STATES[name]
        assert violation(beta, gradient, DualProblem(gradient, lower, upper)) == 0.0


def test_a_negative_distance_means_that_a_smo_step_can_ascend():
    beta, gradient, lower, upper = STATES["usual"]
    distance = distances(beta, gradient, lower, upper, *bias_interval(beta, gradient, lower, upper))
    grows, shrinks = beta < upper, beta > lower
    for i in range(len(beta)):
        as_growing = grows[i] and (gradient[i] > gradient[shrinks]).any()
        as_shrinking = shrinks[i] and (gradient[i] < gradient[grows]).any()
        assert (distance[i] < 0) == (as_growing or as_shrinking)


@pytest.mark.parametrize("depth", [0.0, 0.5, 2.0])
def test_free_variables_and_violators_never_sleep(depth, monkeypatch):
    monkeypatch.setattr(tuning, "SHRINKING_DEPTH", depth)
    for name in ("usual", "none free", "all free"):
        beta, gradient, lower, upper = STATES[name]
        bottom, top = bias_interval(beta, gradient, lower, upper)
        distance = distances(beta, gradient, lower, upper, bottom, top)
        sleeps = can_be_shrunk(beta, gradient, lower, upper, bottom, top)
        np.testing.assert_array_equal(sleeps, distance > depth * (top - bottom))
        assert not sleeps[(lower < beta) & (beta < upper)].any()
        assert not sleeps[distance <= 0].any()


def test_the_violation_bounds_how_far_the_objective_is_from_its_optimum():
    """p'd - d'K beta - 1/2 d'K d <= violation * sum(d_+) for every d that keeps beta + d feasible."""
    X, y, margins, upper_bounds = random_problem(60, seed=1)
    K, problem = gram(KERNELS[1], X), signed(y, margins, upper_bounds)
    optimum = clarabel_optimum(K, problem)
    assert optimum <= violation(np.zeros(60), problem.linear, problem) * upper_bounds.sum()
