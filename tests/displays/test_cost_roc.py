import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve

from cssvm import CostThresholdClassifier
from cssvm.displays import CostRocDisplay
from cssvm.metrics import cost_risk, min_cost_risk

# Sums of some hundred products, in another order.
ROUNDING = 1e-12

Y = np.array([0, 0, 1, 0, 1, 1])
SCORES = np.array([-3.0, -2.0, -1.0, 0.5, 1.0, 2.0])


def numbers(display):
    """Everything a display holds, as one flat vector."""
    points = [value for point in display.points.values() for value in point]
    curves = [display.fpr, display.tpr, display.hull_fpr, display.hull_tpr, [display.slope]]
    return np.concatenate([*curves, points])


def test_hand_computed_points_of_six_samples():
    display = CostRocDisplay.from_predictions(Y, SCORES, fn_cost=5.0, fp_cost=1.0, threshold=1.0)
    best, chosen, own = (display.points[name] for name in ("Risk*", "TH-Risk", "NOTH-Risk"))
    # From -1 on: no false negative, one false positive of three.
    assert_allclose([best.fpr, best.tpr, best.risk], [1 / 3, 1, 1 / 6])
    # From 1 on, the score 1 itself included: one false negative, no false positive.
    assert_allclose([chosen.fpr, chosen.tpr, chosen.risk], [0, 2 / 3, 5 / 6])
    # From 0 on: one false negative, one false positive.
    assert_allclose([own.fpr, own.tpr, own.risk], [1 / 3, 2 / 3, 1])
    assert_allclose(display.slope, 1 / 5)


def test_normalised_risk_is_relative_to_being_wrong_everywhere():
    display = CostRocDisplay.from_predictions(Y, SCORES, fn_cost=5.0, fp_cost=1.0, normalize=True)
    assert_allclose(display.points["NOTH-Risk"].risk, (5 + 1) / (3 * 5 + 3 * 1))
    assert display.ax_.get_legend().get_title().get_text() == "share of the largest cost"


def test_the_curve_is_scikit_learns_for_costs_by_class(data, model):
    X, y = data
    display = CostRocDisplay.from_estimator(model, X, y, fn_cost=5.0)
    fpr, tpr, _ = roc_curve(y, model.decision_function(X))
    assert_allclose(display.line_.get_xdata(), fpr, atol=ROUNDING)
    assert_allclose(display.line_.get_ydata(), tpr, atol=ROUNDING)
    assert display.ax_.get_xlabel() == "false positive rate"


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_line_of_equal_risk_touches_the_hull_in_the_best_point(data, model, amounts, per_row, weighted):
    X, y = data
    costs = {"fn_cost": amounts, "fp_cost": amounts / 4} if per_row else {"fn_cost": 5.0, "fp_cost": 2.0}
    costs["sample_weight"] = amounts[::-1] if weighted else None
    display = CostRocDisplay.from_estimator(model, X, y, **costs)
    best = display.points["Risk*"]
    height = best.tpr + display.slope * (display.fpr - best.fpr)
    assert (display.tpr <= height + ROUNDING).all()
    on_hull = np.isclose(display.hull_fpr, best.fpr) & np.isclose(display.hull_tpr, best.tpr)
    assert on_hull.any()
    expected = min_cost_risk(y, model.decision_function(X), **costs)
    assert_allclose(best.risk, expected.risk)


@pytest.mark.parametrize("per_row", [False, True])
def test_all_points_of_a_line_of_equal_risk_have_that_risk(data, model, amounts, per_row):
    """risk = (fn_cost n_positive (1 - TPR) + fp_cost n_negative FPR) / n, also with sample costs."""
    X, y = data
    fn_cost = amounts if per_row else np.full(len(y), 5.0)
    fp_cost = amounts / 4 if per_row else np.full(len(y), 2.0)
    display = CostRocDisplay.from_estimator(model, X, y, fn_cost=fn_cost, fp_cost=fp_cost, threshold=0.7)
    missed, alarms = fn_cost[y == 1].sum(), fp_cost[y == 0].sum()
    for point in display.points.values():
        assert_allclose((missed * (1 - point.tpr) + alarms * point.fpr) / len(y), point.risk)
    assert_allclose(display.slope, alarms / missed)
    assert display.cost_weighted is per_row
    assert ("weighted by cost" in display.ax_.get_xlabel()) is per_row


