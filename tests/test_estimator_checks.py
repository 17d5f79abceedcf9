"""scikit-learn's estimator checks: all for one setting of each class, a few for others."""

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import cssvm
from cssvm import (
    BiasedPenaltySVC,
    BoundaryMovementSVC,
    CostProportionateClassifier,
    CostSensitiveLinearSVC,
    CostSensitiveLinearSVCCV,
    CostSensitiveSVC,
    CostSensitiveSVCCV,
    CostThresholdClassifier,
    DesignedLossClassifier,
    DirectCostClassifier,
    MetaCostClassifier,
)
from cssvm.losses import CostSensitiveHinge

# One setting for each class that satisfies the assumptions of the checks: they give no costs, and expect weighted
# samples to train the model of repeated samples (which rejection does with equal costs, and MetaCost if models label
# samples they have seen).
SETTINGS = [
    CostSensitiveSVC(),
    BiasedPenaltySVC(),
    BoundaryMovementSVC(),
    CostSensitiveLinearSVC(),
    DesignedLossClassifier(),
    CostSensitiveSVCCV(Cs=2, gammas=2, cv=2),
    CostSensitiveLinearSVCCV(Cs=2, cv=2),
    CostThresholdClassifier(LogisticRegression()),
    CostProportionateClassifier(LogisticRegression(), n_estimators=2),
    MetaCostClassifier(LogisticRegression(C=100.0), n_estimators=3, out_of_bag=False),
    DirectCostClassifier(LogisticRegression(), LinearRegression(), cv=3),
]

# A tuned threshold needs an estimator without probabilities: the checks expect the class to be predicted whose
# probability exceeds 1/2. Weighted and repeated samples have different Nystroem features: seven digits need a small
# `tol`.
OTHER_SETTINGS = [
    CostSensitiveSVC(kernel="precomputed"),
    DesignedLossClassifier(kernel="rbf", tol=1e-11),
    DesignedLossClassifier(CostSensitiveHinge(3.0, 2.0), kernel="rbf"),
    CostThresholdClassifier(LogisticRegression(), calibration=None),
    CostThresholdClassifier(LinearSVC(), method="tuned"),
    CostProportionateClassifier(DecisionTreeClassifier(), n_estimators=2, voting="hard"),
    MetaCostClassifier(DecisionTreeClassifier(), n_estimators=3, out_of_bag=False, voting="hard"),
    DirectCostClassifier(LogisticRegression(), LinearRegression(), calibration=None, selection_correction=False),
]
TELLING = {
    "check_classifiers_train",
    "check_methods_subset_invariance",
    "check_sample_weight_equivalence_on_dense_data",  # not asked of precomputed kernels
}


@parametrize_with_checks(SETTINGS)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("setting", OTHER_SETTINGS, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_other_settings_pass_the_telling_checks(setting):
    passed = set()
    for estimator, check in estimator_checks_generator(setting):
        if check.func.__name__ in TELLING and not check.keywords:
            check(estimator)
            passed.add(check.func.__name__)
    precomputed = setting.get_params().get("kernel") == "precomputed"
    assert passed == (TELLING - {"check_sample_weight_equivalence_on_dense_data"} if precomputed else TELLING)


def test_every_public_estimator_is_checked():
    public = {getattr(cssvm, name) for name in cssvm.__all__}
    estimators = {thing for thing in public if inspect.isclass(thing) and issubclass(thing, BaseEstimator)}
    assert estimators == {type(estimator) for estimator in SETTINGS}
