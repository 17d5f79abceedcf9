"""Types that a model file may hold.

Loading makes objects of the types that a file names. Those of scikit-learn's estimators and NumPy's arrays are trusted
by skops; what else a model of this library consists of is listed here.
"""

from __future__ import annotations

from functools import cache

# Private classes of scikit-learn, and types whose module is not where users import them from.
PRIVATE = (
    "numpy.dtype",
    "numpy.number",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.compose._column_transformer.make_column_selector",
)


@cache
def trusted_types() -> tuple[str, ...]:
    """The full names of all trusted types, taken from the classes."""
    return (*(f"{each.__module__}.{each.__qualname__}" for each in _classes()), *PRIVATE)


def _classes() -> list[type]:
    """Public estimators, kernels and losses, what fitted ones keep, splitters, and CSR matrices.

    A callable kernel and a designed loss are made of functions, which no file holds.
    """
    from scipy.sparse import csr_array, csr_matrix
    from sklearn import model_selection
    from sklearn.base import BaseEstimator

    from .. import _meta, _preprocessing, _search, _svm, losses
    from .._core.folds import Fold
    from .._core.positive_class import PositiveClass
    from .._kernels import KERNELS
    from .._meta.direct_cost import Amounts
    from .._search.decision import BayesRule, ThresholdRule
    from .._svm.feature_map import KernelFunction

    public = [getattr(package, name) for package in (_svm, _search, _meta) for name in package.__all__]
    estimators = [each for each in public if isinstance(each, type) and issubclass(each, BaseEstimator)]
    splitters = (
        *("GroupKFold", "GroupShuffleSplit", "KFold", "LeaveOneGroupOut", "LeaveOneOut", "PredefinedSplit"),
        *("RepeatedKFold", "RepeatedStratifiedKFold", "ShuffleSplit", "StratifiedGroupKFold", "StratifiedKFold"),
        *("StratifiedShuffleSplit", "TimeSeriesSplit"),
    )
    return [
        *estimators,
        *KERNELS.values(),
        *(losses.ExponentialLoss, losses.LogisticLoss, losses.CostSensitiveHinge, losses.HingeLoss),
        *(_preprocessing.CategoriesAsText, _preprocessing.ColumnsOfKind, _preprocessing.ColumnsWithMissing),
        *(Amounts, ThresholdRule, BayesRule, Fold, KernelFunction, PositiveClass),
        *(getattr(model_selection, name) for name in splitters),
        *(csr_array, csr_matrix),
    ]
