"""`DirectCostClassifier` decides by probability times amount, with known or estimated amounts."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import norm
from sklearn.datasets import make_classification
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import LinearSVC

from cssvm import CostSensitiveSVC, CostThresholdClassifier, DirectCostClassifier, evaluate
from cssvm._core.sklearn_compat import PlattScaling
from cssvm.metrics import cost_risk_scorer

FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(200, 4, flip_y=0.2, class_sep=0.6, weights=[0.7], random_state=7)
    amounts = np.maximum(2.0 + 2.0 * X[:, 0], 0.1) + np.random.default_rng(7).exponential(1.0, len(y))
    return X, y, amounts


def obvious(X, y, amounts, new, *, target, calibrated, corrected):
    """Fold by fold and row by row: probability of the positive class and estimated amount of new samples."""
    side = 1 if target == 1 else -1
    models, held_out = [], np.zeros(len(y))
    for seen, rest in FOLDS.split(X, y):
        learner = LogisticRegression().fit(X[seen], y[seen])
        if calibrated:
            sigmoid = PlattScaling().fit(learner.decision_function(X[rest]), y[rest])

            def probability(rows, learner=learner, sigmoid=sigmoid):
                p = sigmoid.predict(learner.decision_function(rows))
                return p if target == 1 else 1 - p
        else:

            def probability(rows, learner=learner):
                return expit(side * learner.decision_function(rows))

        models.append(probability)
        for i in rest:
            held_out[i] = probability(X[i : i + 1])[0]
    if calibrated:
        p_new = np.mean([model(new) for model in models], axis=0)
    else:
        p_new = expit(side * LogisticRegression().fit(X, y).decision_function(new))
    found = np.flatnonzero(y == target)
    features = np.column_stack([X, held_out])[found] if corrected else X[found]
    regression = LinearRegression().fit(features, amounts[found])
    return p_new, np.maximum(regression.predict(np.column_stack([new, p_new]) if corrected else new), 0.0)


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("calibrated", [False, True])
@pytest.mark.parametrize("corrected", [False, True])
def test_it_agrees_with_the_obvious_algorithm(data, corrected, calibrated, pos_label):
    X, y, amounts = data
    new = np.random.default_rng(1).normal(scale=3.0, size=(300, 4))
    model = DirectCostClassifier(
        LogisticRegression(),
        LinearRegression(),
        fp_cost=2.0,
        selection_correction=corrected,
        calibration="sigmoid" if calibrated else None,
        cv=FOLDS,
        pos_label=pos_label,
    ).fit(X, y, fn_cost=np.where(y == pos_label, amounts, np.nan))
    p, amount = obvious(X, y, amounts, new, target=pos_label, calibrated=calibrated, corrected=corrected)
    np.testing.assert_allclose(model.predict_proba(new)[:, pos_label], p, rtol=1e-9)
    np.testing.assert_allclose(model.predict_amount(new), amount, rtol=1e-9, atol=1e-9)
    assert (amount == 0).any()  # a straight line goes below zero
    saving = p * amount - (1 - p) * 2.0
    np.testing.assert_array_equal(model.predict(new) == pos_label, saving >= 0)
    side = 1 if pos_label == 1 else -1
    np.testing.assert_allclose(model.decision_function(new), side * saving, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("pos_label", [0, 1])
def test_with_known_amounts_it_decides_as_the_cost_threshold_does(data, pos_label):
    X, y, amounts = data
    model = DirectCostClassifier(LogisticRegression(), LinearRegression(), fp_cost=2.0, pos_label=pos_label)
    same = CostThresholdClassifier(LogisticRegression(), fp_cost=2.0, pos_label=pos_label).fit(X, y)
    model.fit(X, y, fn_cost=amounts)
    for costs in ({"fn_cost": amounts}, {"fn_cost": 3.0}, {"fn_cost": amounts, "fp_cost": amounts[::-1]}):
        np.testing.assert_array_equal(model.predict(X, **costs), same.predict(X, **costs))
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))


def test_known_amounts_replace_estimates_sample_by_sample(data):
    X, y, amounts = data
    model = DirectCostClassifier(LogisticRegression(), LinearRegression(), fp_cost=2.0).fit(X, y, fn_cost=amounts)
    known = np.arange(len(y)) % 2 == 0
    decided = model.predict(X, fn_cost=np.where(known, 10 * amounts, np.nan), fp_cost=3.0)
    np.testing.assert_array_equal(decided[known], model.predict(X, fn_cost=10 * amounts, fp_cost=3.0)[known])
    np.testing.assert_array_equal(decided[~known], model.predict(X, fp_cost=3.0)[~known])


def test_without_amounts_of_samples_the_constructors_holds_for_all(data):
    X, y, _ = data
    model = DirectCostClassifier(LogisticRegression(), LinearRegression(), fn_cost=4.0).fit(X, y)
    np.testing.assert_allclose(model.predict_amount(X), 4.0)
    np.testing.assert_array_equal(
        model.predict(X), CostThresholdClassifier(LogisticRegression(), fn_cost=4.0).fit(X, y).predict(X)
    )


def test_the_correction_finds_amounts_that_depend_on_who_is_likely_to_give():
    """Heckman's model: who gives and how much share a cause that is not seen; E[amount | x, gives] bends with p."""
    rng = np.random.default_rng(0)
    n = 20_000
    X, shared, own = rng.normal(size=(n, 2)), rng.normal(size=n), rng.normal(size=n)
    index = X[:, 0] ** 2 - 1.5
    gives = index + shared > 0
    amount = 30.0 + X[:, 1] + 3.0 * shared + own
    expected = 30.0 + X[:, 1] + 3.0 * norm.pdf(index) / norm.cdf(index)
    errors = {}
    for corrected in (False, True):
        classifier = make_pipeline(PolynomialFeatures(2), LogisticRegression())
        model = DirectCostClassifier(classifier, LinearRegression(), selection_correction=corrected)
        model.fit(X, gives, fn_cost=np.where(gives, amount, np.nan))
        # Those who do not give are where the regressor has not looked.
        errors[corrected] = np.sqrt(np.mean((model.predict_amount(X) - expected)[~gives] ** 2))
    assert errors[True] < 0.5 * errors[False]


