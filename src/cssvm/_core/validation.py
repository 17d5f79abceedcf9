"""Checks of what users pass: numbers, one value per sample and constructor parameters.

A value "per sample" is a number, which holds for all samples, or an array-like with one entry for each of them.
"""

from __future__ import annotations

import numbers
import reprlib
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from .alignment import align_series, is_pandas
from .types import Mask, Vector


def is_number(value: Any) -> bool:
    """Whether `value` is a real number; bool does not count."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    """Whether `value` is an integer; bool does not count."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_finite_number(value: Any) -> bool:
    """Whether `value` is a real number that a float can hold; bool does not count."""
    try:
        return is_number(value) and bool(np.isfinite(float(value)))
    except OverflowError:
        return False


def is_positive(value: Any) -> bool:
    """Whether `value` is a positive finite number."""
    return is_finite_number(value) and value > 0


def is_missing(value: Any) -> bool:
    """Whether `value` is None, NaN, or a missing value of pandas, which is not imported."""
    if value is None or isinstance(value, str):
        return value is None
    return type(value).__name__ in ("NAType", "NaTType") or (np.ndim(value) == 0 and bool(value != value))


def is_one_of(value: Any, names: tuple[str, ...]) -> bool:
    """Whether `value` is one of these strings."""
    return isinstance(value, str) and value in names


def as_floats(name: str, value: Any, fix: str) -> Vector:
    """A number or an array-like as float64; anything else raises, also strings that spell a number."""
    cause = None
    try:
        found = np.asarray(value)
        if _is_numeric(found) and not np.ma.is_masked(value):
            return found.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        cause = error
    raise ValueError(
        f"{name} must be a number or an array of numbers; got {name}={reprlib.repr(value)}. {fix}"
    ) from cause


def _is_numeric(values: np.ndarray) -> bool:
    if values.dtype.kind == "O":
        return all(isinstance(each, numbers.Real | Decimal) or each is None for each in values.flat)
    return values.dtype.kind in "biuf"


def sample_values(name: str, value: Any, n_samples: int, *, of: str = "X") -> Any:
    """A number or None as it is; one value per sample of X or y_true (`of`) as (n_samples,) float64."""
    if value is None or is_number(value):
        return value
    values = as_floats(name, value, f"Pass one number, or one for each sample of {of}.")
    if values.shape == (n_samples,):
        return values
    if values.ndim > 1:
        fix = f"Pass {name}.ravel(), or the column of a table by its name."
    elif of == "X":
        fix = f"Pass a number, or select the entries of {name} that belong to the samples of X."
    else:
        fix = f"In a cross-validation pass a pandas Series with the index of y, or route {name} as metadata."
    raise ValueError(
        f"{name} must be a number or hold one value for each sample of {of}, shape ({n_samples},); got shape "
        f"{values.shape}. {fix}"
    )


def aligned_sample_values(name: str, value: Any, n_samples: int, index: Any) -> Any:
    """`sample_values` for y_true with this index, None if it has none; a Series is aligned to it."""
    return sample_values(name, align_series(name, value, index) if is_pandas(value) else value, n_samples, of="y_true")


def check_sample_values(
    name: str,
    value: Any,
    n_samples: int,
    *,
    on: Mask | None = None,
    above: float | None = None,
    at_least: float = 0.0,
    where: str = "",
    fix: str = "",
) -> Vector:
    """`sample_values` in float64, finite and in range; a number stays one, shape ().

    on : (n_samples,), the samples on which the values are read; elsewhere they may be anything and become 0.
    above : the exclusive minimum; if None, `at_least` is the inclusive one.
    where, fix : follow "every sample" in the message, and its last sentence.
    """
    values = np.asarray(sample_values(name, value, n_samples), dtype=np.float64)
    if on is not None and values.ndim == 0 and not on.any():
        return np.zeros(())
    if on is not None and values.ndim:
        values = np.where(on, values, 0.0)
    valid = np.isfinite(values) & (values >= at_least if above is None else values > above)
    wrong = ~valid if on is None or values.ndim == 0 else on & ~valid
    if wrong.any():
        at = "" if wrong.ndim == 0 else f" in sample {np.argmax(wrong)} ({wrong.sum()} in all)"
        ignored = "" if on is None else " (values on samples of the other class are ignored)"
        raise ValueError(
            f"{name} must be {_range(above, at_least)} on every sample{where}; got "
            f"{name}={values.flat[np.argmax(wrong)]}{at}. Correct these values, or drop the samples{ignored}{fix}."
        )
    return values


