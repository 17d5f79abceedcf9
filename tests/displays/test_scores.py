import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cssvm import CostSensitiveSVC
from cssvm.displays.scores import costed_scores, held_out_scores, pooled, target_scores

PLAIN = {"fn_cost": 1.0, "fp_cost": 1.0, "pos_label": None, "sample_weight": None, "response_method": "auto"}


@pytest.fixture(scope="module")
def named(data):
    """The same rows with labels in words; "bad" comes first in classes_ and is label 1."""
    return np.where(data[1] == 1, "bad", "good")


def test_scores_are_higher_for_the_target_when_it_is_the_first_class(data, named):
    X, _ = data
    first = LogisticRegression().fit(X, named)
    scores = target_scores(first, X, pos_label="bad")
    assert first.classes_[0] == "bad"
    np.testing.assert_array_equal(scores.values, -first.decision_function(X))
    np.testing.assert_array_equal(scores.values >= scores.own_threshold, first.predict(X) == "bad")


def test_the_second_class_is_the_default_target(data, model):
    scores = target_scores(model, data[0])
    assert scores.pos_label == 1
    np.testing.assert_array_equal(scores.values, model.decision_function(data[0]))


@pytest.mark.parametrize("pos_label", [0, 1])
def test_probabilities_are_those_of_the_target_and_decide_at_one_half(data, pos_label):
    model = GaussianNB().fit(*data)
    scores = target_scores(model, data[0], pos_label=pos_label)
    np.testing.assert_array_equal(scores.values, model.predict_proba(data[0])[:, pos_label])
    assert scores.own_threshold == 0.5


def test_a_response_method_can_be_asked_for(data, model):
    scores = target_scores(model, data[0], response_method="predict_proba")
    np.testing.assert_array_equal(scores.values, model.predict_proba(data[0])[:, 1])


def test_the_estimators_own_target_is_found_in_pipelines_and_searches(data):
    svc = CostSensitiveSVC(pos_label=0)
    pipeline = make_pipeline(StandardScaler(), svc)
    for estimator in (svc, pipeline, GridSearchCV(pipeline, {"costsensitivesvc__C": [1.0]}, cv=2)):
        assert target_scores(estimator.fit(*data), data[0]).pos_label == 0


@pytest.mark.parametrize(
    ("estimator", "arguments", "message"),
    [
        (LinearRegression(), {}, "must be a classifier of two classes"),
        (LogisticRegression(), {"pos_label": 7}, "pos_label must be one of the classes"),
        (LogisticRegression(), {"response_method": "predict"}, "response_method must be"),
        (GaussianNB(), {"response_method": "decision_function"}, "has no decision_function"),
        (Perceptron(), {"response_method": "predict_proba"}, "has no predict_proba"),
    ],
)
def test_what_cannot_be_scored_is_refused_with_the_reason(data, estimator, arguments, message):
    estimator.fit(*data)
    with pytest.raises(ValueError, match=message):
        target_scores(estimator, data[0], **arguments)


def test_an_estimator_that_was_not_fitted_is_refused(data):
    with pytest.raises(NotFittedError):
        target_scores(LogisticRegression(), data[0])


def test_three_classes_are_refused(data):
    model = LogisticRegression().fit(data[0], np.arange(len(data[1])) % 3)
    with pytest.raises(ValueError, match="two classes"):
        target_scores(model, data[0])


def test_costs_of_a_row_are_those_of_its_class():
    rows = costed_scores(
        ["a", "b", "b"], [1, 2, 3], fn_cost=[np.nan, 5, 7], fp_cost=2.0, pos_label="b", sample_weight=[1, 1, 3]
    )
    assert rows.y.tolist() == [-1, 1, 1]
    assert rows.cost.tolist() == [2, 5, 7]
    assert (rows.miss_cost, rows.alarm_cost) == (5 + 3 * 7, 2)
    assert rows.costs_differ


def test_costs_of_classes_do_not_differ_within_them():
    rows = costed_scores([0, 1, 1], [1, 2, 3], fn_cost=5.0, fp_cost=2.0, pos_label=1, sample_weight=[1, 2, 3])
    assert not rows.costs_differ


@pytest.mark.parametrize(
    ("y", "scores", "arguments", "message"),
    [
        ([0, 1], [0.0, np.nan], {}, "y_score must be finite"),
        ([0, 1], [0.0, np.inf], {}, "y_score must be finite"),
        ([], [], {}, "at least one row"),
        ([0, 1], [0.0], {}, "one value for each row"),
        ([1, 1], [0.0, 1.0], {}, "both classes"),
        ([0, 1, 2], [0.0, 1.0, 2.0], {}, "two labels"),
        ([0, 1], [0.0, 1.0], {"fn_cost": -1.0}, "fn_cost must be finite and non-negative"),
        ([0, 1], [0.0, 1.0], {"fp_cost": [np.nan, 1.0]}, "fp_cost must be finite"),
    ],
)
def test_wrong_input_is_refused_with_the_reason(y, scores, arguments, message):
    given = {"fn_cost": 1.0, "fp_cost": 1.0, "pos_label": 1, "sample_weight": None} | arguments
    with pytest.raises(ValueError, match=message):
        costed_scores(y, scores, **given)


def test_held_out_rows_are_scored_by_the_estimator_of_their_fold(data, model, amounts):
    X, y = data
    results = cross_validate(model, X, y, cv=3, return_estimator=True, return_indices=True)
    folds = held_out_scores(results, X, y, **PLAIN | {"fn_cost": amounts, "sample_weight": amounts})
    for fold, estimator, rows in zip(folds, results["estimator"], results["indices"]["test"], strict=True):
        np.testing.assert_array_equal(fold.scores, estimator.decision_function(X[rows]))
        np.testing.assert_array_equal(fold.y, np.where(y[rows] == 1, 1, -1))
        np.testing.assert_array_equal(fold.cost, np.where(y[rows] == 1, amounts[rows], 1.0))
        np.testing.assert_array_equal(fold.weights, amounts[rows])
    assert len(pooled(folds).y) == len(y)


def test_a_series_of_costs_finds_its_rows_by_the_index_of_y(data, model, amounts):
    pd = pytest.importorskip("pandas")
    X, y = data
    results = cross_validate(model, X, y, cv=3, return_estimator=True, return_indices=True)
    names = [f"row {i}" for i in range(len(y))]
    shuffled = pd.Series(amounts, index=names).sample(frac=1.0, random_state=0)
    by_index = held_out_scores(results, X, pd.Series(y, index=names), **PLAIN | {"fn_cost": shuffled})
    by_place = held_out_scores(results, X, y, **PLAIN | {"fn_cost": amounts})
    for one, other in zip(by_index, by_place, strict=True):
        np.testing.assert_array_equal(one.cost, other.cost)


def test_cv_results_without_estimators_are_refused_with_the_call_to_make(data, model):
    with pytest.raises(ValueError, match="return_estimator=True, return_indices=True"):
        held_out_scores(cross_validate(model, *data, cv=2), *data, **PLAIN)
