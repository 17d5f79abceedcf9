"""Packages of the extra `data`, imported where they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optional(package: str, purpose: str) -> Any:
    """The package, or an error that says what it is needed for and how to install it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs {package}, which is not installed. Run `pip install cssvm[data]`."
        ) from error


def frame_of(columns: dict[str, Any]) -> Any:
    """A pandas DataFrame of the columns, or None where pandas is not installed: numbers can be had without it."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        return None
    return pandas.DataFrame(columns)
