import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cssvm import CostSensitiveSVC
from cssvm._core.positive_class import PositiveClass, positive_class_scores


@pytest.fixture(scope="module")
def named(data):
    """The same samples with string labels; "bad" is classes_[0] and stands for label 1."""
    return np.where(data[1] == 1, "bad", "good")


def test_scores_are_higher_for_the_positive_class_when_it_is_the_first_class(data, named):
    X, _ = data
    first = LogisticRegression().fit(X, named)
    scores = positive_class_scores(first, X, pos_label="bad")
    assert first.classes_[0] == "bad"
    np.testing.assert_array_equal(scores.values, -first.decision_function(X))
    np.testing.assert_array_equal(scores.values >= scores.own_threshold, first.predict(X) == "bad")


def test_the_second_class_is_the_positive_class_by_default(data, model):
    scores = positive_class_scores(model, data[0])
    assert scores.pos_label == 1
    np.testing.assert_array_equal(scores.values, model.decision_function(data[0]))


@pytest.mark.parametrize("pos_label", [0, 1])
def test_probabilities_are_those_of_the_positive_class_and_decide_at_one_half(data, pos_label):
    model = GaussianNB().fit(*data)
    scores = positive_class_scores(model, data[0], pos_label=pos_label)
    np.testing.assert_array_equal(scores.values, model.predict_proba(data[0])[:, pos_label])
    assert scores.own_threshold == 0.5


def test_a_response_method_can_be_requested(data, model):
    scores = positive_class_scores(model, data[0], response_method="predict_proba")
    np.testing.assert_array_equal(scores.values, model.predict_proba(data[0])[:, 1])


def test_the_pos_label_of_the_estimator_is_found_in_pipelines_and_searches(data):
    svc = CostSensitiveSVC(pos_label=0)
    pipeline = make_pipeline(StandardScaler(), svc)
    for estimator in (svc, pipeline, GridSearchCV(pipeline, {"costsensitivesvc__C": [1.0]}, cv=2)):
        assert positive_class_scores(estimator.fit(*data), data[0]).pos_label == 0


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
def test_what_cannot_be_scored_is_rejected_with_the_reason(data, estimator, arguments, message):
    estimator.fit(*data)
    with pytest.raises(ValueError, match=message):
        positive_class_scores(estimator, data[0], **arguments)


def test_an_estimator_that_was_not_fitted_is_rejected(data):
    with pytest.raises(NotFittedError):
        positive_class_scores(LogisticRegression(), data[0])


def test_three_classes_are_rejected(data):
    model = LogisticRegression().fit(data[0], np.arange(len(data[1])) % 3)
    with pytest.raises(ValueError, match="two classes"):
        positive_class_scores(model, data[0])


@pytest.mark.parametrize(("pos_label", "side"), [(None, 1), ("b", 1), ("a", -1)])
def test_the_sign_of_f_that_stands_for_the_positive_class(pos_label, side):
    target = PositiveClass.from_labels(np.array(["a", "b"]), pos_label)
    f = np.array([-2.0, 0.0, 3.0])
    assert target.sign == side
    np.testing.assert_array_equal(target.to_positive_sign(f), side * f)
    # f = 0 is classes_[0], as in `predict`.
    np.testing.assert_array_equal(target.labels(target.predicted_positive(target.to_positive_sign(f))), ["a", "a", "b"])
