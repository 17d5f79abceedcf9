"""A digest of all that the values of a search depend on, the same in every process.

Data and parameters count by their values (`joblib.hash`), functions by their code, defaults and closure. Functions and
classes that are not part of an installed package also count by the values of all global variables that they refer to,
and of attributes of modules that are not installed, so that an edited script has another digest. What cannot be pickled
has none.
"""

from __future__ import annotations

import dis
import pickle
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np
from joblib.hashing import NumpyHasher

from .. import __name__ as own_package

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
PACKAGES = {"site-packages", "dist-packages"}  # folders of what is installed, of the user and of the system too
CACHED = type(lru_cache(len))
ABSTRACT = "_abc_impl"  # which classes were asked about: no part of what a class does


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
        elif isinstance(obj, CACHED):
            obj = obj.__wrapped__  # which would be pickled by its name
        elif isinstance(obj, np.vectorize):
            obj = "vectorize", {name: value for name, value in vars(obj).items() if name != "_ufunc"}  # made at a call
        if isinstance(obj, MethodType):
            obj = ("method", obj.__func__, obj.__self__)
        elif isinstance(obj, ModuleType):
            obj = ("module", obj.__name__)
        elif isinstance(obj, frozenset):
            obj = ("frozenset", set(obj))  # in an order that does not differ between processes
        elif isinstance(obj, FunctionType) or (isinstance(obj, type) and not _is_installed(obj.__module__)):
            if id(obj) in self._seen:
                obj = ("again", self._seen[id(obj)][0])
            else:
                self._seen[id(obj)] = len(self._seen), obj
                obj = _of_function(obj) if isinstance(obj, FunctionType) else _of_class(obj)
        super().save(obj)


def _of_function(function: FunctionType) -> tuple[Any, ...]:
    """What the result of a function depends on, besides its arguments."""
    code, cells = function.__code__, [cell.cell_contents for cell in function.__closure__ or ()]
    used = {} if _is_installed(function.__module__) else _globals(function)
    attributes = set(_names(code))
    return (
        "function",
        _of_code(code),
        function.__defaults__,
        function.__kwdefaults__,
        [_referred(value, attributes) for value in cells],
        {name: _referred(value, attributes) for name, value in used.items()},
    )


def _globals(function: FunctionType) -> dict[str, Any]:
    """The global variables that a function reads and the modules that it imports, by name."""
    found = {}
    for each in _instructions(function.__code__):
        if each.opname in ("LOAD_GLOBAL", "LOAD_NAME") and each.argval in function.__globals__:
            found[each.argval] = function.__globals__[each.argval]
        elif each.opname == "IMPORT_NAME":
            with suppress(ImportError):  # one that it can do without, or a relative one
                found[f"import {each.argval}"] = import_module(each.argval)
    return found


def _referred(value: Any, attributes: set[str]) -> Any:
    """A value that code refers to; of a module that is not installed, those of these attributes that it has."""
    if not isinstance(value, ModuleType) or _is_installed(value.__name__):
        return value
    own = {name: each for name, each in vars(value).items() if name in attributes}
    further = attributes - own.keys()  # each name once: modules may refer to each other
    return "module", value.__name__, {name: _referred(each, further) for name, each in own.items()}


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


def _instructions(code: CodeType) -> Iterator[dis.Instruction]:
    """The instructions of code, and of functions inside it."""
    yield from dis.get_instructions(code)
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _instructions(each)


def _of_class(own: type) -> tuple[Any, ...]:
    """The methods and values of a class, and its bases."""
    attributes = {name: _unwrapped(value) for name, value in vars(own).items()}
    methods = {name: value for name, value in attributes.items() if isinstance(value, FunctionType)}
    values = {
        name: value
        for name, value in attributes.items()
        if not name.startswith("__") and name != ABSTRACT and not isinstance(value, MemberDescriptorType)
    }
    return "class", own.__module__, own.__qualname__, own.__bases__, methods, values


def _unwrapped(attribute: Any) -> Any:
    """The function of a method of a class, of a static one or a property; any other attribute as it is."""
    if isinstance(attribute, staticmethod | classmethod):
        return attribute.__func__
    if isinstance(attribute, property):
        return attribute.fget
    return attribute.func if isinstance(attribute, cached_property) else attribute


def _is_installed(name: str | None) -> bool:
    """Whether a module is part of this package, of another that is installed, or of Python."""
    name = name or "builtins"
    if name.partition(".")[0] in (own_package, "builtins"):
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        return name in sys.builtin_module_names
    return Path(file).is_relative_to(STANDARD_LIBRARY) or not PACKAGES.isdisjoint(Path(file).parts)
