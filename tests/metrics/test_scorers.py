import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, TunedThresholdClassifierCV, cross_validate
from sklearn.svm import LinearSVC

from cssvm import CostSensitiveSVC
from cssvm.metrics import (
    cost_risk,
    cost_risk_scorer,
    expected_cost_at,
    income,
    income_scorer,
    min_cost_risk,
    min_cost_risk_scorer,
    savings_score,
    savings_scorer,
    tn_auc_loss,
    tn_auc_scorer,
    tp_auc_loss,
    tp_auc_scorer,
)

X, Y = make_classification(n_samples=120, n_features=4, weights=[0.7], flip_y=0.2, random_state=0)
AMOUNT = np.random.default_rng(0).integers(1, 50, len(Y)).astype(float)
WEIGHT = np.random.default_rng(1).integers(1, 4, len(Y)).astype(float)
MODEL = LogisticRegression().fit(X, Y)
PRED, SCORE = MODEL.predict(X), MODEL.decision_function(X)
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)

SCORERS = {
    "cost_risk": (cost_risk_scorer, {"fn_cost": 5.0}, lambda **k: -cost_risk(Y, PRED, **k)),
    "min_cost_risk": (min_cost_risk_scorer, {"fn_cost": 5.0}, lambda **k: -min_cost_risk(Y, SCORE, **k).risk),
    "tp_auc": (tp_auc_scorer, {"t": 0.5}, lambda **k: -tp_auc_loss(Y, SCORE, **k)),
    "tn_auc": (tn_auc_scorer, {"t": 0.5}, lambda **k: -tn_auc_loss(Y, SCORE, **k)),
    "income": (income_scorer, {"tp_cost": -5, "fp_cost": 1}, lambda **k: income(Y, PRED, **k)),
    "savings": (savings_scorer, {"fn_cost": 5.0}, lambda **k: savings_score(Y, PRED, **k)),
}
every_scorer = pytest.mark.parametrize(("make", "kwargs", "value"), SCORERS.values(), ids=SCORERS)
on_and_off = pytest.mark.parametrize("routing", [True, False])


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@every_scorer
@on_and_off
def test_a_scorer_is_its_metric_with_greater_being_better(make, kwargs, value, routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        assert make(**kwargs)(MODEL, X, Y) == value(**kwargs)
        assert make(**kwargs)(MODEL, X, Y, sample_weight=WEIGHT) == value(**kwargs, sample_weight=WEIGHT)


@every_scorer
def test_a_scorer_survives_pickling_and_cloning_and_has_a_name(make, kwargs, value):
    scorer = make(**kwargs)
    assert pickle.loads(pickle.dumps(scorer))(MODEL, X, Y) == value(**kwargs)
    search = clone(GridSearchCV(MODEL, {"C": [1.0]}, scoring=scorer, cv=3))
    assert search.scoring(MODEL, X, Y) == value(**kwargs)
    assert "make_scorer(" in repr(scorer)


@every_scorer
def test_an_argument_the_metric_does_not_have_is_rejected_at_once(make, kwargs, value):
    with pytest.raises(TypeError, match="unexpected keyword argument 'cost'"):
        make(**kwargs, cost=3)


@pytest.mark.parametrize("make", [min_cost_risk_scorer, tp_auc_scorer, tn_auc_scorer])
@pytest.mark.parametrize("model", [LinearSVC(), LogisticRegression()], ids=["decision_function", "predict_proba"])
def test_scores_are_oriented_to_the_positive_class(make, model):
    # The same model with the classes swapped: +1 becomes classes_[0].
    labels = np.where(Y == 1, "bad", "good")
    assert sorted(set(labels)) == ["bad", "good"]
    named = clone(model).fit(X, labels)
    assert named.classes_[0] == "bad"
    numbered = clone(model).fit(X, Y)
    assert make(pos_label="bad")(named, X, labels) == pytest.approx(make()(numbered, X, Y), rel=1e-6)


def test_a_pos_label_that_is_not_a_label_is_rejected():
    labels = np.where(Y == 1, "bad", "good")
    model = LogisticRegression().fit(X, labels)
    with pytest.raises(ValueError, match="pos_label=1"):
        cost_risk_scorer(pos_label=1)(model, X, labels)


def fold_scores(metric, model=MODEL):
    """metric(test rows, fitted model) for each fold, by hand."""
    return [metric(test, clone(model).fit(X[train], Y[train])) for train, test in FOLDS.split(X, Y)]


@on_and_off
@pytest.mark.parametrize("index", [None, "shuffled"])
def test_a_series_of_costs_reaches_the_samples_of_each_fold(routing, index):
    rows = np.arange(len(Y)) if index is None else np.random.default_rng(3).permutation(len(Y)) + 1000
    y, amount = pd.Series(Y, index=rows), pd.Series(AMOUNT, index=rows)
    with sklearn.config_context(enable_metadata_routing=routing):
        found = cross_validate(MODEL, X, y, cv=FOLDS, scoring=cost_risk_scorer(fn_cost=amount, fp_cost=3.0))
    expected = fold_scores(
        lambda test, model: -cost_risk(Y[test], model.predict(X[test]), fn_cost=AMOUNT[test], fp_cost=3.0)
    )
    np.testing.assert_array_equal(found["test_score"], expected)


def test_grid_search_with_a_series_of_costs_needs_no_routing():
    y, amount = pd.Series(Y), pd.Series(AMOUNT)
    scoring = {
        "risk": cost_risk_scorer(fn_cost=amount),
        "least": min_cost_risk_scorer(fn_cost=amount),
        "money": income_scorer(tp_cost=-amount, fp_cost=2.0),
        "saved": savings_scorer(fn_cost=amount),
    }
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=FOLDS, scoring=scoring, refit="risk").fit(X, y)
    chosen = LogisticRegression(C=1.0)

    def mean(metric):
        return np.mean(fold_scores(metric, chosen))

    found = {name: search.cv_results_[f"mean_test_{name}"][1] for name in scoring}
    assert found == pytest.approx(
        {
            "risk": mean(lambda i, m: -cost_risk(Y[i], m.predict(X[i]), fn_cost=AMOUNT[i])),
            "least": mean(lambda i, m: -min_cost_risk(Y[i], m.decision_function(X[i]), fn_cost=AMOUNT[i]).risk),
            "money": mean(lambda i, m: income(Y[i], m.predict(X[i]), tp_cost=-AMOUNT[i], fp_cost=2.0)),
            "saved": mean(lambda i, m: savings_score(Y[i], m.predict(X[i]), fn_cost=AMOUNT[i])),
        },
        rel=1e-12,
    )


