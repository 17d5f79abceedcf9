"""The decisions of `CostThresholdClassifier` have the least expected cost, for class and sample costs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from cssvm import CostSensitiveSVC, CostThresholdClassifier
from cssvm.metrics import min_cost_risk

FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


class KnownProbabilities(ClassifierMixin, BaseEstimator):
    """A classifier whose probability of classes_[1] is the first feature."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


class KnownScores(ClassifierMixin, BaseEstimator):
    """A classifier whose score is the first feature; it takes no weights."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(200, 5, flip_y=0.2, class_sep=0.6, weights=[0.7], random_state=7)
    amounts = np.random.default_rng(7).lognormal(1.0, 1.0, len(y)) + 1.0
    return X, y, amounts


def total_cost(decided, is_target, cost):
    return cost[decided != is_target].sum()


@pytest.mark.parametrize("pos_label", [0, 1])
@settings(max_examples=50)
@given(
    rows=st.lists(
        st.tuples(st.floats(0, 1), st.floats(0, 100), st.floats(0, 100)).filter(lambda row: row[1] + row[2] > 0),
        min_size=1,
        max_size=20,
    )
)
def test_bayes_decisions_have_the_least_expected_cost(pos_label, rows):
    p, fn_cost, fp_cost = np.array(rows).T
    X = p[:, np.newaxis]
    model = CostThresholdClassifier(KnownProbabilities(), calibration=None, pos_label=pos_label).fit(X[[0, 0]], [0, 1])
    decided = model.predict(X, fn_cost=fn_cost, fp_cost=fp_cost) == pos_label
    of_target = p if pos_label == 1 else 1 - p
    if_decided, if_not = (1 - of_target) * fp_cost, of_target * fn_cost
    taken = np.where(decided, if_decided, if_not)
    # The difference of the two is rounded once.
    assert np.all(taken <= np.minimum(if_decided, if_not) + 4 * np.finfo(float).eps * (fn_cost + fp_cost))


@pytest.mark.parametrize("pos_label", [0, 1])
def test_constructor_costs_set_one_threshold_for_all_samples(pos_label):
    X = np.array([[0.0], [0.19], [0.21], [0.5], [0.79], [0.81], [1.0]])
    model = CostThresholdClassifier(KnownProbabilities(), fn_cost=4.0, calibration=None, pos_label=pos_label)
    model.fit(X[:2], [0, 1])
    assert model.threshold_ == pytest.approx(0.2)
    assert model.threshold_spread_ == 0.0
    assert model.thresholds_.size == 0
    expected = [0, 0, 1, 1, 1, 1, 1] if pos_label == 1 else [0, 0, 0, 0, 0, 1, 1]
    assert model.predict(X).tolist() == expected
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)
    np.testing.assert_allclose(model.decision_function(X), X[:, 0] - (0.2 if pos_label == 1 else 0.8), atol=1e-15)


def test_a_number_at_predict_replaces_the_constructors_cost_and_leaves_the_other():
    X = np.linspace(0, 1, 40)[:, np.newaxis]
    model = CostThresholdClassifier(KnownProbabilities(), fn_cost=3.0, fp_cost=2.0, calibration=None)
    model.fit(X[:2], [0, 1])
    np.testing.assert_array_equal(model.predict(X, fn_cost=8.0), X[:, 0] >= 2 / 10)
    np.testing.assert_array_equal(model.predict(X, fp_cost=np.full(40, 9.0)), X[:, 0] >= 9 / 12)


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
def test_bayes_calibrates_an_estimator_without_probabilities(data, calibration):
    X, y, amounts = data
    model = CostThresholdClassifier(LinearSVC(), fp_cost=2.0, calibration=calibration, cv=FOLDS, pos_label=0).fit(X, y)
    p = CalibratedClassifierCV(LinearSVC(), method=calibration, cv=FOLDS).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), p)
    np.testing.assert_array_equal(model.predict(X, fn_cost=amounts) == 0, p[:, 0] * amounts >= p[:, 1] * 2.0)


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC()])
def test_tuned_threshold_is_the_minimum_of_pooled_held_out_scores(data, estimator, pos_label):
    X, y, amounts = data
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    model = CostThresholdClassifier(estimator, fp_cost=2.0, method="tuned", cv=FOLDS, pos_label=pos_label)
    model.fit(X, y, fn_cost=amounts, sample_weight=weight)

    method = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    scores = cross_val_predict(estimator, X, y, cv=FOLDS, method=method, params={"sample_weight": weight})
    if scores.ndim == 2:
        scores = scores[:, pos_label]
    elif pos_label == 0:
        scores = -scores
    costs = {"fn_cost": amounts, "fp_cost": 2.0, "pos_label": pos_label}
    best = min_cost_risk(y, scores, **costs, sample_weight=weight)
    assert model.threshold_ == best.threshold

    target = y == pos_label
    cost = weight * np.where(target, amounts, 2.0)
    cuts = np.concatenate([scores, [np.inf]])
    brute = min(total_cost(scores >= cut, target, cost) for cut in cuts)
    assert total_cost(scores >= model.threshold_, target, cost) == pytest.approx(brute, rel=1e-12)

    for (_, rows), threshold in zip(FOLDS.split(X, y), model.thresholds_, strict=True):
        brute = min(total_cost(scores[rows] >= cut, target[rows], cost[rows]) for cut in cuts)
        own = total_cost(scores[rows] >= threshold, target[rows], cost[rows])
        assert own == pytest.approx(brute, rel=1e-12)
    assert model.threshold_spread_ == pytest.approx(np.std(model.thresholds_))
    assert model.threshold_spread_ > 0

    whole = clone(estimator).fit(X, y, sample_weight=weight)
    side = 1 if pos_label == 1 else -1
    score = whole.predict_proba(X)[:, pos_label] if method == "predict_proba" else side * whole.decision_function(X)
    np.testing.assert_array_equal(model.decision_function(X), side * (score - model.threshold_))
    np.testing.assert_array_equal(model.predict(X) == pos_label, score >= model.threshold_)


@pytest.mark.parametrize(("fn_cost", "everybody"), [(1e6, True), (1e-6, False)])
@pytest.mark.parametrize("pos_label", [0, 1])
def test_one_decision_for_all_holds_beyond_the_scores_seen(fn_cost, everybody, pos_label):
    rng = np.random.default_rng(3)
    X, y = rng.uniform(-0.5, 0.5, (60, 1)), np.arange(60) % 2
    model = CostThresholdClassifier(KnownScores(), fn_cost=fn_cost, method="tuned", pos_label=pos_label, cv=FOLDS)
    # Both extreme samples are of the class that is costly to decide against, so that no threshold gains anything.
    dear = pos_label if everybody else 1 - pos_label
    X[np.flatnonzero(y == dear)[:2], 0] = [-0.9, 0.9]
    model.fit(X, y)
    scores = model.decision_function(np.linspace(-1, 1, 50)[:, np.newaxis])
    assert np.isfinite(scores).all()
    assert np.all(model.predict(np.linspace(-1, 1, 50)[:, np.newaxis]) == dear)


def test_folds_of_one_class_have_no_threshold(data):
    X, y, _ = data
    model = CostThresholdClassifier(KnownScores(), fn_cost=3.0, method="tuned", cv=LeaveOneOut()).fit(X[:30], y[:30])
    assert np.isnan(model.thresholds_).all()
    assert np.isnan(model.threshold_spread_)
    assert model.threshold_ == min_cost_risk(y[:30], X[:30, 0], fn_cost=3.0).threshold


def test_a_precomputed_kernel_is_split_by_samples_and_columns(data):
    X, y, _ = data
    K = rbf_kernel(X, gamma=0.1)
    model = CostThresholdClassifier(CostSensitiveSVC(kernel="precomputed"), fn_cost=3.0, method="tuned", cv=FOLDS)
    features = CostThresholdClassifier(CostSensitiveSVC(gamma=0.1), fn_cost=3.0, method="tuned", cv=FOLDS)
    # The solver's default tolerance is 1e-3 in units of the score.
    assert model.fit(K, y).threshold_ == pytest.approx(features.fit(X, y).threshold_, abs=1e-2)


def test_costs_are_routed_through_a_pipeline_at_fit_and_predict(data):
    X, y, amounts = data
    with config_context(enable_metadata_routing=True):
        bayes = CostThresholdClassifier(LogisticRegression()).set_predict_request(fn_cost=True, fp_cost=True)
        pipeline = make_pipeline(StandardScaler(), bayes).fit(X, y)
        routed = pipeline.predict(X, fn_cost=amounts, fp_cost=2.0 * amounts[::-1])
    scaled = StandardScaler().fit_transform(X)
    direct = CostThresholdClassifier(LogisticRegression()).fit(scaled, y)
    np.testing.assert_array_equal(routed, direct.predict(scaled, fn_cost=amounts, fp_cost=2.0 * amounts[::-1]))
    without_routing = make_pipeline(StandardScaler(), CostThresholdClassifier(LogisticRegression())).fit(X, y)
    np.testing.assert_array_equal(routed, without_routing.predict(X, fn_cost=amounts, fp_cost=2.0 * amounts[::-1]))


def test_cross_validate_routes_costs_and_weights_to_each_fold(data):
    X, y, amounts = data
    weight = np.linspace(0.5, 2.0, len(y))
    with config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        model = CostThresholdClassifier(inner, method="tuned").set_fit_request(fn_cost=True, sample_weight=True)
        params = {"fn_cost": amounts, "sample_weight": weight}
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        scoring = get_scorer("roc_auc").set_score_request(sample_weight=False)
        scores = cross_validate(pipeline, X, y, cv=FOLDS, params=params, return_estimator=True, scoring=scoring)
    for (train, _), fitted in zip(FOLDS.split(X, y), scores["estimator"], strict=True):
        direct = CostThresholdClassifier(LogisticRegression(), method="tuned")
        direct.fit(
            StandardScaler().fit_transform(X[train]), y[train], fn_cost=amounts[train], sample_weight=weight[train]
        )
        assert fitted[-1].threshold_ == direct.threshold_
        np.testing.assert_array_equal(fitted[-1].estimator_.coef_, direct.estimator_.coef_)


@pytest.mark.parametrize("method", ["bayes", "tuned"])
def test_the_estimator_gets_the_costs_it_requests_also_by_another_name(data, method):
    X, y, amounts = data
    with config_context(enable_metadata_routing=True):
        inner = CostSensitiveSVC().set_fit_request(fn_cost=True, fp_cost=False, sample_weight="fp_cost")
        model = CostThresholdClassifier(inner, method=method, cv=FOLDS).fit(
            X, y, fn_cost=amounts, fp_cost=amounts[::-1]
        )
    fitted = model.estimator_ if method == "tuned" else model.estimator_.calibrated_classifiers_[0].estimator
    rows = np.arange(len(y)) if method == "tuned" else next(FOLDS.split(X, y))[0]
    direct = CostSensitiveSVC().fit(X[rows], y[rows], fn_cost=amounts[rows], sample_weight=amounts[::-1][rows])
    np.testing.assert_array_equal(fitted.dual_coef_, direct.dual_coef_)


def test_weights_the_estimator_takes_but_does_not_request_are_rejected_with_routing(data):
    X, y, amounts = data
    with config_context(enable_metadata_routing=True), pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        CostThresholdClassifier(LogisticRegression(), method="tuned").fit(X, y, sample_weight=amounts)


@pytest.mark.parametrize("calibration", ["sigmoid", None])
def test_weights_reach_the_estimator_and_the_calibration(data, calibration):
    X, y, amounts = data
    model = CostThresholdClassifier(LogisticRegression(), calibration=calibration).fit(X, y, sample_weight=amounts)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    inner = LogisticRegression() if calibration is None else CalibratedClassifierCV(LogisticRegression(), cv=folds)
    expected = inner.fit(X, y, sample_weight=amounts).predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_weights_that_the_estimator_cannot_take_warn(data):
    X, y, amounts = data
    with pytest.warns(UserWarning, match=r"KNeighborsClassifier takes no sample_weight: .* metadata routing"):
        CostThresholdClassifier(KNeighborsClassifier(), method="tuned").fit(X, y, sample_weight=amounts)


def test_probabilities_are_offered_where_there_are_some():
    assert hasattr(CostThresholdClassifier(LinearSVC()), "predict_proba")
    assert not hasattr(CostThresholdClassifier(LinearSVC(), method="tuned"), "predict_proba")
    assert hasattr(CostThresholdClassifier(LogisticRegression(), method="tuned"), "predict_proba")


@pytest.mark.parametrize(
    ("parameters", "costs", "reason"),
    [
        ({"method": "best"}, {}, "method of CostThresholdClassifier must be one of .*; got method='best'"),
        ({"calibration": "platt"}, {}, "calibration of CostThresholdClassifier must be one of"),
        ({"estimator": StandardScaler()}, {}, "must have fit, and predict_proba or decision_function"),
        ({"estimator": LinearSVC(), "calibration": None}, {}, "must have predict_proba"),
        ({"pos_label": 5}, {}, "pos_label"),
        ({"fn_cost": -1.0}, {}, "fn_cost must be finite and non-negative"),
        ({"fn_cost": np.ones(200)}, {}, "per sample to predict"),
        ({"fn_cost": 0.0, "fp_cost": 0.0}, {}, "must not both be 0"),
        ({}, {"fn_cost": np.ones(200)}, r"fn_cost given to fit .* predict\(X, fn_cost=...\)"),
        ({"method": "tuned", "fn_cost": np.ones(200)}, {}, r"fit\(X, y, fn_cost=...\)"),
        ({"method": "tuned"}, {"fn_cost": np.ones(3)}, r"shape \(200,\)"),
        ({"method": "tuned"}, {"fp_cost": np.full(200, np.nan)}, "fp_cost must be finite"),
        ({}, {"sample_weight": -np.ones(200)}, "sample_weight must be finite and non-negative"),
    ],
)
def test_a_rejected_fit_names_the_reason_and_leaves_the_classifier_unchanged(data, parameters, costs, reason):
    X, y, _ = data
    model = CostThresholdClassifier(LogisticRegression(), calibration=None).fit(X, y)
    before = dict(vars(model.set_params(**parameters)))
    with pytest.raises(ValueError, match=reason):
        model.fit(X, y, **costs)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


def test_folds_without_a_class_to_train_on_are_rejected(data):
    X, y, _ = data
    order = np.argsort(y)
    with pytest.raises(ValueError, match=r"both classes must be present among the training samples .* stratified"):
        CostThresholdClassifier(KnownScores(), method="tuned", cv=KFold(2)).fit(X[order][40:-40], y[order][40:-40] > 0)


@pytest.mark.parametrize(
    ("costs", "reason"),
    [
        ({"fn_cost": np.ones(3)}, r"fn_cost must be a number or .* shape \(200,\); got shape \(3,\)"),
        ({"fp_cost": np.full(200, np.nan)}, r"fp_cost must be finite .* labels are not known; got fp_cost=nan"),
        ({"fn_cost": np.inf}, "fn_cost must be finite"),
        ({"fn_cost": np.r_[np.ones(199), -1.0]}, r"got fn_cost=-1.0 in sample 199 \(1 in all\)"),
        ({"fn_cost": 0.0, "fp_cost": 0.0}, "must not both be 0"),
    ],
)
def test_unusable_costs_of_new_samples_are_rejected(data, costs, reason):
    X, y, _ = data
    model = CostThresholdClassifier(LogisticRegression(), calibration=None).fit(X, y)
    with pytest.raises(ValueError, match=reason):
        model.predict(X, **costs)


def test_samples_that_cost_nothing_are_not_acted_on_and_counted(data):
    X, y, _ = data
    model = CostThresholdClassifier(LogisticRegression(), calibration=None).fit(X, y)
    fn_cost = np.where(np.arange(200) % 4 == 0, 0.0, 3.0)
    with pytest.warns(UserWarning, match="both 0 on 50 of 200 samples"):
        decided = model.predict(X, fn_cost=fn_cost, fp_cost=fn_cost / 3)
    np.testing.assert_array_equal(decided[::4], model.classes_[0])
    others = np.arange(200) % 4 > 0
    np.testing.assert_array_equal(decided[others], model.predict(X[others], fn_cost=3.0, fp_cost=1.0))


def test_a_tuned_threshold_rejects_costs_of_new_samples_and_names_the_method_that_takes_them(data):
    X, y, amounts = data
    model = CostThresholdClassifier(LogisticRegression(), method="tuned").fit(X, y)
    with pytest.raises(ValueError, match='Use method="bayes"'):
        model.predict(X, fn_cost=amounts)
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_every_fitted_attribute_is_documented(data):
    X, y, _ = data
    attributes = CostThresholdClassifier.__doc__.split("Attributes\n")[1]
    for name in vars(CostThresholdClassifier(LogisticRegression(), method="tuned").fit(X, y)):
        if name.endswith("_"):
            assert f"    {name} : " in attributes


@pytest.mark.parametrize("names", [[0, 1], [1, 2], ["a", "b"]], ids=str)
@pytest.mark.parametrize("routing", [False, True])
def test_a_tuned_threshold_does_not_depend_on_how_the_classes_are_called(names, routing):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    index = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    y = np.array(names)[index]
    inner = CostSensitiveSVC(gamma=0.3, fn_cost=10.0, pos_label=names[0])
    with config_context(enable_metadata_routing=routing):
        model = CostThresholdClassifier(inner, method="tuned", cv=FOLDS, pos_label=names[0], fn_cost=2.0).fit(X, y)
    scores = np.empty(200)
    for seen, held_out in FOLDS.split(X, index):
        fold = CostSensitiveSVC(gamma=0.3, fn_cost=10.0, pos_label=0).fit(X[seen], index[seen])
        scores[held_out] = -fold.decision_function(X[held_out])
    best = min_cost_risk(index, scores, fn_cost=2.0, pos_label=0)
    assert model.threshold_ == pytest.approx(best.threshold)
