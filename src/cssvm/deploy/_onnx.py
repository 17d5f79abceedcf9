"""Fitted models as ONNX graphs: inputs, features, scores, the decision, outputs.

    f(x) = sum_j coef_j K(x, v_j) + b                                   positive for classes_[1]
    p(x) = sigmoid(-(a f(x) + c))                                       the mean over the folds of a calibration
    (p(x) fn_cost - (1 - p(x)) fp_cost) / (fn_cost + fp_cost)           where costs decide

    output_label          (n,)    the class that `predict` returns
    output_score          (n,)    what `decision_function` returns, float64
    output_probability    (n, 2)  what `predict_proba` returns, where costs decide

gamma is multiplied into the support vectors: onnxruntime computes a product by a number next to a matrix product in
float32. A score that is not finite has no label: its index in the table of labels does not exist, and the run fails, as
`predict` does. So it does for costs that `predict` rejects.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from .._core.classifier import BinaryClassifier
from .._core.decision import COSTS
from .._core.positive_class import DEFAULT_THRESHOLDS, PositiveClass, find_response_method
from .._core.sklearn_compat import PlattScaling
from .._kernels import Kernel
from .._kernels.functions import Linear, Poly, Rbf, Sigmoid
from .._kernels.tiles import KERNEL_ERROR, cancellation
from .._meta import CostProportionateClassifier, CostThresholdClassifier, MetaCostClassifier
from .._search.base import BaseSVCSearchCV
from .._search.final_decision import BayesRule
from .._svm import CostSensitiveLinearSVC, DesignedLossClassifier
from .._svm.kernel_svc import KernelSVC
from ._card import CATEGORY, Column, ModelCard
from ._introspect import model_columns
from ._model_file import SavedModel
from ._onnx_features import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT64,
    IR_VERSION,
    STRING,
    Block,
    GraphBuilder,
    Table,
    convert_by_skl2onnx,
    convert_features,
)

LABEL, SCORE, PROBABILITY = "output_label", "output_score", "output_probability"
MATRIX = "X"
FILE = "Serve the model from its file with load_model."

Costs = Sequence[Any]  # fn_cost and fp_cost: tensors or numbers
Pair = tuple[str, str]  # tensors of the probabilities of both classes, (n,) each


def to_onnx(
    model: Any, columns: Sequence[Column] | None = None, *, float32_input: bool = False, row_costs: bool = False
) -> Any:
    """Convert a fitted model to an ONNX graph that returns the same decisions as `predict`.

    All numbers in the graph are float64, so that scores agree with those of Python up to rounding errors.

    Parameters
    ----------
    model : classifier or SavedModel
        Fitted: a kernel SVM with a named kernel, a search, `CostThresholdClassifier` with sigmoid calibration or a
        tuned threshold, `DesignedLossClassifier` without feature map, or a pipeline that ends with one of them. An
        error names what cannot be converted.
    columns : sequence of Column, default=None
        The columns of the table that the model reads. If None, those of the card of a `SavedModel`, or else those of
        the model, in which columns that an encoder of strings reads are categories.
    float32_input : bool, default=False
        Whether numbers come as float32; they are cast to float64 first.
    row_costs : bool, default=False
        Whether the costs of each row are inputs of the graph, for a model whose `predict` takes them. The score is then
        relative to the threshold of these costs, and does not rank rows. Otherwise the default costs of `predict` are
        part of the graph.

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
    if taken := {LABEL, SCORE, PROBABILITY, *(COSTS if row_costs else ())} & {each.name for each in graph.inputs}:
        raise ValueError(
            f"columns must not be called {min(taken)!r}, as another input or output of the graph is. Rename the column "
            "before the fit."
        )
    outputs = _outputs(graph, *unwrapped(graph, model, table), row_costs)
    return _assemble(graph, outputs, np.asarray(model.classes_), card)


def _inputs(graph: GraphBuilder, model: Any, columns: Sequence[Column], float32_input: bool) -> Table:
    """The table of inputs."""

    def numbers(name: str, width: int) -> Block:
        tensor = graph.input(name, FLOAT if float32_input else DOUBLE, width)
        return Block(graph.cast(tensor) if float32_input else tensor, width)

    expected, names = [column.name for column in model_columns(model)], [column.name for column in columns]
    named = hasattr(model, "feature_names_in_")
    if len(names) != len(expected) or (named and names != expected):
        raise ValueError(
            f"columns must be the {len(expected)} columns that the model reads, in the order of its fit: "
            f"{reprlib.repr(expected)}; got {reprlib.repr(names)}."
        )
    if not named and not any(column.kind == CATEGORY for column in columns):
        return [numbers(MATRIX, len(columns))]
    return [
        Block(graph.input(column.name, STRING, 1), 1, strings=True)
        if column.kind == CATEGORY
        else numbers(column.name, 1)
        for column in columns
    ]


