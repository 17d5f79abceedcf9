"""Checks of constructor parameters, run by `fit`; each message names the parameter, the value and the fix."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._core.costs import SCALE
from .._core.types import is_integer, is_number
from .._kernels import DEFAULT_KERNEL, KERNEL_NAMES


def _real(value: Any) -> bool:
    try:
        return is_number(value) and bool(np.isfinite(float(value)))
    except OverflowError:  # an integer that no float can hold
        return False


def _among(value: Any, names: tuple[str, ...]) -> bool:
    return isinstance(value, str) and value in names


LARGEST_DEGREE = 2**63  # compiled code counts to there

Check = tuple[Callable[[Any], bool], str, str]  # is the value right?, what is expected, a value that works
POSITIVE_C: Check = (lambda v: _real(v) and v > 0, "a positive finite number", "C=1.0")

# by the name of the parameter
CHECKS: dict[str, Check] = {
    "C": (lambda v: _among(v, (SCALE,)) or (_real(v) and v > 0), 'a positive finite number or "scale"', "C=1.0"),
    "kernel": (
        lambda v: callable(v) or _among(v, KERNEL_NAMES),
        f"a callable or one of {list(KERNEL_NAMES)}",
        f'kernel="{DEFAULT_KERNEL}"',
    ),
    "gamma": (
        lambda v: _among(v, ("scale", "auto")) or (_real(v) and v > 0),
        'a positive finite number, "scale" or "auto"',
        'gamma="scale"',
    ),
    "degree": (lambda v: is_integer(v) and 0 <= v < LARGEST_DEGREE, "a non-negative integer", "degree=3"),
    "coef0": (_real, "a finite number", "coef0=0.0"),
    "tol": (lambda v: _real(v) and v > 0, "a positive finite number", "tol=1e-3"),
    "max_iter": (
        lambda v: is_integer(v) and (v == -1 or v > 0),
        "a positive integer, or -1 for no limit",
        "max_iter=-1",
    ),
    "cache_size": (
        lambda v: _among(v, ("auto",)) or (_real(v) and v > 0),
        'a positive number of megabytes or "auto"',
        'cache_size="auto"',
    ),
    "verbose": (
        lambda v: isinstance(v, bool) or (is_integer(v) and v >= 0),
        "a bool or a non-negative integer",
        "verbose=0",
    ),
}


def check_parameters(estimator: BaseEstimator, checks: dict[str, Any] = CHECKS) -> None:
    """Raise a ValueError for the first constructor parameter that cannot be used."""
    for name, (right, expected, example) in checks.items():
        value = getattr(estimator, name)
        if not right(value):
            raise ValueError(
                f"{name} of {type(estimator).__name__} must be {expected}; got {name}={reprlib.repr(value)}. "
                f"Pass for example {example}."
            )
