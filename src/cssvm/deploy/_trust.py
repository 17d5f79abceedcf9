"""Types that a model file may hold.

Loading makes objects of the types that a file names. Those of scikit-learn's estimators and NumPy's arrays are trusted
by skops; what else a model of this library consists of is listed here, by the module that defines it. A file names
modules too: a class that moves must stay importable from where it was, or files of before are lost.
"""

from __future__ import annotations

# Classes that users make and fit; a test holds them against the public names.
ESTIMATORS = (
    "cssvm._svm.kernel_svc.BiasedPenaltySVC",
    "cssvm._svm.boundary_movement.BoundaryMovementSVC",
    "cssvm._svm.kernel_svc.CostSensitiveSVC",
    "cssvm._svm.designed_loss.DesignedLossClassifier",
    "cssvm._svm.linear_svc.CostSensitiveLinearSVC",
    "cssvm._search.cost_sensitive_svc_cv.CostSensitiveSVCCV",
    "cssvm._search.linear_svc_cv.CostSensitiveLinearSVCCV",
    "cssvm._meta.cost_proportionate.CostProportionateClassifier",
    "cssvm._meta.cost_threshold.CostThresholdClassifier",
    "cssvm._meta.direct_cost.DirectCostClassifier",
    "cssvm._meta.meta_cost.MetaCostClassifier",
)

# Kernels and losses, held against their registries too. A callable kernel and a designed loss are functions.
KERNELS = tuple(
    f"cssvm._kernels.{module}.{name}"
    for module, names in {
        "functions": ("Linear", "Poly", "Rbf", "Sigmoid", "Laplacian", "Matern32", "Matern52"),
        "given": ("Precomputed",),
    }.items()
    for name in names
)
LOSSES = (
    "cssvm.losses._classical.ExponentialLoss",
    "cssvm.losses._classical.LogisticLoss",
    "cssvm.losses._hinge.CostSensitiveHinge",
    "cssvm.losses._hinge.HingeLoss",
)

# What fitted estimators keep.
KEPT = (
    "cssvm._svm.feature_map.KernelFunction",
    "cssvm._core.folds.Fold",
    "cssvm._preprocessing.CategoriesAsText",
    "cssvm._preprocessing.ColumnsOfKind",
    "cssvm._preprocessing.ColumnsWithMissing",
    "cssvm._search.decision.ThresholdRule",
    "cssvm._search.decision.BayesRule",
    "cssvm._core.positive_class.PositiveClass",
    "cssvm._meta.amounts.Amounts",
)

# Splitters that may be given as `cv`.
SPLITTERS = tuple(
    f"sklearn.model_selection._split.{name}"
    for name in (
        *("GroupKFold", "GroupShuffleSplit", "KFold", "LeaveOneGroupOut", "LeaveOneOut", "PredefinedSplit"),
        *("RepeatedKFold", "RepeatedStratifiedKFold", "ShuffleSplit", "StratifiedGroupKFold", "StratifiedKFold"),
        *("StratifiedShuffleSplit", "TimeSeriesSplit"),
    )
)

# Of other packages: data types of columns, sparse rows, calibrations, selectors of columns.
OTHERS = (
    "numpy.dtype",
    "numpy.number",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.compose._column_transformer.make_column_selector",
)

TRUSTED_TYPES: tuple[str, ...] = (*ESTIMATORS, *KERNELS, *LOSSES, *KEPT, *SPLITTERS, *OTHERS)

# What skops may make with each of its loaders: a type, or those of a package, whose name ends in a dot; which of those
# are trusted, skops and the list above decide. A loader that is not here makes only types that the caller names: such
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
