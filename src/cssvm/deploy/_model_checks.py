"""Checks of a model that was read from a file: fitted, of matching shapes, with finite numbers.

A trusted type says nothing about its content. What compiled code reads without checks, such as the indices of sparse
support vectors, is checked in full.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from .._core.classifier import BinaryClassifier
from .._core.positive_class import RESPONSE_METHODS, PositiveClass
from .._core.sklearn_compat import PlattScaling
from .._kernels import Kernel
from .._meta import CostThresholdClassifier
from .._meta.base import WrappedClassifier
from .._search.base import BaseSVCSearchCV
from .._search.final_decision import BayesRule, ThresholdRule
from .._svm import CostSensitiveLinearSVC, DesignedLossClassifier
from .._svm.kernel_svc import KernelSVC
from ._model_file import ModelFileError

PACKAGES = ("cssvm.", "sklearn.")
FINITE = ("coef_", "dual_coef_", "intercept_")  # of any classifier here that has them


def check_model(model: Any) -> None:
    """Raise ModelFileError for a model that cannot predict, with the part and the reason."""
    part = model
    try:
        check_is_fitted(model)
        for part in _iter_parts(model):
            if isinstance(
                part, CountVectorizer | HashingVectorizer
            ):  # others open the files whose names they are given
                _require(part.input == "content", f"it must read texts, input='content'; got input={part.input!r}")
            for kind, check in CHECKS.items():
                if isinstance(part, kind) and _is_fitted(part):
                    check(part)
        part, classes = model, getattr(model, "classes_", None)
        has_two = isinstance(classes, np.ndarray) and classes.shape == (2,)
        _require(has_two, f"it must be a classifier of two classes; got classes_={classes!r}")
    except Exception as error:  # a forged part can raise anything
        raise ModelFileError(f"{type(part).__name__} in the model is unusable: {error}") from error


def _iter_parts(model: Any) -> Iterator[Any]:
    """All objects of this library and of scikit-learn that a model holds, itself first, each once."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple | set):
            waiting.extend(part)
        elif isinstance(part, np.ndarray) and part.dtype == object:
            waiting.extend(part.flat)
        elif type(part).__module__.startswith(PACKAGES) and hasattr(part, "__dict__"):
            yield part
            waiting.extend(vars(part).values())


def limit_jobs(model: Any) -> None:
    """Set n_jobs of scikit-learn's estimators to None: a file must not start processes or threads."""
    for part in _iter_parts(model):
        if type(part).__module__.startswith("sklearn.") and vars(part).get("n_jobs") is not None:
            part.n_jobs = None


def _is_fitted(part: Any) -> bool:
    """Whether a part predicts, unlike estimators that are parameters."""
    return not hasattr(part, "fit") or any(name.endswith("_") and not name.startswith("_") for name in vars(part))


def _require(condition: Any, reason: str) -> None:
    if not condition:
        raise ValueError(reason)


def _check_numbers(name: str, values: Any, shape: tuple[int, ...] | None = None) -> None:
    """Raise ValueError for an array that is not of finite numbers, or not of this shape."""
    values = values.data if sp.issparse(values) else np.asarray(values)
    _require(values.dtype.kind in "biuf", f"{name} must hold numbers; got dtype {values.dtype}")
    _require(shape is None or values.shape == shape, f"{name} must have shape {shape}; got {values.shape}")
    _require(np.isfinite(values).all(), f"{name} must hold finite numbers")


def _check_classifier(part: BinaryClassifier) -> None:
    positive = part._positive_class
    _require(isinstance(positive, PositiveClass) and positive.index in (0, 1), "its positive class is not one of two")
    for name, classes in (("classes_", part.classes_), ("classes of the positive class", positive.classes)):
        _require(np.shape(classes) == (2,), f"{name} must hold two labels; got {classes!r}")
    _require(np.array_equal(positive.classes, part.classes_), "its positive class is not one of classes_")
    for name in FINITE:
        if vars(part).get(name) is not None:
            _check_numbers(name, vars(part)[name])


def _check_svc(part: KernelSVC) -> None:
    kernel, n_features = part._kernel, part.n_features_in_
    _require(isinstance(kernel, Kernel), f"its kernel is {type(kernel).__name__}")
    _check_numbers("parameters of the kernel", [kernel.gamma, kernel.degree, kernel.coef0])
    _require(part._expansion_dtype in (np.float32, np.float64), f"its precision is {part._expansion_dtype!r}")
    support, n_vectors = part.support_, len(part.support_)
    _require(support.dtype.kind == "i" and support.ndim == 1, "support_ must hold indices of samples")
    _check_numbers("dual_coef_", part.dual_coef_, (1, n_vectors))
    _check_numbers("intercept_", part.intercept_, (1,))
    if kernel.pairwise:
        inside = support.size == 0 or 0 <= support.min() <= support.max() < n_features
        _require(inside, f"support_ must hold indices of samples below {n_features}")
    else:
        _check_vectors("support_vectors_", part.support_vectors_, (n_vectors, n_features))


