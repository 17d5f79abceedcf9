import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from cssvm.metrics._curves import hull_of_curve, hull_of_points

rates = st.integers(0, 16).map(lambda k: k / 16)


@given(points=st.lists(st.tuples(rates, rates), min_size=1, max_size=20))
def test_vertices_are_those_of_the_convex_hull_with_the_corners_of_the_unit_square(points):
    """With (1, 0) added, whatever lies below the diagonal is inside. Sixteenths do not round."""
    fpr, tpr = map(np.array, zip(*points, strict=True))
    around = np.column_stack([np.append(fpr, [0.0, 1.0, 1.0]), np.append(tpr, [0.0, 1.0, 0.0])])
    vertices = {tuple(point) for point in around[ConvexHull(around).vertices]} - {(1.0, 0.0)}
    assert hull_of_points(fpr, tpr).tolist() == [point in vertices for point in points]


def test_every_copy_of_a_vertex_is_one_and_points_on_a_line_are_none():
    points = [
        (0.0, 0.0),
        (0.1, 0.5),
        (0.1, 0.5),
        (0.3, 0.7),
        (0.5, 0.9),
        (0.5, 0.3),
        (0.0, 0.2),
        (1.0, 1.0),
        (1.0, 0.0),
    ]
    fpr, tpr = map(np.array, zip(*points, strict=True))
    assert hull_of_points(fpr, tpr).tolist() == [True, True, True, False, True, False, True, True, False]


@pytest.mark.parametrize("tenths", range(1, 10))
def test_rates_in_line_up_to_rounding_are_in_line(tenths):
    x = np.arange(11) / 10 * tenths / 10
    assert hull_of_points(x, x + 0.1 * (x > 0)).tolist() == [True, True, *[False] * 8, True]


def test_a_curve_keeps_its_ends():
    assert hull_of_curve(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0])).tolist() == [0, 2]
    assert hull_of_curve(np.array([0.0, 0.0, 2.0]), np.array([0.0, 2.0, 2.0])).tolist() == [0, 1, 2]
