import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_validate

from cssvm.displays import ThresholdDisplay
from cssvm.metrics import cost_risk, min_cost_risk
from cssvm.metrics._scored import ScoredSamples
from cssvm.metrics._threshold_costs import resampled_costs

Y = np.array([0, 0, 1, 0, 1, 1])
SCORES = np.array([-3.0, -2.0, -1.0, 0.5, 1.0, 2.0])

ROUNDING = 1e-12


def numbers(display):
    return np.concatenate(
        [display.thresholds, display.cost, *display.band, [display.threshold, display.threshold_cost]]
    )


def test_the_line_is_the_risk_of_deciding_by_each_threshold(data, model, amounts):
    X, y = data
    costs = {"fn_cost": amounts, "fp_cost": 2.0, "sample_weight": amounts}
    for normalize in (False, True):
        display = ThresholdDisplay.from_estimator(model, X, y, **costs, normalize=normalize, n_resamples=0)
        thresholds, cost = display.line_.get_data()
        decisions = model.decision_function(X)[None, :] >= thresholds[:, None]
        expected = [cost_risk(y, row.astype(int), **costs, normalize=normalize) for row in decisions]
        assert_allclose(cost, expected, atol=ROUNDING * amounts.max())


def test_the_cheapest_threshold_is_marked_on_the_line(data, model):
    X, y = data
    display = ThresholdDisplay.from_estimator(model, X, y, fn_cost=5.0, random_state=0)
    best = min_cost_risk(y, model.decision_function(X), fn_cost=5.0)
    assert_allclose(display.point_.get_xydata(), [[best.threshold, best.risk]])
    assert display.threshold in display.thresholds
    assert_allclose(display.cost.min(), best.risk)


def test_a_given_threshold_is_marked_without_an_interval_of_its_own():
    display = ThresholdDisplay.from_predictions(Y, SCORES, fn_cost=5.0, threshold=0.0, random_state=0)
    # One false negative and one false positive in six samples.
    assert_allclose(display.point_.get_xydata(), [[0.0, 1.0]])
    assert display.threshold_interval is None
    assert display.interval_line_ is None
    low, high = display.cost_interval
    assert low <= 1.0 <= high


@pytest.mark.parametrize(
    ("fn_cost", "text", "place"), [(1e-3, "all predicted negative", -1), (1e3, "all predicted positive", 0)]
)
def test_one_prediction_for_all_samples_is_drawn_at_the_end_of_the_grid(fn_cost, text, place):
    # Scores that rank backwards, so that no threshold inside pays.
    display = ThresholdDisplay.from_predictions(Y, -SCORES, fn_cost=fn_cost, random_state=0)
    assert np.isinf(display.threshold)
    assert display.point_.get_xdata()[0] == display.thresholds[place]
    assert display.cost[place] == display.threshold_cost
    assert display.point_.get_label().startswith(text)


def test_given_thresholds_are_the_grid():
    display = ThresholdDisplay.from_predictions(Y, SCORES, thresholds=[1.0, -1.0, 0.0], n_resamples=0)
    assert display.thresholds.tolist() == [-1.0, 0.0, 1.0]


def test_constant_scores_are_drawn():
    display = ThresholdDisplay.from_predictions([0, 1, 1], [2.0, 2.0, 2.0], random_state=0)
    assert_allclose([display.cost[0], display.cost[-1]], [1 / 3, 2 / 3])


def test_the_band_has_the_stated_share_of_resamples(data, model):
    X, y = data
    scores = model.decision_function(X)
    display = ThresholdDisplay.from_predictions(y, scores, fn_cost=5.0, confidence=0.8, random_state=0)
    rows = ScoredSamples.from_labels(y, scores, fn_cost=5.0)
    cuts = [*display.thresholds, display.threshold]
    samples = resampled_costs(rows, cuts, n_resamples=1000, normalize=False, random_state=0)[:, :-1]
    below, above = (samples < display.band[0]).mean(axis=0), (samples > display.band[1]).mean(axis=0)
    assert (below <= 0.1).all()
    assert (above <= 0.1).all()
    # The best threshold of a resample is its highest one of least cost.
    best = [display.thresholds[np.flatnonzero(costs == costs.min())[-1]] for costs in samples]
    assert_allclose(display.threshold_interval, np.quantile(best, [0.1, 0.9]))


def test_a_seed_repeats_the_band(data, model):
    one, same, other = (ThresholdDisplay.from_estimator(model, *data, random_state=seed) for seed in (0, 0, 1))
    assert_array_equal(numbers(one), numbers(same))
    assert not np.array_equal(numbers(one), numbers(other))


def test_from_estimator_equals_from_predictions(data, model):
    X, y = data
    arguments = {"fn_cost": 5.0, "random_state": 0, "normalize": True}
    one = ThresholdDisplay.from_estimator(model, X, y, **arguments)
    other = ThresholdDisplay.from_predictions(y, model.decision_function(X), **arguments)
    assert_array_equal(numbers(one), numbers(other))


def test_folds_are_drawn_with_the_cost_of_all_validation_samples(data, model):
    X, y = data
    results = cross_validate(model, X, y, cv=4, return_estimator=True, return_indices=True)
    display = ThresholdDisplay.from_cv_results(results, X, y, fn_cost=5.0)
    tests = results["indices"]["test"]
    for line, estimator, rows in zip(display.fold_lines_, results["estimator"], tests, strict=True):
        alone = ThresholdDisplay.from_estimator(
            estimator, X[rows], y[rows], fn_cost=5.0, thresholds=display.thresholds, n_resamples=0
        )
        assert_array_equal(line.get_ydata(), alone.cost)
    sizes = [len(rows) for rows in tests]
    assert_allclose(display.line_.get_ydata(), np.average(display.fold_costs, axis=0, weights=sizes))
    assert_allclose(display.threshold_cost, display.cost.min())
    assert display.band_ is None
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[:2] == ["one fold", "LogisticRegression, mean"]


def test_artists_hold_the_numbers_on_a_given_axis(axis):
    display = ThresholdDisplay.from_predictions(Y, SCORES, fn_cost=5.0, random_state=0, name="SVM", ax=axis)
    assert display.ax_ is axis
    assert display.figure_ is axis.figure
    outline = display.band_.get_paths()[0].vertices
    assert_allclose([outline[:, 1].min(), outline[:, 1].max()], [display.band[0].min(), display.band[1].max()])
    assert_array_equal(display.interval_line_.get_xdata(), display.threshold_interval)
    texts = [text.get_text() for text in axis.get_legend().get_texts()]
    assert texts[:2] == ["95% of resamples", "SVM"]
    assert texts[2].startswith("threshold -1.5 [")


def test_drawing_twice_does_not_alter_the_numbers(axis):
    display = ThresholdDisplay.from_predictions(Y, SCORES, fn_cost=5.0, random_state=0)
    before = numbers(display)
    display.plot()
    display.plot(ax=axis)
    assert_array_equal(numbers(display), before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"thresholds": [0.0, np.nan]}, "thresholds must be at least two finite numbers"),
        ({"thresholds": [0.0]}, "thresholds must be at least two finite numbers"),
        ({"threshold": np.nan}, "nan"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1"),
        ({"n_resamples": -1}, "n_resamples must be positive, or 0"),
    ],
)
def test_wrong_arguments_are_rejected_with_the_reason(arguments, message):
    with pytest.raises(ValueError, match=message):
        ThresholdDisplay.from_predictions(Y, SCORES, **arguments)