def _check_vectors(name: str, vectors: Any, shape: tuple[int, int]) -> None:
    """Raise ValueError for vectors, dense or CSR, of another shape or with numbers that are not finite."""
    if sp.issparse(vectors):
        _require(vectors.format == "csr", f"{name} must be a CSR matrix")
        vectors.check_format(full_check=True)
    _check_numbers(name, vectors)
    _require(vectors.shape == shape, f"{name} must have shape {shape}; got {vectors.shape}")


def _check_search(part: BaseSVCSearchCV) -> None:
    final = getattr(part, "best_estimator_", None)
    _require(isinstance(final, KernelSVC | CostSensitiveLinearSVC), "it has no final model")
    decision = part._decision
    _require(isinstance(decision, ThresholdRule | BayesRule), f"its decision is {type(decision).__name__}")
    if isinstance(decision, ThresholdRule):
        _check_numbers("threshold_", decision.threshold, ())
    _require(isinstance(decision, BayesRule) == part.decides_by_costs, f"its decision is not {part.decision!r}")
    _check_numbers("its mean costs", part._mean_costs, (2,))
    _require(part.transformer is None or hasattr(part, "transformer_"), "it has no fitted transformer")


def _check_wrapper(part: WrappedClassifier) -> None:
    inner = [getattr(part, name) for name in ("estimator_", "amount_estimator_") if hasattr(part, name)]
    inner += getattr(part, "estimators_", [])
    _require(len(inner) > 0, "it has no fitted estimator")
    for estimator in inner:
        check_is_fitted(estimator)


def _check_threshold(part: CostThresholdClassifier) -> None:
    _require(part._response in RESPONSE_METHODS, f"it scores by {part._response!r}")
    _check_numbers("threshold_", part.threshold_, ())


def _check_designed_loss(part: DesignedLossClassifier) -> None:
    if part.svc_ is not None:
        _require(isinstance(part.svc_, KernelSVC), f"its SVM is {type(part.svc_).__name__}")
        return
    _check_linear(part, part.n_features_in_ if part.feature_map_ is None else part.feature_map_.components_.shape[0])


def _check_linear(part: CostSensitiveLinearSVC | DesignedLossClassifier, n_features: int) -> None:
    _check_numbers("coef_", part.coef_, (1, n_features))
    _check_numbers("intercept_", part.intercept_, (1,))


def _check_isotonic(part: IsotonicRegression) -> None:
    for name in ("X_thresholds_", "y_thresholds_"):
        _check_numbers(name, getattr(part, name), (len(part.X_thresholds_),))


def _check_calibrated(part: CalibratedClassifierCV) -> None:
    _require(len(part.calibrated_classifiers_) > 0, "it has no calibrated classifiers")
    for each in part.calibrated_classifiers_:
        check_is_fitted(each.estimator)
        _require(len(each.calibrators) == 1, f"it must have one calibrator; got {len(each.calibrators)}")


def _check_logistic(part: LogisticRegression) -> None:
    n_scores = 1 if len(part.classes_) == 2 else len(part.classes_)
    _check_vectors("coef_", part.coef_, (n_scores, part.n_features_in_))
    _check_numbers("intercept_", part.intercept_)
    _require(np.shape(part.intercept_) in ((), (n_scores,)), f"intercept_ must be {n_scores} numbers")


# A part is checked as an instance of each of these classes.
CHECKS: dict[type, Any] = {
    BinaryClassifier: _check_classifier,
    KernelSVC: _check_svc,
    BaseSVCSearchCV: _check_search,
    WrappedClassifier: _check_wrapper,
    CostThresholdClassifier: _check_threshold,
    CostSensitiveLinearSVC: lambda part: _check_linear(part, part.n_features_in_),
    DesignedLossClassifier: _check_designed_loss,
    PlattScaling: lambda part: _check_numbers("its slope and shift", [part.a_, part.b_], (2,)),
    IsotonicRegression: _check_isotonic,
    CalibratedClassifierCV: _check_calibrated,
    LogisticRegression: _check_logistic,
}