@pytest.mark.parametrize(
    ("cv", "held_out"),
    [
        (FOLDS, 1.0),
        (RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0), 1.0),
        (TimeSeriesSplit(4), 0.8),
    ],
    ids=["once", "twice", "in time"],
)
@pytest.mark.parametrize("calibration", [None, "sigmoid"])
def test_the_regressor_learns_from_positive_samples_that_some_fold_holds_out(data, cv, held_out, calibration):
    X, y, amounts = data
    model = DirectCostClassifier(GaussianNB(), KNeighborsRegressor(1), cv=cv, calibration=calibration)
    model.fit(X, y, fn_cost=amounts)
    assert model.amount_estimator_.n_samples_fit_ == np.sum(y[int((1 - held_out) * len(y)) :] == 1)
    assert model.amount_estimator_.n_features_in_ == X.shape[1] + 1


def test_a_frozen_classifier_is_calibrated_and_corrected(data):
    X, y, amounts = data
    frozen = FrozenEstimator(LogisticRegression().fit(X[:100], y[:100]))
    model = DirectCostClassifier(frozen, LinearRegression(), cv=FOLDS).fit(X[100:], y[100:], fn_cost=amounts[100:])
    p = model.predict_proba(X[100:])[:, 1]
    features, targets = np.column_stack([X[100:], p]), y[100:] == 1
    expected = LinearRegression().fit(features[targets], amounts[100:][targets]).predict(features)
    np.testing.assert_allclose(model.predict_amount(X[100:]), expected.clip(0.0), rtol=1e-9)


def test_estimates_of_zero_next_to_zero_fp_costs_are_accepted(data):
    X, y, _ = data
    amounts = np.where(np.arange(len(y)) < 190, 0.0, 1e-3)
    model = DirectCostClassifier(LogisticRegression(), KNeighborsRegressor(1), selection_correction=False)
    model.fit(X, y, fn_cost=amounts)
    assert (model.predict_amount(X) == 0).any()
    np.testing.assert_array_equal(model.predict(X, fp_cost=0.0), model.predict_amount(X) > 0)
    with pytest.warns(UserWarning, match=f"both 0 on {len(y)} of {len(y)} samples"):
        assert np.all(model.predict(X, fn_cost=0.0, fp_cost=0.0) == 0)


@pytest.mark.parametrize("pos_label", [0, 1])
def test_samples_that_are_estimated_to_cost_nothing_are_not_acted_on(data, pos_label):
    X, y, amounts = data
    nothing = DummyRegressor(strategy="constant", constant=0.0)
    model = DirectCostClassifier(GaussianNB(), nothing, calibration=None, pos_label=pos_label)
    model.fit(X, y, fn_cost=amounts)
    assert np.all(model.predict(X, fp_cost=0.0) == 1 - pos_label)


def test_amounts_of_new_samples_are_kept_from_it_by_evaluate_and_scorers(data):
    X, y, amounts = data
    model = DirectCostClassifier(GaussianNB(), LinearRegression(), cv=3)
    fp_cost = np.linspace(1.0, 6.0, len(y))
    # Only samples of the positive class have an amount: were it given to predict, every decision would be right.
    found = evaluate(model, X, y, fn_cost=np.where(y == 1, amounts, 0.0), fp_cost=fp_cost, cv=FOLDS, n_resamples=20)
    unknown = evaluate(
        model, X, y, fn_cost=np.where(y == 1, amounts, np.nan), fp_cost=fp_cost, cv=FOLDS, n_resamples=20
    )
    decided = np.zeros(len(y), int)
    for train, test in FOLDS.split(X, y):
        decided[test] = model.fit(X[train], y[train], fn_cost=amounts[train]).predict(X[test], fp_cost=fp_cost[test])
    np.testing.assert_array_equal(found.decisions["model"], decided == 1)
    np.testing.assert_array_equal(unknown.decisions["model"], decided == 1)
    assert found.model.false_negatives > 0
    scorer = cost_risk_scorer(fn_cost=pd.Series(amounts), fp_cost=pd.Series(fp_cost))
    acted = model.predict(X, fp_cost=fp_cost)
    expected = np.mean(np.where(y == 1, amounts * (acted == 0), fp_cost * (acted == 1)))
    assert scorer(model, X, pd.Series(y)) == pytest.approx(-expected)


