"""What this library uses of scikit-learn beyond its public names: the only module that imports private ones.

safe_indexing           no public function takes rows of arrays, sparse matrices, pandas and polars frames alike
BaseSearchCV            the only common base class of grid searches and random searches
PlattScaling            CalibratedClassifierCV fits the same sigmoid, but not to scores that are given
Scorer                  scorers made by the public `make_scorer` cannot pass costs to `predict`
column_indices          a ColumnTransformer keeps the columns of each transformer in a private attribute
rbf_sampler_gamma       so does an RBFSampler the gamma that "scale" means
metadata_requests       the public `get_routing_for_object` copies the requests and hides them in routers
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import get_routing_for_object

__all__ = ["safe_indexing"]  # is imported from here

LARGEST_SEED = np.iinfo(np.int32).max


def __getattr__(name: str) -> Any:
    """Classes whose modules are slow to import, imported at first use."""
    if name == "PlattScaling":
        from sklearn.calibration import _SigmoidCalibration as found
    elif name == "Scorer":
        from sklearn.metrics._scorer import _Scorer as found
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def is_search(estimator: Any) -> bool:
    """Whether this is one of scikit-learn's searches over parameters."""
    from sklearn.model_selection._search import BaseSearchCV

    return isinstance(estimator, BaseSearchCV)


def uses_groups(cv: Any) -> bool:
    """Whether a splitter of scikit-learn splits by groups."""
    return bool(get_routing_for_object(cv).consumes("split", ["groups"]))


def metadata_requests(estimator: Any, method: str) -> dict[str, Any] | None:
    """The metadata requests of an estimator itself for a method, by name; None if it cannot have any."""
    if not hasattr(estimator, "_get_metadata_request"):
        return None
    return getattr(estimator._get_metadata_request(), method).requests


def take_rows(estimator: Any, X: Any, y: Any, rows: Any, fitted_on: Any = None) -> tuple[Any, Any]:
    """These rows of X and y; of a kernel matrix, if the estimator takes one, only the columns it is fitted on."""
    if not get_tags(estimator).input_tags.pairwise:
        return safe_indexing(X, rows), safe_indexing(y, rows)
    if not hasattr(X, "shape") or X.shape[0] != X.shape[1]:
        raise ValueError(
            f"X must be a square kernel matrix, an array or a sparse one, for {type(estimator).__name__}; got "
            f"{f'shape {X.shape}' if hasattr(X, 'shape') else type(X).__name__}. Pass the kernel values of all samples."
        )
    return X[np.ix_(rows, rows if fitted_on is None else fitted_on)], safe_indexing(y, rows)


def clone_with_seed(estimator: Any, seed: int | None) -> Any:
    """A clone, all of its `random_state` parameters set from the seed, if there is one."""
    cloned = clone(estimator)
    if seed is not None:
        generator = check_random_state(seed)
        names = [name for name in sorted(cloned.get_params()) if name.rpartition("__")[2] == "random_state"]
        cloned.set_params(**{name: generator.randint(LARGEST_SEED) for name in names})
    return cloned


def column_indices(transformer: Any, name: str) -> Any:
    """The column numbers that a fitted ColumnTransformer passes to the transformer of this name."""
    return transformer._transformer_to_input_indices[name]


def rbf_sampler_gamma(sampler: Any) -> float:
    """The gamma of a fitted RBFSampler as a number."""
    return float(sampler._gamma)
