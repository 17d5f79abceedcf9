"""How costs and weights given to a wrapper reach the learners inside it, and how these are trained on some rows.

With metadata routing a learner gets what it requests of `fn_cost`, `fp_cost` and `sample_weight`. Without, it gets
`sample_weight` if its `fit`, or that of the last step of a pipeline, takes it; costs are never passed on.
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
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from .._core.classifier import BinaryClassifier
from .._core.folds import Fold
from .._core.positive_class import RESPONSE_METHODS
from .._core.sklearn_compat import take_rows
from .._core.types import RowNumbers, Vector
from .._core.validation import take_samples

ESTIMATOR = "estimator"


class WrappedClassifier(MetaEstimatorMixin, BinaryClassifier):
    """A classifier of two classes around a learner, `estimator`, trained as `estimator_`."""

    _learners: tuple[str, ...] = (ESTIMATOR,)  # parameters that hold one
    estimator: Any
    estimator_: Any
    n_jobs: int | None

    def _check_estimator(self) -> None:
        """Refuse what cannot be trained, or gives no scores."""
        scores = any(hasattr(self.estimator, method) for method in RESPONSE_METHODS)
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit") or not scores:
            raise ValueError(
                f"estimator of {type(self).__name__} must have fit, and predict_proba or decision_function; got "
                f"estimator={reprlib.repr(self.estimator)}. Pass an instance of a binary classifier."
            )

    def _metadata_for(
        self, learner: str, given: dict[str, Any], *, warn_unused: bool = True, stacklevel: int = 4
    ) -> dict[str, Any]:
        """What the `fit` of a learner takes of the metadata given to this one's, by the names given here."""
        estimator = getattr(self, learner)
        if get_config()["enable_metadata_routing"]:
            process_routing(self, "fit", **given)  # raises for metadata that a learner neither requests nor refuses
            names = get_routing_for_object(estimator).consumes("fit", given.keys())
            return {name: given[name] for name in names}
        if "sample_weight" not in given:
            return {}
        name = _weight_parameter(estimator)
        if name is not None:
            return {name: given["sample_weight"]}
        if warn_unused:
            warnings.warn(
                f"fit of {type(estimator).__name__} takes no sample_weight: it is trained without the "
                "weights. Enable metadata routing and request sample_weight where it is to be used.",
                stacklevel=stacklevel,
            )
        return {}

    def _train_estimator(self, X: Any, y: Any, metadata: dict[str, Any], seed: int | None = None) -> Any:
        """The learner trained on all rows, with the metadata under its own names."""
        return seeded(self.estimator, seed).fit(X, y, **self._routed(metadata))

    def _routed(self, metadata: dict[str, Any], learner: str = ESTIMATOR) -> dict[str, Any]:
        """The metadata of a learner by the names that its `fit` has for them."""
        if get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **metadata)[learner].fit)
        return metadata

    def _held_out_responses(
        self,
        X: Any,
        y: NDArray[Any],
        folds: Sequence[Fold],
        method: str,
        metadata: dict[str, Any],
        seeds: Iterable[int | None] | None = None,
    ) -> list[NDArray[Any]]:
        """What the learner trained on the other rows responds to those that each fold holds out, (n,) or (n, 2).

        `cross_val_predict` would give the learner labels 0 and 1 in place of the user's, which it may know by name.
        """
        metadata = self._routed(metadata)
        seeds = [None] * len(folds) if seeds is None else seeds
        return Parallel(n_jobs=self.n_jobs)(
            delayed(_response)(seeded(self.estimator, seed), X, y, seen, held_out, method, metadata)
            for seed, (seen, held_out) in zip(seeds, folds, strict=True)
        )

    def _train_members(
        self, X: Any, y: NDArray[Any], draws: Sequence[RowNumbers], seeds: Sequence[int], metadata: dict[str, Any]
    ) -> list[Any]:
        """A learner for each draw of rows, trained on them."""
        metadata = self._routed(metadata)
        return Parallel(n_jobs=self.n_jobs)(
            delayed(_trained)(seeded(self.estimator, seed), X, y, rows, metadata)
            for seed, rows in zip(seeds, draws, strict=True)
        )

    @property
    def _trained_learner(self) -> Any:
        """One that was trained, for its features."""
        return self.estimator_

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in `fit`."""
        return self._trained_learner.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features seen in `fit`."""
        return self._trained_learner.feature_names_in_

    def get_metadata_routing(self) -> MetadataRouter:
        """Requests of this classifier and of the estimator, as scikit-learn's metadata routing asks for them.

        Returns
        -------
        MetadataRouter
            The routing of `fit`, `predict` and `score`.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        for name, learner in self._given_learners().items():
            router.add(**{name: learner}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def _given_learners(self) -> dict[str, Any]:
        """The learners inside, by the names of their parameters."""
        learners = {name: getattr(self, name) for name in self._learners}
        return {name: learner for name, learner in learners.items() if learner is not None}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = [get_tags(learner).input_tags for learner in self._given_learners().values()]
        tags.input_tags.sparse = all(each.sparse for each in inner)
        tags.input_tags.allow_nan = all(each.allow_nan for each in inner)
        tags.input_tags.pairwise = get_tags(self.estimator).input_tags.pairwise
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


def takes_weights(metadata: dict[str, Any]) -> bool:
    """Whether weights are among the metadata of a learner, or of a step of it."""
    return any(name.rpartition("__")[2] == "sample_weight" for name in metadata)


def seeded(estimator: Any, seed: int | None) -> Any:
    """A clone of the estimator, all its random states set from the seed, if there is one."""
    own = clone(estimator)
    if seed is not None:
        from sklearn.ensemble._base import _set_random_states  # here: it takes a fifth of a second

        _set_random_states(own, seed)
    return own


def mean_over_folds(values: Iterable[Vector], folds: Sequence[Fold], n_rows: int) -> Vector:
    """The mean of the values of each row over the folds that hold it out, (n_rows,); nan where none does."""
    total, times = np.zeros(n_rows), np.zeros(n_rows)
    for own, fold in zip(values, folds, strict=True):
        total[fold.valid] += own
        times[fold.valid] += 1.0
    return np.divide(total, times, out=np.full(n_rows, np.nan), where=times > 0)


def _trained(estimator: Any, X: Any, y: NDArray[Any], rows: RowNumbers, metadata: dict[str, Any]) -> Any:
    """Train on these rows; a learner that takes a kernel matrix gets its part."""
    own = {name: take_samples(value, rows) for name, value in metadata.items()}
    X_own, y_own = take_rows(estimator, X, y, rows)
    return estimator.fit(X_own, y_own, **own)


def _response(
    estimator: Any, X: Any, y: NDArray[Any], seen: Any, held_out: Any, method: str, metadata: dict[str, Any]
) -> NDArray[Any]:
    """Train on the rows `seen` and respond to those held out; a learner that takes a kernel matrix gets its parts."""
    X_new, _ = take_rows(estimator, X, y, held_out, seen)
    return np.asarray(getattr(_trained(estimator, X, y, seen, metadata), method)(X_new))
