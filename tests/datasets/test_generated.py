"""Ratio and squares of the checkerboard, and the gap of the separable samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from cssvm.datasets import make_checkerboard, make_separable_2d

SEEDS = st.integers(0, 2**32 - 1)


@given(n=st.integers(2, 3000), ratio=st.floats(0.1, 2000), n_squares=st.integers(2, 9), seed=SEEDS)
def test_a_square_belongs_to_the_positive_class_where_column_plus_row_is_even(n, ratio, n_squares, seed):
    X, y = make_checkerboard(n, ratio=ratio, n_squares=n_squares, random_state=seed)
    assert X.shape == (n, 2)
    assert (X >= 0).all()
    assert (n_squares > X).all()
    np.testing.assert_array_equal(np.floor(X).sum(axis=1) % 2 == 0, y == 1)
    assert 1 <= y.sum() <= n - 1
    assert abs(y.sum() - n / (1 + ratio)) <= 1


def test_the_default_checkerboard_is_one_to_a_thousand():
    X, y = make_checkerboard(random_state=0)
    assert np.bincount(y).tolist() == [10_000, 10]
    again = make_checkerboard(random_state=0)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    assert (make_checkerboard(random_state=1)[0] != X).any()
    assert np.flatnonzero(y).tolist() != list(range(10))  # in random order


@pytest.mark.parametrize("n_squares", [3, 4])
def test_all_squares_of_a_class_are_equally_likely(n_squares):
    X, y = make_checkerboard(40_000, ratio=1.0, n_squares=n_squares, random_state=0)
    for label in (0, 1):
        square = np.floor(X[y == label]).astype(int) @ [n_squares, 1]
        counts = np.unique(square, return_counts=True)[1]
        assert len(counts) == (n_squares**2 + label * (n_squares % 2)) // 2
        expected = counts.sum() / len(counts)
        assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)


@given(n=st.integers(2, 200), gap=st.floats(0.01, 5), angle=st.floats(-360, 360), ratio=st.floats(0.2, 20), seed=SEEDS)
def test_the_distance_between_the_classes_is_the_gap(n, gap, angle, ratio, seed):
    X, y = make_separable_2d(n, gap=gap, angle=angle, ratio=ratio, random_state=seed)
    u = [np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))]
    assert (X[y == 1] @ u).min() == pytest.approx(gap / 2)
    assert (X[y == 0] @ u).max() == pytest.approx(-gap / 2)
    assert 1 <= y.sum() <= n - 1


def test_a_line_separates_the_rows():
    X, y = make_separable_2d(60, random_state=0)
    assert SVC(kernel="linear", C=1e6).fit(X, y).score(X, y) == 1.0
    np.testing.assert_array_equal(X, make_separable_2d(60, random_state=0)[0])


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (make_checkerboard, {"n_samples": 1}, "n_samples must be an integer of at least 2, got 1"),
        (make_checkerboard, {"n_samples": 10.0}, "n_samples must be an integer"),
        (make_checkerboard, {"ratio": 0}, "ratio must be a positive number, got 0"),
        (make_checkerboard, {"ratio": float("nan")}, "ratio must be a positive number"),
        (make_checkerboard, {"n_squares": 1}, "n_squares must be an integer of at least 2"),
        (make_separable_2d, {"gap": -1.0}, "gap must be a positive number, got -1.0"),
        (make_separable_2d, {"angle": float("inf")}, "angle must be a finite number"),
    ],
)
def test_bad_arguments_are_named(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(**arguments)
