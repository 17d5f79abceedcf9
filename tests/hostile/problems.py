"""Generated problems that a careless user, or a malicious one, might pose: everything is drawn from one seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from cssvm import CostSensitiveSVC
from cssvm.losses import ExponentialLoss, LogisticLoss

ESTIMATORS = (
    "CostSensitiveSVC",
    "BiasedPenaltySVC",
    "BoundaryMovementSVC",
    "CostSensitiveSVCCV",
    "DesignedLossClassifier",
    "CostThresholdClassifier",
)
COSTLY = ("CostSensitiveSVC", "BiasedPenaltySVC", "CostSensitiveSVCCV", "CostThresholdClassifier")
KERNELS = ("rbf", "linear", "poly", "sigmoid", "laplacian", "matern32", "matern52", "precomputed", "callable")
SMALL, LARGEST = 200, 3000  # rows


@dataclass
class Problem:
    """What is asked of an estimator: constructor parameters, rows, and costs and weights for `fit`."""

    seed: int
    estimator: str
    params: dict[str, Any]
    X: Any
    y: np.ndarray
    fit_params: dict[str, np.ndarray] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = {key: "function" if callable(value) else value for key, value in self.params.items()}
        kind = "sparse" if sp.issparse(self.X) else str(self.X.dtype)
        size = float(np.abs(self.X.data if sp.issparse(self.X) else self.X).max())
        given = ", ".join(self.fit_params)
        return f"{self.estimator}({shown}) on {self.X.shape} {kind} up to {size:.2g}{', ' if given else ''}{given}"


def power(rng: np.random.Generator, low: float, high: float) -> float:
    """10 to a power, uniform in the exponent."""
    return float(10.0 ** rng.uniform(low, high))


def generate(seed: int, *, largest: int = LARGEST) -> Problem:
    """The problem of this seed, of at most so many rows."""
    rng = np.random.default_rng(seed)
    X, y = _rows(rng, largest)
    estimator = str(rng.choice(ESTIMATORS, p=[0.52, 0.15, 0.1, 0.15, 0.04, 0.04]))
    if estimator == "DesignedLossClassifier":
        return Problem(seed, estimator, _smooth(rng), X, y)
    kernel = str(rng.choice(KERNELS, p=[0.3, 0.2, 0.12, 0.05, 0.07, 0.05, 0.04, 0.12, 0.05]))
    params: dict[str, Any] = {"kernel": kernel}
    hostile = rng.random() < 0.6
    if kernel == "precomputed":
        X = _gram(rng, X)
    elif kernel == "callable":
        params["kernel"] = _function(rng)
    if kernel == "poly":
        params |= {"degree": int(rng.choice([0, 1, 2, 3, 5, 9])), "coef0": float(rng.choice([0.0, 1.0, -1.0, 100.0]))}
    if kernel == "sigmoid":
        params["coef0"] = float(rng.choice([0.0, 1.0, -2.0]))
    if estimator == "CostSensitiveSVCCV":
        params = {name: value for name, value in params.items() if name not in ("degree", "coef0")}
        params |= {"Cs": [power(rng, -3, 3), power(rng, -3, 3) * 100], "cv": 2, "n_jobs": 1}
        if kernel not in ("linear", "precomputed", "callable"):
            params["gammas"] = [power(rng, -4, 3)]
    else:
        params["C"] = power(rng, -12, 12) if hostile else power(rng, -2, 3)
        if rng.random() < 0.5 and kernel not in ("linear", "precomputed", "callable"):
            params["gamma"] = power(rng, -12, 12) if hostile else power(rng, -3, 2)
        params["tol"] = float(rng.choice([1e-1, 1e-3, 1e-3, 1e-3, 1e-5, 1e-8]))
        if rng.random() < 0.05:
            params["cache_size"] = float(rng.choice([0.01, 1.0, 30.0]))
        if rng.random() < 0.1:
            params["max_iter"] = int(rng.choice([1, 10, 1000]))
    if estimator == "CostThresholdClassifier":
        params = {"estimator": CostSensitiveSVC(**params), "method": str(rng.choice(["bayes", "tuned"])), "cv": 2}
    if estimator in COSTLY:
        params |= {"fn_cost": power(rng, -6, 6) if hostile else power(rng, 0, 2), "fp_cost": 1.0}
    if estimator == "CostSensitiveSVC" and rng.random() < 0.3:
        params["kappa"] = float(2.0 ** -rng.integers(0, 256 if hostile else 5))
    fit_params = {}
    if estimator in ("CostSensitiveSVC", "CostSensitiveSVCCV") and rng.random() < 0.25:
        spread = 6.0 if hostile else 1.0
        fit_params["fn_cost"] = 10.0 ** rng.uniform(-spread, spread, len(y))
    if rng.random() < 0.25:
        fit_params["sample_weight"] = rng.choice([0.0, 1.0, 2.0, 0.3, 1e-6 if hostile else 0.5], len(y))
    return Problem(seed, estimator, params, X, y, fit_params)


def _smooth(rng: np.random.Generator) -> dict[str, Any]:
    """Parameters of a classifier with a smooth loss."""
    loss = (LogisticLoss, ExponentialLoss)[int(rng.integers(2))]
    return {
        "loss": loss(C1=power(rng, -3, 3), C_minus1=power(rng, -3, 3)),
        "C": power(rng, -6, 6),
        "kernel": str(rng.choice(["linear", "rbf", "laplacian"])),
        "random_state": 0,
    }


def _count(rng: np.random.Generator, largest: int) -> int:
    """Number of rows: mostly small, because those are many in the time and break as well; one in 25 is large."""
    size = rng.random()
    if size < 0.2:
        return int(rng.integers(2, 12))
    if size < 0.96 or largest <= SMALL:
        return int(rng.integers(12, min(SMALL, largest) + 1))
    return int(rng.integers(SMALL, largest + 1))


def _rows(rng: np.random.Generator, largest: int) -> tuple[Any, np.ndarray]:
    n = _count(rng, largest)
    d = int(rng.choice([1, 2, 3, 5, 10, 30]))
    kind = rng.choice(["normal", "integers", "binary", "heavy", "constant", "one direction", "zero"])
    X = rng.normal(size=(n, d))
    if kind == "integers":
        X = np.round(3 * X)
    elif kind == "binary":
        X = (X > 0).astype(float)
    elif kind == "heavy":
        X = rng.standard_cauchy(size=(n, d))
    elif kind == "constant":
        X[:, : max(1, d // 2)] = 1.0
    elif kind == "one direction":
        X = X[:, :1] * np.ones(d)
    elif kind == "zero":
        X[:, : d - 1] = 0.0
    if rng.random() < 0.2:
        X = X[rng.integers(0, n, n)]  # repeated rows
    y = (X[:, -1] + rng.choice([0.0, 0.3, 3.0]) * rng.normal(size=n) > rng.choice([0.0, 1.0])).astype(int)
    if len(set(y.tolist())) < 2:
        y[0], y[1] = 0, 1
    if rng.random() < 0.3:
        X = X * 10.0 ** rng.uniform(-9, 9, d)  # each feature in its own unit
    elif rng.random() < 0.4:
        X = X * power(rng, -9, 9)
    if rng.random() < 0.15:
        X = X + power(rng, 0, 8)
    if rng.random() < 0.15:
        return sp.csr_array(np.where(rng.random(X.shape) < 0.3, X, 0.0)), y
    return X.astype(np.float32) if rng.random() < 0.1 else X, y


def _gram(rng: np.random.Generator, X: Any) -> np.ndarray:
    """A kernel matrix, exact or spoilt in one of the usual ways."""
    A = np.asarray(X.toarray() if sp.issparse(X) else X, float)
    A = A / max(1e-300, float(np.abs(A).max())) * 3.0
    K = A @ A.T
    kind = rng.choice(
        ["linear", "asymmetric", "float32", "rank one", "indefinite", "identity", "scaled", "zero", "hollow"]
    )
    if kind == "asymmetric":
        K = K + 1e-9 * rng.normal(size=K.shape)
    elif kind == "float32":
        K = K.astype(np.float32)
    elif kind == "rank one":
        K = np.outer(A[:, 0], A[:, 0])
    elif kind == "indefinite":
        B = rng.normal(size=K.shape)
        K = B + B.T
    elif kind == "identity":
        K = np.eye(len(K))
    elif kind == "scaled":
        K = K * power(rng, -12, 12)
    elif kind == "zero":
        K = np.zeros_like(K)
    elif kind == "hollow":
        np.fill_diagonal(K, 0.0)
    return K


def _function(rng: np.random.Generator) -> Any:
    kind = rng.choice(["dot", "bad", "sparse", "min"])

    def dense(A: Any) -> np.ndarray:
        return A.toarray() if sp.issparse(A) else np.asarray(A, float)

    if kind == "bad":
        value = rng.choice([np.nan, np.inf])
        return lambda A, B: np.full((A.shape[0], B.shape[0]), value)
    if kind == "sparse":
        return lambda A, B: sp.csr_array(dense(A) @ dense(B).T)
    if kind == "min":
        return lambda A, B: np.minimum(dense(A)[:, None, 0], dense(B)[None, :, 0])
    return lambda A, B: dense(A) @ dense(B).T