def _outputs(graph: GraphBuilder, model: Any, table: Table, row_costs: bool) -> dict[str, str]:
    """Tensors by the name of the output; `model` is the estimator that decides, `table` what it reads."""
    positive = PositiveClass.from_labels(np.asarray(model.classes_), getattr(model, "pos_label", None))
    by_costs = isinstance(model, BaseSVCSearchCV | CostThresholdClassifier) and model.decides_by_costs
    if row_costs and not by_costs:
        raise ValueError(f"row_costs must be False for {type(model).__name__}, whose predict takes no costs.")
    score = decision_values(graph, model, table, _costs(graph, model, row_costs) if by_costs else None)
    row = graph.cast(graph.node("Greater", score, 0.0), INT64)
    broken = graph.node("Or", graph.node("IsNaN", score), graph.node("IsInf", score))
    row = graph.node("Where", broken, len(positive.classes), row)
    found = {LABEL: graph.node("Gather", positive.classes, row), SCORE: score}
    if by_costs:
        both = [graph.node("Unsqueeze", each, [1]) for each in probabilities(graph, model, table)]
        found[PROBABILITY] = graph.concat(both)
    return found


def _costs(graph: GraphBuilder, model: Any, row_costs: bool) -> Costs:
    """The costs by which rows are decided: inputs, or the defaults of `predict`."""
    if row_costs:
        given = [graph.input(name, DOUBLE, None) for name in COSTS]
        fn_cost, fp_cost = (graph.node("Where", graph.node("Less", cost, 0.0), np.nan, cost) for cost in given)
        return fn_cost, fp_cost
    known: dict[str, Any] = model._fit_costs if isinstance(model, BaseSVCSearchCV) else model.get_params(deep=False)
    if missing := [name for name in COSTS if known[name] is None]:
        raise ValueError(
            f"row_costs must be True for a {type(model).__name__} that was given one {missing[0]} for each row: its "
            "decisions need those of the new rows."
        )
    return [float(known["fn_cost"])], [float(known["fp_cost"])]