@pytest.mark.parametrize("make", [cost_risk_scorer, savings_scorer, min_cost_risk_scorer])
def test_routed_costs_and_weights_reach_each_fold(make):
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(
            LogisticRegression().set_fit_request(sample_weight=False),
            X,
            Y,
            cv=FOLDS,
            scoring=make(),
            params={"fn_cost": AMOUNT, "fp_cost": 2 * AMOUNT, "sample_weight": WEIGHT},
        )
    metric = {
        cost_risk_scorer: lambda i, m, **k: -cost_risk(Y[i], m.predict(X[i]), **k),
        savings_scorer: lambda i, m, **k: savings_score(Y[i], m.predict(X[i]), **k),
        min_cost_risk_scorer: lambda i, m, **k: -min_cost_risk(Y[i], m.decision_function(X[i]), **k).risk,
    }[make]
    expected = fold_scores(lambda i, m: metric(i, m, fn_cost=AMOUNT[i], fp_cost=2 * AMOUNT[i], sample_weight=WEIGHT[i]))
    np.testing.assert_array_equal(found["test_score"], expected)


def test_routed_costs_of_income_reach_each_fold():
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(MODEL, X, Y, cv=FOLDS, scoring=income_scorer(fp_cost=1.0), params={"tp_cost": -AMOUNT})
    expected = fold_scores(lambda i, m: income(Y[i], m.predict(X[i]), tp_cost=-AMOUNT[i], fp_cost=1.0))
    np.testing.assert_array_equal(found["test_score"], expected)


