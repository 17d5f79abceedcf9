"""Sample costs stay aligned with their samples: in fit, predict, scorers and folds."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from cssvm import BoundaryMovementSVC, CostSensitiveSVC, CostSensitiveSVCCV, CostThresholdClassifier, evaluate
from cssvm.metrics import cost_risk, cost_risk_scorer, income_scorer, min_cost_risk
from tests.workflows.german import AMOUNT, preparation, raw

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
SMALL = {"Cs": [1.0], "gammas": [0.05]}


@pytest.fixture(scope="module")
def credit(real):
    """Numbers of the applicants, whether they are bad, and the amounts, all with the index of the table."""
    X, y = raw(real, gaps=False)
    numbers = X.select_dtypes("number")
    return numbers, (y == 2).astype(int), (X.iloc[:, AMOUNT] / 1000).rename("amount")


def decided_by_amount(X, y, amount, fp_cost=1.0):
    """Cost of each fold, with the amounts given to `predict` by hand."""
    costs = []
    for train, test in FOLDS.split(X, y):
        model = CostThresholdClassifier(make_pipeline(StandardScaler(), LogisticRegression()), fp_cost=fp_cost, cv=3)
        model.fit(X.iloc[train], y.iloc[train])
        decided = model.predict(X.iloc[test], fn_cost=amount.iloc[test])
        costs.append(cost_risk(y.iloc[test], decided, fn_cost=amount.iloc[test], fp_cost=fp_cost))
    return np.array(costs)


def decider(routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        inner = make_pipeline(StandardScaler(), LogisticRegression())
        model = CostThresholdClassifier(inner, fp_cost=1.0, cv=3)
        return model.set_fit_request(fn_cost=False).set_predict_request(fn_cost=True) if routing else model


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("around", ["alone", "pipeline"])
def test_costs_of_rows_reach_predict_in_cross_validation(credit, routing, around):
    X, y, amount = credit
    with sklearn.config_context(enable_metadata_routing=routing):
        model = decider(routing)
        if around == "pipeline":
            model = make_pipeline("passthrough", model)
        scorer = cost_risk_scorer(fp_cost=1.0) if routing else cost_risk_scorer(fn_cost=amount, fp_cost=1.0)
        params = {"params": {"fn_cost": amount}} if routing else {}
        found = -cross_val_score(model, X, y, scoring=scorer, cv=FOLDS, **params)
        np.testing.assert_allclose(found, decided_by_amount(X, y, amount))
        blind = -cross_val_score(
            CostThresholdClassifier(make_pipeline(StandardScaler(), LogisticRegression()), method="tuned", cv=3),
            X,
            y,
            scoring=cost_risk_scorer(fn_cost=amount, fp_cost=1.0),
            cv=FOLDS,
        )
        assert found.mean() < blind.mean()


@pytest.mark.parametrize("routing", [False, True])
def test_costs_of_rows_reach_predict_in_a_grid_search(credit, routing):
    X, y, amount = credit
    with sklearn.config_context(enable_metadata_routing=routing):
        scorer = cost_risk_scorer(fp_cost=1.0) if routing else cost_risk_scorer(fn_cost=amount, fp_cost=1.0)
        search = GridSearchCV(decider(routing), {"fp_cost": [1.0]}, scoring=scorer, cv=FOLDS)
        search.fit(X, y, **({"fn_cost": amount} if routing else {}))
    assert search.best_score_ == pytest.approx(-decided_by_amount(X, y, amount).mean())


def test_income_hands_predict_the_differences_that_decide(credit):
    X, y, amount = credit
    scorer = income_scorer(
        tp_cost=1.0 - amount, fp_cost=1.0
    )  # acting on a bad applicant saves the amount, at a cost of 1 each
    found = cross_val_score(decider(False), X, y, scoring=scorer, cv=FOLDS)
    expected = []
    for train, test in FOLDS.split(X, y):
        model = decider(False).fit(X.iloc[train], y.iloc[train])
        acted = model.predict(X.iloc[test], fn_cost=np.maximum(amount.iloc[test] - 1.0, 0.0)) == 1
        expected.append((np.where(y.iloc[test] == 1, amount.iloc[test], 0.0) - 1.0)[acted].sum())
    np.testing.assert_allclose(found, expected)


def test_evaluate_hands_costs_to_fit_predict_and_the_sum(credit):
    X, y, amount = credit
    found = evaluate(decider(False), X, y, fn_cost=amount, fp_cost=1.0, cv=FOLDS, n_resamples=20)
    assert found.model.total == pytest.approx(
        sum(
            cost * len(test) for cost, (_, test) in zip(decided_by_amount(X, y, amount), FOLDS.split(X, y), strict=True)
        )
    )


MODELS = {
    "CostSensitiveSVC": lambda: CostSensitiveSVC(fp_cost=1.0),
    "BoundaryMovementSVC": lambda: BoundaryMovementSVC(fp_cost=1.0, cv=3),
    "tuned": lambda: CostThresholdClassifier(LogisticRegression(), method="tuned", cv=3),
    "search": lambda: CostSensitiveSVCCV(**SMALL, fp_cost=1.0, cv=3),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("with_index", ["X and y", "X", "y"])
def test_a_series_is_matched_to_the_rows_by_index(credit, name, with_index):
    X, y, amount = credit
    X = pd.DataFrame(StandardScaler().fit_transform(X), index=X.index)
    rows = X if "X" in with_index else X.to_numpy()
    labels = y if "y" in with_index else y.to_numpy()
    shuffled = amount.sample(frac=1.0, random_state=1)
    right = MODELS[name]().fit(X.to_numpy(), y.to_numpy(), fn_cost=amount.to_numpy(), sample_weight=amount.to_numpy())
    found = MODELS[name]().fit(rows, labels, fn_cost=shuffled, sample_weight=shuffled)
    scores = [
        each.decision_function(X if hasattr(each, "feature_names_in_") else X.to_numpy()) for each in (right, found)
    ]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_a_series_that_does_not_match_is_rejected(credit, name):
    X, y, amount = credit
    with pytest.raises(ValueError, match=r"fn_cost must have exactly one value for each label.*to_numpy"):
        MODELS[name]().fit(X, y, fn_cost=amount.reset_index(drop=True) + 1.0)
    with pytest.raises(ValueError, match="X and y have different indexes"):
        MODELS[name]().fit(X.reset_index(drop=True), y, fn_cost=amount)


def test_predict_matches_a_series_by_index(credit):
    X, y, amount = credit
    model = decider(False).fit(X, y)
    expected = model.predict(X, fn_cost=amount.to_numpy())
    np.testing.assert_array_equal(model.predict(X, fn_cost=amount.sample(frac=1.0, random_state=1)), expected)
    np.testing.assert_array_equal(model.predict(X, fn_cost=pl.Series(amount.to_numpy())), expected)
    search = CostSensitiveSVCCV(**SMALL, decision="bayes", transformer=StandardScaler()).fit(X, y)
    expected = search.predict(X, fn_cost=amount.to_numpy())
    np.testing.assert_array_equal(search.predict(X, fn_cost=amount.sample(frac=1.0, random_state=1)), expected)
    with pytest.raises(ValueError, match="exactly one value for each label"):
        model.predict(X, fn_cost=amount.iloc[:-1])


def test_weights_reach_the_last_step_of_a_pipeline_without_a_warning(credit, recwarn):
    X, y, amount = credit
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    weighted = CostThresholdClassifier(inner, cv=3).fit(X, y, sample_weight=amount)
    assert not [str(w.message) for w in recwarn]
    scaled = StandardScaler().fit_transform(X)  # pipelines fit it in each fold, which changes little
    plain = CostThresholdClassifier(LogisticRegression(), cv=3).fit(scaled, y, sample_weight=amount)
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(scaled), atol=0.02)
    unweighted = CostThresholdClassifier(inner, cv=3).fit(X, y)
    assert np.abs(weighted.predict_proba(X) - unweighted.predict_proba(X)).max() > 0.02


def test_raw_frames_reach_the_transformer_of_each_fold(real):
    X, y = raw(real)
    search = CostSensitiveSVCCV(Cs=[0.1, 1.0], gammas=[0.02], fn_cost=5.0, pos_label=2, transformer=preparation(X)).fit(
        X, y
    )
    by_hand = GridSearchCV(
        make_pipeline(preparation(X), CostSensitiveSVC(gamma=0.02, fn_cost=5.0, pos_label=2)),
        {"costsensitivesvc__C": [0.1, 1.0]},
        scoring=cost_risk_scorer(fn_cost=5.0, pos_label=2),
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    ).fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], by_hand.cv_results_["mean_test_score"], atol=2 / len(y)
    )
    assert list(search.feature_names_in_) == list(X.columns)
    assert np.mean(search.predict(X) == by_hand.predict(X)) > 0.98
    with pytest.raises(
        ValueError, match="transformer must turn X into finite numbers; the output of FunctionTransformer is invalid"
    ):
        CostSensitiveSVCCV(**SMALL, transformer=FunctionTransformer()).fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        search.predict(X.rename(columns={"status": "state"}))


SHUFFLED = pd.Series([1.0, 10.0, 100.0, 1000.0], index=[3, 1, 0, 2])
NUMBERS = np.array([[0.0], [1.0], [2.0], [3.0]])
UNINDEXED = {
    "fit": lambda rows, cost: CostSensitiveSVC().fit(rows(NUMBERS), [0, 1, 0, 1], fn_cost=cost),
    "search": lambda rows, cost: CostSensitiveSVCCV(**SMALL, cv=2).fit(rows(NUMBERS), [0, 1, 0, 1], fn_cost=cost),
    "weights": lambda rows, cost: CostSensitiveSVC().fit(rows(NUMBERS), [0, 1, 0, 1], sample_weight=cost),
    "evaluate": lambda rows, cost: evaluate(
        LogisticRegression(), rows(NUMBERS), [0, 1, 0, 1], fn_cost=cost, cv=2, n_resamples=5
    ),
    "metric": lambda rows, cost: cost_risk(rows([0, 1, 0, 1]), [0, 0, 0, 0], fn_cost=cost),
    "decisions": lambda rows, cost: cost_risk(rows([0, 1, 0, 1]), cost > 50.0),
}


@pytest.mark.parametrize("rows", [np.asarray, pl.DataFrame], ids=["numpy", "polars"])
@pytest.mark.parametrize("name", UNINDEXED)
def test_a_series_in_an_order_of_its_own_is_not_taken_by_position(name, rows):
    rows = pl.Series if rows is pl.DataFrame and name in ("metric", "decisions") else rows
    with pytest.raises(ValueError, match=r"is a pandas Series with labels such as 3, .*Pass \w+\.to_numpy\(\)"):
        UNINDEXED[name](rows, SHUFFLED)
    UNINDEXED[name](rows, SHUFFLED.to_numpy())
    UNINDEXED[name](rows, SHUFFLED.reset_index(drop=True))


def test_decisions_and_scores_in_another_order_are_matched_by_index():
    y = pd.Series([1, 0, 1, 0], index=list("abcd"))
    decided = pd.Series([0, 0, 1, 1], index=list("dbca"))  # all right, row by row
    assert cost_risk(y, decided) == 0.0
    assert cost_risk(y, decided.to_numpy()) == 0.5
    scores = pd.Series([0.1, 0.2, 0.9, 0.8], index=list("dbca"))
    assert min_cost_risk(y, scores).risk == 0.0


def test_samples_of_weight_zero_do_not_reach_the_transformer_of_the_final_model():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(60, 3)), np.tile([0, 1], 30), np.repeat([0.0, 1.0], [20, 40])
    X[:, 0] += y
    X[:20] *= 1000.0
    search = CostSensitiveSVCCV(**SMALL, fn_cost=3.0, cv=2, transformer=StandardScaler())
    weighted = search.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(weighted.transformer_.mean_, X[20:].mean(axis=0))
    np.testing.assert_allclose(weighted.transformer_.scale_, X[20:].std(axis=0))