def test_the_own_decision_is_that_of_predict(data, model):
    X, y = data
    for response in ("decision_function", "predict_proba"):
        display = CostRocDisplay.from_estimator(model, X, y, fn_cost=5.0, response_method=response)
        assert_allclose(display.points["NOTH-Risk"].risk, cost_risk(y, model.predict(X), fn_cost=5.0))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("response", ["auto", "predict_proba"])
def test_the_own_point_of_a_model_that_decides_by_the_costs_of_samples_is_that_of_its_decisions(
    data, amounts, weighted, response
):
    X, y = data
    costs = {"fn_cost": amounts, "fp_cost": amounts[::-1] / 4}
    by_costs = CostThresholdClassifier(LogisticRegression(), calibration=None).fit(X, y)
    weights = np.arange(len(y)) % 3 if weighted else np.ones(len(y))
    display = CostRocDisplay.from_estimator(by_costs, X, y, **costs, sample_weight=weights, response_method=response)
    decided = by_costs.predict(X, **costs)
    assert (decided != by_costs.predict(X)).any()
    own = display.points["NOTH-Risk"]
    missed, alarms = weights * amounts * (y == 1), weights * costs["fp_cost"] * (y == 0)
    assert_allclose(own.risk, (missed[decided == 0].sum() + alarms[decided == 1].sum()) / weights.sum())
    assert_allclose(own.tpr, missed[decided == 1].sum() / missed.sum())
    assert_allclose(own.fpr, alarms[decided == 1].sum() / alarms.sum())
    assert np.isnan(own.threshold)


def test_the_own_point_for_probabilities_is_at_the_threshold_of_the_costs(data):
    """At costs 9 and 1 the model acts from a probability of 1/10 on, not of 1/2."""
    X, y = data
    by_costs = CostThresholdClassifier(LogisticRegression(), calibration=None, fn_cost=9.0).fit(X, y)
    display = CostRocDisplay.from_estimator(by_costs, X, y, fn_cost=9.0, response_method="predict_proba")
    expected = cost_risk(y, (by_costs.predict_proba(X)[:, 1] > 0.1).astype(int), fn_cost=9.0)
    assert_allclose(display.points["NOTH-Risk"].risk, expected)


def test_from_estimator_equals_from_predictions(data, model):
    X, y = data
    costs = {"fn_cost": 5.0, "fp_cost": 2.0, "threshold": 0.3}
    one = CostRocDisplay.from_estimator(model, X, y, **costs)
    other = CostRocDisplay.from_predictions(y, model.decision_function(X), **costs)
    assert_array_equal(numbers(one), numbers(other))


def test_the_names_of_the_classes_do_not_matter(data, amounts):
    """With the positive class first in classes_, decision_function changes its sign, the display does not."""
    X, y = data
    names = np.where(y == 1, "bad", "good")
    plain = CostRocDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, fn_cost=amounts)
    turned = CostRocDisplay.from_estimator(
        LogisticRegression().fit(X, names), X, names, fn_cost=amounts, pos_label="bad"
    )
    # The two fits agree to the tolerance of their solver, the order of the scores exactly.
    assert_allclose(numbers(turned), numbers(plain), atol=1e-3)
    assert_allclose(turned.tpr, plain.tpr, atol=ROUNDING)


