"""All kernels of features with test parameters and an independent reference.

Add a line for each new kernel of `cssvm._kernels`; the tests of values, estimators and the search use it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import pairwise_kernels


class Case(NamedTuple):
    parameters: dict[str, Any]
    reference: Callable[..., Any]  # (A, B, **parameters) -> (len(A), len(B))


def by_scikit_learn(name):
    return partial(pairwise_kernels, metric=name)


def matern(nu):
    """scikit-learn's Matern kernel of length scale 1 / sqrt(2 gamma)."""
    return lambda A, B, gamma: Matern(length_scale=(2 * gamma) ** -0.5, nu=nu)(A, B)


CASES = {
    "linear": Case({}, by_scikit_learn("linear")),
    "rbf": Case({"gamma": 0.3}, by_scikit_learn("rbf")),
    "poly": Case({"gamma": 0.3, "degree": 3, "coef0": 1.0}, by_scikit_learn("poly")),
    "sigmoid": Case({"gamma": 0.1, "coef0": 0.2}, by_scikit_learn("sigmoid")),
    "laplacian": Case({"gamma": 0.2}, by_scikit_learn("laplacian")),
    "matern32": Case({"gamma": 0.2}, matern(1.5)),
    "matern52": Case({"gamma": 0.2}, matern(2.5)),
}


def gram(name, A, B=None, **parameters):
    """The reference kernel matrix; parameters default to those of the registry."""
    case = CASES[name]
    return case.reference(A, A if B is None else B, **(parameters or case.parameters))
