"""A graph under construction, and tables of tensors in it.

Every number is a float64: onnxruntime's own kernels for SVMs, scalers and imputers compute in float32, which changes
scores by 1e-4. Tensors of a table are (n, k), scores are (n,).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

OPSETS = {"": 17, "ai.onnx.ml": 3}  # read by onnxruntime 1.12 and later
IR_VERSION = 8
ML = "ai.onnx.ml"
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
        array = array.astype(DTYPES.get(array.dtype.kind, object))
        name = self.new_name("constant")
        self.constants.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def input(self, name: str, kind: int, width: int | None) -> str:
        """An input (n, width), or (n,) for a width of None; `kind` is a type of ONNX."""
        from onnx import helper

        shape = [None] if width is None else [None, width]
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def cast(self, tensor: str, kind: int) -> str:
        """The tensor in another type of ONNX."""
        return self.node("Cast", tensor, to=kind)

    def floats(self, tensor: str) -> str:
        """The tensor in float64."""
        from onnx import TensorProto

        return self.cast(tensor, TensorProto.DOUBLE)

    def divided(self, X: str, values: Any) -> str:
        """The columns of a matrix, each divided by its own number."""
        values = np.asarray(values, dtype=np.float64)
        if len(values) == 1:
            return self.node("MatMul", X, [[1.0 / values[0]]])  # for the reason given in `times`
        return self.node("Div", X, values)

    def times(self, vector: str, number: float) -> str:
        """A vector (n,) times a number.

        As a matrix product: onnxruntime fuses a product by one number with a matrix product next to it, and keeps the
        number in float32.
        """
        column = self.node("Unsqueeze", vector, [1])
        return self.node("MatMul", column, [float(number)])

    def concat(self, tensors: Sequence[str]) -> str:
        """Tensors (n, k) side by side."""
        return tensors[0] if len(tensors) == 1 else self.node("Concat", *tensors, axis=1)

    def matrix(self, table: Table) -> str:
        """All columns of a table as one matrix of numbers."""
        if any(block.strings for block in table):
            raise ValueError(
                "strings must be encoded before numbers are computed from them; got a column of strings where the "
                "model expects numbers. Pass columns with their kinds, or encode them in the pipeline."
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
