import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_validate

from cssvm.displays import CostCurveDisplay
from cssvm.metrics import min_cost_risk

Y = np.array([0, 0, 1, 0, 1, 1])
SCORES = np.array([-3.0, -2.0, -1.0, 0.5, 1.0, 2.0])

# Interpolation between vertices of a curve below 1/2, a few operations each.
ROUNDING = 1e-12


def test_the_curve_is_the_cheapest_threshold_at_each_probability_cost(data, model):
    """Brute force: the lower envelope of the lines FNR PC + FPR (1 - PC) of all thresholds."""
    X, y = data
    display = CostCurveDisplay.from_estimator(model, X, y)
    scores = model.decision_function(X)
    flagged = scores[None, :] >= np.append(scores, np.inf)[:, None]
    fpr, fnr = flagged[:, y == 0].mean(axis=1), 1 - flagged[:, y == 1].mean(axis=1)
    share = np.linspace(0, 1, 57)[:, None]
    expected = (fnr * share + fpr * (1 - share)).min(axis=1)
    x, cost = display.line_.get_data()
    assert_allclose(np.interp(share[:, 0], x, cost), expected, atol=ROUNDING)


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_operating_point_costs_the_smallest_normalised_risk(data, model, amounts, per_row, weighted):
    X, y = data
    costs = {"fn_cost": amounts, "fp_cost": amounts / 4} if per_row else {"fn_cost": 5.0, "fp_cost": 2.0}
    costs["sample_weight"] = amounts[::-1] if weighted else None
    display = CostCurveDisplay.from_estimator(model, X, y, **costs)
    expected = min_cost_risk(y, model.decision_function(X), **costs, normalize=True).risk
    assert_allclose(display.operating_cost, expected)
    assert_allclose(display.point_.get_xydata(), [[display.operating_point, expected]])


def test_the_operating_point_is_the_share_of_the_positive_class_in_the_cost():
    # Two false negatives at 5 each, or four false positives at 2 each.
    display = CostCurveDisplay.from_predictions([0, 0, 0, 0, 1, 1], SCORES, fn_cost=5.0, fp_cost=2.0)
    assert_allclose(display.operating_point, 10 / (10 + 8))


def test_the_constant_decisions_bound_every_curve(data, model):
    display = CostCurveDisplay.from_estimator(model, *data)
    nobody, everybody = display.trivial_lines_
    assert_array_equal(nobody.get_xydata(), [[0, 0], [0.5, 0.5]])
    assert_array_equal(everybody.get_xydata(), [[0.5, 0.5], [1, 0]])
    assert (display.cost <= np.minimum(display.probability_cost, 1 - display.probability_cost) + ROUNDING).all()


def test_from_estimator_equals_from_predictions(data, model):
    X, y = data
    one = CostCurveDisplay.from_estimator(model, X, y, fn_cost=5.0)
    other = CostCurveDisplay.from_predictions(y, model.decision_function(X), fn_cost=5.0)
    assert_array_equal(one.line_.get_xydata(), other.line_.get_xydata())
    assert one.operating_point == other.operating_point


def test_swapping_the_classes_and_costs_mirrors_the_curve(data, model):
    X, y = data
    one = CostCurveDisplay.from_estimator(model, X, y, fn_cost=5.0, fp_cost=2.0)
    other = CostCurveDisplay.from_estimator(model, X, y, fn_cost=2.0, fp_cost=5.0, pos_label=0)
    assert_allclose(other.operating_point, 1 - one.operating_point)
    assert_allclose(other.operating_cost, one.operating_cost)
    assert_allclose(other.cost, one.cost[::-1], atol=ROUNDING)


def test_folds_are_drawn_with_their_mean(data, model):
    X, y = data
    results = cross_validate(model, X, y, cv=3, return_estimator=True, return_indices=True)
    display = CostCurveDisplay.from_cv_results(results, X, y, fn_cost=5.0)
    assert len(display.fold_lines_) == 3
    grid = np.linspace(0, 1, 83)
    folds = []
    for line, estimator, rows in zip(
        display.fold_lines_, results["estimator"], results["indices"]["test"], strict=True
    ):
        alone = CostCurveDisplay.from_estimator(estimator, X[rows], y[rows])
        assert_array_equal(line.get_xydata(), alone.line_.get_xydata())
        folds.append(np.interp(grid, *line.get_data()))
    assert_allclose(np.interp(grid, *display.line_.get_data()), np.mean(folds, axis=0), atol=ROUNDING)
    assert_allclose(display.operating_point, 5 * (y == 1).sum() / (5 * (y == 1).sum() + (y == 0).sum()))


def test_two_models_share_an_axis_and_the_constant_decisions_one_legend_entry(axis):
    first = CostCurveDisplay.from_predictions(Y, SCORES, name="one", ax=axis)
    second = CostCurveDisplay.from_predictions(Y, -SCORES, name="two", ax=axis)
    assert first.ax_ is second.ax_ is axis
    assert first.line_.get_color() != second.line_.get_color()
    texts = [text.get_text() for text in axis.get_legend().get_texts()]
    assert len(texts) == 4
    assert texts[2].startswith("one: ")
    assert texts[3].startswith("two: ")


def test_drawing_twice_does_not_alter_the_numbers(axis):
    display = CostCurveDisplay.from_predictions(Y, SCORES, fn_cost=5.0)
    before = np.concatenate([display.probability_cost, display.cost, [display.operating_point]])
    display.plot()
    display.plot(ax=axis)
    assert_array_equal(np.concatenate([display.probability_cost, display.cost, [display.operating_point]]), before)
