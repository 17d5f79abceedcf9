"""What a miss costs where that is not known: amounts of the rows of the target, carried over to any row.

    amount(x) = E[fn_cost | x, target],    a regression over the rows of the target

A donor's gift or a fraud's amount is known for rows of the target only, and these are no random sample of all rows:
who is likely to give may also give more, or less. The correction of Zadrozny and Elkan (2001), after Heckman (1979),
hands the probability of the target to the regressor as a further feature,

    amount(x) = r(x, p(x)),

in training the probability that the row gets from a model which has not seen it. A plain one would be close to 1 on
the very rows that the regressor learns from, and on no others.
"""

from __future__ import annotations

import reprlib
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from sklearn.utils import get_tags

from .._core.sklearn_compat import safe_indexing
from .._core.types import RowNumbers, Vector
from .._core.validation import is_pandas, take_samples
from .routing import WrappedClassifier

AMOUNTS = "amount_estimator"
PROBABILITY_COLUMN = "target_probability"


class Amounts(NamedTuple):
    """A regressor of amounts that is trained; corrected : whether it has the probability among its features."""

    regressor: Any
    corrected: bool

    def of(self, X: Any, probability: Vector) -> Vector:
        """The estimated amount of each row, (n,) float64, at least 0."""
        rows = with_probability(X, probability) if self.corrected else X
        amounts = np.asarray(self.regressor.predict(rows), dtype=np.float64).reshape(len(probability))
        if not np.isfinite(amounts).all():
            raise ValueError(
                f"predict of {type(self.regressor).__name__}, the {AMOUNTS}, must return finite amounts; got "
                f"{amounts[~np.isfinite(amounts)][0]}. Scale the features, or use another regressor."
            )
        return np.maximum(amounts, 0.0)  # a straight line may go below


class EstimatingClassifier(WrappedClassifier):
    """A wrapper with a second learner, the regressor `amount_estimator`."""

    _learners = ("estimator", AMOUNTS)
    amount_estimator: Any

    def _check_amount_estimator(self) -> None:
        """Refuse what is no regressor, and a learner whose rows can have no further feature."""
        name = type(self).__name__
        given = self.amount_estimator
        if isinstance(given, type) or not hasattr(given, "fit") or not is_regressor(given):
            raise ValueError(
                f"{AMOUNTS} of {name} must be a regressor; got {AMOUNTS}={reprlib.repr(given)}. Pass "
                "for example LinearRegression(), or a pipeline that ends with one."
            )
        if get_tags(self.estimator).input_tags.pairwise:
            raise ValueError(
                f"estimator of {name} must take features, as the {AMOUNTS} does; got "
                f"{reprlib.repr(self.estimator)}, which takes a kernel matrix. Use its kernel by name."
            )

    def _learn_amounts(
        self, X: Any, amounts: Vector, rows: RowNumbers, probability: Vector | None, metadata: dict[str, Any]
    ) -> Amounts:
        """Train the regressor on these rows.

        amounts : (n,) read on `rows` only; probability : (n,), by models that have not seen the rows, nan where there
        is none, or None to do without the correction; metadata : what the regressor's `fit` takes.
        """
        if probability is not None:
            rows = rows[np.isfinite(probability[rows])]
        if not len(rows):
            raise ValueError(
                f"{AMOUNTS} of {type(self).__name__} needs rows of the target, with positive weight, that a fold holds "
                "out; got none. Use stratified folds, or selection_correction=False."
            )
        own = {name: take_samples(value, rows) for name, value in self._routed(metadata, AMOUNTS).items()}
        X_own = safe_indexing(X, rows)
        if probability is not None:
            X_own = with_probability(X_own, probability[rows])
        return Amounts(clone(self.amount_estimator).fit(X_own, amounts[rows], **own), probability is not None)


def with_probability(X: Any, probability: Vector) -> Any:
    """X with one feature more, the probability of the target; in a frame a column named "target_probability"."""
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_array(probability[:, np.newaxis])], format="csr")
    names = list(getattr(X, "columns", ()))
    if PROBABILITY_COLUMN in names:
        raise ValueError(
            f"X must have no column {PROBABILITY_COLUMN!r}, which is added for the {AMOUNTS}; got one. Rename it."
        )
    if names and all(isinstance(name, str) for name in names):
        if is_pandas(X):
            return X.assign(**{PROBABILITY_COLUMN: probability})
        if hasattr(X, "with_columns"):
            import polars as pl  # the frame is one of it

            return X.with_columns(pl.Series(PROBABILITY_COLUMN, probability))
    return np.column_stack([np.asarray(X), probability])