def test_the_curve_runs_through_the_points_with_a_cost_for_each_sample(data, model, amounts):
    X, y = data
    display = CostRocDisplay.from_estimator(model, X, y, fn_cost=amounts, fp_cost=amounts / 4, threshold=0.7)
    for point in display.points.values():
        # The curve is a staircase: at the false positive rate of the point it spans an interval of true positive rates.
        here = np.isclose(display.fpr, point.fpr)
        level = np.isclose(display.tpr, point.tpr)
        across = (display.fpr[level].min(initial=2) <= point.fpr) & (point.fpr <= display.fpr[level].max(initial=-1))
        upright = (display.tpr[here].min(initial=2) <= point.tpr) & (point.tpr <= display.tpr[here].max(initial=-1))
        assert across or upright


def test_a_point_without_threshold_is_left_out():
    assert set(CostRocDisplay.from_predictions(Y, SCORES).points) == {"Risk*", "NOTH-Risk"}
    assert set(CostRocDisplay.from_predictions(Y, SCORES, own_threshold=None).points) == {"Risk*"}


@pytest.mark.parametrize("fn_cost", [1e-3, 1.0, 1e3])
def test_the_line_of_equal_risk_ends_on_the_edge_of_the_unit_square(fn_cost):
    display = CostRocDisplay.from_predictions(Y, SCORES, fn_cost=fn_cost)
    x, y = display.iso_cost_line_.get_data()
    assert ((x >= 0) & (x <= 1) & (y >= -ROUNDING) & (y <= 1 + ROUNDING)).all()
    on_edge = np.isclose(x, 0) | np.isclose(x, 1) | np.isclose(y, 0) | np.isclose(y, 1)
    assert on_edge.all()
    best = display.points["Risk*"]
    assert_allclose(y, best.tpr + display.slope * (x - best.fpr), atol=ROUNDING)


def test_constant_scores_leave_the_two_constant_decisions():
    display = CostRocDisplay.from_predictions([0, 1, 1], [0.0, 0.0, 0.0], fn_cost=5.0)
    assert_array_equal(display.hull_fpr, [0, 1])
    assert_allclose(display.points["Risk*"].risk, 1 / 3)


def test_artists_hold_the_numbers_and_the_legend_the_risks(axis):
    display = CostRocDisplay.from_predictions(Y, SCORES, fn_cost=5.0, threshold=1.5, name="SVM", ax=axis)
    assert display.ax_ is axis
    assert display.figure_ is axis.figure
    assert axis.get_aspect() == 1
    for name, point in display.points.items():
        assert display.point_lines_[name].get_xydata().tolist() == [[point.fpr, point.tpr]]
    assert_array_equal(display.hull_line_.get_xydata(), np.column_stack([display.hull_fpr, display.hull_tpr]))
    texts = [text.get_text() for text in axis.get_legend().get_texts()]
    assert texts == [
        "SVM",
        "convex hull",
        "equal risk",
        "best threshold of the scores (Risk*): 0.167",
        "threshold from training (TH-Risk): 1.67",
        "predictions of the model (NOTH-Risk): 1",
    ]


def test_drawing_twice_does_not_alter_the_numbers(axis):
    display = CostRocDisplay.from_predictions(Y, SCORES, fn_cost=5.0)
    before = numbers(display)
    display.plot()
    display.plot(ax=axis, plot_hull=False)
    assert_array_equal(numbers(display), before)


def test_two_models_share_an_axis_in_two_colours():
    first = CostRocDisplay.from_predictions(Y, SCORES, name="one")
    second = CostRocDisplay.from_predictions(Y, -SCORES, name="two", ax=first.ax_)
    assert first.line_.get_color() != second.line_.get_color()
    texts = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert texts.count("convex hull") == texts.count("equal risk") == 1
    assert {"one", "two"} < set(texts)


def test_options_that_the_display_does_not_have_are_rejected_by_name(data, model):
    X, y = data
    with pytest.raises(TypeError, match=r"CostRocDisplay.from_predictions\(\) got an unexpected option 'treshold'"):
        CostRocDisplay.from_predictions(Y, SCORES, treshold=0.0)
    with pytest.raises(TypeError, match="its options are color, normalize, plot_hull, threshold"):
        CostRocDisplay.from_estimator(model, X, y, own_threshold=0.0)
