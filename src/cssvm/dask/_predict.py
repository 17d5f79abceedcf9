"""What a fitted model says of rows in dask arrays and data frames: lazily, block by block.

    blocks      each block of rows is one call of the model itself, so what it would say of them is what is said; blocks
                without rows are not shown to it
    the model   one task of the graph, which every block depends on: it travels once to each worker, and is made anew
                from the graph if a worker is lost
    costs       of a block go to `cssvm._core.decision.decide`, as they do everywhere else in this library

Labels are those of one call on all rows but where a score is within rounding of the threshold: products of matrices
are summed in an order that depends on how many rows there are at once.
"""

from __future__ import annotations

import uuid
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed

from .._core.prediction_costs import costs_for_predict, predict_with_costs
from .._core.types import is_number
from .._core.validation import align_to_samples

PREDICT, SCORES, PROBABILITIES = "predict", "decision_function", "predict_proba"


def predict(model: Any, X: Any, *, fn_cost: Any = None, fp_cost: Any = None) -> Any:
    """The class of each row of a dask collection, by the costs of the rows if they are given.

    Nothing is computed before ``.compute()``.

    Parameters
    ----------
    model : classifier
        Fitted: any estimator of this library, a pipeline or a search around one, or any classifier of scikit-learn.
    X : dask array of shape (n_samples, n_features) or dask data frame
        Rows; sizes of chunks may be unknown, blocks may be sparse or empty. Of a frame, the columns that the model was
        trained on are used, whatever else it has.
    fn_cost, fp_cost : float, str, dask array or dask series, default=None
        What a miss and a false alarm on each row cost, for a model that decides by them: a number, for a frame the name
        of one of its columns, or a collection in the blocks of X. None leaves it to the model.

    Returns
    -------
    dask array of shape (n_samples,), or dask series with the index of the frame

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from cssvm import CostSensitiveSVCCV
    >>> from cssvm.dask import predict
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> fraud = X[:, 0] + rng.normal(size=200) > 1
    >>> model = CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], decision="bayes", fn_cost=50.0, fp_cost=5.0).fit(X, fraud)
    >>> amounts = da.from_array(rng.lognormal(4, 1, 200), chunks=50)
    >>> labels = predict(model, da.from_array(X, chunks=(50, 2)), fn_cost=amounts)
    >>> labels
    dask.array<predict, shape=(200,), dtype=bool, chunksize=(50,), chunktype=numpy.ndarray>
    >>> bool((labels.compute() == model.predict(X, fn_cost=amounts.compute())).all())
    True
    """
    model = _local(model)
    costs = {name: cost for name, cost in (("fn_cost", fn_cost), ("fp_cost", fp_cost)) if cost is not None}
    useless = [name for name in costs if name not in costs_for_predict(model)]
    if useless:
        raise ValueError(
            f"{type(model).__name__} does not decide by {useless[0]} of the rows that it is given. Leave it out, or "
            'use a model that does, such as CostSensitiveSVCCV(decision="bayes").'
        )
    return _asked(model, X, PREDICT, costs)


def decision_function(model: Any, X: Any) -> Any:
    """The score of each row of a dask collection, positive for ``classes_[1]``.

    Parameters
    ----------
    model : classifier
        As for `predict`.
    X : dask array of shape (n_samples, n_features) or dask data frame
        As for `predict`.

    Returns
    -------
    dask array of shape (n_samples,), or dask series with the index of the frame

    Examples
    --------
    >>> import dask.array as da
    >>> from cssvm import CostSensitiveSVC
    >>> from cssvm.dask import decision_function
    >>> model = CostSensitiveSVC(kernel="linear", C=10.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> decision_function(model, da.arange(4, chunks=2)[:, None]).compute().round(6)
    array([-3., -1.,  1.,  3.])
    """
    return _asked(_local(model), X, SCORES, {})


def predict_proba(model: Any, X: Any) -> Any:
    """Probabilities of the two classes for each row of a dask collection.

    Parameters
    ----------
    model : classifier
        As for `predict`, with a `predict_proba` of its own.
    X : dask array of shape (n_samples, n_features) or dask data frame
        As for `predict`.

    Returns
    -------
    dask array of shape (n_samples, 2), or dask data frame with the index of the frame
        Columns in the order of ``classes_``; those of a frame are named by the classes.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from cssvm import CostSensitiveSVCCV
    >>> from cssvm.dask import predict_proba
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], decision="bayes").fit(X, X[:, 0] > 0)
    >>> predict_proba(model, da.from_array(X, chunks=(50, 2)))
    dask.array<predict_proba, shape=(200, 2), dtype=float64, chunksize=(50, 2), chunktype=numpy.ndarray>
    """
    return _asked(_local(model), X, PROBABILITIES, {})


