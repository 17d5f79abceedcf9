"""Sums over blocks and steps of rows, against the formulas in NumPy."""

import numpy as np
import pytest
from scipy import sparse

from cssvm._solvers.linear import passes
from cssvm._solvers.linear.blocks import LocalBlocks
from cssvm._solvers.linear.passes import Block, LinearFunction, Step
from cssvm._solvers.linear.rows import centre_from_sums, make_rows

from .problems import random_problem

KINDS = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "sparse": lambda X: sparse.csr_array(np.where(X > 1.2, X, 0.0)),
    "sparse float32": lambda X: sparse.csr_array(np.where(X > 1.2, X, 0.0).astype(np.float32)),
    "nearly full": sparse.csr_array,
}


def as_array(X):
    return X.toarray().astype(float) if sparse.issparse(X) else X.astype(float)


def predicted(Z, linear, state, step):
    """theta, u and the changes that the linearised equations give, row by row."""
    alpha, room, beyond, short = state
    y = np.sign(linear)
    u = np.abs(linear) - y * (Z @ step.point.weights + step.point.bias)
    theta = 1 / (beyond / alpha + short / room)
    change = theta * (u - y * (Z @ step.predictor.weights + step.predictor.bias))
    return theta, u, change, -beyond * (1 + change / alpha), short * (change / room - 1)


def corrected(Z, linear, state, step):
    """The changes of alpha, beyond and short for products `centre`, with those of the predictor."""
    alpha, room, beyond, short = state
    y = np.sign(linear)
    theta, u, change, past, lack = predicted(Z, linear, state, step)
    products = alpha * beyond + change * past - step.centre, room * short - change * lack - step.centre
    k = u - short + beyond - products[0] / alpha + products[1] / room
    moved = theta * (k - y * (Z @ step.corrected.weights + step.corrected.bias))
    return moved, -(products[0] + beyond * moved) / alpha, -(products[1] - short * moved) / room


def largest_ratio(state, change, past, lack):
    alpha, room, beyond, short = state
    return np.max([-change / alpha, change / room, -past / beyond, -lack / short])


@pytest.fixture(params=KINDS)
def setting(request):
    """X in one of its forms, p, upper bounds, a state inside its bounds, and a step."""
    X, linear, upper_bounds = random_problem(700, 9, seed=3)
    rng = np.random.default_rng(4)
    alpha = upper_bounds * rng.uniform(0.01, 0.99, 700)
    state = np.array([alpha, upper_bounds - alpha, rng.exponential(size=700), rng.exponential(size=700)])
    X, points = KINDS[request.param](X), [LinearFunction(rng.normal(size=9), rng.normal()) for _ in range(3)]
    step = Step(*points, centre=0.1)
    reach = largest_ratio(state, *corrected(as_array(X), linear, state, step))
    return X, linear, upper_bounds, state, step._replace(length=0.9 / reach)


def test_the_sums_of_a_block_are_those_of_the_formulas(setting):
    X, linear, upper_bounds, state, step = setting
    Z, y = as_array(X), np.sign(linear)
    found_state, found = passes.measure(Block(make_rows(X), linear, upper_bounds), state, step)
    change, past, lack = corrected(Z, linear, state, step)
    expected = state + step.length * np.array([change, -change, past, lack])
    np.testing.assert_allclose(found_state, expected, rtol=1e-9, atol=1e-9)
    alpha, room, beyond, short = expected
    end = step.point.weights + step.length * step.corrected.weights
    u = np.abs(linear) - y * (Z @ end + step.point.bias + step.length * step.corrected.bias)
    theta, ones = 1 / (beyond / alpha + short / room), np.c_[Z, np.ones(len(Z))]
    assert found.n == len(Z)
    assert found.loss == pytest.approx(upper_bounds @ np.maximum(0, u))
    assert found.products == pytest.approx(alpha @ beyond + room @ short)
    for k, own in enumerate((y > 0, y < 0)):
        assert found.alphas[k] == pytest.approx(alpha[own].sum())
        assert found.gains[k] == pytest.approx((np.abs(linear) * alpha)[own].sum())
        np.testing.assert_allclose(found.pulls[k], alpha[own] @ Z[own], atol=1e-9)
    np.testing.assert_allclose(np.tril(found.gram), np.tril(ones.T @ (theta[:, None] * ones)), atol=1e-9)
    np.testing.assert_allclose(found.ahead, (y * theta * u) @ ones, atol=1e-9)
    np.testing.assert_allclose(found.inward, (y * theta * (1 / alpha - 1 / room)) @ ones, rtol=1e-9, atol=1e-8)


def test_prediction_and_reach_are_those_of_the_formulas(setting):
    X, linear, upper_bounds, state, step = setting
    Z, y = as_array(X), np.sign(linear)
    alpha, room, beyond, short = state
    block = Block(make_rows(X), linear, upper_bounds)
    theta, _, change, past, lack = predicted(Z, linear, state, step)
    found = passes.predict(block, state, step.point, step.predictor)
    assert found.ratio == pytest.approx(largest_ratio(state, change, past, lack))
    ahead = (alpha + change) @ (beyond + past) + (room - change) @ (short + lack)
    assert found.curvature == pytest.approx(ahead)  # after a full step nothing else is left of the products
    bent = -y * theta * (change * past / alpha + change * lack / room)
    np.testing.assert_allclose(found.bent, bent @ np.c_[Z, np.ones(len(Z))], rtol=1e-9, atol=1e-8)
    expected = largest_ratio(state, *corrected(Z, linear, state, step))
    assert passes.reach(block, state, step) == pytest.approx(expected)


def test_passes_leave_the_state_they_are_given_as_it_was(setting):
    X, linear, upper_bounds, state, step = setting
    block, before = Block(make_rows(X), linear, upper_bounds), state.copy()
    first = passes.measure(block, state, step)
    passes.predict(block, state, step.point, step.predictor)
    passes.reach(block, state, step)
    np.testing.assert_array_equal(state, before)
    again = passes.measure(block, state, step)
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1].gram, again[1].gram)


@pytest.mark.parametrize("block_rows", [1, 7, 64])
def test_blocks_of_any_size_have_the_same_sums_up_to_rounding(setting, block_rows):
    X, linear, upper_bounds, _, step = setting
    one, many = (
        LocalBlocks.from_samples(X, linear, upper_bounds),
        LocalBlocks.from_samples(X, linear, upper_bounds, block_rows),
    )
    assert len(one.blocks) == 1
    assert len(many.blocks) == -(-700 // block_rows)
    for a, b in zip(one.measure(None), many.measure(None), strict=True):
        if np.ndim(a) == 2 and np.shape(a)[0] == np.shape(a)[1]:
            a, b = np.tril(a), np.tril(b)  # only one triangle of the Gram matrix is defined
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    assert one.reach(step) == pytest.approx(many.reach(step))
    np.testing.assert_allclose(one.predict(*step[:2]).bent, many.predict(*step[:2]).bent, rtol=1e-9, atol=1e-8)


def test_the_centre_is_the_mean_of_features_that_are_far_from_zero():
    X = np.random.default_rng(0).normal(size=(500, 4)) * [1, 1, 3, 0] + [0, 100, 1, 5]
    rows = make_rows(X)
    centre = centre_from_sums(*rows.moments(), rows.n)
    np.testing.assert_allclose(centre, [0, X[:, 1].mean(), 0, 5])
    (_, tile), *_ = rows.centred(centre).tiles()
    np.testing.assert_allclose(tile.values, X - centre)
