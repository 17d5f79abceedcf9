"""Scores of fitted models as nodes of a graph.

    f(x) = sum_j coef_j K(x, v_j) + b                                   positive for classes_[1]
    p(x) = sigmoid(-(a f(x) + c))                                       the mean over the folds of a calibration
    (p(x) fn_cost - (1 - p(x)) fp_cost) / (fn_cost + fp_cost)           where costs decide

gamma is multiplied into the support vectors: onnxruntime computes a product by a number next to a matrix product in
float32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline

from ..._core.classifier import BinaryClassifier
from ..._core.positive_class import DEFAULT_THRESHOLDS, find_response_method
from ..._core.sklearn_compat import PlattScaling
from ..._kernels import Kernel
from ..._kernels.functions import Linear, Poly, Rbf, Sigmoid
from ..._kernels.tiles import KERNEL_ERROR, cancellation
from ..._meta import CostProportionateClassifier, CostThresholdClassifier, MetaCostClassifier
from ..._search.base import BaseSVCSearchCV
from ..._search.decision import BayesRule
from ..._svm import CostSensitiveLinearSVC, DesignedLossClassifier
from ..._svm.kernel_svc import KernelSVC
from .features import convert_features, inlined
from .graph_builder import GraphBuilder, Table

FILE = "Serve the model from its file with load_model."

Costs = Sequence[Any]  # fn_cost and fp_cost: tensors or numbers
Pair = tuple[str, str]  # tensors of the probabilities of both classes, (n,) each


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
    if isinstance(model, BaseSVCSearchCV) and not model.decides_by_costs:
        return _less(graph, _searched(graph, model, table), model.threshold_)
    if isinstance(model, BaseSVCSearchCV):
        return _bayes(
            graph, model, probabilities(graph, model, table), costs or [float(cost) for cost in model._mean_costs]
        )
    if isinstance(model, CostThresholdClassifier):
        return _wrapped(graph, model, table, costs)
    if isinstance(model, MetaCostClassifier):
        return _response(graph, model.estimator_, table, find_response_method(model.estimator_))
    if isinstance(model, CostProportionateClassifier):
        return _averaged(graph, model, table)
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
        scores, decision = _oriented(graph, model, _searched(graph, model, table)), model._decision
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
    found = graph.floats(inlined(graph, model, table, zipmap=False)[1])
    first, second = (graph.node("Gather", found, column, axis=1) for column in (0, 1))
    return first, second


def _searched(graph: GraphBuilder, model: BaseSVCSearchCV, table: Table) -> str:
    """Scores of the final model of a search, before its decision."""
    if hasattr(model, "transformer_"):
        table = convert_features(graph, model.transformer_, table)
    return decision_values(graph, model.best_estimator_, table)


def _wrapped(graph: GraphBuilder, model: CostThresholdClassifier, table: Table, costs: Costs | None) -> str:
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


def _averaged(graph: GraphBuilder, model: CostProportionateClassifier, table: Table) -> str:
    if model._method not in DEFAULT_THRESHOLDS:
        raise ValueError(f'voting="{model.voting}" of {type(model).__name__} cannot be converted to ONNX. {FILE}')
    return _mean(graph, [_response(graph, member, table, model._method) for member in model.estimators_])


def _mean(graph: GraphBuilder, vectors: list[str]) -> str:
    if len(vectors) == 1:
        return vectors[0]
    return graph.times(graph.node("Sum", *vectors), 1.0 / len(vectors))


def _bayes(graph: GraphBuilder, model: Any, both: Pair, costs: Costs) -> str:
    """(p fn_cost - (1 - p) fp_cost) / (fn_cost + fp_cost), -1 if both are 0, its sign turned to ``classes_[1]``.

    The result has the shape of p: costs of more rows than there are cannot be given that shape, and the run fails.
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
    product = graph.times(scores, -float(calibrator.a_))
    return graph.node("Sigmoid", graph.node("Sub", product, float(calibrator.b_)))


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
    products = graph.node("MatMul", X, kernel.gamma * vectors.T)
    return graph.node("Add", products, float(kernel.coef0))


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