def test_a_routed_cost_comes_before_the_scorers_own():
    # Warnings are errors here: an overlap must not warn either.
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_validate(
            MODEL, X, Y, cv=FOLDS, scoring=cost_risk_scorer(fn_cost=7.0, fp_cost=2.0), params={"fn_cost": AMOUNT}
        )
    expected = fold_scores(lambda i, m: -cost_risk(Y[i], m.predict(X[i]), fn_cost=AMOUNT[i], fp_cost=2.0))
    np.testing.assert_array_equal(routed["test_score"], expected)


def test_a_scorer_made_before_routing_was_enabled_requests_as_well():
    scorer = cost_risk_scorer()
    with sklearn.config_context(enable_metadata_routing=True):
        found = GridSearchCV(MODEL, {"C": [1.0]}, cv=FOLDS, scoring=scorer).fit(X, Y, fn_cost=AMOUNT)
        expected = fold_scores(lambda i, m: -cost_risk(Y[i], m.predict(X[i]), fn_cost=AMOUNT[i]))
    assert found.best_score_ == pytest.approx(np.mean(expected), rel=1e-12)


def test_one_array_of_costs_trains_and_scores_our_estimators():
    with sklearn.config_context(enable_metadata_routing=True):
        model = CostSensitiveSVC(kernel="linear").set_fit_request(fn_cost=True)
        found = cross_validate(model, X, Y, cv=FOLDS, scoring=cost_risk_scorer(), params={"fn_cost": AMOUNT})
    expected = [
        -cost_risk(
            Y[test],
            CostSensitiveSVC(kernel="linear").fit(X[train], Y[train], fn_cost=AMOUNT[train]).predict(X[test]),
            fn_cost=AMOUNT[test],
        )
        for train, test in FOLDS.split(X, Y)
    ]
    np.testing.assert_array_equal(found["test_score"], expected)


@pytest.mark.parametrize("pos_label", [1, 0])
def test_the_tuned_threshold_is_the_cheapest_of_those_tried(pos_label):
    tuned = TunedThresholdClassifierCV(
        MODEL,
        scoring=cost_risk_scorer(fn_cost=5.0, pos_label=pos_label),
        response_method="predict_proba",
        cv="prefit",
        refit=False,
        store_cv_results=True,
    ).fit(X, Y)
    tried = tuned.cv_results_["thresholds"]
    column = MODEL.predict_proba(X)[:, pos_label]
    risks = expected_cost_at(Y, column, tried, fn_cost=5.0, pos_label=pos_label)
    assert -tuned.best_score_ == pytest.approx(risks.min(), rel=1e-12)
    chosen = cost_risk(Y, tuned.predict(X), fn_cost=5.0, pos_label=pos_label)
    assert chosen == pytest.approx(risks.min(), rel=1e-12)


def test_the_tuned_threshold_uses_routed_costs():
    with sklearn.config_context(enable_metadata_routing=True):
        tuned = TunedThresholdClassifierCV(
            LogisticRegression(), scoring=cost_risk_scorer(), response_method="predict_proba", cv=3
        )
        cheap = clone(tuned).fit(X, Y, fn_cost=np.ones(len(Y)))
        expensive = clone(tuned).fit(X, Y, fn_cost=np.full(len(Y), 50.0))
    assert expensive.best_threshold_ < cheap.best_threshold_


def test_the_tuned_threshold_uses_a_series_of_costs():
    y, amount = pd.Series(Y, index=np.arange(len(Y)) + 7), pd.Series(AMOUNT, index=np.arange(len(Y)) + 7)
    tuned = TunedThresholdClassifierCV(
        LogisticRegression(), scoring=cost_risk_scorer(fn_cost=amount), response_method="predict_proba", cv=3
    )
    by_series = clone(tuned).fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(tuned).set_params(scoring=cost_risk_scorer()).fit(X, Y, fn_cost=AMOUNT)
    assert by_series.best_threshold_ == routed.best_threshold_
