"""Answers checked by code of its own: the kernel by definition, objectives and constraints in long double."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

Long = np.longdouble


class Truth(NamedTuple):
    """What a fitted model really is."""

    violation: float
    gap: float
    infeasible: float  # relative to the largest upper bound, and to the sum of |beta|
    rounding: float  # of a decision value, that float64 cannot avoid
    rounded_gap: float  # what that may do to the gap
    scores: np.ndarray  # of the rows, by the model's coefficients and intercept

    def __str__(self) -> str:
        return ", ".join(f"{name} {value:.2g}" for name, value in zip(self._fields[:-1], self[:-1], strict=True))


def gram(model: Any, X: Any) -> np.ndarray:
    """The kernel matrix of the rows of X, from the definition."""
    if callable(model.kernel):
        found = model.kernel(X, X)
        return np.asarray(found.toarray() if sp.issparse(found) else found, float)
    if model.kernel == "precomputed":
        return (np.asarray(X, float) + np.asarray(X, float).T) / 2
    A, gamma = np.asarray(X.toarray() if sp.issparse(X) else X, float), model.gamma_
    if model.kernel in ("linear", "poly", "sigmoid"):
        products = A.astype(Long) @ A.T.astype(Long)
        if model.kernel == "linear":
            return products
        argument = Long(gamma) * products + Long(model.coef0)
        return argument**model.degree if model.kernel == "poly" else np.tanh(argument)
    with np.errstate(all="ignore"):
        t = gamma * cdist(A, A, "cityblock" if model.kernel == "laplacian" else "sqeuclidean")
        if model.kernel in ("rbf", "laplacian"):
            return np.exp(-t)
        s = np.sqrt((6 if model.kernel == "matern32" else 10) * np.minimum(t, 1e5))
        return (1 + s + (s * s / 3 if model.kernel == "matern52" else 0)) * np.exp(-s)


def terms(model: Any, y: np.ndarray, fit_params: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Margins and upper bounds by the definitions of the three methods; the larger label is the positive class."""
    positive = y == 1
    weight = np.asarray(fit_params.get("sample_weight", 1.0))
    fn = fit_params.get("fn_cost", getattr(model, "fn_cost", 1.0))
    fp = fit_params.get("fp_cost", getattr(model, "fp_cost", 1.0))
    if type(model).__name__ == "BoundaryMovementSVC":
        fn = fp = 1.0
    margins = np.where(positive, 1.0, getattr(model, "kappa", 1.0))
    return margins, model.C * np.where(positive, fn, fp) * weight * np.ones(len(y))


def truth(model: Any, X: Any, y: np.ndarray, fit_params: dict[str, Any]) -> Truth:
    """Violation and gap of the model's coefficients, with the bias that is best for them."""
    margins, upper_bounds = terms(model, y, fit_params)
    signs = np.where(y == 1, 1.0, -1.0)
    K = gram(model, X).astype(Long)
    beta = np.zeros(len(y), Long)
    beta[model.support_] = model.dual_coef_[0]
    a = beta * signs
    outside = max(float((-a).max()), float((a - upper_bounds).max()), 0.0) / max(float(upper_bounds.max()), 1e-300)
    unbalanced = float(abs(beta.sum())) / max(float(np.abs(beta).sum()), 1e-300)
    G = (signs * margins).astype(Long) - K @ beta
    room = np.maximum(1e-12 * upper_bounds, 0.0)
    grows = np.where(signs > 0, a < upper_bounds - room, a > room) & (upper_bounds > 0)
    shrinks = np.where(signs > 0, a > room, a < upper_bounds - room) & (upper_bounds > 0)
    top = float(G[grows].max()) if grows.any() else -np.inf
    bottom = float(G[shrinks].min()) if shrinks.any() else np.inf
    kinks = G[upper_bounds > 0]
    losses = [float((upper_bounds * np.maximum(0, signs * (G - b))).sum()) for b in kinks[:: max(1, len(kinks) // 400)]]
    losses += [
        float((upper_bounds * np.maximum(0, signs * (G - b))).sum()) for b in (_best_bias(G, signs, upper_bounds),)
    ]
    quadratic = float(beta @ K @ beta)
    primal, dual = 0.5 * quadratic + min(losses), float((signs * margins) @ beta) - 0.5 * quadratic
    gap = max(0.0, primal - dual) / max(abs(primal), abs(dual), 1e-300)
    rounding = float((np.abs(K) @ np.abs(beta)).max()) * 2.0**-52 + _of_arguments(model, X, beta)
    rounded_gap = rounding * float(upper_bounds.sum() + np.abs(beta).sum()) / max(abs(primal), abs(dual), 1e-300)
    given = np.asarray(X, Long) if model.kernel == "precomputed" else K  # new rows come with their kernel values
    scores = (given @ beta + model.intercept_[0]).astype(float)
    return Truth(max(0.0, top - bottom), gap, max(outside, unbalanced), rounding, rounded_gap, scores)


def _of_arguments(model: Any, X: Any, beta: np.ndarray) -> float:
    """What rounding a product does to tanh(gamma product) and so to a score: with a huge gamma it decides the sign."""
    if model.kernel != "sigmoid":
        return 0.0
    lengths = np.sqrt(np.asarray((X.multiply(X) if sp.issparse(X) else np.square(X)).sum(axis=1), float).ravel())
    with np.errstate(over="ignore"):
        errors = np.minimum(2.0, 2.0**-52 * model.gamma_ * lengths[:, np.newaxis] * lengths)
    return float((errors @ np.abs(beta)).max())


def _best_bias(G: np.ndarray, signs: np.ndarray, upper_bounds: np.ndarray) -> Any:
    """Where the slope of the loss changes sign: a weighted median of the kinks."""
    order = np.argsort(G)
    below = np.cumsum(np.where(signs[order] < 0, upper_bounds[order], 0.0))
    above = np.cumsum(np.where(signs[order] > 0, upper_bounds[order], 0.0)[::-1])[::-1]
    slope = below - (above - np.where(signs[order] > 0, upper_bounds[order], 0.0))
    return G[order][min(len(G) - 1, int(np.argmax(slope >= 0)))]