@pytest.mark.parametrize(
    ("parameters", "costs", "reason"),
    [
        ({"calibration": "platt"}, {}, "calibration of DirectCostClassifier must be one of"),
        (
            {"estimator": LinearSVC(), "calibration": None},
            {},
            "must have predict_proba with calibration=None; got LinearSVC",
        ),
        (
            {"amount_estimator": LogisticRegression()},
            {},
            "amount_estimator of DirectCostClassifier must be a regressor",
        ),
        ({"amount_estimator": None}, {}, "amount_estimator of DirectCostClassifier must be a regressor; got"),
        (
            {"estimator": CostSensitiveSVC(kernel="precomputed")},
            {},
            "not a kernel matrix; got .* Use its kernel by name",
        ),
        (
            {"fp_cost": np.ones(200)},
            {},
            r"fp_cost of DirectCostClassifier must be a number; .* predict\(X, fp_cost=...\)",
        ),
        (
            {"fn_cost": np.ones(200)},
            {},
            r"fn_cost of DirectCostClassifier must be a number; .* fit\(X, y, fn_cost=...\)",
        ),
        (
            {},
            {"fn_cost": np.full(200, np.nan)},
            "fn_cost must be finite and non-negative on every sample of the positive",
        ),
        ({"cv": KFold(2)}, {}, "positive weight, that a fold holds out; got none"),
    ],
)
def test_invalid_input_is_rejected(data, parameters, costs, reason):
    X, y, _ = data
    model = DirectCostClassifier(LogisticRegression(), LinearRegression(), calibration=None).fit(X, y)
    before = dict(vars(model.set_params(**parameters)))
    if "cv" in parameters:  # samples of the positive class come before all that is held out
        model.set_params(
            cv=[(np.flatnonzero(np.arange(200) < 150), np.flatnonzero((np.arange(200) >= 150) & (y == 0)))]
        )
        before = dict(vars(model))
    with pytest.raises(ValueError, match=reason):
        model.fit(X, y, **costs)
    assert all(vars(model)[name] is before[name] for name in before)


@pytest.mark.parametrize(
    ("costs", "reason"),
    [
        (
            {"fn_cost": np.ones(3)},
            r"fn_cost must be a number or hold one value for each sample of X, shape \(200,\); got shape \(3,\)",
        ),
        ({"fn_cost": -1.0}, "fn_cost must be finite and non-negative"),
        ({"fn_cost": np.inf}, "fn_cost must be finite and non-negative"),
        ({"fp_cost": np.full(200, np.nan)}, "fp_cost must be finite and non-negative on every sample"),
        ({"fp_cost": np.ones((200, 2))}, r"fp_cost must be a number or .* got shape \(200, 2\)"),
    ],
)
def test_unusable_costs_of_new_samples_are_rejected(data, costs, reason):
    X, y, amounts = data
    model = DirectCostClassifier(GaussianNB(), LinearRegression(), calibration=None).fit(X, y, fn_cost=amounts)
    with pytest.raises(ValueError, match=reason):
        model.predict(X, **costs)


def test_estimates_that_are_no_numbers_are_rejected(data):
    class Lost(KNeighborsRegressor):
        def predict(self, X):
            return np.full(len(X), np.nan)

    X, y, amounts = data
    model = DirectCostClassifier(GaussianNB(), Lost(), calibration=None).fit(X, y, fn_cost=amounts)
    with pytest.raises(ValueError, match="predict of Lost, the amount_estimator, must return finite amounts; got nan"):
        model.predict(X)


def test_a_frame_gets_a_named_column_and_no_second_one_of_that_name(data):
    X, y, amounts = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = DirectCostClassifier(GaussianNB(), HistGradientBoostingRegressor(max_iter=5)).fit(frame, y, fn_cost=amounts)
    assert model.amount_estimator_.feature_names_in_.tolist() == ["a", "b", "c", "d", "positive_probability"]
    numbered = DirectCostClassifier(GaussianNB(), HistGradientBoostingRegressor(max_iter=5))
    numbered.fit(pd.DataFrame(X), y, fn_cost=amounts)
    np.testing.assert_array_equal(numbered.predict_amount(pd.DataFrame(X)), model.predict_amount(frame))
    with pytest.raises(ValueError, match="X must have no column 'positive_probability'"):
        model.fit(frame.rename(columns={"a": "positive_probability"}), y, fn_cost=amounts)
