"""A digest of all that the values of a search depend on, the same in every process.

Data and parameters count by their values (`joblib.hash`), functions by their code, defaults and closure. Functions and
classes that are not part of an installed package also count by what they refer to in their module, so that an edited
script has another digest.
"""

from __future__ import annotations

import pickle
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from joblib.hashing import NumpyHasher

from .. import __name__ as own_package

INSTALLED = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib"))
# What counts of the variables that a function or a class refers to.
VALUES = (bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, np.ndarray, np.generic, type(None))


def fingerprint(**parts: Any) -> str:
    """The digest of these values; ValueError names one that has none."""
    digests = {}
    for name, value in parts.items():
        try:
            digests[name] = _Hasher("sha1").hash(value)
        except (pickle.PicklingError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"a checkpoint needs {name} whose value can be compared with that of a later search; got {value!r}, "
                f"which cannot be pickled: {error}. Pass another {name}, or checkpoint=None."
            ) from error
    return _Hasher("sha1").hash(digests)


class _Hasher(NumpyHasher):
    """joblib's, but functions and classes count by what they do, not by their names."""

    def __init__(self, hash_name: str):
        super().__init__(hash_name)
        self._seen: dict[int, tuple[int, Any]] = {}  # functions and classes, which may refer to each other

    def save(self, obj: Any) -> None:
        """Add an object to the digest."""
        if type(obj).__module__.startswith("numba.") and hasattr(obj, "py_func"):
            obj = obj.py_func  # what it is compiled to is pickled with a number of this process
        if isinstance(obj, MethodType):
            obj = ("method", obj.__func__, obj.__self__)
        elif isinstance(obj, ModuleType):
            obj = ("module", obj.__name__)
        elif isinstance(obj, frozenset):
            obj = ("frozenset", set(obj))  # in an order that does not differ between processes
        elif isinstance(obj, FunctionType) or (isinstance(obj, type) and not _is_installed(obj)):
            if id(obj) in self._seen:
                obj = ("again", self._seen[id(obj)][0])
            else:
                self._seen[id(obj)] = len(self._seen), obj
                obj = _of_function(obj) if isinstance(obj, FunctionType) else _of_class(obj)
        super().save(obj)


def _of_function(function: FunctionType) -> tuple[Any, ...]:
    """What the result of a function depends on, besides its arguments."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    used = (
        {} if _is_installed(function) else {name: function.__globals__.get(name) for name in _names(function.__code__)}
    )
    return (
        "function",
        _of_code(function.__code__),
        function.__defaults__,
        function.__kwdefaults__,
        cells,
        _counted(used),
    )


def _of_code(code: CodeType) -> str:
    """Instructions, constants and names: as a string, since equal constants may or may not be one object."""
    constants = [_of_code(each) if isinstance(each, CodeType) else _in_order(each) for each in code.co_consts]
    return repr((code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_flags))


def _in_order(constant: Any) -> str:
    return repr(sorted(map(repr, constant))) if isinstance(constant, frozenset) else repr(constant)


def _names(code: CodeType) -> Iterator[str]:
    """The names that code refers to, that of functions inside it too."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _of_class(own: type) -> tuple[Any, ...]:
    """The methods and values of a class, and its bases."""
    attributes = {name: getattr(value, "__func__", getattr(value, "fget", value)) for name, value in vars(own).items()}
    methods = {name: value for name, value in attributes.items() if isinstance(value, FunctionType)}
    values = {name: value for name, value in _counted(attributes).items() if not name.startswith("__")}
    return "class", own.__module__, own.__qualname__, own.__bases__, methods, values


def _counted(variables: dict[str, Any]) -> dict[str, Any]:
    """Those that are functions, classes or plain values."""
    return {name: value for name, value in variables.items() if isinstance(value, (FunctionType, type, *VALUES))}


def _is_installed(obj: Any) -> bool:
    """Whether a function or a class is part of this package, of another that is installed, or of Python."""
    name = getattr(obj, "__module__", None) or "builtins"
    if name.partition(".")[0] in (own_package, "builtins"):
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and any(Path(file).is_relative_to(folder) for folder in INSTALLED)
