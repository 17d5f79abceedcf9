"""Learners trained on draws of the rows, whose probabilities, scores or votes are averaged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, get_tags

from .._core.positive_class import finite_response
from .._core.types import RowNumbers, Vector, is_integer
from .probabilities import PROBABILITIES
from .routing import WrappedClassifier, takes_weights

SOFT, HARD = "soft", "hard"
VOTES = "predict"

LARGEST_SEED = np.iinfo(np.int32).max


class EnsembleClassifier(WrappedClassifier):
    """A wrapper that trains its learner on several draws of the rows."""

    n_estimators: int
    voting: str
    random_state: Any
    _n_rows: int  # of the training rows, set in fit

    def _check_members(self) -> None:
        """Refuse a learner, a number of them or a voting that cannot be used."""
        self._check_estimator()
        name = type(self).__name__
        if not is_integer(self.n_estimators) or self.n_estimators < 1:
            raise ValueError(
                f"n_estimators of {name} must be an integer of at least 1; got n_estimators={self.n_estimators!r}."
            )
        if self.voting not in (SOFT, HARD):
            raise ValueError(f'voting of {name} must be "{SOFT}" or "{HARD}"; got voting={self.voting!r}.')

    def _seeds(self, n_more: int = 0) -> list[int]:
        """A seed for each member, and some more."""
        generator = check_random_state(self.random_state)
        return generator.randint(LARGEST_SEED, size=self.n_estimators + n_more).tolist()

    @property
    def _method(self) -> str:
        """What members are asked for: probabilities, or scores if they have none; or votes."""
        if self.voting == HARD:
            return VOTES
        return PROBABILITIES if hasattr(self.estimator, PROBABILITIES) else "decision_function"

    def _for_target(self, response: NDArray[Any]) -> Vector:
        """What a member says of the target: its probability, a score for it, or a vote of 0 or 1; (n,) float64."""
        if self._method == VOTES:
            return (response == self._positive_class.label).astype(np.float64)
        return self._positive_class.to_positive_sign(response)

    def _columns(self, X: Any, rows: RowNumbers) -> Any:
        """X, or of a kernel matrix between new and all training rows the columns of these."""
        if not self._pairwise:
            return X
        if X.shape[1] != self._n_rows:
            raise ValueError(
                f"X must be the kernel matrix between new rows and the {self._n_rows} training rows of "
                f"{type(self).__name__}; got shape {X.shape}."
            )
        return X[:, rows]

    @property
    def _pairwise(self) -> bool:
        return get_tags(self.estimator).input_tags.pairwise

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in `fit`."""
        return self._n_rows if self._pairwise else self._trained_learner.n_features_in_


def draw_weights(weights: Vector, metadata: dict[str, Any]) -> Vector:
    """What weights count for in draws: rows of weight 0 are absent; the rest counts if the learner does not take it."""
    return (weights > 0).astype(np.float64) if takes_weights(metadata) else weights


def respond(member: Any, method: str, X: Any) -> NDArray[Any]:
    """The labels, probabilities or scores that a member gives to rows; numbers are finite."""
    return np.asarray(member.predict(X)) if method == VOTES else finite_response(member, method, X)
