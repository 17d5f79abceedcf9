"""How costs and weights given to a wrapper reach the learner inside it.

With metadata routing the learner gets what it requests of `fn_cost`, `fp_cost` and `sample_weight`. Without, it gets
`sample_weight` if its `fit`, or that of the last step of a pipeline, takes it; costs are never passed on.
"""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object, process_routing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from ..classifier import BinaryClassifier
from ..folds import Fold
from ..sample import at_rows


class WrappedClassifier(MetaEstimatorMixin, BinaryClassifier):
    """A classifier of two classes around a learner, `estimator`, trained as `estimator_`."""

    estimator: Any
    estimator_: Any
    n_jobs: int | None

    def _check_estimator(self) -> None:
        """Refuse what cannot be trained, or gives no scores."""
        if not hasattr(self.estimator, "fit") or not (
            hasattr(self.estimator, "predict_proba") or hasattr(self.estimator, "decision_function")
        ):
            raise ValueError(
                f"estimator of {type(self).__name__} must have fit, and predict_proba or decision_function; got "
                f"estimator={reprlib.repr(self.estimator)}. Pass an instance of a binary classifier."
            )

    def _metadata_for_estimator(self, given: dict[str, Any], *, warn_unused: bool = True) -> dict[str, Any]:
        """What the learner's `fit` takes of the metadata given to this one's, by the names given here."""
        if get_config()["enable_metadata_routing"]:
            process_routing(self, "fit", **given)  # raises for metadata that the learner neither requests nor refuses
            names = get_routing_for_object(self.estimator).consumes("fit", given.keys())
            return {name: given[name] for name in names}
        if "sample_weight" not in given:
            return {}
        name = _weight_parameter(self.estimator)
        if name is not None:
            return {name: given["sample_weight"]}
        if warn_unused:
            warnings.warn(
                f"fit of {type(self.estimator).__name__} takes no sample_weight: it is trained without the "
                "weights. Enable metadata routing and request sample_weight where it is to be used.",
                stacklevel=4,
            )
        return {}

    def _train_estimator(self, X: Any, y: Any, metadata: dict[str, Any]) -> Any:
        """The learner trained on all rows, with the metadata under its own names."""
        return clone(self.estimator).fit(X, y, **self._routed(metadata))

    def _routed(self, metadata: dict[str, Any]) -> dict[str, Any]:
        if get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **metadata).estimator.fit)
        return metadata

    def _held_out_responses(
        self, X: Any, y: NDArray[Any], folds: Sequence[Fold], method: str, metadata: dict[str, Any]
    ) -> list[NDArray[Any]]:
        """What the learner trained on the other rows responds to those that each fold holds out, (n,) or (n, 2).

        `cross_val_predict` would give the learner labels 0 and 1 in place of the user's, which it may know by name.
        """
        metadata = self._routed(metadata)
        return Parallel(n_jobs=self.n_jobs)(
            delayed(_response)(clone(self.estimator), X, y, seen, held_out, method, metadata)
            for seen, held_out in folds
        )

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in `fit`."""
        return self.estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features seen in `fit`."""
        return self.estimator_.feature_names_in_

    def get_metadata_routing(self) -> MetadataRouter:
        """Requests of this classifier and of the estimator, as scikit-learn's metadata routing asks for them.

        Returns
        -------
        MetadataRouter
            The routing of `fit`, `predict` and `score`.
        """
        to_estimator = MethodMapping().add(caller="fit", callee="fit")
        return (
            MetadataRouter(owner=self).add_self_request(self).add(estimator=self.estimator, method_mapping=to_estimator)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.pairwise = inner.pairwise
        return tags


def _weight_parameter(estimator: Any) -> str | None:
    """The argument of `fit` by which the learner, or the last step of a pipeline, takes weights; None if none does."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if not hasattr(estimator, "steps"):
        return None
    step, last = estimator.steps[-1]
    inner = _weight_parameter(last)
    return None if inner is None else f"{step}__{inner}"


def _response(
    estimator: Any, X: Any, y: NDArray[Any], seen: Any, held_out: Any, method: str, metadata: dict[str, Any]
) -> NDArray[Any]:
    """Train on the rows `seen` and respond to those held out; a learner that takes a kernel matrix gets its parts."""
    own = {name: at_rows(value, seen) for name, value in metadata.items()}
    X_seen, y_seen = _safe_split(estimator, X, y, seen)
    X_new, _ = _safe_split(estimator, X, y, held_out, seen)
    return np.asarray(getattr(estimator.fit(X_seen, y_seen, **own), method)(X_new))
