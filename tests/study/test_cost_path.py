"""Cost paths: every operating point is the point of a separate model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from cssvm import CostSensitiveSVC
from study.paths import cost_path, on_upper_hull, plot_cost_path

FOLDS = StratifiedKFold(4)


@pytest.fixture(scope="module")
def data():
    return make_classification(300, 5, n_informative=3, flip_y=0.15, weights=[0.7], random_state=0)


@pytest.mark.parametrize("pos_label", [0, 1])
def test_rates_are_those_of_models_trained_for_each_ratio(data, pos_label):
    X, y = data
    model = CostSensitiveSVC(C=2.0, gamma=0.2, kappa=0.5, pos_label=pos_label, tol=1e-5)
    path = cost_path(model, X, y, ratios=[0.2, 1.0, 8.0], cv=FOLDS)
    for index in range(3):
        predicted = cross_val_predict(path.estimator(index), X, y, cv=FOLDS) == pos_label
        assert path.tpr[index] == pytest.approx(predicted[y == pos_label].mean(), abs=1e-12)
        assert path.fpr[index] == pytest.approx(predicted[y != pos_label].mean(), abs=1e-12)


def test_costlier_false_negatives_mean_fewer_false_negatives(data):
    path = cost_path(CostSensitiveSVC(), *data, ratios=9, cv=FOLDS)
    assert path.tpr[-1] > path.tpr[0]
    assert path.fpr[-1] > path.fpr[0]


def test_the_best_point_for_any_costs_is_on_the_hull(data):
    path = cost_path(CostSensitiveSVC(), *data, ratios=15, cv=FOLDS)
    for ratio in np.geomspace(1 / 32, 32, 25):
        risk = path.risk(fn_cost=ratio, fp_cost=1.0)
        baseline = min(path.prior * ratio, 1 - path.prior)
        best = path.best(fn_cost=ratio, fp_cost=1.0)
        assert risk[best] == pytest.approx(risk.min())
        if risk[best] < baseline - 1e-12:
            assert path.on_hull[np.isclose(risk, risk[best])].any()


def test_the_hull_of_hand_made_points():
    fpr, tpr = np.array([0.0, 0.1, 0.2, 0.3, 0.9]), np.array([0.3, 0.6, 0.62, 0.9, 0.5])
    assert on_upper_hull(fpr, tpr).tolist() == [True, True, False, True, False]


@pytest.mark.parametrize("ratios", [[], [0.0], [np.nan], [-1.0], 0, 2.5, "many"])
def test_invalid_ratios_are_rejected(data, ratios):
    with pytest.raises(ValueError, match=r"ratios must (hold|be)"):
        cost_path(CostSensitiveSVC(), *data, ratios=ratios)


def test_tied_margins_are_rejected(data):
    with pytest.raises(ValueError, match="kappa of the estimator must be a number"):
        cost_path(CostSensitiveSVC(kappa="tied"), *data)


def test_the_plot_shows_points_hull_and_best_model(data):
    plt = pytest.importorskip("matplotlib.pyplot")
    path = cost_path(CostSensitiveSVC(), *data, ratios=9, cv=FOLDS)
    ax = plt.subplots()[1]
    assert plot_cost_path(path, fn_cost=6.0, fp_cost=1.0, ax=ax) is ax
    (points,) = ax.collections
    np.testing.assert_array_equal(points.get_offsets(), np.column_stack([path.fpr, path.tpr]))
    np.testing.assert_array_equal(points.get_array(), np.log2(path.ratios))
    _, hull, chosen = ax.get_lines()
    x, y = hull.get_data()
    assert (x[0], y[0], x[-1], y[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert len(x) == path.on_hull.sum() + 2
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) >= 0).all()
    best = path.best(fn_cost=6.0, fp_cost=1.0)
    assert (chosen.get_xdata(), chosen.get_ydata()) == ([path.fpr[best]], [path.tpr[best]])
    plt.close("all")


def test_string_labels_with_unequal_costs_need_a_positive_class(data):
    X, y = data
    with pytest.raises(ValueError, match=r"pos_label='bad' if .*or pos_label='good'"):
        cost_path(CostSensitiveSVC(), X, np.where(y == 1, "bad", "good"), ratios=[1.0, 5.0])


rates = st.integers(0, 16).map(lambda k: k / 16)


@given(points=st.lists(st.tuples(rates, rates), min_size=1, max_size=20))
def test_vertices_are_those_of_the_convex_hull_with_the_corners_of_the_unit_square(points):
    """With (1, 0) added, points below the diagonal are inside. Sixteenths are exact."""
    fpr, tpr = map(np.array, zip(*points, strict=True))
    around = np.column_stack([np.append(fpr, [0.0, 1.0, 1.0]), np.append(tpr, [0.0, 1.0, 0.0])])
    vertices = {tuple(point) for point in around[ConvexHull(around).vertices]} - {(1.0, 0.0)}
    assert on_upper_hull(fpr, tpr).tolist() == [point in vertices for point in points]


def test_copies_of_vertices_are_vertices_and_points_on_edges_are_not():
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
    assert on_upper_hull(fpr, tpr).tolist() == [True, True, True, False, True, False, True, True, False]


@pytest.mark.parametrize("tenths", range(1, 10))
def test_rates_in_line_up_to_rounding_are_in_line(tenths):
    x = np.arange(11) / 10 * tenths / 10
    assert on_upper_hull(x, x + 0.1 * (x > 0)).tolist() == [True, True, *[False] * 8, True]