def _local(model: Any) -> Any:
    """The model itself, or what an estimator of `cssvm.dask` has found."""
    return model.to_local() if hasattr(model, "to_local") else model


class _Shipped:
    """A model on its way to the workers; its name in the graph is its own, as models need not pickle alike twice."""

    def __init__(self, model: Any):
        self.model, self.name = model, uuid.uuid4().hex

    def __dask_tokenize__(self) -> Any:
        return type(self).__name__, self.name


def _asked(model: Any, X: Any, question: str, costs: dict[str, Any]) -> Any:
    """The answer of the model's method `question`, for all rows."""
    if not hasattr(model, "classes_"):
        raise ValueError(f"{type(model).__name__} must be a fitted classifier; it has no classes_. Call its fit first.")
    getattr(model, question)  # its own reason, now and not on a worker, if it has none
    shipped = delayed(_Shipped(model))
    if isinstance(X, dd.DataFrame | dd.Series):
        return _of_frame(shipped, model, X, question, costs)
    if not isinstance(X, da.Array) or X.ndim != 2:
        raise TypeError(
            f"X must be a dask array of shape (n_samples, n_features) or a dask data frame; got {_said(X)}. "
            f"For rows in memory call {question} of the model itself."
        )
    return _of_array(shipped, model, X, question, costs)


def _of_array(shipped: Any, model: Any, X: Any, question: str, costs: dict[str, Any]) -> Any:
    """The answer for a dask array, all columns of a row in one block."""
    _check_width(model, X.shape[1])
    X = X.rechunk({1: -1})
    given = {name: cost if is_number(cost) else _array_of(name, cost, X) for name, cost in costs.items()}
    pairs = [each for cost in given.values() for each in (cost, None if is_number(cost) else "i")]
    empty = _empty(model, question)
    return da.blockwise(
        _answered,
        "i" if empty.ndim == 1 else "ik",
        *(X, "ij", shipped, None, *pairs),
        question=question,
        names=tuple(given),
        new_axes={} if empty.ndim == 1 else {"k": empty.shape[1]},
        concatenate=True,
        align_arrays=False,
        name=f"{question}-{uuid.uuid4().hex}",
        dtype=empty.dtype,
        meta=empty,
    )


def _array_of(name: str, cost: Any, X: Any) -> Any:
    """Costs in the row chunks of X."""
    if isinstance(cost, dd.Series):
        cost = cost.to_dask_array()
    known = not any(np.isnan(X.chunks[0]))
    if not isinstance(cost, da.Array) and known and np.ndim(cost) == 1 and not isinstance(cost, str):
        cost = da.from_array(np.asarray(cost), chunks=-1)
    if not isinstance(cost, da.Array) or cost.ndim != 1:
        raise TypeError(
            f"{name} must be a number, or a dask array or series with one value for each row of X; got "
            f"{_said(cost)}. Make one of an array with dask.array.from_array(..., chunks=X.chunks[0])."
        )
    if known and not any(np.isnan(cost.chunks[0])):
        if len(cost) != X.shape[0]:
            raise ValueError(f"{name} must hold one value for each of the {X.shape[0]:,} rows of X; got {len(cost):,}.")
        return cost.rechunk((X.chunks[0],))
    _check_blocks(name, cost.numblocks[0], X.numblocks[0])
    return cost


def _of_frame(shipped: Any, model: Any, X: Any, question: str, costs: dict[str, Any]) -> Any:
    """The answer for a dask data frame, with its index and divisions."""
    if isinstance(X, dd.Series):
        raise TypeError("X must be a dask data frame; got a dask series. Pass frame[[column]] for a single column.")
    given = {name: cost if is_number(cost) else _series_of(name, cost, X) for name, cost in costs.items()}
    features = X[_columns(model, X, {cost for cost in costs.values() if isinstance(cost, str)})]
    return features.map_partitions(
        _answered,
        *(shipped, *given.values()),
        question=question,
        names=tuple(given),
        without_index=tuple(name for name, cost in costs.items() if isinstance(cost, da.Array)),
        meta=_at_index(_empty(model, question), X._meta.index[:0], model, question),
        align_dataframes=False,
    )


