"""Transformers as nodes of a graph: imputation, scaling, encoding of strings.

The usual ones are written here in float64; any other is left to skl2onnx, which computes some of them in float32.
A missing string (None, NaN) is the empty string, as ONNX has no missing strings.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from ..._core.sklearn_compat import column_indices
from ..._preprocessing import CategoriesAsText
from .graph_builder import ML, OPSETS, Block, GraphBuilder, Table, width

MISSING_STRING = ""


def convert_features(graph: GraphBuilder, step: Any, table: Table) -> Table:
    """The table that a fitted transformer returns for `table`."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return table
    return STEPS.get(type(step), _by_skl2onnx)(graph, step, table)


def _pipeline(graph: GraphBuilder, steps: Pipeline, table: Table) -> Table:
    for _, step in steps.steps:
        table = convert_features(graph, step, table)
    return table


def _column_transformer(graph: GraphBuilder, step: ColumnTransformer, table: Table) -> Table:
    made: Table = []
    for name, branch, _ in step.transformers_:
        read = list(column_indices(step, name))
        if not len(read) or (isinstance(branch, str) and branch == "drop"):
            continue
        part = convert_features(graph, branch, graph.columns(table, read))
        if name in (step.transformer_weights or {}):
            factors = np.full(width(part), step.transformer_weights[name], dtype=np.float64)
            part = [Block(graph.divided(graph.matrix(part), 1.0 / factors), width(part))]
        made += part
    return made


def _scaler(graph: GraphBuilder, step: StandardScaler, table: Table) -> Table:
    X = graph.matrix(table)
    if step.with_mean:
        X = graph.node("Sub", X, step.mean_)
    if step.with_std:
        X = graph.divided(X, step.scale_)
    return [Block(X, width(table))]


def _max_abs_scaler(graph: GraphBuilder, step: MaxAbsScaler, table: Table) -> Table:
    return [Block(graph.divided(graph.matrix(table), step.scale_), width(table))]


def _imputer(graph: GraphBuilder, step: SimpleImputer, table: Table) -> Table:
    indicators = _indicator(graph, step.indicator_, table) if step.add_indicator else []
    if any(block.strings for block in table):
        missing = [_missing_strings(graph, step, block) for block in table]
        filled = [
            graph.node("Where", where, [str(fill)], block.tensor)
            for where, fill, block in zip(missing, step.statistics_, table, strict=True)
        ]
        return [Block(tensor, 1, strings=True) for tensor in filled] + indicators
    fill = np.asarray(step.statistics_, dtype=np.float64)
    kept = np.flatnonzero(~np.isnan(fill))  # scikit-learn drops columns without any value
    if len(kept) < width(table):
        table, fill = graph.columns(table, kept.tolist()), fill[kept]
    X = graph.matrix(table)
    filled_in = graph.node("Where", _missing_numbers(graph, step, X), fill, X)
    return [Block(filled_in, width(table)), *indicators]


def _indicator(graph: GraphBuilder, step: MissingIndicator, table: Table) -> Table:
    read = graph.columns(table, step.features_.tolist())
    if not read:
        return []
    if any(block.strings for block in read):
        missing = graph.concat([_missing_strings(graph, step, block) for block in read])
    else:
        missing = _missing_numbers(graph, step, graph.matrix(read))
    return [Block(graph.floats(missing), width(read))]


def _missing_numbers(graph: GraphBuilder, step: Any, X: str) -> str:
    """Which numbers are missing values of the step."""
    if _is_missing(step.missing_values):
        return graph.node("IsNaN", X)
    return graph.node("Equal", X, float(step.missing_values))


def _missing_strings(graph: GraphBuilder, step: Any, block: Block) -> str:
    """Which strings are missing values of the step."""
    from onnx import TensorProto

    missing = MISSING_STRING if _is_missing(step.missing_values) else step.missing_values
    keys: dict[str, Any] = {"keys_strings": [missing], "values_int64s": [1], "default_int64": 0}
    return graph.cast(graph.node("LabelEncoder", block.tensor, domain=ML, **keys), TensorProto.BOOL)


def _encoder(graph: GraphBuilder, step: OneHotEncoder, table: Table) -> Table:
    """The output of the encoder for each category, in a table: dropped and infrequent ones need no rules here."""
    made: Table = []
    for j, block in enumerate(graph.columns(table, range(width(table)))):
        outputs = _outputs(step, j)
        code = _code(graph, block, step.categories_[j])
        made.append(Block(graph.node("Gather", outputs, code), outputs.shape[1]))
    return [block for block in made if block.width]


