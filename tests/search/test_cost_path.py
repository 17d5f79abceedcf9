"""Operating points: each is a model of its own."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from cssvm import CostSensitiveSVC
from cssvm._search import cost_path
from cssvm.metrics._hull import upper_hull

FOLDS = StratifiedKFold(4)


@pytest.fixture(scope="module")
def data():
    return make_classification(300, 5, n_informative=3, flip_y=0.15, weights=[0.7], random_state=0)


@pytest.mark.parametrize("pos_label", [0, 1])
def test_rates_are_those_of_models_trained_for_each_ratio(data, pos_label):
    X, y = data
    model = CostSensitiveSVC(C=2.0, gamma=0.2, kappa=0.5, pos_label=pos_label, tol=1e-5)
    path = cost_path(model, X, y, ratios=[0.2, 1.0, 8.0], cv=FOLDS)
    for index in range(3):
        decided = cross_val_predict(path.estimator(index), X, y, cv=FOLDS) == pos_label
        assert path.tpr[index] == pytest.approx(decided[y == pos_label].mean(), abs=1e-12)
        assert path.fpr[index] == pytest.approx(decided[y != pos_label].mean(), abs=1e-12)


def test_a_dearer_miss_means_fewer_misses(data):
    path = cost_path(CostSensitiveSVC(), *data, ratios=9, cv=FOLDS)
    assert path.tpr[-1] > path.tpr[0]
    assert path.fpr[-1] > path.fpr[0]


def test_the_best_point_for_any_costs_is_on_the_hull(data):
    path = cost_path(CostSensitiveSVC(), *data, ratios=15, cv=FOLDS)
    for ratio in np.geomspace(1 / 32, 32, 25):
        risk = path.risk(fn_cost=ratio, fp_cost=1.0)
        trivial = min(path.prior * ratio, 1 - path.prior)
        best = path.best(fn_cost=ratio, fp_cost=1.0)
        assert risk[best] == pytest.approx(risk.min())
        if risk[best] < trivial - 1e-12:
            assert path.on_hull[np.isclose(risk, risk[best])].any()


def test_the_hull_of_hand_made_points():
    fpr, tpr = np.array([0.0, 0.1, 0.2, 0.3, 0.9]), np.array([0.3, 0.6, 0.62, 0.9, 0.5])
    assert upper_hull(fpr, tpr).tolist() == [True, True, False, True, False]


@pytest.mark.parametrize("ratios", [[], [0.0], [np.nan], [-1.0], 0, 2.5, "many"])
def test_bad_ratios_are_refused(data, ratios):
    with pytest.raises(ValueError, match=r"ratios must (hold|be)"):
        cost_path(CostSensitiveSVC(), *data, ratios=ratios)


def test_tied_margins_are_refused(data):
    with pytest.raises(ValueError, match="kappa of the estimator must be a number"):
        cost_path(CostSensitiveSVC(kappa="tied"), *data)
