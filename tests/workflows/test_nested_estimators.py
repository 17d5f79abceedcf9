"""The positive class and the costs reach nested estimators at any depth."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from cssvm import CostSensitiveSVC, CostSensitiveSVCCV, CostThresholdClassifier, evaluate
from cssvm._evaluation.metadata_routing import for_fit
from cssvm.metrics import cost_risk_scorer, income_scorer, min_cost_risk_scorer

X, Y = make_classification(150, 5, weights=[0.3], flip_y=0.15, random_state=1)
AMOUNT = np.random.default_rng(0).lognormal(3, 1, 150)
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
COSTS = {"fn_cost": 10.0, "fp_cost": 1.0}
QUICK = {"cv": FOLDS, "n_resamples": 5}


def svc(**given):
    return CostSensitiveSVC(gamma=0.2, **given)


def cost(y, decided, target, fn_cost=10.0, fp_cost=1.0):
    """What decisions cost per row, counted by hand."""
    return np.mean(np.where(y == target, fn_cost, fp_cost) * (decided != y))


def by_hand(target, y=Y):
    """Cost per held-out sample of models that are trained with the costs, for this positive class."""
    decided = np.empty_like(y)
    for train, test in FOLDS.split(X, y):
        decided[test] = svc(pos_label=target, **COSTS).fit(X[train], y[train]).predict(X[test])
    return cost(y, decided, target)


NESTED = {
    "alone": lambda inner: inner,
    "pipeline": lambda inner: make_pipeline("passthrough", inner),
    "pipeline in a pipeline": lambda inner: make_pipeline(make_pipeline("passthrough", inner)),
    "search": lambda inner: GridSearchCV(inner, {"C": ["scale"]}, cv=2),
    "search in a pipeline": lambda inner: make_pipeline("passthrough", GridSearchCV(inner, {"C": ["scale"]}, cv=2)),
    "pipeline in a search": lambda inner: GridSearchCV(make_pipeline(inner), {"costsensitivesvc__C": ["scale"]}, cv=2),
}


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("around", NESTED)
def test_evaluate_passes_pos_label_and_costs_to_nested_estimators(around, routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        model = NESTED[around](svc())
        found = evaluate(model, X, Y, pos_label=0, compare=[svc(pos_label=0)], **COSTS, **QUICK)
        assert found.model.cost.value == pytest.approx(by_hand(0))
        assert found["CostSensitiveSVC"].cost.value == pytest.approx(by_hand(0))
        stated = evaluate(NESTED[around](svc(pos_label=0)), X, Y, compare=[svc()], **COSTS, **QUICK)
        assert stated.model.cost.value == pytest.approx(by_hand(0))
        assert stated["CostSensitiveSVC"].cost.value == pytest.approx(by_hand(0))
        weighted = evaluate(model, X, Y, pos_label=0, sample_weight=np.ones(150), **COSTS, **QUICK)
        assert weighted.model.cost.value == pytest.approx(by_hand(0))
        if around != "alone":
            assert NESTED[around](svc(**COSTS)).fit(X, Y).predict(X).shape == (150,)
            own = evaluate(NESTED[around](svc(pos_label=0, **COSTS)), X, Y, **QUICK)
            assert own.model.cost.value == pytest.approx(by_hand(0))


def test_pos_label_of_evaluate_is_passed_to_the_model():
    words = np.where(Y == 0, "die", "live")
    found = evaluate(svc(), X, words, pos_label="die", **COSTS, **QUICK)
    assert found.model.cost.value == pytest.approx(by_hand(0))


@pytest.mark.parametrize("cv", [FOLDS, "prefit"])
def test_two_different_positive_classes_are_rejected(cv):
    model, other = svc(pos_label=1).fit(X, Y), svc(pos_label=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"of CostSensitiveSVC is 1, as its pos_label=1, but .* 0\. Pass pos_label=1"):
        evaluate(model, X, Y, pos_label=0, cv=cv, n_resamples=5)
    with pytest.raises(ValueError, match="positive class of CostSensitiveSVC is 0"):
        evaluate(model, X, Y, compare=[other], cv=cv, n_resamples=5)


def test_a_fitted_model_is_not_evaluated_for_another_positive_class():
    with pytest.raises(ValueError, match="of CostSensitiveSVC is 1, as its pos_label=None"):
        evaluate(svc().fit(X, Y), X, Y, pos_label=0, cv="prefit", n_resamples=5)


@pytest.mark.parametrize("routing", [False, True])
def test_costs_that_cannot_reach_a_classifier_are_rejected(routing):
    model = BaggingClassifier(svc(), n_estimators=2, random_state=0)
    with sklearn.config_context(enable_metadata_routing=routing):
        if routing:
            trained = evaluate(model, X, Y, pos_label=0, **COSTS, **QUICK)
            same = BaggingClassifier(svc(pos_label=0, **COSTS), n_estimators=2, random_state=0)
            assert trained.model.cost == evaluate(same, X, Y, **QUICK).model.cost
        else:
            with pytest.raises(ValueError, match="fn_cost passed to evaluate does not reach CostSensitiveSVC inside"):
                evaluate(model, X, Y, pos_label=0, **COSTS, **QUICK)


def test_own_metadata_requests_are_kept():
    with sklearn.config_context(enable_metadata_routing=True):
        refusing = svc(pos_label=0).set_fit_request(fn_cost=False, fp_cost=False)
        found = evaluate(refusing, X, Y, **COSTS, **QUICK)
    decided = np.empty_like(Y)
    for train, test in FOLDS.split(X, Y):
        decided[test] = svc().fit(X[train], Y[train]).predict(X[test])
    assert found.model.cost.value == pytest.approx(cost(Y, decided, 0))


AROUND_FITTED = NESTED | {
    "calibration": lambda inner: CalibratedClassifierCV(inner, cv=2),
    "frozen": lambda inner: FrozenEstimator(inner.fit(X, Y)),
    "bagging": lambda inner: BaggingClassifier(inner, n_estimators=2, random_state=0),
    "vote": lambda inner: VotingClassifier([("only", inner)]),
}


@pytest.mark.parametrize("around", AROUND_FITTED)
def test_scorers_use_the_positive_class_of_nested_estimators(around):
    model = AROUND_FITTED[around](svc(pos_label=0, **COSTS)).fit(X, Y)
    decided = model.predict(X)
    assert cost_risk_scorer(**COSTS)(model, X, Y) == pytest.approx(-cost(Y, decided, 0))
    if around != "vote":
        named = min_cost_risk_scorer(**COSTS, pos_label=0)
        assert min_cost_risk_scorer(**COSTS)(model, X, Y) == named(model, X, Y)


def test_a_classifier_with_costs_speaks_for_the_one_inside():
    model = CostThresholdClassifier(svc(pos_label=0), fn_cost=10.0).fit(X, Y)
    assert cost_risk_scorer(**COSTS)(model, X, Y) == pytest.approx(-cost(Y, model.predict(X), 1))


@pytest.mark.parametrize("y", [Y, np.where(Y == 0, "bad", "good")], ids=["numbers", "words"])
def test_a_scorer_in_a_search_uses_the_positive_class_of_the_search(y):
    target = y[Y == 0][0]
    given = {"Cs": [0.01, 0.1, 1.0, 10.0], "gammas": [0.03, 0.3], "fn_cost": 10.0, "pos_label": target, "cv": FOLDS}
    by_name = CostSensitiveSVCCV(**given).fit(X, y)
    by_scorer = CostSensitiveSVCCV(**given, scoring=cost_risk_scorer(**COSTS)).fit(X, y)
    assert by_scorer.best_params_ == by_name.best_params_
    assert by_scorer.best_score_ == pytest.approx(by_name.best_score_)
    decided = np.empty_like(y)
    for train, test in FOLDS.split(X, y):
        best = CostSensitiveSVC(**by_name.best_params_, pos_label=target).fit(X[train], y[train])
        decided[test] = best.predict(X[test])
    assert by_scorer.best_score_ == pytest.approx(-cost(y, decided, target))


def cost_of_bayes(fp_cost=40.0):
    """Cost per row, averaged over folds, of acting where p amount >= (1 - p) fp_cost."""
    costs = []
    for train, test in FOLDS.split(X, Y):
        p = CostThresholdClassifier(LogisticRegression()).fit(X[train], Y[train]).predict_proba(X[test])[:, 1]
        decided = (p * AMOUNT[test] >= (1 - p) * fp_cost).astype(int)
        costs.append(cost(Y[test], decided, 1, AMOUNT[test], fp_cost))
    return np.mean(costs)


FRAME, LABELS, SERIES = pd.DataFrame(X, columns=list("abcde")), pd.Series(Y), pd.Series(AMOUNT)


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("around", ["alone", "pipeline", "search in a pipeline"])
def test_scorers_pass_their_costs_to_predict(around, routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        inner = CostThresholdClassifier(LogisticRegression())
        if around == "search in a pipeline":
            model = make_pipeline("passthrough", GridSearchCV(inner, {"fp_cost": [1.0]}, cv=2))
        else:
            model = NESTED[around](inner)
        scorer = cost_risk_scorer(fn_cost=SERIES, fp_cost=40.0)
        found = -cross_val_score(model, FRAME, LABELS, cv=FOLDS, scoring=scorer, error_score="raise").mean()
    assert found == pytest.approx(cost_of_bayes())


def test_an_income_decides_by_all_the_costs_it_counts():
    found = cross_val_score(
        CostThresholdClassifier(LogisticRegression()),
        FRAME,
        LABELS,
        cv=FOLDS,
        scoring=income_scorer(tp_cost=-SERIES, fp_cost=15.0),
    )
    for score, (train, test) in zip(found, FOLDS.split(X, Y), strict=True):
        p = CostThresholdClassifier(LogisticRegression()).fit(X[train], Y[train]).predict_proba(X[test])[:, 1]
        acted = p * AMOUNT[test] >= (1 - p) * 15.0
        assert score == pytest.approx(np.sum(np.where(Y[test] == 1, AMOUNT[test], -15.0)[acted]))


def test_routed_costs_reach_predict_without_a_request():
    with sklearn.config_context(enable_metadata_routing=True):
        model = CostThresholdClassifier(LogisticRegression(), fp_cost=40.0).set_fit_request(fn_cost=False)
        given = {"cv": FOLDS, "scoring": cost_risk_scorer(fp_cost=40.0), "params": {"fn_cost": AMOUNT}}
        assert -cross_val_score(model, X, Y, **given).mean() == pytest.approx(cost_of_bayes())
        refusing = model.set_predict_request(fn_cost=False)
        assert -cross_val_score(refusing, X, Y, **given).mean() > cost_of_bayes() + 0.1


def test_a_regressor_is_not_compared():
    with pytest.raises(ValueError, match=r"LinearRegression must predict one of the classes \[0, 1\]; it predicted"):
        evaluate(svc(), X, Y, compare=[LinearRegression()], **COSTS, **QUICK)


@pytest.mark.parametrize("around", ["alone", "pipeline"])
def test_a_fold_of_one_class_is_scored_with_the_classes_of_the_model(around):
    order = np.argsort(Y, kind="stable")
    given = {"cv": KFold(5), "scoring": cost_risk_scorer(fn_cost=10.0)}
    zeros, ones = (
        cross_val_score(NESTED[around](svc(fn_cost=10.0)), X[order], (Y + shift)[order], **given) for shift in (0, 1)
    )
    by_fold = [
        -cost(Y[order][test], svc(fn_cost=10.0).fit(X[order][train], Y[order][train]).predict(X[order][test]), 1)
        for train, test in KFold(5).split(X)
    ]
    np.testing.assert_allclose(zeros, by_fold)
    np.testing.assert_allclose(ones, by_fold)


@pytest.mark.parametrize("estimators", [[LogisticRegression()], 3, "two"], ids=repr)
def test_members_of_an_ensemble_need_no_names(estimators):
    """As those of ensembles outside scikit-learn, whose parameter may be anything."""

    class Ensemble(LogisticRegression):
        def __init__(self, estimators=None):
            super().__init__()
            self.estimators = estimators

    weights = np.ones(len(Y))
    with sklearn.config_context(enable_metadata_routing=True):
        assert for_fit(Ensemble(estimators), {"sample_weight": weights}) == {"sample_weight": weights}
