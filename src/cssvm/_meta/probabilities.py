"""The probability of the target: a calibrated learner, and what it says of rows that it has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV

from .._core.folds import Fold, make_splits
from .._core.positive_class import PositiveClass
from .._core.samples import check_both_classes
from .._core.sklearn_compat import safe_indexing
from .._core.types import Mask, Vector
from .routing import WrappedClassifier, mean_over_folds

PROBABILITIES = "predict_proba"
CALIBRATIONS = ("sigmoid", "isotonic")


class Probabilities(NamedTuple):
    """A trained learner with `predict_proba`, and what each training row gets from models that have not seen it.

    held_out : (n,) probability of the target, nan for a row that no fold holds out; None if it was not asked for.
    """

    estimator: Any
    held_out: Vector | None


class CalibratingClassifier(WrappedClassifier):
    """A wrapper that can have its learner calibrated."""

    calibration: str | None
    cv: Any

    @property
    def _will_have_probabilities(self) -> bool:
        """A calibrated learner has them, any other may."""
        return self.calibration is not None or hasattr(self.estimator, PROBABILITIES)

    def _check_calibration(self) -> None:
        """Refuse a calibration that there is not."""
        if self.calibration is not None and self.calibration not in CALIBRATIONS:
            raise ValueError(
                f"calibration of {type(self).__name__} must be one of {list(CALIBRATIONS)} or None for the "
                f"estimator's own probabilities; got calibration={self.calibration!r}."
            )

    def _cost_of_new_rows(self, name: str, given: Any) -> Any:
        """The cost given to `predict`, or the constructor's, which must be a number."""
        value = getattr(self, name) if given is None else given
        if given is None and np.ndim(value):
            raise ValueError(
                f"{name} of {type(self).__name__} must be a number; got shape {np.shape(value)}. One "
                f"value for each row is given to predict: predict(X, {name}=...)."
            )
        return value

    def _fit_probabilities(
        self,
        X: Any,
        y: NDArray[Any],
        target: PositiveClass,
        positive: Mask,
        metadata: dict[str, Any],
        *,
        sample_weight: Any = None,
        groups: Any = None,
        held_out: bool = False,
    ) -> Probabilities:
        """Train the learner, and calibrate it unless told otherwise.

        metadata : what the learner's `fit` takes; sample_weight : of the calibration; held_out : whether to ask for
        the held-out probabilities too. With a calibration these are had from its folds, where the calibrator, but not
        the learner, has seen the row; without one they take a fit for each fold.
        """
        calibrated = self.calibration is not None
        splitting = {"positive": positive, "weights": sample_weight, "groups": groups}
        folds = make_splits(self.cv, X, y, **splitting) if calibrated or held_out else []
        if calibrated:
            self._check_calibrates(folds, positive, sample_weight)
        if not calibrated:
            estimator = self._train_estimator(X, y, metadata)
            responses = self._held_out_responses(X, y, folds, PROBABILITIES, metadata)
        else:
            estimator = CalibratedClassifierCV(
                clone(self.estimator), method=self.calibration, cv=folds, n_jobs=self.n_jobs
            )
            with warnings.catch_warnings():
                # Of weights that the learner does not take, or takes by the name of a step: said or done before.
                warnings.filterwarnings("ignore", ".*does not appear to accept sample_weight", UserWarning)
                # The calibration is weighted even if the learner is not.
                estimator.fit(X, y, **{**metadata, "sample_weight": sample_weight})
            responses = _responses_of_folds(estimator, X, folds) if held_out else []
        if not held_out:
            return Probabilities(estimator, None)
        return Probabilities(estimator, mean_over_folds(map(target.to_positive_sign, responses), folds, len(positive)))

    def _check_calibrates(self, folds: Sequence[Fold], positive: Mask, sample_weight: Any) -> None:
        """Refuse folds whose held-out rows are of one class: there is no probability to be learnt from them."""
        counted = np.ones(len(positive), dtype=bool) if sample_weight is None else np.asarray(sample_weight) > 0
        for _, held_out in folds:
            part = f"the held-out rows of each fold of cv={self.cv!r}, on which probabilities are calibrated"
            rows = held_out[counted[held_out]]
            check_both_classes(positive[rows], part, "Use fewer or stratified folds, or calibration=None.")


def _responses_of_folds(calibrated: CalibratedClassifierCV, X: Any, folds: Sequence[Fold]) -> list[NDArray[Any]]:
    """What the model of each fold says of the rows it holds out, (n_fold, 2); a frozen learner is the same in all."""
    models = calibrated.calibrated_classifiers_
    models = models if len(models) == len(folds) else models * len(folds)
    return [model.predict_proba(safe_indexing(X, fold.valid)) for model, fold in zip(models, folds, strict=True)]
