"""Classifiers around any estimator: how costs and weights reach the estimators inside, and how these are fitted.

With metadata routing an estimator inside gets what it requests of `fn_cost`, `fp_cost` and `sample_weight`. Without, it
gets `sample_weight` if its `fit`, or that of the last step of a pipeline, takes it, and no costs.
"""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from .._core.alignment import align_to_samples
from .._core.classifier import BinaryClassifier
from .._core.folds import Fold, OutOfFold, fit_on, make_splits, out_of_fold
from .._core.nested import split_final_step
from .._core.positive_class import RESPONSE_METHODS, PositiveClass
from .._core.samples import Samples, check_both_classes
from .._core.sklearn_compat import clone_with_seed, safe_indexing
from .._core.types import Mask, RowNumbers, Vector
from .._core.validation import check_parameters, option

ESTIMATOR = "estimator"
PROBABILITIES = "predict_proba"
CALIBRATIONS = ("sigmoid", "isotonic")


class WrappedClassifier(MetaEstimatorMixin, BinaryClassifier):
    """A classifier of two classes around another, `estimator`, fitted as `estimator_`."""

    _wrapped: tuple[str, ...] = (ESTIMATOR,)  # parameters that hold an estimator
    estimator: Any
    estimator_: Any
    n_jobs: int | None

    def _check_estimator(self) -> None:
        """Raise if the estimator cannot be fitted, or gives no scores."""
        scores = any(hasattr(self.estimator, method) for method in RESPONSE_METHODS)
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit") or not scores:
            raise ValueError(
                f"estimator of {type(self).__name__} must have fit, and predict_proba or decision_function; got "
                f"estimator={reprlib.repr(self.estimator)}. Pass an instance of a binary classifier."
            )

    def _read_fit(self, X: Any, y: Any, **given: Any) -> tuple[Any, Samples, dict[str, Any]]:
        """X, the samples, and the values given to `fit` other than None, aligned to them."""
        X, y = indexable(X, y)
        given = {"fp_cost": None, **align_to_samples(X, y, **given)}
        costs = {name: given[name] for name in ("fn_cost", "fp_cost", "sample_weight")}
        samples = self._read_sample(column_or_1d(y, warn=True), **costs)
        if given["sample_weight"] is not None:
            given["sample_weight"] = samples.weights
        return X, samples, {name: value for name, value in given.items() if value is not None}

    def _metadata_for(
        self, parameter: str, given: dict[str, Any], *, warn_unused: bool = True, stacklevel: int = 4
    ) -> dict[str, Any]:
        """What `fit` of the estimator in this parameter takes of the given metadata, by the names given here."""
        estimator = getattr(self, parameter)
        if get_config()["enable_metadata_routing"]:
            process_routing(self, "fit", **given)  # raises for metadata whose request is not set
            names = get_routing_for_object(estimator).consumes("fit", given.keys())
            return {name: given[name] for name in names}
        if "sample_weight" not in given:
            return {}
        prefix, last = split_final_step(estimator)
        if has_fit_parameter(last, "sample_weight"):
            return {f"{prefix}sample_weight": given["sample_weight"]}
        if warn_unused:
            warnings.warn(
                f"fit of {type(estimator).__name__} takes no sample_weight: it is fitted without weights. Enable "
                "metadata routing and request sample_weight where it is to be used.",
                stacklevel=stacklevel,
            )
        return {}

    def _routed(self, metadata: dict[str, Any], parameter: str = ESTIMATOR) -> dict[str, Any]:
        """The metadata of an estimator by the names that its `fit` has for them."""
        if get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **metadata)[parameter].fit)
        return metadata

    def _out_of_fold(
        self,
        X: Any,
        y: NDArray[Any],
        folds: Sequence[Fold],
        method: str,
        metadata: dict[str, Any],
        seeds: Iterable[int | None] | None = None,
    ) -> OutOfFold:
        """Responses of the estimator to the samples that each fold holds out."""
        seeds = [None] * len(folds) if seeds is None else seeds
        estimators = [clone_with_seed(self.estimator, seed) for seed in seeds]
        return out_of_fold(estimators, X, y, folds, method, metadata=self._routed(metadata), n_jobs=self.n_jobs)

    def _fit_members(
        self, X: Any, y: NDArray[Any], draws: Sequence[RowNumbers], seeds: Sequence[int], metadata: dict[str, Any]
    ) -> list[Any]:
        """One estimator for each draw of samples, fitted on them."""
        metadata = self._routed(metadata)
        return Parallel(n_jobs=self.n_jobs)(
            delayed(fit_on)(clone_with_seed(self.estimator, seed), X, y, samples, metadata)
            for seed, samples in zip(seeds, draws, strict=True)
        )

    @property
    def _fitted_estimator(self) -> Any:
        """A fitted estimator, for its features."""
        return self.estimator_

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in `fit`."""
        return self._fitted_estimator.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features seen in `fit`."""
        return self._fitted_estimator.feature_names_in_

    def get_metadata_routing(self) -> MetadataRouter:
        """Requests of this classifier and of the estimators inside, for scikit-learn's metadata routing."""
        router = MetadataRouter(owner=self).add_self_request(self)
        for name, estimator in self._given_estimators().items():
            router.add(**{name: estimator}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def _given_estimators(self) -> dict[str, Any]:
        """The estimators inside, by the names of their parameters."""
        estimators = {name: getattr(self, name) for name in self._wrapped}
        return {name: estimator for name, estimator in estimators.items() if estimator is not None}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = [get_tags(estimator).input_tags for estimator in self._given_estimators().values()]
        tags.input_tags.sparse = all(each.sparse for each in inner)
        tags.input_tags.allow_nan = all(each.allow_nan for each in inner)
        tags.input_tags.pairwise = get_tags(self.estimator).input_tags.pairwise
        return tags


def takes_weights(metadata: dict[str, Any]) -> bool:
    """Whether weights are among the metadata of an estimator, or of one of its steps."""
    return any(name.rpartition("__")[2] == "sample_weight" for name in metadata)


class CalibratingClassifier(WrappedClassifier):
    """A wrapper that can calibrate its estimator."""

    calibration: str | None
    cv: Any

    @property
    def _will_have_probabilities(self) -> bool:
        """Whether the fitted estimator will have `predict_proba`."""
        return self.calibration is not None or hasattr(self.estimator, PROBABILITIES)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities (n_samples, 2) of the two classes, those of `estimator_`; the costs do not enter."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def _check_calibration(self) -> None:
        check_parameters(
            self, {"calibration": option("calibration", CALIBRATIONS, "for the estimator's own probabilities")}
        )

    def _cost_of_new_samples(self, name: str, given: Any) -> Any:
        """The cost given to `predict`, or the constructor's, which must be a number."""
        value = getattr(self, name) if given is None else given
        if given is None and np.ndim(value):
            raise ValueError(
                f"{name} of {type(self).__name__} must be a number; got shape {np.shape(value)}. Pass one value per "
                f"sample to predict: predict(X, {name}=...)."
            )
        return value

    def _fit_probabilities(
        self,
        X: Any,
        y: NDArray[Any],
        positive_class: PositiveClass,
        positive: Mask,
        metadata: dict[str, Any],
        *,
        sample_weight: Any = None,
        groups: Any = None,
        held_out: bool = False,
    ) -> tuple[Any, Vector | None]:
        """Fit the estimator with its metadata, calibrate it if requested, and return it with held-out probabilities.

        These are (n,) for the positive class, nan if no fold holds the sample out, or None if not requested. With a
        calibration they are those of its folds, where the calibrator, but not the estimator, has seen the sample.
        """
        folds: list[Fold] = []
        if self.calibration is not None or held_out:
            folds = make_splits(self.cv, X, y, positive=positive, weights=sample_weight, groups=groups)
        if self.calibration is None:
            estimator = clone(self.estimator).fit(X, y, **self._routed(metadata))
            found = self._out_of_fold(X, y, folds, PROBABILITIES, metadata) if held_out else None
        else:
            self._check_calibration_folds(folds, positive, sample_weight)
            estimator = CalibratedClassifierCV(
                clone(self.estimator), method=self.calibration, cv=folds, n_jobs=self.n_jobs
            )
            with warnings.catch_warnings():
                # Weights that the estimator does not take, or takes by the name of a step, are dealt with above.
                warnings.filterwarnings("ignore", ".*does not appear to accept sample_weight", UserWarning)
                # The calibration is weighted even if the estimator is not.
                estimator.fit(X, y, **{**metadata, "sample_weight": sample_weight})
            found = _calibrated_out_of_fold(estimator, X, folds) if held_out else None
        if found is None:
            return estimator, None
        probabilities = [positive_class.to_positive_sign(response) for response in found.values]
        return estimator, found._replace(values=probabilities).mean(len(positive))

    def _check_calibration_folds(self, folds: Sequence[Fold], positive: Mask, sample_weight: Any) -> None:
        """Raise if the held-out samples of a fold are of one class, from which no probability can be learned."""
        counted = np.ones(len(positive), dtype=bool) if sample_weight is None else np.asarray(sample_weight) > 0
        part = f"the held-out samples of each fold of cv={self.cv!r}, on which probabilities are calibrated"
        for fold in folds:
            valid = fold.valid[counted[fold.valid]]
            check_both_classes(positive[valid], part, "Use fewer or stratified folds, or calibration=None.")


def _calibrated_out_of_fold(calibrated: CalibratedClassifierCV, X: Any, folds: Sequence[Fold]) -> OutOfFold:
    """Probabilities (n_fold, 2) by the model of each fold; a frozen estimator is the same in all folds."""
    models = calibrated.calibrated_classifiers_
    models = models if len(models) == len(folds) else models * len(folds)
    values = [model.predict_proba(safe_indexing(X, fold.valid)) for model, fold in zip(models, folds, strict=True)]
    return OutOfFold([fold.valid for fold in folds], values)
