"""The design procedure on SymPy expressions: the same steps, with derivatives and simplification done exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._core.types import Vector
from ._base import of_label
from ._elicitation import Elicitation

# A formula on the whole line is used up to the largest power of two at which it and its derivative are finite.
POWERS = 2.0 ** np.arange(-10, 11)

# Probabilities at which a solved inverse link and a simplified loss are compared with what they come from: SymPy may
# return another branch, and mistake Min and sign. No simple fractions, which may be kinks.
TRIALS = np.array([0.0617, 0.3141, 0.6871, 0.9391])
TRIAL_TOLERANCE = 1e-9


class LossExpressions(NamedTuple):
    """SymPy expressions of value(+1, v) and value(-1, v) in the score v."""

    phi_1: Any
    phi_minus1: Any


@dataclass(frozen=True, eq=False, kw_only=True)
class SymbolicElicitation(Elicitation):
    """An `Elicitation` whose losses are formulas in the score."""

    source: tuple[Any, Any, Any]
    losses: tuple[Callable[[Any], Any], Callable[[Any], Any]]
    slopes: tuple[Callable[[Any], Any], Callable[[Any], Any]]

    def loss(self, y: Vector, v: Vector) -> Vector:
        """value(y, v) by the formulas."""
        return of_label(y, self.losses[0](v), self.losses[1](v))

    def slope(self, y: Vector, v: Vector) -> Vector:
        """Derivative of `loss` in v by the formulas."""
        return of_label(y, self.slopes[0](v), self.slopes[1](v))

    def _far_scores(self) -> Vector:
        functions = (*self.losses, *self.slopes)
        ends = []
        for side in (-1.0, 1.0):
            finite = np.all([np.isfinite(function(side * POWERS)) for function in functions], axis=0)
            ends.append(side * POWERS[finite.argmin() - 1 if not finite.all() else -1])
        return np.array(ends)

    def __reduce__(self) -> tuple[Any, ...]:
        # Compiled formulas cannot be pickled; the expressions they come from can.
        return symbolic_elicitation, self.source


def is_expression(value: Any) -> bool:
    """Whether `value` is a SymPy expression, without importing SymPy for it."""
    return hasattr(value, "free_symbols") and hasattr(value, "subs")


def symbolic_elicitation(min_risk: Any, link: Any, inverse_link: Any = None) -> SymbolicElicitation:
    """Derive the losses of a design given as expressions; a missing inverse link is solved for."""
    sympy = _import_sympy()
    eta, v = sympy.Symbol("eta", positive=True), sympy.Symbol("v", real=True)
    risk, score = _in_symbol("min_risk", min_risk, eta), _in_symbol("link", link, eta)
    back = _solved(score, eta, v) if inverse_link is None else _in_symbol("inverse_link", inverse_link, v)

    slope = _derivative(risk, eta)
    losses = (risk + (1 - eta) * slope, risk - eta * slope)
    expressions = LossExpressions(*(_in_score(loss, score, back, eta, v) for loss in losses))
    return SymbolicElicitation(
        _compiled(risk, eta),
        _compiled(score, eta),
        _compiled(back, v),
        source=(min_risk, link, inverse_link),
        expressions=expressions,
        losses=(_compiled(expressions.phi_1, v), _compiled(expressions.phi_minus1, v)),
        slopes=(_compiled(_derivative(expressions.phi_1, v), v), _compiled(_derivative(expressions.phi_minus1, v), v)),
    )


def _in_symbol(name: str, expression: Any, symbol: Any) -> Any:
    """The expression with its only symbol replaced, and decimals as the fractions that they abbreviate."""
    sympy = _import_sympy()
    if not is_expression(expression) or len(expression.free_symbols) != 1:
        got = sorted(map(str, expression.free_symbols)) if is_expression(expression) else type(expression).__name__
        raise ValueError(
            f"{name} must be a SymPy expression in one symbol, as the others are; got {got} in {name}={expression}. "
            "Substitute numbers for the costs, or pass three functions."
        )
    return sympy.nsimplify(expression, rational=True).subs(next(iter(expression.free_symbols)), symbol)


def _derivative(expression: Any, symbol: Any) -> Any:
    """The derivative where there is one: without the impulses at jumps of sign and Heaviside."""
    sympy = _import_sympy()
    return sympy.diff(expression, symbol).replace(sympy.DiracDelta, lambda *_: sympy.Integer(0))


def _compiled(expression: Any, symbol: Any) -> Callable[[Any], Any]:
    """The expression as a NumPy function."""
    sympy = _import_sympy()
    if expression.has(sympy.Max, sympy.Min):  # some versions print them as reductions, which do not broadcast
        expression = expression.rewrite(sympy.Piecewise)
    function = sympy.lambdify(symbol, expression, modules=["scipy", "numpy"])

    def elementwise(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.broadcast_to(np.asarray(function(np.asarray(x)), dtype=np.float64), np.shape(x))

    return elementwise


def _solved(link: Any, eta: Any, v: Any) -> Any:
    """The solution of link(eta) = v with values in (0, 1)."""
    sympy = _import_sympy()
    try:
        solutions = sympy.solve(sympy.Eq(link, v), eta)
    except NotImplementedError:
        solutions = []
    for solution in solutions:
        if _agrees(solution, v, _compiled(link, eta)(TRIALS), TRIALS):
            return solution
    raise ValueError(
        f"inverse_link must be given for link={link}: SymPy finds no inverse with values in (0, 1). Pass an expression "
        "in one symbol."
    )


def _in_score(loss: Any, link: Any, inverse_link: Any, eta: Any, v: Any) -> Any:
    """A loss in eta as an expression in the score, the shortest of some simplifications that are right."""
    sympy = _import_sympy()

    def merged(expression: Any) -> Any:
        # Powers may be merged freely, as all their bases are positive.
        expression = sympy.powsimp(sympy.simplify(expression), force=True)
        return sympy.simplify(sympy.powdenest(expression, force=True))

    plain = loss.subs(eta, inverse_link)
    short = merged(plain)
    candidates = (short, merged(sympy.factor(short, deep=True)), sympy.cancel(short), plain)
    scores, values = _compiled(link, eta)(TRIALS), _compiled(loss, eta)(TRIALS)
    for candidate in sorted(candidates, key=lambda e: e.count_ops()):
        if _agrees(candidate, v, scores, values):
            return candidate
    raise ValueError(
        f"inverse_link={inverse_link} must be the inverse of link={link}; the losses at eta={TRIALS.tolist()} differ. "
        "Pass the inverse, or None."
    )


def _agrees(expression: Any, symbol: Any, arguments: Any, values: Any) -> bool:
    """Whether the expression has these values."""
    try:
        found = _compiled(expression, symbol)(arguments)
    except (NameError, TypeError, ValueError):  # complex numbers, or a function that NumPy does not have
        return False
    return bool(np.allclose(found, values, rtol=TRIAL_TOLERANCE, atol=TRIAL_TOLERANCE))


def _import_sympy() -> Any:
    try:
        import sympy  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        raise ImportError("Designing a loss from expressions needs SymPy: pip install cssvm[design]") from error
    return sympy
