"""Held-out predictions and scores of an evaluation, such that the predictions are a threshold on the scores."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    TunedThresholdClassifierCV,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cssvm import (
    CostProportionateClassifier,
    CostSensitiveSVC,
    CostThresholdClassifier,
    DirectCostClassifier,
    MetaCostClassifier,
    Report,
    evaluate,
)
from cssvm._evaluation import evaluate_predictions
from cssvm._evaluation.result import ROW_COSTS
from cssvm.metrics import cost_risk, min_cost_risk, positive_class_scores
from cssvm.metrics._risk import risk_of_predictions

X, Y = make_classification(240, 6, n_informative=4, weights=[0.8], flip_y=0.1, random_state=3)
AMOUNT = np.random.default_rng(0).lognormal(1.0, 1.0, len(Y))
FOLDS = StratifiedKFold(3, shuffle=True, random_state=1)

STUMP = DecisionTreeClassifier(max_depth=2, random_state=0)  # many ties
MODELS = {
    "svm": CostSensitiveSVC(),
    "probabilities": CostThresholdClassifier(LogisticRegression(), calibration=None),
    "tied probabilities": CostThresholdClassifier(STUMP, calibration=None),
    "tuned": CostThresholdClassifier(LogisticRegression(), method="tuned", cv=3),
    "estimated amounts": DirectCostClassifier(STUMP, LinearRegression(), cv=2),
    "amounts behind a scaler": make_pipeline(
        StandardScaler(), DirectCostClassifier(LogisticRegression(), Ridge(), cv=2)
    ),
    "meta cost": MetaCostClassifier(LogisticRegression(), n_estimators=3, random_state=0),
    "costing": CostProportionateClassifier(STUMP, n_estimators=3, random_state=0),
    "fixed threshold": FixedThresholdClassifier(LogisticRegression(), threshold=0.2),
    "fixed decision value": FixedThresholdClassifier(
        LogisticRegression(), threshold=-1.0, response_method="decision_function"
    ),
    "fixed behind a scaler": make_pipeline(StandardScaler(), FixedThresholdClassifier(STUMP, threshold=0.2)),
    "tuned by scikit-learn": TunedThresholdClassifierCV(LogisticRegression(), cv=2, thresholds=20),
    "tree": STUMP,
    "logistic regression": LogisticRegression(),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("fn_cost", [5.0, AMOUNT], ids=["class", "rows"])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_decisions_are_one_cut_of_the_scores(model, fn_cost):
    found = evaluate(model, X, Y, fn_cost=fn_cost, fp_cost=1.0, cv=FOLDS, n_resamples=10, blind=False).held_out
    np.testing.assert_array_equal(found.scored.scores >= found.own_threshold, found.scored.predictions)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("name", ["fixed threshold", "fixed decision value", "tuned by scikit-learn", "tree"])
def test_decisions_of_a_fitted_model_are_one_cut_of_the_scores_of_either_class(name, label):
    model = clone(MODELS[name]).fit(X, Y)
    found = evaluate(model, X, Y, pos_label=label, cv="prefit", n_resamples=10).held_out
    np.testing.assert_array_equal(found.scored.scores >= found.own_threshold, found.scored.predictions)


def test_a_threshold_of_scikit_learn_is_stated_on_the_response_that_it_cuts():
    model = FixedThresholdClassifier(LogisticRegression(), threshold=0.2).fit(X, Y)
    found = positive_class_scores(model, X)
    np.testing.assert_array_equal(found.values, model.predict_proba(X)[:, 1])
    assert found.own_threshold == 0.2
    other = positive_class_scores(model, X, pos_label=0)
    assert other.own_threshold == 0.8
    assert np.isnan(positive_class_scores(model, X, response_method="decision_function").own_threshold)
    tuned = TunedThresholdClassifierCV(LogisticRegression(), cv=2, thresholds=20).fit(X, Y)
    assert positive_class_scores(tuned, X).own_threshold == tuned.best_threshold_


@pytest.mark.parametrize("unknown", [0.0, np.nan, None], ids=["zero", "missing", "known"])
def test_amounts_known_for_past_positives_do_not_reach_the_scores(unknown):
    """No threshold may be better than one on the ranking by probability and estimate, which do not use labels."""
    given = AMOUNT if unknown is None else np.where(Y == 1, AMOUNT, unknown)
    model = DirectCostClassifier(LogisticRegression(), LinearRegression(), cv=2)
    found = evaluate(model, X, Y, fn_cost=given, cv=FOLDS, n_resamples=10, blind=False).held_out
    expected = np.empty(len(Y))
    for fold, (train, held_out) in enumerate(FOLDS.split(X, Y)):
        fitted = clone(model).fit(X[train], Y[train], fn_cost=AMOUNT[train])
        p = fitted.predict_proba(X[held_out])[:, 1]
        expected[found.fold == fold] = np.log(p / (1 - p)) + np.log(fitted.predict_amount(X[held_out]))
    np.testing.assert_allclose(found.scored.scores, expected)


def test_a_report_takes_amounts_that_are_missing():
    model = DirectCostClassifier(LogisticRegression(), LinearRegression(), cv=2)
    assert "<html" in Report(model, X, Y, fn_cost=np.where(Y == 1, AMOUNT, np.nan), cv=FOLDS, n_resamples=10).html()


@pytest.mark.parametrize(
    "cv", [FOLDS, RepeatedStratifiedKFold(n_splits=2, n_repeats=3, random_state=0), TimeSeriesSplit(3)]
)
def test_the_kept_decisions_cost_what_the_table_says(cv):
    weights = np.random.default_rng(1).integers(0, 3, len(Y)).astype(float)
    found = evaluate(
        make_pipeline(StandardScaler(), CostSensitiveSVC()),
        X,
        Y,
        fn_cost=AMOUNT,
        sample_weight=weights,
        cv=cv,
        n_resamples=10,
    )
    own = found.held_out
    assert risk_of_predictions(own.scored.samples, own.scored.predictions) == pytest.approx(found.model.cost.value)
    assert own.scored.samples.weights.sum() * found.model.cost.value == pytest.approx(found.model.total)
    assert len(own.models) == len(set(own.fold.tolist())) == cv.get_n_splits(X, Y)


def test_a_fitted_model_decides_as_it_is():
    fitted = CostSensitiveSVC(fn_cost=5.0).fit(X[:150], Y[:150])
    other = LogisticRegression().fit(X[:150], Y[:150])
    found = evaluate(fitted, X[150:], Y[150:], cv="prefit", compare={"logistic": other}, n_resamples=10)
    y = Y[150:]
    assert found.model.cost.value == pytest.approx(cost_risk(y, fitted.predict(X[150:]), fn_cost=5.0))
    assert found["logistic"].cost.value == pytest.approx(cost_risk(y, other.predict(X[150:]), fn_cost=5.0))
    scores = positive_class_scores(fitted, X[150:])
    blind = scores.values >= min_cost_risk(y, scores).threshold
    assert found["cost-blind cut"].cost.value == pytest.approx(cost_risk(y, blind.astype(int), fn_cost=5.0))
    assert "cost-blind SVC" not in found.decisions
    assert found.held_out.models == [fitted]


def test_a_fitted_model_decides_by_the_costs_of_the_samples():
    fitted = CostThresholdClassifier(LogisticRegression()).fit(X[:150], Y[:150])
    found = evaluate(fitted, X[150:], Y[150:], fn_cost=AMOUNT[150:], fp_cost=1.0, cv="prefit", n_resamples=10)
    decided = fitted.predict(X[150:], fn_cost=AMOUNT[150:], fp_cost=1.0)
    np.testing.assert_array_equal(found.decisions["model"], decided == 1)


def test_labels_unknown_to_a_fitted_model_are_rejected():
    fitted = CostSensitiveSVC().fit(X, np.where(Y == 1, "yes", "no"))
    with pytest.raises(ValueError, match=r"y must hold the classes \['no', 'yes'\]"):
        evaluate(fitted, X, Y, cv="prefit", pos_label=1)


def test_reserved_names_of_the_table_are_rejected_for_other_models():
    with pytest.raises(ValueError, match="Give this model another name"):
        evaluate(CostSensitiveSVC(), X, Y, compare={"model": LogisticRegression()})


def test_predictions_made_elsewhere_cost_what_the_metrics_compute():
    scores = np.random.default_rng(0).normal(size=len(Y)) + Y
    weights = np.random.default_rng(1).integers(0, 3, len(Y)).astype(float)
    outcomes = {"tp_cost": 0.0, "fp_cost": 1.0, "tn_cost": 0.0, "fn_cost": AMOUNT}
    found = evaluate_predictions(Y, scores > 0.5, y_score=scores, **outcomes, sample_weight=weights)
    own = cost_risk(Y, (scores > 0.5).astype(int), fn_cost=AMOUNT, sample_weight=weights)
    assert found.model.cost.value == pytest.approx(own)
    assert len(found.held_out.scored.predictions) == np.count_nonzero(weights)
    with pytest.raises(ValueError, match="samples of both classes"):
        evaluate_predictions(np.zeros(5, int), np.zeros(5, int), fp_cost=1.0)


def test_predictions_made_elsewhere_have_the_intervals_of_evaluate_also_with_groups():
    fitted = CostSensitiveSVC().fit(X[:120], Y[:120])
    rows, y, amount = X[120:], Y[120:], AMOUNT[120:]
    weights = np.random.default_rng(1).integers(0, 3, 120).astype(float)
    groups = np.random.default_rng(2).integers(0, 25, 120)
    outcomes = {"tp_cost": 0.0, "fp_cost": 1.0, "tn_cost": 0.0, "fn_cost": amount}
    given = {"sample_weight": weights, "groups": groups}
    expected = evaluate(
        fitted, rows, y, fn_cost=amount, fp_cost=1.0, **given, cv="prefit", blind=False, n_resamples=50, random_state=4
    )
    found = evaluate_predictions(y, fitted.predict(rows), **outcomes, **given, n_resamples=50, random_state=4)
    assert [policy.name for policy in found.policies] == [policy.name for policy in expected.policies]
    for policy in found.policies:
        assert policy.cost == pytest.approx(expected[policy.name].cost, rel=1e-12)
    by_row = evaluate_predictions(
        y, fitted.predict(rows), **outcomes, sample_weight=weights, n_resamples=50, random_state=4
    )
    assert by_row.model.cost.value == found.model.cost.value
    assert by_row.model.cost.low != found.model.cost.low


def test_groups_of_the_wrong_length_are_rejected():
    outcomes = {"tp_cost": 0.0, "fp_cost": 1.0, "tn_cost": 0.0, "fn_cost": 5.0}
    for groups in (np.arange(len(Y) + 1), 3, np.zeros((len(Y), 1))):
        with pytest.raises(ValueError, match="groups must hold one value for each sample"):
            evaluate_predictions(Y, Y, **outcomes, groups=groups)
        with pytest.raises(ValueError, match="groups must hold one value for each sample"):
            evaluate(CostSensitiveSVC(), X, Y, groups=groups)


def test_leakage_by_costs_known_for_positives_only_is_warned_of():
    X, y = make_classification(200, 4, weights=[0.7], flip_y=0.1, random_state=0)
    amount = np.random.default_rng(0).lognormal(2.0, 1.0, len(y))
    model = CostThresholdClassifier(LogisticRegression())
    with pytest.warns(UserWarning, match="fn_cost is 0 or missing for every sample of the class it does not apply to"):
        evaluate(model, X, y, fn_cost=np.where(y == 1, amount, 0.0), fp_cost=2.0, cv=2, n_resamples=20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(model, X, y, fn_cost=amount, fp_cost=2.0, cv=2, n_resamples=20)


def test_the_table_states_whether_the_models_were_trained_without_the_samples():
    X, y = make_classification(200, 4, weights=[0.7], flip_y=0.1, random_state=0)
    model = LogisticRegression().fit(X, y)
    assert "which must not be in the model's training data" in str(evaluate(model, X, y, cv="prefit", n_resamples=20))
    assert "by a model that was not trained on it" in str(evaluate(model, X, y, cv=2, n_resamples=20))


def test_samples_of_weight_zero_are_absent_from_intervals_and_counts():
    X, y = make_classification(200, 4, weights=[0.7], flip_y=0.1, random_state=0)
    model = LogisticRegression().fit(X, y)
    weights, groups = np.zeros(200), np.arange(200) // 2
    weights[::25] = [1, 2, 1, 1, 3, 1, 1, 1]
    rows = np.flatnonzero(weights)
    options = {"cv": "prefit", "blind": False, "fn_cost": 3.0}
    found = evaluate(model, X, y, sample_weight=weights, groups=groups, **options)
    alone = evaluate(model, X[rows], y[rows], sample_weight=weights[rows], groups=groups[rows], **options)
    assert found.n_rows == len(rows)
    assert str(found) == str(alone)
    assert np.isfinite(found.model.cost).all()


def test_folds_that_hold_out_no_weight_are_rejected():
    X, y = make_classification(60, 4, random_state=0)
    weights = np.r_[np.ones(30), np.zeros(30)]
    with pytest.raises(ValueError, match="cv must hold out samples of positive weight"):
        evaluate(LogisticRegression(), X, y, sample_weight=weights, cv=[(np.arange(30), np.arange(30, 60))])


ROUTED = {
    "bayes": CostThresholdClassifier(LogisticRegression(), cv=2),
    "tuned": CostThresholdClassifier(LogisticRegression(), method="tuned", cv=2),
    "two estimators": DirectCostClassifier(LogisticRegression(), Ridge(), cv=2),
    "two pipelines": DirectCostClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()), make_pipeline(StandardScaler(), Ridge()), cv=2
    ),
    "meta cost": MetaCostClassifier(LogisticRegression(), n_estimators=3, random_state=0),
    "meta cost of amounts": MetaCostClassifier(
        LogisticRegression(), amount_estimator=Ridge(), n_estimators=3, random_state=0
    ),
    "costing": CostProportionateClassifier(LogisticRegression(), n_estimators=3, random_state=0),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", ROUTED.values(), ids=ROUTED)
def test_weights_and_costs_reach_all_estimators_with_and_without_metadata_routing(model):
    weights = np.random.default_rng(1).lognormal(0.0, 1.5, len(Y))
    given = {"fn_cost": AMOUNT, "fp_cost": 0.5, "sample_weight": weights, "cv": FOLDS, "n_resamples": 10}
    found = []
    for routing in (False, True):
        with config_context(enable_metadata_routing=routing):
            found.append(evaluate(model, X, Y, blind=False, **given).held_out)
    np.testing.assert_array_equal(found[0].scored.scores, found[1].scored.scores)
    np.testing.assert_array_equal(found[0].scored.predictions, found[1].scored.predictions)


def test_weights_reach_all_members_of_an_ensemble_with_metadata_routing():
    weights = np.random.default_rng(1).lognormal(0.0, 1.5, len(Y))
    train, held_out = np.arange(0, 120), np.arange(120, 240)
    members = [LogisticRegression(), STUMP]
    with config_context(enable_metadata_routing=True):
        vote = VotingClassifier(list(zip("ab", members, strict=True)), voting="soft")
        found = evaluate(vote, X, Y, sample_weight=weights, cv=[(train, held_out)], blind=False, n_resamples=10)
    fitted = [clone(each).fit(X[train], Y[train], sample_weight=weights[train]) for each in members]
    expected = np.mean([each.predict_proba(X[held_out])[:, 1] for each in fitted], axis=0)
    np.testing.assert_allclose(found.held_out.scored.scores, expected)


@pytest.mark.parametrize("scoring", ["accuracy", make_scorer(lambda y, decided: np.mean(y == decided))])
def test_weights_reach_the_threshold_of_scikit_learn_with_metadata_routing(scoring):
    weights = np.random.default_rng(1).lognormal(0.0, 1.5, len(Y))
    train, held_out = np.arange(0, 120), np.arange(120, 240)
    with config_context(enable_metadata_routing=True):
        tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=scoring, cv=2)
        found = evaluate(tuned, X, Y, sample_weight=weights, cv=[(train, held_out)], blind=False, n_resamples=10)
        by_hand = get_scorer(scoring)
        if scoring == "accuracy":
            by_hand = by_hand.set_score_request(sample_weight=True)
        weighted = LogisticRegression().set_fit_request(sample_weight=True)
        expected = TunedThresholdClassifierCV(weighted, scoring=by_hand, cv=2)
        expected.fit(X[train], Y[train], sample_weight=weights[train])
    assert not found.notes
    np.testing.assert_array_equal(found.decisions["model"][held_out], expected.predict(X[held_out]) == 1)


@pytest.mark.parametrize(
    ("model", "weights", "noted"),
    [
        (KNeighborsClassifier(), 2.0, True),
        (KNeighborsClassifier(), 1.0, False),
        (make_pipeline(StandardScaler(), KNeighborsClassifier()), 2.0, True),
        (FixedThresholdClassifier(LogisticRegression()), 2.0, True),
        (LogisticRegression(), 2.0, False),
    ],
)
def test_a_model_that_is_trained_without_the_weights_is_noted(model, weights, noted):
    weights = np.where(np.arange(len(Y)) % 3, np.where(np.arange(len(Y)) % 2, weights, 1.0), 0.0)
    found = evaluate(model, X, Y, sample_weight=weights, cv=2, n_resamples=10)
    assert [note.startswith("model is trained without sample_weight") for note in found.notes] == [True] * noted


@pytest.mark.parametrize(
    "model", [MODELS["tied probabilities"], make_pipeline(StandardScaler(), MODELS["probabilities"])]
)
def test_a_model_that_decides_by_sample_costs_is_compared_with_a_logistic_regression_that_does_so(model):
    found = evaluate(model, X, Y, fn_cost=AMOUNT, fp_cost=1.0, cv=FOLDS, n_resamples=10)
    expected = np.empty(len(Y), dtype=bool)
    for train, held_out in FOLDS.split(X, Y):
        scaled = StandardScaler().fit(X[train]) if hasattr(model, "steps") else FunctionTransformer()
        fitted = LogisticRegression(max_iter=1000).fit(scaled.transform(X[train]), Y[train])
        p = fitted.predict_proba(scaled.transform(X[held_out]))[:, 1]
        expected[held_out] = p * AMOUNT[held_out] > 1 - p
    np.testing.assert_array_equal(found.decisions[ROW_COSTS], expected)


@pytest.mark.parametrize(
    ("model", "fn_cost"),
    [
        (MODELS["probabilities"], 5.0),
        (MODELS["tuned"], AMOUNT),
        (MODELS["estimated amounts"], np.where(Y, AMOUNT, 0.0)),
    ],
    ids=["costs of classes", "one threshold", "amounts that are not known"],
)
def test_no_logistic_baseline_if_the_model_does_not_decide_by_sample_costs(model, fn_cost):
    found = evaluate(model, X, Y, fn_cost=fn_cost, fp_cost=1.0, cv=FOLDS, n_resamples=10)
    assert ROW_COSTS not in found.decisions
    assert "cost-blind SVC" in found.decisions


def test_the_table_has_80_columns_and_its_html_is_escaped():
    model = CostSensitiveSVC().fit(X, Y)
    found = evaluate(model, X, Y, cv="prefit", compare={"<b>": model}, currency="EUR & more", n_resamples=10)
    assert max(map(len, str(found).splitlines())) <= 80
    assert "at a total cost of" in str(found)
    page = found._repr_html_()
    assert "<td>&lt;b&gt;</td>" in page
    assert "EUR &amp; more" in page
    assert page == Report.from_evaluation(found)._repr_html_()