def _assemble(graph: GraphBuilder, outputs: dict[str, str], classes: Any, card: ModelCard | None) -> Any:
    """The ONNX model: outputs get their names, unused inputs are left out."""
    from onnx import helper

    label_kind = {"b": BOOL, "i": INT64, "u": INT64, "f": DOUBLE}.get(classes.dtype.kind, STRING)
    nodes = [*graph.nodes, *(helper.make_node("Identity", [tensor], [name]) for name, tensor in outputs.items())]
    read = {tensor for node in nodes for tensor in node.input}
    made = helper.make_graph(
        nodes,
        "cssvm",
        [each for each in graph.inputs if each.name in read],
        [
            helper.make_tensor_value_info(
                name, label_kind if name == LABEL else DOUBLE, [None, 2] if name == PROBABILITY else [None]
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


def unwrapped(graph: GraphBuilder, model: Any, table: Table) -> tuple[Any, Table]:
    """The estimator that decides, and the table it reads: earlier steps are converted, grid searches unwrapped."""
    while isinstance(model, Pipeline | GridSearchCV | RandomizedSearchCV):
        if isinstance(model, Pipeline):
            for _, step in model.steps[:-1]:
                table = convert_features(graph, step, table)
            model = model.steps[-1][1]
        else:
            model = model.best_estimator_
    return model, table


def decision_values(graph: GraphBuilder, model: Any, table: Table, costs: Costs | None = None) -> str:
    """What `decision_function` of a fitted classifier returns, (n,).

    costs : those of the rows, for a model that decides by them. If None, those by which its scores are defined.
    """
    model, table = unwrapped(graph, model, table)
    if isinstance(model, BaseSVCSearchCV):
        if not model.decides_by_costs:
            return _less(graph, _search_scores(graph, model, table), model.threshold_)
        costs = costs or [float(cost) for cost in model._mean_costs]
        return _bayes(graph, model, probabilities(graph, model, table), costs)
    if isinstance(model, CostThresholdClassifier):
        return _threshold_scores(graph, model, table, costs)
    if isinstance(model, MetaCostClassifier):
        return _response(graph, model.estimator_, table, find_response_method(model.estimator_))
    if isinstance(model, CostProportionateClassifier):
        if model._method not in DEFAULT_THRESHOLDS:
            raise ValueError(f'voting="{model.voting}" of {type(model).__name__} cannot be converted to ONNX. {FILE}')
        return _mean(graph, [_response(graph, member, table, model._method) for member in model.estimators_])
    for kind, convert in SCORES.items():
        if isinstance(model, kind):
            return convert(graph, model, table)
    raise ValueError(f"decision_function of {type(model).__name__} cannot be converted to ONNX. {FILE}")


def probabilities(graph: GraphBuilder, model: Any, table: Table) -> Pair:
    """What `predict_proba` of a fitted classifier returns; the same tensors in a second call."""
    key = (id(model), *(block.tensor for block in table))
    if key not in graph.known:
        graph.known[key] = _probabilities(graph, *unwrapped(graph, model, table))
    return graph.known[key]


def _probabilities(graph: GraphBuilder, model: Any, table: Table) -> Pair:
    if isinstance(model, BaseSVCSearchCV):
        scores, decision = _oriented(graph, model, _search_scores(graph, model, table)), model._decision
        assert isinstance(decision, BayesRule)
        return _both(graph, _sigmoid(graph, decision.calibrator, scores), model._positive_class.index)
    if isinstance(model, CostThresholdClassifier):
        return probabilities(graph, model.estimator_, table)
    if isinstance(model, CalibratedClassifierCV):
        return _both(graph, _calibrated(graph, model, table))
    if isinstance(model, LogisticRegression):
        return _both(graph, graph.node("Sigmoid", _linear(graph, model, table)))
    if not hasattr(model, "predict_proba") or isinstance(model, BinaryClassifier):
        raise ValueError(f"predict_proba of {type(model).__name__} cannot be converted to ONNX. {FILE}")
    found = graph.cast(convert_by_skl2onnx(graph, model, table, zipmap=False)[1])
    first, second = (graph.node("Gather", found, column, axis=1) for column in (0, 1))
    return first, second


def _search_scores(graph: GraphBuilder, model: BaseSVCSearchCV, table: Table) -> str:
    """Scores of the final model of a search, before its decision."""
    if hasattr(model, "transformer_"):
        table = convert_features(graph, model.transformer_, table)
    return decision_values(graph, model.best_estimator_, table)


def _threshold_scores(graph: GraphBuilder, model: CostThresholdClassifier, table: Table, costs: Costs | None) -> str:
    if model.decides_by_costs:
        costs = costs or (float(model.fn_cost), float(model.fp_cost))
        return _bayes(graph, model, probabilities(graph, model.estimator_, table), costs)
    if model._response == "decision_function":
        scores = decision_values(graph, model.estimator_, table)
        return _less(graph, scores, model._positive_class.to_classes_sign(model.threshold_))
    own = probabilities(graph, model.estimator_, table)[model._positive_class.index]
    return _oriented(graph, model, _less(graph, own, model.threshold_))


def _response(graph: GraphBuilder, model: Any, table: Table, method: str) -> str:
    """Decision values, or probabilities of ``classes_[1]`` less 1/2."""
    if method == "decision_function":
        return decision_values(graph, model, table)
    return _less(graph, probabilities(graph, model, table)[1], DEFAULT_THRESHOLDS[method])


def _mean(graph: GraphBuilder, vectors: list[str]) -> str:
    if len(vectors) == 1:
        return vectors[0]
    return graph.times(graph.node("Sum", *vectors), 1.0 / len(vectors))


def _bayes(graph: GraphBuilder, model: Any, both: Pair, costs: Costs) -> str:
    """(p fn_cost - (1 - p) fp_cost) / (fn_cost + fp_cost), -1 if both are 0, its sign turned to ``classes_[1]``.

    The result is given the shape of p, which fails for costs of more rows than there are.
    """
    fn_cost, fp_cost = costs
    own, rest = both[model._positive_class.index], both[1 - model._positive_class.index]
    gain = graph.node("Sub", graph.node("Mul", own, fn_cost), graph.node("Mul", rest, fp_cost))
    total = graph.node("Add", fn_cost, fp_cost)
    free = graph.node("Equal", total, 0.0)
    score = graph.node("Where", free, -1.0, graph.node("Div", gain, total))
    return _oriented(graph, model, graph.node("Reshape", score, graph.node("Shape", own)))


def _oriented(graph: GraphBuilder, model: Any, values: str) -> str:
    """Scores turned from ``classes_[1]`` to the positive class, or back."""
    return values if model._positive_class.sign == 1 else graph.node("Neg", values)


def _less(graph: GraphBuilder, scores: str, threshold: float) -> str:
    return graph.node("Sub", scores, float(threshold)) if threshold else scores


def _both(graph: GraphBuilder, own: str, index: int = 1) -> Pair:
    """The probabilities of both classes, `own` being that of the class `index`."""
    rest = graph.node("Sub", 1.0, own)
    return (rest, own) if index == 1 else (own, rest)


def _calibrated(graph: GraphBuilder, model: CalibratedClassifierCV, table: Table) -> str:
    """The mean over the folds of the probability of ``classes_[1]``."""
    folds = []
    for each in model.calibrated_classifiers_:
        calibrator = each.calibrators[0]
        if not isinstance(calibrator, PlattScaling):
            raise ValueError(
                f"calibration by {type(calibrator).__name__} cannot be converted to ONNX; that by a sigmoid can. {FILE}"
            )
        if hasattr(each.estimator, "decision_function"):
            scores = decision_values(graph, each.estimator, table)
        else:
            scores = probabilities(graph, each.estimator, table)[1]
        folds.append(_sigmoid(graph, calibrator, scores))
    return _mean(graph, folds)


def _sigmoid(graph: GraphBuilder, calibrator: Any, scores: str) -> str:
    """The probabilities of Platt scaling."""
    slope, shift = float(calibrator.a_), float(calibrator.b_)
    return graph.node("Sigmoid", graph.node("Sub", graph.times(scores, -slope), shift))


def _linear(graph: GraphBuilder, model: Any, table: Table) -> str:
    product = graph.node("MatMul", graph.matrix(table), np.asarray(model.coef_, dtype=np.float64)[0])
    return graph.node("Add", product, float(model.intercept_[0]))


def _designed_loss(graph: GraphBuilder, model: DesignedLossClassifier, table: Table) -> str:
    if model.svc_ is not None:
        return graph.times(_kernel_svc(graph, model.svc_, table), model.loss_.pos_margin)
    if model.feature_map_ is not None:
        raise ValueError(f"DesignedLossClassifier with kernel={model.kernel!r} cannot be converted to ONNX. {FILE}")
    return _linear(graph, model, table)


def _kernel_svc(graph: GraphBuilder, model: KernelSVC, table: Table) -> str:
    kernel, vectors = model._kernel, model.support_vectors_
    if type(kernel) not in KERNEL_VALUES:
        convertible = ", ".join(f'"{kind.name}"' for kind in KERNEL_VALUES)
        raise ValueError(
            f'kernel="{kernel.name}" of {type(model).__name__} cannot be converted to ONNX; {convertible} can. {FILE}'
        )
    if isinstance(kernel, Linear) or not len(model.dual_coef_[0]):
        weights = model.coef_[0] if isinstance(kernel, Linear) else np.zeros(vectors.shape[1])
        product = graph.node("MatMul", graph.matrix(table), weights)
    else:
        vectors = np.asarray(vectors.toarray() if sp.issparse(vectors) else vectors, dtype=np.float64)
        values = KERNEL_VALUES[type(kernel)](graph, kernel, graph.matrix(table), vectors)
        product = graph.node("MatMul", values, model.dual_coef_[0])
    return graph.node("Add", product, float(model.intercept_[0]))


def _products(graph: GraphBuilder, kernel: Kernel, X: str, vectors: np.ndarray) -> str:
    """Gamma <x, v> + coef0, (n, n_SV)."""
    return graph.node("Add", graph.node("MatMul", X, kernel.gamma * vectors.T), float(kernel.coef0))


def _rbf(graph: GraphBuilder, kernel: Rbf, X: str, vectors: np.ndarray) -> str:
    """exp(2 gamma <x, v> - gamma |x|^2 - gamma |v|^2), from the mean of the v; by differences where digits cancel."""
    centre = vectors.mean(axis=0)
    squares = np.einsum("ij,ij->i", vectors - centre, vectors - centre)
    gammas = np.full(vectors.shape[1], kernel.gamma)
    if not cancellation(kernel, squares) <= KERNEL_ERROR:
        rows = graph.node("Unsqueeze", X, [1])
        differences = graph.node("Sub", rows, vectors[np.newaxis])
        distances = graph.node("MatMul", graph.node("Mul", differences, differences), gammas)
        return graph.node("Exp", graph.node("Neg", distances))
    rows = graph.node("Sub", X, centre)
    products = graph.node("MatMul", rows, 2.0 * kernel.gamma * (vectors - centre).T)
    own = graph.node("MatMul", graph.node("Mul", rows, rows), gammas)
    own = graph.node("Unsqueeze", own, [1])
    exponents = graph.node("Sub", graph.node("Sub", products, own), kernel.gamma * squares)
    return graph.node("Exp", graph.node("Min", exponents, 0.0))


# Kernels that have nodes here; a linear one is a product with its weights.
KERNEL_VALUES: dict[type[Kernel], Callable[..., str]] = {
    Linear: _products,
    Rbf: _rbf,
    Poly: lambda graph, kernel, *rows: graph.node("Pow", _products(graph, kernel, *rows), float(kernel.degree)),
    Sigmoid: lambda graph, *rows: graph.node("Tanh", _products(graph, *rows)),
}

SCORES: dict[Any, Callable[[GraphBuilder, Any, Table], str]] = {
    KernelSVC: _kernel_svc,
    DesignedLossClassifier: _designed_loss,
    CostSensitiveLinearSVC: _linear,
    LogisticRegression: _linear,
}