def _range(above: float | None, at_least: float) -> str:
    if above is not None:
        return "finite and positive" if above == 0.0 else f"finite and above {above:g}"
    if at_least == -np.inf:
        return "finite"
    return "finite and non-negative" if at_least == 0.0 else f"finite and at least {at_least:g}"


def check_some_positive(name: str, some: bool, n_samples: int, where: str = "") -> None:
    """Raise if there are samples, and the values of all of them are zero."""
    if n_samples and not some:
        raise ValueError(
            f"{name} must be positive on at least one sample{where}; got zero on all {n_samples} of them. "
            f"Pass {name}=1.0 if these samples all matter the same."
        )


def take_samples(value: Any, samples: Any) -> Any:
    """The entries of these samples; a number stands for all of them."""
    return value if np.ndim(value) == 0 else np.asarray(value)[samples]


LARGEST_DEGREE = 2**63  # compiled code counts to there

Check = tuple[Callable[[Any], bool], str, str]  # is the value valid? what is expected? an example that works

POSITIVE_C: Check = (is_positive, "a positive finite number", "C=1.0")

# Constructor parameters that several estimators have.
CHECKS: dict[str, Check] = {
    "C": (lambda v: is_positive(v) or is_one_of(v, ("scale",)), 'a positive finite number or "scale"', "C=1.0"),
    "gamma": (
        lambda v: is_positive(v) or is_one_of(v, ("scale", "auto")),
        'a positive finite number, "scale" or "auto"',
        'gamma="scale"',
    ),
    "degree": (lambda v: is_integer(v) and 0 <= v < LARGEST_DEGREE, "a non-negative integer", "degree=3"),
    "coef0": (is_finite_number, "a finite number", "coef0=0.0"),
    "tol": (is_positive, "a positive finite number", "tol=1e-3"),
    "max_iter": (
        lambda v: is_integer(v) and (v == -1 or v > 0),
        "a positive integer, or -1 for no limit",
        "max_iter=-1",
    ),
    "cache_size": (
        lambda v: is_positive(v) or is_one_of(v, ("auto",)),
        'a positive number of megabytes or "auto"',
        'cache_size="auto"',
    ),
    "verbose": (
        lambda v: isinstance(v, bool) or (is_integer(v) and v >= 0),
        "a bool or a non-negative integer",
        "verbose=0",
    ),
    "n_estimators": (lambda v: is_integer(v) and v > 0, "an integer of at least 1", "n_estimators=10"),
}


def option(name: str, allowed: tuple[str, ...], or_none: str = "") -> Check:
    """The check of a parameter that is one of these strings, or None, if `or_none` describes that."""
    expected = f"one of {list(allowed)}" + (f", or None {or_none}" if or_none else "")
    return lambda v: is_one_of(v, allowed) or (bool(or_none) and v is None), expected, f'{name}="{allowed[0]}"'


def check_parameters(estimator: Any, checks: Mapping[str, Check]) -> None:
    """Raise a ValueError for the first constructor parameter that is invalid."""
    for name, (is_valid, expected, example) in checks.items():
        value = getattr(estimator, name)
        if not is_valid(value):
            raise ValueError(
                f"{name} of {type(estimator).__name__} must be {expected}; got {name}={reprlib.repr(value)}. "
                f"Pass for example {example}."
            )
