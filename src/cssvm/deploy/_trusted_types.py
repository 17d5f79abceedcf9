"""Types that a model file may contain, and what skops may make with each of its loaders."""

from __future__ import annotations

from functools import cache

# What skops may make with each of its loaders: a type, or those of a package, whose name ends in a dot; which of those
# are trusted, skops and `TRUSTED_TYPES` decide. A loader that is not here makes only types that the caller names: such
# loaders call functions, allocate memory by a number, or set the state of a random generator without checking it.
SCALARS = (
    *(f"numpy.{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    *("numpy.bool", "numpy.bool_", "numpy.float16", "numpy.float32", "numpy.float64", "numpy.str_"),
)
LOADERS: dict[str, tuple[str, ...]] = {
    "DTypeNode": ("numpy.dtype",),
    "DictNode": ("builtins.dict", "collections.OrderedDict"),
    "FunctionNode": ("numpy.", "scipy.special."),
    "JsonNode": ("builtins.str",),
    "ListNode": ("builtins.list",),
    "LossNode": ("sklearn._loss._loss.", "sklearn.linear_model._sgd_fast."),  # made of numbers
    "NdArrayNode": ("numpy.ndarray", *SCALARS),
    "ObjectNode": ("cssvm.", "sklearn."),
    "SetNode": ("builtins.set",),
    "SliceNode": ("builtins.slice",),
    "SparseMatrixNode": ("scipy.sparse._csr.csr_array", "scipy.sparse._csr.csr_matrix"),
    "TupleNode": ("builtins.tuple", "cssvm."),
    "TypeNode": (
        *("builtins.bool", "builtins.float", "builtins.int", "builtins.str", "numpy.number", *SCALARS),
        *("sklearn.model_selection._split.KFold", "sklearn.model_selection._split.StratifiedKFold"),  # repeated ones
    ),
}


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
    """The full names of the types that are trusted in addition to those of skops."""
    return (*(f"{each.__module__}.{each.__qualname__}" for each in _classes()), *PRIVATE)


def _classes() -> list[type]:
    """Public estimators, kernels and losses not made of functions, what fitted ones keep, splitters, CSR matrices."""
    from scipy.sparse import csr_array, csr_matrix
    from sklearn import model_selection
    from sklearn.base import BaseEstimator

    from .. import _meta, _preprocessing, _search, _svm, losses
    from .._core.folds import Fold
    from .._core.positive_class import PositiveClass
    from .._kernels import KERNELS
    from .._meta.direct_cost import Amounts
    from .._search.final_decision import BayesRule, ThresholdRule
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
