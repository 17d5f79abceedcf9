"""Predictions of a fitted model for dask arrays and data frames: lazy, one call of the model for each block.

The model is one task of the graph, on which every block depends: it is sent once to each worker. Scores differ from
those of one call on all samples by the rounding of matrix products, whose order of sums depends on their size.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed

from .._core.alignment import align_to_samples
from .._core.decision import costs_for_predict, predict_with_costs
from .._core.validation import is_number


def predict(model: Any, X: Any, *, fn_cost: Any = None, fp_cost: Any = None) -> Any:
    """Predict the class of each sample of a dask collection, lazily.

    Parameters
    ----------
    model : classifier
        Fitted: any estimator of this library, a pipeline or a search around one, or any classifier of scikit-learn.
    X : dask array of shape (n_samples, n_features) or dask data frame
        Samples; sizes of chunks may be unknown, blocks may be sparse or empty. Of a data frame, the columns that the
        model was trained on are used; other columns are ignored.
    fn_cost, fp_cost : float, str, dask array or dask series, default=None
        Cost of a false negative and of a false positive for each sample, for models whose predictions depend on them: a
        number, the name of a column of the frame, or a collection in the blocks of X. If None, the costs that the model
        was trained with are used.

    Returns
    -------
    dask array of shape (n_samples,), or dask series with the index of the frame

    Examples
    --------
    >>> import dask.array as da
    >>> from cssvm import CostSensitiveSVC
    >>> from cssvm.dask import predict
    >>> model = CostSensitiveSVC(kernel="linear", C=10.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> predict(model, da.arange(4, chunks=2)[:, None]).compute()
    array([0, 0, 1, 1])
    """
    return _lazy(model, X, "predict", fn_cost=fn_cost, fp_cost=fp_cost)


def decision_function(model: Any, X: Any) -> Any:
    """Compute the score of each sample of a dask collection, positive for ``classes_[1]``, lazily.

    Parameters
    ----------
    model, X
        As for `predict`.

    Returns
    -------
    dask array of shape (n_samples,), or dask series with the index of the frame
    """
    return _lazy(model, X, "decision_function")


def predict_proba(model: Any, X: Any) -> Any:
    """Compute the probabilities of both classes for each sample of a dask collection, lazily.

    Parameters
    ----------
    model, X
        As for `predict`; the model must have `predict_proba`.

    Returns
    -------
    dask array of shape (n_samples, 2), or dask data frame with the index of the frame
        Columns in the order of ``classes_``; those of a frame are named by the classes.
    """
    return _lazy(model, X, "predict_proba")


def _lazy(model: Any, X: Any, method: str, **costs: Any) -> Any:
    """Return the lazy result of a method of the model for all samples."""
    model = model.to_local() if hasattr(model, "to_local") else model
    if not hasattr(model, "classes_"):
        raise ValueError(f"{type(model).__name__} must be a fitted classifier; it has no classes_. Call its fit first.")
    getattr(model, method)  # raises here, and not on a worker, if the model has none
    costs = {name: cost for name, cost in costs.items() if cost is not None}
    unused = [name for name in costs if name not in costs_for_predict(model)]
    if unused:
        raise ValueError(
            f"{type(model).__name__} ignores per-sample costs at prediction time; got {unused[0]}. Omit it, or use a "
            'model that does not, such as CostSensitiveSVCCV(decision="bayes").'
        )
    # One task with a random name: two pickles of one model may differ, so its contents do not identify it.
    shared = delayed(model, name=f"model-{uuid.uuid4().hex}", traverse=False)
    framed = isinstance(X, dd.DataFrame)
    if not framed and not (isinstance(X, da.Array) and X.ndim == 2):
        raise TypeError(
            f"X must be a dask array of shape (n_samples, n_features) or a dask data frame; got {_describe(X)}. "
            f"For samples in memory call {method} of the model itself."
        )
    given = {name: cost if is_number(cost) else _cost_blocks(name, cost, X) for name, cost in costs.items()}
    empty = _empty(model, method)
    if framed:
        features = X[_columns(model, X, {cost for cost in costs.values() if isinstance(cost, str)})]
        return features.map_partitions(
            _predict_block,
            *(shared, *given.values()),
            method=method,
            names=list(given),
            in_row_order=[name for name, cost in costs.items() if isinstance(cost, da.Array)],
            meta=_with_index(empty, X._meta.index[:0], model, method),
            align_dataframes=False,
        )
    _check_n_features(model, X.shape[1])
    pairs = [each for cost in given.values() for each in (cost, None if is_number(cost) else "i")]
    return da.blockwise(
        _predict_block,
        "i" if empty.ndim == 1 else "ik",
        *(X.rechunk({1: -1}), "ij", shared, None, *pairs),
        method=method,
        names=list(given),
        new_axes={} if empty.ndim == 1 else {"k": empty.shape[1]},
        concatenate=True,
        align_arrays=False,
        name=f"{method}-{uuid.uuid4().hex}",
        dtype=empty.dtype,
        meta=empty,
    )


def _cost_blocks(name: str, cost: Any, X: Any) -> Any:
    """Return costs in the blocks of X: a dask series for a frame, an array for an array."""
    framed = isinstance(X, dd.DataFrame)
    if framed and isinstance(cost, str):
        if cost not in X.columns:
            raise ValueError(
                f"{name} must be a number or a column of X; got {cost!r}, and the columns are {[*X.columns]}."
            )
        return X[cost]
    lengths = () if framed else X.chunks[0]
    known = not framed and not np.isnan(lengths).any()
    if known and not isinstance(cost, str | da.Array | dd.Series) and np.ndim(cost) == 1:
        cost = da.from_array(np.asarray(cost), chunks=-1)
    if not isinstance(cost, dd.Series) and not (isinstance(cost, da.Array) and cost.ndim == 1):
        fix = f"X.assign({name}=...)" if framed else "dask.array.from_array(..., chunks=X.chunks[0])"
        raise TypeError(
            f"{name} must be a number, or a dask array or series with one value for each row of X, or the name of a "
            f"column of a data frame; got {_describe(cost)}. Use {fix}."
        )
    if not framed and isinstance(cost, dd.Series):
        cost = cost.to_dask_array()
    if known and not np.isnan(cost.chunks[0]).any():
        if len(cost) != X.shape[0]:
            raise ValueError(f"{name} must hold one value for each of the {X.shape[0]:,} rows of X; got {len(cost):,}.")
        return cost.rechunk((lengths,))
    n_blocks = X.npartitions if framed else X.numblocks[0]
    if cost.npartitions != n_blocks:
        raise ValueError(
            f"{name} must have as many blocks as X, {n_blocks:,}; got {cost.npartitions:,}. Repartition both alike, or "
            "pass it as a column of a data frame by its name: Dask joins files of which it reads few columns."
        )
    if isinstance(cost, da.Array):
        return dd.from_dask_array(cost) if framed else cost
    if X.known_divisions and cost.known_divisions and X.divisions != cost.divisions:
        raise ValueError(
            f"{name} must have the divisions of X, {X.divisions}; got {cost.divisions}. Call "
            "repartition(divisions=X.divisions) on it."
        )
    return cost


def _columns(model: Any, X: Any, costs: set[str]) -> list[Any]:
    """Return the columns that the model was trained on, or all, without those of costs if that is their number."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        features = [name for name in X.columns if name not in costs]
        if getattr(model, "n_features_in_", len(features)) != len(features):
            features = list(X.columns)
        _check_n_features(model, len(features))
        return features
    missing = [name for name in names if name not in X.columns]
    if missing:
        raise ValueError(
            f"X has no column {missing[0]!r} ({len(missing):,} such columns), which {type(model).__name__} was trained "
            f"on; its columns are {[*X.columns]}."
        )
    return list(names)


def _check_n_features(model: Any, n_features: Any) -> None:
    expected = getattr(model, "n_features_in_", n_features)
    if n_features != expected and not np.isnan(n_features):
        raise ValueError(f"X has {n_features:,} features, but {type(model).__name__} was trained on {expected:,}.")


def _predict_block(
    X: Any, model: Any, *costs: Any, method: str, names: Sequence[str], in_row_order: Sequence[str] = ()
) -> Any:
    """Call a method of the model on one block; costs `in_row_order` have no index of their own."""
    n_rows, framed = X.shape[0], hasattr(X, "iloc")
    if n_rows == 0:
        found = _empty(model, method)
    else:
        given = dict(zip(names, costs, strict=True))
        of_rows = align_to_samples(X, **given | {name: given[name].to_numpy() for name in in_row_order})
        for name, cost in of_rows.items():
            if np.ndim(cost) and len(cost) != n_rows:
                raise ValueError(
                    f"{name} must hold one value for each row of X; a block of {n_rows:,} rows came with {len(cost):,} "
                    "of them. Take both from the same data frame, or use the same chunks."
                )
        rows = X.to_numpy() if framed and not hasattr(model, "feature_names_in_") else X
        found = predict_with_costs(model, rows, of_rows) if method == "predict" else getattr(model, method)(rows)
    return _with_index(np.asarray(found), X.index, model, method) if framed else np.asarray(found)


def _empty(model: Any, method: str) -> Any:
    """Return the result for no samples, with the type of all results."""
    if method == "predict":
        return np.empty(0, dtype=np.asarray(model.classes_).dtype)
    return np.empty((0, len(model.classes_)) if method == "predict_proba" else 0)


def _with_index(found: Any, index: Any, model: Any, method: str) -> Any:
    """Return a result as a series or as a data frame."""
    if found.ndim == 2:
        return pd.DataFrame(found, index=index, columns=list(model.classes_))
    classes, dtype = np.asarray(model.classes_), found.dtype
    if method == "predict" and all(isinstance(label, str) for label in classes):
        dtype = pd.Series(["text"]).dtype  # object before pandas 3, but Dask writes only typed strings to Parquet
        dtype = dtype if isinstance(dtype, pd.StringDtype) else pd.StringDtype("pyarrow")
    elif method == "predict":
        dtype = object if classes.dtype.kind == "S" else classes.dtype
    return pd.Series(found, index=index, dtype=dtype)


def _describe(value: Any) -> str:
    if isinstance(value, dd.Series):
        return "a dask series"
    shape = getattr(value, "shape", None)
    return f"{value!r}" if isinstance(value, str) else type(value).__name__ + (f" of shape {shape}" if shape else "")
