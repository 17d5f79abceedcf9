"""The base class of the losses, and the checks of their arguments; eta = P(y = +1 | x).

    conditional risk    C(eta, f)  = eta value(+1, f) + (1 - eta) value(-1, f)
    link                f*(eta)    = the score that minimises it
    minimum risk        C*(eta)    = C(eta, f*(eta))
    Bayes rule          predict +1 for eta above the threshold C_{-1} / (C_1 + C_{-1}), where f* changes its sign
    conjugate           phi_y*(v)  = sup over u of u v - phi_y(u),    phi_y(u) = value(y, y u), u = y f the margin

`value(-1, f)` is the loss at the score f itself, the paper's phi_{-1}(-f).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.types import Vector
from .._core.validation import as_floats, is_number

CONVERT = "Convert it to floats."


class Loss(ABC):
    """A cost-sensitive loss: an immutable object with elementwise functions.

    Labels y in {-1, +1}, scores f, which may be infinite, and probabilities eta of y = +1 are numbers or arrays that
    broadcast against each other and against the parameters of the loss; numbers give a number.

    Attributes
    ----------
    smooth : bool
        Whether `gradient` is the derivative of `value` everywhere, so that the loss can be minimised by gradients.
    invertible : bool
        Whether `inverse_link` exists.
    """

    smooth: bool = False
    invertible: bool = True

    @property
    @abstractmethod
    def costs(self) -> tuple[Any, Any]:
        """(C_1, C_{-1}), the costs of a false negative and of a false positive whose Bayes rule the loss implements."""

    @property
    def threshold(self) -> Any:
        """C_{-1} / (C_1 + C_{-1}), the probability above which +1 is predicted."""
        C1, C_minus1 = self.costs
        return C_minus1 / (C1 + C_minus1)

    def value(self, y: ArrayLike, f: ArrayLike) -> Vector:
        """Loss of the score f for the label y."""
        return self._elementwise(self._value, y=labels(y), f=scores(f))

    def gradient(self, y: ArrayLike, f: ArrayLike) -> Vector:
        """Derivative of `value` in f; at a kink the subgradient nearest to zero, at a jump zero."""
        return self._elementwise(self._gradient, y=labels(y), f=scores(f))

    def conditional_risk(self, eta: ArrayLike, f: ArrayLike) -> Vector:
        """Expected loss of the score f if y = +1 has probability eta; a label of probability 0 does not count."""

        def risk(eta: Vector, f: Vector) -> Vector:
            positive, negative = self._value(np.ones(()), f), self._value(-np.ones(()), f)
            return np.add(_expected(eta, positive), _expected(1.0 - eta, negative))

        return self._elementwise(risk, eta=probabilities(eta), f=scores(f))

    def min_risk(self, eta: ArrayLike) -> Vector:
        """Minimum of the conditional risk over all scores."""
        return self._elementwise(self._min_risk, eta=probabilities(eta))

    def link(self, eta: ArrayLike) -> Vector:
        """Score that minimises the conditional risk."""
        return self._elementwise(self._link, eta=probabilities(eta))

    def inverse_link(self, f: ArrayLike) -> Vector:
        """Probability for which the score f is optimal; NotImplementedError if the link is a step function."""
        return self._elementwise(self._inverse_link, f=scores(f))

    def conjugate(self, y: ArrayLike, v: ArrayLike) -> Vector:
        """Fenchel conjugate sup over u of u v - phi_y(u) of the loss in the margin u = y f; it may be infinite.

        That of a decreasing loss is infinite for v > 0; texts that write it for v >= 0, as the appendix of the paper
        does, mean phi_y*(-v). NotImplementedError if no closed form is known.
        """
        return self._elementwise(self._conjugate, y=labels(y), v=scores(v, "v"))

    @abstractmethod
    def _value(self, y: Vector, f: Vector) -> Vector:
        """`value` of valid arrays, as all methods with an underscore."""

    @abstractmethod
    def _gradient(self, y: Vector, f: Vector) -> Vector: ...

    @abstractmethod
    def _min_risk(self, eta: Vector) -> Vector: ...

    @abstractmethod
    def _link(self, eta: Vector) -> Vector: ...

    def _inverse_link(self, f: Vector) -> Vector:
        reason = "its link is a step function, many probabilities share one score"
        raise NotImplementedError(f"{type(self).__name__} has no inverse_link: {reason}.")

    def _conjugate(self, y: Vector, v: Vector) -> Vector:
        raise NotImplementedError(f"{type(self).__name__} has no conjugate: no closed form is known.")

    def _parameters(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    def _elementwise(self, function: Callable[..., Vector], **arguments: Vector) -> Vector:
        """function(**arguments) without warnings of infinities, in the shape of all arrays and parameters."""
        try:
            shape = np.broadcast_shapes(
                *(a.shape for a in arguments.values()),
                *(p.shape for p in self._parameters() if isinstance(p, np.ndarray)),
            )
        except ValueError as error:
            got = ", ".join(f"{name} has shape {a.shape}" for name, a in arguments.items())
            raise ValueError(
                f"The arguments of {type(self).__name__} must broadcast against each other and against its "
                f"parameters; {got}. Pass one value per sample, or a single number."
            ) from error
        with np.errstate(all="ignore"):
            result = function(**arguments)
        return np.broadcast_to(result, shape).copy()[()]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(map(np.array_equal, self._parameters(), other._parameters()))

    def __hash__(self) -> int:
        values = [tuple(each.ravel().tolist()) if isinstance(each, np.ndarray) else each for each in self._parameters()]
        return hash((type(self), *values))


def of_label(y: Vector, positive: Any, negative: Any) -> Vector:
    """`positive` where y = +1, `negative` where y = -1."""
    return np.where(y > 0, positive, negative)


def labels(y: ArrayLike) -> Vector:
    """`y` as float64, each -1 or +1."""
    values = as_floats("y", y, CONVERT)
    wrong = np.abs(values) != 1.0
    if wrong.any():
        raise ValueError(
            f"y must hold the labels -1 and +1 only; got y={values[wrong][0]:g}. Code the positive class as +1, the "
            "negative class as -1."
        )
    return values


def probabilities(eta: ArrayLike) -> Vector:
    """`eta` as float64 in [0, 1]."""
    values = as_floats("eta", eta, CONVERT)
    wrong = ~((values >= 0.0) & (values <= 1.0))
    if wrong.any():
        raise ValueError(
            f"eta must lie in [0, 1]; got eta={values[wrong][0]:g}. Pass probabilities of the class +1, not scores."
        )
    return values


def scores(f: ArrayLike, name: str = "f") -> Vector:
    """`f` as float64 without NaN."""
    values = as_floats(name, f, CONVERT)
    if np.isnan(values).any():
        raise ValueError(f"{name} must not contain NaN; got {name}=nan. Check how it was computed.")
    return values


def positive_number(name: str, value: Any) -> float:
    """`value` as a positive finite float."""
    if not is_number(value) or not 0 < value < np.inf:
        raise ValueError(
            f"{name} must be a positive finite number; got {name}={value!r}. Pass a cost such as {name}=1.0."
        )
    return float(value)


def _expected(probability: Vector, loss: Vector) -> Vector:
    """The product, where 0 times infinity is 0."""
    return np.where(probability > 0.0, probability * loss, 0.0)
