"""Scores closer than the solver tolerance are ties, for thresholds and ranking measures."""

import numpy as np
import pytest

from cssvm import CostSensitiveLinearSVCCV, CostSensitiveSVCCV
from cssvm._core.folds import make_splits
from cssvm.metrics import min_cost_risk

QUICK = {"cv": 3}


def posterior(X, slope, shift):
    return 1 / (1 + np.exp(-slope * X[:, 0] - shift))


@pytest.mark.parametrize("fn_cost", [2.0, 20.0])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "search",
    [CostSensitiveLinearSVCCV(**QUICK, Cs=3), CostSensitiveSVCCV(**QUICK, Cs=3, gammas=2)],
    ids=["linear", "rbf"],
)
def test_new_samples_cost_what_was_expected_and_hardly_more_than_one_decision_for_all(search, seed, fn_cost):
    rng = np.random.default_rng(seed)
    slope, shift = rng.uniform(0.2, 2.0), rng.uniform(-1.0, 1.0)
    X, X_new = rng.normal(size=(400, 2)), rng.normal(size=(20_000, 2))
    y = (rng.random(400) < posterior(X, slope, shift)).astype(int)
    p = posterior(X_new, slope, shift)
    search.set_params(fn_cost=fn_cost, decision="threshold").fit(X, y)
    cost = np.where(search.predict(X_new) == 1, 1 - p, fn_cost * p).mean()
    baseline = min((1 - p).mean(), fn_cost * p.mean())
    assert cost <= 1.25 * min(-search.best_score_, baseline)


def test_the_threshold_of_a_nearly_constant_model_predicts_all_positive():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 2))
    y = (rng.random(300) < posterior(X, 1.5, 0.0)).astype(int)
    search = CostSensitiveSVCCV(Cs=[1e-7], gammas=[0.5], fn_cost=20.0, decision="threshold", **QUICK).fit(X, y)
    assert np.ptp(search.held_out_scores_) < 1e-3
    assert (search.predict(X) == 1).all()
    assert search.best_score_ == pytest.approx(-(y == 0).mean(), rel=0.02)


@pytest.mark.parametrize(("scoring", "value"), [("tp_auc", -0.95), ("tn_auc", -0.95), ("min_risk", None)])
def test_a_nearly_constant_model_ranks_nothing(scoring, value):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = (X[:, 0] + rng.normal(size=90) > 0).astype(int)
    search = CostSensitiveSVCCV(Cs=[1e-7], gammas=[0.5], scoring=scoring, decision="zero", **QUICK).fit(X, y)
    assert np.ptp(search.held_out_scores_) < 1e-3
    if value is None:  # the cheaper baseline
        value = -np.mean([min_cost_risk(y[fold], np.zeros(len(fold))).risk for fold in _valid(y)])
    assert search.best_score_ == pytest.approx(value)


def _valid(y):
    return [fold.valid for fold in make_splits(3, y, y, positive=y == 1)]