def _series_of(name: str, cost: Any, X: Any) -> Any:
    """Costs in the partitions of a frame."""
    if isinstance(cost, str):
        if cost not in X.columns:
            raise ValueError(
                f"{name} must be a number or a column of X; got {cost!r}, and the columns are {[*X.columns]}."
            )
        return X[cost]
    if isinstance(cost, da.Array) and cost.ndim == 1:
        _check_blocks(name, cost.numblocks[0], X.npartitions)
        return dd.from_dask_array(cost)
    if not isinstance(cost, dd.Series):
        raise TypeError(
            f"{name} must be a number, a column of X, or a dask series or array with one value for each row; got "
            f"{_said(cost)}. Put it into the frame as a column, X.assign({name}=...), and pass its name."
        )
    _check_blocks(name, cost.npartitions, X.npartitions)
    if X.known_divisions and cost.known_divisions and X.divisions != cost.divisions:
        raise ValueError(
            f"{name} must be divided as X is, at {X.divisions}; got divisions {cost.divisions}. Call "
            "repartition(divisions=X.divisions) on it."
        )
    return cost


def _check_blocks(name: str, got: int, expected: int) -> None:
    if got != expected:
        raise ValueError(
            f"{name} must have as many blocks as X, {expected:,}; got {got:,}. Repartition both alike, or pass it as "
            "a column of a frame by its name: Dask joins files of which it is to read few columns."
        )


def _columns(model: Any, X: Any, costs: set[str]) -> list[Any]:
    """The columns of a frame that the model reads: those it was trained on, or all, but for costs that are too many."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        missing = [name for name in names if name not in X.columns]
        if missing:
            raise ValueError(
                f"X has no column {missing[0]!r} ({len(missing):,} such columns), which {type(model).__name__} was "
                f"trained on; its columns are {[*X.columns]}."
            )
        return list(names)
    features = [name for name in X.columns if name not in costs]
    if getattr(model, "n_features_in_", len(features)) != len(features):
        features = list(X.columns)
    _check_width(model, len(features))
    return features


def _check_width(model: Any, width: Any) -> None:
    expected = getattr(model, "n_features_in_", width)
    if width != expected and not np.isnan(width):
        raise ValueError(f"X has {width:,} features, but {type(model).__name__} was trained on {expected:,}.")


def _answered(
    X: Any,
    shipped: _Shipped,
    *costs: Any,
    question: str,
    names: tuple[str, ...],
    without_index: tuple[str, ...] = (),
) -> Any:
    """What a model says of one block of rows, on a worker; costs `without_index` are in the order of the rows."""
    model, n_rows, framed = shipped.model, X.shape[0], hasattr(X, "iloc")
    if n_rows == 0:
        found = _empty(model, question)
    else:
        given = dict(zip(names, costs, strict=True))
        of_rows = align_to_samples(X, **given | {name: given[name].to_numpy() for name in without_index})
        for name, cost in of_rows.items():
            if np.ndim(cost) and len(cost) != n_rows:
                raise ValueError(
                    f"{name} must hold one value for each row of X; a block of {n_rows:,} rows came with {len(cost):,} "
                    "of them. Take both from the same frame, or chunk them alike."
                )
        rows = X.to_numpy() if framed and not hasattr(model, "feature_names_in_") else X
        found = np.asarray(
            predict_with_costs(model, rows, of_rows) if question == PREDICT else getattr(model, question)(rows)
        )
    return _at_index(found, X.index, model, question) if framed else found


def _empty(model: Any, question: str) -> Any:
    """The answer for no rows, in the types of any other."""
    if question == PREDICT:
        return np.empty(0, dtype=np.asarray(model.classes_).dtype)
    return np.empty((0, len(model.classes_)) if question == PROBABILITIES else 0)


def _at_index(found: Any, index: Any, model: Any, question: str) -> Any:
    """An answer as a series or as a data frame."""
    if found.ndim == 2:
        return pd.DataFrame(found, index=index, columns=list(model.classes_))
    return pd.Series(found, index=index, dtype=_label_dtype(model) if question == PREDICT else found.dtype)


def _label_dtype(model: Any) -> Any:
    """The type of a series of labels; that of words says that they are, without which Dask writes no Parquet."""
    classes = np.asarray(model.classes_)
    if all(isinstance(label, str) for label in classes):
        usual = pd.Series(["word"]).dtype  # object before pandas 3
        return usual if isinstance(usual, pd.StringDtype) else pd.StringDtype("pyarrow")
    return object if classes.dtype.kind == "S" else classes.dtype


def _said(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"{value!r}" if isinstance(value, str) else type(value).__name__ + (f" of shape {shape}" if shape else "")
