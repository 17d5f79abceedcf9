"""What a cost-sensitive loss is, and the checks of its arguments.

A loss takes a label y in {-1, +1} and a score f. With eta = P(y = +1 | x),

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
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from .._core.types import Vector, is_number
from .._core.validation import as_floats

FLOATS = "Convert it to floats."  # the fix for what is no number

# Kinds of solvers that a loss may ask for.
GRADIENT, DUAL = "gradient", "dual"


class Loss(ABC):
    """A cost-sensitive loss: an immutable object made of elementwise functions.

    Labels, scores and probabilities may be numbers or arrays that broadcast against each other and against the
    parameters of the loss; numbers give a number. Scores may be infinite, as the link of a certain event is.

    Attributes
    ----------
    smooth : bool
        Whether `gradient` is the derivative of `value` everywhere, so that training by gradients applies.
    invertible : bool
        Whether `inverse_link` exists.
    """

    smooth: bool = False
    invertible: bool = True

    @property
    def solver(self) -> str | None:
        """The kind of solver that trains with this loss: "gradient", "dual", or None if there is none."""
        return GRADIENT if self.smooth else None

    @property
    def has_row_values(self) -> bool:
        """Whether its parameters are given for each row rather than for each class."""
        return False

    @property
    @abstractmethod
    def costs(self) -> tuple[Any, Any]:
        """(C_1, C_{-1}): costs of a false negative and of a false positive whose Bayes rule the loss implements."""

    @property
    def threshold(self) -> Any:
        """C_{-1} / (C_1 + C_{-1}): predict +1 for probabilities above it."""
        C1, C_minus1 = self.costs
        return C_minus1 / (C1 + C_minus1)

    def value(self, y: ArrayLike, f: ArrayLike) -> Vector:
        """Loss of the score f on the label y.

        Parameters
        ----------
        y : array-like of -1 and +1
            Labels.
        f : array-like
            Scores.

        Returns
        -------
        ndarray or float
            The losses, in the broadcast shape.
        """
        return self._elementwise(self._value, y=labels(y), f=scores(f))

    def gradient(self, y: ArrayLike, f: ArrayLike) -> Vector:
        """Derivative of `value` in f; at a kink the subgradient nearest to zero, at a jump zero.

        Parameters
        ----------
        y : array-like of -1 and +1
            Labels.
        f : array-like
            Scores.

        Returns
        -------
        ndarray or float
            The derivatives, in the broadcast shape.
        """
        return self._elementwise(self._gradient, y=labels(y), f=scores(f))

    def conditional_risk(self, eta: ArrayLike, f: ArrayLike) -> Vector:
        """Expected loss of the score f where y = +1 has the probability eta; an impossible label does not count.

        Parameters
        ----------
        eta : array-like in [0, 1]
            Probabilities of y = +1.
        f : array-like
            Scores.

        Returns
        -------
        ndarray or float
            The risks, in the broadcast shape.
        """

        def risk(eta: Vector, f: Vector) -> Vector:
            missed, alarmed = self._value(np.ones(()), f), self._value(-np.ones(()), f)
            return np.add(_expected(eta, missed), _expected(1.0 - eta, alarmed))

        return self._elementwise(risk, eta=probabilities(eta), f=scores(f))

    def min_risk(self, eta: ArrayLike) -> Vector:
        """Smallest conditional risk over all scores.

        Parameters
        ----------
        eta : array-like in [0, 1]
            Probabilities of y = +1.

        Returns
        -------
        ndarray or float
            The risks, in the broadcast shape.
        """
        return self._elementwise(self._min_risk, eta=probabilities(eta))

    def link(self, eta: ArrayLike) -> Vector:
        """Optimal score for a probability.

        Parameters
        ----------
        eta : array-like in [0, 1]
            Probabilities of y = +1.

        Returns
        -------
        ndarray or float
            The scores, in the broadcast shape.
        """
        return self._elementwise(self._link, eta=probabilities(eta))

    def inverse_link(self, f: ArrayLike) -> Vector:
        """Probability for which a score is optimal.

        Parameters
        ----------
        f : array-like
            Scores.

        Returns
        -------
        ndarray or float
            The probabilities, in the broadcast shape.

        Raises
        ------
        NotImplementedError
            If the link is a step function: many probabilities then share one score.
        """
        return self._elementwise(self._inverse_link, f=scores(f))

    def conjugate(self, y: ArrayLike, v: ArrayLike) -> Vector:
        """Fenchel conjugate sup over u of u v - phi_y(u) of the loss in the margin u = y f.

        The conjugate of a falling loss is infinite for v > 0. Texts that write it for v >= 0, as the appendix of
        the paper does, mean phi_y*(-v): the dual variable of example i is a_i = -v >= 0.

        Parameters
        ----------
        y : array-like of -1 and +1
            Labels.
        v : array-like
            Slopes.

        Returns
        -------
        ndarray or float
            The conjugates, in the broadcast shape; infinite where the supremum is.

        Raises
        ------
        NotImplementedError
            If no closed form is known.
        """
        return self._elementwise(self._conjugate, y=labels(y), v=scores(v, "v"))

    @abstractmethod
    def _value(self, y: Vector, f: Vector) -> Vector:
        """`value` of checked arrays; so are the other methods with an underscore."""

    @abstractmethod
    def _gradient(self, y: Vector, f: Vector) -> Vector: ...

    @abstractmethod
    def _min_risk(self, eta: Vector) -> Vector: ...

    @abstractmethod
    def _link(self, eta: Vector) -> Vector: ...

    def _inverse_link(self, f: Vector) -> Vector:
        self._refuse("inverse_link", "its link is a step function, many probabilities share one score")

    def _conjugate(self, y: Vector, v: Vector) -> Vector:
        self._refuse("conjugate", "no closed form is known")

    def _refuse(self, method: str, reason: str) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} has no {method}: {reason}.")

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
                f"parameters; {got}. Pass one value for each row, or a single number."
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
    """`y` as float64, checked to hold -1 and +1 only."""
    values = as_floats("y", y, FLOATS)
    wrong = np.abs(values) != 1.0
    if wrong.any():
        raise ValueError(
            f"y must hold the labels -1 and +1 only; got y={values[wrong][0]:g}. Code the target class as +1, the "
            "other as -1."
        )
    return values


def probabilities(eta: ArrayLike) -> Vector:
    """`eta` as float64, checked to lie in [0, 1]."""
    values = as_floats("eta", eta, FLOATS)
    wrong = ~((values >= 0.0) & (values <= 1.0))
    if wrong.any():
        raise ValueError(
            f"eta must lie in [0, 1]; got eta={values[wrong][0]:g}. Pass probabilities of the class +1, not scores."
        )
    return values


def scores(f: ArrayLike, name: str = "f") -> Vector:
    """`f` as float64 without NaN."""
    values = as_floats(name, f, FLOATS)
    if np.isnan(values).any():
        raise ValueError(f"{name} must be a number; got {name}=nan. Find out which operation made it.")
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
