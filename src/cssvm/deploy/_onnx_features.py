"""Graphs of ONNX under construction, and transformers as nodes of them: imputation, scaling, encoding of strings.

Every number is a float64: onnxruntime's own kernels for SVMs, scalers and imputers compute in float32, which changes
scores by 1e-4. Any other transformer is left to skl2onnx, which computes some of them in float32. A missing string
(None, NaN) is the empty string, as ONNX has no missing strings. Tensors of a table are (n, k), scores are (n,).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from .._core.sklearn_compat import column_indices
from .._preprocessing import CategoriesAsText

OPSETS = {"": 17, "ai.onnx.ml": 3}  # read by onnxruntime 1.12 and later
IR_VERSION = 8
ML = "ai.onnx.ml"
FLOAT, INT64, STRING, BOOL, DOUBLE = 1, 7, 8, 9, 11  # the types of ONNX's TensorProto
MISSING_STRING = ""
DTYPES = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}  # by kind; others are strings


@dataclass(frozen=True)
class Block:
    """A tensor (n, width) of numbers, or of strings."""

    tensor: str
    width: int
    strings: bool = False


Table = list[Block]  # its columns are those of the blocks, one after the other


@dataclass
class GraphBuilder:
    """Nodes, constants and inputs of a graph under construction; tensors are given by their names."""

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    domains: dict[str, int] = field(default_factory=lambda: dict(OPSETS))
    known: dict[Any, Any] = field(default_factory=dict)  # tensors that would be computed twice
    _n_names: int = 0

    def new_name(self, kind: str) -> str:
        """A name that no column of a table has: those do not begin with a slash and a number."""
        self._n_names += 1
        return f"/{self._n_names}/{kind}"

    def node(self, kind: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """Add a node and return its output; inputs that are not names of tensors become constants."""
        from onnx import helper

        tensors = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        output = self.new_name(kind)
        self.nodes.append(helper.make_node(kind, tensors, [output], domain=domain, **attributes))
        return output

    def constant(self, values: Any) -> str:
        """A constant: floats as float64, integers as int64, strings as strings."""
        from onnx import numpy_helper

        array = np.asarray(values)
        array = array.astype(DTYPES.get(array.dtype.kind, object), order="C")
        name = self.new_name("constant")
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def input(self, name: str, kind: int, width: int | None) -> str:
        """An input (n, width), or (n,) for a width of None; `kind` is a type of ONNX."""
        from onnx import helper

        shape = [None] if width is None else [None, width]
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def cast(self, tensor: str, kind: int = DOUBLE) -> str:
        """The tensor in another type of ONNX."""
        return self.node("Cast", tensor, to=kind)

    def codes(self, strings: str, numbers: dict[str, int], default: int) -> str:
        """The number of each string, int64."""
        keys, values = list(numbers), list(numbers.values())
        return self.node(
            "LabelEncoder", strings, domain=ML, keys_strings=keys, values_int64s=values, default_int64=default
        )

    def divided(self, X: str, values: Any) -> str:
        """The columns of a matrix, each divided by its own number; one column as in `times`."""
        values = np.asarray(values, dtype=np.float64)
        return self.node("MatMul", X, [1.0 / values]) if len(values) == 1 else self.node("Div", X, values)

    def times(self, vector: str, number: float) -> str:
        """A vector (n,) times a number, as a matrix product: onnxruntime fuses other products in float32."""
        return self.node("MatMul", self.node("Unsqueeze", vector, [1]), [float(number)])

    def concat(self, tensors: Sequence[str]) -> str:
        """Tensors (n, k) side by side."""
        return tensors[0] if len(tensors) == 1 else self.node("Concat", *tensors, axis=1)

    def matrix(self, table: Table) -> str:
        """All columns of a table as one matrix of numbers."""
        if any(block.strings for block in table):
            raise ValueError(
                "strings must be encoded before numbers are computed from them; got a column of strings. Pass columns "
                "with their kinds, or encode them in the pipeline."
            )
        return self.concat([block.tensor for block in table])

    def columns(self, table: Table, which: Sequence[int]) -> Table:
        """Some columns of a table, by number."""
        starts = np.concatenate([[0], np.cumsum([block.width for block in table])])
        chosen = []
        for column in which:
            at = int(np.searchsorted(starts, column, side="right")) - 1
            block, within = table[at], int(column - starts[at])
            if block.width > 1:
                block = Block(self.node("Gather", block.tensor, [within], axis=1), 1, block.strings)
            chosen.append(block)
        return chosen


def width(table: Table) -> int:
    """The number of columns."""
    return sum(block.width for block in table)


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


def _scaler(graph: GraphBuilder, step: StandardScaler | MaxAbsScaler, table: Table) -> Table:
    X = graph.matrix(table)
    if getattr(step, "with_mean", False):
        X = graph.node("Sub", X, step.mean_)
    if step.scale_ is not None:
        X = graph.divided(X, step.scale_)
    return [Block(X, width(table))]


def _imputer(graph: GraphBuilder, step: SimpleImputer, table: Table) -> Table:
    indicators = _indicator(graph, step.indicator_, table) if step.add_indicator else []
    if any(block.strings for block in table):
        filled = [
            graph.node("Where", _missing(graph, step, [block]), [str(fill)], block.tensor)
            for fill, block in zip(step.statistics_, table, strict=True)
        ]
        return [Block(tensor, 1, strings=True) for tensor in filled] + indicators
    fill = np.asarray(step.statistics_, dtype=np.float64)
    kept = np.flatnonzero(~np.isnan(fill))  # scikit-learn drops columns without any value
    if len(kept) < width(table):
        table, fill = graph.columns(table, kept.tolist()), fill[kept]
    X = Block(graph.matrix(table), width(table))
    return [Block(graph.node("Where", _missing(graph, step, [X]), fill, X.tensor), X.width), *indicators]


def _indicator(graph: GraphBuilder, step: MissingIndicator, table: Table) -> Table:
    read = graph.columns(table, step.features_.tolist())
    return [Block(graph.cast(_missing(graph, step, read)), width(read))] if read else []


def _missing(graph: GraphBuilder, step: Any, table: Table) -> str:
    """Which entries of a table of numbers, or of strings, are missing values of the step, (n, k)."""
    marker = step.missing_values
    if any(block.strings for block in table):
        codes = {MISSING_STRING if _is_missing(marker) else marker: 1}
        return graph.concat([graph.cast(graph.codes(block.tensor, codes, default=0), BOOL) for block in table])
    X = graph.matrix(table)
    return graph.node("IsNaN", X) if _is_missing(marker) else graph.node("Equal", X, float(marker))


def _encoder(graph: GraphBuilder, step: OneHotEncoder, table: Table) -> Table:
    """The output of the encoder for each category, looked up by the index of the category."""
    made: Table = []
    for j, block in enumerate(graph.columns(table, range(width(table)))):
        outputs = _category_outputs(step, j)
        code = _category_index(graph, block, step.categories_[j])
        made.append(Block(graph.node("Gather", outputs, code), outputs.shape[1]))
    return [block for block in made if block.width]


def _category_outputs(step: OneHotEncoder, column: int) -> np.ndarray:
    """The encoder's output for each category of a column, (n_categories + 1, n_outputs); last, for any other.

    If it raises an error for any other, that output is NaN, which makes the graph fail.
    """
    known = step.categories_[column]
    if known.dtype.kind in "OUT":
        other: Any = "?".join(str(each) for each in known.tolist()) + "?"
    else:
        other = float(np.nanmax(known)) + 1.0
    rows = np.empty((len(known) + 1, len(step.categories_)), dtype=object)
    rows[:] = [categories[0] for categories in step.categories_]
    rows[:, column] = [*known.tolist(), other]
    rejects = step.handle_unknown == "error"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of missing feature names, and of the unknown category
        encoded = step.transform(rows[:-1] if rejects else rows)
    encoded = np.asarray(encoded.toarray() if hasattr(encoded, "toarray") else encoded, dtype=np.float64)
    end = sum(step._n_features_outs[: column + 1])
    own = encoded[:, end - step._n_features_outs[column] : end]
    return np.vstack([own, np.full((1, own.shape[1]), np.nan)]) if rejects else own


def _category_index(graph: GraphBuilder, block: Block, known: np.ndarray) -> str:
    """The index of each entry's category (n,) int64; the number of categories for an unknown one."""
    flat = graph.node("Reshape", block.tensor, [-1])
    if block.strings:
        names = [MISSING_STRING if _is_missing(each) else str(each) for each in known.tolist()]
        numbers = {name: number for number, name in reversed(list(enumerate(names)))}
        return graph.codes(flat, numbers, default=len(known))
    values = np.array([np.nan if _is_missing(value) else float(value) for value in known.tolist()])
    column = graph.node("Reshape", block.tensor, [-1, 1])
    equal = graph.cast(graph.node("Equal", column, values), INT64)
    # At most one category equals an entry: its number and one, or zero.
    code = graph.node("ReduceMax", graph.node("Mul", equal, np.arange(1, len(values) + 1)), axes=[1], keepdims=0)
    if np.isnan(values).any():
        missing = graph.cast(graph.node("IsNaN", flat), INT64)
        code = graph.node("Add", code, graph.node("Mul", missing, int(np.argmax(np.isnan(values))) + 1))
    unknown = graph.node("Equal", code, 0)
    return graph.node("Where", unknown, len(values), graph.node("Sub", code, 1))


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or value != value


def _by_skl2onnx(graph: GraphBuilder, step: Any, table: Table) -> Table:
    return [Block(graph.cast(convert_by_skl2onnx(graph, step, table)[0]), len(step.get_feature_names_out()))]


def convert_by_skl2onnx(graph: GraphBuilder, step: Any, table: Table, **options: Any) -> list[str]:
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
    MaxAbsScaler: _scaler,
    OneHotEncoder: _encoder,
    CategoriesAsText: lambda graph, step, table: table,  # columns of categories are strings in a graph
}