def _outputs(step: OneHotEncoder, column: int) -> np.ndarray:
    """The encoder's output for each category of a column, (n_categories + 1, n_outputs); last, for any other.

    If it raises an error for any other, that output is NaN, which makes the graph fail.
    """
    known = step.categories_[column]
    rows = np.empty((len(known) + 1, len(step.categories_)), dtype=object)
    rows[:] = [categories[0] for categories in step.categories_]
    rows[:, column] = [*known.tolist(), _unlike(known)]
    rejects = step.handle_unknown == "error"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of missing feature names, and of the unknown category
        encoded = step.transform(rows[:-1] if rejects else rows)
    encoded = np.asarray(encoded.toarray() if hasattr(encoded, "toarray") else encoded, dtype=np.float64)
    end = sum(step._n_features_outs[: column + 1])
    own = encoded[:, end - step._n_features_outs[column] : end]
    return np.vstack([own, np.full((1, own.shape[1]), np.nan)]) if rejects else own


def _unlike(known: np.ndarray) -> Any:
    """A string, or a number, that is none of these."""
    if known.dtype.kind in "OUT":
        return "?".join(str(each) for each in known.tolist()) + "?"
    return float(np.nanmax(known)) + 1.0


def _code(graph: GraphBuilder, block: Block, known: np.ndarray) -> str:
    """The index of each entry's category (n,) int64; the number of categories for an unknown one."""
    from onnx import TensorProto

    flat = graph.node("Reshape", block.tensor, [-1])
    if block.strings:
        names = [MISSING_STRING if _is_missing(each) else str(each) for each in known.tolist()]
        numbers = {name: number for number, name in reversed(list(enumerate(names)))}
        return graph.node(
            "LabelEncoder",
            flat,
            domain=ML,
            keys_strings=list(numbers),
            values_int64s=list(numbers.values()),
            default_int64=len(known),
        )
    values = np.array([np.nan if _is_missing(value) else float(value) for value in known.tolist()])
    column = graph.node("Reshape", block.tensor, [-1, 1])
    equal = graph.cast(graph.node("Equal", column, values), TensorProto.INT64)
    # At most one category equals an entry: its number and one, or zero.
    code = graph.node("ReduceMax", graph.node("Mul", equal, np.arange(1, len(values) + 1)), axes=[1], keepdims=0)
    if np.isnan(values).any():
        missing = graph.cast(graph.node("IsNaN", flat), TensorProto.INT64)
        code = graph.node("Add", code, graph.node("Mul", missing, int(np.argmax(np.isnan(values))) + 1))
    unknown = graph.node("Equal", code, 0)
    return graph.node("Where", unknown, len(values), graph.node("Sub", code, 1))


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or value != value


def _by_skl2onnx(graph: GraphBuilder, step: Any, table: Table) -> Table:
    outputs = inlined(graph, step, table)
    return [Block(graph.floats(outputs[0]), len(step.get_feature_names_out()))]


def inlined(graph: GraphBuilder, step: Any, table: Table, **options: Any) -> list[str]:
    """The outputs of a step that skl2onnx converts; its nodes are added to the graph."""
    from onnx import compose, helper

    try:
        from skl2onnx import convert_sklearn
        from skl2onnx.common.data_types import DoubleTensorType

        types = [("X", DoubleTensorType([None, width(table)]))]
        made = convert_sklearn(step, initial_types=types, target_opset=dict(OPSETS), options=options or None)
    except Exception as error:  # skl2onnx raises errors of many types, none of which names the step as users know it
        raise ValueError(
            f"{type(step).__name__} cannot be converted to ONNX: {str(error).splitlines()[0]} Use a step that skl2onnx "
            "converts, or serve the model from its file with load_model."
        ) from error
    made = compose.add_prefix(made, prefix=graph.new_name(type(step).__name__) + "/")
    graph.nodes.append(helper.make_node("Identity", [graph.matrix(table)], [made.graph.input[0].name]))
    graph.nodes.extend(made.graph.node)
    graph.constants.extend(made.graph.initializer)
    for opset in made.opset_import:
        graph.domains[opset.domain] = max(opset.version, graph.domains.get(opset.domain, 1))
    return [output.name for output in made.graph.output]


STEPS: dict[type, Callable[[GraphBuilder, Any, Table], Table]] = {
    Pipeline: _pipeline,
    ColumnTransformer: _column_transformer,
    SimpleImputer: _imputer,
    MissingIndicator: _indicator,
    StandardScaler: _scaler,
    MaxAbsScaler: _max_abs_scaler,
    OneHotEncoder: _encoder,
    CategoriesAsText: lambda graph, step, table: table,  # columns of categories are strings in a graph
}
