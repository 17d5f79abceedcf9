"""Currency, labels and containers do not affect decisions and costs."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.svm import SVC

from cssvm import (
    BiasedPenaltySVC,
    BoundaryMovementSVC,
    CostSensitiveLinearSVC,
    CostSensitiveSVC,
    CostSensitiveSVCCV,
)
from cssvm.metrics import cost_risk
from tests.workflows.german import prepared

LABELS = {
    "as they come": (lambda y: y, None),
    "words": (lambda y: np.where(y == 2, "bad", "good"), "bad"),
    "0 and 1": (lambda y: (y == 2).astype(int), None),
}
CONTAINERS = {
    "array": (np.asarray, np.asarray, np.asarray),
    "pandas": (
        lambda X: pd.DataFrame(X, index=INDEX).rename(columns=str),
        lambda y: pd.Series(y, index=INDEX),
        lambda cost: pd.Series(cost, index=INDEX).sample(frac=1.0, random_state=0),
    ),
    "polars": (lambda X: pl.DataFrame(X), pl.Series, pl.Series),
}
INDEX = np.random.default_rng(0).permutation(400) + 1000
MODELS = {
    "CostSensitiveSVC": lambda **settings: CostSensitiveSVC(**settings),
    "CostSensitiveLinearSVC": lambda **settings: CostSensitiveLinearSVC(**settings),
    "BiasedPenaltySVC": lambda **settings: BiasedPenaltySVC(**settings),
    "BoundaryMovementSVC": lambda **settings: BoundaryMovementSVC(cv=3, **settings),
    "search": lambda **settings: CostSensitiveSVCCV(Cs=3, gammas=3, cv=3, **settings),
}


@pytest.mark.parametrize("name", MODELS)
def test_german_credit_is_the_same_problem_whatever_it_is_written_in(real, name):
    X, y = prepared(real)
    amounts = np.random.default_rng(1).integers(1, 10, len(y)).astype(float)
    decided, costs = [], []
    for relabel, pos_label in LABELS.values():
        for of_X, of_y, of_costs in CONTAINERS.values():
            for unit in (1.0, 100.0):
                labels = relabel(y)
                model = MODELS[name](fp_cost=unit, pos_label=pos_label)
                model.fit(of_X(X), of_y(labels), fn_cost=of_costs(unit * amounts))
                found = model.predict(of_X(X))
                decided.append(found == (pos_label or np.max(labels)))
                risk = cost_risk(
                    of_y(labels), found, fn_cost=of_costs(unit * amounts), fp_cost=unit, pos_label=pos_label
                )
                costs.append(risk / unit)
    assert np.mean([each == decided[0] for each in decided]) >= 1 - 2 / len(y)  # a row at the threshold may round over
    np.testing.assert_allclose(costs, costs[0], atol=2 * amounts.max() / len(y))
    assert np.mean([np.array_equal(each, decided[0]) for each in decided]) >= 0.5


@pytest.mark.parametrize("unit", [1e-3, 0.1, 100.0, 1e6])
def test_a_scaled_C_is_that_of_costs_divided_by_their_mean(real, unit):
    X, y = prepared(real)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    model = CostSensitiveSVC(fn_cost=5 * unit, fp_cost=unit, tol=1e-8).fit(X, y, sample_weight=weights)
    mean = np.average(np.where(y == 2, 5.0, 1.0), weights=weights)
    by_hand = CostSensitiveSVC(1.0, fn_cost=5 / mean, fp_cost=1 / mean, tol=1e-8).fit(X, y, sample_weight=weights)
    assert pytest.approx(1 / (mean * unit)) == model.C_
    np.testing.assert_allclose(model.decision_function(X), by_hand.decision_function(X), atol=1e-6)
    repeated = CostSensitiveSVC(fn_cost=5 * unit, fp_cost=unit, gamma=model.gamma_, tol=1e-8)
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(model.decision_function(X), repeated.decision_function(X), atol=1e-6)


def test_without_costs_it_is_scikit_learns(real):
    X, y = prepared(real)
    for model in (CostSensitiveSVC(tol=1e-6), BiasedPenaltySVC(tol=1e-6)):
        assert model.fit(X, y).C_ == 1.0
        np.testing.assert_allclose(model.decision_function(X), SVC(tol=1e-6).fit(X, y).decision_function(X), atol=1e-4)
    five = CostSensitiveSVC(1.0, fn_cost=5.0, tol=1e-6).fit(X, y)
    theirs = SVC(class_weight={2: 5.0}, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(five.decision_function(X), theirs.decision_function(X), atol=1e-4)


@pytest.mark.filterwarnings("error")
def test_fit_does_not_check_the_condition_of_the_paper(real):
    X, y = prepared(real)
    CostSensitiveSVC(fn_cost=0.5, fp_cost=0.1, kappa=2.0).fit(X, y)
