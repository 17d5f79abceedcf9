"""Samples of weight 0 have no effect, for every model and baseline of `evaluate`."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, PredefinedSplit, TunedThresholdClassifierCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cssvm import (
    BoundaryMovementSVC,
    CostProportionateClassifier,
    CostSensitiveLinearSVC,
    CostSensitiveSVC,
    CostSensitiveSVCCV,
    CostThresholdClassifier,
    DirectCostClassifier,
    MetaCostClassifier,
    evaluate,
)

N, N_FOLDS = 90, 2
LOGISTIC = LogisticRegression()
MODELS = {
    "SVM": CostSensitiveSVC(),
    "linear SVM": CostSensitiveLinearSVC(),
    "SVM behind a scaler": make_pipeline(StandardScaler(), CostSensitiveSVC()),
    "search": CostSensitiveSVCCV(Cs=[1.0], gammas=[0.2], cv=2, transformer=StandardScaler(), decision="bayes"),
    "moved boundary": BoundaryMovementSVC(cv=2),
    "SVC": SVC(),
    "neighbours": KNeighborsClassifier(),
    "tree": DecisionTreeClassifier(random_state=0),
    "logistic regression behind a scaler": make_pipeline(StandardScaler(), LOGISTIC),
    "calibrated": CalibratedClassifierCV(LOGISTIC, cv=2),
    "tuned threshold": TunedThresholdClassifierCV(LOGISTIC, cv=2, thresholds=20),
    "fixed threshold": FixedThresholdClassifier(LOGISTIC, threshold=0.2),
    "grid search": GridSearchCV(LOGISTIC, {"C": [0.1, 1.0]}, cv=2),
    "grid search, named score": GridSearchCV(LOGISTIC, {"C": [0.1, 1.0]}, cv=2, scoring="roc_auc"),
    "grid search, two scores": GridSearchCV(
        LOGISTIC, {"C": [0.1, 1.0]}, cv=2, scoring=["roc_auc", "accuracy"], refit="accuracy"
    ),
    "Bayes' rule": CostThresholdClassifier(LOGISTIC, cv=2),
    "Bayes' rule of neighbours": CostThresholdClassifier(KNeighborsClassifier(), cv=2),
    "tuned by costs": CostThresholdClassifier(LOGISTIC, method="tuned", cv=2),
    "MetaCost": MetaCostClassifier(LOGISTIC, n_estimators=2, random_state=0),
    "costing": CostProportionateClassifier(LOGISTIC, n_estimators=2, random_state=0),
    "estimated amounts": DirectCostClassifier(LOGISTIC, Ridge(), cv=2),
}
pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.filterwarnings("ignore::FutureWarning")]


def problem():
    """Two overlapping classes, costs of samples, weights 0 to 2, those of weight 0 far away from the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = (X[:, 0] + rng.normal(size=N) > 0.5).astype(int)
    weights = rng.integers(0, 3, N).astype(float)
    X[weights == 0] *= 50.0
    return X, y, weights, rng.lognormal(1.0, 1.0, N)


def line_by_line(model, rows, cv, **options):
    X, y, weights, amounts = (values[rows] for values in problem())
    costs = {"fn_cost": amounts, "fp_cost": 0.5, "sample_weight": weights}
    return evaluate(model, X, y, **costs, cv=cv, n_resamples=10, **options).to_frame()


@pytest.mark.parametrize("routing", [False, True], ids=["plain", "routing"])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_line_of_the_table_is_that_of_the_samples_of_positive_weight(model, routing):
    kept, fold = np.flatnonzero(problem()[2]), np.arange(N) % N_FOLDS
    with config_context(enable_metadata_routing=routing):
        whole = line_by_line(model, slice(None), PredefinedSplit(fold))
        alone = line_by_line(model, kept, PredefinedSplit(fold[kept]))
    assert list(whole.index) == list(alone.index)
    np.testing.assert_array_equal(whole.to_numpy(), alone.to_numpy())


def splits_as_numbers(rows):
    return [(np.flatnonzero(rows % 2 != k), np.flatnonzero(rows % 2 == k)) for k in range(2)]


def splits_as_masks(rows):
    return [(rows % 2 != k, rows % 2 == k) for k in range(2)]


@pytest.mark.parametrize("folds", [splits_as_numbers, splits_as_masks, lambda rows: 3])
def test_folds_in_any_form_are_those_of_the_samples_of_positive_weight(folds):
    kept = np.flatnonzero(problem()[2])
    whole = line_by_line(KNeighborsClassifier(), slice(None), folds(np.arange(N)))
    np.testing.assert_array_equal(whole.to_numpy(), line_by_line(KNeighborsClassifier(), kept, folds(kept)).to_numpy())


def test_a_fold_that_holds_out_samples_of_weight_zero_only_is_dropped():
    absent = np.flatnonzero(problem()[2] == 0)
    cv = splits_as_numbers(np.arange(N))
    more = [*cv, (np.setdiff1d(np.arange(N), absent), absent)]
    found = [line_by_line(KNeighborsClassifier(), slice(None), each).to_numpy() for each in (cv, more)]
    np.testing.assert_array_equal(*found)
