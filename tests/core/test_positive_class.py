"""Resolution of the positive class, and conversion of responses to scores for it."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cssvm import CostSensitiveSVC
from cssvm._core.positive_class import (
    PositiveClass,
    check_same_positive_class,
    finite_response,
    format_labels,
    positive_class_scores,
    response_and_threshold,
    stated_pos_label,
    to_python,
    with_pos_label,
)

STRINGS = np.array(["bad", "good"])
NUMBERS = np.array([0, 1])


@pytest.mark.parametrize("index", [0, 1])
def test_columns_of_probabilities_are_in_the_order_of_the_classes(index):
    p = np.array([0.25, 0.5, 1.0])
    both = PositiveClass(STRINGS, index).probability_columns(p)
    np.testing.assert_array_equal(both[:, index], p)
    np.testing.assert_array_equal(both[:, 1 - index], 1 - p)
    np.testing.assert_array_equal(PositiveClass(STRINGS, index).to_positive_sign(both), p)


@pytest.mark.parametrize("index", [0, 1])
def test_decision_values_are_turned_by_their_sign_alone(index):
    target, f = PositiveClass(STRINGS, index), np.array([-2.5, -0.5, 0.0, 0.5])
    side = 1 if index else -1
    np.testing.assert_array_equal(target.to_classes_sign(f), side * f)
    # f > 0 is classes_[1]: exactly 0 is classes_[0].
    np.testing.assert_array_equal(
        target.labels(target.predicted_positive(target.to_positive_sign(f))), ["bad"] * 3 + ["good"]
    )


def test_the_larger_label_is_the_default_positive_class():
    assert (PositiveClass.from_labels(STRINGS, None).label, PositiveClass.from_labels(STRINGS, None).named) == (
        "good",
        False,
    )
    assert (PositiveClass.from_labels(STRINGS, "bad").label, PositiveClass.from_labels(STRINGS, "bad").named) == (
        "bad",
        True,
    )
    assert PositiveClass.from_labels(STRINGS, "bad").other == "good"
    assert PositiveClass.from_labels(NUMBERS, 0).label_repr == "0"
    assert PositiveClass.from_labels(STRINGS, "bad").label_repr == "'bad'"
    assert to_python(np.float64(1.5)) == 1.5
    with pytest.raises(
        ValueError, match=r"whose must be one of the classes \['bad', 'good'\] of y, or None for 'good'"
    ):
        PositiveClass.from_labels(STRINGS, "ugly", owner="whose")


@pytest.mark.parametrize(
    ("costs", "given"),
    [
        ({"fn_cost": 5.0, "fp_cost": 1.0}, "fn_cost=5.0, fp_cost=1.0"),
        ({"fn_cost": [5.0, 5.0], "fp_cost": 1.0}, "one fn_cost per sample, fp_cost=1.0"),
        ({"fn_cost": [1.0, 1.0], "fp_cost": [1.0, 1.0]}, "one fn_cost per sample, one fp_cost per sample"),
        ({"fn_cost": 1.0, "fp_cost": 1.0}, None),
        ({"tp_cost": 2.0, "fp_cost": 2.0, "fn_cost": 2.0}, None),
        ({"tp_cost": 2.0, "fp_cost": 2.0, "fn_cost": 3.0}, "tp_cost=2.0, fp_cost=2.0, fn_cost=3.0"),
    ],
)
def test_costs_that_differ_need_a_name_where_labels_are_strings(costs, given):
    unnamed = PositiveClass.from_labels(STRINGS, None)
    if given is None:
        unnamed.require_pos_label(**costs)
    else:
        with pytest.raises(ValueError, match=f"'bad' and 'good', with {given}"):
            unnamed.require_pos_label(**costs)
    PositiveClass.from_labels(STRINGS, "good").require_pos_label(**costs)
    PositiveClass.from_labels(NUMBERS, None).require_pos_label(**costs)
    PositiveClass.from_labels(np.array([1, "good"], dtype=object), None).require_pos_label(
        **costs
    )  # not both are strings
    if given is not None:
        with pytest.raises(ValueError, match="b'bad' and b'good'"):
            PositiveClass.from_labels(np.array([b"bad", b"good"]), None).require_pos_label(**costs)


class Fitted(ClassifierMixin, BaseEstimator):
    """Scores that are the feature."""

    def __init__(self, factor=1.0):
        self.factor = factor
        self.classes_ = NUMBERS

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return self.factor * X[:, 0]

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


class WithoutDecisionValues(Fitted):
    decision_function = None

    def __getattribute__(self, name):
        if name == "decision_function":
            raise AttributeError(name)
        return super().__getattribute__(name)


X = np.array([[0.1], [0.3], [0.6], [0.8]])
Y = np.array([0, 1, 0, 1])


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize(
    ("response_method", "threshold", "pos_label"),
    [
        ("auto", 0.25, None),
        ("auto", 0.7, 0),
        ("auto", "auto", None),
        ("decision_function", 0.25, None),
        ("decision_function", 0.7, 0),
        ("decision_function", "auto", 1),
        ("predict_proba", 0.7, 1),
    ],
)
def test_the_threshold_of_a_threshold_classifier_gives_its_predictions(response_method, threshold, pos_label, index):
    model = FixedThresholdClassifier(
        FrozenEstimator(Fitted()), threshold=threshold, response_method=response_method, pos_label=pos_label
    ).fit(X, Y)
    for estimator in (model, make_pipeline(StandardScaler(with_mean=False, with_std=False), model).fit(X, Y)):
        scores = positive_class_scores(estimator, X, pos_label=index)
        np.testing.assert_array_equal(scores.values >= scores.own_threshold, estimator.predict(X) == index)


def test_the_threshold_of_a_model_is_none_for_another_response_method():
    model = FixedThresholdClassifier(FrozenEstimator(Fitted()), threshold=0.25, response_method="predict_proba").fit(
        X, Y
    )
    assert response_and_threshold(model, PositiveClass(NUMBERS, 1)) == ("predict_proba", 0.25)
    assert response_and_threshold(model, PositiveClass(NUMBERS, 1), "predict_proba") == ("predict_proba", 0.25)
    method, threshold = response_and_threshold(model, PositiveClass(NUMBERS, 1), "decision_function")
    assert method == "decision_function"
    assert np.isnan(threshold)


def test_the_threshold_of_a_tuned_classifier_is_the_tuned_one():
    model = TunedThresholdClassifierCV(FrozenEstimator(Fitted()), cv="prefit", refit=False, response_method="auto")
    model.fit(X, Y)
    assert response_and_threshold(model, PositiveClass(NUMBERS, 1)) == ("predict_proba", model.best_threshold_)
    assert response_and_threshold(model, PositiveClass(NUMBERS, 0)) == ("predict_proba", 1.0 - model.best_threshold_)


def test_other_classifiers_cut_at_zero_or_one_half():
    assert response_and_threshold(Fitted(), PositiveClass(NUMBERS, 0)) == ("decision_function", 0.0)
    assert response_and_threshold(Fitted(), PositiveClass(NUMBERS, 1), "predict_proba") == ("predict_proba", 0.5)
    assert response_and_threshold(WithoutDecisionValues(), PositiveClass(NUMBERS, 1)) == ("predict_proba", 0.5)


def test_responses_that_are_not_finite_are_rejected():
    with pytest.raises(ValueError, match="decision_function of Fitted must return finite numbers; got inf"):
        finite_response(Fitted(np.inf), "decision_function", X)
    with pytest.raises(ValueError, match="got nan"):
        finite_response(Fitted(), "decision_function", np.array([[1.0], [np.nan]]))
    assert finite_response(Fitted(2), "decision_function", X.astype(np.float32)).dtype == np.float64


def test_a_model_without_pos_label_gets_the_given_one():
    named = PositiveClass.from_labels(STRINGS, "bad")
    svc = with_pos_label(CostSensitiveSVC(), named)
    assert svc.pos_label == "bad"
    assert type(svc.pos_label) is str
    inner = with_pos_label(make_pipeline(StandardScaler(), CostSensitiveSVC()), named)
    assert inner[-1].pos_label == "bad"
    assert with_pos_label(CostSensitiveSVC(), PositiveClass.from_labels(STRINGS, None)).pos_label is None
    assert isinstance(with_pos_label(GaussianNB(), named), GaussianNB)


def test_a_model_with_a_positive_class_keeps_it_and_rejects_others():
    own = CostSensitiveSVC(pos_label="bad")
    kept = with_pos_label(own, PositiveClass.from_labels(STRINGS, "bad"))
    assert kept is not own
    assert kept.pos_label == "bad"
    with pytest.raises(ValueError, match="positive class of CostSensitiveSVC is 'bad'"):
        with_pos_label(own, PositiveClass.from_labels(STRINGS, "good"))
    with pytest.raises(ValueError, match="pos_label of CostSensitiveSVC must be one of the classes"):
        check_same_positive_class(CostSensitiveSVC(pos_label="ugly"), PositiveClass.from_labels(STRINGS, "good"))
    with pytest.raises(ValueError, match="is 'good', as its pos_label=None"):
        check_same_positive_class(CostSensitiveSVC(), PositiveClass.from_labels(STRINGS, "bad"))
    check_same_positive_class(LogisticRegression(), PositiveClass.from_labels(STRINGS, "bad"))
    check_same_positive_class(own, PositiveClass.from_labels(STRINGS, "bad"))


def test_the_outermost_model_with_costs_states_the_class():
    assert stated_pos_label(LogisticRegression()) is None
    assert stated_pos_label(make_pipeline(StandardScaler(), CostSensitiveSVC(pos_label="bad"))) == "bad"
    inner = CostSensitiveSVC(pos_label="bad")
    assert stated_pos_label(FixedThresholdClassifier(inner, pos_label="good")) == "good"
    assert stated_pos_label(FixedThresholdClassifier(inner)) == "bad"  # has a pos_label, but no costs


def test_many_labels_are_listed_up_to_the_tenth():
    assert format_labels(np.array(["a", "b"])) == "['a', 'b']"
    assert format_labels(np.arange(10)) == "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
    assert format_labels(np.arange(11)) == "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...]"
