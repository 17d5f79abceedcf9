"""The whole graph of a model: inputs, features, scores, the decision, outputs.

    output_label          (n,)    the class that `predict` returns
    output_score          (n,)    what `decision_function` returns, float64
    output_probability    (n, 2)  what `predict_proba` returns, where costs decide

With `row_costs` there are two more inputs, `fn_cost` and `fp_cost`, (n,) or (1,) float64, and the score is relative to
them: the probability of the positive class less fp_cost / (fn_cost + fp_cost) of the row, with the sign that belongs to
``classes_[1]``.

A score that is not finite has no label: its index in the table of labels does not exist, and the run fails, as
`predict` does. Costs that `predict` rejects, negative, missing or infinite, give such a score, and so do costs whose
number is neither one nor that of the rows.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ... import __version__
from ..._core.positive_class import PositiveClass
from ..._core.prediction_costs import COSTS
from ..._meta import CostThresholdClassifier
from ..._search.base import BaseSVCSearchCV
from .._card import CATEGORY, Column, ModelCard
from .._introspect import model_columns
from .._model_file import SavedModel
from .graph_builder import IR_VERSION, Block, GraphBuilder, Table
from .scores import Costs, decision_values, probabilities, unwrapped

LABEL, SCORE, PROBABILITY = "output_label", "output_score", "output_probability"
MATRIX = "X"


def to_onnx(
    model: Any, columns: Sequence[Column] | None = None, *, float32_input: bool = False, row_costs: bool = False
) -> Any:
    """Convert a fitted model to an ONNX graph that returns the same decisions as `predict`.

    All numbers in the graph are float64, so that scores agree with those of Python up to rounding errors.

    Parameters
    ----------
    model : classifier or SavedModel
        Fitted: a kernel SVM with a linear, rbf, polynomial or sigmoid kernel, a search, `CostThresholdClassifier` with
        sigmoid calibration or a tuned threshold, `DesignedLossClassifier` without feature map, or a pipeline that ends
        with one of them. An error names what cannot be converted.
    columns : sequence of Column, default=None
        The columns of the table that the model reads. If None, those of the card of a `SavedModel`, or else those of
        the model, in which columns that an encoder of strings reads are categories.
    float32_input : bool, default=False
        Whether numbers come as float32; they are cast to float64 first.
    row_costs : bool, default=False
        Whether the costs of each row are inputs of the graph, for a model whose `predict` takes them. The score is then
        the distance of a row from the threshold of its own costs, which does not rank rows. Otherwise the costs that
        `predict` uses by default are part of the graph.

    Returns
    -------
    onnx.ModelProto
        Save it with ``model.SerializeToString()``. A model that was fitted on a data frame has one input (n, 1) for
        each column, by its name, other models one input ``X`` (n, n_features). All numbers are float64, or float32; a
        missing number is NaN, a missing string the empty string.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from cssvm import CostSensitiveSVC
    >>> from cssvm.deploy import to_onnx
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["no", "no", "yes", "yes"]
    >>> model = CostSensitiveSVC(C=10.0, fn_cost=5.0, pos_label="yes").fit(X, y)
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> label, score = session.run(None, {"X": X})
    >>> print(label.tolist(), bool(np.allclose(score, model.decision_function(X))))
    ['no', 'no', 'yes', 'yes'] True
    """
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install 'cssvm[deploy]'") from error
    card = model.card if isinstance(model, SavedModel) else None
    model = model.model if isinstance(model, SavedModel) else model
    check_is_fitted(model)
    columns = list(columns or (card.columns if card is not None else model_columns(model)))
    graph = GraphBuilder()
    table = _inputs(graph, model, columns, float32_input)
    taken = {LABEL, SCORE, PROBABILITY, *(COSTS if row_costs else ())} & {each.name for each in graph.inputs}
    if taken:
        raise ValueError(
            f"columns must not be called {sorted(taken)[0]!r}, as another input or output of the graph is. Rename the "
            "column before the fit."
        )
    outputs = _outputs(graph, *unwrapped(graph, model, table), row_costs)
    return _assemble(graph, outputs, np.asarray(model.classes_), card)


def _inputs(graph: GraphBuilder, model: Any, columns: Sequence[Column], float32_input: bool) -> Table:
    """The table of inputs."""
    from onnx import TensorProto

    kind = TensorProto.FLOAT if float32_input else TensorProto.DOUBLE

    def numbers(name: str, width: int) -> Block:
        tensor = graph.input(name, kind, width)
        return Block(graph.floats(tensor) if float32_input else tensor, width)

    expected, names = model_columns(model), [column.name for column in columns]
    named = hasattr(model, "feature_names_in_")
    if len(columns) != len(expected) or (named and names != [column.name for column in expected]):
        raise ValueError(
            f"columns must be the {len(expected)} columns that the model reads, in the order of its fit: "
            f"{reprlib.repr([column.name for column in expected])}; got {reprlib.repr(names)}."
        )
    if not named and not any(column.kind == CATEGORY for column in columns):
        return [numbers(MATRIX, len(columns))]
    return [
        Block(graph.input(column.name, TensorProto.STRING, 1), 1, strings=True)
        if column.kind == CATEGORY
        else numbers(column.name, 1)
        for column in columns
    ]


def _outputs(graph: GraphBuilder, model: Any, table: Table, row_costs: bool) -> dict[str, str]:
    """Tensors by the name of the output; `model` is the estimator that decides, `table` what it reads."""
    positive = PositiveClass.from_labels(np.asarray(model.classes_), getattr(model, "pos_label", None))
    by_costs = isinstance(model, BaseSVCSearchCV | CostThresholdClassifier) and model.decides_by_costs
    if row_costs and not by_costs:
        raise ValueError(
            f"row_costs must be False for {type(model).__name__}, whose predict takes no costs: it has one threshold "
            "for all rows."
        )
    score = decision_values(graph, model, table, _costs(graph, model, row_costs) if by_costs else None)
    found = {LABEL: _labels(graph, score, positive.classes), SCORE: score}
    if by_costs:
        both = [graph.node("Unsqueeze", each, [1]) for each in probabilities(graph, model, table)]
        found[PROBABILITY] = graph.concat(both)
    return found


def _costs(graph: GraphBuilder, model: Any, row_costs: bool) -> Costs:
    """The costs by which rows are decided: inputs, or the defaults of `predict`."""
    from onnx import TensorProto

    if row_costs:
        given = [graph.input(name, TensorProto.DOUBLE, None) for name in COSTS]
        fn_cost, fp_cost = (graph.node("Where", graph.node("Less", cost, 0.0), np.nan, cost) for cost in given)
        return fn_cost, fp_cost
    own = model._fit_costs if isinstance(model, BaseSVCSearchCV) else {}
    known: dict[str, Any] = {name: own.get(name, getattr(model, name, None)) for name in COSTS}
    missing = [name for name in COSTS if known[name] is None]
    if missing:
        raise ValueError(
            f"row_costs must be True for a {type(model).__name__} that was given one {missing[0]} for each row: its "
            "decisions need those of the new rows."
        )
    return [float(known["fn_cost"])], [float(known["fp_cost"])]


def _labels(graph: GraphBuilder, score: str, classes: np.ndarray) -> str:
    """The class of each score: ``classes_[1]`` above zero. One that is not finite has none."""
    from onnx import TensorProto

    row = graph.cast(graph.node("Greater", score, 0.0), TensorProto.INT64)
    broken = graph.node("Or", graph.node("IsNaN", score), graph.node("IsInf", score))
    row = graph.node("Where", broken, len(classes), row)
    return graph.node("Gather", classes, row)


def _assemble(graph: GraphBuilder, outputs: dict[str, str], classes: Any, card: ModelCard | None) -> Any:
    """The ONNX model: outputs get their names, unused inputs are left out."""
    from onnx import TensorProto, helper

    numbers = {"b": TensorProto.BOOL, "i": TensorProto.INT64, "u": TensorProto.INT64, "f": TensorProto.DOUBLE}
    kinds = {LABEL: numbers.get(classes.dtype.kind, TensorProto.STRING)}
    nodes = [*graph.nodes, *(helper.make_node("Identity", [tensor], [name]) for name, tensor in outputs.items())]
    read = {tensor for node in nodes for tensor in node.input}
    made = helper.make_graph(
        nodes,
        "cssvm",
        [each for each in graph.inputs if each.name in read],
        [
            helper.make_tensor_value_info(
                name, kinds.get(name, TensorProto.DOUBLE), [None, 2] if name == PROBABILITY else [None]
            )
            for name in outputs
        ],
        graph.constants,
    )
    opsets = [helper.make_opsetid(domain, version) for domain, version in graph.domains.items()]
    model = helper.make_model(made, opset_imports=opsets, ir_version=IR_VERSION)
    model.producer_name, model.producer_version = "cssvm", __version__
    if card is not None:
        helper.set_model_props(model, {"card": card.to_json()})
    return model
